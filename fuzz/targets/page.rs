#![no_main]
//! Any bytes as a page; the first byte says of which kind.

use std::time::{Duration, Instant};

use docent_markdown::{Page, parse, site_path, slugged, text_of};
use libfuzzer_sys::fuzz_target;

const KINDS: [&str; 5] =
    ["guides/page.md", "guides/page.mdx", "guides/page.rst", "guides/page.adoc", "guides/page.ipynb"];
/// Far more than any page of the size that is tried needs, and far less than one that takes square time.
const LONGEST: Duration = Duration::from_secs(1);

fuzz_target!(|bytes: &[u8]| {
    let Some((which, bytes)) = bytes.split_first() else { return };
    let began = Instant::now();
    let page = parse(KINDS[usize::from(*which) % KINDS.len()], bytes);
    assert!(began.elapsed() < LONGEST, "{} bytes took {:?}", bytes.len(), began.elapsed());
    let text = text_of(bytes);
    assert_eq!(text.len(), bytes.len());
    for span in spans(&page) {
        assert!(text.get(span.clone()).is_some(), "{span:?} is no part of the text");
    }
    let apart = |spans: &[std::ops::Range<usize>]| spans.windows(2).all(|pair| pair[0].end <= pair[1].start);
    assert!(apart(&page.prose), "{:?}", page.prose);
    for heading in &page.headings {
        assert!(
            (1..=6).contains(&heading.level) && (heading.anchor.is_empty() || page.has_anchor(&heading.anchor)),
            "{heading:?}"
        );
    }
    match page.front_matter.slug() {
        Some(slug) => slugged(&page.path, slug),
        None => site_path(&page.path),
    };
});

fn spans(page: &Page) -> impl Iterator<Item = std::ops::Range<usize>> {
    let front = page.front_matter.span.iter().chain(&page.front_matter.body);
    front.chain(&page.prose).chain(&page.code).cloned()
}
