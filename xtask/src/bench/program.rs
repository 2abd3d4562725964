//! Programs that serve while they are measured: they print their address, and are killed on drop.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::thread;

use crate::bench::stream::cores::Cores;

/// A program that prints `name: value` lines, then `listening on http://ADDR`.
#[derive(Debug)]
pub(crate) struct Program {
    child: Child,
    address: SocketAddr,
    said: Vec<String>,
}

impl Program {
    pub(crate) fn start(mut command: Command, cores: Cores) -> Result<Self, String> {
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = cores.spawn(&mut command)?;
        let mut stdout = BufReader::new(child.stdout.take().ok_or("a child has no stdout")?);
        let mut said = Vec::new();
        let heard = loop {
            let mut line = String::new();
            match stdout.read_line(&mut line) {
                Ok(0) | Err(_) => break Err(format!("it ended before it listened: {command:?}")),
                Ok(_) => {}
            }
            match listening(&line) {
                Some(address) => break Ok(address),
                None => said.push(line.trim().to_owned()),
            }
        };
        // An unread pipe that is full would block the program.
        thread::spawn(move || stdout.read_to_end(&mut Vec::new()));
        match heard {
            Ok(address) => Ok(Self { child, address, said }),
            Err(why) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(why)
            }
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The value that the program printed for this name.
    pub(crate) fn said(&self, name: &str) -> Option<String> {
        self.said.iter().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(": ")?.to_owned()))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn listening(line: &str) -> Option<SocketAddr> {
    line.trim().strip_prefix("listening on http://")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_says_where_it_listens() {
        assert_eq!(listening("listening on http://127.0.0.1:80\n"), Some(SocketAddr::from(([127, 0, 0, 1], 80))));
        for other in ["listening", "key: listening on http://127.0.0.1:80", "listening on http://here\n", ""] {
            assert_eq!(listening(other), None, "{other}");
        }
    }
}
