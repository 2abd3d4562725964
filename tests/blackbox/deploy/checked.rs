//! What other programs say about our files.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use docent_tests::agent::id;
use docent_tests::{Request, Site, binary};
use serde_json::{Value, json};

use super::{changed, program, project_file, succeeds};

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
    let said = succeeds(
        Command::new(program("DOCENT_PROMTOOL")).args(["check", "rules"]).arg(project_file("deploy/alerts.yml")),
    );
    assert!(said.contains("SUCCESS"), "{said}");
}

#[test]
#[ignore = "needs systemd-analyze: cargo xtask test --only deploy"]
fn the_unit_is_sound_and_hardly_exposed() {
    let folder = tempfile::tempdir().expect("make a temporary folder");
    let unit = folder.path().join("docent.service");
    let binary = binary::docent().display().to_string();
    fs::write(&unit, changed("deploy/docent.service", &[("/usr/local/bin/docent", &binary)])).expect("write the unit");
    let systemd = || Command::new(program("DOCENT_SYSTEMD_ANALYZE"));
    assert_eq!(succeeds(systemd().args(["verify", "--man=no"]).arg(&unit)), "");
    succeeds(systemd().args(["security", "--offline=yes", "--no-pager", MOST_EXPOSURE]).arg(&unit));
}

#[test]
#[ignore = "needs promtool: cargo xtask test --only deploy"]
fn prometheus_takes_every_query_of_the_grafana_dashboard() {
    let dashboard: Value =
        serde_json::from_slice(&fs::read(project_file("deploy/grafana.json")).expect("read")).expect("JSON");
    let mut queries = Vec::new();
    collect_queries(&dashboard, &mut queries);
    assert!(queries.len() > 20, "{queries:?}");
    // A file of rules is the only one in which promtool reads queries. Grafana fills these two in.
    let rules: Vec<Value> = queries
        .iter()
        .enumerate()
        .map(|(n, query)| {
            let query = query.replace("$__rate_interval", "5m").replace("$instance", ".*");
            json!({ "record": format!("query:{n}"), "expr": query })
        })
        .collect();
    let folder = tempfile::tempdir().expect("make a temporary folder");
    let shown = folder.path().join("queries.yml");
    // JSON is YAML.
    fs::write(&shown, json!({ "groups": [{ "name": "grafana", "rules": rules }] }).to_string())
        .expect("write the rules");
    let said = succeeds(Command::new(program("DOCENT_PROMTOOL")).args(["check", "rules"]).arg(&shown));
    assert!(said.contains(&format!("SUCCESS: {} rules found", queries.len())), "{said}");
}

fn collect_queries(value: &Value, queries: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            queries.extend(members.get("expr").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|member| collect_queries(member, queries));
        }
        Value::Array(members) => members.iter().for_each(|member| collect_queries(member, queries)),
        _ => {}
    }
}

/// Programs that print what they are called with stand for those of systemd.
#[test]
#[ignore = "needs a shell: cargo xtask test --only deploy"]
fn docentctl_joins_a_running_service_and_starts_a_unit_for_a_stopped_one() {
    let folder = tempfile::tempdir().expect("make a temporary folder");
    let stands_in = |name: &str, script: &str| {
        let path = folder.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("write a program");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("make it a program");
    };
    let says_all = "printf '%s\\n' \"${0##*/}\" \"$@\"";
    ["nsenter", "systemd-run"].iter().for_each(|name| stands_in(name, says_all));
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap_or_default());
    let calls = |pid: u32| {
        stands_in("systemctl", &format!("echo {pid}"));
        let mut command = Command::new("sh");
        command.arg(project_file("deploy/docentctl")).args(["key", "create", "--name", "two words"]).env("PATH", &path);
        succeeds(&mut command)
    };
    let pid = std::process::id();
    let joins = calls(pid);
    assert!(joins.starts_with(&format!("nsenter\n--target\n{pid}\n--mount\n--setuid\n")), "{joins}");
    let starts = calls(0);
    assert!(starts.starts_with("systemd-run\n") && starts.contains("\nUser=docent\n"), "{starts}");
    for said in [joins, starts] {
        assert!(said.ends_with("/usr/local/bin/docent\nkey\ncreate\n--name\ntwo words\n"), "{said}");
    }
}
