//! Parses server-sent events from bytes that may be split anywhere.
//!
//! Line ends may be `\n`, `\r\n` or `\r`; comments and unknown fields are skipped; several `data` lines are joined. A
//! frame is bounded, so that a server cannot fill the memory with an endless line. Text is decoded line by line, so a
//! character may be split between two chunks.

use memchr::memchr2;

/// Maximum size of a line and of a frame, in bytes.
pub(crate) const FRAME_LIMIT: usize = 4 << 20;

/// One event of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame<'f> {
    /// The name of the event; empty for none.
    pub(crate) event: &'f str,
    pub(crate) data: &'f str,
}

/// A line or a frame beyond [`FRAME_LIMIT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FrameTooLong;

/// Assembles frames.
#[derive(Debug, Default)]
pub(crate) struct FrameReader {
    line: Vec<u8>,
    event: String,
    data: String,
    has_data: bool,
    /// The last byte was `\r`: a following `\n` belongs to it.
    after_return: bool,
    /// Whether the first line was read, which may begin with a byte order mark.
    begun: bool,
}

impl FrameReader {
    /// Parses the next bytes and passes on the frames that end in them, up to the first error.
    pub(crate) fn feed<E: From<FrameTooLong>>(
        &mut self,
        mut bytes: &[u8],
        mut take: impl FnMut(Frame<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_return) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = memchr2(b'\n', b'\r', bytes);
            let text = &bytes[..end.unwrap_or(bytes.len())];
            if self.line.len() + self.data.len() + text.len() > FRAME_LIMIT {
                return Err(FrameTooLong.into());
            }
            self.line.extend_from_slice(text);
            let Some(end) = end else { return Ok(()) };
            self.after_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            if self.line_ended() {
                self.frame_ended(&mut take)?;
            }
        }
        Ok(())
    }

    /// Handles the end of the stream: an unfinished frame is passed on, because some servers omit the last blank line.
    pub(crate) fn end<E>(&mut self, mut take: impl FnMut(Frame<'_>) -> Result<(), E>) -> Result<(), E> {
        self.line_ended();
        self.frame_ended(&mut take)
    }

    /// Parses the line that has ended. Returns whether it was the blank line that ends a frame.
    fn line_ended(&mut self) -> bool {
        let mut bytes = std::mem::take(&mut self.line);
        let is_blank = self.read(&String::from_utf8_lossy(&bytes));
        bytes.clear();
        self.line = bytes;
        is_blank
    }

    fn read(&mut self, mut line: &str) -> bool {
        if !std::mem::replace(&mut self.begun, true) {
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        if line.is_empty() {
            return true;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event),
            "data" => self.add(value),
            // Older releases of llama.cpp report errors in this field.
            "error" => {
                field.clone_into(&mut self.event);
                self.add(value);
            }
            _ => {}
        }
        false
    }

    fn add(&mut self, value: &str) {
        if std::mem::replace(&mut self.has_data, true) {
            self.data.push('\n');
        }
        self.data.push_str(value);
    }

    fn frame_ended<E>(&mut self, take: &mut impl FnMut(Frame<'_>) -> Result<(), E>) -> Result<(), E> {
        let has_data = std::mem::take(&mut self.has_data);
        let taken = if has_data { take(Frame { event: &self.event, data: &self.data }) } else { Ok(()) };
        self.event.clear();
        self.data.clear();
        taken
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Owned = (String, String);

    fn read<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Owned> {
        let (mut reader, mut frames) = (FrameReader::default(), Vec::new());
        let mut take = |frame: Frame<'_>| {
            frames.push((frame.event.to_owned(), frame.data.to_owned()));
            Ok::<_, FrameTooLong>(())
        };
        for chunk in chunks {
            reader.feed(chunk, &mut take).expect("short enough");
        }
        reader.end(take).expect("nobody refuses");
        frames
    }

    fn frame(event: &str, data: &str) -> Owned {
        (event.to_owned(), data.to_owned())
    }

    #[test]
    fn every_shape_of_a_frame_is_read() {
        for (text, frames) in [
            ("data: a\n\ndata:b\r\n\r\ndata: c\r\rdata:  d\n\n", vec!["a", "b", "c", " d"]),
            ("data: a\ndata: b\ndata\n\n", vec!["a\nb\n"]),
            (": comment\n\nid: 1\nretry: 5\nunknown: x\ndata: a\n\n\n\n", vec!["a"]),
            ("\u{feff}data: a\n\ndata: no end", vec!["a", "no end"]),
            ("event: only\n\nno colon\n\n", vec![]),
            ("data:\n\n", vec![""]),
            ("data: a\n\r\ndata: b\n\n", vec!["a", "b"]),
            ("\n\ndata: a\n\nid: 1\ndata: b\n\ndata: c\ndata: d\n\n", vec!["a", "b", "c\nd"]),
        ] {
            let expected: Vec<_> = frames.into_iter().map(|data| frame("", data)).collect();
            assert_eq!(read([text.as_bytes()]), expected, "{text:?}");
        }
        assert_eq!(read([&b"event: ping\ndata: {}\n\ndata: x\n\n"[..]]), [frame("ping", "{}"), frame("", "x")]);
        assert_eq!(read([&b"event: a\n\nevent: b\nevent: c\ndata: x\n\n"[..]]), [frame("c", "x")]);
        assert_eq!(read([&b"error: {}\n\n"[..]]), [frame("error", "{}")]);
    }

    #[test]
    fn a_frame_that_never_ends_is_given_up() {
        for (line, times) in [(vec![b'a'; FRAME_LIMIT / 4], 5), (b"data: 0123456789abcdef\n".to_vec(), FRAME_LIMIT / 8)]
        {
            let mut reader = FrameReader::default();
            let fed = (0..times).try_for_each(|_| reader.feed(&line, |_| panic!("a frame has come")));
            assert_eq!(fed, Err(FrameTooLong));
        }
    }

    proptest! {
        #[test]
        fn however_the_bytes_are_cut_the_frames_are_the_same(
            text in "((data|event|id|:)?:? ?[äß→😀a{}]{0,4}(\r|\n|\r\n)){0,12}",
            size in 1_usize..7,
        ) {
            let whole = read([text.as_bytes()]);
            prop_assert_eq!(read(text.as_bytes().chunks(size)), whole);
        }

        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            read(bytes.chunks(3));
        }
    }
}
