use std::collections::BTreeMap;

use super::*;

type Files = BTreeMap<String, Vec<u8>>;

/// The judgement of one change, as a sentence where it is refused.
fn judged(site: &Files, globs: &[String], path: &str, after: Option<&[u8]>) -> Result<(), String> {
    let allowances = Allowances { paths: globs.to_vec(), ..Allowances::default() };
    let checked = Writable::new(site, &allowances).check(path, after);
    checked.map_err(|refusal| refused(&[refusal], &allowances))
}

fn files(files: &[(&str, &str)]) -> Files {
    files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
}

/// A site of MDX pages, with a component, samples that pages display, and build files.
fn site() -> Files {
    files(&[
        ("docs.json", r##"{"name": "Acme", "navigation": ["index", "guides/a"]}"##),
        (
            "index.mdx",
            "---\ntitle: Home\n---\nimport { Chart } from '/components/chart'\n\n# Acme\n\n<Chart data={load()} />\n",
        ),
        ("guides/a.mdx", "---\ntitle: A\n---\n\nWords.\n\n```py\n--8<-- \"samples/signup.py\"\n```\n"),
        ("snippets/note.mdx", "A note.\n"),
        ("samples/signup.py", "signup()\n"),
        ("samples/helper.rb", "help\n"),
        ("components/chart.jsx", "export const Chart = () => null\n"),
        ("api/openapi.yaml", "openapi: 3.1.0\ninfo: {title: A}\npaths: {}\n"),
        ("package.json", "{}\n"),
        ("logo.svg", "<svg><path d=\"M0\"/></svg>\n"),
    ])
}

#[track_caller]
fn allows(path: &str, text: &str) {
    assert_eq!(judged(&site(), &[], path, Some(text.as_bytes())), Ok(()), "{path}");
}

#[track_caller]
fn refuses(path: &str, text: &str, why: &str) {
    let site = site();
    let told = judged(&site, &[], path, Some(text.as_bytes())).expect_err(path);
    assert!(told.contains(&format!("- `{path}`: ")) && told.contains(why), "{told}");
}

#[test]
fn documents_may_be_written() {
    allows(
        "guides/new.mdx",
        "---\ntitle: New\n---\n\nimport Note from '/snippets/note.mdx'\n\n<Note kind=\"tip\" n={1} />\n",
    );
    allows("guides/new.md", "# New\n");
    allows("snippets/other.mdx", "Another note.\n");
    allows("images/a.png", "\u{89}PNG");
    allows("files/prices.csv", "a,b\n");
    allows("llms.txt", "# Acme\n");
    allows("logo.svg", "<svg><circle r=\"1\"/></svg>\n");
    allows("samples/signup.py", "signup(1)\n");
    allows("samples/login.py", "login()\n");
    allows("api/openapi.yaml", "openapi: 3.1.0\ninfo: {title: B}\npaths: {}\n");
    allows("api/openapi-admin.json", r#"{"openapi": "3.1.0", "paths": {}}"#);
    allows(
        "docs.json",
        r##"{"name": "Acme", "navigation": ["index"], "redirects": [{"source": "/a", "destination": "/b"}]}"##,
    );
    allows("guides/_meta.json", r#"{"a": "A"}"#);
    allows("guides/.nav.yml", "title: Guides\nnav:\n  - a.md\n");
    allows("guides/.pages", "nav:\n  - a.md\n  - ...\n");
}

#[test]
fn navigation_files_in_hidden_folders_and_with_tags_are_refused() {
    refuses(".config/.pages", "nav:\n  - a.md\n", "The owner can allow it");
    refuses("guides/.nav.yml", "nav: !!python/name:os.system\n", "tag or a reference");
}

#[test]
fn build_and_deployment_files_are_refused_with_advice() {
    for path in [
        "azure-pipelines.yaml",
        ".woodpecker.yaml",
        "buildspec.yml",
        "netlify.toml",
        "vercel.json",
        "package.json",
        "Makefile",
        "Dockerfile",
        "conf.py",
        "docusaurus.config.js",
        ".vscode/tasks.json",
        "CODEOWNERS",
        "docs/CODEOWNERS",
        "requirements.txt",
        "next.config.mjs",
        "components/chart.jsx",
        "snippets/chart.jsx",
        "hooks.py",
        ".travis.yml",
        ".readthedocs.yaml",
        "a/.hidden.md",
        ".vitepress/theme/index.md",
        "etc/passwd",
        "script.sh",
        "theme/main.html",
        "style.css",
        "samples/helper.rb",
        "samples/login.rb",
        "samples/run",
        "mise.toml",
        "openapi-generator.json",
    ] {
        refuses(path, "x: 1\n", "This is none of them");
        refuses(path, "x: 1\n", &format!("docent project set ID --allow-path '{path}'"));
    }
    let site = site();
    assert!(judged(&site, &[], "package.json", None).is_err(), "nor are they deleted");
    assert!(judged(&site, &[], "docs.json", None).expect_err("the site needs it").contains("without its"));
    assert_eq!(judged(&site, &[], "guides/a.mdx", None), Ok(()));
}

#[test]
fn names_git_forbids_are_refused_even_where_allowed() {
    let site = site();
    let everything = ["**".to_owned(), ".git*/**".to_owned()];
    for path in [
        "nul",
        "guides/con.md",
        "a./b.md",
        "a\u{ad}b.md",
        "a\u{2028}b.md",
        ".github/workflows/a.yml",
        ".git/config",
        "../a.md",
    ] {
        assert!(judged(&site, &everything, path, Some(b"x")).is_err(), "{path}");
    }
    // An existing file can be repaired, or moved away.
    let odd = files(&[("what?.md", "x")]);
    assert_eq!(judged(&odd, &[], "what?.md", Some(b"y")), Ok(()));
    assert_eq!(judged(&odd, &[], "what?.md", None), Ok(()));
}

#[test]
fn code_is_new_when_no_page_of_the_site_has_it() {
    refuses("guides/a.mdx", "import fs from 'fs'\n\nx\n", "line 1 holds code that no page of the site has");
    refuses("guides/a.mdx", "Words {process.env.TOKEN}\n", "`{process.env.TOKEN}`");
    refuses("guides/a.mdx", "<Chart onClick={() => f()} />\n", "`{() => f()}`");
    refuses("guides/a.mdx", "<script src=\"https://x.y\"></script>\n", "<script");
    refuses("guides/a.md", "{f()}\n", "{f()}");
    refuses("logo.svg", "<svg onload=\"f()\"></svg>\n", "onload");
    refuses(
        "docs.json",
        r##"{"name": "Acme", "navigation": [], "api": {}}"##,
        "the navigation and the redirects alone",
    );
    // Another page has the same code: it may be copied, even to a folder where its relative path differs.
    allows("guides/deep/b.mdx", "import { Chart as C } from '../../components/chart'\n\n<C data={load()} />\n");
    // Existing code of a page may stay while something else changes.
    allows(
        "index.mdx",
        "---\ntitle: Home\n---\nimport { Chart } from '/components/chart'\n\n# Zenith\n\n<Chart data={ load() } />\n",
    );
}

#[test]
fn a_sample_that_a_build_or_a_page_runs_is_none() {
    let shows = |name: &str| format!("# A\n\n```\n--8<-- \"samples/{name}\"\n```\n");
    let site = |page: &str, configuration: &str| {
        files(&[("docs/a.md", page), ("mkdocs.yml", configuration), ("samples/hook.py", "x"), ("samples/demo.js", "x")])
    };
    let check = |site: &Files, path: &str| judged(site, &[], path, Some(b"y"));
    assert_eq!(check(&site(&shows("hook.py"), "site_name: T\n"), "samples/hook.py"), Ok(()));
    assert!(check(&site(&shows("hook.py"), "site_name: T\nhooks: [samples/hook.py]\n"), "samples/hook.py").is_err());
    assert_eq!(check(&site(&shows("demo.js"), "site_name: T\n"), "samples/demo.js"), Ok(()));
    let mut imported = site(&shows("demo.js"), "site_name: T\n");
    imported.insert("docs/b.mdx".to_owned(), b"import demo from '../samples/demo.js'\n\nx\n".to_vec());
    assert!(check(&imported, "samples/demo.js").is_err());
}

#[test]
fn the_owner_allows_by_a_glob() {
    let site = site();
    let globs = ["*.json".to_owned(), "guides/**".to_owned(), "samples/*.rb".to_owned()];
    for path in ["package.json", "guides/a.mdx", "guides/deep/b.sh", "samples/helper.rb"] {
        assert_eq!(judged(&site, &globs, path, Some(b"{f()}")), Ok(()), "{path}");
    }
    for path in ["index.mdx", "a/package.json", "vercel.json", "guides/.env"] {
        assert!(judged(&site, &globs, path, Some(b"{f()}")).is_err(), "{path}");
    }
}

#[test]
fn a_pointer_of_lfs_stays() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n";
    let site = files(&[("mkdocs.yml", ""), ("docs/a.md", pointer)]);
    let refused = judged(&site, &[], "docs/a.md", Some(b"# A\n")).expect_err("refused");
    assert!(refused.contains("Git LFS"), "{refused}");
    assert_eq!(judged(&site, &[], "docs/a.md", None), Ok(()));
}

#[test]
fn a_finished_job_is_held_to_the_same_rules() {
    let (before, mut after) = (site(), site());
    after.insert("guides/new.md".to_owned(), b"# New\n".to_vec());
    let changed = |path: &str| vec!["guides/new.md".to_owned(), path.to_owned()];
    assert_eq!(refused_change(&before, &after, &changed("guides/a.mdx"), &Allowances::default()), None);
    after.remove("package.json");
    assert!(refused_change(&before, &after, &changed("package.json"), &Allowances::default()).is_some());
    let allowances = Allowances { paths: vec!["package.json".to_owned()], ..Allowances::default() };
    assert_eq!(refused_change(&before, &after, &changed("package.json"), &allowances), None);
}

/// A site in reStructuredText, with an included text and existing code.
fn sphinx() -> Files {
    files(&[
        ("conf.py", "project = 'Acme'\n"),
        ("index.rst", "Acme\n====\n\n.. toctree::\n\n   guide/a\n\n.. include:: shared.txt\n"),
        ("guide/a.rst", "A\n=\n\n.. raw:: html\n\n   <br>\n\nSee :doc:`/index` and :issue:`12`.\n"),
        ("guide/part.md", "A part.\n"),
        ("guide/b.rst", "B\n=\n\n.. include:: part.md\n"),
        ("data/prices.csv", "a,b\n"),
        ("data/table.rst", "T\n=\n\n.. include:: prices.csv\n"),
        ("data/plain.csv", "a,b\n"),
    ])
}

#[test]
fn pages_in_restructured_text_are_written_without_new_code() {
    let site = sphinx();
    let check = |path: &str, text: &str| judged(&site, &[], path, Some(text.as_bytes()));
    let a = "A\n=\n\n.. raw:: html\n\n   <br>\n\nSee :doc:`/index`, :doc:`b` and :issue:`13`.\n";
    assert_eq!(check("guide/a.rst", a), Ok(()));
    assert_eq!(
        check("guide/new.rst", ".. note::\n\n   New.\n\n   .. raw:: html\n\n      <br>\n"),
        Ok(()),
        "it is known"
    );
    for text in [
        ".. raw:: html\n\n   <script>f()</script>\n",
        ".. exec::\n\n   x\n",
        ".. include:: /etc/passwd\n",
        ".. include:: ../guide/part.md\n\n.. include:: notes.md\n",
    ] {
        let why = check("guide/a.rst", text).expect_err(text);
        assert!(why.contains("holds code that no page of the site has"), "{why}");
    }
}

#[test]
fn files_that_rst_pages_include_are_checked_as_rst() {
    let site = sphinx();
    let check = |path: &str, text: &str| judged(&site, &[], path, Some(text.as_bytes()));
    for path in ["guide/part.md", "data/prices.csv"] {
        assert_eq!(check(path, "Words of it.\n"), Ok(()), "{path}");
        let why = check(path, "A part.\n\n.. raw:: html\n\n   <b>\n").expect_err(path);
        assert!(why.contains("a page includes it as reStructuredText"), "{why}");
    }
    assert_eq!(check("data/plain.csv", ".. raw:: html\n"), Ok(()), "nobody reads it so");
    // A picture is resolved from the folder of the including page.
    let why = check("guide/part.md", ".. image:: ../../x.png\n").expect_err("outside of the docs");
    assert!(why.contains("../../x.png"), "{why}");
}

#[test]
fn pages_in_asciidoc_are_written_without_new_constructs() {
    let site = files(&[
        ("antora.yml", "name: tool\nversion: ~\n"),
        (
            "modules/ROOT/pages/a.adoc",
            "= A\n\ninclude::partial$part.adoc[]\ninclude::example$b.rb[]\ninclude::example$t.csv[]\n\npass:[<br>]\n",
        ),
        ("modules/ROOT/partials/part.adoc", "words\n"),
        ("modules/ROOT/examples/b.rb", "b\n"),
        ("modules/ROOT/examples/t.csv", "a,b\n"),
    ]);
    let check = |path: &str, text: &str| judged(&site, &[], path, Some(text.as_bytes()));
    for path in ["pages/a.adoc", "pages/new.adoc", "partials/part.adoc", "examples/t.csv"] {
        let path = format!("modules/ROOT/{path}");
        assert_eq!(check(&path, "Other *words*, pass:[<br>]\n"), Ok(()), "{path}");
        let why = check(&path, "Words.\n\n++++\n<script>f()</script>\n++++\n").expect_err(&path);
        assert!(why.contains("line 3 holds"), "{why}");
    }
    check("modules/ROOT/examples/b.rb", "other words\n").expect_err("a program");
}

#[test]
fn a_script_that_holds_navigation_may_name_other_pages() {
    let files = files(&[
        (
            ".vitepress/config.ts",
            "export default { themeConfig: { nav: [{ text: 'A', link: '/a' }] }, vite: plugins() }\n",
        ),
        ("a.md", "# A\n"),
        ("b.md", "# B\n"),
    ]);
    let before = String::from_utf8(files[".vitepress/config.ts"].clone()).expect("text");
    let check = |path: &str, text: &str| judged(&files, &[], path, Some(text.as_bytes()));
    assert_eq!(check(".vitepress/config.ts", &before.replace("'/a'", "'/b'")), Ok(()));
    let refused = check(".vitepress/config.ts", &before.replace("plugins()", "run()")).expect_err("code");
    assert!(refused.contains("its code differs, too") && refused.contains("--allow-path"), "{refused}");
    for (path, text) in [("sidebars.js", "module.exports = {}\n"), (".vitepress/config.js", "export default {}\n")] {
        check(path, text).expect_err("a new script");
    }
    judged(&files, &[], ".vitepress/config.ts", None).expect_err("the site would be without it");
}

#[test]
fn new_code_is_allowed_where_the_owner_allows_code() {
    let site = site();
    let allowances = Allowances { code: vec!["guides/*.mdx".to_owned()], ..Allowances::default() };
    let writable = Writable::new(&site, &allowances);
    assert_eq!(writable.check("guides/a.mdx", Some(b"{f()}\n")), Ok(()));
    for (path, remedy) in
        [("index.mdx", Remedy::Code), ("guides/hooks.py", Remedy::Path), ("package.json", Remedy::Path)]
    {
        let refusal = writable.check(path, Some(b"{f()}\n")).expect_err(path);
        assert_eq!(refusal.remedy, Some(remedy), "{path}");
    }
    let never = writable.check(".git/config", Some(b"x")).expect_err("nobody may");
    assert_eq!(never.remedy, None);
}

#[test]
fn the_same_file_by_another_path_is_the_same_include() {
    let site = files(&[
        ("conf.py", "project = 'A'\n"),
        ("guide/a.rst", "A\n=\n\n.. csv-table:: T\n   :file: ../data/prices.csv\n"),
        ("data/prices.csv", "a,b\n"),
        ("data/secret.csv", "a,b\n"),
    ]);
    let moved = |file: &str| format!("A\n=\n\n.. csv-table:: T\n   :file: {file}\n");
    assert_eq!(judged(&site, &[], "guide/deep/a.rst", Some(moved("../../data/prices.csv").as_bytes())), Ok(()));
    assert!(judged(&site, &[], "guide/deep/a.rst", Some(moved("../../data/secret.csv").as_bytes())).is_err());
}

#[test]
fn files_that_generators_run_are_no_documents() {
    let hugo = files(&[("hugo.toml", "baseURL = '/'\n"), ("content/a.md", "---\ntitle: A\n---\n")]);
    for path in
        ["layouts/robots.txt", "layouts/_default/single.md", "archetypes/a.md", "layouts/sidebar.json", "AGENTS.md"]
    {
        let why = judged(&hugo, &[], path, Some(b"x")).expect_err(path);
        assert!(why.contains("it is no document"), "{why}");
    }
    assert_eq!(judged(&hugo, &[], "data/nav.json", Some(b"{\"a\": \"b\"}")), Ok(()));
    assert_eq!(judged(&hugo, &[], "static/robots.txt", Some(b"User-agent: *\n")), Ok(()));
    let why = judged(&hugo, &[], "static/a.csv", Some(b"---\n---\n{% include x %}\n")).expect_err("a template");
    assert!(why.contains("front matter makes a template"), "{why}");
}
