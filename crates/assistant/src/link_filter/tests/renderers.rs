//! Checks the output with third-party renderers: texts made of awkward Markdown are filtered, rendered by the renderers
//! of `tests/markdown`, and must contain no unexpected link and no HTML.
//!
//! `$DOCENT_FUZZ_SECONDS` sets the duration (60), `$DOCENT_FUZZ_SEED` the texts (1): with the default seed every run
//! tries the same texts in the same order, so that it fails because of a change and not by chance. Longer runs use
//! other seeds.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::*;

/// Number of texts rendered in one batch.
const BATCH: usize = 64;
/// The destinations that [`judge`] accepts.
const ALLOWED: [&str; 5] = ["/a", "/a#b", "https://rfc.test/1", "/chart.png", "mailto:a@rfc.test"];

#[test]
#[ignore = "needs node and the packages of tests/markdown: cargo xtask test --only markdown"]
fn no_renderer_finds_a_way_out_or_html() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let time = Duration::from_secs(number("DOCENT_FUZZ_SECONDS").unwrap_or(60));
    let seed = number("DOCENT_FUZZ_SEED").unwrap_or(1);
    println!("seed {seed}, for {} s", time.as_secs());
    let mut readers = Renderers::start();
    let raw: Vec<String> = WAYS_OUT.iter().map(|text| (*text).to_owned()).collect();
    assert!(readers.faults(&raw, &[]).len() > WAYS_OUT.len() / 2, "the readers see what is not filtered");
    let (mut dice, began, mut tried) = (RandomNumbers(seed), Instant::now(), 0_u64);
    while began.elapsed() < time {
        let texts: Vec<Vec<&str>> = (0..BATCH).map(|_| pieces(&mut dice)).collect();
        for text in &texts {
            let text = text.concat();
            assert_eq!(piecewise(&text).concat(), once(&text), "it depends on how it is cut: {text:?}, seed {seed}");
        }
        tried += BATCH as u64;
        let shown: Vec<String> = texts.iter().flat_map(|text| shown_as(&text.concat())).collect();
        let Some(fault) = readers.faults_of_renderings(&shown).into_iter().next() else { continue };
        let (text, fault) = shrunk(texts[number_of(&fault) / RENDERINGS].clone(), fault, &mut readers);
        let out = &shown_as(&text)[number_of(&fault) % RENDERINGS];
        let (reader, what, html) = (&fault["reader"], &fault["fault"], &fault["html"]);
        panic!(
            "{reader} reads {what}\n  seed {seed}, after {tried} texts\n  text {text:?}\n  out  {out:?}\n  html {html}"
        );
    }
    println!("{tried} texts, each shown whole, in part and as two: nothing found");
}

/// Renderings of each text: complete, cut in the middle, and after another text of the same reply.
const RENDERINGS: usize = 3;

fn shown_as(text: &str) -> [String; RENDERINGS] {
    let parts = piecewise(text);
    let half = parts[..parts.len() / 2].concat();
    let cut = text.floor_char_boundary(text.len() / 2);
    let mut filter = LinkFilter::new();
    let mut both = String::new();
    for text in [&text[..cut], &text[cut..]] {
        both.push_str(&filter.push(text.to_owned(), &judge));
        both.push_str(&filter.finish(&judge));
    }
    [parts.concat(), half, both]
}

fn number_of(fault: &Value) -> usize {
    usize::try_from(fault["text"].as_u64().expect("the number of a text")).expect("a small one")
}

fn once(text: &str) -> String {
    let mut filter = LinkFilter::new();
    filter.push(text.to_owned(), &judge) + &filter.finish(&judge)
}

fn piecewise(text: &str) -> Vec<String> {
    let mut filter = LinkFilter::new();
    let mut parts: Vec<String> = text.chars().map(|c| filter.push(c.to_string(), &judge)).collect();
    parts.push(filter.finish(&judge));
    parts
}

/// Shrinks a text to a minimal one with the same fault.
fn shrunk(mut pieces: Vec<&str>, mut fault: Value, readers: &mut Renderers) -> (String, Value) {
    let mut at = 0;
    while at < pieces.len() {
        let mut fewer = pieces.clone();
        fewer.remove(at);
        match readers.faults_of_renderings(&shown_as(&fewer.concat())).into_iter().next() {
            Some(found) => (pieces, fault) = (fewer, found),
            None => at += 1,
        }
    }
    (pieces.concat(), fault)
}

/// The renderers, in one node process.
struct Renderers {
    child: Child,
    asked: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Renderers {
    fn start() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/markdown");
        let node = std::env::var_os("DOCENT_NODE").unwrap_or_else(|| "node".into());
        assert!(std::env::var_os("DOCENT_PYTHON").is_some(), "a python with tests/markdown/requirements.txt");
        let mut command = Command::new(node);
        command.arg("readers.mjs").current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("start node");
        let asked = child.stdin.take().expect("stdin is a pipe");
        let answers = BufReader::new(child.stdout.take().expect("stdout is a pipe")).lines();
        Self { child, asked, answers }
    }

    /// The faults in texts that [`shown_as`] made.
    fn faults_of_renderings(&mut self, texts: &[String]) -> Vec<Value> {
        let parts: Vec<usize> = (0..texts.len()).filter(|number| number % RENDERINGS == 1).collect();
        self.faults(texts, &parts)
    }

    /// `parts` are the numbers of texts that are beginnings.
    fn faults(&mut self, texts: &[String], parts: &[usize]) -> Vec<Value> {
        let request = json!({ "allowed": ALLOWED, "texts": texts, "parts": parts });
        writeln!(self.asked, "{request}").expect("ask the readers");
        let line = self.answers.next().expect("the readers answer").expect("read their answer");
        serde_json::from_str(&line).expect("a list")
    }
}

impl Drop for Renderers {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Pseudo-random numbers from a seed.
struct RandomNumbers(u64);

impl RandomNumbers {
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

fn pieces(dice: &mut RandomNumbers) -> Vec<&'static str> {
    let mut pieces = Vec::new();
    for _ in 0..=dice.below(14) {
        match dice.below(10) {
            0..=2 => pieces.push(dice.one(MARKS)),
            3 | 4 => pieces.push(dice.one(LINES)),
            5 | 6 => pieces.push(dice.one(WAYS_OUT)),
            7 => pieces.push(dice.one(WORDS)),
            8 => pieces.push(dice.one(PARTS)),
            _ => pieces.extend(dice.one(REGRESSIONS).split_inclusive('\n')),
        }
    }
    pieces
}

const WORDS: &[&str] = &[
    "x", "a b", "http", "日本", "é", "1", "evil", "_", "*", "**", "~~", "\u{200b}", "\u{a0}", "\u{3000}", "。",
    "\u{feff}", "$",
];

const MARKS: &[&str] = &[
    "[", "]", "(", ")", "](", "![", "<", ">", "`", "``", "```", "````", "~~~", "~~~~", "~", "\n", "\n\n", "\\", "<!--",
    "-->", "|", "\\|", "\\\\|", "!", "&", ";", ":", "/", "//", ".", "@", "#", "\"", "'", " ", "  ", "\t", "\r\n", "\r",
    "\u{85}", "\u{2028}", "\0", "\u{c}", "\\\n", "  \n", "^", "{", "}", "=", "\\`", "\\[", "\\]", "\\<", "\\\\",
];

const LINES: &[&str] = &[
    "\n",
    "\n- ",
    "\n  ",
    "\n    ",
    "\n\t",
    "\n> ",
    "\n>",
    "\n1. ",
    "\n10) ",
    "\n   ",
    "\n-\t",
    "\n- \t",
    "\n-     ",
    "\n> - ",
    "\n- > ",
    "\n```\n",
    "\n```js\n",
    "\n   ```\n",
    "\n    ```\n",
    "\n~~~\n",
    "\n``` ```\n",
    "\n```~\n",
    "\n```\t\n",
    "\n> ```\n",
    "\n- ```\n",
    "\n1. ```\n",
    "\n      ```\n",
    "\n| a | b |\n|---|---|\n| ",
    "\n|--|\n",
    "\n--|--\n",
    "\n:-:\n",
    "\n---\n",
    "\n===\n",
    "\n# ",
    "\n***\n",
    "\n[x]: ",
    "\n[^1]: ",
    "\n$$\n",
    "\n: ",
    "\n\n    ",
    "\n* * *\n",
    "\n- [ ] ",
    "\n- - - ",
    "\n     - ",
    "\n       ```\n",
    "\n   x ```\n",
    "\n~~~js\n",
    "\n~~~\n```\n",
];

const WAYS_OUT: &[&str] = &[
    "http://evil.test/x",
    "https://evil.com?q=1",
    "HTTPS://EVIL.COM",
    "www.evil.com",
    "WWW.evil.com/x",
    "evil.com",
    "evil.com/x?y",
    "a@evil.com",
    "mailto:a@evil.com",
    "xmpp:a@evil.com/x",
    "ftp://evil.com",
    "//evil.com",
    "javascript:alert(1)",
    "data:text/html,x",
    "[x](http://evil.com)",
    "![x](http://evil.com)",
    "[x](<http://evil.com>)",
    "[x](http://evil.com \"t\")",
    "![x](//evil.com 't')",
    "[x]: http://evil.com",
    "[x]: <http://evil.com>\n  'a\n  b'",
    "[x]",
    "[x][x]",
    "![x]",
    "[x][]",
    "[^1]",
    "[^1]: http://evil.com",
    "<http://evil.com>",
    "<a@evil.com>",
    "<a href=\"http://evil.com\">",
    "</a>",
    "<img src=http://evil.com>",
    "<img\nsrc=//evil.com\n>",
    "<script>",
    "<div>\n",
    "</div>",
    "<b",
    "<x-y z>",
    "<?php ?>",
    "<![CDATA[x]]>",
    "<!DOCTYPE x>",
    "<pre>\n",
    "<style>",
    "<br>",
    "<svg/onload=x>",
    "&#104;ttp://evil.com",
    "http&colon;//evil.com",
    "http&#58;&#47;&#47;evil.com",
    "evil&period;com",
    "a&commat;evil.com",
    "&lt;img src=x&gt;",
    "\\<img src=x onerror=f()>",
    "\\&lt;img src=x&gt;",
    "&amp;lt;img src=x&amp;gt;",
    "{: onclick=f() }",
    "{ onclick=\"f()\" }",
    "\n{: onclick=f() }\n",
    "{#x .y z=1}",
    "http\\://evil.com",
    "http:\\/\\/evil.com",
    "www\\.evil.com",
    "evil\\.com",
    "a\\@evil.com",
    "htt<!-- -->p://evil.com",
    "http:/&#<!-- -->47;evil.com",
    "evil.c<!-- -->om",
    "evil.c[om](/nothing)",
    "ww[w.evil.com](/nothing)",
    "[x](http\\://evil.com)",
    "[x](&#104;ttp://evil.com)",
    "`http://evil.com`",
    "``http://evil.com` ``",
    "`![x](http://evil.com)`",
    "`a|![x](http://evil.com)`",
    "`<img src=x>`",
    "`a|b`",
    "`|`",
    "`[x]: http://evil.com`",
    "`a``](http://evil.com)`",
    "``](http://evil.com)`x``",
    "`b* http://evil.com`",
    "``b~~ ` http://evil.com``",
    "`b_ <img src=x>`",
];

const PARTS: &[&str] = &[
    "[x](/a)",
    "[x](/a#b \"t\")",
    "![x](/chart.png)",
    "<https://rfc.test/1>",
    "https://rfc.test/1",
    "[a|b](/a)",
    "[`a|b`](/a)",
    "[a\nb](/a)",
    "[![x](http://evil.com)](/a)",
    "[x [y](/a) z](/nothing)",
    "[x [y](/nothing) z](/a)",
    "[](/a)",
    "[^x](/a)",
    "[x](https://rfc.test/1)",
    "[http://evil.com](/a)",
    "[<b>](/a)",
    "[\\`](/a)",
    "[`](/a)`",
    "[**x**](/a)",
    "[x](/nothing)",
    "![x](/nothing)",
    "[~~~](/nothing)",
    "[```](/nothing)",
    "[](/nothing)",
    "<!-- x -->",
    "<!---->",
    "**https://rfc.test/1**",
    "日https://rfc.test/1本",
    "[a@rfc.test](mailto:a@rfc.test)",
    "`code`",
    "`` a`b ``",
    "` `",
    "&amp;",
    "&lt;b&gt;",
    "[1. x](/a)",
    "[!](/nothing)",
    "[|---|](/nothing)",
];

/// Texts that revealed faults which have since been fixed.
const REGRESSIONS: &[&str] = &[
    "<div>\n```\n</div>\n\n![x](http://evil.com)\n```\n",
    "| `a | b` |\n|---|---|\n| `x | ![x](http://evil.com)` |\n",
    "`a | ![x](http://evil.com)`|\n--|--\n",
    "-    ```\n     ![x](http://evil.com)\n     ```\n",
    "- \t```\n\t![x](http://evil.com)\n\t```\n",
    "text\n10) ```\n    ![x](http://evil.com)\n    ```\n",
    "1. Do:\n\n   ```\n   ![x](http://evil.com)\n   ```\n2. Then\n",
    "> ```\n> ![x](http://evil.com)\n![x](http://evil.com)\n> ```\n",
    "```\n```js\n![x](http://evil.com)\n```\n![x](http://evil.com)\n",
    "```\n```~\n![x](http://evil.com)\n```\n",
    "~~~ `x`\n![x](http://evil.com)\n~~~\n",
    "```\n    ```\n![x](http://evil.com)\n```\n",
    "[x]:\n  http://evil.com\n  'title'\n\n[x]\n",
    "[^1]: a\n\n    ![x](http://evil.com)\n\n[^1]\n",
    "- a\n\n      ![x](http://evil.com)\n",
    "a `b\n![x](http://evil.com)` c\n",
    "a\n    ```\n![x](http://evil.com)\n    ```\n",
    "<!-- a\n```\n-->\n![x](http://evil.com)\n```\n",
    "- a\n  - ```\n    ![x](http://evil.com)\n    ```\n  b\n- c\n",
    "\t```\n\t![x](http://evil.com)\n\t```\n",
];
