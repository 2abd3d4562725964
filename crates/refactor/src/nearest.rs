//! Which of many names is clearly meant by one that is not among them.

use docent_site::has_page_ending;

/// What a wrong name comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Nearest<'a> {
    /// Clearly this one.
    One(&'a str),
    /// One of these, but which?
    Several(Vec<&'a str>),
    Nothing,
}

/// The path among `candidates` that `wanted` was meant to be: the same but for case, separators and endings; the only
/// one with that last part; or the only one a few letters away.
pub(super) fn path<'a>(wanted: &str, candidates: &[&'a str]) -> Nearest<'a> {
    let plain = plain_path(wanted);
    if plain.is_empty() {
        return Nearest::Nothing;
    }
    let same: Vec<&str> = candidates.iter().filter(|candidate| plain_path(candidate) == plain).copied().collect();
    if !same.is_empty() {
        return one_of(same);
    }
    let last = last_part(&plain);
    let mut namesakes: Vec<&str> =
        candidates.iter().filter(|candidate| last_part(&plain_path(candidate)) == last).copied().collect();
    match namesakes.len() {
        0 => {}
        1 => return Nearest::One(namesakes[0]),
        _ => {
            // The one that shares more of the folders, if one does.
            let shared = |path: &str| {
                let path = plain_path(path);
                path.split('/').filter(|part| plain.split('/').any(|wanted| wanted == *part)).count()
            };
            // Of those, the one as deep as the wanted one: translations stand a folder further in.
            let depth = |path: &str| plain_path(path).split('/').count();
            let most = namesakes.iter().map(|path| shared(path)).max().unwrap_or(0);
            namesakes.retain(|path| shared(path) == most);
            let level: Vec<&str> = namesakes.iter().copied().filter(|path| depth(path) == depth(&plain)).collect();
            match (namesakes.as_slice(), level.as_slice()) {
                ([one], _) | (_, [one]) => return Nearest::One(one),
                _ => {}
            }
            return Nearest::Several(namesakes.into_iter().take(3).collect());
        }
    }
    by_letters(&plain, candidates, plain_path)
}

/// The anchor among `candidates` that `wanted` was meant to be.
pub(super) fn anchor<'a>(wanted: &str, candidates: &[&'a str]) -> Nearest<'a> {
    let plain = letters(wanted);
    if plain.is_empty() {
        return Nearest::Nothing;
    }
    let same: Vec<&str> = candidates.iter().filter(|candidate| letters(candidate) == plain).copied().collect();
    if !same.is_empty() {
        return one_of(same);
    }
    let begins: Vec<&str> = candidates
        .iter()
        .filter(|candidate| {
            let other = letters(candidate);
            let (short, long) = if other.len() < plain.len() { (&other, &plain) } else { (&plain, &other) };
            short.chars().count() >= 4 && long.starts_with(short.as_str())
        })
        .copied()
        .collect();
    match begins.len() {
        0 => by_letters(&plain, candidates, letters),
        _ => one_of(begins),
    }
}

fn one_of(names: Vec<&str>) -> Nearest<'_> {
    match names.as_slice() {
        [] => Nearest::Nothing,
        [one] => Nearest::One(one),
        _ => Nearest::Several(names.into_iter().take(3).collect()),
    }
}

/// The only candidate within a few letters, with nothing else almost as near.
fn by_letters<'a>(plain: &str, candidates: &[&'a str], read: impl Fn(&str) -> String) -> Nearest<'a> {
    let wanted: Vec<char> = plain.chars().collect();
    let limit = (wanted.len() / 5).clamp(1, 4);
    let mut near: Vec<(usize, &str)> = Vec::new();
    for candidate in candidates {
        // Two more than the limit are looked at, to see what stands next to the nearest.
        let other: Vec<char> = read(candidate).chars().collect();
        near.extend(distance(&wanted, &other, limit + 1).map(|distance| (distance, *candidate)));
    }
    near.sort_by_key(|(distance, _)| *distance);
    match near.as_slice() {
        [] => Nearest::Nothing,
        [(first, _), ..] if *first > limit => Nearest::Nothing,
        [(_, one)] => Nearest::One(one),
        [(first, one), (second, _), ..] if *second > *first + 1 || (*second > *first && *first == 1) => {
            Nearest::One(one)
        }
        _ => Nearest::Several(near.into_iter().take(3).map(|(_, name)| name).collect()),
    }
}

/// How many letters have to be changed, added, dropped or swapped with their neighbour; `None` when more than `limit`.
fn distance(a: &[char], b: &[char], limit: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    let mut two_back: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let changed = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = changed.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(two_back[j - 2] + 1);
            }
        }
        if row.iter().min().is_none_or(|least| *least > limit) {
            return None;
        }
        two_back = std::mem::replace(&mut above, row);
    }
    above.last().copied().filter(|distance| *distance <= limit)
}

/// A path without what sites write differently: case, separators, endings, `index`, plurals.
fn plain_path(path: &str) -> String {
    let mut path = path.trim_matches('/').to_lowercase().replace(['_', ' '], "-").replace("%20", "-");
    for ending in [".html", ".htm"] {
        path.truncate(path.strip_suffix(ending).map_or(path.len(), str::len));
    }
    if has_page_ending(&path) {
        path.truncate(path.rfind('.').unwrap_or(path.len()));
    }
    for index in ["/index", "/readme"] {
        path.truncate(path.strip_suffix(index).map_or(path.len(), str::len));
    }
    path.split('/').map(singular).collect::<Vec<_>>().join("/")
}

fn singular(part: &str) -> String {
    match part.strip_suffix("ies") {
        Some(stem) if stem.len() > 2 => format!("{stem}y"),
        _ => part.strip_suffix('s').filter(|stem| stem.len() > 2 && !stem.ends_with('s')).unwrap_or(part).to_owned(),
    }
}

fn last_part(path: &str) -> String {
    path.rsplit('/').next().unwrap_or("").to_owned()
}

fn letters(anchor: &str) -> String {
    anchor.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_found_only_where_one_is_clearly_meant() {
        let pages = [
            "guides/retries",
            "guides/webhooks",
            "api/errors",
            "api/v1/list",
            "api/v2/list",
            "getting-started",
            "v1/x",
            "v2/x",
            "de/new/intro",
            "fr/new/intro",
            "new/intro",
        ];
        for (wanted, expected) in [
            ("guides/retry", Nearest::One("guides/retries")),
            ("guides/Retries.html", Nearest::One("guides/retries")),
            ("getting_started/index", Nearest::One("getting-started")),
            ("reference/errors", Nearest::One("api/errors")),
            ("guides/webhoks", Nearest::One("guides/webhooks")),
            ("guides/ewbhooks", Nearest::One("guides/webhooks")),
            ("api/v2/lists", Nearest::One("api/v2/list")),
            ("api/list", Nearest::Several(vec!["api/v1/list", "api/v2/list"])),
            ("old/intro", Nearest::One("new/intro")),
            ("pricing", Nearest::Nothing),
            ("", Nearest::Nothing),
        ] {
            assert_eq!(path(wanted, &pages), expected, "{wanted}");
        }
    }

    #[test]
    fn an_anchor_is_found_only_where_one_is_clearly_meant() {
        let anchors = ["installation", "rate-limits", "rate-limits-1", "errors", "setup-linux", "setup-macos"];
        for (wanted, expected) in [
            ("Installation", Nearest::One("installation")),
            ("install", Nearest::One("installation")),
            ("instalation", Nearest::One("installation")),
            ("rate_limits", Nearest::One("rate-limits")),
            ("setup", Nearest::Several(vec!["setup-linux", "setup-macos"])),
            ("billing", Nearest::Nothing),
        ] {
            assert_eq!(anchor(wanted, &anchors), expected, "{wanted}");
        }
    }

    #[test]
    fn distances_count_letters() {
        let d = |a: &str, b: &str| distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>(), 3);
        assert_eq!(d("kitten", "sitting"), Some(3));
        assert_eq!(d("ab", "ba"), Some(1));
        assert_eq!(d("same", "same"), Some(0));
        assert_eq!(d("short", "muchlonger"), None);
        assert_eq!(d("abcdef", "uvwxyz"), None);
    }
}
