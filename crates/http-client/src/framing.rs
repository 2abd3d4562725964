//! Where the body of an HTTP/1.1 answer ends, and what of the bytes is body: a machine without IO.

use bytes::BytesMut;
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::response::Parts;
use http::{Method, StatusCode};
use thiserror::Error;

/// How long the line of a chunk's size may be, and all trailers together.
const LONGEST_ASIDE: usize = 16 << 10;

/// How a body is delimited, and how much of it is still to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// So many bytes more.
    Sized(u64),
    Chunked(Place),
    /// Everything until the connection ends.
    UntilClosed,
}

/// Where in a body of chunks the next byte is. Line ends may lack their carriage return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the digits of a size: those so far, and how many.
    Size {
        size: u64,
        digits: u8,
    },
    /// Behind the digits of a size, so many bytes of the line so far.
    Extension {
        size: u64,
        length: usize,
    },
    Data(u64),
    DataEnds,
    /// In a trailer: how many bytes of all trailers so far, and of this line.
    Trailers {
        length: usize,
        line: usize,
    },
    End,
}

/// What comes is no body of this framing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum FramingError {
    #[error("it gives its length in two ways")]
    TwoLengths,
    #[error("its length is no number")]
    Length,
    #[error("it is encoded in a way that was not asked for")]
    Encoding,
    #[error("a chunk has no size")]
    Size,
    #[error("a chunk is longer than it says")]
    Chunk,
    #[error("there is more around its chunks than belongs there")]
    Aside,
    #[error("it ended before its end")]
    Cut,
}

impl Framing {
    /// How the answer to a request is delimited.
    pub(crate) fn of(method: &Method, head: &Parts) -> Result<Self, FramingError> {
        if method == Method::HEAD || matches!(head.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) {
            return Ok(Self::Sized(0));
        }
        let mut lengths = head.headers.get_all(CONTENT_LENGTH).iter();
        let mut encodings = head.headers.get_all(TRANSFER_ENCODING).iter();
        match (encodings.next(), lengths.next()) {
            (Some(_), Some(_)) => Err(FramingError::TwoLengths),
            (Some(encoding), None) => {
                let is_chunked = encoding.as_bytes().trim_ascii().eq_ignore_ascii_case(b"chunked");
                if is_chunked && encodings.next().is_none() {
                    Ok(Self::Chunked(Place::BEGIN))
                } else {
                    Err(FramingError::Encoding)
                }
            }
            (None, Some(length)) => {
                if lengths.any(|other| other != length) {
                    return Err(FramingError::TwoLengths);
                }
                let length = length.to_str().ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
                length.and_then(|text| text.parse().ok()).map(Self::Sized).ok_or(FramingError::Length)
            }
            (None, None) => Ok(Self::UntilClosed),
        }
    }

    /// Whether the whole body has been read.
    pub(crate) const fn is_over(self) -> bool {
        matches!(self, Self::Sized(0) | Self::Chunked(Place::End))
    }

    /// Adds to `body` what of these bytes belongs to it, and says how many were read: all, unless the body ends before.
    pub(crate) fn read(&mut self, bytes: &[u8], body: &mut BytesMut) -> Result<usize, FramingError> {
        match self {
            Self::UntilClosed => {
                body.extend_from_slice(bytes);
                Ok(bytes.len())
            }
            Self::Sized(left) => Ok(take(left, bytes, body)),
            Self::Chunked(place) => place.read(bytes, body),
        }
    }

    /// The connection has ended: is that the end of the body too?
    pub(crate) const fn closed(self) -> Result<(), FramingError> {
        if self.is_over() || matches!(self, Self::UntilClosed) { Ok(()) } else { Err(FramingError::Cut) }
    }
}

impl Place {
    pub(crate) const BEGIN: Self = Self::Size { size: 0, digits: 0 };

    fn read(&mut self, bytes: &[u8], body: &mut BytesMut) -> Result<usize, FramingError> {
        let mut at = 0;
        while at < bytes.len() && *self != Self::End {
            if let Self::Data(left) = self {
                at += take(left, &bytes[at..], body);
                if *left == 0 {
                    *self = Self::DataEnds;
                }
                continue;
            }
            *self = self.after(bytes[at])?;
            at += 1;
        }
        Ok(at)
    }

    /// Where one is behind a byte that is no data.
    fn after(self, byte: u8) -> Result<Self, FramingError> {
        Ok(match (self, byte) {
            (Self::Size { size, digits }, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') if digits < 16 => {
                let digit = char::from(byte).to_digit(16).unwrap_or_default();
                Self::Size { size: size << 4 | u64::from(digit), digits: digits + 1 }
            }
            (Self::Size { digits: 0, .. }, _) => return Err(FramingError::Size),
            (Self::Size { size, .. } | Self::Extension { size, .. }, b'\n') => match size {
                0 => Self::Trailers { length: 0, line: 0 },
                size => Self::Data(size),
            },
            (Self::Size { size, .. }, b'\r' | b';' | b' ' | b'\t') => Self::Extension { size, length: 0 },
            (Self::Size { .. }, _) => return Err(FramingError::Size),
            (Self::Extension { length: LONGEST_ASIDE.., .. } | Self::Trailers { length: LONGEST_ASIDE.., .. }, _) => {
                return Err(FramingError::Aside);
            }
            (Self::Extension { size, length }, _) => Self::Extension { size, length: length + 1 },
            (Self::DataEnds, b'\r') => Self::DataEnds,
            (Self::DataEnds, b'\n') => Self::BEGIN,
            (Self::DataEnds | Self::Data(_), _) => return Err(FramingError::Chunk),
            (Self::Trailers { line: 0, .. }, b'\n') | (Self::End, _) => Self::End,
            (Self::Trailers { length, .. }, b'\n') => Self::Trailers { length: length + 1, line: 0 },
            (Self::Trailers { length, line }, b'\r') => Self::Trailers { length: length + 1, line },
            (Self::Trailers { length, line }, _) => Self::Trailers { length: length + 1, line: line + 1 },
        })
    }
}

/// Moves as many bytes as are left, and there, to the body.
fn take(left: &mut u64, bytes: &[u8], body: &mut BytesMut) -> usize {
    let taken = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
    body.extend_from_slice(&bytes[..taken]);
    *left -= taken as u64;
    taken
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn framing(method: &Method, status: u16, headers: &[(&str, &str)]) -> Result<Framing, FramingError> {
        let mut answer = http::Response::builder().status(status);
        for (name, value) in headers {
            answer = answer.header(*name, *value);
        }
        Framing::of(method, &answer.body(()).expect("an answer").into_parts().0)
    }

    fn read(pieces: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Result<(Vec<u8>, Framing), FramingError> {
        let (mut framing, mut body) = (Framing::Chunked(Place::BEGIN), BytesMut::new());
        for piece in pieces {
            framing.read(piece.as_ref(), &mut body)?;
        }
        Ok((body.to_vec(), framing))
    }

    #[test]
    fn the_head_says_how_a_body_ends() {
        let chunked = Framing::Chunked(Place::BEGIN);
        for (status, headers, expected) in [
            (200, &[][..], Ok(Framing::UntilClosed)),
            (204, &[("content-length", "7")], Ok(Framing::Sized(0))),
            (200, &[("content-length", "7")], Ok(Framing::Sized(7))),
            (200, &[("content-length", "7"), ("content-length", "7")], Ok(Framing::Sized(7))),
            (200, &[("content-length", "7"), ("content-length", "8")], Err(FramingError::TwoLengths)),
            (200, &[("content-length", "+7")], Err(FramingError::Length)),
            (200, &[("content-length", "99999999999999999999")], Err(FramingError::Length)),
            (200, &[("transfer-encoding", "Chunked")], Ok(chunked)),
            (200, &[("transfer-encoding", "gzip, chunked")], Err(FramingError::Encoding)),
            (200, &[("transfer-encoding", "chunked"), ("content-length", "7")], Err(FramingError::TwoLengths)),
        ] {
            assert_eq!(framing(&Method::GET, status, headers), expected, "{status} {headers:?}");
        }
        assert_eq!(framing(&Method::HEAD, 200, &[("content-length", "7")]), Ok(Framing::Sized(0)));
    }

    #[test]
    fn chunks_in_every_way_of_writing_them_are_read() {
        for text in [
            "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
            "3;name=value\r\nabc\r\n002 \r\nde\r\n0\r\n\r\n",
            "3\nabc\n2\nde\n0\n\n",
            "3\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: of no use\r\nAnother: one\r\n\r\n",
        ] {
            let (body, framing) = read([text]).expect(text);
            assert_eq!((body.as_slice(), framing.is_over()), (&b"abcde"[..], true), "{text:?}");
        }
        let (_, framing) = read(["3\r\nab"]).expect("so far");
        assert_eq!(framing.closed(), Err(FramingError::Cut));
    }

    #[test]
    fn what_are_no_chunks_is_refused() {
        for (text, error) in [
            ("\r\n", FramingError::Size),
            ("-1\r\n", FramingError::Size),
            ("0x3\r\nabc", FramingError::Size),
            ("11111111111111111\r\n", FramingError::Size),
            ("1\r\nabc", FramingError::Chunk),
            (&format!("1;{}", "a".repeat(LONGEST_ASIDE + 2)), FramingError::Aside),
            (&format!("0\r\n{}", "a: b\r\n".repeat(LONGEST_ASIDE / 5)), FramingError::Aside),
        ] {
            assert_eq!(read([text]).map(drop), Err(error), "{text:.20}");
        }
    }

    #[test]
    fn what_follows_a_body_is_left_alone() {
        let (mut framing, mut body) = (Framing::Chunked(Place::BEGIN), BytesMut::new());
        assert_eq!(framing.read(b"1\r\na\r\n0\r\n\r\nmore", &mut body), Ok(11));
        let mut framing = Framing::Sized(2);
        assert_eq!(framing.read(b"abc", &mut body), Ok(2));
        assert_eq!(&body[..], b"aab");
    }

    proptest! {
        #[test]
        fn however_chunks_are_cut_the_body_is_the_same(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 0..8),
            size in 1_usize..9,
        ) {
            let mut wire = Vec::new();
            for chunk in &chunks {
                wire.extend(format!("{:X}\r\n", chunk.len()).into_bytes());
                wire.extend(chunk);
                wire.extend(b"\r\n");
            }
            wire.extend(b"0\r\n\r\n");
            let (body, framing) = read(wire.chunks(size)).expect("chunks");
            prop_assert_eq!(body, chunks.concat());
            prop_assert!(framing.is_over());
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in "([0-9a-f;\r\n :]|\u{e9}){0,60}", size in 1_usize..9) {
            let whole = read([bytes.as_bytes()]);
            prop_assert_eq!(read(bytes.as_bytes().chunks(size)), whole);
        }
    }
}
