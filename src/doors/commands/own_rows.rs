//! Backs up and restores the rows that only the ledger has.

use super::kv::{CommandStore, Kv};
use super::{CommandOutcome, from_js, to_js};
use crate::doors::platform::Platform;
use crate::office::system::rows::own_rows as rows;
use crate::office::system::rows::own_rows::OwnTable;
use crate::office::system::rule::own_rows;
use crate::office::system::rule::own_rows::OwnRowsHeader;
use crate::office::system::rule::restore::RestoreOptions;
use strum::IntoEnumIterator as _;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// Returns the names of the tables whose rows only the ledger has, in the order of backups.
#[wasm_bindgen(js_name = ownTables)]
pub fn own_tables() -> CommandOutcome {
    to_js(&OwnTable::iter().collect::<Vec<_>>())
}

/// Returns the names of the tables whose rows a restore writes, in the order of backups.
#[wasm_bindgen(js_name = restoredTables)]
pub fn restored_tables(options: JsValue) -> CommandOutcome {
    let options: RestoreOptions = from_js(options)?;
    to_js(&OwnTable::iter().filter(|table| options.takes_rows(*table)).collect::<Vec<_>>())
}

/// Returns the part of a backup's header that is about the database: `{epoch, keptFrom}`; null if
/// no database is bound. Throws if the database has lost rows.
#[wasm_bindgen(js_name = headerOfOwnRows)]
pub async fn header(kv: Kv) -> CommandOutcome {
    let store = CommandStore::new(kv);
    store.finish(own_rows::header(&store, store.ledger()).await)
}

/// Returns a page of a table's rows, each a JSON text. `after` is the last row of the previous page. The last page has no
/// row.
#[wasm_bindgen(js_name = ownRows)]
pub async fn page(kv: Kv, table: JsValue, after: Option<String>) -> CommandOutcome {
    let store = CommandStore::new(kv);
    let table = from_js(table)?;
    let page = async { Ok(rows::page(store.ledger(), table, after.as_deref()).await?) };
    store.finish(page.await)
}

/// Throws if a text is not a row of the table.
#[wasm_bindgen(js_name = checkOwnRow)]
pub fn check(table: JsValue, row: &str) -> CommandOutcome {
    let table: OwnTable =
        from_js(table).map_err(|_| "the backup has a table of a later release")?;
    own_rows::check(table, row).map_err(|error| error.to_string())?;
    Ok(JsValue::NULL)
}

#[wasm_bindgen(js_name = beginOwnRows)]
pub async fn begin(kv: Kv, header: JsValue) -> CommandOutcome {
    let store = CommandStore::new(kv);
    let header: OwnRowsHeader = from_js(header)?;
    store.finish(own_rows::begin(&store, store.ledger(), &header).await)
}

/// Writes rows that the ledger lacks. `erased` are the IDs of erased transactions. Returns `{written, known, refused}`.
#[wasm_bindgen(js_name = restoreOwnRows)]
pub async fn restore(
    kv: Kv,
    table: JsValue,
    rows_of_backup: Vec<String>,
    erased: Vec<String>,
) -> CommandOutcome {
    let store = CommandStore::new(kv);
    let table = from_js(table)?;
    let restored =
        async { Ok(rows::restore(store.ledger(), table, &rows_of_backup, &erased).await?) };
    store.finish(restored.await)
}

/// Ends the restore of a backup with this header, after all its rows are written.
#[wasm_bindgen(js_name = endOwnRows)]
pub async fn end(kv: Kv, header: JsValue) -> CommandOutcome {
    let store = CommandStore::new(kv);
    let header: OwnRowsHeader = from_js(header)?;
    let ended =
        async { own_rows::end(&store, store.ledger(), (&Platform, &Platform), &header).await };
    store.finish(ended.await)
}

/// Ends the restore of a backup without such rows. Returns whether the database lacks rows that the audit log has.
#[wasm_bindgen(js_name = endWithoutOwnRows)]
pub async fn end_without(kv: Kv) -> CommandOutcome {
    let store = CommandStore::new(kv);
    store.finish(own_rows::end_without(&store, store.ledger(), (&Platform, &Platform)).await)
}
