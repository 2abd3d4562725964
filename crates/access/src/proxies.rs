//! The client's address behind trusted proxies.
//!
//! A proxy names its client in a header, which anyone can forge. So the header is trusted only as far as trusted
//! proxies wrote it: each appends the address that it was called from, so the last address that is not a trusted
//! proxy's is the client's.
//!
//! ```text
//! caller 198.51.100.7 ─▶ proxy 10.0.0.2 ─▶ proxy 10.0.0.1 ─▶ docent
//! X-Forwarded-For: 192.0.2.66, 198.51.100.7, 10.0.0.2
//!                  └ written by the caller, not trusted
//! ```

use std::net::{IpAddr, SocketAddr};

use docent_types::Refusal;

use crate::address::AddressRange;

/// The proxies in front of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxies {
    /// The addresses that the proxies connect from.
    pub trusted: Vec<AddressRange>,
    /// The header that names the client, in lower case. Its value is one address, or several separated by commas.
    pub header: String,
}

impl Proxies {
    /// The client's address: `peer`, or, when that is a trusted proxy, the address in the header. `values` are those of
    /// [`Self::header`], in order. Without the header the client is the proxy itself.
    ///
    /// # Errors
    /// The address from a trusted proxy is invalid. Using the proxy's own address instead would count all its clients
    /// as one, and admit them wherever the proxy is admitted.
    pub fn client<'a>(&self, peer: IpAddr, values: impl IntoIterator<Item = &'a [u8]>) -> Result<IpAddr, Refusal> {
        let peer = peer.to_canonical();
        if !self.trusts(peer) {
            return Ok(peer);
        }
        let entries: Vec<&[u8]> = values.into_iter().flat_map(|value| value.split(|byte| *byte == b',')).collect();
        let mut client = peer;
        for entry in entries.into_iter().rev() {
            client = address(entry).ok_or_else(|| self.no_address(entry))?;
            if !self.trusts(client) {
                break;
            }
        }
        Ok(client)
    }

    fn no_address(&self, entry: &[u8]) -> Refusal {
        let shown: String = String::from_utf8_lossy(entry).trim().chars().take(80).collect();
        Refusal::invalid(format!(
            "{}: `{shown}` is not an address; let the proxy write the IP address of its caller, and not a name or nothing",
            self.header
        ))
    }

    fn trusts(&self, address: IpAddr) -> bool {
        self.trusted.iter().any(|range| range.contains(address))
    }
}

/// Parses an address, optionally with a port, as some proxies write it, and for IPv6 in brackets.
fn address(entry: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(entry).ok()?.trim();
    let with_port = || text.parse::<SocketAddr>().ok().map(|socket| socket.ip());
    let in_brackets = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    text.parse().ok().or_else(with_port).or_else(in_brackets).map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn proxies() -> Proxies {
        let trusted = ["10.0.0.0/8", "2001:db8:1::/48"].map(|range| range.parse().expect("a range"));
        Proxies { trusted: trusted.to_vec(), header: "x-forwarded-for".to_owned() }
    }

    fn client(peer: &str, values: &[&str]) -> String {
        let peer = peer.parse().expect("an address");
        let client = proxies().client(peer, values.iter().map(|value| value.as_bytes()));
        client.map_or_else(|_| "refused".to_owned(), |client| client.to_string())
    }

    #[test]
    fn only_what_a_trusted_proxy_says_is_believed() {
        for (why, peer, values, expected) in [
            ("no proxy", "198.51.100.7", &[][..], "198.51.100.7"),
            ("a stranger's word", "198.51.100.7", &["192.0.2.1"], "198.51.100.7"),
            ("one proxy", "10.0.0.1", &["198.51.100.7"], "198.51.100.7"),
            ("the caller lies to it", "10.0.0.1", &["192.0.2.66, 198.51.100.7"], "198.51.100.7"),
            ("the caller names a proxy", "10.0.0.1", &["10.0.0.9, 198.51.100.7"], "198.51.100.7"),
            ("two proxies", "10.0.0.1", &["192.0.2.66, 198.51.100.7, 10.0.0.2"], "198.51.100.7"),
            ("two headers", "10.0.0.1", &["192.0.2.66", "198.51.100.7,10.0.0.2"], "198.51.100.7"),
            ("it says nothing", "10.0.0.1", &[], "10.0.0.1"),
            ("from within", "10.0.0.1", &["10.1.2.3"], "10.1.2.3"),
            ("no address", "10.0.0.1", &["198.51.100.7, unknown"], "refused"),
            ("no address before a proxy", "10.0.0.1", &["198.51.100.7, _hidden, 10.0.0.2"], "refused"),
            ("no address further away", "10.0.0.1", &["unknown, 198.51.100.7"], "198.51.100.7"),
            ("an empty entry", "10.0.0.1", &["198.51.100.7, "], "refused"),
            ("a stranger's word that is not an address", "198.51.100.7", &["unknown"], "198.51.100.7"),
            ("with ports", "10.0.0.1", &["198.51.100.7:4711"], "198.51.100.7"),
            ("of IPv6", "2001:db8:1::1", &["[2001:db8:2::7]:4711"], "2001:db8:2::7"),
            ("of IPv6 in brackets", "2001:db8:1::1", &["[2001:db8:2::7]"], "2001:db8:2::7"),
            ("of IPv4 in IPv6", "::ffff:10.0.0.1", &["::ffff:198.51.100.7"], "198.51.100.7"),
        ] {
            assert_eq!(client(peer, values), expected, "{why}");
        }
    }

    proptest! {
        #[test]
        fn whatever_a_caller_writes_it_is_who_the_proxy_saw(said in prop::collection::vec(any::<u8>(), 0..60)) {
            let seen = b"198.51.100.7".as_slice();
            let client = proxies().client(IpAddr::from([10, 0, 0, 1]), [said.as_slice(), seen]);
            prop_assert_eq!(client, Ok(IpAddr::from([198, 51, 100, 7])));
            let stranger = IpAddr::from([203, 0, 113, 5]);
            prop_assert_eq!(proxies().client(stranger, [said.as_slice()]), Ok(stranger));
        }
    }
}
