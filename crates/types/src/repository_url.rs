//! The address of a repository as a full URL, for display.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The characters of a path to percent-encode.
const PATH_ENCODE_SET: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A repository's address as a full URL without credentials.
///
/// A folder becomes `file://…`, and `user@host:path`, the short form of ssh, `ssh://user@host/path`. The user name of
/// an ssh address is not secret and stays; a password is removed, and so is everything before the host of any other
/// URL.
pub fn repository_url(address: &str) -> String {
    if let Some((scheme, rest)) = address.split_once("://") {
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        return format!("{scheme}://{}{path}", without_secrets(scheme, authority));
    }
    match short_ssh(address) {
        Some((host, path)) => format!("ssh://{}/{}", without_secrets("ssh", host), path.trim_start_matches('/')),
        None => format!("file://{}", utf8_percent_encode(address, PATH_ENCODE_SET)),
    }
}

/// The host, with the user before it, and the path.
fn short_ssh(address: &str) -> Option<(&str, &str)> {
    // An IPv6 address contains colons, and is in brackets.
    let brackets = address.find(']').map_or(0, |end| end + 1);
    let colon = brackets + address[brackets..].find(':')?;
    let (host, path) = (&address[..colon], &address[colon + 1..]);
    (!host.is_empty() && !host.contains('/')).then_some((host, path))
}

fn without_secrets(scheme: &str, authority: &str) -> String {
    match authority.rsplit_once('@') {
        Some((user, host)) if scheme == "ssh" => format!("{}@{host}", user.split(':').next().unwrap_or_default()),
        Some((_, host)) => host.to_owned(),
        None => authority.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_address_is_told_as_a_url_without_secrets() {
        for (address, url) in [
            ("/srv/git/docs.git", "file:///srv/git/docs.git"),
            ("/srv/my docs/ä%", "file:///srv/my%20docs/%C3%A4%25"),
            ("file:///srv/docs", "file:///srv/docs"),
            ("https://github.com/acme/docs.git", "https://github.com/acme/docs.git"),
            ("https://me:s3cret@git.example/docs", "https://git.example/docs"),
            ("https://t0ken@git.example", "https://git.example"),
            ("git@github.com:acme/docs.git", "ssh://git@github.com/acme/docs.git"),
            ("git@host:/srv/docs", "ssh://git@host/srv/docs"),
            ("git@[::1]:docs", "ssh://git@[::1]/docs"),
            ("host:docs", "ssh://host/docs"),
            ("ssh://git@host:2222/docs", "ssh://git@host:2222/docs"),
            ("ssh://git:s3cret@host/docs", "ssh://git@host/docs"),
            ("/srv/a:b", "file:///srv/a%3Ab"),
        ] {
            assert_eq!(repository_url(address), url);
        }
    }

    proptest! {
        #[test]
        fn whatever_is_given_a_url_comes_out(address: String) {
            prop_assert!(repository_url(&address).contains("://"));
        }
    }
}
