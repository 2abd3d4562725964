//! Files that are more than one thing over and over.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A file to read, and the tree it is in.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) file: &'static str,
    pub(crate) tree: BTreeMap<String, Vec<u8>>,
}

/// All of them, each about `size` bytes large.
pub(crate) fn cases(size: usize) -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, text) in pages(size) {
        for file in ["a.md", "a.mdx"] {
            let tree = [(file.to_owned(), text.clone().into_bytes())].into();
            cases.push(Case { name: format!("{file} {name}"), file, tree });
        }
    }
    cases.extend(pieces(size));
    cases.extend(sites(size));
    cases
}

/// Lines that differ by their number, as many as fit.
fn numbered(size: usize, line: impl Fn(usize) -> String) -> String {
    let mut out = String::with_capacity(size);
    let mut number = 0;
    while out.len() < size {
        out.push_str(&line(number));
        number += 1;
    }
    out
}

fn pages(size: usize) -> Vec<(&'static str, String)> {
    let half = size / 2;
    let nested = |open: &str, close: &str| {
        let depth = size / (open.len() + close.len());
        format!("{}a{}", open.repeat(depth), close.repeat(depth))
    };
    // Each line further in than the last.
    let stairs = |mark: &str, step: usize| {
        let mut out = String::new();
        let mut depth = 0;
        while out.len() < size {
            let _ = writeln!(out, "{}{mark}", " ".repeat(depth * step));
            depth += 1;
        }
        out
    };
    let columns = half / 4;
    let header = format!("{}|\n{}|\n", "|a".repeat(columns), "|-".repeat(columns));
    let long = "long ".repeat(size / 50);
    let parents: String = (1..=5).fold(String::new(), |text, level| format!("{text}{} {long}\n\n", "#".repeat(level)));
    let laughs = (1..8).fold("---\na0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned(), |text, n| {
        let alias = format!("*a{},", n - 1);
        format!("{text}a{n}: &a{n} [{}]\n", alias.repeat(9).trim_end_matches(','))
    });
    vec![
        ("many columns, many rows", format!("{header}{}", "a\n".repeat(half / 2))),
        ("many columns, full rows", format!("{header}{}\n", "|a".repeat(half / 2))),
        (
            "some columns, many rows",
            format!("{}|\n{}|\n{}", "|a".repeat(1_000), "|-".repeat(1_000), "a\n".repeat(half / 2)),
        ),
        ("headings with numbers", numbered(size, |n| format!("# a{n}\n"))),
        ("headings that end in numbers", numbered(size, |n| format!("# a\n# a {n}\n"))),
        ("headings that end in the next number", numbered(size, |n| format!("# a {n}\n# a\n"))),
        ("sections below long headings", format!("{parents}{}", "###### a\n\nb\n\n".repeat(half / 14))),
        ("headings of one letter each", numbered(size, |n| format!("#{} {}\n", "#".repeat(n % 6), n % 7))),
        (
            "definitions and uses",
            numbered(half, |n| format!("[a{n}]: b{n}\n")) + &numbered(half, |n| format!("[a{n}] ")),
        ),
        ("uses without definitions", numbered(size, |n| format!("[a{n}][b{n}] "))),
        ("one definition, many uses", format!("[a]: {}\n\n{}", "b".repeat(half), "[a] ".repeat(half / 4))),
        (
            "one definition with a title, many uses",
            format!("[a]: b \"{}\"\n\n{}", "c".repeat(half), "[a] ".repeat(half / 4)),
        ),
        ("one long label", format!("[{0}]: b\n\n{1}", "a".repeat(900), "[a]".repeat(half / 3))),
        ("one empty definition, many uses", format!("[a]: {}\n\n{}", "b".repeat(1_000), "[a] ".repeat(size / 4))),
        (
            "footnotes and uses",
            numbered(half, |n| format!("[^a{n}]: b\n\n")) + &numbered(half, |n| format!("[^a{n}] ")),
        ),
        ("footnotes in footnotes", numbered(size, |n| format!("[^a{n}]: [^a{}]\n\n", n + 1))),
        ("nested brackets", nested("[", "]")),
        ("nested links", nested("[", "](b)")),
        ("nested images", nested("![", "](b)")),
        ("nested emphasis", nested("*a ", " a*")),
        ("nested strong", nested("**a ", " a**")),
        ("nested quotes", nested("> ", "")),
        ("nested elements", nested("<div>", "</div>")),
        ("nested components", nested("<A>", "</A>")),
        ("nested components on lines", nested("<A>\n", "</A>\n")),
        ("nested components with titles", nested("<Tab title=\"a\">\n", "</Tab>\n")),
        ("nested braces", nested("{", "}")),
        ("nested parentheses in a link", format!("[a]({})", nested("(", ")"))),
        ("ever longer code marks", numbered(size, |n| format!("{} a ", "`".repeat(n + 1)))),
        ("ever longer fences", numbered(size, |n| format!("{}\n", "`".repeat(n + 3)))),
        ("ever shorter code marks", {
            let mut text = String::new();
            for n in (1..1_400).rev() {
                text.push_str(&"`".repeat(n));
                text.push(' ');
            }
            text
        }),
        ("ever longer stars", numbered(size, |n| format!("{}a ", "*".repeat(n + 1)))),
        ("stars of all lengths", numbered(size, |n| format!("{}a{} ", "*".repeat(n % 7 + 1), "_".repeat(n % 5 + 1)))),
        ("stairs of lists", stairs("- a", 2)),
        ("stairs of quotes", numbered(size, |n| format!("{}a\n", "> ".repeat(n)))),
        ("stairs of admonitions", stairs("!!! note", 4)),
        ("stairs of tabs", stairs("=== \"a\"", 4)),
        ("stairs of components", stairs("<A>", 2)),
        ("stairs of numbers", stairs("1. a", 3)),
        ("admonitions in each other", numbered(size, |n| format!("{}!!! note\n", "    ".repeat(n % 40)))),
        ("containers in each other", format!("{}{}", ":::note\n".repeat(half / 8), ":::\n".repeat(half / 4))),
        ("lists of empty lines", "- a\n\n\n".repeat(size / 6)),
        ("one long line", "word ".repeat(size / 5)),
        ("one long word", "w".repeat(size)),
        ("one long heading", format!("# {}", "word ".repeat(size / 5))),
        ("one long id", format!("# a {{#{}}}", "a".repeat(size))),
        ("one long attribute", format!("<A b=\"{}\"/>", "a".repeat(size))),
        ("many attributes", format!("<A {}/>", "id=\"a\" ".repeat(9_000)).repeat(size / 64_000)),
        ("many attributes of links", format!("<A {}/>\n", "href=\"a\" ".repeat(7_000)).repeat(size / 64_000)),
        ("many attributes that are read", format!("<Tab {}/>\n", "title=\"a\" ".repeat(6_000)).repeat(size / 64_000)),
        ("long tags that do not end", format!("<A {}\n\n", "a ".repeat(3_000)).repeat(size / 6_000)),
        ("long expressions that do not end", format!("{{{}\n\n", "a ".repeat(3_000)).repeat(size / 6_000)),
        ("a tag of many expressions", format!("<A {}/>", "a={1} ".repeat(10_000)).repeat(size / 60_000)),
        ("a link of many lines", format!("[{}](b)", "a\n".repeat(half))),
        ("a cell of many marks", format!("|a|\n|-|\n|{}|\n", "*_`".repeat(size / 3))),
        ("laughing aliases", format!("{laughs}---\n")),
        ("many aliases", format!("---\na: &a [{}]\nb: [{}]\n---\n", "x,".repeat(1_000), "*a,".repeat(half / 3))),
        ("many fields", format!("---\n{}---\n", numbered(size, |n| format!("a{n}: b\n")))),
        ("many items", format!("---\na:\n{}---\n", "  - b\n".repeat(size / 6))),
        ("many tags", format!("---\ntags: [{}]\n---\n", "b,".repeat(half))),
        ("a deep field", format!("---\n{}---\n", stairs("a:", 1))),
        ("many fields that are no YAML", format!("---\n{}---\n", "a: b: c\n".repeat(size / 8))),
        ("one long field", format!("---\ntitle: {}\n---\n# a\n", "word ".repeat(size / 5))),
        ("many fields of TOML", format!("+++\n{}+++\n", numbered(size, |n| format!("a{n} = 1\n")))),
        ("many tables of TOML", format!("+++\n{}+++\n", numbered(size, |n| format!("[a.b{n}]\n")))),
        ("many items of TOML", format!("+++\n{}+++\n", "[[a]]\n".repeat(size / 6))),
        ("dots of TOML", format!("+++\n{}a = 1\n+++\n", "a.".repeat(half))),
        ("many fields of JSON", format!(";;;\n{}\"a\": 1\n;;;\n", numbered(size, |n| format!("\"a{n}\": 1,\n")))),
    ]
}

fn tree(files: &[(&str, String)]) -> BTreeMap<String, Vec<u8>> {
    files.iter().map(|(path, text)| ((*path).to_owned(), text.clone().into_bytes())).collect()
}

/// Pages that use other files.
fn pieces(size: usize) -> Vec<Case> {
    let case = |name: &str, files: &[(&str, String)]| {
        let file = if files[0].0 == "a.md" { "a.md" } else { "a.mdx" };
        Case { name: format!("{file} {name}"), file, tree: tree(files) }
    };
    let scissors = |file: &str| format!("--8<-- \"{file}\"\n");
    let headings = "# a\n".repeat(size / 4);
    let chain: Vec<(String, String)> = (0..10)
        .map(|n| (format!("{n}.md"), format!("words {n}\n\n{}", scissors(&format!("{}.md", n + 1)).repeat(30))))
        .collect();
    let mut fan: Vec<(&str, String)> = vec![("a.md", scissors("0.md").repeat(30))];
    fan.extend(chain.iter().map(|(path, text)| (path.as_str(), text.clone())));
    vec![
        case("a page in itself", &[("a.md", scissors("a.md").repeat(size / 15))]),
        case(
            "a large piece over and over",
            &[("a.md", scissors("x.md").repeat(size / 15)), ("x.md", "word ".repeat(size / 5))],
        ),
        case(
            "a small piece over and over",
            &[("a.md", scissors("x.md").repeat(size / 15)), ("x.md", "words\n".to_owned())],
        ),
        case("parts of a large piece", &[("a.md", scissors("x.md:b").repeat(size / 17)), ("x.md", headings.clone())]),
        case(
            "lines of a large piece",
            &[("a.md", scissors("x.md:99999:99999").repeat(size / 27)), ("x.md", headings.clone())],
        ),
        case(
            "many ranges of lines",
            &[
                ("a.md", scissors(&format!("x.md:1{}", ",1:99999".repeat(1_000))).repeat(size / 8_000)),
                ("x.md", headings),
            ],
        ),
        case("pieces that are not there", &[("a.md", numbered(size, |n| scissors(&format!("x{n}.md"))))]),
        case("pieces that fan out", &fan),
        case(
            "comments for pieces",
            &[("a.md", "<!--@include: x.md-->\n".repeat(size / 22)), ("x.md", "word ".repeat(size / 5))],
        ),
        case(
            "includes of Liquid",
            &[("a.md", "{% include x.md %}\n".repeat(size / 19)), ("x.md", "word ".repeat(size / 5))],
        ),
        case("code over and over", &[("a.md", "<<< x.js\n".repeat(size / 9)), ("x.js", "word ".repeat(size / 5))]),
        case(
            "code of many regions",
            &[
                ("a.md", "<<< x.js#b\n".repeat(size / 11)),
                ("x.js", "// #region a\n// #endregion a\n".repeat(size / 30)),
            ],
        ),
        case(
            "snippets on one line",
            &[("a.mdx", "<Snippet file=\"x.mdx\" />".repeat(size / 24)), ("snippets/x.mdx", "word ".repeat(800))],
        ),
        case(
            "snippets that grow",
            &[
                (
                    "a.mdx",
                    format!("<Snippet file=\"x.mdx\" a=\"{}\" />\n", "word ".repeat(12_000)).repeat(size / 60_000),
                ),
                ("snippets/x.mdx", "{a} ".repeat(size / 40)),
            ],
        ),
        case(
            "imports over and over",
            &[
                ("a.mdx", format!("{}\n{}", "import X from './x.mdx'\n".repeat(size / 48), "<X/>".repeat(size / 8))),
                ("x.mdx", "words".to_owned()),
            ],
        ),
        case(
            "imports of many names",
            &[
                (
                    "a.mdx",
                    numbered(size / 2, |n| format!("import X{n} from './x.mdx'\n"))
                        + "\n\n"
                        + &numbered(size / 2, |n| format!("<X{n}/>\n")),
                ),
                ("x.mdx", "words".to_owned()),
            ],
        ),
    ]
}

/// Descriptions of APIs and navigations.
fn sites(size: usize) -> Vec<Case> {
    let api = |name: &str, inside: String| Case {
        name: format!("openapi.json {name}"),
        file: "openapi.json",
        tree: tree(&[("openapi.json", format!("{{\"openapi\": \"3.1.0\", {inside}}}")), ("a.md", "words".to_owned())]),
    };
    let nav = |name: &str, navigation: String| Case {
        name: format!("docs.json {name}"),
        file: "docs.json",
        tree: tree(&[("docs.json", format!("{{\"navigation\": {navigation}}}")), ("a.md", "words".to_owned())]),
    };
    let list = |count: usize, item: &str| vec![item; count].join(",");
    let operations = |size: usize, operation: &str| {
        let paths = numbered(size, |n| format!("\"/a{n}\": {{\"get\": {operation}}},"));
        format!("\"paths\": {{{}}}", paths.trim_end_matches(','))
    };
    let body = "{\"requestBody\": {\"content\": {\"j\": {\"schema\": {\"$ref\": \"#/x/a0\"}}}}}";
    let doubling: String = (0..30).fold(String::new(), |text, n| {
        let next = format!("{{\"$ref\": \"#/x/a{}\"}}", n + 1);
        format!("{text}\"a{n}\": {{\"allOf\": [{}], \"oneOf\": [{0}]}},", list(20, &next))
    });
    let fields: String = (0..400).fold(String::new(), |text, n| {
        format!("{text}\"f{n}\": {{\"type\": \"string\", \"description\": \"{}\"}},", "word ".repeat(200))
    });
    let fields = fields.trim_end_matches(',');
    let parameter = "{\"$ref\": \"#/x/p\"}";
    let about = "word ".repeat(size / 20);
    vec![
        api("many operations", operations(size, "{}")),
        api("operations of one name", operations(size, "{\"summary\": \"a\"}")),
        api("operations of one tag", operations(size, "{\"tags\": [\"a\"], \"operationId\": \"a\"}")),
        api("references that fan out", format!("{}, \"x\": {{{doubling}\"a30\": {{}}}}", operations(20_000, body))),
        api(
            "a reference to itself",
            format!(
                "{}, \"x\": {{\"a0\": {{\"properties\": {{\"a\": {{\"$ref\": \"#/x/a0\"}}}}}}}}",
                operations(size, body)
            ),
        ),
        api(
            "a reference to nothing but itself",
            format!("{}, \"x\": {{\"a0\": {{\"$ref\": \"#/x/a0\"}}}}", operations(size, body)),
        ),
        api(
            "a large schema over and over",
            format!("{}, \"x\": {{\"a0\": {{\"properties\": {{{fields}}}}}}}", operations(size / 2, body)),
        ),
        api(
            "a long description over and over",
            format!(
                "{}, \"x\": {{\"a0\": {{\"type\": \"string\", \"description\": \"{about}\"}}}}",
                operations(size / 2, body)
            ),
        ),
        api(
            "many parameters of one path",
            format!(
                "\"paths\": {{\"/a\": {{\"parameters\": [{0}], \"get\": {{\"parameters\": [{0}]}}, \"put\": {{\"parameters\": [{0}]}}}}}}, \"x\": {{\"p\": {{\"name\": \"p\", \"in\": \"query\", \"description\": \"{about}\"}}}}",
                list(size / 60, parameter)
            ),
        ),
        api(
            "many different parameters",
            format!(
                "\"paths\": {{\"/a\": {{\"parameters\": [{}], \"get\": {{\"parameters\": [{}]}}}}}}",
                numbered(size / 2, |n| format!("{{\"name\": \"a{n}\", \"in\": \"query\"}},")).trim_end_matches(','),
                numbered(size / 2, |n| format!("{{\"name\": \"b{n}\", \"in\": \"query\"}},")).trim_end_matches(',')
            ),
        ),
        api(
            "a long enumeration over and over",
            format!(
                "{}, \"x\": {{\"a0\": {{\"type\": \"string\", \"enum\": [{}]}}}}",
                operations(size / 2, body),
                list(40, &format!("\"{}\"", "a".repeat(5_000)))
            ),
        ),
        api(
            "choices of choices",
            format!("{}, \"x\": {{\"a0\": {}}}", operations(size / 2, body), {
                let mut schema = "{\"type\": \"string\"}".to_owned();
                for _ in 0..3 {
                    schema = format!("{{\"oneOf\": [{}]}}", list(20, &schema));
                }
                schema
            }),
        ),
        api(
            "many answers",
            format!(
                "\"paths\": {{\"/a\": {{\"get\": {{\"responses\": {{{}}}}}}}}}",
                numbered(size, |n| format!("\"{n}\": {{\"description\": \"a\"}},")).trim_end_matches(',')
            ),
        ),
        api("deep values", format!("\"paths\": {{}}, \"x\": {}{}", "[".repeat(size / 2), "]".repeat(size / 2))),
        nav("deep", format!("{}{}", "{\"pages\": [".repeat(size / 14), "]}".repeat(size / 14))),
        nav("many pages", format!("[{}]", numbered(size, |n| format!("\"a{n}\",")).trim_end_matches(','))),
        nav("one page over and over", format!("[{}]", list(size / 4, "\"a\""))),
        nav("long groups of many pages", {
            let open = format!("{{\"group\": \"{}\", \"pages\": [", "word ".repeat(size / 200)).repeat(25);
            format!("{open}{}{}", numbered(size / 2, |n| format!("\"a{n}\",")).trim_end_matches(','), "]}".repeat(25))
        }),
        nav("a long version and language of many pages", {
            let name = "v".repeat(size / 4);
            let pages = numbered(size / 2, |n| format!("\"a{n}\","));
            format!(
                "{{\"version\": \"{name}\", \"language\": \"{name}\", \"pages\": [{}]}}",
                pages.trim_end_matches(',')
            )
        }),
        nav("a long folder of many operations", {
            let name = "a".repeat(size / 4);
            let pages = numbered(size / 2, |n| format!("\"GET /a{n}\","));
            let from = format!("{{\"source\": \"{name}\", \"directory\": \"{name}\"}}");
            format!("{{\"openapi\": {from}, \"pages\": [{}]}}", pages.trim_end_matches(','))
        }),
        nav("many operations", format!("[{}]", numbered(size, |n| format!("\"GET /a{n}\",")).trim_end_matches(','))),
        Case {
            name: "openapi.json operations that the navigation names".to_owned(),
            file: "openapi.json",
            tree: tree(&[
                (
                    "docs.json",
                    format!(
                        "{{\"navigation\": [{}]}}",
                        numbered(size / 2, |n| format!("\"GET /b{n}\",")).trim_end_matches(',')
                    ),
                ),
                ("openapi.json", format!("{{\"openapi\": \"3.1.0\", {}}}", operations(size / 2, "{}"))),
            ]),
        },
    ]
}
