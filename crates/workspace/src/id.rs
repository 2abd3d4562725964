//! The ids git gives to objects, as plain 20 bytes.

use std::fmt;
use std::str::FromStr;

use gix::ObjectId;
use thiserror::Error;

/// Text that is not 40 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("an object id is 40 hexadecimal digits")]
pub struct IdError;

macro_rules! id {
    ($(#[$doc:meta])* $type:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type([u8; 20]);

        impl $type {
            /// The 20 bytes of the id.
            pub const fn as_bytes(&self) -> &[u8; 20] {
                &self.0
            }

            /// An id from its 20 bytes.
            pub const fn from_bytes(bytes: [u8; 20]) -> Self {
                Self(bytes)
            }

            pub(crate) fn object(self) -> ObjectId {
                ObjectId::from_bytes_or_panic(&self.0)
            }
        }

        impl From<ObjectId> for $type {
            fn from(id: ObjectId) -> Self {
                let mut bytes = [0; 20];
                bytes.copy_from_slice(&id.as_slice()[..20]);
                Self(bytes)
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.object().fmt(f)
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $type {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                // gix also accepts the ids of other hashes, which are longer.
                if text.len() != 40 {
                    return Err(IdError);
                }
                ObjectId::from_hex(text.as_bytes()).map(Self::from).map_err(|_| IdError)
            }
        }
    };
}

id! {
    /// A commit.
    CommitId
}
id! {
    /// The content of one file. Equal content has equal ids, in every repository.
    BlobId
}

impl BlobId {
    /// The id git gives to these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        crate::odb::hash(gix::objs::Kind::Blob, bytes).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_back_from_its_digits() {
        let text = "0123456789abcdef0123456789ABCDEF01234567";
        assert_eq!(CommitId::from_str(text).unwrap().to_string(), text.to_lowercase());
        for bad in ["", "0123", "g123456789abcdef0123456789abcdef01234567", "0123456789abcdef0123456789abcdef012345678"]
        {
            assert!(CommitId::from_str(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_blob_has_the_id_git_gives_it() {
        assert_eq!(BlobId::of(b"hello\n").to_string(), "ce013625030ba8dba906f756967f9e9ca394464a");
        assert_eq!(BlobId::of(b"").to_string(), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
    }
}
