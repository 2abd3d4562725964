//! Evaluates preprocessor conditions: `ifdef`, `ifndef` and `ifeval`.
//!
//! A page may depend on attributes that only its site's build sets. If it is unknown whether an attribute is set, the
//! condition counts as true either way, as does every `ifeval`: a reader, a search and a link to an anchor lose nothing
//! by it.

use super::attributes::{AdocAttributes, Attributes, entry, unwrapped};
use crate::page_builder::Line;

/// The lines of a text whose conditions may be true, without the directives themselves.
pub(super) fn active_lines<'t>(text: &'t str, given: &AdocAttributes) -> Vec<Line<'t>> {
    let lines = Line::all(text);
    if !["ifdef::", "ifndef::", "ifeval::"].iter().any(|directive| text.contains(directive)) {
        return lines;
    }
    let mut attributes = Attributes::of(given, text.len());
    let mut active = Vec::with_capacity(lines.len());
    // For each open directive, whether its content is kept.
    let mut open_conditions: Vec<bool> = Vec::new();
    let mut inactive_depth = 0;
    for line in lines {
        let Some((name, condition, content)) = directive(line.text) else {
            if inactive_depth == 0 {
                if let Some((name, value)) = entry(line.text) {
                    attributes.set(&name, value.map(unwrapped));
                }
                active.push(line);
            }
            continue;
        };
        if name == "endif" {
            if open_conditions.pop() == Some(false) {
                inactive_depth -= 1;
            }
            continue;
        }
        let is_active = name == "ifeval" || inactive_depth > 0 || may_hold(&attributes, name == "ifdef", condition);
        if name != "ifeval" && !content.is_empty() {
            if is_active && inactive_depth == 0 {
                let start = line.end() - 1 - content.len();
                active.push(Line { start, text: content, indent: 0 });
            }
            continue;
        }
        open_conditions.push(is_active);
        inactive_depth += usize::from(!is_active);
    }
    active
}

/// The name of a directive, its condition, and the content of its brackets.
fn directive(line: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = line.split_once("::")?;
    let (condition, content) = rest.strip_suffix(']')?.split_once('[')?;
    let fits = ["ifdef", "ifndef"].contains(&name) && !condition.is_empty()
        || name == "ifeval" && condition.is_empty()
        || name == "endif";
    fits.then_some((name, condition, content))
}

/// Whether a condition may be true: in a list with `,` one attribute is enough, with `+` all of them are needed.
fn may_hold(attributes: &Attributes<'_>, wants_set: bool, condition: &str) -> bool {
    let is_set = |name: &str| attributes.known(&name.trim().to_lowercase()).map(|value| value.is_some());
    let mut states = condition.split([',', '+']).map(is_set);
    let needs_all = condition.contains('+');
    let set = if needs_all {
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
