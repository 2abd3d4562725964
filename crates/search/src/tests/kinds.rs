//! Pages that explain rank before reference, changelogs, lists of links and deprecated topics.

use super::{Docs, Site, question};

#[test]
fn guides_rank_before_reference_and_changelogs() {
    let site = Site::of(&Docs::of(&[
        (
            "a-api.md",
            "# Functions\n\n## `retry_task(task)`\n\nRetry a failed task. The argument names which one, and None stands for all.\n\n## `retry_flow`\n\nReturns a state.\n",
        ),
        (
            "changes.md",
            "# Notes\n\n## 1.2.0\n\nRetry a failed task.\n\n## 1.1.0\n\nRetry a failed task again, failed task.\n",
        ),
        (
            "guide.md",
            "# Retries\n\n## When a task fails\n\nRetry a failed task.\n\n## When a flow fails\n\nRetry a failed flow.\n",
        ),
    ]));
    assert_eq!(site.paths("retry a failed task"), ["guide", "a-api", "changes"]);
    assert_eq!(site.paths("retry_task")[0], "a-api", "an identifier is looked for where it is described");
}

#[test]
fn deprecated_pages_rank_below_others() {
    let site = Site::of(&Docs::of(&[
        ("a-old.md", "# Agents (legacy)\n\nStart an agent. An agent polls for work, and runs what an agent finds.\n"),
        ("b-old.md", "# Runs\n\n## Deprecated: agents\n\nStart an agent that polls for work.\n"),
        ("workers.md", "# Workers\n\nStart a worker. It polls for work, as an agent did.\n"),
    ]));
    assert_eq!(site.paths("start what polls for work")[0], "workers");
    assert_ne!(site.paths("start a legacy agent")[0], "workers");
}

#[test]
fn next_steps_cards_come_after_what_explains() {
    let site = Site::of(&Docs::of(&[
        (
            "a-key.mdx",
            "# Signing keys\n\nBegin here.\n\n## Next steps\n\n<Card title=\"Rotate the signing key\" href=\"/keys\">Rotate a signing key of a project.</Card>\n",
        ),
        (
            "keys.mdx",
            "# Keys\n\n## When one has leaked\n\nRotate the signing key of the project at once. The old key is refused from then on.\n",
        ),
    ]));
    assert_eq!(site.paths("rotate the signing key"), ["keys", "a-key"]);
}

#[test]
fn of_a_page_a_table_of_contents_is_not_what_is_shown() {
    let site = Site::of(&Docs::of(&[(
        "keys.md",
        "# Keys\n\n## Contents\n\n- [Rotate a key](#rotate)\n- [Delete a key](#delete)\n\n## Rotate\n\nTo rotate a key that has leaked, call the server, which makes the next one and refuses this one.\n\n## Delete\n\nA key is deleted for good.\n",
    )]));
    let found = site.index.snapshot().search(&question("rotate a key"));
    assert_eq!(found[0].href, "/keys#rotate");
}

#[test]
fn a_passage_carries_the_headings_it_stands_below_however_it_is_cut() {
    let long = "The server makes the next key.\n\n".repeat(200);
    let site = Site::of(&Docs::of(&[(
        "keys.md",
        &format!("# Keys\n\n## Rotation\n\nAbout it.\n\n### By hand\n\n{long}Turn the zebra lever.\n\n{long}"),
    )]));
    let found = site.index.snapshot().search(&question("zebra lever"));
    assert!(found[0].content.contains("zebra lever") && found[0].content.len() < long.len(), "it is cut");
    assert_eq!(
        (found[0].title.as_str(), found[0].headings.as_slice()),
        ("Keys", &["Rotation".to_owned(), "By hand".to_owned()][..])
    );
    assert_eq!(site.paths("rotation by hand lever"), ["keys"]);
}
