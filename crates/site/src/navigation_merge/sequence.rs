//! Three-way merge of a list whose items have names.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::Conflict;

/// An item of the merged list, by its indexes in the lists that contain it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// In all three.
    Kept { base: usize, ours: usize, theirs: usize },
    /// Added on our side.
    Ours(usize),
    /// Added on their side.
    Theirs(usize),
    /// Added on both sides.
    Both { ours: usize, theirs: usize },
}

/// Whether a side left an item of the base unchanged, given the item's indexes in the base and on that side.
pub(super) type IsUnchanged<'a> = dyn Fn(usize, usize) -> bool + 'a;

/// The merged list. An item that one side removed is dropped. It is a conflict if the other side changed that item, if
/// a list has two items of the same name, or if their side reorders items of the base.
pub(super) fn merged(
    [base, ours, theirs]: [&[String]; 3],
    is_ours_unchanged: &IsUnchanged<'_>,
    is_theirs_unchanged: &IsUnchanged<'_>,
) -> Result<Vec<Slot>, Conflict> {
    let (in_base, in_ours, in_theirs) = (places(base)?, places(ours)?, places(theirs)?);
    let common: Vec<usize> = theirs.iter().filter_map(|name| in_base.get(name.as_str()).copied()).collect();
    if !common.is_sorted() {
        return Err(Conflict);
    }
    let mut slots = Vec::new();
    for (at, name) in ours.iter().enumerate() {
        match (in_base.get(name.as_str()), in_theirs.get(name.as_str())) {
            (Some(&base), Some(&theirs)) => slots.push(Slot::Kept { base, ours: at, theirs }),
            (None, Some(&theirs)) => slots.push(Slot::Both { ours: at, theirs }),
            (None, None) => slots.push(Slot::Ours(at)),
            (Some(&base), None) if is_ours_unchanged(base, at) => {}
            (Some(_), None) => return Err(Conflict),
        }
    }
    // An addition of theirs goes after the item that precedes it on their side, and after our additions at that place.
    let mut next = 0;
    for (at, name) in theirs.iter().enumerate() {
        match (in_base.get(name.as_str()), in_ours.contains_key(name.as_str())) {
            (_, true) => next = 1 + slots.iter().position(|slot| slot.theirs() == Some(at)).ok_or(Conflict)?,
            (Some(&base), false) if is_theirs_unchanged(base, at) => {}
            (Some(_), false) => return Err(Conflict),
            (None, false) => {
                next += slots[next..].iter().take_while(|slot| matches!(slot, Slot::Ours(_))).count();
                slots.insert(next, Slot::Theirs(at));
                next += 1;
            }
        }
    }
    Ok(slots)
}

impl Slot {
    fn theirs(self) -> Option<usize> {
        match self {
            Self::Kept { theirs, .. } | Self::Theirs(theirs) | Self::Both { theirs, .. } => Some(theirs),
            Self::Ours(_) => None,
        }
    }
}

fn places(names: &[String]) -> Result<HashMap<&str, usize>, Conflict> {
    let mut places = HashMap::new();
    for (at, name) in names.iter().enumerate() {
        match places.entry(name.as_str()) {
            Entry::Vacant(free) => free.insert(at),
            Entry::Occupied(_) => return Err(Conflict),
        };
    }
    Ok(places)
}
