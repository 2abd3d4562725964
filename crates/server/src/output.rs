//! Prints the output of commands.

use std::fmt::{self, Write as _};
use std::io::{self, ErrorKind, Write};

use docent_types::{is_unprintable, printable};
use serde_json::Value;

use crate::failure::Failure;

/// Prints one line on stdout, without terminal control characters. A closed pipe (`docent key list | head -1`) is not
/// an error; any other failure to write is.
pub(crate) fn line(text: impl fmt::Display) -> Result<(), Failure> {
    write(&mut io::stdout().lock(), printable(&text.to_string()))
}

/// Prints one JSON value as a line on stdout. Terminal control characters are escaped, which leaves the value
/// unchanged.
pub(crate) fn json(value: &Value) -> Result<(), Failure> {
    write(&mut io::stdout().lock(), escaped(&value.to_string()))
}

/// Like [`line()`], with colours if the output is a terminal that supports them. Text from outside must pass through
/// [`printable()`] first.
pub(crate) fn coloured(text: impl fmt::Display) -> Result<(), Failure> {
    write(&mut anstream::stdout().lock(), text)
}

/// Prints one line on stderr. A closed stderr is not an error.
pub(crate) fn print_note(text: impl fmt::Display) {
    let _ = writeln!(io::stderr(), "{}", printable(&text.to_string()));
}

/// JSON with `\u` escapes for control characters that a terminal would interpret; they occur in strings only.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_unprintable(c) {
            // Writing to a string cannot fail; all these control characters are in the Basic Multilingual Plane.
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
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

    #[test]
    fn a_json_value_has_nothing_a_terminal_obeys_and_is_the_same_value() {
        let value = serde_json::json!({ "message": "a\u{1b}[2J\u{9b}31m\u{202e}b\u{7f}\n\tü" });
        let line = escaped(&value.to_string());
        assert!(!line.contains(is_unprintable), "{line:?}");
        assert_eq!(serde_json::from_str::<Value>(&line).expect("JSON"), value);
    }
}
