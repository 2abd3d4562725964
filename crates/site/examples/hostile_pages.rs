//! Reads pages made to be slow and says how long the slow ones took: `hostile_pages [MILLISECONDS [HEADS [KIBIBYTES [RANDOM [NAME]]]]]`
//! ends with an error when one took longer. The second number says how many beginnings are tried before each repetition,
//! the third how large the pages are, which is 1,024 otherwise, the fourth how many units are made at random besides; only those
//! are read whose names have the fifth in them.
//!
//! Time is what the thread had of a processor, where the system tells that, beside what a clock says: other work on the
//! machine is in the one and not in the other.

#[path = "hostile_pages/crafted.rs"]
mod crafted;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use docent_markdown::parse;
use docent_site::{Layout, Site, read_file};

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
    "a\r[^b]: ",
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
    "*_*_",
    "**_**_",
    "*a_ ",
    "_*a* ",
    "a**b",
    "a__b ",
    "*a **a ",
    "&CounterClockwiseContourIntegral;",
    "&#x1F600;",
    "&#99999999;",
    "# a\n## b\n",
    "# a\nb\n",
    "# a\n\n# a 1\n\n",
    "# a {#a}\nb\n",
    "###### a\n",
    "# \n",
    "<Tab title=\"a\">\n",
    "<Tab title=\"a\">a</Tab>",
    "<A b={`",
    "<A b={{",
    "<A {...b} ",
    "<!-- a -->",
    "<!-- ",
    "<a href=\"b\">",
    "<img src=a>",
    "<p id=a>\n\n",
    "<a\n",
    "<pre>\n",
    "<script>a</script>",
    "<Script>a</Script>",
    "<br/>",
    "[a](<b> 'c')",
    "[a](b(",
    "[![",
    "[[a]",
    "![a]",
    "[\\]",
    "[a]: <b> 'c\n",
    "[a]:\n",
    "[^a]: b\n\n    c\n",
    "> a\n",
    "> > a\n",
    "> - ",
    "- > ",
    "-\ta\n",
    "1) a\n",
    "* a\n\n",
    "    a\n",
    "\ta\n\n",
    "|\n|-\n",
    "|a|\n|-|\n|a|\n",
    "||",
    "a|",
    "\\|",
    "a\n-\n",
    "=\n",
    "***\n",
    "\r\n",
    "\u{2028}",
    "\u{a0}",
    "\u{6f22}",
    "{/* a */}",
    "{\"a\"}\n",
    "{\n",
    "}",
    "export default {}\n\n",
    "import A from \"a\"\n\n",
    "import A from './x.md'\n",
    "```js [a.js]\n```\n",
    ":::a[b]{c}\n",
    "=== \"a\"\n\n",
    "!!! a\n\n    b\n",
    "a: b\n",
    "- a: b\n",
    "a: &a [*a]\n",
    "? a\n",
    "a:\n  ",
    "\"a\": ",
    "[a]\n",
    "[[a]]\n",
    "a.b.c=1\n",
    "\"\"\"",
];

const HEADS: &[&str] = &["", "import X from './x.md'\n\n", "---\na: ", "+++\na = ", "[", "> > > ", "- - - ", "<A>"];

/// What units made at random are made of.
const MARKS: &[&str] = &[
    "a", "b ", " ", "  ", "    ", "\n", "\n\n", "*", "**", "_", "__", "~", "~~", "`", "``", "```", "[", "]", "(", ")",
    "](", "![", "[^", "]:", "<", ">", "</", "/>", "<a", "<A", "<!--", "-->", "{", "}", "\"", "'", "=", "-", "+", "1.",
    "#", "##", "> ", "- ", "|", "|-", ":", ":::", "!", "!!! a", "\\", "&", "&#", ";", "$", "^", "\t", "\r", "\0",
    "\u{e9}", "import ", "export ", "http://", "www.", "@", "<?", "<![CDATA[", "<script>", "</script>", "</a>", "//",
    "/*", "*/",
];

fn main() -> ExitCode {
    let number = |at: usize| std::env::args().nth(at).and_then(|number| number.parse::<usize>().ok());
    let limit = number(1).map(|limit| Duration::from_millis(limit as u64));
    let size = number(3).unwrap_or(1024) << 10;
    let only = std::env::args().nth(5).unwrap_or_default();
    let mut times = Times { limit: limit.unwrap_or(Duration::from_millis(100)), only, ..Times::default() };
    repeated(&mut times, number(2).unwrap_or(HEADS.len()), size);
    for case in crafted::cases(size) {
        read_whole(&mut times, &case);
    }
    at_random(&mut times, number(4).unwrap_or(0), size);
    times.print();
    if limit.is_some() && times.slow > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Every unit over and over, behind every beginning, as every kind of file.
fn repeated(times: &mut Times, heads: usize, size: usize) {
    let pieces: BTreeMap<String, Vec<u8>> = [("x.md".to_owned(), b"words\n".to_vec())].into();
    let layout = Layout::read(&pieces);
    for head in HEADS.iter().take(heads) {
        for unit in UNITS {
            let mut text = (*head).to_owned();
            text.push_str(&unit.repeat((size - head.len()) / unit.len()));
            if head.starts_with("---") || head.starts_with("+++") {
                text.push_str(if head.starts_with('-') { "\n---\n" } else { "\n+++\n" });
            }
            for file in ["a.md", "a.mdx", "a.json", "a.yaml"] {
                let text = if file.starts_with("a.m") { text.clone() } else { format!("openapi: {text}") };
                times.take(format!("{file} {head:?} + {unit:?}"), || {
                    let read = read_file(&layout, file, text.as_bytes(), &pieces);
                    assert!(!file.starts_with("a.m") || read.pages.len() == 1);
                });
            }
        }
    }
}

/// Units of a few marks each, the same at every run.
fn at_random(times: &mut Times, count: usize, size: usize) {
    let nothing = BTreeMap::new();
    let layout = Layout::read(&nothing);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |most: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap_or(0) % most
    };
    for _ in 0..count {
        let unit: String = (0..=below(6)).map(|_| MARKS[below(MARKS.len())]).collect();
        let head = if below(3) == 0 { MARKS[below(MARKS.len())].repeat(below(3)) } else { String::new() };
        let text = head.clone() + &unit.repeat(size / unit.len());
        for file in ["a.md", "a.mdx"] {
            times.take(format!("{file} {head:?} + {unit:?}"), || {
                read_file(&layout, file, text.as_bytes(), &nothing);
            });
        }
    }
}

/// Reads a file with all there is around it, for readers and for tools.
fn read_whole(times: &mut Times, case: &crafted::Case) {
    let bytes = &case.tree[case.file];
    let mut layout = Layout::plain();
    times.take(format!("layout of {}", case.name), || layout = Layout::read(&case.tree));
    times.take(case.name.clone(), || drop(read_file(&layout, case.file, bytes, &case.tree)));
    if case.file == "docs.json" {
        times.take(format!("site of {}", case.name), || drop(Site::read(&case.tree)));
    } else if case.file.starts_with("a.m") {
        times.take(format!("{} as a tool reads it", case.name), || drop(parse(case.file, bytes)));
    }
}

/// What took how long.
#[derive(Default)]
struct Times {
    limit: Duration,
    only: String,
    read: usize,
    slow: usize,
    slowest: (Taken, String),
}

/// First what counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Taken {
    cpu: Duration,
    wall: Duration,
}

impl Times {
    fn take(&mut self, what: String, read: impl FnOnce()) {
        if !what.contains(&self.only) {
            return;
        }
        let (began, cpu) = (Instant::now(), cpu_time());
        read();
        let wall = began.elapsed();
        let cpu = cpu.zip(cpu_time()).map_or(wall, |(before, after)| after - before);
        let taken = Taken { cpu, wall };
        self.read += 1;
        if taken.cpu > self.limit {
            self.slow += 1;
            println!("{taken}: {what}");
        }
        if taken > self.slowest.0 {
            self.slowest = (taken, what);
        }
    }

    fn print(&self) {
        let (taken, what) = &self.slowest;
        println!("{} read, {} of them slow; the slowest: {taken}: {what}", self.read, self.slow);
    }
}

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1?} of a processor, {:.1?} by the clock", self.cpu, self.wall)
    }
}

/// How long this thread has run, to some milliseconds; `None` where the system does not tell.
fn cpu_time() -> Option<Duration> {
    let told = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}
