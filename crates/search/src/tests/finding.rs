//! What questions find: other spellings of a word, synonyms, and no duplicates.

use std::time::{Duration, Instant};

use super::{Docs, Site, question};
use crate::{Filter, Query};

fn handbook() -> Docs {
    Docs::of(&[
        ("configure.md", "# Configuration\n\nConfigure the workspace before the first deployment.\n"),
        ("kubernetes.md", "# Clusters\n\nRun the operator on Kubernetes.\n"),
        ("limits.md", "# Limits\n\nThe rate limit is five. A limit of another rate is an error.\n"),
        ("errors.md", "# Errors\n\nAn error of the rate that the limit is reached with is final.\n"),
        ("cafe.md", "# Voilà\n\nLe café naïf.\n"),
        ("de.md", "---\nlanguage: de\n---\n# Häuser\n\nDie Einstellungen des Servers werden gespeichert.\n"),
        ("ja.md", "---\nlanguage: ja\n---\n# 設定\n\n公開鍵を登録します。\n"),
    ])
}

#[test]
fn a_word_nobody_wrote_is_taken_for_the_one_that_was_meant() {
    let site = Site::of(&handbook());
    for (asked, expected) in [
        ("confgiure", "configure"),
        ("kuberntes operator", "kubernetes"),
        ("work space", "configure"),
        ("rate limits", "limits"),
        ("ratelimit", "limits"),
        ("kubern", "kubernetes"),
        ("naif", "cafe"),
        ("naïf", "cafe"),
        ("einstellung", "de"),
        ("haus", "de"),
        ("鍵", "ja"),
        ("公開鍵", "ja"),
    ] {
        assert_eq!(site.paths(asked).first().map(String::as_str), Some(expected), "{asked}");
    }
    assert_eq!(site.paths("zzzzzz"), Vec::<String>::new());
    assert_eq!(site.paths("utf-42"), Vec::<String>::new());
}

#[test]
fn a_word_that_is_known_is_taken_at_its_word() {
    let site = Site::of(&Docs::of(&[("a.md", "# Form\n\nOne form."), ("b.md", "# From\n\nForms and formats.")]));
    assert_eq!(site.paths("formats"), ["b"]);
}

#[test]
fn a_name_with_signs_is_one_word() {
    let site = Site::of(&Docs::of(&[
        ("c.md", "# Clients in C\n\nThe C client and its C headers, in C and more C.\n"),
        ("cpp.md", "# Other clients\n\nThe C++ client reads HTTP/3 and HTTP/1.1.\n"),
        ("net.md", "# Net\n\nA net of clients on the net, and 3 more.\n"),
        ("dotnet.md", "# Windows\n\nThe .NET client.\n"),
        ("watch.md", "# Watch\n\nWatch the server, and read http 3 times. Watch it log json.\n"),
        ("flags.md", "# Flags\n\nThe server takes `--watch`, and `--log=json`.\n"),
    ]));
    for (asked, expected) in [
        ("C++ client", "cpp"),
        ("how do I use .NET?", "dotnet"),
        ("what does --watch do", "flags"),
        ("--log=json", "flags"),
        ("HTTP/3", "cpp"),
        ("http3", "cpp"),
        ("--net", "net"),
    ] {
        assert_eq!(site.paths(asked).first().map(String::as_str), Some(expected), "{asked}");
    }
}

#[test]
fn an_identifier_that_stands_in_code_alone_beats_its_parts() {
    let settings: String = (0..40).map(|at| format!("option{at}: {at}\n")).collect();
    let spec = format!("# Specification\n\nAll fields:\n\n```yaml\n{settings}csiSnapshotTimeout: 10m\n```\n");
    let example = format!("# Example\n\nA file:\n\n```yaml\nuploaderConfig: {{}}\n{settings}```\n");
    let mut docs = Docs::of(&[
        ("timeout.md", "# Timeouts\n\nThe timeout of a CSI snapshot. A CSI snapshot has a timeout.\n"),
        ("use.md", "# Use cases\n\nHow to use it: use it as others use it.\n"),
        ("spec.md", &spec),
        ("told.md", "# Uploads\n\nIn text: set `uploaderConfig` once.\n"),
        ("example.md", &example),
    ]);
    for at in 0..20 {
        let text = format!("Use it to take a snapshot of the CSI driver, with a timeout of {at} s. ").repeat(4);
        docs.write(&format!("{at}.md"), &format!("# Snapshot {at}\n\n{text}\n"));
    }
    let site = Site::of(&docs);
    for (asked, expected) in [
        ("csiSnapshotTimeout", "spec"),
        ("how do I use csiSnapshotTimeout", "spec"),
        ("snapshot timeout", "timeout"),
        ("how do I use uploaderConfig", "told"),
    ] {
        assert_eq!(site.paths(asked).first().map(String::as_str), Some(expected), "{asked}");
    }
}

#[test]
fn letters_are_found_however_they_are_typed() {
    let site = Site::of(&Docs::of(&[
        ("de.md", "---\nlanguage: de\n---\n# Schlüssel\n\nDie Größe des Schlüssels.\n"),
        ("tr.md", "---\nlanguage: tr\n---\n# Kullanıcılar\n\nKullanıcı hesabı, KALIN.\n"),
        ("el.md", "---\nlanguage: el\n---\n# Οδός\n\nΗ ΟΔΟΣ.\n"),
        ("wide.md", "# Wide\n\nＡＰＩ ｴﾝｼﾞﾝ ﬁrewall\n"),
    ]));
    for (asked, expected) in [
        ("schluessel", "de"),
        ("Groesse", "de"),
        ("kullanici", "tr"),
        ("kalın", "tr"),
        ("οδος", "el"),
        ("API", "wide"),
        ("エンジン", "wide"),
        ("firewall", "wide"),
    ] {
        assert_eq!(site.paths(asked).first().map(String::as_str), Some(expected), "{asked}");
    }
}

#[test]
fn quoted_phrases_are_found_verbatim() {
    let site = Site::of(&handbook());
    assert_eq!(site.paths("rate limit").len(), 2);
    assert_eq!(site.paths("\"rate limit\""), ["limits"]);
    assert_eq!(site.paths("“limit of another” error"), ["limits", "errors"], "few pages leave room for others");
    assert_eq!(site.paths("\"limit rate five\"").len(), 2, "quotes that nothing holds do not count");
}

#[test]
fn the_authors_synonyms_find_what_is_called_otherwise() {
    let mut docs = handbook();
    docs.write("synonyms.txt", "k8s, kubernetes\nrollout => first deployment\n");
    let site = Site::of(&docs);
    assert_eq!(site.paths("k8s"), ["kubernetes"]);
    assert_eq!(site.paths("rollout"), ["configure"]);
}

#[test]
fn a_page_is_found_by_the_words_others_link_to_it_with() {
    let docs = Docs::of(&[
        ("guide.md", "# Guide\n\nSee the [emergency handbook](ops/pager.md)."),
        ("ops/pager.md", "# Pager\n\nWhom to call."),
        ("ops/other.md", "# Other\n\nWhom to write to."),
    ]);
    let found = Site::of(&docs).paths("emergency handbook");
    assert_eq!(found, ["guide", "ops/pager"]);
}

#[test]
fn the_same_text_is_shown_once_as_the_asker_would_read_it() {
    let text = |version: &str| {
        format!(
            "---\ntitle: Backups\nversion: {version}\n---\nA backup is taken every night at {version} and kept for a week, \
             in the storage that the settings name. Whoever wants more of them sets another number there, and pays for \
             the room they take. A backup that fails is tried again.\n"
        )
    };
    let site = Site::of(&Docs::of(&[
        ("v1/backups.md", &text("1.9")),
        ("v2/backups.md", &text("1.10")),
        ("v1/other.md", "---\nversion: '1.9'\n---\n# Other\n\nNothing."),
    ]));
    assert_eq!(site.paths("backup every night"), ["v2/backups"], "the later version");
    let near = Query { near: Some("v1/other".to_owned()), ..question("backup every night") };
    let found = site.index.snapshot().search(&near);
    assert_eq!(found.iter().map(|passage| passage.path.as_str()).collect::<Vec<_>>(), ["v1/backups"]);
    let filter = Filter { version: Some("1.9".to_owned()), ..Filter::default() };
    assert_eq!(site.paths_with("backup every night", filter), ["v1/backups"]);
}

#[test]
fn words_that_were_asked_before_help_and_are_not_missed() {
    let site = Site::of(&Docs::of(&[
        (
            "webhooks.md",
            "# Webhooks\n\nA webhook is signed with a secret.\n\n## Retries\n\nA webhook is retried twice.\n",
        ),
        ("signing.md", "# Signed webhooks\n\nHow webhooks are signed, and how a signed webhook is checked.\n"),
        ("queues.md", "# Retries\n\nRetries of a queue have retries of their own.\n"),
    ]));
    let after = |text: &str, earlier: &str| {
        let query = Query { after: Some(earlier.to_owned()), ..question(text) };
        site.index.snapshot().search(&query)
    };
    let found = after("And retries?", "How are webhooks signed?");
    assert!(["webhooks", "queues"].contains(&found[0].path.as_str()), "{found:?}");
    assert!(found[0].score > 0.7, "nothing that was asked is missing: {}", found[0].score);
    let helped = after("And how is it checked?", "How are webhooks signed?");
    assert_eq!(helped[0].path, "signing");
    let again = after("And why?", "How are webhooks signed?");
    assert_eq!(again[0].path, "signing");
}

#[test]
fn the_sections_of_a_page_are_passages_in_their_order() {
    let site = Site::of(&handbook());
    let snapshot = site.index.snapshot();
    let path = snapshot.search(&question("kubernetes clusters"))[0].path.clone();
    let sections = snapshot.sections(&question("kubernetes clusters"), &path);
    let found = snapshot.search(&question("kubernetes clusters")).remove(0);
    assert!(sections.iter().any(|section| section.href == found.href && section.content == found.content));
    assert!(sections.iter().all(|section| section.path == path));
    assert_eq!(snapshot.sections(&Query { limit: 1, ..question("kubernetes") }, &path).len(), 1);
    assert_eq!(snapshot.sections(&question("kubernetes"), "no/such/page"), []);
}

#[test]
fn the_sections_that_match_come_best_first() {
    let page = "# Server\n\nText.\n\n## Ports\n\nThe server listens on port 80 for clients.\n\n## Colours\n\nRed.\n\n\
                ## Clients\n\nThe port for clients of the server is set with `port`, and clients connect.\n";
    let site = Site::of(&Docs::of(&[("a.md", page)]));
    let headings = |share| {
        let found = site.index.snapshot().matching_sections(&question("which port for clients?"), "a", share);
        found.iter().map(|passage| passage.headings.last().cloned().unwrap_or_default()).collect::<Vec<_>>()
    };
    let mut found = headings(0.75);
    found.sort();
    assert_eq!(found, ["Clients", "Ports"]);
    assert_eq!(site.index.snapshot().matching_sections(&question("port"), "b", 0.5), []);
}

#[test]
fn a_score_says_the_same_on_small_sites_and_large() {
    let site = |pages: usize| {
        let mut docs = Docs::default();
        docs.write("answer.md", "# Harbour\n\nThe harbour opens at dawn.\n");
        for page in 0..pages {
            docs.write(&format!("{page}.md"), &format!("# Page {page}\n\nSomething about thing {page} and more.\n"));
        }
        Site::of(&docs)
    };
    let best =
        |site: &Site, text: &str| site.index.snapshot().search(&question(text)).first().map_or(0.0, |best| best.score);
    let (small, large) = (site(20), site(2_000));
    for (asked, scores) in
        [("harbour dawn", 0.9..1.0), ("harbour xyzzy", 0.3..0.7), ("something xyzzy plugh", 0.0..0.2)]
    {
        let (on_small, on_large) = (best(&small, asked), best(&large, asked));
        assert!(scores.contains(&on_small) && scores.contains(&on_large), "{asked}: {on_small} {on_large}");
        assert!((on_small - on_large).abs() < 0.15, "{asked}: {on_small} {on_large}");
    }
}

#[test]
fn an_explanation_names_the_words_and_where_they_stand() {
    let snapshot = Site::of(&handbook()).index.snapshot();
    let explained = snapshot.explain(&question("kuberntes clusters"));
    let best = &explained[0];
    assert_eq!(best.path, "kubernetes");
    let found: Vec<(&str, &str)> = best.matches.iter().map(|found| (found.word.as_str(), found.place)).collect();
    assert!(found.contains(&("clusters", "title")) && found.contains(&("kuberntes", "section")), "{found:?}");
    let slip = best.matches.iter().find(|found| found.word == "kuberntes").expect("a match");
    assert_eq!(slip.instead, ["kubernet"]);
    let shown: Vec<String> =
        snapshot.search(&question("kuberntes clusters")).into_iter().map(|found| found.path).collect();
    assert_eq!(shown, explained.iter().map(|explained| explained.path.clone()).collect::<Vec<_>>());
}

#[test]
fn no_question_takes_long() {
    let site = Site::of(&handbook());
    let words: String = (0..10_000).map(|word| format!("word{word} configuratoin{} ", "x".repeat(word % 7))).collect();
    let hostile = [
        words,
        "a".repeat(1 << 20),
        "漢".repeat(100_000),
        "\"".repeat(10_000),
        "a-".repeat(50_000),
        "aB".repeat(50_000),
        "\u{301}".repeat(100_000),
    ];
    for text in &hostile {
        let started = Instant::now();
        site.index.snapshot().search(&question(text));
        assert!(started.elapsed() < Duration::from_secs(2), "{:?} for {:.20}", started.elapsed(), text);
    }
}

#[test]
fn a_page_is_found_by_its_keywords() {
    let site = Site::of(&Docs::of(&[
        ("a.md", "---\ntitle: State changes\nkeywords: [hook, callback]\n---\n\nRun code when a state changes.\n"),
        ("b.md", "# Other\n\nNothing of the kind.\n"),
    ]));
    assert_eq!(site.paths("callback"), ["a"]);
}
