//! The directives, options and roles that are not code. Everything not listed here is code.

use crate::words::has_word;

/// Directives that lay out text, or number or name something. Their arguments and content are parsed as text, or
/// displayed.
const DIRECTIVES: &str = "admonition attention attribute card caution centered class code code-block code-tab compound confval constant \
    container contents csv-table danger data date decorator default-role deprecated describe dropdown enum \
    enumerator envvar epigraph error event exception figure footer function glossary grid grid-item grid-item-card \
    group-tab header highlight highlights hint hlist image important include index list-table literalinclude macro \
    math member method note object only option parsed-literal productionlist program property pull-quote replace \
    role rst-class rubric sectnum seealso sidebar sourcecode struct tab tab-item tab-set table tabs tip toctree todo \
    topic type unicode union var versionadded versionchanged versionremoved warning";

/// Directives that may be used in a substitution definition.
pub(super) const SUBSTITUTIONS: [&str; 4] = ["date", "image", "replace", "unicode"];

/// Options of those directives, except those that name a file or a URL (`file`, `url`, `diff`), that change how a text
/// is parsed (`parser`, `encoding`, `delim`), and that import a module (`module`).
const OPTIONS: &str = "abstract abstractmethod align alt animate annotation async backlinks canonical caption chevron class classmethod \
    code collapsible color columns dedent default deprecated depth direction emphasize-lines end-at end-before \
    end-line figclass figname figwidth final force glob gutter header header-rows height hidden icon includehidden \
    label language lineno-match lineno-start linenos linenothreshold lines link link-alt link-type literal local \
    ltrim margin maxdepth name no-contents-entry no-index no-index-entry no-typesetting nocontentsentry noindex \
    noindexentry nosearch nowrap number-lines numbered open outline padding platform prefix property pyobject \
    required reverse reversed rtrim scale selected shadow single-line-parameter-list single-line-type-parameter-list \
    sorted start start-after start-at start-line staticmethod stub-columns subtitle suffix sync synopsis target \
    text-align titlesonly trim type value width widths";

/// Roles that format text, or refer to something of the site.
const ROLES: &str = "abbr abbreviation any attr class code command confval const data dfn dir doc download emphasis enum enumerator \
    envvar eq exc expr file func guilabel index kbd keyword literal macro mailheader makevar manpage math member \
    menuselection meth mimetype mod newsgroup numref obj option pep program ref regexp rfc role samp strong struct \
    sub subscript sup superscript term texpr title title-reference token type var";

/// Roles from which a custom role may be derived.
pub(super) const BASES: [&str; 10] =
    ["", "code", "emphasis", "literal", "strong", "sub", "subscript", "sup", "superscript", "title-reference"];

/// Sphinx domains (the prefix in `py:function`).
const DOMAINS: [&str; 6] = ["py", "c", "cpp", "js", "rst", "std"];

pub(in crate::code) fn is_directive(name: &str) -> bool {
    has_word(DIRECTIVES, plain(name))
}

pub(in crate::code) fn is_role(name: &str) -> bool {
    has_word(ROLES, plain(name))
}

pub(super) fn is_option(name: &str) -> bool {
    let is_word = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    let name = name.to_ascii_lowercase();
    is_word && (has_word(OPTIONS, &name) || name.starts_with("class-"))
}

/// A name without its domain.
pub(in crate::code) fn plain(name: &str) -> &str {
    match name.split_once(':') {
        Some((domain, rest)) if DOMAINS.contains(&domain) => rest,
        _ => name,
    }
}
