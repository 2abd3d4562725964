//! The data folder: which commands make one, and what the others say where there is none.

use std::fs;

use docent_tests::Installation;

/// Commands, and whether they may make a data folder. `{repository}` and `{backup}` are paths.
const COMMANDS: &[(&[&str], bool)] = &[
    (&["project", "set", "acme", "--ref", "main"], false),
    (&["project", "list"], false),
    (&["project", "remove", "acme"], false),
    (&["key", "create", "--project", "acme", "--kind", "admin"], false),
    (&["key", "list"], false),
    (&["key", "revoke", "0"], false),
    (&["operator", "link"], false),
    (&["operator", "list"], false),
    (&["operator", "reset", "Ann"], false),
    (&["index", "acme"], false),
    (&["ask", "acme", "Why?"], false),
    (&["search", "acme", "parcel"], false),
    (&["backup", "new.db"], false),
    (&["health"], false),
    (&["doctor"], false),
    (&["restore", "{backup}"], true),
    (&["project", "add", "acme", "--repo", "{repository}"], true),
    (&["demo", "--exit"], true),
    // Works in a temporary folder.
    (&["run", "--repo", "{repository}", "Replace \"widget\" with \"gadget\""], false),
    (&["completions", "bash"], false),
    (&["man"], false),
];
/// Commands that need none.
const WITHOUT_DATA: [&str; 3] = ["run", "completions", "man"];

/// The subcommands in the help of a command; `parents` are the words before it.
fn subcommands(installation: &Installation, parents: &[&str]) -> Vec<String> {
    let mut command = installation.command(parents);
    let help = command.arg("--help").output().expect("runs").stdout;
    let help = String::from_utf8(help).expect("UTF-8");
    let Some((_, list)) = help.split_once("Commands:\n") else { return Vec::new() };
    let lines = list.lines().take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help").map(str::to_owned).collect()
}

#[test]
fn every_command_is_in_the_table() {
    let installation = Installation::new();
    for command in subcommands(&installation, &[]).iter().filter(|command| *command != "serve") {
        let inner = subcommands(&installation, &[command]);
        let paths: Vec<Vec<&str>> = match &inner[..] {
            [] => vec![vec![command]],
            inner => inner.iter().map(|name| vec![command.as_str(), name]).collect(),
        };
        for path in paths {
            assert!(COMMANDS.iter().any(|(args, _)| args.starts_with(&path)), "{path:?}");
        }
    }
}

#[test]
fn few_commands_make_a_data_folder_and_the_others_say_that_there_is_none() {
    let source = Installation::with_data();
    let backup = source.root().join("backup.db").display().to_string();
    source.must(&["backup", &backup]);
    for (args, makes) in COMMANDS {
        let installation = Installation::new();
        let repository = installation.repository("acme", docent_tests::site::PAGES).path().display().to_string();
        let args: Vec<_> =
            args.iter().map(|arg| arg.replace("{repository}", &repository).replace("{backup}", &backup)).collect();
        let args: Vec<_> = args.iter().map(String::as_str).collect();
        let finished = installation.run(&args);
        assert_eq!(installation.data().exists(), *makes, "{args:?}: {finished:?}");
        assert_eq!(installation.data().join("docent.db").is_file(), *makes, "{args:?}");
        if *makes || WITHOUT_DATA.contains(&args[0]) {
            assert_eq!(finished.code, Some(0), "{args:?}: {finished:?}");
        } else {
            assert_eq!(finished.code, Some(1), "{args:?}: {finished:?}");
            let said = format!("{}{}", finished.stdout, finished.stderr);
            assert!(said.contains("there is no data folder") && said.contains("--data"), "{args:?}: {said}");
        }
        // A folder that is there and empty, such as a new volume, is no data folder either.
        if !*makes && !WITHOUT_DATA.contains(&args[0]) {
            fs::create_dir(installation.data()).expect("a folder");
            assert_eq!(installation.run(&args).code, Some(1), "{args:?}");
            assert_eq!(fs::read_dir(installation.data()).expect("reads").count(), 0, "{args:?}");
        }
    }
}

#[test]
fn the_data_folder_that_was_probably_meant_is_named() {
    let installation = Installation::with_data();
    let data = installation.data();
    fs::rename(&data, installation.root().join("docent-data")).expect("moves");
    let there = fs::canonicalize(installation.root().join("docent-data")).expect("it is there");
    let below = installation.root().join("some/project");
    fs::create_dir_all(&below).expect("a folder");
    for (folder, given) in [
        (installation.root().to_owned(), Some("daat")),
        (below.clone(), None),
        (below, Some("../../docent-data/mirrors")),
        (there.clone(), None),
    ] {
        let mut command = installation.command(["key", "list"]);
        command.current_dir(&folder).args(given.map(|given| format!("--data={given}")));
        let refused = command.output().expect("runs");
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(1), "{said}");
        assert!(said.contains(&format!("there is one at {}", there.display())), "{}: {said}", folder.display());
    }
}
