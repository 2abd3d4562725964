//! What other programs say about our files.

use std::fs;
use std::process::Command;

use docent_tests::agent::id;
use docent_tests::{Request, Site, binary};

use super::{changed, file, program, succeeds};

/// The highest exposure that `systemd-analyze security` may find, in tenths: 10 is the best of services, 100 the worst.
const MOST_EXPOSURE: &str = "--threshold=15";

#[test]
#[ignore = "needs promtool: cargo xtask test --only deploy"]
fn prometheus_finds_no_fault_with_the_metrics_of_a_busy_server() {
    let site = Site::start();
    let job = site.agent().create("Replace \"widget\" with \"gadget\"");
    site.agent().reaches(id(&job), "completed");
    site.assistant().ask("How often is a webhook retried?");
    let shown = site.installation.root().join("metrics");
    fs::write(&shown, site.server.send(&Request::get("/metrics")).body).expect("keep the metrics");
    let mut command = Command::new(program("DOCENT_PROMTOOL"));
    command.args(["check", "metrics"]).stdin(fs::File::open(&shown).expect("open the metrics"));
    assert_eq!(succeeds(&mut command), "");
}

#[test]
#[ignore = "needs promtool: cargo xtask test --only deploy"]
fn prometheus_takes_the_alert_rules() {
    let said = succeeds(Command::new(program("DOCENT_PROMTOOL")).args(["check", "rules"]).arg(file("alerts.yml")));
    assert!(said.contains("SUCCESS"), "{said}");
}

#[test]
#[ignore = "needs systemd-analyze: cargo xtask test --only deploy"]
fn the_unit_is_sound_and_hardly_exposed() {
    let folder = tempfile::tempdir().expect("make a temporary folder");
    let unit = folder.path().join("docent.service");
    let binary = binary::docent().display().to_string();
    fs::write(&unit, changed("docent.service", &[("/usr/local/bin/docent", &binary)])).expect("write the unit");
    let systemd = || Command::new(program("DOCENT_SYSTEMD_ANALYZE"));
    assert_eq!(succeeds(systemd().args(["verify", "--man=no"]).arg(&unit)), "");
    succeeds(systemd().args(["security", "--offline=yes", "--no-pager", MOST_EXPOSURE]).arg(&unit));
}
