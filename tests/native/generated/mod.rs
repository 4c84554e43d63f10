//! Generates files from the tables in `src` (schema, operations, shop systems), and compares them with those in the repository.
//!
//! `UPDATE=1 cargo test --test native generated` updates them.

mod answers;
mod commands;
mod form;
mod nodes;
mod orders;
mod orders_table;
mod tables;
pub mod types;
mod walk;

use impact_pledge::buyer::recipient::Language;
use impact_pledge::pledges::api::MAX_BODY_BYTES;
use impact_pledge::pledges::store::{
    CredentialKey, Key as _, MemberKey, PriceListKey, ProfileKey, SecretKey, TransactionKey,
};
use serde_json::json;
use std::fs;
use std::path::Path;
use strum::VariantArray as _;

const FROM: &str = "generated from src/pledges/schema.rs: `UPDATE=1 cargo test --test native generated` writes it anew";

#[track_caller]
fn is_current(file: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("pkg-templates").join(file);
    let current = fs::read_to_string(&path).unwrap_or_default();
    if current == expected {
        return;
    }
    if std::env::var_os("UPDATE").is_none() {
        panic!(
            "`pkg-templates/{file}` is stale; run `UPDATE=1 cargo test --test native generated`"
        );
    }
    fs::write(path, expected).unwrap();
}

#[test]
fn the_facts_of_the_service_are_current() {
    let prefixes = json!({
        "catalogue": PriceListKey::PREFIX,
        "key": CredentialKey::PREFIX,
        "member": MemberKey::PREFIX,
        "profile": ProfileKey::PREFIX,
        "secret": SecretKey::PREFIX,
        "transaction": TransactionKey::PREFIX,
    });
    let languages = json!(Language::VARIANTS);
    let from = FROM.replace(
        "src/pledges/schema.rs",
        "src/pledges/api/names.rs and the keys in src/pledges/store",
    );
    let ts = format!(
        "// {from}.\n\n/** The maximum size of a request's body, in bytes. */\nexport const MAX_BODY_BYTES = \
         {MAX_BODY_BYTES};\n\n/** The prefixes of the names of records, by kind. */\n\
         export const PREFIXES = {prefixes};\n\n/** The tags of the languages of timelines and e-mails. */\n\
         export const LANGUAGES = {languages};\n"
    );
    is_current("generated/service.ts", &ts);
}
