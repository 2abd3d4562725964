//! Recognises the kind of a file by its first bytes.

/// A description of a file that is not text: its kind, its size and, for an image, its width and height. `None` for
/// text.
pub(crate) fn described(path: &str, bytes: &[u8]) -> Option<String> {
    if std::str::from_utf8(bytes).is_ok() && !bytes.contains(&0) {
        return None;
    }
    let kind = KINDS.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, kind)| (*kind).to_owned());
    let kind = kind.or_else(|| boxed(bytes)).unwrap_or_else(|| {
        match path.rsplit('/').next().and_then(|name| name.rsplit_once('.')) {
            Some((_, ending)) => format!("a binary file with the ending `.{ending}`"),
            None => "a binary file".to_owned(),
        }
    });
    let pixels = pixels(bytes).map(|(width, height)| format!(", {width} × {height} pixels")).unwrap_or_default();
    Some(format!("{kind}{pixels}, {}", size(bytes.len())))
}

/// A size in a readable unit.
pub(crate) fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{}.{} kB", bytes / 1_000, bytes % 1_000 / 100),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

/// Signatures at the beginning of common kinds of files.
const KINDS: [(&[u8], &str); 17] = [
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"BM", "a BMP image"),
    (b"\0\0\x01\0", "an icon"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or office document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"wOF2", "a web font"),
    (b"wOFF", "a web font"),
    (b"\0\x01\0\0", "a font"),
    (b"OTTO", "a font"),
    (b"\x1aE\xdf\xa3", "a WebM or Matroska video"),
    (b"ID3", "an MP3 recording"),
    (b"OggS", "an Ogg recording"),
    (b"\xff\xfe", "text in UTF-16, which cannot be edited here"),
    (b"\xfe\xff", "text in UTF-16, which cannot be edited here"),
];

/// Kinds whose signature is a few bytes into the file.
fn boxed(bytes: &[u8]) -> Option<String> {
    let kind = match (bytes.get(0..4)?, bytes.get(4..8)?, bytes.get(8..12)?) {
        (b"RIFF", _, b"WEBP") => "a WebP image",
        (b"RIFF", _, b"WAVE") => "a WAV recording",
        (_, b"ftyp", b"avif") => "an AVIF image",
        (_, b"ftyp", b"heic") => "a HEIC image",
        (_, b"ftyp", _) => "an MP4 or QuickTime video",
        _ => return None,
    };
    Some(kind.to_owned())
}

/// Width and height of an image.
fn pixels(bytes: &[u8]) -> Option<(u32, u32)> {
    if bytes.starts_with(b"\x89PNG") {
        return Some((big(bytes.get(16..20)?), big(bytes.get(20..24)?)));
    }
    if bytes.starts_with(b"GIF8") {
        return Some((little(bytes.get(6..8)?), little(bytes.get(8..10)?)));
    }
    if bytes.starts_with(b"\xff\xd8\xff") {
        return jpeg(bytes);
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12)? == b"WEBP" {
        return webp(bytes);
    }
    None
}

/// The first frame header among a JPEG's segments.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        let [0xff, marker] = *bytes.get(at..at + 2)? else { return None };
        match marker {
            // Padding, and markers without a segment.
            0xff => at += 1,
            0x01 | 0xd0..=0xd8 => at += 2,
            // Frame headers, except the tables whose markers lie between them.
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                return Some((big(bytes.get(at + 7..at + 9)?), big(bytes.get(at + 5..at + 7)?)));
            }
            _ => at += 2 + (big(bytes.get(at + 2..at + 4)?) as usize).max(2),
        }
    }
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes.get(12..16)? {
        b"VP8 " => Some((little(bytes.get(26..28)?) & 0x3fff, little(bytes.get(28..30)?) & 0x3fff)),
        b"VP8L" => {
            let packed = little(bytes.get(21..25)?);
            Some(((packed & 0x3fff) + 1, ((packed >> 14) & 0x3fff) + 1))
        }
        b"VP8X" => Some((little(bytes.get(24..27)?) + 1, little(bytes.get(27..30)?) + 1)),
        _ => None,
    }
}

fn big(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn little(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn files_that_are_no_text_are_described() {
        let png = [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &[0, 0, 5, 0, 0, 0, 2, 208, 8, 6]].concat();
        let jpeg = [
            b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0".as_slice(),
            b"\xff\xc4\0\x04\0\0\xff\xc2\0\x11\x08\x01\x02\x03\x04\x03",
        ]
        .concat();
        let webp = [b"RIFF\x10\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0".as_slice(), &[0x1f, 3, 0, 0x57, 2, 0]].concat();
        let cases: [(&str, &[u8], Option<&str>); 9] = [
            ("a.png", &png, Some("a PNG image, 1280 × 720 pixels, 26 B")),
            ("a.jpg", &jpeg, Some("a JPEG image, 772 × 258 pixels, 36 B")),
            ("a.gif", b"GIF89a\x40\x01\xf0\0\0\0", Some("a GIF image, 320 × 240 pixels, 12 B")),
            ("a.webp", &webp, Some("a WebP image, 800 × 600 pixels, 30 B")),
            ("a.png", b"\x89PNG", Some("a PNG image, 4 B")),
            ("v.mp4", b"\0\0\0\x18ftypisom", Some("an MP4 or QuickTime video, 12 B")),
            ("b/x.dat", b"\0\0\0", Some("a binary file with the ending `.dat`, 3 B")),
            ("a.svg", b"<svg/>", None),
            ("empty.md", b"", None),
        ];
        for (path, bytes, wanted) in cases {
            assert_eq!(described(path, bytes).as_deref(), wanted, "{path}");
        }
        assert_eq!([size(999), size(1_250), size(3_400_000)], ["999 B", "1.2 kB", "3.4 MB"]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_described(kind in 0..KINDS.len(), bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let bytes = [KINDS[kind].0, &bytes].concat();
            let text = std::str::from_utf8(&bytes).is_ok() && !bytes.contains(&0);
            prop_assert_eq!(described("x.bin", &bytes).is_none(), text);
        }

        #[test]
        fn any_webp_is_described(bytes in proptest::collection::vec(any::<u8>(), 0..30), kind in 0usize..4) {
            let head = [b"VP8 ", b"VP8L", b"VP8X", b"????"][kind];
            let bytes = [b"RIFF\0\0\0\0WEBP".as_slice(), head, &bytes].concat();
            prop_assert!(described("x.webp", &bytes).is_some_and(|kind| kind.starts_with("a WebP image")));
        }
    }
}
