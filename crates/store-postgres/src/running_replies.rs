//! How many replies of the assistant run on each node.

use std::collections::BTreeMap;
use std::time::Duration;

use docent_types::{Clock, ProjectUid, StoreError};
use uuid::Uuid;

use crate::error::Abort;
use crate::params::params;
use crate::postgres::PostgresStore;

/// How long what a node has said counts. A node that dies takes up its places for so long.
const VALID: Duration = Duration::from_secs(5);
/// Rows of nodes that are gone are deleted after so long.
const KEPT: Duration = Duration::from_secs(60);

/// `$1` is this node, `$5` the present, `$6` when other rows are too old to keep.
const TELL: &str = "
    WITH told AS (
        INSERT INTO running_replies (node, projects, counts, until) VALUES ($1, $2, $3, $4)
        ON CONFLICT (node) DO UPDATE SET projects = $2, counts = $3, until = $4
    ), gone AS (
        DELETE FROM running_replies WHERE node <> $1 AND until < $6
    )
    SELECT project, sum(count)::bigint
    FROM running_replies, unnest(projects, counts) AS running (project, count)
    WHERE node <> $1 AND until > $5
    GROUP BY project";

impl PostgresStore {
    /// Tells the other nodes how many replies run on this one, by project, and returns how many run on all others. To be called
    /// about once a second: what a node has said counts for five.
    pub async fn share_running_replies(
        &self,
        running: BTreeMap<ProjectUid, usize>,
    ) -> Result<BTreeMap<ProjectUid, usize>, StoreError> {
        let (node, now) = (self.shared().node, self.shared().clock.now());
        let (projects, counts): (Vec<Uuid>, Vec<i32>) = running
            .into_iter()
            .map(|(project, count)| (project.uuid(), i32::try_from(count).unwrap_or(i32::MAX)))
            .unzip();
        let (until, now, gone) = (now.plus(VALID).millis(), now.millis(), now.minus(KEPT).millis());
        self.write_in_order("share how many replies run", move |transaction| async move {
            let told = params![node, projects, counts, until, now, gone];
            let rows = transaction.execute_rows(TELL, told).await?;
            let count_of = |row: &tokio_postgres::Row| {
                let count = usize::try_from(row.try_get::<_, i64>(1)?).unwrap_or(0);
                Ok((ProjectUid::new(row.try_get(0)?), count))
            };
            rows.iter().map(count_of).collect::<Result<_, Abort<StoreError>>>()
        })
        .await
    }
}
