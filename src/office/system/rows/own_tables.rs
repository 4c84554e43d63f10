//! The tables whose rows only the ledger has, so that backups have them, and what a restore has to know about each.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use strum::{EnumIter, IntoEnumIterator as _};

/// What replaces a reason if the transaction is erased.
const ERASED: &str = "erased";

/// A table whose rows only the ledger has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, EnumIter)]
#[serde(rename_all = "lowercase")]
pub enum OwnTable {
    Credits,
    /// Fulfilments, including removed ones.
    Fulfilments,
    /// Updates in every state.
    Updates,
    /// People of shops. Some of them may have been removed since the backup.
    People,
    /// Decisions about orders of shop systems.
    Orders,
    /// Entries of the audit log.
    Audit,
    /// Requests of shops for credits.
    Requests,
    /// Up to which sums such requests are credited at once.
    Limits,
    /// Notes on transactions.
    Notes,
    /// Accepted tasks of the home page.
    Accepted,
    /// The kinds of e-mails that people have switched off.
    Notices,
    /// How far the orders of shop systems were fetched.
    Fetches,
}

/// A table and its columns.
#[derive(Clone, Copy)]
pub(super) struct Table {
    pub name: &'static str,
    /// The names of the columns of the primary key, with `, ` between them.
    pub key: &'static str,
    /// Columns whose values together are never used again. So they show whether another row has taken the row's place.
    pub identity: &'static str,
    /// All columns.
    pub columns: &'static str,
    /// The columns that change, if `newer` holds.
    pub changing: &'static str,
    /// SQL that compares a row with the one of the backup, `excluded`: whether the backup's is newer. Empty if rows never
    /// change.
    pub newer: &'static str,
    /// SQL for what must hold before the row `it` is written.
    pub precondition: &'static str,
    /// Removes personal data from a row whose transaction is erased. Returns `false` if the row must not come back.
    pub erase: fn(&mut Map<String, Value>) -> bool,
}

/// The statements of a table.
pub(super) struct Sql {
    /// Selects at most `$.most` rows that follow the row `$.after`.
    pub page: String,
    /// Writes the row `$`, unless there is one that is as new.
    pub restore: String,
    /// Selects the positions of those rows of a list that the table has, in any version.
    pub present: String,
}

impl Table {
    const fn new(name: &'static str, key: &'static str, columns: &'static str) -> Self {
        Table {
            name,
            key,
            identity: key,
            columns,
            changing: "",
            newer: "",
            precondition: "true",
            erase: |_| true,
        }
    }

    fn sql(&self) -> Sql {
        let Table { name, key, identity, columns, changing, newer, precondition, .. } = self;
        let members = each(columns, ", ", |column| format!("'{column}', {column}"));
        let after = each(key, ", ", |column| format!("ifnull(?1 ->> '$.after.{column}', '')"));
        let values = each(columns, ", ", |column| format!("it ->> '$.{column}'"));
        let set = each(changing, ", ", |column| format!("{column} = excluded.{column}"));
        let replace = match newer.is_empty() {
            true => String::new(),
            false => format!("ON CONFLICT ({key}) DO UPDATE SET {set} WHERE {newer}"),
        };
        let same =
            each(identity, " AND ", |column| format!("{name}.{column} = it ->> '$.{column}'"));
        Sql {
            page: format!(
                "SELECT json_object({members}) FROM {name} WHERE ({key}) > ({after})
ORDER BY {key} LIMIT ?1 ->> '$.most'"
            ),
            restore: format!(
                "INSERT INTO {name} ({columns}) SELECT {values} FROM (SELECT ?1 AS it)
WHERE {precondition} {replace} ON CONFLICT DO NOTHING"
            ),
            present: format!(
                "SELECT position FROM (SELECT key AS position, value AS it FROM json_each(?1))
CROSS JOIN {name} ON {same}"
            ),
        }
    }
}

/// Writes something about each column.
fn each(columns: &str, between: &str, written: impl Fn(&str) -> String) -> String {
    names(columns).map(written).collect::<Vec<_>>().join(between)
}

/// Splits the names of columns.
pub(super) fn names(columns: &str) -> impl Iterator<Item = &str> {
    columns.split(", ")
}

impl OwnTable {
    /// Returns the statements of the table; always `Some`.
    pub(super) fn sql(self) -> Option<&'static Sql> {
        static ALL: LazyLock<BTreeMap<OwnTable, Sql>> =
            LazyLock::new(|| OwnTable::iter().map(|it| (it, it.table().sql())).collect());
        ALL.get(&self)
    }

    pub(super) fn table(self) -> Table {
        match self {
            OwnTable::Credits => CREDITS,
            OwnTable::Fulfilments => FULFILMENTS,
            OwnTable::Updates => UPDATES,
            OwnTable::People => PEOPLE,
            OwnTable::Orders => ORDERS,
            OwnTable::Audit => AUDIT,
            OwnTable::Requests => REQUESTS,
            OwnTable::Limits => LIMITS,
            OwnTable::Notes => NOTES,
            OwnTable::Accepted => ACCEPTED,
            OwnTable::Notices => NOTICES,
            OwnTable::Fetches => FETCHES,
        }
    }
}

const CREDITS: Table = Table {
    identity: "operation",
    // No credit is written if an earlier one of its transaction is missing.
    precondition: "NOT EXISTS (SELECT 1 FROM credits WHERE operation = it ->> '$.operation')
  AND (SELECT count(*) + 1 FROM credits WHERE id = it ->> '$.id') = it ->> '$.number'",
    erase: |row| replace(row, "reason"),
    ..Table::new(
        "credits",
        "id, number",
        "id, number, operation, mode, unit, order_month, booked_month, currency, charge_cents, \
         charge_amount, cents, amount, quantities, reason, change, author, at",
    )
};

const FULFILMENTS: Table = Table {
    changing: "removed, remover",
    newer: "fulfilments.removed IS NULL",
    ..Table::new(
        "fulfilments",
        "id",
        "id, mode, month, offering, quantity, done_on, partner, place, report, author, at, removed, \
         remover",
    )
};

const UPDATES: Table = Table {
    changing: "state, day, content, revision, operation, changer, changed",
    newer: "excluded.revision > updates.revision",
    ..Table::new(
        "updates",
        "id",
        "id, mode, month, offering, state, day, content, fulfilment, revision, operation, author, \
         at, changer, changed",
    )
};

const PEOPLE: Table =
    Table::new("people", "place, address", "place, address, role, at, author, by_shop");

const ORDERS: Table = Table {
    changing: "state, request, facts, version, id, credited",
    newer: "excluded.version > shop_orders.version",
    ..Table::new(
        "shop_orders",
        "unit, mode, system, store, number",
        "unit, mode, system, store, number, connection, at, state, request, facts, version, id, \
         credited",
    )
};

const AUDIT: Table = Table::new("audit", "name", "name, content");

const REQUESTS: Table = Table {
    changing: "state, decider, decider_of_shop, decided, answer",
    newer: "credit_requests.state = 'open'",
    erase: |row| {
        if let Some(Value::String(content)) = row.get_mut("content")
            && let Ok(Value::Object(mut requested)) = serde_json::from_str(content)
            && replace(&mut requested, "reason")
        {
            *content = Value::Object(requested).to_string();
        }
        replace(row, "answer")
    },
    ..Table::new(
        "credit_requests",
        "request",
        "request, id, mode, unit, content, currency, cents, amount, credits, author, by_shop, at, \
         state, decider, decider_of_shop, decided, answer",
    )
};

const LIMITS: Table = Table {
    changing: "currency, per_order, per_month, author, at",
    newer: "excluded.at > credit_limits.at",
    ..Table::new("credit_limits", "unit", "unit, currency, per_order, per_month, author, at")
};

const NOTES: Table = Table {
    identity: "id, number, at",
    changing: "done, ended_by",
    newer: "notes.done IS NULL AND notes.at = excluded.at",
    erase: |_| false,
    ..Table::new(
        "notes",
        "id, number",
        "id, number, at, author, by_shop, text, role, done, ended_by",
    )
};

const ACCEPTED: Table = Table {
    changing: "facts, reason, author, at",
    newer: "excluded.at > accepted_tasks.at",
    ..Table::new("accepted_tasks", "task, subject", "task, subject, facts, reason, author, at")
};

const NOTICES: Table = Table::new("notices_off", "address, kind", "address, kind");

const FETCHES: Table =
    Table::new("fetches", "connection", "connection, since, seen, due, done, problem, version");

/// Replaces a text of a row, if it has one.
fn replace(row: &mut Map<String, Value>, column: &str) -> bool {
    if let Some(text @ Value::String(_)) = row.get_mut(column) {
        *text = ERASED.into();
    }
    true
}
