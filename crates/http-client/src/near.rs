//! The hosts to which a credential may be sent in plain text.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::Uri;

/// Whether a host is on this machine or this network: loopback and private addresses, and names without a dot.
pub fn is_near(address: &Uri) -> bool {
    match host(address) {
        Host::Address(IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        Host::Address(IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
        Host::Name(name) => !name.contains('.') || has_suffix(name, ".localhost") || has_suffix(name, ".internal"),
    }
}

/// Whether a host is this machine.
pub(crate) fn is_loopback(address: &Uri) -> bool {
    match host(address) {
        Host::Address(ip) => ip.is_loopback(),
        Host::Name(name) => name.eq_ignore_ascii_case("localhost") || has_suffix(name, ".localhost"),
    }
}

enum Host<'a> {
    Address(IpAddr),
    Name(&'a str),
}

fn host(address: &Uri) -> Host<'_> {
    let name = address.host().unwrap_or_default();
    let inner = name.trim_start_matches('[').trim_end_matches(']');
    match inner.parse::<Ipv6Addr>() {
        Ok(ip) => Host::Address(ip.to_canonical()),
        Err(_) => name.parse::<Ipv4Addr>().map_or(Host::Name(name), |ip| Host::Address(IpAddr::V4(ip))),
    }
}

fn has_suffix(name: &str, suffix: &str) -> bool {
    let at = name.len().saturating_sub(suffix.len());
    name.get(at..).is_some_and(|end| end.eq_ignore_ascii_case(suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_and_this_network_are_near_and_nothing_else() {
        let uri = |text: &'static str| Uri::from_static(text);
        for near in [
            "http://127.0.0.1:8080/v1",
            "http://[::1]/",
            "http://[::ffff:10.0.0.1]/",
            "http://localhost:11434",
            "http://ollama:11434",
            "http://192.168.1.4/",
            "http://[fd00::1]/",
            "http://models.internal/",
            "http://a.LOCALHOST/",
        ] {
            assert!(is_near(&uri(near)), "{near}");
        }
        for far in ["http://example.com/", "http://8.8.8.8/", "http://[2001:db8::1]/", "http://10.0.0.1.example.com/"] {
            assert!(!is_near(&uri(far)), "{far}");
        }
        assert!(is_loopback(&uri("http://127.8.8.8/")) && is_loopback(&uri("https://LocalHost/")));
        assert!(!is_loopback(&uri("http://10.0.0.1/")) && !is_loopback(&uri("http://ollama/")));
    }
}
