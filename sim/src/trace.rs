//! The trace of a run, line by line, and a digest of it.

use std::fmt;

/// The trace of one run.
#[derive(Debug)]
pub(crate) struct Trace {
    /// `None` when only the digest is needed.
    lines: Option<Vec<String>>,
    digest: u64,
}

impl Trace {
    pub(crate) fn new(is_kept: bool) -> Self {
        Self { lines: is_kept.then(Vec::new), digest: 0xcbf2_9ce4_8422_2325 }
    }

    pub(crate) fn line(&mut self, line: fmt::Arguments<'_>) {
        // FNV-1a: gives the same digest on every machine, and need not be secure.
        struct Digest<'a>(&'a mut u64);
        impl fmt::Write for Digest<'_> {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                for byte in text.bytes() {
                    *self.0 = (*self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
                }
                Ok(())
            }
        }
        // Hashing does not fail.
        let _ = fmt::write(&mut Digest(&mut self.digest), line);
        let _ = fmt::write(&mut Digest(&mut self.digest), format_args!("\n"));
        if let Some(lines) = &mut self.lines {
            lines.push(line.to_string());
        }
    }

    pub(crate) const fn digest(&self) -> u64 {
        self.digest
    }

    pub(crate) fn take(&mut self) -> Vec<String> {
        self.lines.take().unwrap_or_default()
    }
}
