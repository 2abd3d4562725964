//! Questions that the docs do not answer score low, and words that the docs never mention are reported.

use super::{Docs, Site, question};

/// A site about cool rooms, prices per hour, forces and web servers, and about nothing else.
fn handbook() -> Docs {
    let mut docs = Docs::of(&[
        ("rooms.md", "# Cool rooms\n\nA room stays cool while its fan runs. Write down what the fan reads.\n"),
        ("prices.md", "# Prices\n\nAn hour is two crowns per room, and no force is needed to create a workspace.\n"),
        ("force.md", "# Deleting by force\n\nUse force to delete a room that is rented.\n"),
        ("server.md", "# The web server\n\nThe web server listens on a port. Configure its certificates.\n"),
        ("retries.md", "# Retries\n\nA call that fails is retried five times. The delay doubles.\n"),
    ]);
    for page in 0..40 {
        docs.write(
            &format!("{page}.md"),
            &format!("# Note {page}\n\nProgram {page} reads a file and writes program notes.\n"),
        );
    }
    docs
}

fn score(site: &Site, text: &str) -> f32 {
    site.index.snapshot().search(&question(text)).first().map_or(0.0, |best| best.score)
}

fn never_mentioned(site: &Site, text: &str) -> Vec<String> {
    site.index.snapshot().never_mentioned(text)
}

#[test]
fn a_word_that_only_resembles_a_known_one_does_not_stand_for_it() {
    let site = Site::of(&handbook());
    assert!(score(&site, "write a COBOL program that reads a file") < 0.5, "COBOL is not cool");
    assert!(score(&site, "COBOL") < 0.5);
    assert_eq!(never_mentioned(&site, "write a COBOL program that reads a file"), ["COBOL"]);
    assert!(score(&site, "create a Perforce workspace") < 0.5, "Perforce is not per and force");
    assert!(!site.paths("Perforce").contains(&"force".to_owned()));
    assert_eq!(never_mentioned(&site, "create a Perforce workspace"), ["Perforce"]);
}

#[test]
fn a_question_in_a_frame_scores_like_the_bare_one() {
    let site = Site::of(&handbook());
    let frames = [
        "Hi team, hope you are well. {} Thanks, Kim",
        "We run version 2 on Ubuntu 22.04. {}",
        "{}\n\n```\nError: timeout at main (app.js:3)\n```",
        "URGENT! {} Any help is welcome, ASAP please.",
        "{}\n\n{\n  \"code\": 401,\n  \"message\": \"invalid token\"\n}",
        "{} We are on v9.9.1.",
    ];
    for frame in frames {
        for asked in ["How often is a call retried?", "Which port does the web server use?"] {
            let (bare, framed) = (score(&site, asked), score(&site, &frame.replacen("{}", asked, 1)));
            assert!((bare - framed).abs() <= 0.05, "{frame}: {asked}: {bare} {framed}");
        }
        let other = score(&site, &frame.replacen("{}", "How do I write a COBOL program?", 1));
        assert!(other < 0.45, "{frame}: {other}");
    }
}

#[test]
fn a_version_that_the_docs_never_mention_is_not_missed() {
    let site = Site::of(&handbook());
    let (bare, named) = (score(&site, "call retries"), score(&site, "call retries in v1.15"));
    assert!((bare - named).abs() <= 0.05, "{bare} {named}");
    assert_eq!(never_mentioned(&site, "call retries in v1.15"), Vec::<String>::new());
    assert_eq!(never_mentioned(&site, "COBOL retries in v1.15"), ["COBOL"]);
    // Numbers that are asked for beside it stay, and so do versions that the docs have, and all that is asked.
    let mut docs = handbook();
    docs.write("changes.md", "# Changes\n\nSince 2.7 a frobnicator is faster.\n");
    let site = Site::of(&docs);
    assert_eq!(site.paths("what is faster in v2.7").first().map(String::as_str), Some("changes"));
    assert_eq!(site.paths("note 15 of v9.15").first().map(String::as_str), Some("15"));
    assert!(score(&site, "v3.15") < 0.5);
}

#[test]
fn words_written_as_one_are_found_where_they_stand_beside_each_other() {
    let site = Site::of(&handbook());
    assert_eq!(site.paths("webserver").first().map(String::as_str), Some("server"));
    assert!(score(&site, "webserver port") > 0.5);
    assert_eq!(never_mentioned(&site, "webserver port"), Vec::<String>::new());
    assert!(!site.paths("portweb").contains(&"server".to_owned()), "in the other order they are not one word");
}

#[test]
fn weight_of_a_guess_grows_with_its_certainty() {
    let site = Site::of(&handbook());
    let (asked, slip, other) = (
        score(&site, "configure certificates"),
        score(&site, "configure certifcates"),
        score(&site, "configure zebras"),
    );
    assert!(asked > slip && slip > other, "{asked} {slip} {other}");
    assert!(slip > 0.5, "a letter that is missing in a long word is a slip: {slip}");
}

#[test]
fn answerable_questions_score_above_a_half_and_others_below() {
    for pages in [0, 2_000] {
        let mut docs = handbook();
        for page in 0..pages {
            docs.write(&format!("more/{page}.md"), &format!("# Chapter {page}\n\nSomething about thing {page}.\n"));
        }
        let site = Site::of(&docs);
        for asked in ["how often is a call retried", "which port does the web server use", "delete a rented room"] {
            assert!(score(&site, asked) > 0.5, "{asked}: {}", score(&site, asked));
        }
        for asked in ["how do I bake sourdough bread", "the delay of a train to Lisbon", "rooms in a hotel in Tokyo"] {
            assert!(score(&site, asked) < 0.5, "{asked}: {}", score(&site, asked));
        }
    }
}

#[test]
fn the_words_that_are_never_mentioned_are_told_as_they_were_spelled() {
    let mut docs = handbook();
    docs.write("synonyms.txt", "gateway, web server\n");
    let site = Site::of(&docs);
    for (asked, expected) in [
        ("Does Terraform delete a room?", vec!["Terraform"]),
        ("why doesn't the fan of a Daikin unit run", vec!["Daikin", "unit"]),
        ("use getServerSideProps", vec!["getServerSideProps"]),
        ("use max_zebra", vec!["max", "zebra"]),
        ("how often is it possible to zebra", vec!["zebra"]),
        ("room 4711", vec![]),
        ("設定", vec![]),
        ("retires of a call", vec![]),
        ("", vec![]),
    ] {
        assert_eq!(never_mentioned(&site, asked), expected, "{asked}");
    }
}
