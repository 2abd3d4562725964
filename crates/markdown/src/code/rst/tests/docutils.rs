//! Checks pages in which [`code_of`] finds no code against docutils and Sphinx: pages generated from everything awkward
//! in reStructuredText must not produce raw text, a file from elsewhere, or a URL that runs code.
//!
//! `$DOCENT_FUZZ_SECONDS` sets the duration (60 by default), `$DOCENT_FUZZ_SEED` the random seed (1 by default): runs
//! with the same seed try the same pages in the same order.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::code::rst::*;

/// Pages per request to a reader.
const BATCH: usize = 300;
const FILE: &str = "guide/page.rst";

#[test]
#[ignore = "needs Python with Sphinx: cargo xtask test --only markdown"]
fn no_reader_finds_code_where_we_find_none() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let time = Duration::from_secs(number("DOCENT_FUZZ_SECONDS").unwrap_or(60));
    let seed = number("DOCENT_FUZZ_SEED").unwrap_or(1);
    println!("seed {seed}, for {} s", time.as_secs());
    let mut readers = ["docutils", "sphinx"].map(Reader::start);
    let bad: Vec<String> = BAD.iter().map(|text| format!("{text}\n")).collect();
    let seen: usize = readers.iter_mut().map(|reader| reader.faults(&bad).len()).sum();
    assert!(seen > BAD.len(), "the readers see what is not looked through: {seen}");
    for text in &bad {
        assert!(!harmless(text), "{text:?}");
    }
    let (mut dice, began, mut kept, mut tried) = (Dice(seed), Instant::now(), 0, 0);
    while began.elapsed() < time {
        let mut texts = Vec::new();
        while texts.len() < BATCH {
            let text = page(&mut dice);
            if harmless(&text) {
                kept += 1;
                texts.push(text);
            } else if dice.below(20) == 0 {
                texts.push(without_code(&text));
            }
        }
        tried += texts.len();
        for reader in &mut readers {
            reader.ask(&texts);
        }
        for reader in &mut readers {
            let Some((number, _)) = reader.answer().into_iter().next() else { continue };
            let (text, fault) = shrunk(&texts[number], reader);
            panic!("{} finds {fault}\n  seed {seed}, after {tried} pages\n  {text:?}\n{text}", reader.name);
        }
    }
    println!("{tried} pages, {kept} of them without code as they were made: nothing found");
}

fn harmless(text: &str) -> bool {
    code_of(FILE, text.as_bytes()).is_empty()
}

/// A page with its code removed.
fn without_code(text: &str) -> String {
    let mut text = text.to_owned();
    loop {
        text = lines::plain(&text);
        let mut code: Vec<_> = code_of(FILE, text.as_bytes()).into_iter().map(|code| code.span).collect();
        if code.is_empty() {
            return text;
        }
        code.sort_by_key(|span| span.start);
        let mut rest = String::new();
        let mut at = 0;
        for span in code {
            rest.push_str(text.get(at..span.start).unwrap_or_default());
            at = at.max(span.end);
        }
        rest.push_str(&text[at..]);
        text = rest;
    }
}

/// Reduces a page to what still shows the fault.
fn shrunk(text: &str, reader: &mut Reader) -> (String, String) {
    let mut chars: Vec<char> = text.chars().collect();
    let fault = |chars: &[char], reader: &mut Reader| {
        let text: String = chars.iter().collect();
        let found = harmless(&text).then(|| reader.faults(&[text]));
        found.and_then(|found| found.into_iter().next()).map(|(_, fault)| fault)
    };
    let mut shown = fault(&chars, reader).expect("it was found before");
    for size in [40, 12, 4, 1, 1] {
        let mut at = 0;
        while at < chars.len() {
            let mut fewer = chars.clone();
            fewer.drain(at..(at + size).min(chars.len()));
            match fault(&fewer, reader) {
                Some(found) => (chars, shown) = (fewer, found),
                None => at += size,
            }
        }
    }
    (chars.into_iter().collect(), shown)
}

/// A Python process that renders pages.
struct Reader {
    name: &'static str,
    child: Child,
    asked: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Reader {
    fn start(name: &'static str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/markdown");
        let python = std::env::var_os("DOCENT_PYTHON").unwrap_or_else(|| "python3".into());
        let mut command = Command::new(python);
        command.args(["publish.py", name]).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().expect("start python");
        let asked = child.stdin.take().expect("stdin is a pipe");
        let answers = BufReader::new(child.stdout.take().expect("stdout is a pipe")).lines();
        Self { name, child, asked, answers }
    }

    fn faults(&mut self, texts: &[String]) -> Vec<(usize, String)> {
        self.ask(texts);
        self.answer()
    }

    fn ask(&mut self, texts: &[String]) {
        writeln!(self.asked, "{}", json!({ "texts": texts })).expect("ask the reader");
    }

    fn answer(&mut self) -> Vec<(usize, String)> {
        let line = self.answers.next().expect("the reader answers").expect("read its answer");
        let found: Vec<Value> = serde_json::from_str(&line).expect("a list");
        let number = |fault: &Value| fault["text"].as_u64().and_then(|text| usize::try_from(text).ok());
        found.iter().map(|fault| (number(fault).expect("a number"), fault["fault"].to_string())).collect()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A seeded random number generator.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % most as u64).expect("less than a length")
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

/// Blocks that are code without any change.
const BAD: [&str; 41] = [
    ".. raw:: html\n\n   <b>",
    ".. note:: .. raw:: html\n\n      <b>\n\n   x",
    ".. exec::\n\n   x",
    ".. exec:: x",
    ".. include:: ../../../outside.txt",
    ".. include::\n   /outside.txt",
    ".. include:: <../../../../outside.txt>",
    ".. include:: part.rst\n\n.. include:: /srv/outside.txt",
    ".. literalinclude:: ../../outside.txt",
    ".. literalinclude:: part.rst\n   :diff: ../../outside.txt",
    ".. csv-table::\n   :file: ../../../outside.csv",
    ".. csv-table:: :file: /outside.csv",
    ".. csv-table::\n   :*file*: ../../../outside.csv",
    ".. csv-table::\n   :`file`:emphasis:: ../../../outside.csv",
    ".. csv-table::\n   :fi\\le: ../../../outside.csv",
    ".. role:: html(code)\n   words\n\n:html:`<b>`",
    ".. role:: html(code)\n   :class: !\n\n:html:`<b>`",
    ".. role:: html(code)\n     :class: a\n   :language: c\n\n:html:`<b>`",
    "===== ====\na     b\n\n.. role:: html(code)\n\n===== ====\n\n:html:`<b>`",
    ".. csv-table::\n\n   a,\".. r\"aw:: html",
    ".. csv-table::\n   :escape: x\n\n   .. exxec:: a",
    ".. raw:: html\n   :file: ../../../outside.txt",
    ".. |x| exec:: y\n\n|x|",
    ".. |x|\n   exec:: y\n\n|x|",
    ".. |x y| image:: ../../../outside.png\n\n|x y|",
    ":html:`<b>`",
    "`<b>`:html:",
    ".. role:: y(raw)\n   :format: html\n\n:y:`<b>`",
    ".. default-role:: html\n\n`<b>`",
    ".. _x: javascript:f()\n\nx_",
    ".. _x: java\n   script: f()\n\nx_",
    "`x <javascript:f()>`__",
    "x__\n\n__ javascript:f()",
    ".. image:: a.png\n   :target: javascript:f()",
    ".. figure:: ../../../outside.png\n\n   a",
    ".. image:: //outside.png",
    ":download:`../../outside.txt`",
    ":download:`x <javascript://f()>`",
    ".. toctree::\n\n   x <javascript://f()>",
    ".. math:: \\input{x}",
    ":math:`\\href{a}{b}`",
];

const GOOD: [&str; 18] = [
    "Words of a page.",
    ".. image:: a.png\n   :alt: x",
    ".. note:: x",
    ":ref:`x` and :doc:`y`",
    ".. include:: part.rst",
    ".. literalinclude:: a.txt\n   :lines: 1",
    ".. csv-table:: T\n   :header: a, b\n\n   c, d",
    ".. |z| replace:: w",
    ".. role:: z(code)\n\n:z:`f(x)`",
    ".. role:: html(code)\n   :class: x\n   :language: c\n\n:html:`<b>`",
    ".. role:: html\n\n:html:`<b>`",
    ".. _y: https://a/",
    ":download:`a.txt`",
    ".. toctree::\n   :hidden:\n\n   x <page>",
    ".. math:: a^2",
    "Title\n=====",
    "``literal``",
    ".. only:: html",
];

const MARKS: [&str; 44] = [
    " ", "  ", "   ", "\n", "\n\n", "\n   ", "\n ", "\\", "\\ ", "\"", "\"\"", "\t", "\u{b}", "\u{c}", "\u{2028}",
    "\r", "\r\n", "\u{85}", "\u{a0}", "\u{1f}", "\u{1c}", "\u{feff}", ":", "::", "|", "*", "`", "_", "..", ".. ", "- ",
    "<", ">", "(", ".", "/", ",", "../", ":class: x", ":file:", "|x| ", ":: ", "=== ===\n", "\u{4e2d}",
];

/// Text between pieces of markup that may leave their meaning unchanged.
const BETWEEN: [&str; 16] = [
    "\n   ", "\n   ", "\n     ", "\n", " ", "  ", "\\", "\\ ", "\"", "\"\"", "\u{b}", "\u{2028}   ", "\t", "\u{1c}",
    "*", "\u{85}",
];

/// A page of a few blocks, some of its characters changed.
fn page(dice: &mut Dice) -> String {
    let mut lines = Vec::new();
    for _ in 0..[1, 1, 1, 2][dice.below(4)] {
        lines.extend(block(dice, 0));
        if dice.below(5) > 0 {
            lines.push(String::new());
        }
    }
    let mut text = lines.join("\n");
    if dice.below(4) == 0 {
        changed(&mut text, dice);
    }
    text.push('\n');
    text
}

fn changed(text: &mut String, dice: &mut Dice) {
    let at = text.floor_char_boundary(dice.below(text.len() + 1));
    match dice.below(12) {
        // Insert between two pieces of markup.
        6.. => {
            let is_mark = |(_, c): &(usize, char)| " :<>/.|`\n(".contains(*c);
            let marks: Vec<usize> = text.char_indices().filter(is_mark).map(|(at, c)| at + c.len_utf8()).collect();
            let at = if marks.is_empty() { at } else { marks[dice.below(marks.len())] };
            text.insert_str(at, dice.one(&BETWEEN));
        }
        0 => {
            let end = text[at..].chars().next().map_or(at, |c| at + c.len_utf8());
            text.replace_range(at..end, "");
        }
        1 => {
            let end = text[at..].chars().next().map_or(at, |c| at + c.len_utf8());
            let other = text[at..end].to_uppercase();
            text.replace_range(at..end, &other);
        }
        _ => text.insert_str(at, dice.one(&MARKS)),
    }
}

/// The lines of a block, with other blocks nested in it.
fn block(dice: &mut Dice, depth: usize) -> Vec<String> {
    if depth > 2 || dice.below(2) == 0 {
        let mut text = if dice.below(5) == 0 { dice.one(&GOOD) } else { dice.one(&BAD) }.to_owned();
        for _ in 0..[0, 1, 1, 1, 1, 2][dice.below(6)] {
            changed(&mut text, dice);
        }
        return text.split('\n').map(str::to_owned).collect();
    }
    let inner = block(dice, depth + 1);
    match dice.below(17) {
        0 => behind("- ", &inner),
        1 => behind("1. ", &inner),
        2 => behind(":f: ", &inner),
        3 => behind(".. [1] ", &inner),
        4 => behind("-a  ", &inner),
        5 => behind(
            &format!(".. {}:: ", dice.one(&["note", "csv-table", "image", "math", "include", "only", "code"])),
            &inner,
        ),
        6 => {
            let head = dice
                .one(&[".. note::", ".. csv-table::", ".. list-table::", ".. parsed-literal::", "::", "term", ".."]);
            let blank = (dice.below(4) > 0).then(String::new);
            std::iter::once(head.to_owned()).chain(blank).chain(indented(3, &inner)).collect()
        }
        7 => indented(dice.below(5), &inner),
        8 => drawn(&inner, &["y".to_owned()], dice),
        9 => drawn(&["y".to_owned()], &inner, dice),
        10 => columns(&inner, dice),
        11 => quoted(&inner, dice),
        12 => {
            let list = behind("* - ", &inner).into_iter().chain(["  - x".to_owned()]).collect::<Vec<_>>();
            [".. list-table::".to_owned(), String::new()].into_iter().chain(indented(3, &list)).collect()
        }
        13 => behind("| ", &inner),
        14 => inner.iter().cloned().chain(block(dice, depth + 1)).collect(),
        15 => behind(".. |x| replace:: ", &inner),
        _ => {
            let both = block(dice, depth + 1);
            inner.into_iter().chain([String::new()]).chain(both).collect()
        }
    }
}

fn indented(by: usize, lines: &[String]) -> Vec<String> {
    lines.iter().map(|line| format!("{}{line}", " ".repeat(by))).collect()
}

fn behind(mark: &str, lines: &[String]) -> Vec<String> {
    let mut all = indented(mark.len(), lines);
    all[0].replace_range(..mark.len(), mark);
    all
}

fn width(lines: &[String]) -> usize {
    lines.iter().map(|line| line.chars().count()).max().unwrap_or(0)
}

/// A grid table with two cells.
fn drawn(left: &[String], right: &[String], dice: &mut Dice) -> Vec<String> {
    let gap = dice.below(2);
    let [first, second] = [left, right].map(|lines| width(lines) + gap);
    let border = format!("+{}+{}+", "-".repeat(first.max(1)), "-".repeat(second.max(1)));
    let mut all = vec![border.clone()];
    let empty = String::new();
    for row in 0..left.len().max(right.len()) {
        let [a, b] = [left, right].map(|lines| lines.get(row).unwrap_or(&empty));
        let space = " ".repeat(gap);
        all.push(format!("|{space}{a:0$}|{space}{b:1$}|", first.max(1) - gap, second.max(1) - gap));
    }
    all.push(border);
    all
}

/// A simple table with `inner` in its last column.
fn columns(inner: &[String], dice: &mut Dice) -> Vec<String> {
    let border = "===  ===  =====".to_owned();
    let mut all = vec![border.clone(), "a    b    c".to_owned()];
    for (row, line) in inner.iter().enumerate() {
        let start = if row == 0 && dice.below(2) == 0 { "a" } else { "" };
        let middle = if dice.below(3) == 0 { "x" } else { "" };
        all.push(format!("{start:5}{middle:5}{line}"));
    }
    all.push(border);
    all
}

/// A CSV table with `inner` in one of its values.
fn quoted(inner: &[String], dice: &mut Dice) -> Vec<String> {
    let mut cell = inner.join("\n").replace('"', "\"\"");
    if dice.below(2) == 0 {
        cell = format!("\"{cell}\"");
    }
    let cell = format!("a,{cell}");
    let lines: Vec<String> = cell.split('\n').map(str::to_owned).collect();
    let options =
        if dice.below(6) == 0 { vec![format!("   :{}: x", dice.one(&["delim", "quote", "escape"]))] } else { vec![] };
    std::iter::once(".. csv-table::".to_owned())
        .chain(options)
        .chain([String::new()])
        .chain(indented(3, &lines))
        .collect()
}
