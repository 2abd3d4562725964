//! Tests of the current paths of renamed files.

use std::collections::BTreeMap;

use super::{World, git};
use crate::CommitId;

fn moved(world: &World, at: CommitId) -> BTreeMap<String, String> {
    world.fetched().base(at).unwrap().moved().unwrap().into_iter().collect()
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
