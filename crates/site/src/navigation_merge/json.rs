//! Merges navigation in JSON.

use super::Conflict;
use super::sequence::{self, Slot};
use crate::navigation_json::{self, Json, Value};

/// Members that identify an item of a list.
const NAMES: [&str; 15] = [
    "group", "tab", "anchor", "dropdown", "product", "item", "version", "language", "label", "id", "href", "source",
    "name", "title", "page",
];

/// `None` if one of the texts is not JSON.
pub(super) fn merged(base: &str, ours: &str, theirs: &str) -> Option<Result<String, Conflict>> {
    let read = |text| navigation_json::read(text).ok();
    let (base, our, their) = (read(base)?, read(ours)?, read(theirs)?);
    let merge = Merge { ours, theirs };
    Some(merge.value(Some(&base), &our, &their).and_then(|value| {
        let text = format!("{}{value}{}", &ours[..our.span.start], &ours[our.span.end..]);
        let is_strict = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        // Strict JSON has to stay strict, so that the generator can still read it.
        let is_read = navigation_json::read(&text).is_ok() && (is_strict(&text) || !is_strict(ours));
        if is_read { Ok(text) } else { Err(Conflict) }
    }))
}

struct Merge<'t> {
    ours: &'t str,
    theirs: &'t str,
}

impl<'t> Merge<'t> {
    /// Merges a value and returns its text. Without a base, both sides added the value.
    fn value(&self, base: Option<&Json>, our: &Json, their: &Json) -> Result<String, Conflict> {
        if is_same(our, their) || base.is_some_and(|base| is_same(base, their)) {
            return Ok(self.ours[our.span.clone()].to_owned());
        }
        if base.is_some_and(|base| is_same(base, our)) {
            return Ok(self.theirs[their.span.clone()].to_owned());
        }
        match (base.map(|base| &base.value), &our.value, &their.value) {
            (Some(Value::List(_)) | None, Value::List(_), Value::List(_)) => self.list(base, our, their),
            (Some(Value::Object(_)) | None, Value::Object(ours), Value::Object(theirs)) => {
                self.object(base, (our, ours), theirs)
            }
            _ => Err(Conflict),
        }
    }

    fn list(&self, base: Option<&Json>, our: &Json, their: &Json) -> Result<String, Conflict> {
        let (bases, ours, theirs) = (base.map_or(&[][..], Json::list), our.list(), their.list());
        let names = [bases, ours, theirs].map(|items| items.iter().map(name).collect::<Vec<_>>());
        let slots = sequence::merged(
            names.each_ref().map(Vec::as_slice),
            &|base, ours_at| is_same(&bases[base], &ours[ours_at]),
            &|base, theirs_at| is_same(&bases[base], &theirs[theirs_at]),
        )?;
        // An empty list takes its formatting from the other side.
        let (style, items, text) = if ours.is_empty() { (their, theirs, self.theirs) } else { (our, ours, self.ours) };
        let (Some(first), Some(last)) = (items.first(), items.last()) else { return Err(Conflict) };
        let lead = space(&text[style.span.start + 1..first.span.start])?;
        // The whitespace before a new item that is not the first.
        let gap = match items {
            [first, second, ..] if lead.is_empty() => space(&text[first.span.end..second.span.start])?,
            _ if lead.is_empty() => " ",
            _ => lead,
        };
        let tail = space(&text[last.span.end..style.span.end - 1])?;
        let mut out = "[".to_owned();
        for (at, slot) in slots.iter().enumerate() {
            let before = match *slot {
                _ if at == 0 => lead,
                Slot::Kept { ours: place, .. } | Slot::Ours(place) | Slot::Both { ours: place, .. } if place > 0 => {
                    space(&self.ours[ours[place - 1].span.end..ours[place].span.start])?
                }
                _ => gap,
            };
            if at > 0 {
                out.push(',');
            }
            out.push_str(before);
            match *slot {
                Slot::Kept { base, ours: our, theirs: their } => {
                    out.push_str(&self.value(Some(&bases[base]), &ours[our], &theirs[their])?);
                }
                Slot::Both { ours: our, theirs: their } => {
                    out.push_str(&self.value(None, &ours[our], &theirs[their])?);
                }
                Slot::Ours(our) => out.push_str(&self.ours[ours[our].span.clone()]),
                Slot::Theirs(their) => out.push_str(&self.theirs[theirs[their].span.clone()]),
            }
        }
        if !slots.is_empty() {
            out.push_str(tail);
        }
        out.push(']');
        Ok(out)
    }

    fn object(
        &self,
        base: Option<&Json>,
        (our, ours): (&Json, &[(String, Json)]),
        theirs: &[(String, Json)],
    ) -> Result<String, Conflict> {
        let base_of = |name: &str| base.and_then(|base| base.get(name));
        if ours.is_empty() {
            return Err(Conflict);
        }
        for (name, their) in theirs {
            // Removed on our side and changed on theirs.
            if our.get(name).is_none() && base_of(name).is_some_and(|base| !is_same(base, their)) {
                return Err(Conflict);
            }
        }
        let mut out = String::new();
        let mut at = our.span.start;
        for (name, value) in ours {
            let their = theirs.iter().find(|(known, _)| known == name).map(|(_, value)| value);
            let merged = match (base_of(name), their) {
                (base, Some(their)) => self.value(base, value, their)?,
                (None, None) => self.ours[value.span.clone()].to_owned(),
                // The removal of a member is left to the user.
                (Some(_), None) => return Err(Conflict),
            };
            out.push_str(&self.ours[at..value.span.start]);
            out.push_str(&merged);
            at = value.span.end;
        }
        let new = theirs.iter().filter(|(name, _)| our.get(name).is_none() && base_of(name).is_none());
        for (name, value) in new {
            let inside = &self.ours[our.span.start + 1..our.span.end];
            let lead = &inside[..inside.len() - inside.trim_start().len()];
            let (name, value) = (serde_json::Value::from(name.as_str()), &self.theirs[value.span.clone()]);
            out.push_str(&format!(",{lead}{name}: {value}"));
        }
        out.push_str(&self.ours[at..our.span.end]);
        Ok(out)
    }
}

/// The key that identifies an item of a list.
fn name(item: &Json) -> String {
    if let Some(text) = item.text() {
        return format!("\"{text}");
    }
    let known = NAMES.iter().find_map(|name| Some(format!("{name} {}", item.get(name)?.text()?)));
    known.unwrap_or_else(|| written(item))
}

/// A value without its formatting.
fn written(json: &Json) -> String {
    match &json.value {
        Value::Text(text) => serde_json::Value::from(text.as_str()).to_string(),
        Value::Other(text) => text.clone(),
        Value::List(items) => format!("[{}]", items.iter().map(written).collect::<Vec<_>>().join(",")),
        Value::Object(members) => {
            let members: Vec<String> =
                members.iter().map(|(name, value)| format!("{name}:{}", written(value))).collect();
            format!("{{{}}}", members.join(","))
        }
    }
}

/// Whether two values are equal, whatever the order of their members.
fn is_same(a: &Json, b: &Json) -> bool {
    match (&a.value, &b.value) {
        (Value::Text(a), Value::Text(b)) | (Value::Other(a), Value::Other(b)) => a == b,
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b)),
        (Value::Object(members), Value::Object(others)) => {
            let other = |name: &str| b.get(name);
            members.len() == others.len()
                && members.iter().all(|(name, value)| other(name).is_some_and(|other| is_same(value, other)))
        }
        _ => false,
    }
}

/// The whitespace between two items. Comments are a conflict, because they would be lost.
fn space(between: &str) -> Result<&str, Conflict> {
    let trimmed = between.trim_start();
    let space = match trimmed.strip_prefix(',') {
        Some(after) => after,
        None => between,
    };
    if space.trim().is_empty() { Ok(space) } else { Err(Conflict) }
}
