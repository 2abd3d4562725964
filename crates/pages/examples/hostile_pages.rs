//! Reads pages made to be slow and says how long the slow ones took: `hostile_pages [MILLISECONDS [HEADS [KIBIBYTES]]]`
//! ends with an error when one took longer. The second number says how many beginnings are tried before each repetition,
//! the third how large the pages are, which is 1,024 otherwise.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use docent_pages::{Layout, read_file};

const UNITS: &[&str] = &[
    "{",
    "{(",
    "{<a>",
    "<a b={",
    "<a ",
    "{`${",
    "<a>{",
    "export const a = (\n\n",
    "import a\n \n",
    "[",
    "> ",
    "- ",
    "a_",
    "*a",
    "![[](",
    "`",
    "``a",
    "<!--",
    "</a>",
    "<a>",
    "{\"",
    "'",
    "](<",
    "|a",
    "# a\n",
    "[a]: b\n",
    "\\\"",
    "&#",
    "www._",
    "<div>\n",
    "**a *b ",
    "_a __b ",
    "[a](",
    "[a]",
    "[a][",
    "[^a]: ",
    "[^a]",
    "~~~\n",
    "```\n",
    "```a\n",
    "1. ",
    "  - a\n",
    "|-",
    "| a | b |\n|---|---|\n",
    "a|b\n-|-\n",
    "<A>\n",
    "<A x=\"",
    "</",
    "<",
    "{/*",
    "*/",
    "{a}",
    "{'a'}",
    "${",
    "\n\n",
    "a\n",
    "a\\\n",
    "&amp;",
    "&",
    ":::note\n",
    ":::",
    "!!! note\n    ",
    "=== \"a\"\n    ",
    "    !!! a\n",
    "??? b\n",
    "--8<-- \"x.md\"\n",
    "<!--@include: x.md-->\n",
    "<<< x\n",
    "{% include x.md %}\n",
    "<Snippet file=\"x.md\" />",
    "<X/>",
    "<X ",
    "<X>{",
    "{ .a",
    "{: #a }",
    "# a {#b}\n",
    "## a_1\n",
    "a\n===\n",
    "$$",
    "$a",
    "\u{e9}",
    "\u{1f600}",
    "\0",
    "\r",
    "\t",
    ":material-a:",
    "<span>",
    "</span>",
    "<svg ",
    "<style>",
    "<script>",
    "<![CDATA[",
    "<?",
    "<!a",
    "[[toc]]\n",
    "> [!NOTE]\n> ",
    ">",
    "- [ ] ",
    "a  \n",
    "![a](b)",
    "[a](b \"",
    "<http://a>",
    "<a@b>",
    "http://a.b ",
    "\\",
    "(",
    ")",
    "\"",
    "~~",
    "~",
    "^",
    "==",
    "++",
];

const HEADS: &[&str] = &["", "import X from './x.md'\n\n", "---\na: ", "+++\na = ", "[", "> > > ", "- - - ", "<A>"];

fn main() -> ExitCode {
    let number = |at: usize| std::env::args().nth(at).and_then(|number| number.parse::<usize>().ok());
    let limit = number(1).map(|limit| Duration::from_millis(limit as u64));
    let size = number(3).unwrap_or(1024) << 10;
    let mut slow = Vec::new();
    let mut slowest = (Duration::ZERO, String::new());
    let pieces: BTreeMap<String, Vec<u8>> = [("x.md".to_owned(), b"words\n".to_vec())].into();
    let layout = Layout::read(&pieces);
    let heads = number(2).unwrap_or(HEADS.len());
    for head in &HEADS[..heads.min(HEADS.len())] {
        for unit in UNITS {
            let mut text = (*head).to_owned();
            text.push_str(&unit.repeat((size - head.len()) / unit.len()));
            if head.starts_with("---") || head.starts_with("+++") {
                text.push_str(if head.starts_with('-') { "\n---\n" } else { "\n+++\n" });
            }
            for file in ["a.md", "a.mdx", "a.json", "a.yaml"] {
                let text = if file.starts_with("a.m") { text.clone() } else { format!("openapi: {text}") };
                let started = Instant::now();
                let read = read_file(&layout, file, text.as_bytes(), &pieces);
                let took = started.elapsed();
                assert!(!file.starts_with("a.m") || read.pages.len() == 1);
                let what = format!("{file} {head:?} + {unit:?}");
                if took > limit.unwrap_or(Duration::from_millis(100)) {
                    slow.push((took, what.clone()));
                }
                slowest = slowest.max((took, what));
            }
        }
    }
    slow.sort();
    for (took, what) in slow.iter().rev() {
        println!("{took:?} {what}");
    }
    println!("slowest: {:?} {}", slowest.0, slowest.1);
    if limit.is_some() && !slow.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
