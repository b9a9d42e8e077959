//! Tests of the way from every older schema to the present one. The fixtures are made by the statements of that time,
//! which never change.

use super::{APPLICATION, FIRST, Kind, STEPS, VERSION, kind, migrate};
use rusqlite::Connection;

/// A store of an older version, with a run, an event and a blob.
fn old(version: i64) -> Connection {
    let conn = Connection::open_in_memory().unwrap();
    let steps = usize::try_from(version).unwrap();
    STEPS.iter().take(steps).for_each(|step| conn.execute_batch(step).unwrap());
    conn.execute_batch(
        "INSERT INTO runs(run, root, agent, team, objective, started, updated) VALUES('a', 'a', 'x', 't', 'o', 1, 2);
         INSERT INTO events VALUES('a', 0, 1, '{}');
         INSERT INTO leases VALUES('a', 3);
         INSERT INTO blobs(sha256, len, data) VALUES('d', 3, x'010203');",
    )
    .unwrap();
    conn.pragma_update(None, "application_id", APPLICATION).unwrap();
    conn.pragma_update(None, "user_version", version).unwrap();
    conn
}

/// Every table with its columns, as SQLite tells it.
fn shape(conn: &Connection) -> Vec<String> {
    let sql = "SELECT m.name || '.' || p.name || ' ' || p.type FROM sqlite_master m, pragma_table_info(m.name) p
               WHERE m.type = 'table' ORDER BY 1";
    let mut select = conn.prepare(sql).unwrap();
    let rows = select.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn every_older_version_becomes_the_present_one() {
    let mut new = Connection::open_in_memory().unwrap();
    migrate(&mut new).unwrap();
    assert_eq!(usize::try_from(VERSION).unwrap(), STEPS.len());
    for version in 1..=VERSION {
        let mut conn = old(version);
        migrate(&mut conn).unwrap();
        assert_eq!(kind(&conn).unwrap(), Kind::Ours(VERSION));
        assert_eq!(shape(&conn), shape(&new), "from {version}");
        let kept: (i64, Vec<u8>) = conn
            .query_row("SELECT epoch, blobs.data FROM leases, blobs, events WHERE events.run = 'a'", [], |r| {
                Ok((r.get(0)?, r.get(1)?))
            })
            .unwrap();
        assert_eq!(kept, (3, vec![1, 2, 3]), "from {version}");
    }
}

#[test]
fn a_step_that_fails_changes_nothing() {
    let mut conn = old(1);
    // What the step wants to add is there already: as if the file had been tampered with.
    conn.execute_batch("ALTER TABLE blobs ADD COLUMN touched TEXT").unwrap();
    let before = shape(&conn);
    assert!(migrate(&mut conn).is_err());
    assert_eq!((kind(&conn).unwrap(), shape(&conn)), (Kind::Ours(1), before));
}

#[test]
fn what_was_released_stays_as_it_was() {
    // The digest of the first version's statements: a change would make two kinds of stores of one version.
    let digest = deputize_core::digest::of_bytes(FIRST.as_bytes());
    assert_eq!(digest.as_str(), "69fae56d30b6644af57f5191db122a555053ae9fbf4ba4b17552d493aba043d6");
}
