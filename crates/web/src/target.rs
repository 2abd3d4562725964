//! The request target: path segments and query parameters, percent-decoded.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use smallvec::SmallVec;

/// No path that is served has more segments; up to this many need no allocation.
const INLINE_SEGMENTS: usize = 8;

/// Where the segments of a path are.
#[derive(Debug)]
pub(crate) enum SegmentIndex {
    /// In the path itself: the offset of each, behind its slash. None is percent-encoded.
    Behind(SmallVec<[usize; INLINE_SEGMENTS]>),
    /// Decoded copies, because at least one is percent-encoded.
    Decoded(Vec<String>),
}

impl SegmentIndex {
    /// Splits a path first and decodes then, so that `%2F` stays inside its segment. Bytes that are not UTF-8 become
    /// U+FFFD, which no id and no name contains. A path that does not begin with `/` (`OPTIONS *`) has no segments.
    pub(crate) fn of(path: &str) -> Self {
        let mut slashes = SmallVec::new();
        for (place, byte) in path.bytes().enumerate() {
            if byte == b'/' {
                slashes.push(place);
            }
        }
        if slashes.first() != Some(&0) {
            slashes.clear();
        }
        let outline = Self::Behind(slashes);
        // Reads the whole path without an early exit, so that the compiler vectorizes the loop.
        let is_encoded = path.bytes().fold(false, |found, byte| found | (byte == b'%'));
        if is_encoded { Self::Decoded(outline.segments(path).into_iter().map(decoded).collect()) } else { outline }
    }

    /// One segment of `path`, for which this was made.
    pub(crate) fn segment<'a>(&'a self, path: &'a str, place: usize) -> Option<&'a str> {
        match self {
            Self::Behind(slashes) => {
                let begin = slashes.get(place)? + 1;
                path.get(begin..slashes.get(place + 1).copied().unwrap_or(path.len()))
            }
            Self::Decoded(decoded) => decoded.get(place).map(String::as_str),
        }
    }

    /// All segments of `path`.
    pub(crate) fn segments<'a>(&'a self, path: &'a str) -> Vec<&'a str> {
        let mut segments = Vec::with_capacity(INLINE_SEGMENTS);
        while let Some(segment) = self.segment(path, segments.len()) {
            segments.push(segment);
        }
        segments
    }
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
        SegmentIndex::of(path).segments(path).into_iter().map(str::to_owned).collect()
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
