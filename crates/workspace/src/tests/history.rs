//! Tests of the former paths and contents of files.

use std::collections::BTreeMap;

use super::{World, git};
use crate::CommitId;

fn moved(world: &World, at: CommitId) -> BTreeMap<String, String> {
    world.fetched().base(at).unwrap().history().unwrap().moved.into_iter().collect()
}

fn paths<const N: usize>(pairs: [(&str, &str); N]) -> BTreeMap<String, String> {
    pairs.into_iter().map(|(old, now)| (old.to_owned(), now.to_owned())).collect()
}

#[test]
fn a_file_is_followed_through_several_names_and_edits() {
    let world = World::new();
    git(&world.work, &["mv", "docs/index.md", "docs/start.md"]);
    world.publish("one name");
    world.put("docs/start.md", "# Docs\n\none\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n");
    world.publish("an edit");
    git(&world.work, &["mv", "docs/start.md", "docs/guides/start.md"]);
    let tip = world.publish("another name");
    let expected = [("docs/index.md", "docs/guides/start.md"), ("docs/start.md", "docs/guides/start.md")];
    assert_eq!(moved(&world, tip), paths(expected));
}

#[test]
fn deleted_files_are_absent_and_reused_names_are_the_later_file() {
    let world = World::new();
    git(&world.work, &["mv", "docs/index.md", "docs/start.md"]);
    world.publish("a name");
    git(&world.work, &["rm", "-q", "docs/start.md"]);
    let deleted = world.publish("gone");
    assert_eq!(moved(&world, deleted), paths([]));

    world.put("docs/index.md", "something else, written anew\n");
    world.publish("the first name again");
    git(&world.work, &["mv", "docs/index.md", "docs/new.md"]);
    let tip = world.publish("and moved");
    assert_eq!(moved(&world, tip), paths([("docs/index.md", "docs/new.md")]));
}

#[test]
fn a_file_that_another_made_way_for_is_not_followed() {
    let world = World::new();
    world.put("a.md", "all about apples\n");
    world.put("b.md", "all about bears\n");
    world.publish("two pages");
    git(&world.work, &["mv", "a.md", "c.md"]);
    git(&world.work, &["mv", "b.md", "a.md"]);
    let tip = world.publish("in a row");
    // `a.md` exists before and after, so comparing the two trees cannot show that its content came from `b.md`.
    assert_eq!(moved(&world, tip), paths([]));
}

#[test]
fn former_contents_are_those_of_the_same_file_under_any_name() {
    let world = World::new();
    world.put("page.md", "of another page\n");
    world.publish("a page");
    git(&world.work, &["rm", "-q", "page.md"]);
    world.publish("gone");
    world.put("page.md", "one\ntwo\nthree\nfour\n");
    world.publish("another page of that name");
    world.put("page.md", "one\ntwo\nthree\nfive\n");
    world.publish("an edit");
    git(&world.work, &["mv", "page.md", "new.md"]);
    world.put("new.md", "one\ntwo\nthree\nsix\n");
    let tip = world.publish("moved and edited");
    let base = world.fetched().base(tip).unwrap();
    let history = base.history().unwrap();
    let texts: Vec<String> =
        history.former["new.md"].iter().map(|id| String::from_utf8(base.blob(*id).unwrap()).unwrap()).collect();
    assert_eq!(texts, ["one\ntwo\nthree\nfive\n", "one\ntwo\nthree\nfour\n"]);
    assert!(!history.former.contains_key("page.md"));
}
