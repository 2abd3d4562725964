//! Finds URLs that run their own content, and TeX commands that read files or create such URLs.
//!
//! docutils removes whitespace and backslashes from URLs, and lets them span lines. So this search does not depend on
//! where a URL begins and ends: a scheme that may run code is searched for wherever a URL may be.

use std::sync::LazyLock;

use regex::Regex;

use super::lines::Blocks;
use crate::regex;
use crate::words::has_word;

/// Schemes whose URLs run their own content.
const SCHEMES: [&str; 3] = ["javascript", "vbscript", "livescript"];

/// TeX commands that read or write files, define other commands, or create links.
const COMMANDS: &str = "afterassignment aftergroup atbegindocument atenddocument attachfile catchfiledef catchfileedef catcode chardef \
    countdef csname declarerobustcommand def directlua documentclass edef embedfile everymath everypar expandafter \
    explsyntaxon futurelet gdef href htmlclass htmldata htmlid htmlstyle hyperlink iffileexists immediate import \
    include includegraphics includemedia includepdf includestandalone includesvg input inputiffileexists inputminted \
    latelua lccode let loadglsentries lowercase lstinputlisting lstset luaexec mathchardef mmltoken nameuse \
    newcommand newdocumentcommand newenvironment newexpandabledocumentcommand newread newwrite openin openout \
    pdfcatalog pdffiledump pdfobj pdfximage primitive providecommand read readline renewcommand renewenvironment \
    require requirepackage scantextokens scantokens shellescape special subimport uccode uppercase url usename \
    usepackage verbatiminput verbatimtabinput write xdef xetexpdffile xetexpicfile";

static SCHEME: LazyLock<Regex> = LazyLock::new(|| {
    let between = r"[\s\\\p{Cc}]*";
    let spelt = |scheme: &str| scheme.chars().map(|c| format!("{c}{between}")).collect::<String>();
    let schemes: Vec<String> = SCHEMES.iter().chain(&["data"]).map(|scheme| spelt(scheme)).collect();
    Regex::new(&format!("(?i)(?:{}):", schemes.join("|"))).expect("the pattern is put together above")
});
static BEGUN: LazyLock<Regex> = LazyLock::new(|| {
    let begins = |scheme: &&str| (1..=scheme.len()).rev().map(|end| scheme[..end].to_owned()).collect::<Vec<_>>();
    let begun: Vec<String> = SCHEMES.iter().chain(&["data"]).flat_map(begins).collect();
    Regex::new(&format!(r"(?im)(?:<|[:_|+] )[ \\]*(?:{})[ \\]*(?:\||  |$)", begun.join("|")))
        .expect("the pattern is put together above")
});
regex!(COMMAND, r"\\(?:begin[^A-Za-z]*)?[@]*([A-Za-z]+)|\\begin");
regex!(ENVIRONMENT, r"\A\\begin\{[A-Za-z]+\*?\}");

/// The byte offsets at which a URL that runs its content may begin.
pub(super) fn scripts(text: &str, blocks: &Blocks<'_>) -> Vec<usize> {
    let whole = SCHEME.find_iter(text).filter(|found| runs(text, found.start(), found.end(), blocks));
    let mut found: Vec<usize> = whole.map(|found| found.start()).collect();
    // In a table, other cells interrupt the lines of a cell, so only the beginning of a scheme may be recognizable.
    found.extend(BEGUN.find_iter(text).map(|begun| begun.start()).filter(|at| is_table(text, *at, blocks)));
    found
}

fn is_table(text: &str, at: usize, blocks: &Blocks<'_>) -> bool {
    let number = blocks.number(at);
    let line = blocks.line(number).map_or(text, |line| line.text);
    line.contains('|') || blocks.may_be_in_simple_table(number)
}

fn runs(text: &str, start: usize, end: usize, blocks: &Blocks<'_>) -> bool {
    let written = &text[start..end - 1];
    let (before, after) = (&text[..start], &text[end..]);
    let is_skipped = |c: char| c.is_whitespace() || c.is_control() || c == '\\';
    let is_whole = !written.contains(is_skipped);
    let is_data = written.starts_with(['d', 'D']);
    let rest = after.chars().filter(|c| !is_skipped(*c)).take(30).collect::<String>().to_ascii_lowercase();
    let is_picture = rest.starts_with("image/") && !rest.starts_with("image/svg");
    if is_data && (is_picture || !rest.starts_with(|c: char| c.is_ascii_alphabetic()) || !rest.contains('/')) {
        return false;
    }
    // A standalone URL, or an entry of a table of contents.
    if is_whole && after.starts_with(|c: char| !c.is_whitespace() && !matches!(c, '`' | ':')) {
        return !is_data || after.split(char::is_whitespace).next().is_some_and(|word| word.contains('/'));
    }
    let ahead = before.trim_end_matches(is_skipped);
    let language = |end: &&str| {
        ahead.len() >= end.len()
            && ahead.is_char_boundary(ahead.len() - end.len())
            && ahead[ahead.len() - end.len()..].eq_ignore_ascii_case(end)
    };
    if ["code-block::", "code::", "sourcecode::", "highlight::", ":language:"].iter().any(language) {
        return false;
    }
    let is_apart = ahead.len() < before.len();
    let is_in_table = is_table(text, start, blocks);
    ahead.ends_with('<')
        || (is_apart && ahead.ends_with([':', '_']))
        || (is_in_table && (ahead.ends_with(['|', '+']) || !is_whole))
        || (!is_data && blocks.may_be_in_simple_table(blocks.number(start)))
}

/// The byte offsets of TeX commands that do more than typeset a formula.
pub(super) fn commands(text: &str) -> impl Iterator<Item = usize> {
    // `^^` notation, which denotes any character by its code.
    let carets = text.match_indices("^^").map(|(at, _)| at);
    let carets = carets.filter(|at| text[at + 2..].starts_with(|c: char| c.is_ascii_alphanumeric()));
    let commands = COMMAND.captures_iter(text).filter_map(|found| {
        let whole = found.get_match();
        let name = found.get(1).map_or("", |name| name.as_str()).to_ascii_lowercase();
        let is_code = has_word(COMMANDS, &name)
            || (whole.as_str().starts_with("\\begin") && name != "begin" && !is_environment(text, whole.start()));
        is_code.then_some(whole.start())
    });
    commands.chain(carets)
}

/// Whether `\begin` at a byte is followed by a literal environment name, or is part of a longer command name.
fn is_environment(text: &str, at: usize) -> bool {
    let rest = &text[at..];
    let is_longer = rest["\\begin".len()..].starts_with(|c: char| c.is_ascii_alphabetic());
    is_longer || ENVIRONMENT.is_match(rest)
}
