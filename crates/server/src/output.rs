//! What commands print for the person who ran them.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, ErrorKind, Write};

use crate::failure::Failure;

/// Prints one line on stdout. A reader that went away (`docent key list | head -1`) has read enough, which is no
/// failure; anything else that hinders is.
pub(crate) fn line(text: impl fmt::Display) -> Result<(), Failure> {
    write(&mut io::stdout().lock(), text)
}

/// As [`line()`], with colours where the output is a terminal that wants them.
pub(crate) fn coloured(text: impl fmt::Display) -> Result<(), Failure> {
    write(&mut anstream::stdout().lock(), text)
}

/// Prints one line beside the output, on stderr. Nobody to read it is no failure.
pub(crate) fn aside(text: impl fmt::Display) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Docs and models may hold what a terminal would obey; lines and tabs are all that is left of it.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    let obeyed = |c: char| c.is_control() && c != '\n' && c != '\t';
    if text.contains(obeyed) { Cow::Owned(text.replace(obeyed, "")) } else { Cow::Borrowed(text) }
}

fn write(out: &mut impl Write, text: impl fmt::Display) -> Result<(), Failure> {
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::new("cannot write to stdout", error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Broken(ErrorKind);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_closed_pipe_is_no_failure_and_a_full_disk_is() {
        assert!(write(&mut Broken(ErrorKind::BrokenPipe), "x").is_ok());
        assert!(write(&mut Broken(ErrorKind::StorageFull), "x").is_err());
        let mut out = Vec::new();
        assert!(write(&mut out, 7).is_ok());
        assert_eq!(out, b"7\n");
    }
}
