//! The style sheet, the script, the icons and the mark of all pages. Their paths contain a hash of their content, so browsers
//! may cache them without asking again. The licence of the icons is beside them, in `icons-licence.txt`.

use std::sync::LazyLock;

use docent_web::{Response, respond};
use http::header::{CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, StatusCode};
use sha2::{Digest, Sha256};

pub(crate) static STYLE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("style", "css", "text/css; charset=utf-8", include_str!("assets/style.css")));
pub(crate) static SCRIPT: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("script", "js", "text/javascript; charset=utf-8", include_str!("assets/script.js")));
pub(crate) static ICONS: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("icons", "svg", "image/svg+xml", include_str!("assets/icons.svg")));
pub(crate) static MARK: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("mark", "svg", "image/svg+xml", include_str!("assets/mark.svg")));

/// A file of the dashboard itself.
#[derive(Debug)]
pub(crate) struct Asset {
    path: String,
    content_type: &'static str,
    text: &'static str,
}

impl Asset {
    fn new(name: &str, ending: &str, content_type: &'static str, text: &'static str) -> Self {
        let digest = Sha256::digest(text);
        let short: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        Self { path: format!("/dashboard/-/assets/{name}.{short}.{ending}"), content_type, text }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }
}

/// The response with the asset of this file name.
pub(crate) fn of(name: &str) -> Option<Response> {
    let asset =
        [&STYLE, &SCRIPT, &ICONS, &MARK].into_iter().find(|asset| asset.path.rsplit('/').next() == Some(name))?;
    let mut response = respond::bytes_of(StatusCode::OK, asset.content_type, asset.text);
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    Some(response)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::icon::Tone;

    /// The relative luminance of a colour variable in the light (0) or dark (1) theme, which the style sheet sets in
    /// this order.
    fn luminance(name: &str, theme: usize) -> f64 {
        let set = STYLE.text.match_indices(&format!("--{name}: #")).nth(theme).expect("a colour in each theme").0;
        let digits = STYLE.text[set..].split_once('#').expect("a colour").1;
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&digits[at..at + 2], 16).expect("six digits")) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(0) + 0.7152 * channel(2) + 0.0722 * channel(4)
    }

    #[test]
    fn code_is_read_on_every_ground_of_a_diff() {
        for theme in [0, 1] {
            for ground in ["ground", "done-ground", "failed-ground", "mark-add", "mark-del"] {
                for colour in ["text", "name", "word", "literal", "value", "note"] {
                    is_read(colour, ground, theme);
                }
            }
        }
    }

    fn is_read(colour: &str, ground: &str, theme: usize) {
        let (a, b) = (luminance(ground, theme), luminance(colour, theme));
        let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
        assert!(contrast >= 4.5, "{colour} on {ground}, theme {theme}: {contrast:.2}");
    }

    #[test]
    fn each_meaning_is_read_on_its_ground_and_on_the_page() {
        for theme in [0, 1] {
            for meaning in Tone::COLOURED {
                is_read(meaning, &format!("{meaning}-ground"), theme);
                is_read(meaning, "ground", theme);
            }
            for ground in
                ["ground", "raised", "sunken", "accent-ground", "done-ground", "failed-ground", "waiting-ground"]
            {
                is_read("text", ground, theme);
                is_read("soft", ground, theme);
                is_read("accent", ground, theme);
            }
            is_read("accent-text", "accent", theme);
        }
    }
}
