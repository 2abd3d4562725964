use super::{World, committed, git, meta};
use crate::{CommitMeta, ConflictKind, FileMerge, MergeError, Merged, PushError};

fn by_lines(_: &str, _: [&[u8]; 3]) -> FileMerge {
    FileMerge::ByLines
}

fn both(story: impl Fn(World)) {
    story(World::new());
    story(World::new().only_for_git());
}

#[test]
fn a_target_with_nothing_of_its_own_moves_forward() {
    both(|world| {
        let mirror = world.fetched();
        let source = committed(&mirror, "docs/index.md", "# Changed\n");
        assert_eq!(
            mirror.merge(&world.remote(), source, "main", &meta(&[]), &by_lines).unwrap(),
            Merged::FastForward(source)
        );
        assert_eq!(world.upstream("main"), Some(source));
        assert_eq!(
            mirror.merge(&world.remote(), source, "main", &meta(&[]), &by_lines).unwrap(),
            Merged::Nothing(source)
        );
    });
}

#[test]
fn different_files_are_joined_by_a_merge_commit() {
    both(|world| {
        let source = committed(&world.fetched(), "docs/new/page.md", "# New\n");
        world.put("README.md", "# Theirs\n");
        let target = world.publish("theirs");
        let mirror = world.fetched();
        let merged = mirror.merge(&world.remote(), source, "main", &meta(&[]), &by_lines).unwrap();
        assert_eq!(world.upstream("main"), Some(merged.commit()));
        assert_eq!(git(&world.bare, &["rev-parse", "main^1", "main^2"]), format!("{target}\n{source}"));
        assert_eq!(world.upstream_file("main", "README.md"), "# Theirs");
        assert_eq!(world.upstream_file("main", "docs/new/page.md"), "# New");
        git(&world.bare, &["fsck", "--strict"]);
    });
}

#[test]
fn squashed_changes_are_one_commit_on_the_target() {
    both(|world| {
        let first = world.fetched().branch("main").unwrap();
        let one = committed(&world.fetched(), "docs/new/page.md", "# New\n");
        world.put("README.md", "# Theirs\n");
        let target = world.publish("theirs");
        let mirror = world.fetched();
        let squashed = mirror.squash(&world.remote(), one, "main", &meta(&[first]), &by_lines).unwrap();
        assert_eq!(squashed, Merged::Commit(world.upstream("main").unwrap()));
        assert_eq!(git(&world.bare, &["log", "-1", "--format=%P", "main"]), target.to_string());
        assert_eq!(world.upstream_file("main", "README.md"), "# Theirs");
        assert_eq!(world.upstream_file("main", "docs/new/page.md"), "# New");
        let again = mirror.squash(&world.remote(), one, "main", &meta(&[]), &by_lines).unwrap();
        assert_eq!(again, Merged::Nothing(squashed.commit()), "the target has all of it");
        git(&world.bare, &["fsck", "--strict"]);
    });
}

#[test]
fn a_target_with_nothing_of_its_own_gets_a_new_commit_when_squashed() {
    let world = World::new();
    let mirror = world.fetched();
    let target = mirror.branch("main").unwrap();
    let source = committed(&mirror, "docs/index.md", "# Changed\n");
    let meta = CommitMeta { message: "All of it".to_owned(), ..meta(&[]) };
    let squashed = mirror.squash(&world.remote(), source, "main", &meta, &by_lines).unwrap();
    assert!(matches!(squashed, Merged::Commit(commit) if commit != source), "{squashed:?}");
    assert_eq!(git(&world.bare, &["rev-parse", "main^1"]), target.to_string());
}

#[test]
fn an_update_takes_what_conflicts_from_the_base_and_all_else_from_both() {
    let world = World::new();
    let mirror = world.fetched();
    let first = mirror.branch("main").unwrap();
    let mut overlay = mirror.overlay(first).unwrap();
    overlay.write("docs/index.md", b"# Ours\n".to_vec()).unwrap();
    overlay.write("docs/new/page.md", b"# New\n".to_vec()).unwrap();
    let branch = mirror.commit(&overlay, &meta(&[first])).unwrap();
    assert_eq!(mirror.update(branch, first, &meta(&[]), &by_lines).unwrap(), None, "the branch has all of it");
    world.put("docs/index.md", "# Theirs\n");
    world.put("README.md", "# Theirs\n");
    let base = world.publish("theirs");
    let mirror = world.fetched();
    let update = mirror.update(branch, base, &meta(&[]), &by_lines).unwrap().expect("a merge");
    assert_eq!(update.conflicts, ["docs/index.md"]);
    let merged = mirror.base(update.commit).unwrap();
    for (path, text) in [("docs/index.md", "# Theirs"), ("README.md", "# Theirs"), ("docs/new/page.md", "# New")] {
        assert_eq!(String::from_utf8(merged.read(path).unwrap().unwrap()).unwrap().trim(), text, "{path}");
    }
    assert_eq!(mirror.merge_base(update.commit, base).unwrap(), Some(base));
    assert_eq!(mirror.conflicts(base, update.commit, &by_lines).unwrap(), [], "now it can be merged");
    assert_eq!(world.upstream("main"), Some(base), "nothing is pushed");
}

#[test]
fn conflicts_are_listed_by_file() {
    let told = |source: &[(&str, &str)], ours: &[(&str, Option<&str>)]| {
        let world = World::new();
        let mirror = world.fetched();
        let mut overlay = mirror.overlay(mirror.branch("main").unwrap()).unwrap();
        for (path, text) in source {
            overlay.write(path, text.as_bytes().to_vec()).unwrap();
        }
        let source = mirror.commit(&overlay, &meta(&[mirror.branch("main").unwrap()])).unwrap();
        for (path, text) in ours {
            match text {
                Some(text) => world.put(path, text),
                None => std::fs::remove_file(world.work.join(path)).unwrap(),
            }
        }
        let target = world.publish("target");
        let mirror = world.fetched();
        let refused = mirror.squash(&world.remote(), source, "main", &meta(&[]), &by_lines);
        let conflicts = mirror.conflicts(target, source, &by_lines).unwrap();
        let paths: Vec<&String> = conflicts.iter().map(|file| &file.path).collect();
        match refused {
            Err(MergeError::Conflict { paths: refused }) => assert_eq!(refused.iter().collect::<Vec<_>>(), paths),
            other => assert!(other.is_ok() && paths.is_empty(), "{other:?}"),
        }
        conflicts.into_iter().map(|file| (file.path, file.kind)).collect::<Vec<_>>()
    };
    let one = |path: &str, kind| vec![(path.to_owned(), kind)];
    assert_eq!(told(&[("a.md", "a")], &[("b.md", Some("b"))]), []);
    assert_eq!(told(&[("a.md", "a")], &[("a.md", Some("b"))]), one("a.md", ConflictKind::AddedInBoth));
    assert_eq!(told(&[("README.md", "a")], &[("README.md", None)]), one("README.md", ConflictKind::DeletedInTarget));
    assert_eq!(told(&[("a", "a")], &[("a/b.md", Some("b"))]), one("a", ConflictKind::FileAndFolder));
    let lines = told(&[("README.md", "# Source\n")], &[("README.md", Some("# Target\n"))]);
    let [(_, ConflictKind::Lines(lines))] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!((lines[0].line, lines[0].target.as_str(), lines[0].source.as_str()), (1, "# Target\n", "# Source\n"));
}

#[test]
fn different_lines_of_one_file_are_joined() {
    let world = World::new();
    let source = committed(&world.fetched(), "docs/index.md", "# Docs\n\nONE\ntwo\nthree\nfour\nfive\nsix\nseven\n");
    world.put("docs/index.md", "# Docs\n\none\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n");
    world.publish("theirs");
    let mirror = world.fetched();
    mirror.merge(&world.remote(), source, "main", &meta(&[]), &by_lines).unwrap();
    assert_eq!(world.upstream_file("main", "docs/index.md"), "# Docs\n\nONE\ntwo\nthree\nfour\nfive\nsix\nSEVEN");
}

#[test]
fn a_file_that_somebody_understands_is_merged_as_they_say() {
    for (says, expected) in [(FileMerge::Merged(b"# All\n".to_vec()), Some("# All")), (FileMerge::Conflict, None)] {
        let world = World::new();
        let source = committed(&world.fetched(), "docs/index.md", "# Docs\n\nONE\n");
        world.put("docs/index.md", "# Docs\n\nTWO\n");
        world.publish("theirs");
        let asked = |path: &str, [base, ours, theirs]: [&[u8]; 3]| {
            assert_eq!(path, "docs/index.md");
            assert!(base.starts_with(b"# Docs\n\none\n") && ours.ends_with(b"TWO\n") && theirs.ends_with(b"ONE\n"));
            says.clone()
        };
        let merged = world.fetched().merge(&world.remote(), source, "main", &meta(&[]), &asked);
        assert_eq!(merged.is_ok(), expected.is_some(), "{merged:?}");
        let now = world.upstream_file("main", "docs/index.md");
        assert_eq!(now, expected.unwrap_or("# Docs\n\nTWO"));
    }
}

#[test]
fn the_same_change_on_both_sides_is_one_change() {
    let world = World::new();
    let source = committed(&world.fetched(), "README.md", "# Same\n");
    world.put("README.md", "# Same\n");
    world.put("other.md", "other\n");
    world.publish("theirs");
    let mirror = world.fetched();
    mirror.merge(&world.remote(), source, "main", &meta(&[]), &by_lines).unwrap();
    assert_eq!(world.upstream_file("main", "README.md"), "# Same");
}

#[test]
fn a_conflict_moves_nothing() {
    for (ours, theirs) in [("docs/index.md", "docs/index.md"), ("docs/a", "docs/a/b.md"), ("docs/a/b.md", "docs/a")] {
        let world = World::new();
        let source = committed(&world.fetched(), theirs, "# Source\n");
        world.put(ours, "# Target\n");
        let target = world.publish("target");
        let mirror = world.fetched();
        let refused = mirror.merge(&world.remote(), source, "main", &meta(&[]), &by_lines).unwrap_err();
        assert!(matches!(&refused, MergeError::Conflict { paths } if paths == &[theirs]), "{refused:?}");
        assert_eq!(world.upstream("main"), Some(target));
    }
}

#[test]
fn an_edit_of_what_the_other_side_deleted_is_a_conflict() {
    let world = World::new();
    let source = committed(&world.fetched(), "README.md", "# Edited\n");
    std::fs::remove_file(world.work.join("README.md")).unwrap();
    world.publish("deleted");
    let refused = world.fetched().merge(&world.remote(), source, "main", &meta(&[]), &by_lines).unwrap_err();
    assert!(refused.to_string().contains("README.md"), "{refused}");
}

#[test]
fn a_target_that_moved_since_the_fetch_is_left_alone() {
    both(|world| {
        let mirror = world.fetched();
        let source = committed(&mirror, "docs/index.md", "# Changed\n");
        world.put("README.md", "# Meanwhile\n");
        let meanwhile = world.publish("meanwhile");
        let refused = mirror.merge(&world.remote(), source, "main", &meta(&[]), &by_lines).unwrap_err();
        assert!(
            matches!(&refused, MergeError::Push(PushError::Moved { now: Some(now) }) if *now == meanwhile),
            "{refused:?}"
        );
    });
}

#[test]
fn histories_without_a_common_commit_are_not_merged() {
    let world = World::new();
    let source = world.fetched().branch("main").unwrap();
    git(&world.work, &["checkout", "-q", "--orphan", "other"]);
    git(&world.work, &["branch", "-q", "-D", "main"]);
    git(&world.work, &["branch", "-q", "-m", "main"]);
    world.publish("unrelated");
    let mirror = world.fetched();
    assert!(matches!(mirror.merge(&world.remote(), source, "main", &meta(&[]), &by_lines), Err(MergeError::Unrelated)));
}
