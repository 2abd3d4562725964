//! The messages of a push: the remote's references, the requested change, and its report.
//!
//! The remote lists its branches; we send one change, the branch with its old and new commit, and a pack; the remote
//! reports. A remote that cannot report is refused, because a push with an unknown result is useless.

use std::collections::BTreeMap;
use std::io::Read;

use super::pkt::{self, Packet};
use super::{LimitedReader, WireFailure};
use crate::id::CommitId;

/// Largest report, and the most that is kept of the messages beside it, in bytes.
const REPORT_LIMIT: usize = 1 << 20;
const MESSAGES_LIMIT: usize = 16 << 10;

/// The references of a remote, and its capabilities.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Advertisement {
    /// Every reference by its full name.
    pub(crate) refs: BTreeMap<String, CommitId>,
    capabilities: Vec<String>,
}

impl Advertisement {
    fn has_capability(&self, name: &str) -> bool {
        self.capabilities.iter().any(|capability| capability == name)
    }

    /// Parses the advertisement. Over http it is preceded by a line that names the service.
    pub(crate) fn read(from: &mut impl Read) -> Result<Self, WireFailure> {
        let mut advert = Self::default();
        let mut is_first = true;
        loop {
            let line = match pkt::read(from)? {
                Some(Packet::Line(line)) => line,
                Some(Packet::Flush) if is_first => continue,
                Some(Packet::Flush) => return advert.checked(),
                None => {
                    return Err(WireFailure::Network("the connection ended before the branches were named".to_owned()));
                }
            };
            if is_first && line.starts_with(b"# service=") {
                continue;
            }
            if let Some(message) = line.strip_prefix(b"ERR ") {
                return Err(WireFailure::ServerMessage(one_line(message)));
            }
            // The version line, which has nothing we need.
            if is_first && line.starts_with(b"version ") {
                continue;
            }
            advert.take(&line, is_first)?;
            is_first = false;
        }
    }

    fn take(&mut self, line: &[u8], is_first: bool) -> Result<(), WireFailure> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let (name, capabilities) = match line.iter().position(|byte| *byte == 0) {
            Some(at) => (&line[..at], Some(&line[at + 1..])),
            None => (line, None),
        };
        if is_first && let Some(capabilities) = capabilities {
            let text = String::from_utf8_lossy(capabilities);
            self.capabilities = text.split_ascii_whitespace().map(str::to_owned).collect();
        }
        let malformed = || WireFailure::Garbled("it names a branch in a way git does not".to_owned());
        // The boundary of a shallow history: irrelevant here.
        if name.starts_with(b"shallow ") {
            return Ok(());
        }
        let (id, name) = name.split_at_checked(40).ok_or_else(malformed)?;
        let name = name.strip_prefix(b" ").ok_or_else(malformed)?;
        let id = std::str::from_utf8(id).ok().and_then(|id| id.parse().ok()).ok_or_else(malformed)?;
        // `.have` lists commits that the remote has without a branch, and may not keep. `capabilities^{}` stands in for
        // a reference in an empty repository.
        if name != b".have" && name != b"capabilities^{}" {
            // A name that is not UTF-8 is never a branch of ours.
            if let Ok(name) = String::from_utf8(name.to_vec()) {
                self.refs.insert(name, id);
            }
        }
        Ok(())
    }

    fn checked(self) -> Result<Self, WireFailure> {
        let format = self.capabilities.iter().find_map(|one| one.strip_prefix("object-format="));
        if format.is_some_and(|format| format != "sha1") {
            return Err(WireFailure::Garbled("it names objects by another hash than SHA-1".to_owned()));
        }
        if self.has_capability("report-status") {
            return Ok(self);
        }
        Err(WireFailure::Garbled("it cannot report what became of a push".to_owned()))
    }

    /// The request that moves `reference`, up to the pack. `shallow` is the boundary of our own history.
    pub(crate) fn command(&self, shallow: &[String], old: &str, new: &str, reference: &str) -> Vec<u8> {
        let mut out = Vec::new();
        for id in shallow {
            pkt::write(format!("shallow {id}").as_bytes(), &mut out);
        }
        let mut wanted = vec!["report-status"];
        for optional in ["side-band-64k", "object-format=sha1", "quiet"] {
            if self.has_capability(optional) {
                wanted.push(optional);
            }
        }
        let agent = concat!("agent=docent/", env!("CARGO_PKG_VERSION"));
        if self.capabilities.iter().any(|one| one.starts_with("agent=")) {
            wanted.push(agent);
        }
        pkt::write(format!("{old} {new} {reference}\0 {}", wanted.join(" ")).as_bytes(), &mut out);
        pkt::flush(&mut out);
        out
    }

    /// Reads the report on `reference`.
    pub(crate) fn report(&self, from: &mut impl Read, reference: &str) -> Result<Report, WireFailure> {
        let (report, messages) =
            if self.has_capability("side-band-64k") { demultiplex(from)? } else { (None, String::new()) };
        let result = match report {
            Some(report) => parse_report(&mut report.as_slice(), reference)?,
            None => parse_report(from, reference)?,
        };
        Ok(Report { result, messages })
    }
}

/// The result of a push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) result: PushResult,
    /// Messages of the remote's hooks and rules.
    pub(crate) messages: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PushResult {
    Moved,
    /// The branch was not moved.
    Refused(String),
    /// The pack was not accepted.
    NotUnpacked(String),
}

/// Separates the report from the messages beside it.
fn demultiplex(from: &mut impl Read) -> Result<(Option<Vec<u8>>, String), WireFailure> {
    let (mut report, mut messages) = (Vec::new(), Vec::new());
    // Some servers omit the final delimiter and hang up.
    while let Some(Packet::Line(line)) = pkt::read(from)? {
        match line.split_first() {
            Some((1, part)) if report.len() + part.len() <= REPORT_LIMIT => report.extend_from_slice(part),
            Some((1, _)) => return Err(WireFailure::TooMuch { limit: REPORT_LIMIT as u64 }),
            Some((2, part)) => messages.extend_from_slice(&part[..part.len().min(MESSAGES_LIMIT - messages.len())]),
            Some((3, part)) => return Err(WireFailure::ServerMessage(one_line(part))),
            _ => return Err(WireFailure::Garbled("a line of the report belongs to nothing".to_owned())),
        }
    }
    Ok((Some(report), one_line(&messages)))
}

fn parse_report(from: &mut impl Read, reference: &str) -> Result<PushResult, WireFailure> {
    let mut unpacked = None;
    while let Some(Packet::Line(line)) = pkt::read(from)? {
        let text = one_line(&line);
        if let Some(unpack_status) = text.strip_prefix("unpack ") {
            unpacked = Some(unpack_status.to_owned());
        } else if text.strip_prefix("ok ") == Some(reference) {
            return Ok(PushResult::Moved);
        } else if let Some(why) = text.strip_prefix("ng ").and_then(|rest| rest.strip_prefix(reference)) {
            return Ok(match unpacked {
                Some(unpack_status) if unpack_status != "ok" => PushResult::NotUnpacked(unpack_status),
                _ => PushResult::Refused(why.trim().to_owned()),
            });
        } else if let Some(message) = text.strip_prefix("ERR ") {
            return Err(WireFailure::ServerMessage(message.to_owned()));
        }
    }
    match unpacked {
        Some(unpack_status) if unpack_status != "ok" => Ok(PushResult::NotUnpacked(unpack_status)),
        _ => {
            Err(WireFailure::Network("the connection ended before the remote said what became of the push".to_owned()))
        }
    }
}

/// The remote's bytes as one line of text.
fn one_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    clean.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(2000).collect()
}

impl<R: Read> LimitedReader<R> {
    /// Reads to the end, so that the connection can be reused.
    pub(crate) fn finish(mut self) {
        let _ = std::io::copy(&mut self, &mut std::io::sink());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ONE: &str = "1111111111111111111111111111111111111111";
    const TWO: &str = "2222222222222222222222222222222222222222";

    fn lines(lines: &[&[u8]]) -> Vec<u8> {
        let mut out = Vec::new();
        for line in lines {
            if line.is_empty() { pkt::flush(&mut out) } else { pkt::write(line, &mut out) }
        }
        out
    }

    fn advert(capabilities: &str) -> Advertisement {
        let first = format!("{ONE} refs/heads/main\0{capabilities}\n");
        Advertisement::read(&mut lines(&[first.as_bytes(), b""]).as_slice()).unwrap()
    }

    #[test]
    fn branches_are_read_as_http_and_ssh_name_them() {
        let first = format!("{ONE} refs/heads/main\0 report-status side-band-64k agent=git/2\n");
        let second = format!("{TWO} refs/tags/v1\n");
        let have = format!("{TWO} .have\n");
        let shallow = format!("shallow {TWO}");
        let bare = lines(&[first.as_bytes(), second.as_bytes(), have.as_bytes(), shallow.as_bytes(), b""]);
        let announced = [lines(&[b"# service=git-receive-pack\n", b""]), bare.clone()].concat();
        for bytes in [bare, announced] {
            let advert = Advertisement::read(&mut bytes.as_slice()).unwrap();
            let names: Vec<_> = advert.refs.iter().map(|(name, id)| (name.as_str(), id.to_string())).collect();
            assert_eq!(names, [("refs/heads/main", ONE.to_owned()), ("refs/tags/v1", TWO.to_owned())]);
        }
        let empty = format!("{} capabilities^{{}}\0report-status", "0".repeat(40));
        assert!(Advertisement::read(&mut lines(&[empty.as_bytes(), b""]).as_slice()).unwrap().refs.is_empty());
    }

    #[test]
    fn a_remote_that_cannot_be_understood_is_said_to_be_that() {
        let read = |line: &str| Advertisement::read(&mut lines(&[line.as_bytes(), b""]).as_slice()).unwrap_err();
        let first = |capabilities: &str| format!("{ONE} refs/heads/main\0{capabilities}");
        assert!(matches!(read(&first("side-band-64k")), WireFailure::Garbled(_)));
        assert!(matches!(read(&first("report-status object-format=sha256")), WireFailure::Garbled(_)));
        assert!(matches!(read("hello"), WireFailure::Garbled(_)));
        assert!(matches!(read("ERR access denied or repository not exported"), WireFailure::ServerMessage(_)));
        assert!(matches!(
            Advertisement::read(&mut lines(&[first("report-status").as_bytes()]).as_slice()),
            Err(WireFailure::Network(_))
        ));
    }

    #[test]
    fn a_change_is_one_line_and_asks_for_what_the_remote_can() {
        let command = advert("report-status delete-refs quiet").command(&[], ONE, TWO, "refs/heads/x");
        let line = format!("{ONE} {TWO} refs/heads/x\0 report-status quiet");
        assert_eq!(command, lines(&[line.as_bytes(), b""]));
        let command = advert("report-status").command(&[ONE.to_owned()], ONE, TWO, "refs/heads/x");
        assert!(command.starts_with(format!("0034shallow {ONE}").as_bytes()), "{command:?}");
    }

    #[test]
    fn a_report_is_read_with_what_hooks_say_and_without() {
        let ended = |parts: &[&[u8]]| {
            let inner = lines(parts);
            let plain = advert("report-status").report(&mut inner.as_slice(), "refs/heads/x");
            let banded = lines(&[b"\x02docs are \n", b"\x02frozen\n", &[&[1], inner.as_slice()].concat(), b""]);
            let beside = advert("report-status side-band-64k").report(&mut banded.as_slice(), "refs/heads/x");
            assert_eq!(plain.clone().map(|report| report.result), beside.clone().map(|report| report.result));
            assert!(beside.is_err() || beside.unwrap().messages == "docs are frozen");
            plain.map(|report| report.result)
        };
        assert_eq!(ended(&[b"unpack ok\n", b"ok refs/heads/x\n", b""]), Ok(PushResult::Moved));
        assert_eq!(
            ended(&[b"unpack ok\n", b"ng refs/heads/x pre-receive hook declined\n", b""]),
            Ok(PushResult::Refused("pre-receive hook declined".to_owned()))
        );
        assert_eq!(
            ended(&[b"unpack index-pack abnormal exit\n", b"ng refs/heads/x unpacker error\n", b""]),
            Ok(PushResult::NotUnpacked("index-pack abnormal exit".to_owned()))
        );
        // A report on another branch, or on none, says nothing about ours.
        for silent in [&[&b"unpack ok\n"[..], b"ok refs/heads/xy\n", b""][..], &[b"unpack ok\n", b""], &[b""]] {
            assert!(matches!(ended(silent), Err(WireFailure::Network(_))), "{silent:?}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_readers(bytes in prop::collection::vec(any::<u8>(), 0..400), keep in any::<bool>()) {
            let mut framed = Vec::new();
            if keep { pkt::write(&bytes, &mut framed) } else { framed.clone_from(&bytes) }
            let _ = Advertisement::read(&mut framed.as_slice());
            for capabilities in ["report-status", "report-status side-band-64k"] {
                let report = advert(capabilities).report(&mut framed.as_slice(), "refs/heads/x");
                prop_assert!(report.is_err() || report.is_ok_and(|report| report.result != PushResult::Moved));
            }
        }
    }
}
