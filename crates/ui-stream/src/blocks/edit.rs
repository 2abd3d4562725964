//! The difference between two states of a block, as edits of its end.

use serde::ser::{Serialize, SerializeSeq, Serializer};

use super::node::{Element, Node};

/// An edit of a block.
#[derive(Debug)]
pub(crate) enum Edit {
    /// It becomes another: `[number, node]`.
    Replace { number: usize, block: Element },
    /// Its end changes: go to the last child `depth` times; there drop the last `drop` children, take `cut` UTF-16 code units from
    /// the end of the text that is then last, and add the children. A text that is added behind a text continues it.
    ///
    /// It is written `[number, depth, drop, -cut, children…]`, without zeros behind the depth: most deltas of a text become one.
    End { number: usize, depth: usize, drop: usize, cut: usize, children: Vec<Node> },
}

impl Serialize for Edit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (number, depth, drop, cut, children) = match self {
            Self::Replace { number, block } => return (number, block).serialize(serializer),
            Self::End { number, depth, drop, cut, children } => (number, depth, drop, cut, children),
        };
        let mut seq = serializer.serialize_seq(None)?;
        seq.serialize_element(number)?;
        seq.serialize_element(depth)?;
        if *drop > 0 {
            seq.serialize_element(drop)?;
        }
        if *cut > 0 {
            seq.serialize_element(&-i64::try_from(*cut).unwrap_or(i64::MAX))?;
        }
        children.iter().try_for_each(|child| seq.serialize_element(child))?;
        seq.end()
    }
}

/// The edits that make `old` to `new`, deepest first.
pub(super) fn edits(number: usize, old: &Element, new: &Element) -> Vec<Edit> {
    if old.kind != new.kind {
        return vec![Edit::Replace { number, block: new.clone() }];
    }
    let mut edits = Vec::new();
    add_edits(number, 0, &old.children, &new.children, &mut edits);
    edits
}

fn add_edits(number: usize, depth: usize, old: &[Node], new: &[Node], edits: &mut Vec<Edit>) {
    let same = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (mut drop, mut cut, mut begin) = (old.len() - same, 0, same);
    let mut children = Vec::new();
    match (old.get(same), new.get(same)) {
        (Some(Node::Text(old)), Some(Node::Text(new))) => {
            let common = common_prefix(old, new);
            if common > 0 {
                drop -= 1;
                cut = old[common..].encode_utf16().count();
                begin += 1;
                children.extend((common < new.len()).then(|| Node::Text(new[common..].to_owned())));
            }
        }
        (Some(Node::Element(old)), Some(Node::Element(new))) if drop == 1 && old.kind == new.kind => {
            add_edits(number, depth + 1, &old.children, &new.children, edits);
            (drop, begin) = (0, begin + 1);
        }
        _ => {}
    }
    children.extend_from_slice(&new[begin..]);
    if drop + cut > 0 || !children.is_empty() {
        edits.push(Edit::End { number, depth, drop, cut, children });
    }
}

fn common_prefix(a: &str, b: &str) -> usize {
    let bytes = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    // Where the bytes before are equal, a boundary in one text is one in the other, unless it is at the end.
    a.floor_char_boundary(bytes).min(b.floor_char_boundary(bytes))
}
