//! Which pages are the same page, from paths alone and with declarations in configurations.

use super::*;
use crate::layout::Layout;
use crate::sample::site;

/// The variants of pages of which only the paths are known.
fn plain(paths: &[&str]) -> Variants {
    let pages: Vec<PageLabels<'_>> = paths.iter().map(|path| PageLabels { path, ..PageLabels::default() }).collect();
    Variants::of(&pages, &Declared::default(), std::iter::empty())
}

/// Versions and their stages, in order.
fn stages(variants: &Variants) -> Vec<(&str, Stage)> {
    let mut versions: Vec<&Version> = variants.versions().iter().collect();
    versions.sort_by_key(|version| version.order);
    versions.into_iter().map(|version| (version.name.as_str(), version.stage)).collect()
}

/// The groups of pages that are the same page, by their paths.
fn together<'p>(variants: &Variants, paths: &[&'p str]) -> Vec<Vec<&'p str>> {
    variants.groups.iter().map(|group| group.iter().map(|page| paths[*page as usize]).collect()).collect()
}

fn in_folders(folders: &[&str], pages: &[&str]) -> Vec<String> {
    folders.iter().flat_map(|folder| pages.iter().map(move |page| format!("{folder}/{page}"))).collect()
}

#[test]
fn sibling_folders_that_look_like_versions_and_share_pages_are_versions() {
    let mut paths = in_folders(&["v1.9", "v1.10", "v2-beta", "next"], &["", "keys", "guides/retry"]);
    paths.extend(["cloud/keys", "v1.9/only-there", "guides/retry"].map(str::to_owned));
    let paths: Vec<&str> = paths.iter().map(|path| path.trim_end_matches('/')).collect();
    let variants = plain(&paths);
    assert_eq!(
        stages(&variants),
        [("v1.10", Stage::Current), ("v1.9", Stage::Older), ("v2-beta", Stage::Preview), ("next", Stage::Preview)]
    );
    let groups = together(&variants, &paths);
    assert!(groups.contains(&vec!["v1.9/keys", "v1.10/keys", "v2-beta/keys", "next/keys"]), "{groups:?}");
    assert_eq!(groups.len(), 3, "{groups:?}");
    let at = |path: &str| paths.iter().position(|known| *known == path).expect("a page") as u32;
    assert_eq!(variants.version_of(at("v1.9/only-there")).map(|version| version.stage), Some(Stage::Older));
    assert_eq!(variants.version_of(at("cloud/keys")), None);
    assert_eq!(variants.version_of(at("guides/retry")), None, "one page is not enough to be the current version");
}

#[test]
fn the_folder_around_them_may_be_the_current_version() {
    let mut paths = in_folders(&["docs", "docs/1.0", "docs/next"], &["a", "b", "c"]);
    paths.push("docs/new".to_owned());
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let variants = plain(&paths);
    assert_eq!(stages(&variants), [("1.0", Stage::Older), ("next", Stage::Preview)]);
    assert_eq!(together(&variants, &paths)[0], ["docs/a", "docs/1.0/a", "docs/next/a"]);
    assert_eq!(variants.rank(variants.page(0)), (0, 0));
}

#[test]
fn the_folder_of_the_current_version_may_be_called_as_the_others_are_without_their_versions() {
    let mut paths = in_folders(&["docs", "v1.9-docs", "v1.10-docs"], &["", "keys", "guides/retry"]);
    paths.extend(["docs/new", "news/keys", "index"].map(str::to_owned));
    // Pages that only older versions held say nothing about the current one.
    paths.extend((0..20).map(|page| format!("v1.{}-docs/old/{page}", page % 5)));
    let paths: Vec<&str> = paths.iter().map(|path| path.trim_end_matches('/')).collect();
    let variants = plain(&paths);
    assert!(stages(&variants).into_iter().all(|(_, stage)| stage == Stage::Older), "{variants:?}");
    let groups = together(&variants, &paths);
    assert_eq!(groups[1], ["docs/keys", "v1.9-docs/keys", "v1.10-docs/keys"]);
    assert_eq!(groups.len(), 3, "{groups:?}");
    assert_eq!(variants.named("1.9").len(), 1);
}

#[test]
fn a_version_may_stand_in_two_folders() {
    let mut paths = in_folders(&["docs/v1/1.76", "docs/v2/2.9", "docs/v2/2.10", "docs/v2/_dev"], &["faq", "start"]);
    paths.push("docs/v2/".to_owned());
    let paths: Vec<&str> = paths.iter().map(|path| path.trim_end_matches('/')).collect();
    let variants = plain(&paths);
    let names: Vec<&str> = stages(&variants).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["2.10", "2.9", "1.76", "_dev"]);
    assert_eq!(together(&variants, &paths).len(), 2);
}

#[test]
fn folders_that_only_look_like_versions_are_none() {
    for folders in [
        // Years of a blog, and notes on releases.
        ["blog/2023", "blog/2024"],
        ["release-notes/v1", "release-notes/v2"],
        // Chapters.
        ["course/1", "course/2"],
        // A version folder beside an ordinary one.
        ["v1", "guides"],
        // Ambiguous names.
        ["main", "preview"],
    ] {
        let paths = in_folders(&folders, &["intro", "end"]);
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let variants = plain(&paths);
        assert!(variants.is_empty(), "{folders:?}: {variants:?}");
    }
    let paths = ["v1/a", "v1/b", "v1/c", "v2/x", "v2/y", "v2/z"];
    assert!(plain(&paths).is_empty(), "they share nothing");
}

#[test]
fn folders_of_languages_are_told_from_the_one_around_them() {
    let mut paths = in_folders(&["", "fr", "pt-br"], &["a", "b", "c"]);
    paths.extend(["js/a", "js/b", "js/c", "fr/seulement"].map(str::to_owned));
    let paths: Vec<&str> = paths.iter().map(|path| path.trim_start_matches('/')).collect();
    let variants = plain(&paths);
    assert_eq!(variants.languages(), ["fr", "pt-br"]);
    assert_eq!(variants.default_language(), None);
    assert_eq!(together(&variants, &paths)[0], ["a", "fr/a", "pt-br/a"]);

    let paths = in_folders(&["de", "en", "ja"], &["a", "b", "c"]);
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let variants = plain(&paths);
    assert_eq!(variants.default_language(), Some(1), "of languages that all have a folder, English");
}

#[test]
fn versions_and_languages_go_together() {
    let paths = in_folders(&["en/v1", "en/v2", "fr/v1", "fr/v2"], &["a", "b"]);
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let variants = plain(&paths);
    assert_eq!(
        together(&variants, &paths),
        [["en/v1/a", "en/v2/a", "fr/v1/a", "fr/v2/a"], ["en/v1/b", "en/v2/b", "fr/v1/b", "fr/v2/b"]]
    );
    assert_eq!(variants.rank(variants.page(2)), (0, 0), "v2 in English");
}

#[test]
fn a_redirect_tells_which_version_is_the_stable_one() {
    let paths = in_folders(&["docs/v1", "docs/v2", "docs/v3"], &["a", "b"]);
    let pages: Vec<PageLabels<'_>> = paths.iter().map(|path| PageLabels { path, ..PageLabels::default() }).collect();
    let redirects = [("/docs/stable/*", "/docs/v2/:splat")];
    let variants = Variants::of(&pages, &Declared::default(), redirects.into_iter());
    assert_eq!(stages(&variants), [("v2", Stage::Current), ("v1", Stage::Older), ("v3", Stage::Preview)]);
}

/// The versions found in a tree of files, and the paths of its pages.
fn read(files: &[(&str, &str)]) -> (Variants, Vec<String>) {
    let tree = site(files);
    let layout = Layout::read(&tree);
    let places: Vec<_> =
        files.iter().filter(|(file, _)| layout.holds_pages(file)).map(|(file, _)| layout.place(file)).collect();
    let pages: Vec<PageLabels<'_>> = places
        .iter()
        .map(|place| PageLabels {
            path: &place.site_path,
            version: place.version.as_deref(),
            language: place.language.as_deref(),
        })
        .collect();
    let variants = Variants::of(&pages, layout.declared(), layout.redirects());
    (variants, places.into_iter().map(|place| place.site_path).collect())
}

#[test]
fn a_configuration_says_which_version_is_released() {
    let files = [
        ("_config.yml", "versions:\n  stable: v2\n"),
        ("v1/a.md", ""),
        ("v1/b.md", ""),
        ("v2/a.md", ""),
        ("v2/b.md", ""),
        ("v3/a.md", ""),
        ("v3/b.md", ""),
    ];
    let (variants, _) = read(&files);
    assert_eq!(stages(&variants), [("v2", Stage::Current), ("v1", Stage::Older), ("v3", Stage::Preview)]);
}

#[test]
fn parameters_of_hugo_say_which_version_is_released() {
    for config in [
        "params:\n  latest: '1.9'\n  latestV2: '2.1'\n  latest_news: yes\n",
        "params:\n  versions:\n    current: '2.1'\n    next: '2.2'\n",
    ] {
        let folders = ["1.9", "2.0", "2.1", "2.2"].map(|version| format!("content/docs/{version}"));
        let pages = in_folders(&folders.each_ref().map(String::as_str), &["a.md", "b.md"]);
        let files = std::iter::once(("hugo.yaml", config)).chain(pages.iter().map(|page| (page.as_str(), "")));
        let (variants, _) = read(&files.collect::<Vec<_>>());
        assert_eq!(
            stages(&variants),
            [("2.1", Stage::Current), ("2.0", Stage::Older), ("1.9", Stage::Older), ("2.2", Stage::Preview)]
        );
    }
}

#[test]
fn docusaurus_says_what_is_released() {
    let files = [
        ("docusaurus.config.js", "export default {presets: [['classic', {docs: {lastVersion: '2.0'}}]]}"),
        ("versions.json", r#"["2.1", "2.0", "1.0"]"#),
        ("docs/a.md", ""),
        ("versioned_docs/version-2.1/a.md", ""),
        ("versioned_docs/version-2.0/a.md", ""),
        ("versioned_docs/version-1.0/a.md", ""),
    ];
    let (variants, paths) = read(&files);
    assert_eq!(
        stages(&variants),
        [("2.0", Stage::Current), ("1.0", Stage::Older), ("Next", Stage::Preview), ("2.1", Stage::Preview)]
    );
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    assert_eq!(together(&variants, &paths), [["docs/next/a", "docs/2.1/a", "docs/a", "docs/1.0/a"]]);
}

#[test]
fn docfx_says_which_files_are_of_one_version() {
    let config = r#"{"build": {"content": [
        {"files": ["**/*.md"], "src": "learn", "dest": "learn", "group": "all"},
        {"files": ["**/*.md"], "src": "5.1", "dest": "module", "group": "five"},
        {"files": ["**/*.md"], "src": "7.4", "dest": "module", "group": "seven"}],
        "groups": {"all": {"moniker_range": ">=shell-5.1"}, "five": {"moniker_range": "shell-5.1"}, "seven": {"moniker_range": "shell-7.4"}}}}"#;
    let files = [
        ("docfx.json", config),
        ("learn/a.md", ""),
        ("5.1/a.md", ""),
        ("5.1/b.md", ""),
        ("7.4/a.md", ""),
        ("7.4/b.md", ""),
    ];
    let (variants, paths) = read(&files);
    assert_eq!(stages(&variants), [("7.4", Stage::Current), ("5.1", Stage::Older)]);
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    assert_eq!(together(&variants, &paths), [["module/a", "module/a"], ["module/b", "module/b"]]);
}

#[test]
fn a_docs_json_says_what_readers_get_first() {
    let navigation = r#"{"navigation": {"languages": [
        {"language": "en", "versions": [
            {"version": "2.0 (latest)", "pages": ["current/a", "current/b"]},
            {"version": "1.0", "pages": ["v1/a", "v1/b"]}]},
        {"language": "fr", "versions": [{"version": "2.0 (latest)", "pages": ["fr/current/a"]}]}]}}"#;
    let files = [
        ("docs.json", navigation),
        ("current/a.mdx", ""),
        ("current/b.mdx", ""),
        ("v1/a.mdx", ""),
        ("v1/b.mdx", ""),
        ("fr/current/a.mdx", ""),
    ];
    let (variants, paths) = read(&files);
    assert_eq!(stages(&variants), [("2.0 (latest)", Stage::Current), ("1.0", Stage::Older)]);
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    assert_eq!(together(&variants, &paths), [vec!["current/a", "v1/a", "fr/current/a"], vec!["current/b", "v1/b"]]);
    assert_eq!(variants.default_language().map(|language| variants.languages()[language].as_str()), Some("en"));
}

#[test]
fn a_version_is_found_by_any_of_its_spellings() {
    let paths = in_folders(&["v23.1", "v23.2", "v2"], &["a", "b"]);
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let variants = plain(&paths);
    let named = |name: &str| -> Vec<&str> {
        variants.named(name).into_iter().map(|at| variants.versions()[at].name.as_str()).collect()
    };
    assert_eq!(named("23.1"), ["v23.1"]);
    assert_eq!(named("v23.2.4"), ["v23.2"]);
    assert_eq!(named("v2"), ["v2"]);
    assert!(named("23").is_empty() && named("24.1").is_empty() && named("2.7").is_empty());
}
#[test]
fn archived_versions_are_older_ones_of_what_stands_around_them() {
    let mut paths = in_folders(&["docs/1.13.0", "docs/1.12.0", "docs/archives/1.2.0"], &["", "keys", "guides/retry"]);
    paths.extend(["docs", "docs/archives", "docs/archives/0.8.0", "docs/archives/0.8.0/manual"].map(str::to_owned));
    let paths: Vec<&str> = paths.iter().map(|path| path.trim_end_matches('/')).collect();
    let variants = plain(&paths);
    assert_eq!(
        stages(&variants),
        [("1.13.0", Stage::Current), ("1.12.0", Stage::Older), ("1.2.0", Stage::Older), ("0.8.0", Stage::Older)]
    );
    let at = |path: &str| paths.iter().position(|known| *known == path).expect("a page") as u32;
    assert_eq!(variants.version_of(at("docs/archives/0.8.0/manual")).map(|version| version.stage), Some(Stage::Older));
    assert_eq!(variants.version_of(at("docs/archives")), None);
}

#[test]
fn a_language_is_one_in_letters_of_either_case() {
    let label = |path, language| PageLabels { path, language: Some(language), ..PageLabels::default() };
    let pages =
        [label("a", "en"), label("pt/a", "pt-BR"), label("pt/b", "pt-BR"), label("pt/c", "PT_br"), label("b", "EN")];
    let declared = Declared { language: Some("EN".to_owned()), ..Declared::default() };
    let variants = Variants::of(&pages, &declared, std::iter::empty());
    assert_eq!(variants.languages(), ["en", "pt-BR"]);
    assert_eq!(variants.default_language(), Some(0));
    assert_eq!([1, 2, 3].map(|page| variants.language_of(page)), [Some("pt-BR"); 3]);
}
