//! The request target: path segments and query parameters, percent-decoded.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// The segments of a path. The path is split before it is decoded, so that `%2F` stays inside its segment. Bytes that
/// are not UTF-8 become U+FFFD, which no id and no name contains. A path that does not begin with `/` (`OPTIONS *`) has
/// no segments.
pub(crate) fn segments(path: &str) -> Vec<String> {
    path.strip_prefix('/').map_or_else(Vec::new, |path| {
        path.split('/').map(|segment| percent_decode_str(segment).decode_utf8_lossy().into_owned()).collect()
    })
}

/// The first value of `name`, decoded as HTML forms encode it: `+` is a space.
pub(crate) fn parameter<'a>(query: &'a str, name: &str) -> Option<Cow<'a, str>> {
    form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
            assert_eq!(segments(path), expected, "{path}");
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
            prop_assert_eq!(segments(&text).len(), count);
            parameter(&text, &name);
        }
    }
}
