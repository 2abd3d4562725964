//! Which hosts are this machine, and which are on its own network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether the host of a URL is on this machine or this network, so that a credential may be sent to it in plain text:
/// loopback, private and link-local addresses, and names without a dot or below `localhost` or `internal`.
pub fn is_private_host(host: &str) -> bool {
    match address(host) {
        Some(IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        Some(IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
        None => !host.contains('.') || has_suffix(host, ".localhost") || has_suffix(host, ".internal"),
    }
}

/// Whether the host of a URL is this machine.
pub fn is_loopback_host(host: &str) -> bool {
    address(host)
        .map_or_else(|| host.eq_ignore_ascii_case("localhost") || has_suffix(host, ".localhost"), |ip| ip.is_loopback())
}

/// In a URL, an IPv6 address is in brackets.
fn address(host: &str) -> Option<IpAddr> {
    match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(inner) => inner.parse::<Ipv6Addr>().ok().map(|ip| ip.to_canonical()),
        None => host.parse::<Ipv4Addr>().ok().map(IpAddr::V4),
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
    fn this_machine_and_this_network_are_private_and_nothing_else() {
        for private in [
            "127.0.0.1", "[::1]", "[::ffff:10.0.0.1]", "localhost", "ollama", "192.168.1.4", "169.254.1.1",
            "[fd00::1]", "models.internal", "a.LOCALHOST",
        ] {
            assert!(is_private_host(private), "{private}");
        }
        for public in ["example.com", "8.8.8.8", "[2001:db8::1]", "10.0.0.1.example.com", "notinternal.example"] {
            assert!(!is_private_host(public), "{public}");
        }
        assert!(is_loopback_host("127.8.8.8") && is_loopback_host("LocalHost") && is_loopback_host("[::1]"));
        assert!(!is_loopback_host("10.0.0.1") && !is_loopback_host("ollama"));
    }
}
