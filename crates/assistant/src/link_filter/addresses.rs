//! Addresses in running text, which renderers turn into links automatically.

use super::spans::{Lookahead, Window};
use super::{AMPERSAND, LESS};

/// An address without the punctuation around it.
#[derive(Debug)]
pub(super) struct Address<'a> {
    /// Its length in the text.
    pub(super) length: usize,
    pub(super) href: String,
    pub(super) written: &'a str,
}

const BEGINNINGS: [&str; 3] = ["https://", "http://", "www."];

/// Whether this is the beginning of an address, or a prefix of one.
pub(super) fn may_begin(text: &[u8]) -> bool {
    BEGINNINGS.iter().any(|beginning| {
        let length = beginning.len().min(text.len());
        text[..length].eq_ignore_ascii_case(&beginning.as_bytes()[..length])
    })
}

/// The address at the beginning of the text.
pub(super) fn address(window: Window<'_>) -> Option<Lookahead<Address<'_>>> {
    let text = window.text;
    let begins =
        |beginning: &&&str| text.get(..beginning.len()).is_some_and(|head| head.eq_ignore_ascii_case(beginning));
    let Some(beginning) = BEGINNINGS.iter().find(begins) else {
        return (window.whole || !may_begin(text.as_bytes())).then_some(Lookahead::Nowhere);
    };
    let end = text.find(ends_url);
    if end.is_none() && !window.whole {
        return None;
    }
    let written = trimmed_url(&text[..end.unwrap_or(text.len())]);
    if written.len() <= beginning.len() {
        return Some(Lookahead::Nowhere);
    }
    let href = if *beginning == "www." { format!("https://{written}") } else { written.to_owned() };
    Some(Lookahead::At(Address { length: written.len(), href, written }))
}

/// Whether a URL in running text ends here.
fn ends_url(c: char) -> bool {
    c.is_whitespace() || c.is_control() || "<>\"'`|\\^{}[]".contains(c) || (!c.is_ascii() && !c.is_alphanumeric())
}

/// A URL without the punctuation of the sentence around it.
fn trimmed_url(run: &str) -> &str {
    let mut url = run;
    loop {
        let shorter = url.trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_', '~']);
        let closing = shorter.strip_suffix(')').filter(|_| shorter.matches(')').count() > shorter.matches('(').count());
        match closing {
            Some(shorter) => url = shorter,
            None if shorter.len() < url.len() => url = shorter,
            None => return url,
        }
    }
}

/// The http and https URLs in a text, as renderers find them.
pub(crate) fn urls(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("://").filter_map(|(at, _)| {
        let scheme = ["https", "http"].into_iter().find(|scheme| text[..at].ends_with(scheme))?;
        Some(trimmed_url(text[at - scheme.len()..].split(ends_url).next().unwrap_or_default()))
    })
}

/// The top-level domains that renderers recognize: those of countries, and the common ones.
const TOP: &str = "\
ac ad ae af ag ai al am an ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bv bw by bz ca cc \
cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr ga gb gd \
ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh \
ki km kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx \
my mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw sa sb sc sd \
se sg sh si sj sk sl sm sn so sr st su sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw tz ua ug uk us uy uz \
va vc ve vg vi vn vu wf ws ye yt za zm zw \
aero app arpa asia biz blog cat click cloud com coop dev edu gov info int jobs link live local mil mobi museum name \
net online org page post pro shop site store tech tel test top travel web website wiki work xxx xyz zip";

const LONGEST_TOP: usize = 7;

/// The text after a dot, as far as it could be a label of a domain: its length, and whether it could be the last label.
pub(super) fn label_of_domain(window: Window<'_>) -> Option<(usize, bool)> {
    let end = window.text.find(|c: char| !c.is_alphanumeric() && c != '-');
    if end.is_none() && !window.whole {
        return None;
    }
    let label = &window.text[..end.unwrap_or(window.text.len())];
    let lower = label.to_ascii_lowercase();
    let is_known = lower.len() <= LONGEST_TOP && TOP.split(' ').any(|top| top == lower);
    let is_top = is_known || !label.is_ascii() || lower.starts_with("xn--");
    Some((label.len(), is_top))
}

/// A text as a code span, without characters that could end it.
pub(super) fn as_code(text: &str) -> String {
    format!("`{}`", text.replace('`', "").replace('|', "%7C"))
}

/// A text escaped for the label of a link; `is_first` is whether it is at the beginning of the label.
pub(super) fn as_label(text: &str, is_first: bool) -> String {
    let mut label = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => label.push_str(LESS),
            '&' => label.push_str(AMPERSAND),
            c if "\\`*[]{|~".contains(c) || (c == '^' && is_first && label.is_empty()) => label.extend(['\\', c]),
            c => label.push(c),
        }
    }
    label
}
