//! Word frequencies of whole pages are added up from their parts at search time.

use proptest::prelude::*;

use super::{Docs, Site, question};
use crate::rank::bm25::Scored;
use crate::rank::ranking::Search;
use crate::rank::settings::SHIPPED;

const WORDS: [&str; 3] = ["kiwi", "lemon", "mango"];

/// The content of a page.
#[derive(Debug, Clone)]
struct Written {
    title: String,
    name: bool,
    description: String,
    /// The text before the first heading.
    opening: String,
    /// Level of the heading, heading, text, code.
    sections: Vec<(usize, String, String, String)>,
}

impl Written {
    fn markdown(&self) -> String {
        let name = if self.name { "sidebarTitle: melon\n" } else { "" };
        let mut text =
            format!("---\ntitle: {}\n{name}description: {}\n---\n\n{}\n", self.title, self.description, self.opening);
        for (level, heading, said, code) in &self.sections {
            text += &format!("\n{} {heading}\n\n{said}\n\n```sh\n{code}\n```\n", "#".repeat(*level));
        }
        text
    }

    /// Number of occurrences of a word on the page. A heading that equals the title is not counted again.
    fn says(&self, word: &str) -> usize {
        let said = |text: &str| text.split(' ').filter(|said| *said == word).count();
        let headings = self.sections.iter().filter(|(_, heading, ..)| *heading != self.title);
        said(&self.title)
            + usize::from(self.name && word == "melon")
            + said(&self.description)
            + said(&self.opening)
            + headings.map(|(_, heading, ..)| said(heading)).sum::<usize>()
            + self.sections.iter().map(|(_, _, text, code)| said(text) + said(code)).sum::<usize>()
    }
}

fn some(words: impl Into<proptest::collection::SizeRange>) -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(&WORDS[..]), words).prop_map(|words| words.join(" "))
}

fn page() -> impl Strategy<Value = Written> {
    let sections = proptest::collection::vec((2_usize..4, some(1..3), some(0..5), some(0..3)), 0..5);
    (some(1..3), any::<bool>(), some(1..3), some(0..4), sections).prop_map(
        |(title, name, description, opening, sections)| Written { title, name, description, opening, sections },
    )
}

/// The frequency of a word on each page, in order of the files.
fn counted(site: &Site, word: &str, pages: usize) -> Vec<f32> {
    let (snapshot, query, settings) = (site.index.snapshot(), question(word), SHIPPED);
    let search = Search::new(&snapshot, &query, &settings).expect("read");
    let Some(search) = search.filter(|search| !search.question.words.is_empty()) else { return vec![0.0; pages] };
    let found = search.lookup.find(&search.question.words[0]).expect("read");
    let mut scores = search.lookup.empty(Scored::Pages);
    search.lookup.count_whole(&found, &mut scores).expect("read");
    let number = |page: usize| {
        let page = snapshot.lookup(&format!("page-{page}")).expect("a page");
        snapshot.stats.numbers[&page.id] as usize
    };
    (0..pages).map(|page| scores.often(number(page))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_page_says_what_its_parts_say(mut pages in proptest::collection::vec(page(), 1..6), again in page()) {
        let mut docs = Docs::default();
        for (n, page) in pages.iter().enumerate() {
            docs.write(&format!("page-{n}.md"), &page.markdown());
        }
        let site = Site::of(&docs);
        for change in 0..2 {
            for word in WORDS.iter().chain(&["melon"]).filter(|word| pages.iter().any(|page| page.says(word) > 0)) {
                let counted = counted(&site, word, pages.len());
                for (page, counted) in pages.iter().zip(counted) {
                    prop_assert!((counted - page.says(word) as f32).abs() < 1e-3, "{word} {counted} {page:?}");
                }
            }
            if change == 0 {
                pages[0] = again.clone();
                docs.write("page-0.md", &pages[0].markdown());
                site.update(&docs);
            }
        }
    }
}
