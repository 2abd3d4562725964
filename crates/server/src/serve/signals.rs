//! The signals that end a process.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::failure::Failure;

/// The signals as they come from the moment at which this is made; before it, they end the process at once.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    /// `None` if SIGHUP was ignored when the process started. Then it stays ignored: `nohup docent serve` goes on when its
    /// terminal is closed.
    hangup: Option<Signal>,
}

impl Signals {
    pub(crate) fn listen() -> Result<Self, Failure> {
        let listen = |kind| signal(kind).map_err(|error| Failure::new("cannot listen for signals", error));
        Ok(Self {
            hangup: if ignores_hangup() { None } else { Some(listen(SignalKind::hangup())?) },
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
        })
    }

    /// Waits for the first SIGINT, SIGTERM or SIGHUP.
    pub(crate) async fn first(&mut self) {
        let hung_up = async {
            match &mut self.hangup {
                Some(hangup) => drop(hangup.recv().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            () = hung_up => {}
        }
    }

    /// Waits for SIGINT or SIGTERM, of somebody who will not wait until the process has drained. A SIGHUP does not say
    /// that: a terminal that closes sends several, and a service manager sends one right after SIGTERM.
    pub(crate) async fn second(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Waits for the first signal from now on.
pub(crate) async fn shutdown_signal() -> Result<(), Failure> {
    Signals::listen()?.first().await;
    Ok(())
}

/// Waits for a signal that follows the first one.
pub(crate) async fn second_signal() -> Result<(), Failure> {
    Signals::listen()?.second().await;
    Ok(())
}

/// Whether this process ignores SIGHUP. Only Linux tells; elsewhere the answer is no.
fn ignores_hangup() -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| ignores_first_signal(&status))
}

/// Whether the first signal, which is SIGHUP, is among the ignored ones of a process status.
fn ignores_first_signal(status: &str) -> bool {
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ignored_hangup_is_told_by_the_first_bit() {
        for (status, expected) in [
            ("Name:\tdocent\nSigBlk:\t0000000000000001\nSigIgn:\t0000000000001001\n", true),
            ("Name:\tdocent\nSigIgn:\t0000000000001000\n", false),
            ("Name:\tdocent\nSigIgn:\tnone\n", false),
            ("", false),
        ] {
            assert_eq!(ignores_first_signal(status), expected, "{status:?}");
        }
    }
}
