//! Words to the documents that hold them, with a score each.

use tantivy::collector::TopDocs;
use tantivy::query::{
    BooleanQuery, BoostQuery, ConstScoreQuery, EnableScoring, Occur, Query as EngineQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, Searcher, Term};

use crate::query::Filter;
use crate::schema::{EXACT_SHARE, Fields, NONE, Text};
use crate::words;

/// Words of a question beyond this many are left out: a pasted page is no better a question than its first lines.
const MOST_WORDS: usize = 48;

/// The words of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) stemmed: Vec<String>,
    pub(crate) exact: Vec<String>,
}

impl Asked {
    /// Cuts a question to its words. Fillers go, unless there is nothing else.
    pub(crate) fn of(text: &str) -> Self {
        let all = words::distinct(words::exact(), text, MOST_WORDS * 2);
        let telling: Vec<String> = all.iter().filter(|word| !words::is_filler(word)).cloned().collect();
        let mut exact = if telling.is_empty() { all } else { telling };
        exact.truncate(MOST_WORDS);
        let stemmed = words::distinct(words::stemmed(), &exact.join(" "), MOST_WORDS);
        Self { stemmed, exact }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.exact.is_empty()
    }
}

/// The best documents of one kind.
pub(crate) struct Lookup<'s> {
    pub(crate) searcher: &'s Searcher,
    pub(crate) fields: &'s Fields,
    pub(crate) filter: &'s Filter,
}

/// A document and how well it fits.
pub(crate) type Hit = (f32, DocAddress);

impl Lookup<'_> {
    /// The best `limit` documents of a kind for the words, looked up in `texts`.
    pub(crate) fn best(&self, kind: &str, texts: &[Text], asked: &Asked, limit: usize) -> tantivy::Result<Vec<Hit>> {
        let of_kind = Term::from_field_text(self.fields.kind, kind);
        let documents = self.searcher.doc_freq(&of_kind)?;
        if documents == 0 || limit == 0 {
            return Ok(Vec::new());
        }
        let mut words: Vec<(Occur, Box<dyn EngineQuery>)> = Vec::new();
        for text in texts {
            let stems = asked.stemmed.iter().map(|word| (text.stemmed, word, text.weight));
            let wholes = asked.exact.iter().map(|word| (text.exact, word, text.weight * EXACT_SHARE));
            for (field, word, weight) in stems.chain(wholes) {
                let term = Term::from_field_text(field, word);
                let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
                words.push((Occur::Should, Box::new(BoostQuery::new(Box::new(query), weight))));
            }
        }
        let mut clauses: Vec<(Occur, Box<dyn EngineQuery>)> = vec![(Occur::Must, Box::new(BooleanQuery::new(words)))];
        clauses.extend(self.filters().into_iter().map(|query| -> (Occur, Box<dyn EngineQuery>) {
            (Occur::Must, Box::new(ConstScoreQuery::new(query, 0.0)))
        }));
        let query = BooleanQuery::new(clauses);
        let statistics = OfOneKind { searcher: self.searcher, documents };
        self.searcher.search_with_statistics_provider(&query, &TopDocs::with_limit(limit).order_by_score(), &statistics)
    }

    /// What a document must be besides.
    fn filters(&self) -> Vec<Box<dyn EngineQuery>> {
        let fields = self.fields;
        let mut filters: Vec<Box<dyn EngineQuery>> = Vec::new();
        for (field, wanted) in [(fields.version, &self.filter.version), (fields.language, &self.filter.language)] {
            if let Some(wanted) = wanted {
                filters.push(any_of(field, [wanted.as_str(), NONE]));
            }
        }
        if !self.filter.groups.is_empty() {
            filters.push(any_of(fields.group, self.filter.groups.iter().map(String::as_str).chain([NONE])));
        }
        if let Some(tag) = &self.filter.tag {
            filters.push(any_of(fields.tag, [tag.as_str()]));
        }
        filters
    }
}

fn any_of<'v>(field: Field, values: impl IntoIterator<Item = &'v str>) -> Box<dyn EngineQuery> {
    let terms = values.into_iter().map(|value| -> (Occur, Box<dyn EngineQuery>) {
        (Occur::Should, Box::new(TermQuery::new(Term::from_field_text(field, value), IndexRecordOption::Basic)))
    });
    Box::new(BooleanQuery::new(terms.collect()))
}

/// The document a page itself is, by the page's number.
pub(crate) fn page_document(searcher: &Searcher, fields: &Fields, id: u64) -> tantivy::Result<Option<DocAddress>> {
    documents_of(searcher, fields, id, crate::schema::PAGE, 1).map(|found| found.first().copied())
}

/// The documents of a page of one kind, in the order they were written in.
pub(crate) fn documents_of(
    searcher: &Searcher,
    fields: &Fields,
    id: u64,
    kind: &str,
    limit: usize,
) -> tantivy::Result<Vec<DocAddress>> {
    let term = |term| -> (Occur, Box<dyn EngineQuery>) {
        (Occur::Must, Box::new(TermQuery::new(term, IndexRecordOption::Basic)))
    };
    let query = BooleanQuery::new(vec![
        term(Term::from_field_u64(fields.page, id)),
        term(Term::from_field_text(fields.kind, kind)),
    ]);
    let weight = query.weight(EnableScoring::disabled_from_searcher(searcher))?;
    let mut found = Vec::new();
    for (segment, reader) in searcher.segment_readers().iter().enumerate() {
        let segment = u32::try_from(segment).unwrap_or(u32::MAX);
        weight.for_each_no_score(reader, &mut |documents| {
            found.extend(
                documents
                    .iter()
                    .filter(|document| reader.alive_bitset().is_none_or(|alive| alive.is_alive(**document)))
                    .map(|document| DocAddress::new(segment, *document)),
            );
        })?;
    }
    found.sort_unstable();
    found.truncate(limit);
    Ok(found)
}

/// How rare a word is among the documents of a kind: the logarithm BM25 weighs it by.
pub(crate) fn rarity(searcher: &Searcher, fields: &Fields, word: &str) -> tantivy::Result<f32> {
    let kind = Term::from_field_text(fields.kind, crate::schema::SECTION);
    let documents = searcher.doc_freq(&kind)? as f32;
    let holding = searcher.doc_freq(&Term::from_field_text(fields.body.stemmed, word))? as f32;
    Ok((1.0 + (documents - holding + 0.5).max(0.5) / (holding + 0.5)).ln())
}

/// Statistics of one kind of documents: without them, how long a title is on average would depend on how many sections
/// there are.
struct OfOneKind<'s> {
    searcher: &'s Searcher,
    documents: u64,
}

impl tantivy::query::Bm25StatisticsProvider for OfOneKind<'_> {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        tantivy::query::Bm25StatisticsProvider::total_num_tokens(self.searcher, field)
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.documents)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        // Labels stand in documents of both kinds; their score is not used, but it must not exceed the count.
        Ok(self.searcher.doc_freq(term)?.min(self.documents))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_its_telling_words() {
        assert_eq!(
            Asked::of("How do I configure the max_retries?").exact,
            ["configure", "max", "retries", "maxretries"]
        );
        assert_eq!(Asked::of("who is it").exact, ["who", "is", "it"]);
        assert!(Asked::of("?! +-\"()").is_empty());
        assert_eq!(Asked::of(&"word1 word2 ".repeat(10_000)).exact.len(), 2);
    }
}
