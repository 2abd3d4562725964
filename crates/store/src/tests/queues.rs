//! The cost of a claim does not grow with the number of waiting jobs.

use super::*;
use crate::queue;

/// Inserts many waiting jobs directly into the table: half with concurrency keys of their own, half with one common
/// key.
async fn fill(store: &SqliteStore, jobs: u32) {
    let (row, _) = state::create(sample_job(1), Instruction::new(Vec::new()));
    let body = serde_json::to_string(&row).expect("is JSON");
    let id = row.id().to_string();
    let fill = move |connection: &rusqlite::Connection| {
        connection.execute(
            "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?1),
                  made (n, id, branch) AS (
                    SELECT n, printf('00000000-0000-0000-0000-%012x', n), CASE n % 2 WHEN 0 THEN 'one' ELSE 'own-' || n END
                    FROM n
                  )
             INSERT INTO jobs (id, project, place, lane, not_before, kept, body)
             SELECT unhex(id, '-'), 'acme', 0, '/srv/git/docs.git' || char(10) || branch, 0, 1,
                    replace(replace(?2, ?3, id), 'docent/1', branch)
             FROM made",
            (jobs, body, id),
        )?;
        connection.execute("INSERT INTO queues VALUES ('acme', 1, 0)", [])?;
        Ok::<_, Abort<StoreError>>(())
    };
    store.write("set the scene", fill).await.expect("the scene is set");
}

#[tokio::test]
async fn every_question_of_a_claim_is_answered_by_an_index() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    fill(&store, 1000).await;
    let plans = store.read("explain", |connection| {
        // Statistics could hide what a fresh database would do, so there are none.
        let mut plans = Vec::new();
        for sql in queue::QUERIES {
            let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
            let rows = explain.raw_query().mapped(|row| row.get::<_, String>(3)).collect::<Result<Vec<_>, _>>()?;
            plans.push((*sql, rows));
        }
        Ok(plans)
    });
    for (sql, plan) in plans.await.expect("explains") {
        let plan = plan.join("; ");
        assert!(plan.contains("INDEX"), "{sql}\n{plan}");
        assert!(!plan.contains("TEMP B-TREE"), "{sql}\n{plan}");
        let scans = plan.contains("SCAN jobs") || plan.contains("SCAN queues");
        assert!(!scans, "{sql}\n{plan}");
    }
}

/// The number of jobs that two claims pass over when `jobs` jobs wait.
async fn passed_over(jobs: u32) -> usize {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Arc::new(SqliteStore::open(folder.path().join("docent.db")).expect("opens"));
    fill(&store, jobs).await;
    // The first claim leases one job with the common key. Each claim moves the ready jobs with that key that it comes
    // across behind the leased one, so that no later claim examines them.
    let mut rows = claim(&store, 8).await;
    let begun = store.writes();
    rows.extend(claim(&store, 8).await);
    assert_eq!(rows.len(), 16);
    let in_one_lane = rows.iter().filter(|row| row.job.source.branch == "one").count();
    assert_eq!(in_one_lane, 1, "of one lane there is one");
    assert_eq!(store.writes().commits - begun.commits, 1);
    let count_blocked = |connection: &rusqlite::Connection| {
        Ok(connection.query_row("SELECT count(*) FROM jobs WHERE place = 1", [], |row| row.get(0))?)
    };
    store.read("count", count_blocked).await.expect("counts")
}

#[tokio::test]
async fn a_claim_looks_at_no_job_twice_and_at_few() {
    let few = passed_over(1_000).await;
    let many = passed_over(20_000).await;
    assert_eq!(few, many, "as many were passed over where twenty times as many wait");
    assert!(many <= 32, "{many}");
}
