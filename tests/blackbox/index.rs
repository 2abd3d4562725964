//! `docent index`: what it says of the docs it read.

use docent_tests::Installation;

#[test]
fn what_is_odd_is_named_with_its_line_and_indexed_all_the_same() {
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
