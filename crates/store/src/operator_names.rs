//! The form in which the names of operators are compared, computed anew when a migration needs it.

use std::collections::HashSet;

use docent_operators::OperatorName;
use rusqlite::Connection;

/// Computes `folded` of all operators anew. Of two whose names have become one, the later gets a number behind the name.
pub(crate) fn fold_names(connection: &Connection) -> rusqlite::Result<()> {
    let mut select = connection.prepare("SELECT id, name FROM operators ORDER BY created_at, rowid")?;
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let operators: Vec<(Vec<u8>, String)> = rows.collect::<rusqlite::Result<_>>()?;
    // A number that somebody has already is left to them.
    let given: HashSet<OperatorName> =
        operators.iter().filter_map(|(_, name)| OperatorName::parse(name).ok()).collect();
    let mut taken = HashSet::new();
    connection.execute("UPDATE operators SET folded = hex(id)", [])?;
    for (id, name) in &operators {
        // A name of characters that are not seen is none any more.
        let base = if OperatorName::parse(name).is_ok() { name } else { "operator" };
        let is_free = |new: &OperatorName| new.as_str() == base || !given.contains(new);
        if let Some(name) = OperatorName::numbered(base).find(|new| is_free(new) && taken.insert(new.clone())) {
            let update = "UPDATE operators SET name = ?2, folded = ?3 WHERE id = ?1";
            connection.execute(update, (id, name.as_str(), name.folded()))?;
        }
    }
    Ok(())
}
