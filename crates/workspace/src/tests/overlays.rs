use std::collections::BTreeMap;
use std::fs;
use std::sync::OnceLock;

use proptest::prelude::*;

use super::{World, git, meta, text};
use crate::{Diff, DiffView, FileMode, FileStatus, GitError, Mirror, Node, Overlay, PathEdit, PathRefused};

fn on_main(mirror: &Mirror) -> Overlay {
    mirror.overlay(mirror.branch("main").unwrap()).unwrap()
}

/// The changes of an overlay, committed and compared with its base.
fn changes(mirror: &Mirror, overlay: &Overlay, view: &DiffView) -> Diff {
    let commit = mirror.commit(overlay, &meta(&[overlay.commit()])).unwrap();
    mirror.diff(overlay.commit(), commit, view).unwrap()
}

fn reason<T: std::fmt::Debug>(result: Result<T, GitError>) -> PathRefused {
    match result {
        Err(GitError::Path { reason, .. }) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn edits_are_seen_through_the_overlay_and_nowhere_else() {
    let world = World::new();
    let mirror = world.fetched();
    let mut overlay = on_main(&mirror);
    overlay.write("docs/index.md", *b"# Changed\n").unwrap();
    overlay.write("docs/new/page.md", *b"# New\n").unwrap();
    overlay.delete("README.md").unwrap();
    assert_eq!(text(overlay.read("docs/index.md").unwrap()).unwrap(), "# Changed\n");
    assert_eq!(overlay.read("README.md").unwrap(), None);
    assert_eq!(overlay.node("docs/new").unwrap(), Some(Node::Folder));
    assert_eq!(overlay.node("nope").unwrap(), None);
    let paths: Vec<_> = overlay.files("docs").unwrap().into_iter().map(|file| file.path).collect();
    assert_eq!(paths, ["docs/guides/a b.md", "docs/index.md", "docs/link", "docs/new/page.md"]);
    assert_eq!(
        overlay.changed().map(|(path, _)| path).collect::<Vec<_>>(),
        ["README.md", "docs/index.md", "docs/new/page.md"]
    );
    // The base is unchanged.
    assert!(overlay.base().read("README.md").unwrap().is_some());
}

#[test]
fn undone_edits_leave_nothing_behind() {
    let world = World::new();
    let mirror = world.fetched();
    let untouched = on_main(&mirror).digest();
    let mut overlay = on_main(&mirror);
    overlay.write("README.md", *b"# Other\n").unwrap();
    assert_ne!(overlay.digest(), untouched);
    overlay.write("README.md", *b"# Read me\n").unwrap();
    overlay.write("new.md", *b"new\n").unwrap();
    overlay.delete("new.md").unwrap();
    overlay.delete("docs.json").unwrap();
    overlay.write("docs.json", *b"{}\n").unwrap();
    assert!(overlay.is_unchanged());
    assert_eq!(overlay.digest(), untouched);
}

#[test]
fn an_executable_stays_one() {
    let world = World::new();
    let mirror = world.fetched();
    let mut overlay = on_main(&mirror);
    overlay.write("bin/run", *b"#!/bin/sh\nexit 0\n").unwrap();
    let commit = mirror.commit(&overlay, &meta(&[overlay.commit()])).unwrap();
    let Some(Node::File(file)) = mirror.base(commit).unwrap().node("bin/run").unwrap() else { panic!() };
    assert_eq!(file.mode, FileMode::Executable);
}

#[cfg(unix)]
#[test]
fn links_are_listed_and_never_followed() {
    let world = World::new();
    let outside = world.work.parent().unwrap().join("outside");
    fs::write(&outside, "secret").unwrap();
    std::os::unix::fs::symlink("../..", world.work.join("docs/up")).unwrap();
    world.publish("a way out");
    let mirror = world.fetched();
    let mut overlay = on_main(&mirror);
    let links: Vec<_> = overlay
        .files("")
        .unwrap()
        .into_iter()
        .filter(|file| file.mode == FileMode::Symlink)
        .map(|file| file.path)
        .collect();
    assert_eq!(links, ["docs/link", "docs/up"]);
    assert_eq!(reason(overlay.read("docs/link")), PathRefused::Symlink);
    assert_eq!(reason(overlay.write("docs/link", *b"x")), PathRefused::Symlink);
    assert_eq!(reason(overlay.write("docs/up/outside", *b"x")), PathRefused::Symlink);
    assert_eq!(overlay.read("docs/up/outside").unwrap(), None);
    assert_eq!(overlay.files("docs/up").unwrap(), []);
    assert_eq!(fs::read_to_string(&outside).unwrap(), "secret");
    // The link itself may be deleted, and a plain file may take its name.
    overlay.delete("docs/link").unwrap();
    overlay.write("docs/link", *b"plain\n").unwrap();
    let commit = mirror.commit(&overlay, &meta(&[overlay.commit()])).unwrap();
    let Some(Node::File(file)) = mirror.base(commit).unwrap().node("docs/link").unwrap() else { panic!() };
    assert_eq!(file.mode, FileMode::File);
}

#[test]
fn submodules_are_listed_and_left_alone() {
    let world = World::new();
    let main = world.upstream("main").unwrap();
    git(&world.work, &["update-index", "--add", "--cacheinfo", &format!("160000,{main},vendor/theme")]);
    git(&world.work, &["commit", "-q", "-m", "theme"]);
    git(&world.work, &["push", "-q", "origin", "HEAD"]);
    let mirror = world.fetched();
    let mut overlay = on_main(&mirror);
    let theme = overlay.files("vendor").unwrap();
    assert_eq!(
        theme.iter().map(|file| (file.path.as_str(), file.mode)).collect::<Vec<_>>(),
        [("vendor/theme", FileMode::Submodule)]
    );
    assert_eq!(reason(overlay.read("vendor/theme")), PathRefused::Submodule);
    assert_eq!(reason(overlay.write("vendor/theme", *b"x")), PathRefused::Submodule);
    assert_eq!(reason(overlay.write("vendor/theme/x", *b"x")), PathRefused::Submodule);
    assert_eq!(reason(overlay.delete("vendor/theme")), PathRefused::Submodule);
    overlay.write("docs/new.md", *b"new\n").unwrap();
    let commit = mirror.commit(&overlay, &meta(&[overlay.commit()])).unwrap();
    mirror.push(&world.remote(), "job", commit, None).unwrap();
    assert_eq!(git(&world.bare, &["ls-tree", "job", "vendor/theme"]), format!("160000 commit {main}\tvendor/theme"));
}

#[test]
fn paths_that_lead_out_or_into_git_are_refused() {
    let world = World::new();
    let mut overlay = on_main(&world.fetched());
    for (path, expected) in [
        ("../x", PathRefused::Relative),
        ("docs/../../x", PathRefused::Relative),
        ("/etc/passwd", PathRefused::Absolute),
        (".git/config", PathRefused::DotGit),
        ("docs/.GIT/hooks/pre-push", PathRefused::DotGit),
        ("", PathRefused::Empty),
        ("docs/", PathRefused::Relative),
    ] {
        assert_eq!(reason(overlay.write(path, *b"x")), expected, "{path}");
        assert_eq!(reason(overlay.read(path)), expected, "{path}");
        assert_eq!(reason(overlay.delete(path)), expected, "{path}");
    }
    assert_eq!(reason(overlay.write("docs", *b"x")), PathRefused::Folder);
    assert_eq!(reason(overlay.read("docs")), PathRefused::Folder);
    assert_eq!(reason(overlay.delete("docs")), PathRefused::Folder);
    assert_eq!(reason(overlay.delete("nope")), PathRefused::Missing);
    assert_eq!(reason(overlay.write("README.md/x", *b"x")), PathRefused::BelowFile);
    assert!(overlay.is_unchanged());
}

#[test]
fn a_file_may_give_way_to_a_folder_and_back() {
    let world = World::new();
    let mirror = world.fetched();
    let mut overlay = on_main(&mirror);
    overlay.delete("README.md").unwrap();
    overlay.write("README.md/inner.md", *b"inner\n").unwrap();
    assert_eq!(reason(overlay.write("README.md", *b"x")), PathRefused::Folder);
    overlay.delete("docs/guides/a b.md").unwrap();
    overlay.write("docs/guides", *b"a file now\n").unwrap();
    let commit = mirror.commit(&overlay, &meta(&[overlay.commit()])).unwrap();
    mirror.push(&world.remote(), "job", commit, None).unwrap();
    git(&world.bare, &["fsck", "--strict"]);
    assert_eq!(world.upstream_file("job", "README.md/inner.md"), "inner");
    assert_eq!(world.upstream_file("job", "docs/guides"), "a file now");
}

#[test]
fn a_commit_is_the_same_every_time() {
    let world = World::new();
    let mirror = world.fetched();
    let make = || {
        let mut overlay = on_main(&mirror);
        overlay.write("docs/index.md", *b"# Changed\n").unwrap();
        overlay.delete("README.md").unwrap();
        mirror.commit(&overlay, &meta(&[overlay.commit()])).unwrap()
    };
    let commit = make();
    assert_eq!(make(), commit);
    let other = World::new();
    let mirror = other.fetched();
    let mut overlay = on_main(&mirror);
    overlay.delete("README.md").unwrap();
    overlay.write("docs/index.md", *b"# Changed\n").unwrap();
    assert_eq!(mirror.commit(&overlay, &meta(&[overlay.commit()])).unwrap(), commit);
}

#[test]
fn a_commit_cannot_be_forged_by_its_texts() {
    let world = World::new();
    let mirror = world.fetched();
    let overlay = on_main(&mirror);
    let mut meta = meta(&[overlay.commit()]);
    meta.name = "Eve <eve@example.com> 0 +0000\nparent 0000".to_owned();
    meta.email = "a>b\n".to_owned();
    meta.message = "One\r\n\r\nTwo\0\n\n".to_owned();
    let commit = mirror.commit(&overlay, &meta).unwrap();
    mirror.push(&world.remote(), "job", commit, None).unwrap();
    git(&world.bare, &["fsck", "--strict"]);
    assert_eq!(git(&world.bare, &["log", "-1", "--format=%B", "job"]), "One\n\nTwo");
    assert_eq!(git(&world.bare, &["rev-list", "--count", "main..job"]), "1");
}

#[test]
fn a_diff_reads_like_gits() {
    let world = World::new();
    let mirror = world.fetched();
    let mut overlay = on_main(&mirror);
    overlay.write("docs/index.md", *b"# Docs\n\none\ntwo\nthree\nFOUR\nfive\nsix\nseven\n").unwrap();
    overlay.write("docs/new.md", *b"no newline at the end").unwrap();
    overlay.delete("docs.json").unwrap();
    overlay.write("logo.png", *b"\x89PNG\0\0").unwrap();
    overlay.delete("README.md").unwrap();
    overlay.write("READ-ME.md", *b"# Read me\n").unwrap();
    let commit = mirror.commit(&overlay, &meta(&[overlay.commit()])).unwrap();
    let diff = mirror.diff(overlay.commit(), commit, &DiffView::default()).unwrap();
    assert_eq!(diff.files_in_all, 5);
    let diff = diff.files;

    let short: Vec<_> = diff.iter().map(|one| (one.path.as_str(), one.status, one.additions, one.deletions)).collect();
    assert_eq!(
        short,
        [
            ("READ-ME.md", FileStatus::Renamed, 0, 0),
            ("docs.json", FileStatus::Deleted, 0, 1),
            ("docs/index.md", FileStatus::Modified, 1, 1),
            ("docs/new.md", FileStatus::Added, 1, 0),
            ("logo.png", FileStatus::Added, 0, 0),
        ]
    );
    assert_eq!(diff[0].old_path.as_deref(), Some("README.md"));
    assert!(diff[4].is_binary);
    // git applies the text diffs as a patch and gets the same files.
    let patch: String = diff.iter().filter(|one| !one.is_binary).map(|one| one.unified.as_str()).collect();
    let file = world.work.with_file_name("a.patch");
    fs::write(&file, patch).unwrap();
    git(&world.work, &["apply", "--index", file.to_str().unwrap()]);
    let (index, committed) = (git(&world.work, &["ls-files", "-s"]), mirror.base(commit).unwrap());
    for file in committed.files("").unwrap().iter().filter(|file| file.path != "logo.png") {
        assert!(index.contains(&format!("{} {} 0\t{}", file.mode.octal(), file.blob, file.path)), "{}", file.path);
    }
}

#[test]
fn a_rename_with_edits_is_one_change() {
    let world = World::new();
    let mirror = world.fetched();
    let mut overlay = on_main(&mirror);
    let moved = text(overlay.read("docs/index.md").unwrap()).unwrap().replace("four", "FOUR");
    overlay.delete("docs/index.md").unwrap();
    overlay.write("docs/start.md", moved.into_bytes()).unwrap();
    let diff = changes(&mirror, &overlay, &DiffView::default()).files;
    assert_eq!(diff.len(), 1);
    assert_eq!((diff[0].status, diff[0].additions, diff[0].deletions), (FileStatus::Renamed, 1, 1));
    assert!(diff[0].unified.contains("rename from docs/index.md\nrename to docs/start.md\n--- a/docs/index.md\n"));
}

#[test]
fn a_difference_is_looked_at_no_further_than_its_view() {
    let world = World::new();
    let mirror = world.fetched();
    let mut overlay = on_main(&mirror);
    let line = format!("{}\n", "x".repeat(99));
    for n in 0..40 {
        overlay.write(&format!("docs/new/{n:02}.md"), line.repeat(1_000).into_bytes()).unwrap();
    }
    overlay.write("docs/lines.md", vec![b'\n'; 200_000]).unwrap();
    overlay.write("docs/wide.md", vec![b'x'; 2 << 20]).unwrap();
    let view = DiffView { files: 30, lines: 100, file_bytes: 5_000, bytes: 60_000, ..DiffView::default() };
    let diff = changes(&mirror, &overlay, &view);
    assert_eq!((diff.files_in_all, diff.files.len()), (42, 30));
    let [lines, page, ..] = &diff.files[..] else { panic!("{diff:?}") };
    assert!(lines.unified.ends_with("are too large to compare\n"), "{}", lines.unified);
    assert_eq!((page.additions, page.lines, page.unified.len()), (1_000, 1_005, 5_000));
    assert_eq!(diff.files.iter().map(|file| file.unified.len()).sum::<usize>(), 60_000);

    let rest = changes(&mirror, &overlay, &DiffView { first_file: 30, ..view.clone() });
    assert_eq!(rest.files.len(), 12);
    assert!(rest.files[11].unified.ends_with("are too large to compare\n"), "{}", rest.files[11].unified);

    let read = DiffView { compared_bytes: 450_000, ..view.clone() };
    let compared = changes(&mirror, &overlay, &read);
    assert_eq!(
        compared.files.iter().filter(|file| !file.is_binary).count(),
        2,
        "100,000 bytes each, after the 200,000 of lines"
    );

    let only = Some("docs/new/07.md".to_owned());
    let one = DiffView { only, first_line: 1_003, lines: 2, file_bytes: 1_000, ..view };
    let diff = changes(&mirror, &overlay, &one);
    assert_eq!(diff.files.len(), 1);
    assert_eq!(diff.files[0].unified, format!("+{line}").repeat(2));
}

/// The time for comparing two very different files is limited; the coarse result is still correct.
#[test]
fn files_that_are_hard_to_compare_are_compared_coarsely() {
    let world = World::new();
    let numbers = |seed: u64| -> String {
        let mut state = seed;
        let next = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            format!("{}\n", state >> 52)
        };
        (0..60_000).map(next).collect()
    };
    world.put("docs/numbers.md", &numbers(1));
    world.publish("numbers");
    let mirror = world.fetched();
    let mut overlay = on_main(&mirror);
    overlay.write("docs/numbers.md", numbers(2).into_bytes()).unwrap();
    let view = DiffView { time: std::time::Duration::from_millis(40), ..DiffView::default() };
    let diff = changes(&mirror, &overlay, &view);
    assert_eq!(diff.files[0].additions, diff.files[0].deletions);
    assert!(diff.files[0].additions > 0 && !diff.files[0].is_binary);
}

/// One shared repository for the generated cases: only overlays and commits are made on it.
fn shared() -> &'static (World, Mirror) {
    static SHARED: OnceLock<(World, Mirror)> = OnceLock::new();
    SHARED.get_or_init(|| {
        let world = World::new();
        let mirror = world.fetched();
        (world, mirror)
    })
}

#[derive(Debug, Clone)]
enum Edit {
    Write(String, Vec<u8>),
    Delete(String),
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let path = prop::sample::select(vec![
        "README.md", "docs.json", "docs/index.md", "docs/guides/a b.md", "docs/guides/new.md", "docs/new",
        "docs/new/x", "docs/new/x/y", "a", "a/b", "a.b", "a-b/c", "bin/run", "docs",
    ])
    .prop_map(str::to_owned);
    let edit = prop_oneof![
        3 => (path.clone(), prop::collection::vec(any::<u8>(), 0..6)).prop_map(|(path, bytes)| Edit::Write(path, bytes)),
        2 => path.prop_map(Edit::Delete),
    ];
    prop::collection::vec(edit, 0..25)
}

/// Whether `path` can be a file beside the files of `model` and the link, which is never deleted.
fn fits(model: &BTreeMap<String, Vec<u8>>, path: &str) -> bool {
    let below = |inner: &str, outer: &str| inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'));
    !model.keys().map(String::as_str).chain(["docs/link"]).any(|other| below(other, path) || below(path, other))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn an_overlay_behaves_like_a_map_of_files_and_commits_the_tree_git_would(edits in edits()) {
        let (world, mirror) = shared();
        let mut overlay = on_main(mirror);
        let base: BTreeMap<String, Vec<u8>> = overlay.base().files("").unwrap().iter()
            .filter(|file| file.mode.is_file())
            .map(|file| (file.path.clone(), overlay.base().blob(file.blob).unwrap()))
            .collect();
        let mut model = base.clone();
        for edit in edits {
            match edit {
                Edit::Write(path, bytes) => {
                    let wrote = overlay.write(&path, bytes.clone());
                    prop_assert_eq!(wrote.is_ok(), fits(&model, &path), "write {}", path);
                    if wrote.is_ok() {
                        model.insert(path, bytes);
                    }
                }
                Edit::Delete(path) => {
                    let deleted = overlay.delete(&path);
                    prop_assert_eq!(deleted.is_ok(), model.remove(&path).is_some(), "delete {}", path);
                }
            }
        }
        let listed: Vec<_> = overlay.files("").unwrap().into_iter().filter(|file| file.mode.is_file()).map(|file| file.path).collect();
        prop_assert_eq!(&listed, &model.keys().cloned().collect::<Vec<_>>());
        for (path, bytes) in &model {
            let read = overlay.read(path).unwrap();
            prop_assert_eq!(read.as_ref(), Some(bytes));
        }
        for (path, change) in overlay.changed() {
            match change {
                PathEdit::Deleted => prop_assert!(base.contains_key(path) && !model.contains_key(path)),
                PathEdit::Replaced { bytes, .. } => prop_assert_ne!(base.get(path).map(Vec::as_slice), Some(&bytes[..])),
            }
        }
        let in_docs: Vec<_> = listed.iter().filter(|path| path.starts_with("docs/")).collect();
        let docs = overlay.files("docs").unwrap();
        prop_assert_eq!(docs.iter().filter(|file| file.mode.is_file()).map(|file| &file.path).collect::<Vec<_>>(), in_docs);

        // The commit has the tree that git makes of the same files. Its listing, derived from the previous one, is the
        // same too.
        let commit = mirror.commit(&overlay, &meta(&[overlay.commit()])).unwrap();
        for (root, seen) in [("", overlay.files("").unwrap()), ("docs", docs)] {
            prop_assert_eq!(&*mirror.base(commit).unwrap().files(root).unwrap(), &seen[..]);
        }
        let mirror_dir = world.mirrors_root.join(world.remote().folder());
        let scratch = tempfile::tempdir().unwrap();
        git(scratch.path(), &["init", "-q"]);
        for (path, bytes) in &model {
            let file = scratch.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, bytes).unwrap();
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::{PermissionsExt, symlink};
            if model.contains_key("bin/run") {
                fs::set_permissions(scratch.path().join("bin/run"), fs::Permissions::from_mode(0o755)).unwrap();
            }
            fs::create_dir_all(scratch.path().join("docs")).unwrap();
            symlink("../../outside", scratch.path().join("docs/link")).unwrap();
        }
        git(scratch.path(), &["add", "-A"]);
        let expected = git(scratch.path(), &["write-tree"]);
        prop_assert_eq!(git(&mirror_dir, &["rev-parse", &format!("{commit}^{{tree}}")]), expected);
    }
}
