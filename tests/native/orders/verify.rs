use super::each_row;
use impact_pledge::pledges::orders::System;
use impact_pledge::pledges::orders::signature::{is_ping, verify};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    system: System,
    headers: BTreeMap<String, String>,
    body: String,
    secrets: Vec<String>,
    now: u64,
    refusal: Option<String>,
    #[serde(default)]
    ping: bool,
}

#[test]
fn every_signature_is_accepted_or_refused() {
    each_row("verify", |file, _, row: Row| {
        let header = |name: &'static str| row.headers.get(name).cloned();
        let secrets: Vec<_> =
            row.secrets.iter().map(|secret| secret.clone().into_bytes()).collect();
        let body = row.body.as_bytes();
        let refusal = verify(row.system, &header, body, &secrets, row.now).err();
        let refusal = refusal.map(|refusal| <&str>::from(refusal).to_owned());
        assert_eq!(refusal, row.refusal, "{file}: {}", row.name);
        assert_eq!(is_ping(row.system, &header, body), row.ping, "{file}: {}", row.name);
    });
}
