//! `docent index`: its report on the docs.

use docent_tests::Installation;

#[test]
fn odd_pages_are_indexed_and_reported_with_their_line() {
    let installation = Installation::new();
    let pages = [
        ("index.mdx", "---\ntitle: Home\n---\n\nWelcome to the lighthouse.\n"),
        ("broken.mdx", "---\ntitle: Broken\n---\n\nThe keeper's rota.\n\n<Tabs\n\nSee {unclosed\n"),
    ];
    let repository = installation.repository("acme", &pages);
    installation.add_project("acme", &repository);

    let lines = installation.must(&["index", "acme"]);
    assert!(lines.stdout.starts_with("2 pages in "), "{}", lines.stdout);
    assert!(lines.stdout.contains("(2 added, 0 changed, 0 removed)"), "{}", lines.stdout);
    assert!(lines.stdout.contains("\n  broken.mdx:"), "{}", lines.stdout);

    let told = installation.must(&["index", "acme", "--json"]).json();
    assert_eq!((&told["pages"], &told["added"]), (&2.into(), &0.into()), "{told:#}");
    let odd = told["odd"].as_array().expect("a list");
    assert_eq!(told["oddInAll"], odd.len(), "{told:#}");
    assert!(odd.iter().all(|odd| odd["file"] == "broken.mdx" && odd["line"].as_u64() > Some(4)), "{told:#}");
    assert!(odd.iter().all(|odd| odd["message"].as_str().is_some_and(|said| said.len() > 10)), "{told:#}");

    let found = installation.must(&["search", "acme", "keeper rota", "--json"]).json();
    assert_eq!(found["passages"][0]["path"], "broken", "{found:#}");
}

#[test]
fn only_what_changed_is_read_again() {
    let installation = Installation::new();
    let repository = installation.repository("acme", &[("a.md", "# A\n\nOne.\n"), ("b.md", "# B\n\nTwo.\n")]);
    installation.add_project("acme", &repository);
    installation.must(&["index", "acme"]);
    repository.commit("main", "b.md", "# B\n\nThree.\n");
    let told = installation.must(&["index", "acme", "--json"]).json();
    assert_eq!((&told["added"], &told["changed"], &told["removed"]), (&0.into(), &1.into(), &0.into()), "{told:#}");
    assert_eq!(told["commit"].as_str().map(str::len), Some(40), "{told:#}");
}

#[test]
fn skipped_files_are_counted_and_each_says_why() {
    let installation = Installation::new();
    let pages = [
        ("docs/mkdocs.yml", "site_name: x\ndocs_dir: pages\nexclude_docs: |\n  drafts/\n"),
        ("docs/pages/index.md", "# Home\n\nThe lighthouse keeper.\n"),
        ("docs/pages/drafts/later.md", "# Later\n"),
        ("docs/pages/hidden.md", "---\ndraft: true\n---\n\nNobody.\n"),
        ("docs/pages/old.textile", "h1. Old\n"),
        ("docs/other.md", "# Other\n"),
        ("README.md", "# Readme\n"),
    ];
    let repository = installation.repository("acme", &pages);
    let path = repository.path().display().to_string();
    installation.must(&["project", "add", "acme", "--repo", &path, "--docs-root", "docs"]);

    let lines = installation.must(&["index", "acme"]);
    assert!(lines.stdout.contains("\nskipped:\n  1 hidden (pages/hidden.md)\n"), "{}", lines.stdout);
    let told = installation.must(&["index", "acme", "--json"]).json();
    let reasons: Vec<_> = told["skipped"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|skipped| (skipped["reason"].as_str().unwrap_or_default(), skipped["files"].as_u64()))
        .collect();
    assert_eq!(reasons, [("hidden", Some(1)), ("excluded", Some(1)), ("outside", Some(1)), ("unsupported", Some(1))]);
    assert_eq!((&told["generator"], &told["folders"][0]), (&"MkDocs".into(), &"pages".into()));

    let why = |path: &str| installation.must(&["search", "acme", "--why-not", path, "--json"]).json();
    assert_eq!(why("index.md")["state"], "indexed", "the address of the front page");
    assert_eq!(why("pages/hidden.md")["rule"], serde_json::json!({ "file": "pages/hidden.md", "line": 2 }));
    let excluded = why("docs/pages/drafts/later.md");
    assert_eq!((&excluded["reason"], &excluded["rule"]["line"]), (&"excluded".into(), &4.into()), "{excluded:#}");
    assert_eq!(why("other.md")["reason"], "outside");
    assert_eq!(why("README.md")["reason"], "outside");
    assert_eq!(why("mkdocs.yml")["state"], "noPage");
    let lines = installation.must(&["search", "acme", "keeper", "--why-not", "/"]).stdout;
    assert!(lines.contains("`pages/index.md` is indexed") && lines.contains("place 1 of 1"), "{lines}");
    let nothing = installation.run(&["search", "acme", "--why-not", "nowhere.md"]);
    assert_eq!(nothing.code, Some(1), "{}", nothing.stderr);

    let doctor = installation.run(&["doctor"]).stdout;
    assert!(doctor.contains("4 files that look like docs are skipped beside 1 page:"), "{doctor}");
}

#[test]
fn every_file_that_looks_like_docs_is_a_page_or_has_a_reason() {
    let installation = Installation::new();
    let utf16: Vec<u8> = "# Far away\n\nWords.\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let huge = "words ".repeat((64 << 20) / 6 + 1);
    let notebook = br##"{"nbformat": 4, "cells": [{"cell_type": "markdown", "source": "# Lab\n\nA walrus."}]}"##;
    let files: &[(&str, &[u8])] = &[
        ("SUMMARY.md", b"* [Home](README.md)\n* [Guide](guide.md)\n"),
        ("README.md", b"# Home\n\nA zebra.\n"),
        ("guide.md", b"# Guide\n\nA giraffe \xff.\n"),
        ("unnamed.md", b"# Unnamed\n"),
        ("plain/setup.rst", b"Setup\n=====\n\nA heron.\n"),
        ("plain/install.adoc", b"= Install\n\nAn otter.\n"),
        ("plain/lab.ipynb", notebook),
        ("plain/hidden.md", b"---\nhidden: true\n---\n\nNobody.\n"),
        ("plain/_part.md", b"A piece.\n"),
        ("plain/far.md", &utf16),
        ("plain/huge.md", huge.as_bytes()),
        ("plain/old.org", b"* Old\n"),
    ];
    let repository = installation.repository("acme", files);
    let path = repository.path().display().to_string();
    installation.must(&["project", "add", "book", "--repo", &path]);
    installation.must(&["project", "add", "plain", "--repo", &path, "--docs-root", "plain"]);
    let told = |project: &str| installation.must(&["index", project, "--json"]).json();
    let skipped = |told: &serde_json::Value| -> Vec<(String, u64, String)> {
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let of = |skipped: &serde_json::Value| {
            let files = skipped["files"].as_u64().unwrap_or_default();
            (text(&skipped["reason"]), files, text(&skipped["examples"][0]))
        };
        told["skipped"].as_array().expect("a list").iter().map(of).collect()
    };
    let plain = told("plain");
    assert_eq!(plain["pages"], 3, "{plain:#}");
    let reasons = [
        ("hidden", "hidden.md"),
        ("partial", "_part.md"),
        ("unsupported", "old.org"),
        ("tooLarge", "huge.md"),
        ("notUtf8", "far.md"),
    ];
    let reasons = reasons.map(|(reason, file)| (reason.to_owned(), 1, file.to_owned()));
    assert_eq!(skipped(&plain), reasons);
    for (words, page) in [("heron", "setup"), ("otter", "install"), ("walrus", "lab.ipynb")] {
        let found = installation.must(&["search", "plain", words, "--json"]).json();
        assert_eq!(found["passages"][0]["path"], page, "{found:#}");
    }
    for (reason, _, file) in &reasons {
        let why = installation.must(&["search", "plain", "--why-not", file, "--json"]).json();
        assert_eq!((&why["state"], &why["reason"]), (&"skipped".into(), &reason.as_str().into()), "{why:#}");
    }

    // In a GitBook project, SUMMARY.md is not a page; it is the table of contents that lists the pages.
    let book = told("book");
    assert_eq!((&book["generator"], &book["pages"]), (&"GitBook".into(), &2.into()), "{book:#}");
    assert!(skipped(&book).contains(&("configuration".to_owned(), 1, "SUMMARY.md".to_owned())), "{book:#}");
    assert!(skipped(&book).iter().any(|(reason, ..)| reason == "notInNavigation"), "{book:#}");
    let found = installation.must(&["search", "book", "giraffe", "--json"]).json();
    assert_eq!(found["passages"][0]["path"], "guide", "a stray byte is no reason: {found:#}");
}

#[test]
fn docs_without_a_page_are_a_failure_that_says_where_it_looked() {
    let installation = Installation::new();
    let pages = [("book.toml", ""), ("src/SUMMARY.md", "[A](a.md)\n"), ("src/a.md", "# A\n")];
    let repository = installation.repository("acme", &pages);
    installation.add_project("acme", &repository);
    installation.must(&["index", "acme"]);
    repository.commit("main", "src/a.md", "---\ndraft: true\n---\n");
    let finished = installation.run(&["index", "acme", "--json"]);
    assert_eq!((finished.code, &finished.json()["pages"]), (Some(1), &0.into()));
    assert!(finished.stderr.contains("mdBook, which takes its pages from `src`"), "{}", finished.stderr);
    assert!(finished.stderr.contains("1 hidden (src/a.md)"), "{}", finished.stderr);
    let doctor = installation.run(&["doctor"]);
    assert!(doctor.stdout.contains("no page of it is indexed"), "{}", doctor.stdout);
    assert_eq!(doctor.code, Some(1));
}

#[test]
fn a_file_that_is_too_large_is_skipped_and_the_rest_is_indexed() {
    let installation = Installation::new();
    let huge = "words ".repeat((64 << 20) / 6 + 1);
    let repository = installation.repository("acme", &[("a.md", "# A\n\nA zebra.\n"), ("huge.md", huge.as_str())]);
    installation.add_project("acme", &repository);
    let told = installation.must(&["index", "acme", "--json"]).json();
    assert_eq!((&told["pages"], &told["skipped"][0]["reason"]), (&1.into(), &"tooLarge".into()), "{told:#}");
    assert_eq!(installation.must(&["search", "acme", "zebra", "--json"]).json()["passages"][0]["path"], "a");
}

#[test]
fn a_notebook_is_found_by_what_its_cells_say() {
    let installation = Installation::new();
    let lab = r###"{"nbformat": 4, "metadata": {"language_info": {"name": "python"}}, "cells": [
        {"cell_type": "markdown", "source": ["# The lab\n", "\n", "Count every \"zebra\".\n"]},
        {"cell_type": "markdown", "source": "## Plots\n\nDraw them."},
        {"cell_type": "code", "source": "draw_giraffe()", "outputs": [{"text": "walrus"}]}]}"###;
    let repository = installation.repository("acme", &[("a.md", "# A\n"), ("lab.ipynb", lab), ("broken.ipynb", "{")]);
    installation.add_project("acme", &repository);
    let told = installation.must(&["index", "acme", "--json"]).json();
    assert_eq!((&told["pages"], &told["skipped"][0]["reason"]), (&2.into(), &"unsupported".into()), "{told:#}");
    assert_eq!(told["odd"][0]["file"], "broken.ipynb", "{told:#}");

    let found = |words: &str| installation.must(&["search", "acme", words, "--json"]).json()["passages"].clone();
    let zebra = found("zebra");
    assert_eq!((&zebra[0]["title"], &zebra[0]["path"]), (&"The lab".into(), &"lab.ipynb".into()), "{zebra:#}");
    assert_eq!(found("draw giraffe")[0]["href"], "/lab.ipynb#plots");
    assert_eq!(found("walrus"), serde_json::json!([]), "what the code put out is not read");
}

#[test]
fn symbolic_links_in_the_repository_are_read_and_submodules_are_not_judged() {
    let installation = Installation::new();
    let pages = [
        ("docs/index.md", "# Home\n\n[log](changelog.md) [guide](common/g.md) [sub](vendor/s.md) [gone](gone.md)\n"),
        ("CHANGELOG.md", "# Changelog\n\nThe zebra.\n"),
        ("common/g.md", "# Guide\n\nThe giraffe.\n"),
    ];
    let repository = installation.repository("acme", &pages);
    let work = installation.root().join("work");
    let path = work.display().to_string();
    repository.git(&["clone", "--quiet", ".", &path]);
    std::os::unix::fs::symlink("../CHANGELOG.md", work.join("docs/changelog.md")).expect("a link");
    std::os::unix::fs::symlink("../common", work.join("docs/common")).expect("a link");
    std::os::unix::fs::symlink("/etc", work.join("docs/etc")).expect("a link");
    let submodule = format!("160000,{},docs/vendor", "1".repeat(40));
    repository.git(&["-C", &path, "add", "--all"]);
    repository.git(&["-C", &path, "update-index", "--add", "--cacheinfo", &submodule]);
    let author = ["-c", "user.name=a", "-c", "user.email=a@b.test"];
    repository.git(&[&["-C", &path], &author[..], &["commit", "--quiet", "--message", "links"]].concat());
    repository.git(&["-C", &path, "push", "--quiet"]);

    let at = repository.path().display().to_string();
    installation.must(&["project", "add", "acme", "--repo", &at, "--docs-root", "docs"]);
    installation.must(&["index", "acme"]);
    for (words, path) in [("zebra", "changelog"), ("giraffe", "common/g")] {
        let found = installation.must(&["search", "acme", words, "--json"]).json();
        assert_eq!(found["passages"][0]["path"], path, "{found:#}");
    }
    let fixed = installation.must(&["run", "--repo", &at, "--docs-root", "docs", "--json", "Fix broken links"]).json();
    let message = fixed["message"].as_str().unwrap_or_default();
    assert!(message.contains("gone.md") && !message.contains("changelog"), "{message}");
    assert!(!message.contains("common") && !message.contains("vendor"), "{message}");
}
