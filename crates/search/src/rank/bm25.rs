//! The BM25 parameters of each field, precomputed for each field length.

use tantivy::fieldnorm::FieldNormReader;
use tantivy::schema::Field;

use crate::index::schema::Fields;
use crate::rank::corpus_stats::CorpusStats;
use crate::rank::settings::Settings;

/// What is scored: the kind of document, and the number it is identified by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scored {
    /// Sections, by the number of the document.
    Sections,
    /// Pages, by the number of the page.
    Pages,
}

/// A field with its BM25 parameters.
#[derive(Debug)]
pub(crate) struct Bm25Field {
    /// Whether the field is used to score sections or pages.
    pub(crate) scored: Scored,
    pub(crate) field: Field,
    /// The name of the field in an explanation.
    pub(crate) name: &'static str,
    pub(crate) weight: f32,
    /// The parameter b of BM25: how much the length of the field counts, 0 to 1.
    pub(crate) b: f32,
    pub(crate) average_length: f32,
    /// The factor on the frequency of a word.
    pub(crate) by_length: ByLength,
}

/// A value for each field length that the index distinguishes, by field norm id.
pub(crate) type ByLength = [f32; 256];

impl Bm25Field {
    /// The factor on the frequency of a word in a text of some length: higher in a short one.
    pub(crate) fn counts(&self, length: f32) -> f32 {
        counts(length, self.average_length, self.b)
    }
}

fn counts(length: f32, average: f32, b: f32) -> f32 {
    1.0 / (1.0 - b + b * length / average)
}

/// The fields that are searched, with their parameters.
pub(crate) fn weighed(set: &Settings, scored: Scored, fields: &Fields, stats: &CorpusStats) -> Vec<Bm25Field> {
    let all: &[(Field, &'static str, f32, f32)] = match scored {
        Scored::Sections => &[
            (fields.body, "section", set.body, set.b_text),
            (fields.heading, "heading", set.heading, set.b),
            (fields.code, "code", set.code, set.b_text),
        ],
        Scored::Pages => &[
            (fields.whole, "page", set.whole, set.b),
            (fields.title, "title", set.title, set.b),
            (fields.path, "path", set.path, set.b),
            (fields.description, "description", set.description, set.b),
            (fields.headings, "headings", set.headings, set.b),
            (fields.link, "links", set.link, set.b),
        ],
    };
    let of = match scored {
        Scored::Sections => stats.sections,
        Scored::Pages => stats.pages.len(),
    };
    let weighed = |(field, name, weight, b): (Field, &'static str, f32, f32)| {
        let average_length = stats.average_length(field, of);
        let length = |id: usize| FieldNormReader::id_to_fieldnorm(id as u8) as f32;
        let by_length: ByLength = std::array::from_fn(|id| counts(length(id), average_length, b));
        Bm25Field { scored, field, name, weight, b, average_length, by_length }
    };
    all.iter().copied().filter(|(_, _, weight, _)| *weight > 0.0).map(weighed).collect()
}
