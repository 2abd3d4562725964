//! The request target: path segments and query parameters, percent-decoded.

use std::borrow::Cow;

use memchr::memchr_iter;
use percent_encoding::percent_decode_str;

/// The segments of a path as they stand in it. A path that does not begin with `/` (`OPTIONS *`) has none.
pub(crate) fn segments(path: &str) -> Vec<&str> {
    /// As many as the paths that are served have.
    const USUAL: usize = 8;
    let Some(rest) = path.strip_prefix('/') else { return Vec::new() };
    let mut segments = Vec::with_capacity(USUAL);
    let mut begin = 0;
    for end in memchr_iter(b'/', rest.as_bytes()) {
        segments.push(&rest[begin..end]);
        begin = end + 1;
    }
    segments.push(&rest[begin..]);
    segments
}

/// The segments of a path that are to be decoded; `None` when they stand in it as they are meant. Splits first and decodes
/// then, so that `%2F` stays inside its segment. Bytes that are no UTF-8 become U+FFFD, which no id and no name contains.
pub(crate) fn decoded_segments(path: &str) -> Option<Vec<String>> {
    path.contains('%').then(|| segments(path).into_iter().map(decoded).collect())
}

/// The first value of `name`, decoded as HTML forms encode it: `+` is a space.
pub(crate) fn parameter<'a>(query: &'a str, name: &str) -> Option<Cow<'a, str>> {
    query.split('&').find_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (form(key) == name).then(|| form(value))
    })
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

fn form(text: &str) -> Cow<'_, str> {
    if text.contains('+') {
        Cow::Owned(decoded(&text.replace('+', " ")))
    } else {
        percent_decode_str(text).decode_utf8_lossy()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn meant(path: &str) -> Vec<String> {
        decoded_segments(path).unwrap_or_else(|| segments(path).into_iter().map(str::to_owned).collect())
    }

    #[test]
    fn a_path_is_split_before_it_is_decoded() {
        for (path, expected) in [
            ("/v2/agent/acme/job", &["v2", "agent", "acme", "job"][..]),
            ("/a%2Fb/c%20d", &["a/b", "c d"]),
            ("/%2e%2e/x", &["..", "x"]),
            ("/%zz/%", &["%zz", "%"]),
            ("/%ff", &["\u{fffd}"]),
            ("/a//b/", &["a", "", "b", ""]),
            ("/", &[""]),
            ("*", &[]),
            ("", &[]),
        ] {
            assert_eq!(meant(path), expected, "{path}");
        }
    }

    #[test]
    fn a_parameter_is_found_by_its_name() {
        let query = "status=active&q=a+b%26c&flag&status=late&%6Eame=x";
        for (name, value) in
            [("status", Some("active")), ("q", Some("a b&c")), ("flag", Some("")), ("name", Some("x")), ("no", None)]
        {
            assert_eq!(parameter(query, name).as_deref(), value, "{name}");
        }
    }

    proptest! {
        #[test]
        fn nothing_a_target_can_hold_is_fatal(text in any::<String>(), name in any::<String>()) {
            let count = text.strip_prefix('/').map_or(0, |rest| rest.split('/').count());
            prop_assert_eq!(meant(&text).len(), count);
            parameter(&text, &name);
        }
    }
}
