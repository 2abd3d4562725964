//! Sites in several versions and languages: one page is found once, in the version and the language that are asked for.

use super::{Docs, Site, question};
use crate::{Filter, Query};

fn paths(site: &Site, query: &Query) -> Vec<String> {
    site.index.snapshot().search(query).into_iter().map(|passage| passage.path).collect()
}

fn near(text: &str, path: &str) -> Query {
    Query { near: Some(path.to_owned()), ..question(text) }
}

/// Five versions with the same content in different words, so that no two are near-duplicates. Older versions repeat
/// the words more often.
fn versioned() -> Docs {
    let mut docs = Docs::default();
    for (at, version) in ["v1.8", "v1.9", "v1.10", "v1.11", "v2-beta"].iter().enumerate() {
        let often = "Rotate the key. ".repeat(6 - at);
        let page = |title: &str, text: &str| format!("# {title}\n\n{text} This is said for readers {version} alone.\n");
        docs.write(&format!("{version}/keys.md"), &page("Keys", &often));
        docs.write(&format!("{version}/users.md"), &page("Users", "Who may rotate a key."));
        docs.write(&format!("{version}/install.md"), &page("Install", "Unpack it."));
    }
    docs.write("v1.8/macros.md", "# Macros\n\nMacros are rotated like a key, and gone since.\n");
    docs.write("cloud/keys.md", "# Keys in the cloud\n\nThe cloud rotates a key by itself.\n");
    docs
}

#[test]
fn of_a_page_in_many_versions_the_latest_stable_one_is_found() {
    let site = Site::of(&versioned());
    let found = paths(&site, &question("rotate the key"));
    assert_eq!(found.len(), 4, "{found:?}");
    assert_eq!(found[0], "v1.11/keys");
    assert!(found.contains(&"v1.11/users".to_owned()) && found.contains(&"cloud/keys".to_owned()), "{found:?}");
    assert_eq!(found[3], "v1.8/macros", "what is in an old version alone is found, too");
    let passages = site.index.snapshot().search(&question("rotate the key"));
    assert_eq!(passages[0].version.as_deref(), Some("v1.11"));
}

#[test]
fn what_only_an_old_version_has_comes_after_a_current_page_that_answers() {
    let mut docs = versioned();
    docs.write("v1.8/rotate.md", "# Rotate the key\n\nRotate the key of a macro. Rotate the key.\n");
    let found = paths(&Site::of(&docs), &question("rotate the key"));
    let place = |path: &str| found.iter().position(|found| found == path);
    assert!(place("v1.11/keys") < place("v1.8/rotate"), "{found:?}");
}

#[test]
fn a_version_that_is_named_chooses_and_does_not_score() {
    let mut docs = versioned();
    docs.write(
        "cloud/upgrade.md",
        "# Upgrade to v1.9\n\nFrom v1.8 to v1.9: the key of v1.9. Rotate in v1.9 what v1.9 has.\n",
    );
    let site = Site::of(&docs);
    assert_eq!(paths(&site, &question("rotate the key in v1.9"))[0], "v1.9/keys");
    assert_eq!(site.index.snapshot().never_mentioned("rotate the key in v1.9"), Vec::<String>::new());
}

#[test]
fn older_versions_do_not_crowd_out_the_one_that_is_wanted() {
    let mut docs = Docs::default();
    for version in 1..40 {
        for page in 0..30 {
            let text = format!("# Key {page}\n\n{} of page {page}.\n", "rotate the key ".repeat(40 - version));
            docs.write(&format!("v1.{version}/key{page}.md"), &text);
        }
    }
    let site = Site::of(&docs);
    let query = Query { limit: 50, ..question("rotate the key") };
    let found = paths(&site, &query);
    assert_eq!(found.len(), 30, "{found:?}");
    assert!(found.iter().all(|path| path.starts_with("v1.39/")), "{found:?}");
}

#[test]
fn an_older_version_is_found_when_it_is_asked_for() {
    let site = Site::of(&versioned());
    let by_filter = |version: &str| Filter { version: Some(version.to_owned()), ..Filter::default() };
    assert_eq!(site.paths_with("rotate the key", by_filter("v1.9"))[0], "v1.9/keys");
    assert!(site.paths_with("macros", by_filter("v1.9")).is_empty());
    for (text, expected) in [
        ("rotate the key in v1.9", "v1.9/keys"),
        ("rotate the key in 1.10", "v1.10/keys"),
        ("rotate the key, 1.9.3", "v1.9/keys"),
        ("rotate the key v2-beta", "v2-beta/keys"),
        ("rotate the key 19 times", "v1.11/keys"),
        ("rotate the key of 1.99", "v1.11/keys"),
    ] {
        assert_eq!(paths(&site, &question(text))[0], expected, "{text}");
    }
    assert_eq!(paths(&site, &near("rotate the key", "v1.9/install"))[0], "v1.9/keys", "where the reader is");
    let elsewhere = paths(&site, &near("rotate the key", "cloud/keys"));
    assert!(elsewhere.contains(&"v1.11/keys".to_owned()), "{elsewhere:?}");
    let named = near("rotate the key in v1.10", "/v1.9/install#unpack");
    assert_eq!(paths(&site, &named)[0], "v1.10/keys", "what is said goes before where it is said");
    assert_eq!(paths(&site, &near("macros", "v1.8/install"))[0], "v1.8/macros");
}

#[test]
fn a_version_that_comes_or_goes_changes_which_one_is_found() {
    let mut docs = versioned();
    let site = Site::of(&docs);
    for page in ["keys", "users", "install"] {
        let text = docs.files[&format!("v1.11/{page}.md")].replace("v1.11", "v1.12");
        docs.write(&format!("v1.12/{page}.md"), &text);
    }
    site.update(&docs);
    docs.were_read();
    assert_eq!(site.paths("rotate the key")[0], "v1.12/keys");
    for page in ["keys", "users", "install"] {
        docs.remove(&format!("v1.12/{page}.md"));
    }
    site.update(&docs);
    assert_eq!(site.paths("rotate the key")[0], "v1.11/keys");
    assert!(docs.were_read().is_empty(), "no page is read again for it");
}

#[test]
fn hidden_variants_do_not_replace_visible_ones() {
    let mut docs = versioned();
    docs.write("v1.11/keys.md", "---\ngroups: [staff]\n---\n# Keys\n\nRotate the key.\n");
    let site = Site::of(&docs);
    let filter = Filter { groups: vec!["guest".to_owned()], ..Filter::default() };
    let found = site.paths_with("rotate the key", filter);
    assert!(found.contains(&"v1.10/keys".to_owned()), "{found:?}");
}

/// A site in English with translations, and one page that exists in German only.
fn translated() -> Docs {
    let mut docs = Docs::default();
    for (language, keys, users) in [
        ("", "# Keys\n\nHow a key is rotated with `rotate-key`.\n", "# Users\n\nWho may use `rotate-key`.\n"),
        (
            "de/",
            "# Schlüssel\n\nWie ein Schlüssel mit `rotate-key` erneuert wird.\n",
            "# Benutzer\n\nWer `rotate-key` darf.\n",
        ),
        ("ko/", "# 키 관리\n\n`rotate-key` 명령으로 토큰을 갱신합니다.\n", "# 사용자\n\n`rotate-key` 권한.\n"),
        ("ja/", "# 鍵\n\n`rotate-key` で鍵を更新します。\n", "# 利用者\n\n`rotate-key` の権限。\n"),
    ] {
        docs.write(&format!("{language}keys.md"), keys);
        docs.write(&format!("{language}users.md"), users);
        docs.write(&format!("{language}start.md"), "# Start\n\n...\n");
    }
    docs.write("de/recht.md", "# Recht\n\nNur auf Deutsch: rotate-key und das Recht.\n");
    docs
}

#[test]
fn translations_are_found_in_the_language_of_the_question() {
    let site = Site::of(&translated());
    let found = |text: &str| paths(&site, &question(text));
    assert_eq!(found("rotate-key"), ["keys", "users", "de/recht"], "the default language, and what has no other");
    assert_eq!(found("Wie erneuere ich den Schlüssel?")[0], "de/keys");
    assert_eq!(found("토큰 갱신")[0], "ko/keys");
    assert_eq!(found("鍵の更新")[0], "ja/keys");
    assert_eq!(found("Schlüssel erneuert")[0], "de/keys", "by the pages that hold its words");
    assert_eq!(paths(&site, &near("rotate-key", "ja/start"))[0], "ja/keys", "where the reader is");
    assert_eq!(paths(&site, &near("how is a key rotated", "ja/start"))[0], "keys", "as it is asked");
    let filter = Filter { language: Some("de".to_owned()), ..Filter::default() };
    let german = site.paths_with("rotate-key", filter);
    assert!(german.iter().all(|path| path.starts_with("de/")) && german.len() == 3, "{german:?}");
}

#[test]
fn a_word_in_a_script_of_several_languages_is_of_the_one_whose_pages_have_it() {
    let mut docs = Docs::default();
    for (language, details, settings, guide) in
        [("", "Details", "Settings", "Guide"), ("zh/", "详情", "设置", "指南"), ("ja/", "詳細", "設定", "案内")]
    {
        for (page, title) in [("details", details), ("settings", settings), ("guide", guide)] {
            docs.write(&format!("{language}{page}.md"), &format!("# {title}\n\n{title}.\n"));
        }
    }
    let site = Site::of(&docs);
    for (text, expected) in
        [("詳細", "ja/details"), ("設定", "ja/settings"), ("设置", "zh/settings"), ("指南", "zh/guide")]
    {
        assert_eq!(paths(&site, &question(text)).first().map(String::as_str), Some(expected), "{text}");
    }
}

#[test]
fn the_title_of_a_page_finds_it_in_its_language() {
    let mut docs = Docs::default();
    for (path, title, text) in [
        ("expandables", "Expandables", "Extensible sections. Sections, extensible as they are."),
        ("fr/expandables", "Sections extensibles", "Des sections que l'on ouvre."),
        ("sections", "All about sections", "Sections are extensible. Extensible sections."),
        ("fr/sections", "Toutes les sections", "Des sections."),
        ("resource", "page resource", "One of several."),
        ("resources", "Page resources", "Each page resource of a site."),
    ] {
        docs.write(&format!("{path}.md"), &format!("# {title}\n\n{text}\n"));
    }
    let site = Site::of(&docs);
    for (text, expected) in [
        ("Sections extensibles", "fr/expandables"),
        ("Toutes les sections", "fr/sections"),
        ("extensible sections", "sections"),
        ("page resource", "resource"),
        ("Page resources?", "resources"),
    ] {
        assert_eq!(paths(&site, &question(text)).first().map(String::as_str), Some(expected), "{text}");
    }
}

#[test]
fn words_that_one_language_alone_knows_tell_the_language_of_a_question() {
    let mut docs = Docs::default();
    let pages = [
        ("unit1", "Unit 1: set up CSS", "Unidad 1: preparar CSS", "Unité 1 : préparer CSS"),
        ("unit2", "Unit 2: images and CSS", "Unidad 2: imágenes y CSS", "Unité 2 : images et CSS"),
        ("styles", "Variables of CSS and installation", "Variables de CSS e instalación", ""),
        ("routes", "Routes of a page", "Rutas de una página", ""),
        ("api", "The API of images", "", ""),
    ];
    for (name, english, spanish, french) in pages {
        for (language, title) in [("en", english), ("es", spanish), ("fr", french)] {
            if !title.is_empty() {
                docs.write(&format!("{language}/{name}.md"), &format!("# {title}\n\n{title}. {title}.\n"));
            }
        }
    }
    let site = Site::of(&docs);
    for (text, expected) in [
        ("instalación", "es/styles"),
        ("página CSS", "es/routes"),
        ("imágenes", "es/unit2"),
        ("Unidad 2", "es/unit2"),
        ("CSS", "en/"),
        ("Unit 1", "en/unit1"),
        ("images", "en/"),
        ("préparer CSS", "fr/unit1"),
        // English words around a word that only pages in another language have.
        ("What is instalación?", "es/styles"),
        ("Where do I find imágenes?", "es/unit2"),
        ("What is the installation of CSS?", "en/styles"),
        ("How do I get a página of preparar?", "es/routes"),
    ] {
        let found = site.paths(text);
        assert!(found.first().is_some_and(|path| path.starts_with(expected)), "{text}: {found:?}");
    }
}

#[test]
fn korean_nouns_are_found_without_their_particles() {
    let site = Site::of(&Docs::of(&[
        ("backup.md", "# 백업\n\n데이터베이스를 매일 백업합니다. 백업은 저장소에서 복원할 수 있습니다.\n"),
        ("server.md", "# 서버\n\n서버에서 로그를 확인하고 인증서를 갱신합니다.\n"),
        ("api.md", "# 인터페이스\n\nAPI를 호출하려면 토큰이 필요합니다.\n"),
    ]));
    for (text, expected) in [
        ("데이터베이스", "backup"),
        ("데이터베이스가 뭐예요", "backup"),
        ("저장소", "backup"),
        ("인증서는 어디에", "server"),
        ("인증서의 갱신", "server"),
        ("토큰", "api"),
        ("토큰을", "api"),
        ("API", "api"),
    ] {
        assert_eq!(site.paths(text).first().map(String::as_str), Some(expected), "{text}");
    }
}
