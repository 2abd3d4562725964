//! The time to read a text grows with its length and not with its square, for everything that a reader does: each family
//! of texts is read at a length and at twice that, and the second must take less than three times as long.
//!
//! Time is that of the processor for this thread, which other programs change little, and is the least of several. What
//! takes no time worth a comparison at the largest length passes. `cargo test --release -p docent-site full_size --
//! --ignored --nocapture` reads texts of a megabyte instead, each of which must take less than two seconds and 300 MB.

mod configurations;
mod pages;

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::code::code_of;
use crate::layout::Layout;
use crate::model::Site;
use crate::read_file::read_file;
use crate::sample::Files;
use crate::site_data::SiteData;

/// Texts of one form, by their length in bytes.
struct Family {
    name: String,
    files: Box<dyn Fn(usize) -> Files>,
}

impl Family {
    fn new(name: impl Into<String>, files: impl Fn(usize) -> Files + 'static) -> Self {
        Self { name: name.into(), files: Box::new(files) }
    }
}

/// A text of about this length that repeats a unit, in which `#` stands for the number of the repetition.
fn repeated(unit: &str, length: usize) -> String {
    match unit.contains('#') {
        false => unit.repeat(length.div_ceil(unit.len())),
        true => {
            let mut text = String::with_capacity(length + unit.len());
            for number in 0.. {
                if text.len() >= length {
                    break;
                }
                text.push_str(&unit.replace('#', &number.to_string()));
            }
            text
        }
    }
}

/// A text of about this length in which a pair encloses itself.
fn nested(open: &str, inside: &str, close: &str, length: usize) -> String {
    let depth = length / (open.len() + close.len()).max(1);
    format!("{}{inside}{}", open.repeat(depth), close.repeat(depth))
}

/// Does all that is done with files of a site: reads the configuration, each page with its includes, the
/// code of each page, and judges each navigation file as if it were new.
fn read(files: &Files) {
    let layout = Layout::read(files);
    let site = Site::read(files);
    for (path, bytes) in files {
        read_file(&layout, path, bytes, files);
        if site.is_page(path) {
            code_of(&layout, path, bytes);
        }
        if let Some(data) = SiteData::of(path) {
            data.more_than_navigation(None, bytes);
        }
    }
}

/// Lengths of the shorter text. The second and third are for families that take long.
const LENGTHS: [usize; 3] = [8 << 10, 2 << 10, 1 << 10];
const LONG: Duration = Duration::from_millis(200);
/// What takes less is not compared.
const WORTH_COMPARING: Duration = Duration::from_millis(8);
const LARGEST_RATIO: f64 = 3.0;

/// The families whose time grows too fast.
fn too_slow(families: Vec<Family>) -> Vec<String> {
    let mut found = Vec::new();
    for Family { name, files } in families {
        let least = |length: usize, tries: usize| {
            let files = files(length);
            (0..tries).map(|_| time_of(|| read(&files))).min().unwrap_or_default()
        };
        let ratio = |length: usize, tries: usize| {
            let (one, two) = (least(length, tries), least(2 * length, tries));
            if two < WORTH_COMPARING { 1.0 } else { two.as_secs_f64() / one.as_secs_f64() }
        };
        let length = LENGTHS.into_iter().find(|length| least(*length, 1) < LONG).unwrap_or(LENGTHS[2]);
        // What looks bad is tried again, and at another length: short texts have constant costs.
        let is_bad = |length, tries| ratio(length, tries) >= LARGEST_RATIO;
        if is_bad(length, 1) && is_bad(length, 3) && is_bad(2 * length, 2) {
            found.push(format!("{name}: {:.1} times as long for {} bytes as for half", ratio(length, 3), 2 * length));
        }
    }
    found
}

/// The time of the processor that a call takes on this thread.
fn time_of(call: impl FnOnce()) -> Duration {
    let before = processor_time();
    call();
    processor_time().saturating_sub(before)
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.try_into().unwrap_or_default())
}

#[test]
fn pages_in_markdown() {
    assert_eq!(too_slow(pages::markdown("md")), [""; 0]);
}

#[test]
fn pages_in_mdx() {
    assert_eq!(too_slow(pages::markdown("mdx")), [""; 0]);
}

#[test]
fn pages_in_restructured_text() {
    assert_eq!(too_slow(pages::rst()), [""; 0]);
}

#[test]
fn pages_in_asciidoc() {
    assert_eq!(too_slow(pages::adoc()), [""; 0]);
}

#[test]
fn configurations_in_javascript() {
    assert_eq!(too_slow(configurations::javascript()), [""; 0]);
}

#[test]
fn configurations_as_data() {
    assert_eq!(too_slow(configurations::data()), [""; 0]);
}

/// Length of the largest page, in bytes.
const FULL_SIZE: usize = 1 << 20;
const FULL_SIZE_TIME: Duration = Duration::from_secs(2);
const FULL_SIZE_MEMORY: u64 = 300 << 20;

#[test]
#[ignore = "needs a release build and a minute: cargo test --release -p docent-site full_size -- --ignored --nocapture"]
fn full_size() {
    let pages = [pages::markdown("md"), pages::markdown("mdx"), pages::rst(), pages::adoc()];
    let configurations = [configurations::javascript(), configurations::data()];
    let mut found = Vec::new();
    for Family { name, files } in pages.into_iter().chain(configurations).flatten() {
        let files = files(FULL_SIZE);
        // Writing 5 sets the peak to what is in memory now (`man 5 proc_pid_clear_refs`).
        let has_peak = std::fs::write("/proc/self/clear_refs", "5").is_ok();
        let before = memory("VmRSS:");
        let time = time_of(|| read(&files));
        let memory = if has_peak { memory("VmHWM:").saturating_sub(before) } else { 0 };
        println!("{name:<60} {:>8.3} s {:>5} MB", time.as_secs_f64(), memory >> 20);
        if time > FULL_SIZE_TIME || memory > FULL_SIZE_MEMORY {
            found.push(name);
        }
    }
    assert_eq!(found, [""; 0], "above {FULL_SIZE_TIME:?} or {} MB", FULL_SIZE_MEMORY >> 20);
}

/// A field of the memory of this process, in bytes (`man 5 proc_pid_status`).
fn memory(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).map_or(0, |kib: u64| kib << 10)
}
