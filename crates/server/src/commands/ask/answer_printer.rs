//! Prints an answer: the answer and its sources on stdout, everything else on stderr. `anstream` strips colours if the
//! output is not a terminal.

use std::io::{self, ErrorKind, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use docent_types::{Passage, printable};

use crate::failure::Failure;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const LINK: Style = AnsiColor::Blue.on_default().underline();

/// Prints an answer piece by piece.
#[derive(Debug)]
pub(super) struct AnswerPrinter<W = anstream::Stdout> {
    /// `None` if nothing is printed.
    out: Option<W>,
    is_mid_line: bool,
    is_unread: bool,
    has_watcher: bool,
}

impl AnswerPrinter {
    pub(super) fn on_stdout() -> Self {
        Self { has_watcher: io::stderr().is_terminal(), ..Self::on(anstream::stdout()) }
    }

    /// Prints nothing: the answer is printed as JSON when it is complete.
    pub(super) fn blank() -> Self {
        Self { out: None, is_mid_line: false, is_unread: false, has_watcher: false }
    }
}

impl<W: Write> AnswerPrinter<W> {
    fn on(out: W) -> Self {
        Self { out: Some(out), is_mid_line: false, is_unread: false, has_watcher: false }
    }

    /// Whether the output is closed, so that the rest is not needed.
    pub(super) const fn is_unread(&self) -> bool {
        self.is_unread
    }

    /// Prints words of the answer immediately.
    pub(super) fn words(&mut self, text: &str) -> Result<(), Failure> {
        let text = printable(text);
        if let Some(last) = text.chars().next_back() {
            self.is_mid_line = last != '\n';
        }
        self.write(&text)
    }

    pub(super) fn end_line(&mut self) -> Result<(), Failure> {
        if std::mem::take(&mut self.is_mid_line) { self.write("\n") } else { Ok(()) }
    }

    /// Prints the pages that the answer cites.
    pub(super) fn sources(&mut self, sources: &[Passage]) -> Result<(), Failure> {
        if sources.is_empty() {
            return Ok(());
        }
        let mut text = format!("\n{BOLD}Sources{BOLD:#}\n");
        for source in sources {
            let (title, href) = (printable(&source.title), printable(&source.href));
            text.push_str(&format!("  {title}  {LINK}{href}{LINK:#}\n"));
        }
        self.write(&text)
    }

    /// Prints suggested follow-up questions.
    pub(super) fn suggestions(&mut self, questions: &[String]) -> Result<(), Failure> {
        if questions.is_empty() {
            return Ok(());
        }
        let mut text = format!("\n{BOLD}Ask next{BOLD:#}\n");
        for question in questions {
            text.push_str(&format!("  {}\n", printable(question)));
        }
        self.write(&text)
    }

    /// Prints progress, on a terminal only.
    pub(super) fn note(&self, text: &str) {
        if self.has_watcher {
            self.remark(text);
        }
    }

    /// A note on stderr. A closed stderr is not an error.
    pub(super) fn remark(&self, text: &str) {
        if self.out.is_some() {
            let text = printable(text);
            let _ = writeln!(anstream::stderr(), "{DIM}{text}{DIM:#}");
        }
    }

    fn write(&mut self, text: &str) -> Result<(), Failure> {
        let Some(out) = self.out.as_mut().filter(|_| !self.is_unread) else { return Ok(()) };
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.is_unread = true;
                Ok(())
            }
            Err(error) => Err(Failure::new("cannot write to stdout", error)),
            Ok(()) => Ok(()),
        }
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

    fn passage(title: &str, href: &str) -> Passage {
        Passage {
            path: href.trim_start_matches('/').to_owned(),
            href: href.to_owned(),
            title: title.to_owned(),
            headings: Vec::new(),
            content: String::new(),
            score: 1.0,
            version: None,
            language: None,
        }
    }

    #[test]
    fn the_answer_ends_its_line_and_the_sources_stand_under_it() {
        let mut shown = Vec::new();
        let mut printer = AnswerPrinter::on(anstream::StripStream::new(&mut shown));
        for words in ["Five ", "times\u{1b}[2J\u{7}.", ""] {
            printer.words(words).expect("shown");
        }
        printer.end_line().expect("shown");
        printer.end_line().expect("once is enough");
        printer.sources(&[passage("Webhooks", "/guides/webhooks#retries")]).expect("shown");
        let shown = String::from_utf8(shown).expect("text");
        assert_eq!(shown, "Five times[2J.\n\nSources\n  Webhooks  /guides/webhooks#retries\n");
    }

    #[test]
    fn a_reader_who_goes_away_is_no_failure_and_a_full_disk_is() {
        let mut printer = AnswerPrinter::on(Broken(ErrorKind::BrokenPipe));
        printer.words("x").expect("no failure");
        assert!(printer.is_unread());
        assert!(AnswerPrinter::on(Broken(ErrorKind::StorageFull)).words("x").is_err());
    }
}
