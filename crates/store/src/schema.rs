//! The database file: creates it, migrates it to this version's schema, and refuses files that Docent must not write.

use std::fs::OpenOptions;
use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::error::OpenError;
use crate::operator_names::fold_names;
use crate::process_lock::retry_lock;

/// One script per version, in order; `user_version` counts those that were run. A released script is never changed.
const MIGRATIONS: &[&str] = &[
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
    include_str!("schema/6.sql"),
    include_str!("schema/7.sql"),
    include_str!("schema/8.sql"),
    include_str!("schema/9.sql"),
    include_str!("schema/10.sql"),
    include_str!("schema/11.sql"),
    include_str!("schema/12.sql"),
    include_str!("schema/13.sql"),
    include_str!("schema/14.sql"),
    include_str!("schema/15.sql"),
    include_str!("schema/16.sql"),
    include_str!("schema/17.sql"),
    include_str!("schema/18.sql"),
    include_str!("schema/19.sql"),
    include_str!("schema/20.sql"),
    include_str!("schema/21.sql"),
];

/// The script behind which the names of operators are folded anew.
const NAMES_FOLDED: usize = 19;

/// "Docn": marks the file as a Docent database.
const APPLICATION: i32 = 0x446f_636e;

/// Opens the database for writing, creating it if there is none, and migrates it. Its log is checkpointed by
/// [`Checkpoints`](crate::checkpoint::Checkpoints) and the writer, and not by SQLite.
pub(crate) fn open_for_writing(path: &Path) -> Result<Connection, OpenError> {
    let is_new = make(path).map_err(|source| OpenError::Create { path: path.to_owned(), source })?;
    let mut connection = connect(path).map_err(|source| OpenError::Open { path: path.to_owned(), source })?;
    migrate(&mut connection, path, MIGRATIONS)?;
    if is_new {
        sync_folder(path).map_err(|source| OpenError::Create { path: path.to_owned(), source })?;
    }
    Ok(connection)
}

/// Opens a database that is open for writing already.
pub(crate) fn open_for_reading(path: &Path) -> Result<Connection, OpenError> {
    let open = || {
        let mut connection =
            Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        connection.busy_handler(Some(retry_lock))?;
        connection.set_prepared_statement_cache_capacity(64);
        keep_plans(&connection)?;
        connection.execute_batch("PRAGMA query_only = ON; PRAGMA trusted_schema = OFF;")?;
        Ok(connection)
    };
    open().map_err(|source| OpenError::Open { path: path.to_owned(), source })
}

/// Opens a database that is open for writing already, for checkpoints.
pub(crate) fn open_for_checkpoints(path: &Path) -> Result<Connection, OpenError> {
    let connection = connect(path).map_err(|source| OpenError::Open { path: path.to_owned(), source })?;
    connection
        .execute_batch("PRAGMA cache_size = -256")
        .map_err(|source| OpenError::Open { path: path.to_owned(), source })?;
    Ok(connection)
}

/// Opens a database that is open for writing already, to copy it.
pub(crate) fn open_for_copying(path: &Path) -> rusqlite::Result<Connection> {
    let mut connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_handler(Some(retry_lock))?;
    connection.execute_batch("PRAGMA trusted_schema = OFF;")?;
    Ok(connection)
}

/// Creates the folder of a file.
pub(crate) fn make_folder(path: &Path) -> std::io::Result<()> {
    folder(path).map_or(Ok(()), std::fs::create_dir_all)
}

/// The same options, for a file that is readable by this user alone when it is made.
pub(crate) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Creates an empty file readable by this user alone, and its folder; returns whether it is new. An existing file is
/// not opened: closing a second handle on a database would drop the locks that this process holds on it.
fn make(path: &Path) -> std::io::Result<bool> {
    make_folder(path)?;
    match private(OpenOptions::new().write(true).create_new(true)).open(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

fn folder(path: &Path) -> Option<&Path> {
    path.parent().filter(|folder| !folder.as_os_str().is_empty())
}

/// Flushes the folder of a file and that folder's parent. The name of a new file is durable only then.
pub(crate) fn sync_folder(path: &Path) -> std::io::Result<()> {
    let folder = folder(path).unwrap_or(Path::new("."));
    #[cfg(unix)]
    for folder in [Some(folder), folder.parent()].into_iter().flatten().filter(|folder| !folder.as_os_str().is_empty())
    {
        std::fs::File::open(folder)?.sync_all()?;
    }
    Ok(())
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let mut connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_handler(Some(retry_lock))?;
    connection.set_prepared_statement_cache_capacity(128);
    keep_plans(&connection)?;
    // Takes effect only in a file that is still empty; an existing one keeps its mode.
    connection.execute_batch("PRAGMA auto_vacuum = INCREMENTAL")?;
    enter_wal(&connection)?;
    connection.execute_batch(
        "PRAGMA synchronous = FULL;
         PRAGMA fullfsync = ON;
         PRAGMA checkpoint_fullfsync = ON;
         PRAGMA foreign_keys = ON;
         PRAGMA trusted_schema = OFF;
         PRAGMA cell_size_check = ON;
         PRAGMA cache_size = -8192;
         PRAGMA temp_store = MEMORY;
         PRAGMA wal_autocheckpoint = 0;
         PRAGMA journal_size_limit = 67108864;",
    )?;
    Ok(connection)
}

/// Statements are planned once. SQLite would replan some for each bound value, at several times the cost of running
/// them.
fn keep_plans(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(drop)
}

/// Two processes that create a database at the same moment may collide here, where SQLite does not wait.
fn enter_wal(connection: &Connection) -> rusqlite::Result<()> {
    let mut looks = 0;
    loop {
        let entered = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
        match entered {
            Ok(mode) if mode == "wal" => return Ok(()),
            Err(error) if error.sqlite_error_code() != Some(rusqlite::ErrorCode::DatabaseBusy) => return Err(error),
            busy if !retry_lock(looks) => return busy.map(drop),
            _ => looks += 1,
        }
    }
}

/// Runs the scripts that this database lacks. If it is up to date, no write lock is taken.
fn migrate(connection: &mut Connection, path: &Path, scripts: &[&str]) -> Result<(), OpenError> {
    let failed = |source| OpenError::Open { path: path.to_owned(), source };
    if read_version(connection, path, scripts.len())? == scripts.len() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let found = read_version(&transaction, path, scripts.len())?;
    for script in &scripts[found..] {
        transaction.execute_batch(script).map_err(failed)?;
    }
    if (found..scripts.len()).contains(&(NAMES_FOLDED - 1)) {
        fold_names(&transaction).map_err(failed)?;
    }
    mark(&transaction).map_err(failed)?;
    transaction
        .pragma_update(None, "user_version", i32::try_from(scripts.len()).unwrap_or(i32::MAX))
        .map_err(failed)?;
    transaction.commit().map_err(failed)
}

/// The schema version of a backup; 0 of an empty file, an error if it is not one that this version reads.
pub(crate) fn read_backup_version(connection: &Connection, path: &Path) -> Result<usize, OpenError> {
    read_version(connection, path, MIGRATIONS.len())
}

/// Marks the file as a Docent database. Its first page is written even if it is marked already.
pub(crate) fn mark(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "application_id", APPLICATION)
}

/// The number of scripts that were run; an error if Docent must not write to the database.
fn read_version(connection: &Connection, path: &Path, known: usize) -> Result<usize, OpenError> {
    let read = || {
        let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i32>(0));
        let tables: u32 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        Ok((number("application_id")?, number("user_version")?, tables))
    };
    let (application, version, tables) = read().map_err(|source| OpenError::Open { path: path.to_owned(), source })?;
    if application != APPLICATION && (application != 0 || tables > 0) {
        return Err(OpenError::Foreign { path: path.to_owned() });
    }
    let found = usize::try_from(version).unwrap_or(usize::MAX);
    if found > known {
        return Err(OpenError::Newer { path: path.to_owned(), found, known });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh() -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("data").join("docent.db");
        (folder, path)
    }

    fn version(connection: &Connection) -> i32 {
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).expect("a version")
    }

    #[test]
    fn a_new_database_is_durable_private_and_up_to_date() {
        let (_folder, path) = fresh();
        let connection = open_for_writing(&path).expect("opens");
        assert_eq!(version(&connection), i32::try_from(MIGRATIONS.len()).expect("few"));
        let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0)).expect("a value");
        assert_eq!((pragma("synchronous"), pragma("foreign_keys")), (2, 1));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(&path).expect("there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn scripts_run_once_and_in_order() {
        let (_folder, path) = fresh();
        let scripts = ["CREATE TABLE a (n INTEGER); INSERT INTO a VALUES (1);", "INSERT INTO a SELECT n + 1 FROM a;"];
        for (known, rows) in [(1, 1), (1, 1), (2, 2), (2, 2)] {
            make(&path).expect("makes");
            let mut connection = connect(&path).expect("opens");
            migrate(&mut connection, &path, &scripts[..known]).expect("migrates");
            let count: i32 = connection.query_row("SELECT count(*) FROM a", [], |row| row.get(0)).expect("counts");
            assert_eq!((count, version(&connection)), (rows, i32::try_from(known).expect("few")));
        }
    }

    #[test]
    fn threads_of_the_first_version_keep_their_age() {
        let (_folder, path) = fresh();
        make(&path).expect("makes");
        let mut connection = connect(&path).expect("opens");
        migrate(&mut connection, &path, &MIGRATIONS[..1]).expect("is a database of the first version");
        connection
            .execute_batch(
                "INSERT INTO threads VALUES ('asked', 'acme', 'a', x'00', 5), ('told', 'acme', 'a', x'00', 7);
                 INSERT INTO turns VALUES ('asked', 0, 'a', 1, 6, '{}'), ('asked', 1, 'b', 1, 9, '{}'), ('told', 0, 'c', 1, 0, '{}');",
            )
            .expect("writes");
        drop(connection);
        let connection = open_for_writing(&path).expect("opens and migrates");
        let mut select =
            connection.prepare("SELECT created_at, touched_at FROM threads ORDER BY id").expect("prepares");
        let rows = select.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))).expect("reads");
        assert_eq!(rows.collect::<Result<Vec<_>, _>>().expect("reads"), [(5, 9), (7, 7)]);
    }

    #[test]
    fn older_conversations_are_listed_after_migration() {
        let (_folder, path) = fresh();
        make(&path).expect("makes");
        let mut connection = connect(&path).expect("opens");
        migrate(&mut connection, &path, &MIGRATIONS[..7]).expect("is a database of the seventh version");
        connection
            .execute_batch(
                r#"INSERT INTO threads VALUES ('t', 'acme', 'ann', x'00', 5, 6);
                 INSERT INTO turns VALUES ('t', 0, 'a', 1, 6,
                     '{"question_id":null,"question":"Why?","answer_id":"a","answer":"So.","sources":["guides/retries"],"answered":true,"asked_at":"1970-01-01T00:00:00.006Z"}');"#,
            )
            .expect("writes");
        drop(connection);
        let connection = open_for_writing(&path).expect("opens and migrates");
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let (domain, body): (String, String) =
            connection.query_row("SELECT domain, body FROM turns", [], read).expect("reads");
        let turn: docent_assistant::Turn = serde_json::from_str(&body).expect("a turn");
        assert_eq!((domain.as_str(), turn.sources[0].title.as_str()), ("acme", "guides/retries"));
        assert_eq!(turn.sources[0].url, "/guides/retries");
    }

    #[test]
    fn jobs_of_the_second_version_find_their_places() {
        let (_folder, path) = fresh();
        make(&path).expect("makes");
        let mut connection = connect(&path).expect("opens");
        migrate(&mut connection, &path, &MIGRATIONS[..2]).expect("is a database of the second version");
        connection
            .execute_batch(
                "INSERT INTO jobs VALUES
                   ('00000000-0000-0000-0000-00000000000a', 'p', 'active', 'r', 'x', 1, 5, NULL, 2, '{}'),
                   ('00000000-0000-0000-0000-00000000000b', 'p', 'active', 'r', 'y', 2, 6, 99, 3, '{}'),
                   ('00000000-0000-0000-0000-00000000000c', 'p', 'completed', 'r',
                    'docent/00000000-0000-0000-0000-00000000000c', 3, 7, NULL, 4, '{}');
                 INSERT INTO entries VALUES ('00000000-0000-0000-0000-00000000000c', 1, 3, '{}'),
                                            ('00000000-0000-0000-0000-00000000000c', 2, 12, '{\"entry\":1}');
                 INSERT INTO uses VALUES ('one', 20, 90), ('one', 10, 80), ('two', 15, 85), ('one', 20, 91);",
            )
            .expect("writes");
        drop(connection);
        let connection = open_for_writing(&path).expect("opens and migrates");
        let mut select =
            connection.prepare("SELECT hex(id), place, lane, ended_at FROM jobs ORDER BY n").expect("prepares");
        let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)));
        let rows: Vec<(String, i64, Option<String>, Option<i64>)> =
            rows.expect("reads").collect::<Result<_, _>>().expect("reads");
        let id = |last: &str| format!("{last:0>32}");
        let lane = |branch: &str| Some(format!("r\n{branch}"));
        assert_eq!(rows, [(id("A"), 2, lane("x"), None), (id("B"), 3, lane("y"), None), (id("C"), 4, None, Some(12))]);
        let mut select = connection.prepare("SELECT job, last, count, at, bodies FROM entries").expect("prepares");
        let rows = select
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get::<_, String>(4)?)));
        let rows: Vec<(i64, i64, i64, i64, String)> = rows.expect("reads").collect::<Result<_, _>>().expect("reads");
        assert_eq!(rows, [(3, 1, 1, 3, "[{}]".to_owned()), (3, 2, 1, 12, "[{\"entry\":1}]".to_owned())]);
        let mut select =
            connection.prepare("SELECT bucket, total, at FROM uses ORDER BY bucket, at").expect("prepares");
        let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).expect("reads");
        let rows: Vec<(String, i64, i64)> = rows.collect::<Result<_, _>>().expect("reads");
        let uses = |bucket: &str, n, at| (bucket.to_owned(), n, at);
        assert_eq!(rows, [uses("one", 1, 10), uses("one", 3, 20), uses("two", 1, 15)]);
    }

    #[test]
    fn journals_of_the_fourth_version_are_read_beside_new_ones() {
        use crate::journal::{self, PreparedEntries};
        use docent_jobs::EntryBody;
        use docent_types::{JobId, JobStatus, Timestamp};
        let (_folder, path) = fresh();
        make(&path).expect("makes");
        let mut connection = connect(&path).expect("opens");
        migrate(&mut connection, &path, &MIGRATIONS[..4]).expect("is a database of the fourth version");
        let entry = r#"{"entry":"transition","to":"active"}"#;
        connection
            .execute_batch(&format!(
                "INSERT INTO jobs VALUES (7, unhex('0000000000000000000000000000000a'), 'p', 0, NULL, 1, NULL, NULL, 1, '{{}}');
                 INSERT INTO entries VALUES (7, 2, 2, 5, '[{entry},{entry}]');"
            ))
            .expect("writes");
        drop(connection);
        let connection = open_for_writing(&path).expect("opens and migrates");
        let body = EntryBody::Transition { to: JobStatus::Active, halt: None, message: None };
        let draft =
            PreparedEntries::of(2, Timestamp::from_millis(6), vec![body]).expect("is written").expect("something");
        draft.append(&connection, 7).expect("appends");
        let id = JobId::parse("00000000-0000-0000-0000-00000000000a").expect("an id");
        let read = |after| journal::read(&connection, id, after, 9).expect("reads");
        let seen = |after| read(after).iter().map(|entry| (entry.seq, entry.at.millis())).collect::<Vec<_>>();
        assert_eq!((seen(0), seen(1)), (vec![(1, 5), (2, 5), (3, 6)], vec![(2, 5), (3, 6)]));
    }

    #[test]
    fn projects_of_the_sixth_version_get_a_uid_each() {
        use docent_types::Project;
        let (_folder, path) = fresh();
        make(&path).expect("makes");
        let mut connection = connect(&path).expect("opens");
        migrate(&mut connection, &path, &MIGRATIONS[..6]).expect("is a database of the sixth version");
        for id in ["acme", "zoë's"] {
            let body = r#"{"id":"acme","domain":"acme","repository":"/srv/\u00fc","ref":"main","docs_root":"",
                "forge":"local","token_env":null,"base_url":null,"created_at":"2026-11-18T11:06:40.007Z"}"#;
            connection.execute("INSERT INTO projects VALUES (?1, ?1, ?2)", [id, body]).expect("writes");
        }
        drop(connection);
        let uids = || {
            let connection = open_for_writing(&path).expect("opens and migrates");
            let mut select = connection.prepare("SELECT body FROM projects ORDER BY id").expect("prepares");
            let bodies = select.query_map([], |row| row.get::<_, String>(0)).expect("reads");
            bodies
                .map(|body| serde_json::from_str::<Project>(&body.expect("a body")).expect("a project").uid)
                .collect::<Vec<_>>()
        };
        let first = uids();
        assert!(first[0] != first[1] && first.iter().all(|uid| uid.uuid().get_version_num() == 4), "{first:?}");
        assert_eq!(uids(), first);
    }

    #[test]
    fn jobs_of_the_twelfth_version_are_found_by_their_instructions() {
        let (_folder, path) = fresh();
        make(&path).expect("makes");
        let mut connection = connect(&path).expect("opens");
        migrate(&mut connection, &path, &MIGRATIONS[..12]).expect("is a database of the twelfth version");
        let transition = r#"{"entry":"transition","to":"active"}"#;
        let said = |role: &str, text: &str| {
            let parts = format!(r#"[{{"type":"text","text":"{text}"}},{{"type":"text","text":"too"}}]"#);
            format!(r#"{{"role":"{role}","parts":{parts}}}"#)
        };
        let asks = |messages: &str| format!(r#"[{transition},{{"entry":"instruction","messages":[{messages}]}}]"#);
        let both = asks(&format!("{},{}", said("system", "Be brief."), said("user", "Mend Ü")));
        let long = asks(&said("system", &"ü".repeat(3_000)));
        connection
            .execute_batch(&format!(
                "INSERT INTO jobs VALUES (1, x'01', 'p', 4, NULL, 1, NULL, NULL, 1, '{{}}', 2, 5, '{both}'),
                   (2, x'02', 'p', 4, NULL, 1, NULL, NULL, 1, '{{}}', NULL, NULL, NULL),
                   (3, x'03', 'p', 4, NULL, 1, NULL, NULL, 0, '{{\"pruned_to\":3}}', NULL, NULL, NULL);
                 INSERT INTO entries VALUES (2, 2, 2, 5, '{long}'), (2, 3, 1, 5, '[{transition}]'), (3, 4, 1, 5, '{both}');"
            ))
            .expect("writes");
        drop(connection);
        let connection = open_for_writing(&path).expect("opens and migrates");
        let mut select = connection.prepare("SELECT n, text FROM prompts ORDER BY n").expect("prepares");
        let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("reads");
        let rows: Vec<(i64, String)> = rows.collect::<Result<_, _>>().expect("reads");
        assert_eq!(rows, [(1, "Mend Ü\n\ntoo".to_owned()), (2, "ü".repeat(2_000))]);
    }

    #[test]
    fn pull_requests_of_the_thirteenth_version_keep_their_order() {
        let (_folder, path) = fresh();
        make(&path).expect("makes");
        let mut connection = connect(&path).expect("opens");
        migrate(&mut connection, &path, &MIGRATIONS[..13]).expect("is a database of the thirteenth version");
        for (id, at) in
            [("a", "2026-11-18T11:06:40Z"), ("b", "2026-11-18T11:06:40.007Z"), ("c", "1970-01-01T00:00:00.5Z")]
        {
            let body = format!(r#"{{"created_at":"{at}"}}"#);
            let insert = "INSERT INTO pulls VALUES (?1, 'acme', unicode(?1), ?1, 'main', 'open', ?2)";
            connection.execute(insert, [id, &body]).expect("writes");
        }
        drop(connection);
        let connection = open_for_writing(&path).expect("opens and migrates");
        let mut select = connection.prepare("SELECT id, created_at FROM pulls ORDER BY created_at").expect("prepares");
        let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("reads");
        let rows: Vec<(String, i64)> = rows.collect::<Result<_, _>>().expect("reads");
        let expected = [("c", 500), ("a", 1_795_000_000_000), ("b", 1_795_000_000_007)];
        assert_eq!(rows, expected.map(|(id, at)| (id.to_owned(), at)));
    }

    #[test]
    fn operators_of_the_eighteenth_version_whose_names_look_alike_get_a_number() {
        let (_folder, path) = fresh();
        make(&path).expect("makes");
        let mut connection = connect(&path).expect("opens");
        migrate(&mut connection, &path, &MIGRATIONS[..18]).expect("is a database of the eighteenth version");
        let insert = "INSERT INTO operators (id, name, folded, role, password, created_at)
            VALUES (?1, ?2, lower(?2), 'viewer', '', unicode(?1))";
        for (at, name) in [(1_u8, "ann"), (2, "\u{430}nn"), (3, "ann 2"), (4, "\u{ff22}ob")] {
            connection.execute(insert, ([at], name)).expect("writes");
        }
        drop(connection);
        let connection = open_for_writing(&path).expect("opens and migrates");
        let mut select =
            connection.prepare("SELECT name, folded FROM operators ORDER BY created_at").expect("prepares");
        let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("reads");
        let rows: Vec<(String, String)> = rows.collect::<Result<_, _>>().expect("reads");
        let expected = [("ann", "ann"), ("\u{430}nn 3", "ann 3"), ("ann 2", "ann 2"), ("\u{ff22}ob", "bob")];
        assert_eq!(rows, expected.map(|(name, folded)| (name.to_owned(), folded.to_owned())));
    }

    #[test]
    fn a_statement_is_planned_once() {
        let (_folder, path) = fresh();
        let connection = open_for_writing(&path).expect("opens");
        let sql = "SELECT at FROM uses WHERE bucket = ?1 ORDER BY at DESC LIMIT 1";
        let mut select = connection.prepare(sql).expect("prepares");
        for bucket in ["one", "two", "three"] {
            assert!(!select.exists([bucket]).expect("reads"));
        }
        assert_eq!(select.get_status(rusqlite::StatementStatus::RePrepare), 0);
    }

    #[test]
    fn a_script_that_fails_changes_nothing() {
        let (_folder, path) = fresh();
        make(&path).expect("makes");
        let mut connection = connect(&path).expect("opens");
        assert!(migrate(&mut connection, &path, &["CREATE TABLE a (n INTEGER)", "CREATE TABEL b"]).is_err());
        assert_eq!(version(&connection), 0);
        migrate(&mut connection, &path, &["CREATE TABLE a (n INTEGER)"]).expect("the table is not there yet");
    }

    #[test]
    fn a_newer_database_is_refused_with_a_sentence() {
        let (_folder, path) = fresh();
        let connection = open_for_writing(&path).expect("opens");
        connection.pragma_update(None, "user_version", 99).expect("updates");
        drop(connection);
        let error = open_for_writing(&path).expect_err("is newer");
        let text = error.to_string();
        assert!(matches!(error, OpenError::Newer { found: 99, .. }));
        let known = MIGRATIONS.len();
        assert!(text.contains(&format!("newer version of Docent (schema 99, this version knows {known})")), "{text}");
    }

    #[test]
    fn foreign_databases_are_left_alone() {
        let (_folder, path) = fresh();
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("makes");
        let foreign = Connection::open(&path).expect("opens");
        foreign.execute_batch("CREATE TABLE theirs (n INTEGER)").expect("writes");
        drop(foreign);
        assert!(matches!(open_for_writing(&path), Err(OpenError::Foreign { .. })));
        std::fs::write(&path, "not a database, but longer than one hundred bytes ".repeat(40)).expect("writes");
        let error = open_for_writing(&path).expect_err("is no database");
        let source = std::error::Error::source(&error).expect("a source").to_string();
        assert!(matches!(error, OpenError::Open { .. }) && source.contains("not a database"), "{error}: {source}");
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let (_folder, path) = fresh();
        std::fs::write(path.parent().expect("a folder"), "a file").expect("writes");
        let error = open_for_writing(&path).expect_err("there is no such folder");
        assert!(matches!(error, OpenError::Create { .. }) && error.to_string().contains("docent.db"), "{error}");
    }
}
