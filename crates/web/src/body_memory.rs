//! The memory that bodies of requests may take, counted over all connections of the process.
//!
//! What is counted is what has arrived, not what was announced: a client that announces much and sends little holds
//! little. Where there is no more room a body is refused at once, so that those that are being read come to their ends.
//!
//! A large body is gathered in pages of its own, straight from the operating system. They become resident as they are written
//! to, need no copy to grow, and are the system's again the moment the body is dropped. An allocator keeps what one thread
//! took and another gave back: 400 bodies of 4 MiB were still 2 GiB of this process half a minute after their clients had gone.

use std::mem;
use std::time::Duration;

use bytes::Bytes;
use docent_types::{Refusal, RefusalKind};
use memmap2::MmapMut;
use tokio::sync::{Semaphore, SemaphorePermit};

/// In bytes.
const ROOM: usize = 256 * 1024 * 1024;
/// When to try again: bodies are mostly read within milliseconds.
const SOON: Duration = Duration::from_secs(2);

static OF_THE_PROCESS: MemoryBudget = MemoryBudget::of(ROOM);

/// So many bytes.
#[derive(Debug)]
pub(crate) struct MemoryBudget(Semaphore);

impl MemoryBudget {
    pub(crate) const fn of(bytes: usize) -> Self {
        Self(Semaphore::const_new(bytes))
    }
}

/// Memory that one body takes. It is free again when this is dropped.
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

    /// Takes so many bytes altogether; never gives any back.
    ///
    /// # Errors
    /// 503 when there are not so many left.
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
        "the server has as many bytes of requests in memory as it may have; send the request again in {} seconds",
        SOON.as_secs()
    );
    Refusal::new(RefusalKind::Unavailable(SOON), sentence)
}

/// A body as far as it has arrived.
#[derive(Debug)]
pub(crate) struct BufferedBody {
    kind: Kind,
    /// More will not come.
    most: usize,
}

#[derive(Debug)]
enum Kind {
    /// Most bodies come in one piece, and need no copy.
    One(Bytes),
    Small(Vec<u8>),
    Large {
        pages: MmapMut,
        length: usize,
    },
}

impl BufferedBody {
    /// Bodies up to this length, in bytes, are small. It is also how much a large one takes of the room at a time, so that
    /// there are never more mappings than the system lets a process have.
    const SMALL: usize = 64 * 1024;

    pub(crate) const fn of_at_most(most: usize) -> Self {
        Self { kind: Kind::One(Bytes::new()), most }
    }

    pub(crate) fn len(&self) -> usize {
        match &self.kind {
            Kind::One(bytes) => bytes.len(),
            Kind::Small(bytes) => bytes.len(),
            Kind::Large { length, .. } => *length,
        }
    }

    /// Adds a piece, which must not be more than may come.
    ///
    /// # Errors
    /// 503 when there is no memory for it.
    pub(crate) fn add(&mut self, piece: Bytes, held: &mut Reservation) -> Result<(), Refusal> {
        let length = self.len() + piece.len();
        if self.len() == 0 {
            held.grow_to(length)?;
            self.kind = Kind::One(piece);
            return Ok(());
        }
        if length <= Self::SMALL {
            // Twice what has come, as a vector grows.
            held.grow_to((length * 2).min(Self::SMALL))?;
        } else {
            held.grow_to(length.next_multiple_of(Self::SMALL))?;
        }
        let before = mem::replace(&mut self.kind, Kind::One(Bytes::new()));
        self.kind = match before {
            Kind::Large { mut pages, length: from } => {
                pages[from..length].copy_from_slice(&piece);
                Kind::Large { pages, length }
            }
            Kind::Small(mut bytes) if length <= Self::SMALL => {
                bytes.extend_from_slice(&piece);
                Kind::Small(bytes)
            }
            Kind::One(bytes) if length <= Self::SMALL => Kind::Small([bytes, piece].concat()),
            Kind::One(bytes) => self.large(&[&bytes, &piece])?,
            Kind::Small(bytes) => self.large(&[&bytes, &piece])?,
        };
        Ok(())
    }

    fn large(&self, parts: &[&[u8]]) -> Result<Kind, Refusal> {
        let mut pages = MmapMut::map_anon(self.most).map_err(|error| {
            tracing::warn!(%error, "no memory for the body of a request");
            no_room()
        })?;
        let mut length = 0;
        for part in parts {
            pages[length..length + part.len()].copy_from_slice(part);
            length += part.len();
        }
        Ok(Kind::Large { pages, length })
    }

    pub(crate) fn whole(self) -> Bytes {
        match self.kind {
            Kind::One(bytes) => bytes,
            Kind::Small(bytes) => bytes.into(),
            Kind::Large { pages, length } => Bytes::from_owner(pages).slice(..length),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn gathered(pieces: &[usize], most: usize, held: &mut Reservation) -> Result<Bytes, Refusal> {
        let mut gathered = BufferedBody::of_at_most(most);
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
        static ROOM: MemoryBudget = MemoryBudget::of(1 << 20);
        let mut held = Reservation::in_room(&ROOM);
        let mut body = BufferedBody::of_at_most(4 << 20);
        for _ in 0..10 {
            body.add(Bytes::from(vec![b'x'; 10_000]), &mut held).expect("there is room");
        }
        assert!((1 << 20) - ROOM.0.available_permits() < 200_000, "{:?}", ROOM.0);
        while body.add(Bytes::from(vec![b'x'; 10_000]), &mut held).is_ok() {}
        assert!(body.len() > 900_000, "{}", body.len());
        drop(held);
        assert_eq!(ROOM.0.available_permits(), 1 << 20);
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
    fn what_is_held_is_counted_once_and_free_again_afterwards() {
        static ROOM: MemoryBudget = MemoryBudget::of(10);
        let (mut one, mut other) = (Reservation::in_room(&ROOM), Reservation::in_room(&ROOM));
        assert!(one.grow_to(4).is_ok() && one.grow_to(6).is_ok() && one.grow_to(3).is_ok());
        assert!(other.grow_to(4).is_ok());
        let refused = other.grow_to(5).expect_err("no room");
        assert_eq!(refused.kind, RefusalKind::Unavailable(SOON));
        drop(one);
        assert!(other.grow_to(10).is_ok());
        assert!(Reservation::in_room(&ROOM).grow_to(1).is_err());
        assert!(Reservation::in_room(&ROOM).grow_to(usize::MAX).is_err());
        drop(other);
        assert_eq!(ROOM.0.available_permits(), 10);
    }
}
