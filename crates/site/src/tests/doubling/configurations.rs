//! Families of configurations, by generator and form.

use super::{Family, nested, repeated};
use crate::sample::{Files, site};

/// A file, what stands around a value in it, and the files that it comes with.
type Host = (&'static str, &'static str, &'static str, &'static [(&'static str, &'static str)]);

const SCRIPTS: [Host; 9] = [
    ("docusaurus.config.js", "module.exports = ", "\n", &[("docs/a.md", "# a\n")]),
    (
        "docusaurus.config.ts",
        "const c = {title: 'x', presets: [['classic', {docs: {path: ",
        "}}]]};\nexport default c;\n",
        &[("docs/a.md", "# a\n")],
    ),
    (
        "sidebars.js",
        "module.exports = {a: ",
        "};\n",
        &[
            (
                "docusaurus.config.js",
                "module.exports = {presets: [['classic', {docs: {sidebarPath: './sidebars.js'}}]]}\n",
            ),
            ("docs/a.md", "# a\n"),
        ],
    ),
    (
        ".vitepress/config.ts",
        "import {defineConfig} from 'vitepress'\nexport default defineConfig({themeConfig: {sidebar: ",
        "}})\n",
        &[("a.md", "# a\n")],
    ),
    (
        "astro.config.mjs",
        "import starlight from '@astrojs/starlight'\nexport default defineConfig({integrations: [starlight({sidebar: ",
        "})]});\n",
        &[
            ("src/content/docs/a.md", "---\ntitle: a\n---\n"),
            ("package.json", "{\"dependencies\": {\"@astrojs/starlight\": \"1\"}}"),
        ],
    ),
    (
        "next.config.mjs",
        "import nextra from 'nextra'\nexport default nextra({})({basePath: ",
        "})\n",
        &[("content/a.mdx", "# a\n"), ("package.json", "{\"dependencies\": {\"nextra\": \"4\"}}")],
    ),
    (
        "content/_meta.js",
        "export default ",
        "\n",
        &[
            ("next.config.mjs", "import nextra from 'nextra'\nexport default nextra({})({})\n"),
            ("content/a.mdx", "# a\n"),
            ("package.json", "{\"dependencies\": {\"nextra\": \"4\"}}"),
        ],
    ),
    (
        "source.config.ts",
        "import {defineDocs} from 'fumadocs-mdx/config'\nexport const docs = defineDocs(",
        ")\n",
        &[("content/docs/a.mdx", "# a\n"), ("package.json", "{\"dependencies\": {\"fumadocs-ui\": \"1\"}}")],
    ),
    ("gatsby-config.js", "module.exports = ", "\n", &[("a.md", "# a\n")]),
];

/// Values of scripts that enclose each other.
const NESTS: [(&str, &str); 25] = [
    ("()=>{return ", "}"),
    ("function f(){return ", "}"),
    ("(", ")"),
    ("[", "]"),
    ("{a:", "}"),
    ("a(", ")"),
    ("()=>", ""),
    ("()=>(", ")"),
    ("`${", "}`"),
    ("async ", ""),
    ("async()=>{return ", "}"),
    ("{a(){return ", "}}"),
    ("[...", "]"),
    ("new A(", ")"),
    ("[{items:", "}]"),
    ("a<b>(", ")"),
    ("(()=>{return ", "})()"),
    ("a?", ""),
    ("`${[", "]}`"),
    ("{/'/:", "}"),
    ("<a>", "</a>"),
    ("[/[", ""),
    ("`'${\"/*", ""),
    ("([{", ""),
    ("{type:'category',items:[", "]}"),
];

const ITEMS: [&str; 14] = [
    "'a',",
    "'p#',",
    "{type:'doc',id:'a'},",
    "{text:'a',link:'/a'},",
    "a#,",
    "{p#:'a'},",
    "...a#,",
    "/* a */",
    "/a'[/]/,",
    "`a${'`'}`,",
    "a as B<C, D>,",
    "const a# = 'a'\n",
    "function a#() { return 'a' }\n",
    ")",
];

/// Sites that are configured by scripts.
pub(super) fn javascript() -> Vec<Family> {
    let mut families = Vec::new();
    for (file, before, after, more) in SCRIPTS {
        let with = move |value: String| -> Files {
            let mut files = site(more);
            files.insert(file.to_owned(), format!("{before}{value}{after}").into_bytes());
            files
        };
        for (open, close) in NESTS {
            let name = format!("{file} {open:?} … {close:?}");
            families.push(Family::new(name, move |length| with(nested(open, "1", close, length))));
        }
        for item in ITEMS {
            let name = format!("{file} [{item:?} …]");
            families.push(Family::new(name, move |length| with(format!("[{}]", repeated(item, length)))));
        }
        families.push(Family::new(format!("{file} a long text"), move |length| {
            with(format!("'{}'", "a/".repeat(length / 2)))
        }));
        families.push(Family::new(format!("{file} imports"), move |length| {
            let mut files = with("1".to_owned());
            if let Some(bytes) = files.get_mut(file) {
                let text = repeated("import a# from './b#.js'\n", length) + &String::from_utf8_lossy(bytes);
                *bytes = text.into_bytes();
            }
            files
        }));
    }
    families
}

/// A file and the files it comes with; its text before and behind what is repeated, and what is.
type Data =
    (&'static str, &'static [(&'static str, &'static str)], &'static str, &'static str, &'static [&'static str]);

const PAGE: &[(&str, &str)] = &[("a.md", "---\ntitle: a\n---\n\na\n")];
const RST: &[(&str, &str)] = &[("conf.py", "project = 'x'\n"), ("a.rst", "a\n=\n")];
const DOCUSAURUS: &[(&str, &str)] = &[("docusaurus.config.js", "module.exports = {}\n"), ("docs/a.md", "# a\n")];

const DATA: &[Data] = &[
    (
        "docs.json",
        PAGE,
        "{\"navigation\": [",
        "\"a\"]}",
        &["\"a\",", "\"p#\",", "{\"group\":\"g#\",\"pages\":[\"a\"]},", "{\"tab\":\"t\"},"],
    ),
    (
        "docs.json",
        PAGE,
        "{\"redirects\": [",
        "{}]}",
        &["{\"source\":\"/a\",\"destination\":\"/b\"},", "{\"source\":\"/a#/:b*\",\"destination\":\"/b\"},"],
    ),
    ("docs.json", PAGE, "{", "\"a\": 1}", &["\"a#\": 1,", "\"navigation\": [\"a\"],"]),
    (
        ".mintignore",
        &[("docs.json", "{\"navigation\": [\"a\"]}"), ("a.md", "# a\n")],
        "",
        "",
        &["a#\n", "*a*\n", "[abc]", "[abc]\n", "{a,b}\n", "**/", "*", "!a\n"],
    ),
    (".docentignore", PAGE, "", "", &["a#\n", "*a*\n", "[abc]\n", "**/a/**\n"]),
    (
        "mkdocs.yml",
        &[("docs/a.md", "# a\n")],
        "site_name: x\nnav:\n",
        "",
        &["- a.md\n", "- p#.md\n", "- A#:\n    - a.md\n"],
    ),
    ("mkdocs.yml", &[("docs/a.md", "# a\n")], "site_name: x\n", "", &["a#: b\n", "# a\n", "a: [b, c]\n"]),
    (
        "mkdocs.yml",
        &[("docs/a.md", "# a\n")],
        "plugins:\n- redirects:\n    redirect_maps:\n",
        "",
        &["      a#.md: a.md\n"],
    ),
    (
        "docs/.pages",
        &[("mkdocs.yml", "site_name: x\nplugins: [awesome-pages]\n"), ("docs/a.md", "# a\n")],
        "nav:\n",
        "",
        &["- a.md\n", "- p#.md\n", "- ...\n"],
    ),
    (
        "book.toml",
        &[("src/SUMMARY.md", "- [a](a.md)\n"), ("src/a.md", "# a\n")],
        "[output.html.redirect]\n",
        "",
        &["\"/a#.html\" = \"a.html\"\n"],
    ),
    (
        "src/SUMMARY.md",
        &[("book.toml", "[book]\n"), ("src/a.md", "# a\n")],
        "",
        "",
        &["- [a](a.md)\n", "- [a](p#.md)\n", "- [", "# a\n"],
    ),
    (
        "hugo.toml",
        &[("content/a.md", "# a\n")],
        "baseURL = '/'\n",
        "",
        &["a# = 1\n", "[a#]\nb = 1\n", "[[menu.main]]\nname = 'a'\n"],
    ),
    (
        "hugo.yaml",
        &[("content/a.md", "# a\n"), ("config/_default/hugo.yaml", "a: b\n")],
        "baseURL: /\n",
        "",
        &["a#: b\n"],
    ),
    ("netlify.toml", DOCUSAURUS, "", "", &["[[redirects]]\nfrom = \"/a#\"\nto = \"/a\"\n"]),
    ("_redirects", DOCUSAURUS, "", "", &["/a# /a 301\n", "/:a*/:b*/:c* /a\n", "# a\n"]),
    ("docs/_category_.json", DOCUSAURUS, "{", "\"label\": \"a\"}", &["\"a#\": 1,"]),
    (
        "docusaurus.config.js",
        &[("docs/a.md", "# a\n")],
        "module.exports = {i18n: {defaultLocale: 'l', locales: [",
        "'l']}}\n",
        &["'l#',"],
    ),
    ("versions.json", DOCUSAURUS, "[", "\"1\"]", &["\"1.#\","]),
    ("_config.yml", PAGE, "title: x\n", "", &["a#: b\n", "exclude: [a]\n"]),
    ("_config.yml", PAGE, "exclude:\n", "", &["- a#\n", "- '*a*'\n"]),
    ("conf.py", &[("a.rst", "a\n=\n")], "exclude_patterns = [", "]\n", &["'a#',", "'a*b*c*',", "'[abc]',"]),
    ("conf.py", &[("a.rst", "a\n=\n")], "", "", &["a# = 'b'\n", "# a\n", "'''\n", "extensions += ['a']\n"]),
    ("_toc.yml", RST, "root: a\nchapters:\n", "", &["- file: a\n", "- file: p#\n"]),
    (
        "a.rst",
        &[("conf.py", "project = 'x'\n"), ("b.rst", "b\n=\n")],
        "a\n=\n\n.. toctree::\n   :glob:\n\n",
        "",
        &["   b\n", "   p#\n", "   *b*#\n"],
    ),
    (
        "modules/ROOT/nav.adoc",
        &[
            ("antora.yml", "name: x\nversion: '1'\nnav: [modules/ROOT/nav.adoc]\n"),
            ("modules/ROOT/pages/a.adoc", "= a\n"),
        ],
        "",
        "",
        &["* xref:a.adoc[]\n", "* xref:p#.adoc[A]\n", "** a\n", "include::a.adoc[]\n"],
    ),
    (
        "antora.yml",
        &[("modules/ROOT/pages/a.adoc", "= a\n")],
        "name: x\nversion: '1'\nasciidoc:\n  attributes:\n",
        "",
        &["    a#: b\n"],
    ),
    (
        "docfx.json",
        &[("a.md", "# a\n"), ("toc.yml", "- name: a\n  href: a.md\n")],
        "{\"build\":{\"content\":[{\"files\":[",
        "\"*.md\"]}]}}",
        &["\"a#\",", "\"**/*.md\",", "\"{a,b}\","],
    ),
    (
        "toc.yml",
        &[("docfx.json", "{\"build\":{\"content\":[{\"files\":[\"**\"]}]}}"), ("a.md", "# a\n")],
        "",
        "",
        &["- name: a\n  href: a.md\n", "- name: a#\n  href: p#.md\n"],
    ),
    (
        "SUMMARY.md",
        &[(".gitbook.yaml", "root: ./\n"), ("a.md", "# a\n")],
        "",
        "",
        &["* [a](a.md)\n", "* [a](p#.md)\n", "## a\n"],
    ),
    (".gitbook.yaml", &[("SUMMARY.md", "* [a](a.md)\n"), ("a.md", "# a\n")], "redirects:\n", "", &["  a#: a.md\n"]),
    (
        "content/docs/meta.json",
        &[
            ("source.config.ts", "export const docs = defineDocs({})\n"),
            ("content/docs/a.mdx", "# a\n"),
            ("package.json", "{\"dependencies\": {\"fumadocs-ui\": \"1\"}}"),
        ],
        "{\"pages\": [",
        "\"a\"]}",
        &["\"a\",", "\"p#\",", "\"...\",", "\"---a---\","],
    ),
    (
        "openapi.json",
        &[("docs.json", "{\"navigation\": {\"openapi\": \"openapi.json\", \"pages\": [\"a\"]}}"), ("a.mdx", "# a\n")],
        "{\"openapi\": \"3.1.0\", \"paths\": {",
        "\"/z\": {}}}",
        &["\"/a#\": {\"get\": {\"summary\": \"a\"}},", "\"/a#\": {\"$ref\": \"#/paths/~1z\"},"],
    ),
    ("a.svg", PAGE, "<svg>", "</svg>", &["<g/>", "<g>", "<!--a-->"]),
];

/// Values of data that enclose each other: file, beginning, pair, end.
type Nest =
    (&'static str, &'static [(&'static str, &'static str)], &'static str, (&'static str, &'static str), &'static str);

const DATA_NESTS: &[Nest] = &[
    ("docs.json", PAGE, "{\"navigation\": ", ("[", "]"), "}"),
    ("docs.json", PAGE, "{\"navigation\": ", ("{\"pages\": [", "]}"), "}"),
    ("mkdocs.yml", &[("docs/a.md", "# a\n")], "nav: ", ("[", "]"), "\n"),
    ("mkdocs.yml", &[("docs/a.md", "# a\n")], "nav: ", ("{a: ", "}"), "\n"),
    ("_config.yml", PAGE, "a: ", ("[", "]"), "\n"),
    ("antora.yml", &[("modules/ROOT/pages/a.adoc", "= a\n")], "name: x\nnav: ", ("[", "]"), "\n"),
    ("hugo.yaml", &[("content/a.md", "# a\n")], "a: ", ("{a: ", "}"), "\n"),
    ("hugo.toml", &[("content/a.md", "# a\n")], "a = ", ("[", "]"), "\n"),
    ("hugo.toml", &[("content/a.md", "# a\n")], "", ("a.", ""), "b = 1\n"),
    ("book.toml", &[("src/SUMMARY.md", "- [a](a.md)\n"), ("src/a.md", "# a\n")], "[book]\n", ("a.", ""), "b = 1\n"),
    (
        "openapi.json",
        &[("docs.json", "{\"navigation\": {\"openapi\": \"openapi.json\"}}")],
        "{\"openapi\": \"3.1.0\", \"paths\": {\"/a\": {\"get\": {\"requestBody\": {\"content\": {\"a/b\": {\"schema\": ",
        ("{\"properties\": {\"a\": ", "}}"),
        "}}}}}}}",
    ),
    ("conf.py", &[("a.rst", "a\n=\n")], "exclude_patterns = ['", ("{a,", "}"), "']\n"),
    ("conf.py", &[("a.rst", "a\n=\n")], "exclude_patterns = ", ("[", "]"), "\n"),
    (".mintignore", &[("docs.json", "{\"navigation\": [\"a\"]}"), ("a.md", "# a\n")], "", ("{a,", "}"), "\n"),
];

/// Sites that are configured by data.
pub(super) fn data() -> Vec<Family> {
    let mut families = Vec::new();
    for &(file, more, before, after, units) in DATA {
        for &unit in units {
            families.push(Family::new(format!("{file} {before:?} {unit:?}"), move |length| {
                let mut files = site(more);
                files.insert(file.to_owned(), format!("{before}{}{after}", repeated(unit, length)).into_bytes());
                files
            }));
        }
    }
    for &(file, more, before, (open, close), after) in DATA_NESTS {
        families.push(Family::new(format!("{file} {before:?} {open:?} … {close:?}"), move |length| {
            let mut files = site(more);
            let text =
                format!("{before}{}{after}", nested(open, if close.is_empty() { "" } else { "1" }, close, length));
            files.insert(file.to_owned(), text.into_bytes());
            files
        }));
    }
    families
}
