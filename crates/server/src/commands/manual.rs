//! `docent completions` and `docent man`: what shells and `man` read about the command line.

use std::io::Write as _;
use std::path::Path;

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::failure::Failure;

/// Prints the completions for a shell.
pub(crate) fn completions(shell: Shell) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "docent", &mut text);
    print(&text)
}

/// Prints the manual page of `docent`, or writes a page for each command into a folder.
pub(crate) fn man(folder: Option<&Path>) -> Result<(), Failure> {
    let Some(folder) = folder else {
        let mut text = Vec::new();
        let written = clap_mangen::Man::new(Cli::command()).render(&mut text);
        written.map_err(|error| Failure::new("cannot write the manual page", error))?;
        return print(&text);
    };
    let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Cli::command(), folder));
    written.map_err(|error| Failure::new(format!("cannot write manual pages into {}", folder.display()), error))
}

/// Prints text that is made here. A closed pipe is no error.
fn print(text: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::new("cannot write to stdout", error))
        }
        _ => Ok(()),
    }
}
