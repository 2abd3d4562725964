//! Finds in the front matter of a page what may be more than words about the page.
//!
//! Generators print some fields as HTML, put some into the head of the page, run some as templates, and no list of
//! those is complete. So a field counts as active unless it is on a list of inert fields, and a value unless it is
//! inert; what another page of the site has may be repeated.

use docent_markdown::yaml::{self, Yaml};
use docent_markdown::{Code, Lines, Syntax, has_word, line_of, read_front_matter, regex};

use crate::generator::Generator;
use crate::generators::{ALL, rules};
use crate::inert::{is_inert_address, is_inert_text, scheme};
use crate::settings::of_toml;

/// Fields with the same harmless meaning in all generators that know them.
const COMMON: &str = "title description summary excerpt subtitle author author.name authors author_email date updated lastmod \
    last_modified last_modified_at published_at created modified tags tag keywords categories category topics draft \
    published unlisted hidden noindex weight order position nav_order sort slug permalink aliases redirect_from redirects \
    redirect_to lang language version id icon image thumbnail cover canonical canonical_url canonicalURL toc comments \
    search pagefind sitemap groups public mode status beta deprecated new license copyright reading_time audience \
    difficulty product products owner reviewers seo.title seo.description seo.noindex authors[].name authors[].url \
    authors[].email";

/// The last parts of names whose values are addresses: these may begin with `http:`, `https:` or `mailto:`.
const ADDRESSES: &str = "link url href src image thumbnail cover canonical canonical_url canonicalURL custom_edit_url editUrl redirect_to \
    redirects aliases redirect_from permalink slug image_url author_url author_image_url og:image og:url \
    twitter:image file light dark featuredImage";

regex!(FENCE, r"\A\s*(?:---|\+\+\+|;;;)");
// In a block that is not YAML, such as one with a colon in a title: values that are texts to whoever reads it by lines, and
// what means something else to them.
regex!(UNQUOTED, r#"(?m)^( *(?:- +)*[A-Za-z0-9_.-]+: +)([^\s"'\[{|>&*!%@`#?][^\n]*)$"#);
regex!(UNLIKE_LINES, r"(?m)^ *(?:- +)*(?:[A-Za-z0-9_.-]+:)? *[|>&*!%@`?]");
regex!(HEAD, r#"(?m)^["']?head["']?[ \t]*:"#);
regex!(LANGUAGE, r"\A---[ \t]*[A-Za-z]");
// Fields without a closed block: MkDocs reads them at the top of a page, others to the end of it.
regex!(PLAIN_FIELD, r#"\A\s{0,3}["']?([A-Za-z0-9_.-]+)["']?[ \t]*[:=][ \t]*(.*)"#);
regex!(TAG, r"(?m)^[ \t]*(?:-[ \t]+)*(?:[^\s#]+:[ \t]+)?![^\s=]|[\[{](?:[^\n]*,)?[ \t]*![A-Za-z!<]");
// What must not stand in a comment either, because some generators show the block.
regex!(ACTIVE_LINE, r"(?m)<[A-Za-z/!?%]|\{\{|\{%|(?i:javascript:)\S");

/// What in the front matter of a page is active. `text` is the whole page.
pub(crate) fn active_fields(generator: Generator, text: &str) -> Vec<Code> {
    let lines = Lines::of(text);
    let (front, problem) = read_front_matter(text, &lines);
    let Some(body) = front.body.clone() else { return without_block(generator, text.trim_start_matches('\u{feff}')) };
    let inside = &text[body.clone()];
    let mut found = ActiveFields { generator, inside, first_line: lines.number(body.start), code: Vec::new() };
    let data = match front.syntax {
        _ if problem.is_some() => None,
        Syntax::Toml => inside.parse::<toml::Table>().ok().map(|table| of_toml(toml::Value::Table(table))),
        Syntax::Json if !inside.trim_start().starts_with('{') => yaml::read(&format!("{{{inside}}}")).ok(),
        _ if inside.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) => {
            Some(Yaml::Empty)
        }
        Syntax::Yaml | Syntax::Json => yaml::read(inside).ok(),
    };
    let repaired = || {
        let is_plain = front.syntax == Syntax::Yaml && ![&*UNLIKE_LINES, &*HEAD].iter().any(|odd| odd.is_match(inside));
        let quoted = UNQUOTED.replace_all(inside, |field: &regex::Captures<'_>| {
            format!("{}'{}'", &field[1], field[2].trim_end().replace('\'', "''"))
        });
        is_plain.then(|| yaml::read(&quoted).ok()).flatten()
    };
    match data.or_else(repaired).filter(|data| matches!(data, Yaml::Map(_) | Yaml::Empty)) {
        Some(data) => found.value("", &data),
        None if front.syntax == Syntax::Yaml && !HEAD.is_match(inside) => found.plain_lines(),
        None => found.add(0, inside.trim(), format!("front matter {inside}")),
    }
    found.lines_with(&ACTIVE_LINE);
    if front.syntax == Syntax::Yaml {
        found.lines_with(&TAG);
    }
    found.code
}

/// The front matter that generators read where no block begins the page.
fn without_block(generator: Generator, text: &str) -> Vec<Code> {
    let start = text.trim_start();
    let mut found = ActiveFields { generator, inside: text, first_line: 1, code: Vec::new() };
    let is_json = generator == Generator::Hugo && start.starts_with('{') && !start.starts_with("{{");
    if LANGUAGE.is_match(start) || is_json {
        found.add(0, start, format!("front matter {start}"));
    } else if FENCE.is_match(text) {
        for (line, text) in text.lines().enumerate().filter(|(_, line)| PLAIN_FIELD.is_match(line)) {
            found.add(line, text, format!("front matter line {}", text.trim()));
        }
    } else if generator == Generator::MkDocs {
        // A line that goes on the value before it ends nothing, and a blank one does.
        let is_continued = |line: &&str| line.starts_with(['\t', ' ']) && !line.trim().is_empty();
        let fields = text.lines().take_while(|line| PLAIN_FIELD.is_match(line) || is_continued(line));
        for field in fields.filter_map(|line| PLAIN_FIELD.captures(line)) {
            found.value(&field[1].to_lowercase(), &Yaml::Text(field[2].to_owned()));
        }
    }
    found.code
}

/// Most fields whose line is looked for; the others are said to be on the first.
const MOST_PLACED: usize = 100;

struct ActiveFields<'t> {
    generator: Generator,
    inside: &'t str,
    first_line: usize,
    code: Vec<Code>,
}

impl ActiveFields<'_> {
    /// `line` is counted from 0 in the block.
    fn add(&mut self, line: usize, shown: &str, key: String) {
        self.code.push(Code::new(self.first_line + line, shown, key));
    }

    fn lines_with(&mut self, pattern: &regex::Regex) {
        for (at, line) in self.inside.lines().enumerate().filter(|(_, line)| pattern.is_match(line)) {
            self.add(at, line.trim(), format!("front matter line {}", line.trim()));
        }
    }

    /// Judges a block that is not YAML, such as one with the same field twice: a line is a field and a plain text, or
    /// active.
    fn plain_lines(&mut self) {
        for (at, line) in self.inside.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let is_marked = |text: &str| text.starts_with(|c: char| "\"'[{|>&*!%@`?".contains(c));
            match PLAIN_FIELD.captures(line).filter(|field| !line.starts_with(' ') && !is_marked(&field[2])) {
                _ if line.trim_start().starts_with('#') => {}
                Some(field) => self.value(&field[1], &Yaml::Text(field[2].to_owned())),
                None => self.add(at, line.trim(), format!("front matter line {}", line.trim())),
            }
        }
    }

    fn value(&mut self, path: &str, value: &Yaml) {
        match value {
            Yaml::Map(members) => {
                for (name, value) in members {
                    if path.is_empty() && name.eq_ignore_ascii_case("head") {
                        // Elements of the head of the page, whose parts mean nothing apart.
                        self.add_field(name, name, format!("field head {value:?}"));
                    }
                    self.value(&if path.is_empty() { name.clone() } else { format!("{path}.{name}") }, value);
                }
            }
            Yaml::List(items) => items.iter().for_each(|item| self.value(&format!("{path}[]"), item)),
            Yaml::Empty if path.is_empty() => {}
            Yaml::Empty => self.field(path, ""),
            Yaml::Text(text) => self.field(path, text),
        }
    }

    fn field(&mut self, path: &str, value: &str) {
        let name = path.rsplit('.').next().unwrap_or(path).trim_end_matches("[]");
        let (is_listed, is_address) = (is_listed(self.generator, path, value), has_word(ADDRESSES, name));
        let is_inert = if is_address || !is_listed { is_inert_address(value) } else { is_inert_text(value) };
        let is_usual = |scheme: &str| is_listed && (!is_address || ["http", "https", "mailto"].contains(&scheme));
        let scheme = scheme(value).filter(|scheme| !is_usual(scheme));
        let keys = [
            (!is_listed).then(|| format!("field {path}")),
            (!is_inert).then(|| format!("field {path} = {value}")),
            scheme.map(|scheme| format!("field {path} with {scheme}")),
        ];
        for key in keys.into_iter().flatten() {
            self.add_field(name, &format!("{name}: {value}"), key);
        }
    }

    fn add_field(&mut self, name: &str, shown: &str, key: String) {
        let found = if self.code.len() < MOST_PLACED { self.inside.find(name) } else { None };
        let at = found.map_or(1, |at| line_of(self.inside, at));
        self.add(at - 1, shown, key);
    }
}

/// Whether the lists hold a field and, where they name its values, this value.
fn is_listed(generator: Generator, path: &str, value: &str) -> bool {
    // Where the generator is not known, it may be any.
    let any = ALL.into_iter().chain([Generator::Jekyll]);
    let of = any.filter(|of| generator == Generator::Plain || *of == generator);
    let of = of.flat_map(|of| rules(of).facts().inert_fields.split_whitespace());
    let mut listed = COMMON.split_whitespace().chain(of);
    listed.any(|listed| {
        let (listed, values) = listed.split_once('=').map_or((listed, None), |(name, values)| (name, Some(values)));
        is_same_path(listed, path) && values.is_none_or(|values| values.split('|').any(|one| one == value))
    })
}

/// Whether a path is that of a list; a listed field may be a list of scalars.
fn is_same_path(listed: &str, path: &str) -> bool {
    let path = path.strip_suffix("[]").filter(|_| !listed.ends_with("[]")).unwrap_or(path);
    listed == path
        || (listed.contains('*')
            && listed.split('.').count() == path.split('.').count()
            && listed.split('.').zip(path.split('.')).all(|(listed, part)| listed == "*" || listed == part))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keys(generator: Generator, fields: &str) -> Vec<String> {
        let found = active_fields(generator, &format!("---\n{fields}\n---\n\nWords.\n"));
        found.into_iter().map(|code| code.key).collect()
    }

    #[test]
    fn ordinary_fields_are_inert() {
        for (generator, fields) in [
            (
                Generator::VitePress,
                "layout: home\nhero:\n  name: A & b\n  actions:\n    - {theme: brand, text: Go, link: /a}",
            ),
            (
                Generator::VitePress,
                "features:\n  - title: C++\n    link: https://example.org\nnext: {text: B, link: /b}",
            ),
            (
                Generator::Docusaurus,
                "title: \"A: b\"\nsidebar_position: 3\nkeywords: [a, b]\ncustom_edit_url: https://a.test/x",
            ),
            (
                Generator::Starlight,
                "banner:\n  content: We moved.\nsidebar: {order: 2, badge: New}\neditUrl: https://a.test/x",
            ),
            (Generator::Hugo, "weight: 1\naliases: [/old/]\nmenu:\n  docs:\n    weight: 3\ndraft: false"),
            (Generator::Jekyll, "redirect_from:\n  - /old/\nredirect_to: https://a.test/\nnav_order: 2"),
            (Generator::MkDocs, "hide:\n  - toc\nicon: material/home\nsearch:\n  boost: 2"),
            (Generator::Mintlify, "sidebarTitle: A\nopenapi: GET /users\nurl: https://a.test"),
            (Generator::Sphinx, "orphan: true"),
            (Generator::Plain, "sidebar_position: 2\n# a note\ntitle: 'JavaScript: R &D, *really*, !important'"),
        ] {
            assert_eq!(keys(generator, fields), Vec::<String>::new(), "{fields}");
        }
    }

    #[test]
    fn other_fields_and_values_are_active() {
        for (generator, fields) in [
            (Generator::VitePress, "head: [[script, {}, 'f()']]"),
            (Generator::VitePress, "layout: Evil"),
            (Generator::VitePress, "hero:\n  actions:\n    - link: 'javascript:f()'"),
            (Generator::VitePress, "features:\n  - icon: <img src=x onerror=f()>"),
            (Generator::Starlight, "hero: {tagline: \"<b>\"}"),
            (Generator::Starlight, "sidebar:\n  attrs:\n    onclick: f()"),
            (Generator::Docusaurus, "custom_edit_url: \"java\\tscript:f()\""),
            (Generator::Docusaurus, "image: data:text/html,x"),
            (Generator::Hugo, "title: '{{ site }}'"),
            (Generator::Hugo, "build:\n  render: never"),
            (Generator::MkDocs, "template: x.html"),
            (Generator::Jekyll, "layout: x"),
            (Generator::Sphinx, "myst:\n  substitutions:\n    a: b"),
            (Generator::Plain, "title: !!python/name:os.system x"),
            (Generator::Plain, "# <script>f()</script>"),
            (Generator::Plain, "title: [a"),
            (Generator::Plain, "<<: &a {head: x}"),
            (Generator::Plain, "extra: ftp://a.test"),
        ] {
            assert_ne!(keys(generator, fields), Vec::<String>::new(), "{fields}");
        }
    }

    #[test]
    fn front_matter_in_unusual_places_is_active() {
        for (generator, text) in [
            (Generator::VitePress, "---js\n{}\n---\n"),
            (Generator::Starlight, "\n---\nhead: []\n---\n"),
            (Generator::Docusaurus, "---\nhead: a\n\nnever closed\n"),
            (Generator::Hugo, "{\"outputs\": []}\n"),
            (Generator::MkDocs, "template: x.html\n\n# A\n"),
        ] {
            assert!(!active_fields(generator, text).is_empty(), "{text}");
        }
        for (generator, text) in [
            (Generator::MkDocs, "title: A\n\nWords: more\n"),
            (Generator::Hugo, "{{< note >}}\n"),
            (Generator::Plain, "---\n\nWords after a rule.\n"),
            (Generator::Plain, "# A\n\n---\n\nhead: a\n"),
        ] {
            assert_eq!(active_fields(generator, text), [], "{text}");
        }
    }

    #[test]
    fn a_block_that_is_not_yaml_is_judged_by_its_lines() {
        let colon = "title: A page: with a colon\ndescription: A: b: c\nhero:\n  name: x\n  actions:\n  - text: a\n    link: /a\n  - link: /b\ntags: [a, b]\nkeywords:\n- a\nnext: 'B'";
        assert_eq!(keys(Generator::VitePress, colon), Vec::<String>::new());
        for field in [
            "head: [x]",
            "hero:\n  html: x",
            "prev:\n  link: javascript:f()",
            "description: |\n  words",
            "next: {x: <b>}",
            "words",
        ] {
            assert_ne!(keys(Generator::VitePress, &format!("title: A: b\n{field}")), Vec::<String>::new(), "{field}");
        }
    }

    #[test]
    fn toml_and_json_are_read_as_well() {
        let toml = "+++\ntitle = 'T'\nweight = 3\n[menu.docs]\nweight = 1\n+++\n";
        assert_eq!(active_fields(Generator::Hugo, toml), []);
        let found = active_fields(Generator::Hugo, "+++\ntitle = 'T'\n[[cascade]]\nlayout = 'x'\n+++\n");
        assert_eq!(
            found.iter().map(|code| (code.line, code.key.as_str())).collect::<Vec<_>>(),
            [(4, "field cascade[].layout")]
        );
        assert_eq!(active_fields(Generator::Hugo, ";;;\n\"outputs\": [\"x\"]\n;;;\n").len(), 1);
    }

    proptest! {
        #[test]
        fn any_block_is_read(text in "(---|\\+\\+\\+|title|: |\n|- |\\{|\\[|\\]|\"|<|!|&a|\\*a|\\PC){0,30}") {
            active_fields(Generator::Hugo, &text);
            active_fields(Generator::MkDocs, &format!("---\n{text}\n---\n"));
        }
    }
}
