//! The memory that request bodies may take, counted over all connections of the process.
//!
//! Bytes count when they arrive, not when `Content-Length` announces them, so a client that announces much and sends
//! little takes little. When the memory is used up a new body is refused at once, so that those being read can
//! complete.
//!
//! A large body is gathered in pages mapped straight from the operating system. They become resident as they are
//! written, grow without a copy, and go back to the system when the body is dropped. A general allocator keeps memory
//! that one thread allocated and another freed: 400 bodies of 4 MiB still took 2 GiB of this process half a minute
//! after their clients had gone.

use std::mem;
use std::time::Duration;

use bytes::Bytes;
use docent_types::{Refusal, RefusalKind, lone_surrogate, replace_lone_surrogates};
use memmap2::MmapMut;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Capacity, in bytes.
const CAPACITY: usize = 256 * 1024 * 1024;
/// Value of `Retry-After`. Bodies are mostly read within milliseconds.
const RETRY_AFTER: Duration = Duration::from_secs(2);

static OF_THE_PROCESS: MemoryBudget = MemoryBudget::of(CAPACITY);

/// One permit per byte.
#[derive(Debug)]
pub(crate) struct MemoryBudget(Semaphore);

impl MemoryBudget {
    pub(crate) const fn of(bytes: usize) -> Self {
        Self(Semaphore::const_new(bytes))
    }
}

/// Memory that one body takes, released on drop.
#[derive(Debug)]
pub(crate) struct Reservation {
    room: &'static MemoryBudget,
    taken: Option<SemaphorePermit<'static>>,
}

impl Default for Reservation {
    fn default() -> Self {
        Self::in_room(&OF_THE_PROCESS)
    }
}

impl Reservation {
    pub(crate) const fn in_room(room: &'static MemoryBudget) -> Self {
        Self { room, taken: None }
    }

    /// Grows the reservation to `bytes` in total; never shrinks.
    ///
    /// # Errors
    /// 503 if not enough bytes are left.
    fn grow_to(&mut self, bytes: usize) -> Result<(), Refusal> {
        let more = bytes.saturating_sub(self.taken.as_ref().map_or(0, SemaphorePermit::num_permits));
        let taken = u32::try_from(more).ok().and_then(|more| self.room.0.try_acquire_many(more).ok());
        let taken = taken.ok_or_else(no_room)?;
        match &mut self.taken {
            Some(before) => before.merge(taken),
            None => self.taken = Some(taken),
        }
        Ok(())
    }
}

fn no_room() -> Refusal {
    let sentence = format!(
        "the memory for request bodies is used up; send the request again in {} seconds",
        RETRY_AFTER.as_secs()
    );
    Refusal::new(RefusalKind::Unavailable(RETRY_AFTER), sentence)
}

/// The part of a body that has arrived.
#[derive(Debug)]
pub(crate) struct BufferedBody {
    storage: Storage,
    /// The length that the body must not exceed, in bytes.
    limit: usize,
}

#[derive(Debug)]
enum Storage {
    /// Most bodies come in one piece, and need no copy.
    One(Bytes),
    Small(Vec<u8>),
    Large {
        pages: MmapMut,
        length: usize,
    },
}

impl BufferedBody {
    /// Maximum size of a body in ordinary memory, in bytes. A larger body also grows its mapping in steps of this size,
    /// which bounds the number of mappings in the process.
    const SMALL: usize = 64 * 1024;

    pub(crate) const fn of_at_most(limit: usize) -> Self {
        Self { storage: Storage::One(Bytes::new()), limit }
    }

    pub(crate) fn len(&self) -> usize {
        match &self.storage {
            Storage::One(bytes) => bytes.len(),
            Storage::Small(bytes) => bytes.len(),
            Storage::Large { length, .. } => *length,
        }
    }

    /// Adds a piece. The total must not exceed `limit`.
    ///
    /// # Errors
    /// 503 when there is no memory for it.
    pub(crate) fn add(&mut self, piece: Bytes, held: &mut Reservation) -> Result<(), Refusal> {
        let length = self.len() + piece.len();
        if self.len() == 0 {
            held.grow_to(length)?;
            self.storage = Storage::One(piece);
            return Ok(());
        }
        if length <= Self::SMALL {
            // Twice the bytes received, as a vector grows.
            held.grow_to((length * 2).min(Self::SMALL))?;
        } else {
            held.grow_to(length.next_multiple_of(Self::SMALL))?;
        }
        let before = mem::replace(&mut self.storage, Storage::One(Bytes::new()));
        self.storage = match before {
            Storage::Large { mut pages, length: from } => {
                pages[from..length].copy_from_slice(&piece);
                Storage::Large { pages, length }
            }
            Storage::Small(mut bytes) if length <= Self::SMALL => {
                bytes.extend_from_slice(&piece);
                Storage::Small(bytes)
            }
            Storage::One(bytes) if length <= Self::SMALL => Storage::Small([bytes, piece].concat()),
            Storage::One(bytes) => self.large(&[&bytes, &piece])?,
            Storage::Small(bytes) => self.large(&[&bytes, &piece])?,
        };
        Ok(())
    }

    fn large(&self, parts: &[&[u8]]) -> Result<Storage, Refusal> {
        let mut pages = MmapMut::map_anon(self.limit).map_err(|error| {
            tracing::warn!(%error, "no memory for the body of a request");
            no_room()
        })?;
        let mut length = 0;
        for part in parts {
            pages[length..length + part.len()].copy_from_slice(part);
            length += part.len();
        }
        Ok(Storage::Large { pages, length })
    }

    /// The whole body, with U+FFFD for the lone surrogates of its JSON. The bytes are changed in place; only a body that
    /// came in one piece, which is never large, is copied.
    pub(crate) fn whole_json(self) -> Bytes {
        let storage = match self.storage {
            Storage::One(bytes) if lone_surrogate(&bytes, 0).is_some() => {
                let mut bytes = Vec::from(bytes);
                replace_lone_surrogates(&mut bytes);
                Storage::Small(bytes)
            }
            Storage::One(bytes) => Storage::One(bytes),
            Storage::Small(mut bytes) => {
                replace_lone_surrogates(&mut bytes);
                Storage::Small(bytes)
            }
            Storage::Large { mut pages, length } => {
                replace_lone_surrogates(&mut pages[..length]);
                Storage::Large { pages, length }
            }
        };
        Self { storage, ..self }.whole()
    }

    pub(crate) fn whole(self) -> Bytes {
        match self.storage {
            Storage::One(bytes) => bytes,
            Storage::Small(bytes) => bytes.into(),
            Storage::Large { pages, length } => Bytes::from_owner(pages).slice(..length),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn gathered(pieces: &[usize], limit: usize, held: &mut Reservation) -> Result<Bytes, Refusal> {
        let mut gathered = BufferedBody::of_at_most(limit);
        let mut next = 0u8;
        for piece in pieces {
            let bytes: Vec<u8> = (0..*piece)
                .map(|_| {
                    next = next.wrapping_add(1);
                    next
                })
                .collect();
            gathered.add(bytes.into(), held)?;
        }
        Ok(gathered.whole())
    }

    #[test]
    fn the_room_follows_what_arrived_and_not_what_was_announced() {
        static CAPACITY: MemoryBudget = MemoryBudget::of(1 << 20);
        let mut held = Reservation::in_room(&CAPACITY);
        let mut body = BufferedBody::of_at_most(4 << 20);
        for _ in 0..10 {
            body.add(Bytes::from(vec![b'x'; 10_000]), &mut held).expect("there is room");
        }
        assert!((1 << 20) - CAPACITY.0.available_permits() < 200_000, "{:?}", CAPACITY.0);
        while body.add(Bytes::from(vec![b'x'; 10_000]), &mut held).is_ok() {}
        assert!(body.len() > 900_000, "{}", body.len());
        drop(held);
        assert_eq!(CAPACITY.0.available_permits(), 1 << 20);
    }

    proptest! {
        #[test]
        fn pieces_of_any_size_are_one_body_in_their_order(pieces in prop::collection::vec(0usize..50_000, 0..12)) {
            let whole: usize = pieces.iter().sum();
            let body = gathered(&pieces, whole, &mut Reservation::default()).expect("there is room");
            prop_assert_eq!(body.len(), whole);
            prop_assert!(body.iter().zip(1..).all(|(byte, place)| *byte == (place % 256) as u8));
        }
    }

    #[test]
    fn held_bytes_are_counted_once_and_released() {
        static CAPACITY: MemoryBudget = MemoryBudget::of(10);
        let (mut one, mut other) = (Reservation::in_room(&CAPACITY), Reservation::in_room(&CAPACITY));
        assert!(one.grow_to(4).is_ok() && one.grow_to(6).is_ok() && one.grow_to(3).is_ok());
        assert!(other.grow_to(4).is_ok());
        let refused = other.grow_to(5).expect_err("no room");
        assert_eq!(refused.kind, RefusalKind::Unavailable(RETRY_AFTER));
        drop(one);
        assert!(other.grow_to(10).is_ok());
        assert!(Reservation::in_room(&CAPACITY).grow_to(1).is_err());
        assert!(Reservation::in_room(&CAPACITY).grow_to(usize::MAX).is_err());
        drop(other);
        assert_eq!(CAPACITY.0.available_permits(), 10);
    }
}
