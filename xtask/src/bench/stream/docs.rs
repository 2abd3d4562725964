//! Generates a docs repository of any size, and questions about it. Deterministic for a given size.
//!
//! The distribution of words is that of real text: a few are everywhere, most are rare. The frequent ones are those of
//! English and of software; the rare ones are composed of syllables, like names of products and options.

const FREQUENT: &str = "the to a of and is in for you that with it on be as are this can or when your an from not if by use \
    will which at one has set more all each value default name file key server request response client error type field \
    data api token list path page configuration option example create delete update read write run start stop deploy \
    build install version release project user account team role permission access policy limit rate retry timeout queue \
    job worker webhook event payload signature header body query parameter filter sort cursor index search result score \
    database table column row schema migration backup restore replica cluster node region zone network port address \
    certificate secret password session cookie cache memory disk storage bucket object upload download stream message \
    topic channel subscription notification email template theme layout component route link image text code block \
    command flag argument environment variable variable log metric trace alert dashboard report export import format \
    function method class module package dependency plugin extension hook callback handler middleware proxy gateway";
const SYLLABLES: &str = "ka lo mi ra ten sol ver qui no pra del fo gar hex in jo kel lum mar nev or pel ris sto tur ul vi wex \
    yar zen cor bas dra eth fin";
/// Number of different words.
const VOCABULARY: usize = 30_000;

/// Pages, and questions made of words that they contain.
#[derive(Debug)]
pub(crate) struct Docs {
    pub(crate) files: Vec<(String, String)>,
    pub(crate) questions: Vec<String>,
}

impl Docs {
    /// Generates this many pages of about 2 KiB each, and a question for each of `questions` of them.
    pub(crate) fn of(pages: usize, questions: usize) -> Self {
        let mut writer = Writer { seed: 0x5eed, words: words() };
        let mut docs = Self { files: Vec::with_capacity(pages), questions: Vec::with_capacity(questions) };
        for n in 0..pages {
            let title = writer.phrase(3);
            let headings: Vec<String> = (0..3).map(|_| writer.phrase(3)).collect();
            let mut text = format!("---\ntitle: {title}\n---\n\n{}\n", writer.paragraph(40));
            for heading in &headings {
                text.push_str(&format!("\n## {heading}\n\n{}\n\n{}\n", writer.paragraph(60), writer.paragraph(40)));
            }
            docs.files.push((format!("section-{:03}/page-{n:05}.md", n % 200), text));
            if n % (pages / questions.max(1)).max(1) == 0 && docs.questions.len() < questions {
                docs.questions.push(format!("How do I {} with {}?", title.to_lowercase(), headings[1].to_lowercase()));
            }
        }
        docs
    }
}

struct Writer {
    seed: u64,
    words: Vec<String>,
}

impl Writer {
    /// A pseudo-random number from 0 to 1.
    fn chance(&mut self) -> f64 {
        // Knuth's multiplier of a linear congruential generator: good enough for words.
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A word by Zipf's law: the word at rank r is about r times as rare as the first.
    fn word(&mut self) -> String {
        let rank = (self.words.len() as f64).powf(self.chance()) as usize;
        self.words[rank.saturating_sub(1)].clone()
    }

    /// Words that distinguish pages: none of the very frequent ones.
    fn phrase(&mut self, length: usize) -> String {
        let mut words = Vec::new();
        while words.len() < length {
            let word = self.word();
            if word.len() > 3 {
                words.push(word);
            }
        }
        words.join(" ")
    }

    fn paragraph(&mut self, length: usize) -> String {
        let mut text = String::new();
        for n in 1..=length {
            text.push_str(&self.word());
            text.push_str(if n == length || n % 13 == 0 { ". " } else { " " });
        }
        text.trim_end().to_owned()
    }
}

fn words() -> Vec<String> {
    let syllables: Vec<&str> = SYLLABLES.split_whitespace().collect();
    let count = syllables.len();
    let rare = (0..).map(|n| {
        let three = [syllables[n % count], syllables[n / count % count], syllables[(n / count / count + n) % count]];
        three.concat()
    });
    FREQUENT.split_whitespace().map(str::to_owned).chain(rare).take(VOCABULARY).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_docs_come_out_each_time_and_pages_differ() {
        let (one, other) = (Docs::of(50, 10), Docs::of(50, 10));
        assert_eq!(one.files, other.files);
        assert_eq!((one.files.len(), one.questions.len()), (50, 10));
        assert!(one.files.windows(2).all(|pair| pair[0].1 != pair[1].1));
        let sizes: Vec<usize> = one.files.iter().map(|(_, text)| text.len()).collect();
        assert!(sizes.iter().all(|size| (1_000..6_000).contains(size)), "{sizes:?}");
    }

    #[test]
    fn few_words_are_everywhere_and_most_are_rare() {
        let docs = Docs::of(200, 1);
        let text: String = docs.files.iter().map(|(_, text)| text.as_str()).collect();
        let mut counts = std::collections::HashMap::new();
        for word in text.split_whitespace() {
            *counts.entry(word).or_insert(0_usize) += 1;
        }
        assert!(counts["the"] > 1_000, "{}", counts["the"]);
        assert!(counts.values().filter(|count| **count < 5).count() * 2 > counts.len());
    }
}
