//! The first batch of a journal, which is stored in the job's row if it is short.

use docent_jobs::Pruning;

use super::*;

fn asked(words: usize) -> (Row, Vec<EntryBody>) {
    let instruction = Instruction::new(vec![Message::text(Role::User, "word ".repeat(words))]);
    state::create(sample_job(words as u128), instruction)
}

/// The number of rows in the table of entries.
async fn beside(store: &SqliteStore) -> u64 {
    let count = |connection: &rusqlite::Connection| {
        Ok(connection.query_row("SELECT count(*) FROM entries", [], |row| row.get(0))?)
    };
    store.read("count", count).await.expect("counts")
}

#[tokio::test]
async fn a_short_beginning_is_in_the_row_and_a_long_one_beside_it_and_both_are_read_alike() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    for (words, rows) in [(10, 0), (1000, 1)] {
        let (row, entries) = asked(words);
        let (id, before) = (row.id(), beside(&store).await);
        store.create(row, entries.clone(), open_gate()).await.expect("a job is created");
        assert_eq!(beside(&store).await - before, rows);
        append(&store, &claim(&store, 1).await.remove(0), 1).await.expect("the entry is written");
        // Another process has not cached the job, so it reads the database.
        let other = database.open();
        let read = other.entries(id, 0, 9).await.expect("reads");
        assert_eq!(read.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert_eq!(
            read.iter().take(2).map(|entry| &entry.body).collect::<Vec<_>>(),
            entries.iter().collect::<Vec<_>>()
        );
        for (after, limit, seqs) in [(1, 9, vec![2, 3, 4]), (2, 9, vec![3, 4]), (0, 1, vec![1]), (1, 2, vec![2, 3])] {
            let read = other.entries(id, after, limit).await.expect("reads");
            assert_eq!(read.iter().map(|entry| entry.seq).collect::<Vec<_>>(), seqs, "after {after}, at most {limit}");
        }
        store.change(id, open_gate(), Arc::new(|row: &Row| state::archive(row, NOW))).await.expect("archives");
    }
    assert_eq!(store.sizes().await.expect("measures").entries, 10);
}

#[tokio::test]
async fn a_beginning_is_pruned_entry_by_entry() {
    let database = TemporaryDatabase::new();
    let store = database.open();
    let (row, entries) = asked(10);
    let id = row.id();
    store.create(row, entries, open_gate()).await.expect("a job is created");
    store.change(id, open_gate(), Arc::new(|row: &Row| state::archive(row, NOW))).await.expect("archives");
    let late = NOW.plus(Duration::from_secs(1));
    let pruning = Pruning { now: late, journals_before: Some(late), jobs_before: None, limit: 1 };
    for left in [vec![2, 3], vec![3], vec![3]] {
        store.prune(pruning).await.expect("prunes");
        let read = database.open().entries(id, 0, 9).await.expect("reads");
        assert_eq!(read.iter().map(|entry| entry.seq).collect::<Vec<_>>(), left);
        assert_eq!(store.sizes().await.expect("measures").entries, left.len() as u64);
    }
}
