//! The names of AsciiDoc that are plain. Everything not listed here is a construct.

use crate::words::has_word;

/// Endings of files that a page may include: pages, which are held to these rules themselves, and programs, which an
/// agent does not write.
pub(super) const INCLUDED: &str = "adoc asciidoc asc ad bash c cc cpp cs css go gradle groovy h hpp java js kt kts lua php pl properties ps1 py rb \
    rs scala sh sql swift toml ts";

/// Inline and block macros that lay out, link and show. Also the schemes of links.
const MACROS: &str = "anchor asciimath audio btn endif footnote footnoteref ftp http https icon ifdef ifndef image include indexterm \
    indexterm2 irc kbd latexmath link mailto menu stem term toc video xref youtube";

/// Styles of blocks, lists and sections.
const STYLES: &str = "abstract acknowledgments appendix arabic bibliography caution circle colophon comment decimal dedication disc \
    discrete example float glossary horizontal important index asciimath latexmath listing literal loweralpha \
    lowergreek lowerroman no-bullet none normal note open partintro preface qanda quote sidebar source square stem \
    tab tabs tabset tip unordered ordered unstyled upperalpha upperroman verse warning part chapter section";

/// Named attributes of blocks whose values are numbers, names or words.
const BLOCK_ATTRIBUTES: &str = "align alt attribution caption citetitle cols end float footer frame grid halign header height highlight id \
    indent label lang language linenums nowrap options opts orientation pdfwidth poster reftext role rows \
    scaledwidth sidebar start stripes style sync tablepcwidth tabs title valign width window";

/// Attributes of a page whose values are words, whatever the words are.
const WORDS: &str =
    "author authors description email firstname keywords lastname navtitle revdate revnumber revremark title";

/// Attributes of a page that lay it out.
const HARMLESS: &str = "appendix-caption caution-caption example-caption experimental figure-caption hide-uri-scheme icons idprefix \
    idseparator important-caption leveloffset listing-caption nofooter notitle note-caption numbered partnums \
    sectanchors sectids sectlinks sectnumlevels sectnums showtitle table-caption tabs tip-caption warning-caption";

/// Attributes with an effect on how pages are built, whose names no prefix or suffix shows.
const SETTINGS: &str = "allow-uri-read asset-uri-scheme attribute-missing attribute-undefined backend basebackend compat-mode copycss \
    css-signature data-uri docdate docfile docinfo doctitle doctype encoding env favicon filetype header_attributes \
    htmlsyntax iconfont-cdn iconfont-remote linkattrs linkcss max-width outfilesuffix outfile relfileprefix \
    relfilesuffix safe-mode source-highlighter stem subs webfonts xrefstyle";

/// Prefixes of the attributes of Asciidoctor and of its extensions.
const SETTING_PREFIXES: &str = "asciidoctor antora cache coderay diagram docinfo ditaa graphviz highlightjs iconfont kroki mathematical mathjax \
    max- mermaid pdf plantuml prettify pygments rouge safe- site- source- style user-";

pub(super) fn is_macro(name: &str) -> bool {
    has_word(MACROS, name)
}

pub(super) fn is_style(name: &str) -> bool {
    has_word(STYLES, &name.to_ascii_lowercase())
}

pub(super) fn is_block_attribute(name: &str) -> bool {
    has_word(BLOCK_ATTRIBUTES, name)
}

/// Whether the value of an attribute of a page may be any words.
pub(super) fn is_words(name: &str) -> bool {
    has_word(WORDS, name) || name.starts_with("page-")
}

pub(super) fn is_harmless(name: &str) -> bool {
    is_words(name) || has_word(HARMLESS, name) || name.starts_with("toc")
}

/// Whether an attribute of a page is not just a name for words.
pub(super) fn is_setting(name: &str) -> bool {
    has_word(SETTINGS, name)
        || SETTING_PREFIXES.split_whitespace().any(|prefix| name.starts_with(prefix))
        || ["dir", "css", "path", "sheet", "file", "-opts", "-options"].iter().any(|end| name.ends_with(end))
}
