//! Generates heading anchors by the rules of each site generator.

use std::borrow::Cow;
use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::anchors_components::component_anchor;
use crate::anchors_hugo::HugoWords;
use crate::anchors_kramdown;
use crate::anchors_mintlify::MintlifyAnchors;

use crate::parse_tags::Tag;

/// GitHub's anchor for the text of a heading: lower case, spaces to hyphens, punctuation removed. Not yet unique on the
/// page.
pub fn slug(text: &str) -> String {
    github_slugger(text.trim())
}

/// Whether a character is a digit. Fractions, superscripts, Roman numerals and enclosed numbers are not.
fn is_digit(c: char) -> bool {
    let is_other = matches!(c,
        '\u{b2}' | '\u{b3}' | '\u{b9}' | '\u{bc}'..='\u{be}' | '\u{2070}'..='\u{218b}' | '\u{2460}'..='\u{2793}'
        | '\u{3192}'..='\u{3195}' | '\u{3220}'..='\u{32bf}');
    c.is_numeric() && !is_other
}

/// Connector punctuation: the underscore and similar characters.
fn is_connector(c: char) -> bool {
    matches!(
        c,
        '_' | '\u{203f}' | '\u{2040}' | '\u{2054}' | '\u{fe33}' | '\u{fe34}' | '\u{fe4d}'..='\u{fe4f}' | '\u{ff3f}'
    )
}

/// The rules by which heading anchors are generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnchorStyle {
    /// GitHub's rules, which most generators adopted.
    #[default]
    GitHub,
    VitePress,
    /// The package `github-slugger`: leading and trailing spaces count.
    GithubSlugger,
    /// Like [`Self::GithubSlugger`], but a level-one heading has no anchor, and explicit ids do not count as taken.
    Docusaurus,
    /// Like [`Self::GithubSlugger`], without explicit ids: `{#id}` is part of the text.
    Starlight,
    /// Like [`Self::GithubSlugger`], with explicit ids as `[#id]`, which do not count as taken.
    Fumadocs,
    /// Like [`Self::Fumadocs`], but explicit ids are slugged and numbered like the text of a heading, and a level-one
    /// heading has no generated anchor.
    Nextra,
    /// Like [`Self::Nextra`], but level-one headings have anchors.
    NextraPages,
    /// Python-Markdown: what is not ASCII after decomposition is removed.
    Python,
    /// Python-Markdown with the letters of all scripts kept.
    PythonUnicode,
    /// PyMdown Extensions, in lower case: similar to GitHub's rules.
    Pymdown,
    /// PyMdown Extensions, with case preserved.
    PymdownCased,
    MdBook,
    /// Hugo's own rules, `github` in its configuration. With `ascii` (`github-ascii`) accents and non-ASCII characters
    /// are removed; with `typographer` runs of hyphens are dashes.
    Hugo {
        ascii: bool,
        typographer: bool,
    },
    /// Hugo's legacy rules, `blackfriday` in its configuration.
    Blackfriday,
    /// docutils and Sphinx: ASCII only, without leading digits.
    Docutils,
    /// nbsphinx, by Jupyter's rules: the text with hyphens for spaces. A repeated heading has no known anchor.
    Nbsphinx,
    /// GitBook's own tool and HonKit: a fixed list of characters is removed, and a repeated heading gets the same
    /// anchor.
    GitBook,
    /// Markdig, as docfx configures it: similar to GitHub's rules, and `{#id}` is part of the text.
    Docfx,
    /// kramdown, which Jekyll uses, in its mode for GitHub Flavored Markdown.
    KramdownGfm,
    /// kramdown in its native mode: ASCII letters and digits, from the source of the heading.
    Kramdown,
    Mintlify,
    /// Asciidoctor, unless attributes say otherwise: `_` as the prefix and between words. For standalone AsciiDoc; with
    /// all other styles, AsciiDoc pages have the ids of a forge such as GitHub.
    Asciidoctor,
}

impl AnchorStyle {
    /// Whether Python-Markdown reads the pages, by any of its rules for anchors.
    pub(crate) fn is_python_markdown(self) -> bool {
        matches!(self, Self::Python | Self::PythonUnicode | Self::Pymdown | Self::PymdownCased)
    }

    /// The anchor of the first heading with this text on a page.
    pub fn slug(self, text: &str) -> String {
        match self {
            // `MintlifyAnchors` makes complete anchors, with their numbers.
            Self::GitHub | Self::Mintlify => slug(text),
            Self::VitePress => vitepress_slug(text),
            Self::GithubSlugger
            | Self::Docusaurus
            | Self::Starlight
            | Self::Fumadocs
            | Self::Nextra
            | Self::NextraPages
            | Self::KramdownGfm => github_slugger(text),
            Self::Kramdown => anchors_kramdown::slug(text),
            Self::Asciidoctor => crate::adoc::slug(text, "_", "_"),
            Self::Python => python_slug(text, |c| c.is_ascii()),
            Self::PythonUnicode => python_slug(text, |_| true),
            Self::Pymdown => pymdown_slug(&text.to_lowercase()),
            Self::PymdownCased => pymdown_slug(text),
            Self::Docutils => docutils_slug(text),
            Self::Nbsphinx => text.replace(' ', "-").replace('"', "%22"),
            Self::GitBook => gitbook_slug(text),
            Self::Docfx => docfx_slug(text),
            // mdBook first turns `--` and `---` in prose into dashes, which are dropped, as are combining marks.
            Self::MdBook => slug(&text.replace(" --- ", "  ").replace(" -- ", "  ")).replace(is_combining_mark, ""),
            Self::Hugo { ascii: false, .. } => hugo_slug(text.chars()),
            Self::Hugo { ascii: true, .. } => hugo_slug(text.nfd().filter(char::is_ascii)),
            Self::Blackfriday => blackfriday_slug(text),
        }
    }
}

/// The anchor by `github-slugger`, for which leading and trailing spaces count.
fn github_slugger(text: &str) -> String {
    text.chars()
        .flat_map(char::to_lowercase)
        .filter_map(|c| match c {
            ' ' | '-' => Some('-'),
            c if c.is_alphabetic() || is_combining_mark(c) || is_digit(c) || is_connector(c) => Some(c),
            _ => None,
        })
        .collect()
}

fn vitepress_slug(text: &str) -> String {
    // Emoji shortcodes are not part of the anchor.
    let words: Vec<&str> = text.split(' ').filter(|word| !is_emoji_name(word)).collect();
    let text = words.join(" ");
    let mut out = String::with_capacity(text.len());
    for c in text.nfkd().filter(|c| !('\u{300}'..='\u{36f}').contains(c) && !c.is_control()) {
        let is_sign =
            c.is_whitespace() || "~`!@#$%^&*()-_+=[]{}|\\;:\"'\u{201c}\u{201d}\u{2018}\u{2019}<>,.?/".contains(c);
        if !is_sign {
            out.extend(c.to_lowercase());
        } else if !out.ends_with('-') && !out.is_empty() {
            out.push('-');
        }
    }
    out.truncate(out.trim_end_matches('-').len());
    // An id may not begin with a digit.
    if out.starts_with(|c: char| c.is_ascii_digit()) { format!("_{out}") } else { out }
}

/// Whether a word is an emoji shortcode, such as `:tada:`.
fn is_emoji_name(word: &str) -> bool {
    word.len() > 2
        && word.strip_prefix(':').and_then(|word| word.strip_suffix(':')).is_some_and(|name| {
            name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_+-".contains(&byte))
        })
}

/// Whether a MyST heading contains a role (``{octicon}`rocket` ``).
fn has_role(line: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_:+.".contains(c);
    line.match_indices("}`").any(|(at, _)| {
        line[..at].rsplit_once('{').is_some_and(|(_, name)| !name.is_empty() && name.chars().all(is_name))
    })
}

/// The text of an MkDocs heading without icon shortcodes, which do not count in an anchor. `None` where a word in
/// colons may be an emoji or plain text, depending on the extensions.
fn without_icons(text: &str) -> Option<String> {
    const ICON_PREFIXES: [&str; 4] = [":material-", ":octicons-", ":fontawesome-", ":simple-"];
    let is_icon = |word: &str| is_emoji_name(word) && ICON_PREFIXES.iter().any(|prefix| word.starts_with(prefix));
    let words: Vec<&str> = text.split(' ').filter(|word| !is_icon(word)).collect();
    let may_be_emoji = |word: &&str| is_emoji_name(word) && word.contains(|c: char| c.is_ascii_lowercase());
    if words.iter().any(may_be_emoji) { None } else { Some(words.join(" ").trim().to_owned()) }
}

fn docutils_slug(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let text: String = text
        .to_lowercase()
        .chars()
        .map(|c| ascii_replacement(c).map_or_else(|| c.to_string(), str::to_owned))
        .collect();
    for c in text.nfkd().filter(char::is_ascii) {
        if c.is_ascii_alphanumeric() {
            out.push(c);
        } else if !out.ends_with('-') {
            out.push('-');
        }
    }
    out.trim_start_matches(|c: char| c == '-' || c.is_ascii_digit()).trim_end_matches('-').to_owned()
}

/// Keeps letters, decimal digits, `-` and `_`, up to U+FFFF and without combining marks. Emoji shortcodes are dropped.
fn docfx_slug(text: &str) -> String {
    let words = text.split(' ').map(|word| if is_emoji_name(word) { "" } else { word });
    let words = words.collect::<Vec<_>>().join(" ");
    let slug: String = words
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            '-' | '_' => Some(c),
            c if (is_letter(c) || is_decimal(c)) && c <= '\u{ffff}' => Some(lower(c)),
            _ => None,
        })
        .collect();
    if slug.is_empty() { "section".to_owned() } else { slug }
}

/// Whether a character is a decimal digit of any script.
fn is_decimal(c: char) -> bool {
    c.is_numeric() && !c.is_alphabetic() && is_digit(c)
}

/// Empty for a heading with a template, whose text only a build knows.
fn gitbook_slug(text: &str) -> String {
    const REMOVED_CHARS: &str = "[]!\"'#$%&()*+,./:;<=>?@\\^_`{|}~©∑®†“”‘’∂ƒ™℠…œŒ˚º•ª∆∞♥";
    if text.contains("{{") || text.contains("{%") {
        return String::new();
    }
    let kept = text.chars().filter(|c| !REMOVED_CHARS.contains(*c)).map(|c| if c.is_whitespace() { ' ' } else { c });
    let slug = kept.collect::<String>().replace(' ', "-").to_lowercase();
    slug.strip_prefix('-').unwrap_or(&slug).to_owned()
}

/// docutils' ASCII replacements of letters that do not decompose into a letter and a mark.
fn ascii_replacement(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' => "sz",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'đ' => "d",
        'ħ' => "h",
        'ı' => "i",
        'ł' => "l",
        'ŧ' => "t",
        _ => return None,
    })
}

fn pymdown_slug(text: &str) -> String {
    let kept = text.trim().nfc().filter(|c| c.is_alphanumeric() || "_- ".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn python_slug(text: &str, keeps: impl Fn(char) -> bool) -> String {
    let decomposed: String = match keeps('\u{e9}') {
        true => text.nfc().collect(),
        false => text.nfkd().filter(|c| keeps(*c)).collect(),
    };
    let kept: String =
        decomposed.chars().filter(|c| c.is_alphanumeric() || *c == '_' || *c == '-' || c.is_whitespace()).collect();
    let mut out = String::with_capacity(kept.len());
    for c in kept.trim().chars() {
        if c != '-' && !c.is_whitespace() {
            out.extend(c.to_lowercase());
        } else if !out.ends_with('-') {
            out.push('-');
        }
    }
    out
}

/// A heading of which no character is kept is called `heading`.
fn hugo_slug(text: impl Iterator<Item = char>) -> String {
    let kept = text.filter_map(|c| match c {
        ' ' | '-' => Some('-'),
        '_' => Some('_'),
        c if is_letter(c) || c.is_ascii_digit() => Some(c),
        _ => None,
    });
    let out: String = kept.map(lower).collect();
    if out.is_empty() { "heading".to_owned() } else { out }
}

/// Each run of characters that are neither letters nor numbers between two words becomes one hyphen.
fn blackfriday_slug(text: &str) -> String {
    let words = text.split(|c: char| !is_letter(c) && !c.is_numeric()).filter(|word| !word.is_empty());
    let out: String = words.collect::<Vec<_>>().join("-").chars().map(lower).collect();
    if out.is_empty() { "heading".to_owned() } else { out }
}

/// Maps each character to exactly one: `İ` becomes `i`.
fn lower(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

/// Whether a character is a letter and not a combining mark.
fn is_letter(c: char) -> bool {
    c.is_alphabetic() && !unicode_normalization::char::is_combining_mark(c)
}

/// Generates the anchors of one page, each once unless the generator repeats them: the second `setup` becomes
/// `setup-1`.
#[derive(Debug, Default)]
pub struct Anchors {
    pub(crate) style: AnchorStyle,
    taken: HashMap<String, usize>,
    /// The anchors of headings inside HTML elements, which kramdown counts separately.
    taken_in_html: HashMap<String, usize>,
    mintlify: MintlifyAnchors,
}

impl Anchors {
    pub fn of(style: AnchorStyle) -> Self {
        Self { style, ..Self::default() }
    }

    /// The delimiters of an explicit id after the text of a heading: `{#id}` or `[#id]`. `None` where explicit ids are
    /// not read.
    pub(crate) fn explicit_id_delimiters(&self) -> Option<(char, char)> {
        match self.style {
            AnchorStyle::Fumadocs | AnchorStyle::Nextra | AnchorStyle::NextraPages => Some(('[', ']')),
            AnchorStyle::Starlight | AnchorStyle::Docfx | AnchorStyle::Nbsphinx => None,
            _ => Some(('{', '}')),
        }
    }

    /// Whether an explicit id is read after the markup of its heading: `{#a.__b__}` is then `a.b`.
    pub(crate) fn reads_ids_of_shown_text(&self) -> bool {
        self.style == AnchorStyle::Docusaurus
    }

    /// The anchor for a heading with this text.
    pub fn for_heading(&mut self, text: &str) -> String {
        if self.style == AnchorStyle::Mintlify {
            return self.mintlify.for_heading(text);
        }
        if let (AnchorStyle::Python, Some(name)) = (self.style, text.strip_prefix("::: ")) {
            // `::: name` documents an object of the source code; its anchor is its name.
            return self.explicit(name.trim());
        }
        let slug = match self.style.is_python_markdown() {
            true => match without_icons(text) {
                Some(words) => self.style.slug(&words),
                None => return String::new(),
            },
            false => self.style.slug(text),
        };
        match self.style {
            AnchorStyle::Docutils => return self.numbered(slug),
            AnchorStyle::GitBook => return slug,
            AnchorStyle::Nbsphinx => {
                let is_new = self.taken.insert(slug.clone(), 0).is_none();
                return if is_new { slug } else { String::new() };
            }
            _ => {}
        }
        if self.is_kramdown() {
            return anchors_kramdown::with_repeat_number(slug, &mut self.taken);
        }
        let (base, separator) = match self.style {
            // Numbers continue: the next anchor after `setup_1` is `setup_2`.
            _ if self.style.is_python_markdown() => (without_numeric_suffix(&slug).to_owned(), '_'),
            _ => (slug.clone(), '-'),
        };
        let mut anchor = slug;
        if separator == '_' && anchor.is_empty() {
            anchor = "_1".to_owned();
        }
        while self.taken.contains_key(&anchor) {
            let count = self.taken.entry(base.clone()).or_insert(0);
            *count += 1;
            anchor = format!("{base}{separator}{count}");
        }
        self.taken.insert(anchor.clone(), 0);
        anchor
    }

    /// The slug, or the next free one of `id1`, `id2` and so on when it is empty or taken.
    fn numbered(&mut self, slug: String) -> String {
        let mut anchor = slug;
        while anchor.is_empty() || self.taken.contains_key(&anchor) {
            let count = self.taken.entry(String::new()).or_insert(0);
            *count += 1;
            anchor = format!("id{count}");
        }
        self.explicit(&anchor)
    }

    pub(crate) fn is_kramdown(&self) -> bool {
        matches!(self.style, AnchorStyle::KramdownGfm | AnchorStyle::Kramdown)
    }

    /// Whether a heading may end in an attribute list, which is not part of its text.
    pub(crate) fn reads_attributes(&self) -> bool {
        use AnchorStyle::{Blackfriday, Docutils, Hugo, MdBook};
        self.style.is_python_markdown() || matches!(self.style, MdBook | Docutils | Hugo { .. } | Blackfriday)
    }

    /// A collector of the heading's text by Hugo's rules; `None` for other generators.
    pub(crate) fn hugo_words(&self) -> Option<HugoWords> {
        match self.style {
            AnchorStyle::Hugo { typographer, .. } => Some(HugoWords::of(typographer)),
            AnchorStyle::Blackfriday => Some(HugoWords::of(true)),
            _ => None,
        }
    }

    /// The anchor for a heading of a level: `words` is its text with the spaces of the source, `text` has single
    /// spaces, and `line` is the source line.
    pub fn for_heading_of(&mut self, level: u8, words: &str, text: &str, line: &str) -> String {
        match self.style {
            // Only a build knows the result of the template.
            AnchorStyle::KramdownGfm | AnchorStyle::Kramdown if line.contains("{{") || line.contains("{%") => {
                String::new()
            }
            // Only the extension that defines a MyST role knows its text.
            AnchorStyle::Docutils if has_role(line) => String::new(),
            AnchorStyle::KramdownGfm => self.for_heading(&anchors_kramdown::without_dashes(words, line)),
            AnchorStyle::Kramdown => self.for_heading(anchors_kramdown::without_hashes(line)),
            AnchorStyle::Docusaurus if level == 1 => {
                self.for_heading(words);
                String::new()
            }
            AnchorStyle::Nextra if level == 1 => String::new(),
            AnchorStyle::GithubSlugger
            | AnchorStyle::Docusaurus
            | AnchorStyle::Starlight
            | AnchorStyle::Fumadocs
            | AnchorStyle::Nextra
            | AnchorStyle::NextraPages
            | AnchorStyle::GitBook
            | AnchorStyle::Docfx => self.for_heading(words),
            _ => self.for_heading(text),
        }
    }

    /// The anchor of a heading inside an HTML element, where it differs from others: kramdown applies its native rules
    /// there, even in its GFM mode.
    pub(crate) fn for_heading_in_html(&mut self, line: &str) -> Option<String> {
        let slug = || anchors_kramdown::slug(anchors_kramdown::without_hashes(line));
        (self.style == AnchorStyle::KramdownGfm)
            .then(|| anchors_kramdown::with_repeat_number(slug(), &mut self.taken_in_html))
    }

    /// Whether the alternative text of an image is left out of ids.
    pub(crate) fn leaves_out_pictures(&self) -> bool {
        matches!(self.style, AnchorStyle::KramdownGfm | AnchorStyle::GithubSlugger | AnchorStyle::Starlight)
    }

    /// Whether every space of a heading becomes a hyphen, even those beside tags.
    pub(crate) fn counts_every_space(&self) -> bool {
        matches!(self.style, AnchorStyle::Docusaurus | AnchorStyle::GithubSlugger | AnchorStyle::Starlight)
    }

    /// Whether a comment at a heading's end may hold its id.
    pub(crate) fn reads_comments(&self) -> bool {
        self.style == AnchorStyle::Docusaurus
    }

    /// The text of a heading without Docusaurus text directives (`:name`, unless escaped by a backslash), which are
    /// displayed verbatim but do not count in an anchor.
    pub(crate) fn without_directives<'t>(&self, words: &'t str, is_escaped: bool) -> Cow<'t, str> {
        if self.style != AnchorStyle::Docusaurus || !words.contains(':') {
            return words.into();
        }
        let mut out = String::with_capacity(words.len());
        let mut rest = words;
        while let Some(at) = rest.find(':') {
            let (before, marked) = rest.split_at(at);
            out.push_str(before);
            let name = &marked[1..];
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            let name = &name[..name.find(|c| !is_name(c)).unwrap_or(name.len())];
            let is_directive = name.starts_with(|c: char| c.is_ascii_alphabetic())
                && !name.ends_with(['-', '_'])
                && !marked[1 + name.len()..].starts_with(':')
                && !out.ends_with(':')
                && (!is_escaped || !out.is_empty());
            if !is_directive {
                out.push(':');
            }
            rest = &marked[1 + if is_directive { name.len() } else { 0 }..];
        }
        (out + rest).into()
    }

    /// The anchor of a heading whose beginning determines it, in docfx: a tab link or an `<a id>` element. `None` for
    /// all other headings.
    pub(crate) fn docfx_special_anchor(&mut self, raw: &str, words: &str) -> Option<String> {
        (self.style == AnchorStyle::Docfx).then_some(())?;
        let marked = raw.trim_start().trim_start_matches('#').trim_start();
        // A tab title is not a heading, but its anchor counts as taken.
        let anchor = match marked.starts_with('[') && marked.contains("](#tab/") {
            true => String::new(),
            false => id_of_tag(marked)?.to_owned(),
        };
        self.for_heading(words);
        Some(anchor)
    }

    /// Records an explicit id and returns the anchor it becomes.
    pub fn explicit(&mut self, id: &str) -> String {
        match self.style {
            AnchorStyle::Mintlify => return self.mintlify.explicit(id),
            AnchorStyle::Docusaurus | AnchorStyle::Fumadocs | AnchorStyle::KramdownGfm | AnchorStyle::Kramdown => {}
            AnchorStyle::Nextra | AnchorStyle::NextraPages => return self.for_heading(id),
            _ => drop(self.taken.entry(id.to_owned()).or_insert(0)),
        }
        id.to_owned()
    }

    /// The anchor that a component derives from its title.
    pub(crate) fn for_component(&mut self, tag: &Tag, text: &str) -> Option<String> {
        match self.style {
            AnchorStyle::Mintlify => self.mintlify.for_component(tag, text),
            _ => component_anchor(tag, text, slug),
        }
    }
}

/// The id of an empty element at the beginning of a heading: `<a id="name"></a>Words`.
fn id_of_tag(words: &str) -> Option<&str> {
    let rest = words.strip_prefix("<a")?.trim_start();
    let (id, rest) = ["id=\"", "name=\""].iter().find_map(|start| rest.strip_prefix(start))?.split_once('"')?;
    let words = rest.trim_start().strip_prefix('>')?.strip_prefix("</a>")?;
    let is_plain = !id.is_empty() && id.chars().all(|c| c.is_alphanumeric() || "_ -.".contains(c));
    (is_plain && !words.trim().is_empty()).then_some(id)
}

/// An anchor without its numeric suffix (`_1`).
fn without_numeric_suffix(anchor: &str) -> &str {
    match anchor.rsplit_once('_') {
        Some((base, count)) if !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit()) => base,
        _ => anchor,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_with_a_role_has_no_anchor_that_is_known() {
        let text = b"# Icons {octicon}`rocket`\n\n## Plain {x} `code`\n";
        let page = crate::parse_as("a.md", text, crate::Format::Markdown, AnchorStyle::Docutils);
        let anchors: Vec<&str> = page.headings.iter().map(|heading| heading.anchor.as_str()).collect();
        assert_eq!(anchors, ["", "plain-x-code"]);
    }

    #[test]
    fn anchors_are_those_of_github() {
        for (text, anchor) in [
            ("Hello World", "hello-world"),
            ("What's new?", "whats-new"),
            ("  C++ & Rust  ", "c--rust"),
            ("snake_case `code`", "snake_case-code"),
            ("Über uns", "über-uns"),
            ("v1.2.3", "v123"),
            ("🚀 Launch", "-launch"),
            ("नमस्ते a\u{203f}b", "नमस्ते-a\u{203f}b"),
            ("10 m² ½", "10-m-"),
        ] {
            assert_eq!(slug(text), anchor, "{text}");
        }
    }

    #[test]
    fn each_generator_has_its_own() {
        for (style, text, anchor) in [
            (AnchorStyle::VitePress, "What's new in 2.0?", "what-s-new-in-2-0"),
            (AnchorStyle::VitePress, "1. Über `ref()`", "_1-uber-ref"),
            (AnchorStyle::VitePress, "快速 开始", "快速-开始"),
            (AnchorStyle::VitePress, "Party :tada: time", "party-time"),
            (AnchorStyle::Python, "What's new in 2.0?", "whats-new-in-20"),
            (AnchorStyle::Python, "Über - uns", "uber-uns"),
            (AnchorStyle::Python, ":material-help: Usage", "usage"),
            (AnchorStyle::Pymdown, "Add a :simple-mkdocs: badge", "add-a-badge"),
            // An emoji or plain text, depending on the extensions.
            (AnchorStyle::Python, "Faces :smile:", ""),
            (AnchorStyle::Python, "At 12 :30: sharp", "at-12-30-sharp"),
            (AnchorStyle::Python, "快速", "_1"),
            (AnchorStyle::PythonUnicode, "快速 开始", "快速-开始"),
            (AnchorStyle::PythonUnicode, "Über uns", "über-uns"),
            (AnchorStyle::Pymdown, "A & B: Über", "a--b-über"),
            (AnchorStyle::PymdownCased, "A & B", "A--B"),
            (AnchorStyle::Python, "::: mkdocs.plugins.Event", "mkdocs.plugins.Event"),
            (AnchorStyle::MdBook, "A & B -- `--flag`", "a--b----flag"),
            (AnchorStyle::MdBook, "`::`", ""),
            (
                AnchorStyle::Hugo { ascii: false, typographer: true },
                "Émile ½ 日本 :smile: b_c",
                "émile--日本-smile-b_c",
            ),
            (AnchorStyle::Hugo { ascii: false, typographer: true }, "?!", "heading"),
            (AnchorStyle::Hugo { ascii: true, typographer: true }, "Émile 日本", "emile-"),
            (AnchorStyle::Blackfriday, "§ 1.2 What's new?", "1-2-what-s-new"),
            (AnchorStyle::Docutils, "1. What's `new` in Über?", "what-s-new-in-uber"),
            (AnchorStyle::Docutils, "快速", "id1"),
            (AnchorStyle::Nbsphinx, "What's \"New\" in 1.0", "What's-%22New%22-in-1.0"),
            (AnchorStyle::GitBook, "What's new in `v1.2`? (and_more)", "whats-new-in-v12-andmore"),
            (AnchorStyle::GitBook, "-- A / B：c", "--a--b：c"),
            (AnchorStyle::GitBook, "Version {{ book.version }}", ""),
            (AnchorStyle::Docfx, "Use xUnit.net's -- A & B {#id}", "use-xunitnets----a--b-id"),
            (AnchorStyle::Docfx, "Ünï 快速 ² 𝒜 :tada:", "ünï-快速---"),
            (AnchorStyle::Docfx, "?!", "section"),
            (AnchorStyle::Docutils, "Straße & Øre", "strasze-ore"),
        ] {
            assert_eq!(Anchors::of(style).for_heading(text), anchor, "{text}");
        }
        let mut gitbook = Anchors::of(AnchorStyle::GitBook);
        assert_eq!([gitbook.for_heading("Setup"), gitbook.for_heading("Setup")], ["setup", "setup"]);
        let mut python = Anchors::of(AnchorStyle::Python);
        let given: Vec<String> = ["Setup", "Setup", "Setup_1"].iter().map(|text| python.for_heading(text)).collect();
        assert_eq!(given, ["setup", "setup_1", "setup_2"]);
    }

    #[test]
    fn a_slugger_keeps_marks_and_spaces_and_no_signs_of_numbers() {
        for (text, anchor) in [
            ("Words <b", "words-b"),
            ("Badge ", "badge-"),
            ("\u{2699}\u{fe0f} Settings", "\u{fe0f}-settings"),
            ("m² und ½", "m-und-"),
            ("हिन्दी", "हिन्दी"),
            ("a\u{203f}b_c", "a\u{203f}b_c"),
        ] {
            assert_eq!(Anchors::of(AnchorStyle::GithubSlugger).for_heading(text), anchor, "{text}");
        }
        let mut docusaurus = Anchors::of(AnchorStyle::Docusaurus);
        assert_eq!(docusaurus.for_heading_of(1, "Setup", "Setup", ""), "", "the title has no anchor");
        assert_eq!(docusaurus.explicit("other"), "other");
        for (words, expected) in [
            ("run build:prod now", "run build now"),
            ("a :tada: b", "a :tada: b"),
            ("std::vec", "std::vec"),
            ("x:y-", "x:y-"),
            ("12:30", "12:30"),
            ("a:b:c d", "a:b d"),
            ("node:fs/promises", "node/promises"),
        ] {
            assert_eq!(docusaurus.without_directives(words, false), expected, "as Docusaurus 3.10 reads {words}");
        }
        assert_eq!(docusaurus.without_directives(":b c", true), ":b c");
        assert_eq!(
            docusaurus.for_heading_of(2, "Setup", "Setup", ""),
            "setup-1",
            "the title's words are taken all the same"
        );
        assert_eq!(docusaurus.for_heading_of(2, "Other", "Other", ""), "other", "what authors wrote out is not");
    }

    #[test]
    fn the_same_words_again_get_a_number() {
        let mut anchors = Anchors::default();
        assert_eq!(anchors.explicit("setup-1"), "setup-1");
        let given: Vec<String> =
            ["Setup", "Setup", "setup", "Setup 1"].iter().map(|text| anchors.for_heading(text)).collect();
        assert_eq!(given, ["setup", "setup-2", "setup-3", "setup-1-1"]);
    }
}
