//! Formats sizes and counts.

/// `512 bytes`, `12.3 KiB`, `4.0 GiB`.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut size = count as f64;
    let mut unit = None;
    for larger in UNITS {
        // A size that would be rounded to 1024 is shown as 1 of the next unit.
        if size < 1023.95 {
            break;
        }
        size /= 1024.0;
        unit = Some(larger);
    }
    unit.map_or_else(|| counted(count, "byte"), |unit| format!("{size:.1} {unit}"))
}

/// `1 job`, `2 jobs`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_of_three_or_four_digits() {
        for (count, shown) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1023, "1023 bytes"),
            (1024, "1.0 KiB"),
            (1_048_575, "1.0 MiB"),
            (12_900_000, "12.3 MiB"),
            (5 << 40, "5.0 TiB"),
            (5000 << 40, "5000.0 TiB"),
        ] {
            assert_eq!(bytes(count), shown, "{count}");
        }
    }
}
