//! Evaluates preprocessor conditions: `ifdef`, `ifndef` and `ifeval`.
//!
//! A page may depend on attributes that only its site's build sets. If it is unknown whether an attribute is set, the
//! condition counts as true either way, as does every `ifeval`: a reader, a search and a link to an anchor lose nothing
//! by it.

use super::attributes::{AdocAttributes, Attributes, entry, unwrapped};
use crate::page_builder::Line;

/// The lines of a text whose conditions may be true, without the directives themselves.
pub(super) fn taken<'t>(text: &'t str, given: &AdocAttributes) -> Vec<Line<'t>> {
    let lines = Line::all(text);
    if !["ifdef::", "ifndef::", "ifeval::"].iter().any(|directive| text.contains(directive)) {
        return lines;
    }
    let mut attributes = Attributes::of(given);
    let mut taken = Vec::with_capacity(lines.len());
    // For each open directive, whether its content is kept.
    let mut around: Vec<bool> = Vec::new();
    let mut left_out = 0;
    for line in lines {
        let Some((name, what, inside)) = directive(line.text) else {
            if left_out == 0 {
                if let Some((name, value)) = entry(line.text) {
                    attributes.set(&name, value.map(unwrapped));
                }
                taken.push(line);
            }
            continue;
        };
        if name == "endif" {
            if around.pop() == Some(false) {
                left_out -= 1;
            }
            continue;
        }
        let is_read = name == "ifeval" || left_out > 0 || may_be(&attributes, name == "ifdef", what);
        if name != "ifeval" && !inside.is_empty() {
            if is_read && left_out == 0 {
                let start = line.end() - 1 - inside.len();
                taken.push(Line { start, text: inside, indent: 0 });
            }
            continue;
        }
        around.push(is_read);
        left_out += usize::from(!is_read);
    }
    taken
}

/// The name of a directive, its condition, and the content of its brackets.
fn directive(line: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = line.split_once("::")?;
    let (what, inside) = rest.strip_suffix(']')?.split_once('[')?;
    let fits = ["ifdef", "ifndef"].contains(&name) && !what.is_empty()
        || name == "ifeval" && what.is_empty()
        || name == "endif";
    fits.then_some((name, what, inside))
}

/// Whether a condition may be true: in a list with `,` one attribute is enough, with `+` all of them are needed.
fn may_be(attributes: &Attributes<'_>, wants_set: bool, what: &str) -> bool {
    let is_set = |name: &str| attributes.known(&name.trim().to_lowercase()).map(|value| value.is_some());
    let mut states = what.split([',', '+']).map(is_set);
    let all = what.contains('+');
    let set = if all {
        states.try_fold(true, |all, state| Some(all && state?))
    } else {
        // One that is set decides, even if others are unknown.
        let states: Vec<Option<bool>> = states.collect();
        if states.contains(&Some(true)) {
            Some(true)
        } else {
            states.into_iter().try_fold(false, |any, state| Some(any || state?))
        }
    };
    set.is_none_or(|set| set == wants_set)
}
