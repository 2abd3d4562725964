mod generators;

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn layout(files: &[(&str, &str)]) -> Layout {
    let pages = [("docs/index.md", "# Home"), ("index.mdx", "# Home")];
    let files = files.iter().chain(&pages).map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
    Layout::read(&files.collect::<BTreeMap<String, Vec<u8>>>())
}

fn shown(layout: &Layout, file: &str, text: &str) -> Vec<String> {
    code_of(layout, file, text.as_bytes()).into_iter().map(|code| format!("{} {}", code.line, code.shown)).collect()
}

#[test]
fn an_mdx_page_is_a_program() {
    let layout = layout(&[("docs.json", r#"{"navigation": ["index"]}"#)]);
    for (text, code) in [
        (
            "---\ntitle: T\n---\n\n# A {#id}\n\nWords, `{f()}` and \\{f()}.\n\n```js\n{f()}\nimport a from 'b'\n```\n",
            vec![],
        ),
        ("<Frame>\n  <Card href=\"/a\" />\n</Frame>\n", vec![]),
        ("<Own>\n\nx\n\n</Own>\n", vec!["1 <Own>"]),
        ("```jsx live\nf()\n```\n", vec!["1 ```jsx live f() ```"]),
        (
            "<Card title=\"a\" cols={2} rows={[1, {a: 'b'}]} text={`x`}>\n\n{/* note */} {\"words\"}\n\n</Card>\n",
            vec![],
        ),
        ("import Note from '/snippets/note.mdx'\nexport const rows = [{ a: 1 }]\n\n<Note />\n", vec![]),
        ("import fs from 'fs'\n\nx\n", vec!["1 import fs from 'fs'"]),
        ("# A\nimport fs\nfrom 'fs'\n\nx\n", vec!["2 import fs from 'fs'"]),
        ("import 'side-effect'\n\n", vec!["1 import 'side-effect'"]),
        ("export const a = f()\n\nx\n", vec!["1 export const a = f()"]),
        ("\n# \rexport default f()\n", vec!["3 export default f()"]),
        (
            "export default ({ children }) => <p>{children}</p>\n\nx\n",
            vec!["1 export default ({ children }) => <p>{children}</p>"],
        ),
        ("Words {process.env.TOKEN} and\n{`${f()}`}\n", vec!["1 {process.env.TOKEN}", "2 {`${f()}`}"]),
        (
            "<Card onClick={() => f()} {...props}/>\n",
            vec!["1 {() => f()}", "1 {...props}", "1 <Card onClick={() => f()} {...props}/>"],
        ),
        (
            "<div dangerouslySetInnerHTML={{ __html: '<b>' }} />\n",
            vec!["1 { __html: '<b>' }", "1 <div dangerouslySetInnerHTML={{ __html: '<b>' }} />"],
        ),
        (
            "<script src=\"https://x.y\" />\n\n[a](javascript:f())\n",
            vec!["3 [a](javascript:f())", "1 <script src=\"https://x.y\" />", "3 (javascript:f())"],
        ),
        ("- item\n\n  <Card a={f()} />\n", vec!["3 {f()}"]),
    ] {
        let code: Vec<String> =
            code.into_iter().map(|code| code.replace("1 { __html: '<b>' }", "1 {{ __html: '<b>' }}")).collect();
        assert_eq!(shown(&layout, "a.mdx", text), code, "{text}");
        assert_eq!(shown(&layout, "a.md", text), code, "{text}");
    }
}

#[test]
fn markdown_runs_its_tags_and_templates() {
    let site = [("docs/.vitepress/config.ts", "export default { title: 'T' }")];
    let layout = layout(&site);
    assert_eq!(layout.generator(), Generator::VitePress);
    for (text, code) in [
        (
            "# A\n\n{f()} import <Badge type=\"tip\" /> `{{ f() }}`\n\n```html\n<script>{{ f() }}</script>\n```\n",
            vec![],
        ),
        ("import a from 'b'\n\nexport default 1\n", vec![]),
        ("Words {{ f() }}\n", vec!["1 {{ f() }}"]),
        ("{{ 'words' }}\n", vec![]),
        ("a\n\n<script setup>\nimport fs from 'fs'\n</script>\n\nb", vec!["3 <script setup> import fs from 'fs'"]),
        ("<Badge :text=\"f()\" @click=\"f()\" />\n", vec!["1 <Badge :text=\"f()\" @click=\"f()\" />"]),
        ("<javascript:f()>\n", vec!["1 <javascript:f()>"; 3]),
        ("```{python}\nf()\n```\n", vec!["1 ```{python} f() ```"]),
        ("```{note}\nRead this.\n```\n", vec![]),
    ] {
        assert_eq!(shown(&layout, "docs/a.md", text), code, "{text}");
    }
}

#[test]
fn a_page_shows_files_of_the_docs_and_no_others() {
    let layout = layout(&[("docs/.vitepress/config.ts", "export default {}")]);
    for inside in [
        "<<< @/samples/a.js",
        "<<< ../samples/a.js{1,3}",
        "<!--@include: ./parts/a.md-->",
        "--8<-- \"samples/a.py:1:3\"",
        "--8<--\nsamples/a.py\n--8<--",
    ] {
        assert_eq!(shown(&layout, "docs/guides/a.md", &format!("{inside}\n")), Vec::<String>::new(), "{inside}");
    }
    for outside in [
        "<<< ../../../secrets.txt",
        "<<< @/.env",
        "<<< /proc/self/environ",
        "<!--@include: ../../../../a.md-->",
        "--8<-- \"https://x.y/a.md\"",
        "--8<--\n../../a.py\n--8<--",
    ] {
        assert_eq!(shown(&layout, "docs/guides/a.md", &format!("{outside}\n")).len(), 1, "{outside}");
    }
}

#[test]
fn templates_in_code_count_where_the_site_reads_them_there() {
    let text = "`{{ f() }}`\n\n{% include x.html %}\n";
    let mkdocs = |plugins: &str| layout(&[("mkdocs.yml", &format!("site_name: T\nplugins:\n{plugins}"))]);
    assert_eq!(shown(&mkdocs("  - search\n"), "docs/a.md", text), ["3 {% include x.html %}"]);
    for plugins in ["  - macros\n", "  - macros:\n      a: b\n"] {
        assert_eq!(shown(&mkdocs(plugins), "docs/a.md", text), ["1 {{ f() }}", "3 {% include x.html %}"]);
    }
}

#[test]
fn where_nobody_knows_the_generator_what_can_hardly_be_words_counts() {
    let layout = layout(&[]);
    for (text, code) in [
        ("A {name} in `/users/{id}`, \\frac{f(x)}{2} and $a_{(1)}$.\n\nexport the data.\n", vec![]),
        ("Words {process.exit(1)}\n", vec!["1 {process.exit(1)}"]),
        ("import fs from 'fs'\n\nWords\n", vec!["1 import fs from 'fs'"]),
        ("<Card a={b} />\n", vec!["1 <Card a={b} />", "1 {b}"]),
    ] {
        assert_eq!(shown(&layout, "a.md", text), code, "{text}");
    }
}

#[test]
fn the_same_code_elsewhere_has_the_same_key() {
    let layout = layout(&[("docs.json", r#"{"navigation": ["index"]}"#)]);
    let keys = |file: &str, text: &str| {
        code_of(&layout, file, text.as_bytes()).into_iter().map(|code| code.key).collect::<Vec<_>>()
    };
    let (one, other) = (
        keys("a.mdx", "import A, { b } from './x'\n\n{ f(1) }\n"),
        keys("deep/a.mdx", "import { b as c } from '../x'\nimport A from '/x'\n\n- {f(1)}\n"),
    );
    assert!(other.iter().all(|key| one.contains(key)), "{one:?} {other:?}");
    assert_ne!(keys("deep/a.mdx", "import A from './x'\n"), keys("a.mdx", "import A from './x'\n"));
}

#[test]
fn a_page_with_more_than_is_looked_through_is_one_piece() {
    let layout = layout(&[("docs.json", r#"{"navigation": ["index"]}"#)]);
    let many = "{ ".repeat(200) + "\n\n{f()}\n";
    assert_eq!(code_of(&layout, "a.mdx", many.as_bytes()).len(), 1);
    let long = format!("{{`{}`.f()}}\n", "a".repeat(300_000));
    assert_eq!(code_of(&layout, "a.mdx", long.as_bytes()).len(), 1);
}

proptest! {
    #[test]
    fn any_page_is_looked_through(text in "(\\{|\\}|<|>|/|import |export |from '|'|`|```|\n|\n\n|A|=|\\{\\{|\\}\\}|---|\\PC){0,40}") {
        for files in [vec![("docs.json", "{\"navigation\": [\"index\"]}")], vec![], vec![("mkdocs.yml", "site_name: T\n")]] {
            let layout = layout(&files);
            for file in ["a.mdx", "docs/a.md"] {
                let code = code_of(&layout, file, text.as_bytes());
                prop_assert!(code.iter().all(|code| code.line >= 1));
            }
        }
    }

    #[test]
    fn an_expression_is_found_wherever_it_stands_outside_of_code(before in "(<A>|</A>|- |> |\n|\n\n|[a-z ]{1,9}|\\*|`a`|\n```\na\n```\n|\\{1\\}){0,12}") {
        let layout = layout(&[("docs.json", "{\"navigation\": [\"index\"]}")]);
        let code = code_of(&layout, "a.mdx", format!("{before}\n\n{{f()}}\n").as_bytes());
        prop_assert!(code.iter().any(|code| code.key == "expression {f()}" || code.key.starts_with("unread")), "{code:?}");
    }
}

#[test]
fn tokens_that_leave_a_code_span_are_active() {
    let mdx = layout(&[("docusaurus.config.js", "module.exports = {}")]);
    for text in [
        "``{/*`` {f()} */}\n",
        "` {`{f()}` }\n",
        "   ~~~\n{/*\n   ~~~\n{f()} */}\n",
        "   ```\n<!--\n```\n\nexport const a = f()\n",
        "- ```\n  {/*\n\n{f()} */}\n",
        "[x](<script>f()</script>\n",
        "***\nimport a from 'b'\n",
        "*\nimport a from 'b'\n",
        "/>\n|-|\n'\nimport a from 'b'\n",
    ] {
        assert_ne!(shown(&mdx, "docs/a.mdx", text), [""; 0], "{text:?}");
    }
    for text in
        ["`{` and `}`\n\n{/* a */}\n", "* a\nimport your data\n", "<details>\n  <summary>A</summary>\n</details>\n"]
    {
        assert_eq!(shown(&mdx, "docs/a.mdx", text), [""; 0], "{text:?}");
    }
    let vue = layout(&[(".vitepress/config.ts", "export default {}")]);
    for text in [
        "\\{\\{ f() }}\n",
        "&#123;&#x7b; f() }}\n",
        "{{<code>|{{ f() }}|\n",
        "> </p>`{{ f() }}`\n",
        "``<b title=\"`` <img src=x onerror=f()>\">\n",
        "<!--\u{a0}",
    ] {
        assert_ne!(shown(&vue, "a.md", text), [""; 0], "{text:?}");
    }
    let mkdocs = layout(&[("mkdocs.yml", "site_name: x\n")]);
    for text in [
        "[x](b){onclick=f()}}\n",
        "<div>\n\nA\n\n`<img src=x onerror=f()>`\n",
        "   ```\n\n````\n|`<img src=x onerror=f()>`\n",
    ] {
        assert_ne!(shown(&mkdocs, "docs/a.md", text), [""; 0], "{text:?}");
    }
    assert_eq!(shown(&mkdocs, "docs/a.md", "<div>\n</div>\n\n`<img src=x onerror=f()>`\n"), [""; 0]);
    let antora = layout(&[("antora.yml", "name: x\nversion: '1'\n")]);
    for text in ["````\npass:[<b>]\n```\n", "a\u{a0}link:{a}:f()[x]\n"] {
        assert_ne!(shown(&antora, "modules/ROOT/pages/a.adoc", text), [""; 0], "{text:?}");
    }
}
