//! Builds pages in which [`code_of`] finds no code as their generators do, and searches what comes out for what runs.
//!
//! Pages are put together at random from the forms of each language. `$DOCENT_FUZZ_SECONDS` sets the duration for each
//! generator (by default 20, or 15,000 pages), `$DOCENT_FUZZ_SEED` the texts (1 by default).

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use super::*;

const BATCH: usize = 200;

/// The most pages for each generator where no duration is given.
const MOST_PAGES: usize = 15_000;

/// A generator as the script names it, a file that makes a site of it, a page, and forms of its language.
type Generated = (&'static str, (&'static str, &'static str), &'static str, &'static [&'static str]);

const GENERATORS: [Generated; 4] = [
    ("mdx", ("docusaurus.config.js", "module.exports = {}"), "docs/a.mdx", MDX),
    ("vue", (".vitepress/config.ts", "export default {}"), "a.md", VUE),
    ("mkdocs", ("mkdocs.yml", "site_name: x\n"), "docs/a.md", MKDOCS),
    ("asciidoc", ("antora.yml", "name: x\nversion: '1'\n"), "modules/ROOT/pages/a.adoc", ADOC),
];

#[test]
#[ignore = "needs node, Python and the packages of tests/markdown: cargo xtask test --only markdown"]
fn no_generator_runs_what_is_no_code() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let seconds = number("DOCENT_FUZZ_SECONDS");
    let time = Duration::from_secs(seconds.unwrap_or(20));
    // Without a duration the same pages on each machine that is fast enough.
    let most = if seconds.is_some() { usize::MAX } else { MOST_PAGES };
    let seed = number("DOCENT_FUZZ_SEED").unwrap_or(1);
    let mut builds = Builds::start();
    for (generator, site, page, forms) in GENERATORS {
        let layout = layout(&[site]);
        let is_harmless = |text: &str| code_of(&layout, page, text.as_bytes()).is_empty();
        let forms: Vec<String> = forms.iter().chain(COMMON).map(|form| (*form).to_owned()).collect();
        assert!(!builds.faults(generator, &forms).is_empty(), "the build of {generator} runs some of them");
        let bytes: Vec<u8> = seed.to_le_bytes().into_iter().cycle().take(32).collect();
        let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let mut runner = TestRunner::new_with_rng(Config::default(), random);
        let pages = prop::collection::vec(prop::sample::select(forms), 1..12);
        let (began, mut tried) = (Instant::now(), 0_usize);
        while began.elapsed() < time && tried < most {
            let mut texts = Vec::new();
            while texts.len() < BATCH && began.elapsed() < time {
                let pieces = pages.new_tree(&mut runner).expect("a page").current();
                if is_harmless(&pieces.concat()) {
                    texts.push(pieces);
                }
            }
            let whole: Vec<String> = texts.iter().map(|pieces| pieces.concat()).collect();
            tried += whole.len();
            let Some((number, _)) = builds.faults(generator, &whole).into_iter().next() else { continue };
            let (text, fault) = shrunk(texts[number].clone(), |text| {
                let found = is_harmless(text).then(|| builds.faults(generator, &[text.to_owned()]));
                found.and_then(|found| found.into_iter().next()).map(|(_, fault)| fault)
            });
            panic!("{generator} runs {fault}\n  seed {seed}, after {tried} pages\n  {text:?}");
        }
        println!("{generator}: {tried} pages without code: nothing runs");
    }
}

/// What is left of a text when each piece is taken away without which it still has a fault.
fn shrunk(mut pieces: Vec<String>, mut fault: impl FnMut(&str) -> Option<String>) -> (String, String) {
    let mut shown = fault(&pieces.concat()).unwrap_or_default();
    let mut at = 0;
    while at < pieces.len() {
        let mut fewer = pieces.clone();
        fewer.remove(at);
        match fault(&fewer.concat()) {
            Some(found) => (pieces, shown) = (fewer, found),
            None => at += 1,
        }
    }
    (pieces.concat(), shown)
}

/// The builds, in one node process.
struct Builds {
    child: Child,
    asked: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Builds {
    fn start() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/markdown");
        let node = std::env::var_os("DOCENT_NODE").unwrap_or_else(|| "node".into());
        let mut command = Command::new(node);
        command.arg("generators.mjs").current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().expect("start node");
        let asked = child.stdin.take().expect("stdin is a pipe");
        let answers = BufReader::new(child.stdout.take().expect("stdout is a pipe")).lines();
        Self { child, asked, answers }
    }

    /// The numbers of texts whose build runs something, each with what it is.
    fn faults(&mut self, generator: &str, texts: &[String]) -> Vec<(usize, String)> {
        writeln!(self.asked, "{}", json!({ "generator": generator, "texts": texts })).expect("ask for builds");
        let line = self.answers.next().expect("an answer").expect("read the answer");
        let found: Vec<Value> = serde_json::from_str(&line).expect("a list");
        let number = |fault: &Value| fault["text"].as_u64().and_then(|text| usize::try_from(text).ok());
        found.iter().filter_map(|fault| Some((number(fault)?, fault["fault"].to_string()))).collect()
    }
}

impl Drop for Builds {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Forms of all languages.
#[rustfmt::skip]
const COMMON: &[&str] = &[
    "a", " ", "\n", "\n\n", "\t", "    ", "  ", "- ", "\n- ", "> ", "\n> ", "1. ", "# ", "\n# ", "|", "\n|-|\n", "*", "_", "`",
    "``", "```", "\n```\n", "\n```js\n", "\n   ```\n", "\n    ```\n", "\n````\n", "~~~", "\n~~~\n", "\\", "\\\\", "<", ">", "</",
    "/>", "\"", "'", "=", "&lt;", "&#123;", "&#x6a;", ":", ";", "(", ")", "[", "]", "[x](", "](b)", "<!--", "-->", "\r", "\r\n",
    "\u{200b}", "\u{a0}", "\u{2028}", "\u{c}", "\u{b}", "\u{85}", "\u{feff}", "javascript:f()", "java\nscript:f()",
    "&#106;avascript:f()", "<img src=x onerror=f()>", "<img src=\"x\" onerror=\"f()\">", "<a href=\"javascript:f()\">", "</a>",
    "<script>f()</script>", "<script>", "</script>", "<b>", "</b>", "<p>", "</p>", "<div>\n", "\n</div>\n", "<pre>", "</pre>",
    "<code>", "</code>", "<br/>", "<details>\n", "<x-y onclick=f()>", "<svg/onload=f()>", "<iframe src=javascript:f()>",
    "onclick=f() ", "[x](javascript:f())", "[x]: javascript:f()\n", "[x]", "![x](javascript:f())", "<javascript:f()>", "f()",
];

#[rustfmt::skip]
const MDX: &[&str] = &[
    "{", "}", "{f()}", "{`${f()}`}", "{/* a */}", "{\"a\"}", "{/* ", " */}", "{// a\n", "<A>", "</A>", "<A b={f()}>", "<A b=\"",
    "<b title={f()}>", "<>", "</>", "{...f()}", "\nimport a from 'b'\n", "\nexport const a = f()\n", "\nexport const a = 1\n",
    "import a", "export default f()\n", "`{f()}`", "``{f()} ` ``", "\n```js\n{f()}\n```\n", "\n\n    {f()}\n", "\\{f()}", "$$\n",
    "{#a}", "[^1]: ", "{ /* } */ f() }", "{'a' + f()}", "{a}", "\n---\n", "|{f()}|", "| a |\n|-|\n| `{f()}` |\n",
];

#[rustfmt::skip]
const VUE: &[&str] = &[
    "{{", "}}", "{{ f() }}", "{{ 1 }}", "`{{ f() }}`", "``{{ f() }} ` ``", "\n```js\n{{ f() }}\n```\n", "\n\n    {{ f() }}\n",
    "{:a=f()}", "{onclick=f()}", "{ .a }", "{#a}", " {onclick=\"f()\"}", "<b :title=\"f()\">", "<b @click=\"f()\">",
    "<b v-html=\"f()\">", "<Badge :text=\"f()\" />", "<A>", "</A>", "<b v-pre>", "\n::: tip\n", "\n:::\n", "\n::: tip {{ f() }}\n",
    "<<< f()\n", "|{{ f() }}|", "| a |\n|-|\n| `{{ f() }}` |\n", "&#123;&#123; f() }}", "\\{\\{ f() }}", "{{ \"a\" }}",
    "<template v-if=\"f()\">", "[{{ f() }}](b)", "![{{ f() }}](b)", "[x](b \"{{ f() }}\")", "# {{ f() }}\n",
];

#[rustfmt::skip]
const MKDOCS: &[&str] = &[
    "{: onclick=f() }", "{:onclick=f()}", "{ onclick=f() }", "{: .a #b }", "\n{: onclick=f() }\n", "{: onclick=\"f()\" .a}", "{",
    "}", "{:", "\n!!! note\n    ", "\n!!! note \"<img src=x onerror=f()>\"\n    a\n", "\n``` { .js onclick=\"f()\" }\na\n```\n",
    "\n```{onclick=f()}\na\n```\n", "a\n:   b\n", "<div markdown>\n", "<div markdown=\"1\">\n", "<p markdown onclick=f()>", "`a`",
    "**a**", "`<img src=x onerror=f()>`", "\n```html\n<img src=x onerror=f()>\n```\n", "\n\n    <img src=x onerror=f()>\n", "*[a]: ",
    "[^a]: ", "| a |\n|-|\n| `<img src=x onerror=f()>` |\n", "\n***\n", "[x](b){onclick=f()}", "\\<img src=x onerror=f()>",
    "<a@b.c>", "<http://a.b/\"onclick=f()//>", "<http://a.b>",
];

#[rustfmt::skip]
const ADOC: &[&str] = &[
    "\n= a\n", "\n== a\n", "\n++++\n", "+++", "+++<img src=x onerror=f()>+++", "$$", "pass:[<img src=x onerror=f()>]", "pass:[",
    "pass:c[a]", "link:javascript:f()[x]", "link:b[x]", "link:b[x,onclick=f()]", "link:b[x,window=_blank]",
    "http://a.b[x,role=\"a\" onclick=f()]", "image::javascript:f()[]\n", "image::b[a,link=javascript:f()]\n", "image:b[a,opts=inline]",
    "image::b.svg[opts=interactive]\n", "xref:b[x]", "<<b,x>>", "[[a]]", "[#a.b]", "[.a]#x#", "[\"\" onclick=f()]#x#",
    "[onclick=f()]\n", "[subs=none]\n", "[subs=+macros]\n", "[source,js]\n", "\n----\n", "\n....\n", "\n====\n", "\n|===\n", "|a\n",
    "a|", "\n:a: <img src=x onerror=f()>\n", "\n:a: javascript\n", "{a}:f()", "{a}", "link:{a}:f()[x]", "\n:b: b\n",
    "include::/etc/passwd[]\n", "ifdef::a[]\n", "endif::[]\n", "ifeval::[1 == 1]\n", "stem:[x]",
    "latexmath:[\\href{javascript:f()}{x}]", "[stem]\n", "video::b[]\n", "video::javascript:f()[]\n", "kbd:[a]", "btn:[a]",
    "footnote:[a]", "((a))", "(((a)))", "`+<img src=x onerror=f()>+`", "`<img src=x onerror=f()>`", "#a#", "^a^", "~a~", "'''\n",
    "[cols=\"a\"]\n", "[%header]\n", "* a\n", "a::\n", "+\n", "<1> a\n", "\n[pass]\n", "\n[verse]\n", "[,link=javascript:f()]\n", "+a+",
    "\n:subs: none\n", "\n:!a:\n", "{set:a:b}", "{lt}img src=x onerror=f(){gt}", "\n```html\n<img src=x onerror=f()>\n```\n", "//a\n",
    "\n////\n", "\n--\n", "mailto:a@b.c[x,\" onclick=f()]", "icon:a[link=javascript:f()]", "link:++javascript:f()++[x]",
    "\" onclick=f() \"",
];
