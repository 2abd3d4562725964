//! Server-sent events: bytes, cut anywhere, to frames.
//!
//! Line ends may be `\n`, `\r\n` or `\r`; comments and unknown fields are skipped; several `data` lines are one text. A
//! frame is bounded, so that a server cannot fill the memory with a line that never ends. Text is decoded a line at a time,
//! so a character that two chunks share is whole again.

/// The most bytes of a line, and of a frame.
pub(crate) const FRAME_LIMIT: usize = 4 << 20;

/// One event of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Frame {
    /// Its name; empty for none.
    pub(crate) event: String,
    pub(crate) data: String,
}

/// A line or a frame beyond [`FRAME_LIMIT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLong;

/// Puts frames together.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    line: Vec<u8>,
    frame: Frame,
    has_data: bool,
    /// The last byte was `\r`: a `\n` now belongs to it.
    after_return: bool,
    /// Past the place where a byte order mark may stand.
    begun: bool,
}

impl Reader {
    /// Takes the next bytes and adds the frames that end in them.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], frames: &mut Vec<Frame>) -> Result<(), TooLong> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_return) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let text = &bytes[..end.unwrap_or(bytes.len())];
            if self.line.len() + self.frame.data.len() + text.len() > FRAME_LIMIT {
                return Err(TooLong);
            }
            self.line.extend_from_slice(text);
            let Some(end) = end else { return Ok(()) };
            self.after_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            frames.extend(self.line_ended());
        }
        Ok(())
    }

    /// The stream has ended: what was begun counts, because some servers leave out the last blank line.
    pub(crate) fn end(&mut self) -> Option<Frame> {
        self.line_ended().or_else(|| self.frame_ended())
    }

    fn line_ended(&mut self) -> Option<Frame> {
        let bytes = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&bytes);
        let mut line = text.as_ref();
        if !std::mem::replace(&mut self.begun, true) {
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        if line.is_empty() {
            return self.frame_ended();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.frame.event),
            "data" => self.add(value),
            // Older servers of llama.cpp say so that something went wrong.
            "error" => {
                field.clone_into(&mut self.frame.event);
                self.add(value);
            }
            _ => {}
        }
        None
    }

    fn add(&mut self, value: &str) {
        if std::mem::replace(&mut self.has_data, true) {
            self.frame.data.push('\n');
        }
        self.frame.data.push_str(value);
    }

    fn frame_ended(&mut self) -> Option<Frame> {
        let frame = std::mem::take(&mut self.frame);
        std::mem::take(&mut self.has_data).then_some(frame)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Frame> {
        let (mut reader, mut frames) = (Reader::default(), Vec::new());
        for chunk in chunks {
            reader.feed(chunk, &mut frames).expect("short enough");
        }
        frames.extend(reader.end());
        frames
    }

    fn frame(event: &str, data: &str) -> Frame {
        Frame { event: event.to_owned(), data: data.to_owned() }
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
        ] {
            let expected: Vec<_> = frames.into_iter().map(|data| frame("", data)).collect();
            assert_eq!(read([text.as_bytes()]), expected, "{text:?}");
        }
        assert_eq!(read([&b"event: ping\ndata: {}\n\ndata: x\n\n"[..]]), [frame("ping", "{}"), frame("", "x")]);
        assert_eq!(read([&b"error: {}\n\n"[..]]), [frame("error", "{}")]);
    }

    #[test]
    fn a_frame_that_never_ends_is_given_up() {
        for (line, times) in [(vec![b'a'; FRAME_LIMIT / 4], 5), (b"data: 0123456789abcdef\n".to_vec(), FRAME_LIMIT / 8)]
        {
            let (mut reader, mut frames) = (Reader::default(), Vec::new());
            let fed = (0..times).try_for_each(|_| reader.feed(&line, &mut frames));
            assert_eq!((fed, frames.len()), (Err(TooLong), 0));
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
