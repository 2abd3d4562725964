//! The host in a repository's address.

/// A host that credentials are meant for: scheme, name and port.
#[derive(Debug, PartialEq, Eq)]
struct Host {
    scheme: String,
    name: String,
    port: u16,
}

/// Whether two repositories are on one host, so that credentials for one may be sent to the other. An ambiguous address
/// matches no host.
pub(crate) fn is_same_host(one: &str, other: &str) -> bool {
    matches!((host(one), host(other)), (Some(one), Some(other)) if one == other)
}

fn host(url: &str) -> Option<Host> {
    let (scheme, authority) = match url.split_once("://") {
        Some((scheme, rest)) => (scheme.to_ascii_lowercase(), rest.split('/').next()?),
        // `user@host:path`
        None => ("ssh".to_owned(), url.split_once(':').map(|(host, _)| host).filter(|host| !host.contains('/'))?),
    };
    let default_port = match scheme.as_str() {
        "https" => 443,
        "http" => 80,
        "ssh" => 22,
        _ => return None,
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
    let host_part = authority.split_once('@').map_or(authority, |(_, host)| host);
    if !host_part.chars().all(is_plain) || authority.contains(['?', '#', '\\', '%']) {
        return None;
    }
    let (name, port) = match host_part.strip_prefix('[') {
        Some(inner) => {
            let (address, rest) = inner.split_once(']')?;
            (address, if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) })
        }
        None => match host_part.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (host_part, None),
        },
    };
    let port = match port {
        None | Some("") => default_port,
        Some(port) => port.parse().ok()?,
    };
    (!name.is_empty()).then(|| Host { scheme, name: name.to_ascii_lowercase(), port })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_host_is_told_by_its_scheme_name_and_port() {
        let ours = "https://git.example/acme/docs.git";
        for same in ["https://GIT.example/other", "https://git.example:443/x", "https://bot@git.example/acme/sdk.git"] {
            assert!(is_same_host(ours, same), "{same}");
        }
        for other in [
            "http://git.example/acme/sdk",
            "https://git.example:8443/acme/sdk",
            "https://git.example.evil.test/acme/sdk",
            "https://git.example@evil.test/acme/sdk",
            "https://evil.test/git.example",
            r"https://evil.test\@git.example/x",
            "https://evil.test?@git.example/x",
            "https://evil.test#@git.example/x",
            "https://evil.test%2f@git.example/x",
            "https://a@evil.test@git.example/x",
            "git@git.example:acme/sdk.git",
            "/srv/git.example",
            "file://git.example/acme",
            "https://:443/x",
            "",
        ] {
            assert!(!is_same_host(ours, other), "{other}");
        }
        assert!(is_same_host("git@git.example:acme/docs.git", "ssh://git@git.example/acme/sdk.git"));
        assert!(!is_same_host("git@git.example:acme/docs.git", "ssh://git@git.example:2222/acme/sdk.git"));
        assert!(is_same_host("http://[::1]:3000/a", "http://[::1]:3000/b"));
        assert!(!is_same_host("http://[::1]:3000/a", "http://[::1]/b"));
        assert!(!is_same_host("/srv/docs.git", "/srv/docs.git"), "a path has no host");
    }

    proptest! {
        #[test]
        fn another_host_is_never_the_same(before in "[ -~]{0,12}", after in "[ -~]{0,12}") {
            // Whatever surrounds `evil.test`, the host is that one or unknown.
            let url = format!("https://{before}evil.test{after}/x");
            if !(before.contains('/') || after.contains(['/', '@'])) {
                prop_assert!(!is_same_host("https://git.example/acme/docs", &url), "{}", url);
            }
        }
    }
}
