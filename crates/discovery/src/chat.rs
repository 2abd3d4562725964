//! The chat a question belongs to, and who may take up its reply.

use std::net::IpAddr;

use docent_types::ProjectId;

/// The longest id that is taken for one, in characters.
const LONGEST: usize = 200;
/// From this length on an id with a digit in it is as good as a secret, as chat clients make them at random. Others may be
/// guessed, or stand in a page, and then several visitors have the same.
const SECRET: usize = 16;

/// A chat's id, as its client has chosen it: 1 to 200 characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ChatId(Box<str>);

impl ChatId {
    /// `None` when this cannot be the id of a chat whose replies are kept for it.
    pub fn of(text: &str) -> Option<Self> {
        (!text.is_empty() && text.chars().nth(LONGEST).is_none()).then(|| Self(text.into()))
    }

    fn is_secret(&self) -> bool {
        self.0.chars().nth(SECRET - 1).is_some() && self.0.contains(|c: char| c.is_ascii_digit())
    }
}

/// A chat as its replies are found by: whoever names the same may read them.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Chat {
    pub(crate) project: ProjectId,
    pub(crate) id: ChatId,
    /// Whose it is, where the id alone does not show that.
    address: Option<IpAddr>,
}

impl Chat {
    pub(crate) fn new(project: ProjectId, id: ChatId, address: IpAddr) -> Self {
        let address = (!id.is_secret()).then_some(address);
        Self { project, id, address }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_a_length_that_an_id_can_have() {
        for (text, is_one) in [("", false), ("a", true), (&"é".repeat(200), true), (&"é".repeat(201), false)] {
            assert_eq!(ChatId::of(text).is_some(), is_one, "{} bytes", text.len());
        }
    }

    #[test]
    fn a_long_id_is_good_from_anywhere_and_a_short_one_from_where_it_was_used() {
        let chat = |id: &str, address: [u8; 4]| {
            let project = ProjectId::parse("acme").expect("a name");
            Chat::new(project, ChatId::of(id).expect("an id"), address.into())
        };
        let (here, there) = ([192, 0, 2, 1], [192, 0, 2, 2]);
        assert_eq!(chat("jBWk0bLlnyoeL6nO", here), chat("jBWk0bLlnyoeL6nO", there));
        assert_ne!(chat("jBWk0bLlnyoeL6n", here), chat("jBWk0bLlnyoeL6n", there));
        assert_ne!(chat("documentation-assistant", here), chat("documentation-assistant", there), "nobody drew that");
        assert_eq!(chat("chat", here), chat("chat", here));
    }
}
