//! The most frequent task of an author, on the small site of every generator: adding a page, its navigation entry, and
//! a link to it in the form the site uses.

use docent_markdown::folder;

use crate::check::{Checked, new_findings};
use crate::finding::FindingKind;
use crate::layout::below;
use crate::link_target::{LinkRequest, LinkSyntax};
use crate::model::Site;
use crate::navigation_edit::NavigationFiles;
use crate::sample::{Files, built_site};

/// The site with a new page beside `page`, and the changed files; `None` if the site does not serve the new page.
fn with_new_page(before: &Files, page: &str) -> Option<(Files, Vec<String>)> {
    let ending = page.rsplit('.').next().unwrap_or_default();
    let new = below(folder(page), &format!("brand-new.{ending}"));
    let site = Site::read(before);
    let mut after = before.clone();
    let text = match ending {
        "rst" => "Brand new\n=========\n\nWords.\n".to_owned(),
        _ if site.takes_front_matter() => "---\ntitle: Brand new\n---\n\nWords.\n".to_owned(),
        _ => "# Brand new\n\nWords.\n".to_owned(),
    };
    after.insert(new.clone(), text.into_bytes());
    let mut changed = vec![new.clone()];
    for (file, edits) in NavigationFiles::of(before, &site).add(&new, "Brand new").files {
        let mut text = String::from_utf8(after[&file].clone()).expect("a navigation in UTF-8");
        edits.iter().rev().for_each(|(range, new_text)| text.replace_range(range.clone(), new_text));
        after.insert(file.clone(), text.into_bytes());
        changed.push(file);
    }
    Site::read(&after).address(&new)?;
    Some((after, changed))
}

/// The site with a link at the end of a page.
fn with_link(tree: &Files, page: &str, link: &str) -> Files {
    with_links(tree, page, link, 1)
}

/// The site with a link repeated `count` times at the end of a page.
fn with_links(tree: &Files, page: &str, link: &str, count: usize) -> Files {
    let mut tree = tree.clone();
    let text = if link.starts_with(':') { format!("\n\n{link}\n") } else { format!("\n\n[words]({link})\n") };
    tree.entry(page.to_owned()).or_default().extend(text.repeat(count).into_bytes());
    tree
}

/// How many links to new pages were checked, and how many broken ones were reported as findings and not as doubts.
fn link_counts(generator: &str) -> (usize, usize) {
    let built = built_site(generator);
    let (mut added, mut reported) = (0, 0);
    let site = Site::read(&built);
    for page in site.served().into_values() {
        // The small sites consist of unusual links; 200 copies of this one show which rules the site obeys.
        let wanted = |to| LinkRequest { from: page, to, anchor: None, like: "", syntax: LinkSyntax::Markdown };
        let own = site.link(&wanted(page));
        let before = with_links(&built, page, &own, 200);
        let Some((after, mut changed)) = with_new_page(&before, page) else { continue };
        let link = Site::read(&after).link(&wanted(&changed[0]));
        changed.push(page.to_owned());
        let good = new_findings(&before, &with_link(&after, page, &link), &changed);
        assert_eq!(good, Checked::default(), "{generator}: `{link}` on {page}");
        added += 1;
        let broken = link.replace("brand-new", "brand-gone");
        let checked = new_findings(&before, &with_link(&after, page, &broken), &changed);
        let doubted = checked.doubts.iter().map(|doubt| doubt.findings.len()).sum::<usize>();
        assert_eq!(checked.findings.len() + doubted, 1, "{generator}: `{broken}` on {page}: {checked:?}");
        reported += checked.findings.iter().filter(|f| f.kind == FindingKind::BrokenLink && f.path == page).count();
    }
    (added, reported)
}

#[test]
fn a_new_page_and_a_link_to_it_are_no_problem_and_a_link_that_leads_nowhere_is_one() {
    let sites = [
        "docfx", "docusaurus", "fumadocs", "gitbook", "hugo", "jekyll", "mdbook", "mintlify", "mkdocs", "nextra",
        "sphinx", "sphinx-rst", "starlight", "vitepress",
    ];
    for site in sites {
        let (added, reported) = link_counts(site);
        assert!(added >= 4 && reported * 5 >= added * 4, "{site}: {reported} of {added} broken links are told");
    }
}
