//! Checks of a database on PostgreSQL.

use docent_store_postgres::{CommitPromise, PostgresStore};

use super::Finding;
use crate::failure::Failure;

pub(super) async fn findings(store: &PostgresStore) -> Vec<Finding> {
    let asked = match store.ready().await {
        Ok(()) => store.server_facts().await,
        Err(error) => Err(error),
    };
    let facts = match asked {
        Ok(facts) => facts,
        Err(error) => {
            let fix = "see whether the database runs, has room, and is no standby";
            return vec![Finding::bad(Failure::from(error).to_string(), fix)];
        }
    };
    let mut findings = vec![Finding::Good(format!(
        "PostgreSQL {}, can be written; {} of its {} connections are in use",
        facts.version, facts.connections, facts.max_connections
    ))];
    findings.extend(promises(store.commit_promise(), facts.synchronous_standbys));
    findings
}

/// What is left of an acknowledged write when the power of the database's machine fails, and when the machine is lost.
fn promises(promise: &CommitPromise, standbys: u64) -> Vec<Finding> {
    let CommitPromise { synchronous_commit, synchronous_standby_names: names, fsync } = promise;
    let mut findings = Vec::new();
    if !fsync {
        findings.push(Finding::bad(
            "`fsync` is off: a loss of power may destroy the database",
            "set `fsync = on` in postgresql.conf",
        ));
    }
    findings.push(match synchronous_commit.as_str() {
        "off" => Finding::Note(
            "`synchronous_commit` is off for this user; what is acknowledged is flushed all the same, because it is turned \
             on for each such write"
                .to_owned(),
        ),
        setting => Finding::Good(format!("`synchronous_commit` is {setting}: what is acknowledged is on the disk")),
    });
    let waits = !names.is_empty() && synchronous_commit != "local";
    findings.push(match (waits, standbys) {
        (false, _) => Finding::Note(
            "`synchronous_standby_names` names no standby that commits wait for: a failover loses the writes of the last \
             moments, jobs that were accepted among them"
                .to_owned(),
        ),
        (true, 0) => Finding::bad(
            format!("`synchronous_standby_names` is `{names}`, and no such standby follows: writes wait for one"),
            "start a standby of that name, or empty `synchronous_standby_names` until there is one",
        ),
        (true, _) => Finding::Good(format!(
            "`synchronous_standby_names` is `{names}` ({standbys} follow): a failover to one of them loses nothing that was \
             acknowledged"
        )),
    });
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_failover_loses_is_said_for_each_setting() {
        let promises = |commit: &str, names: &str, standbys| {
            let promise = CommitPromise {
                synchronous_commit: commit.to_owned(),
                synchronous_standby_names: names.to_owned(),
                fsync: true,
            };
            let findings = super::promises(&promise, standbys);
            findings.iter().map(|finding| format!("{finding:?}")).collect::<Vec<_>>().join("\n")
        };
        assert!(promises("on", "", 0).contains("a failover loses the writes of the last moments"));
        assert!(promises("local", "a", 1).contains("a failover loses the writes of the last moments"));
        assert!(promises("on", "a", 1).contains("loses nothing that was acknowledged"));
        assert!(promises("remote_apply", "ANY 1 (a, b)", 0).contains("Bad"));
        assert!(promises("off", "a", 1).contains("turned on for each such write"));
    }
}
