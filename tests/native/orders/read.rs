use super::each_row;
use crate::fixtures;
use impact_pledge::pledges::orders::{Event, System, read};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::LazyLock;
use strum::VariantArray as _;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    system: System,
    /// The body, exactly as the file has it, because amounts are texts.
    body: Option<Box<RawValue>>,
    json: Option<String>,
    hex: Option<String>,
    repeat: Option<Repeat>,
    #[expect(dead_code, reason = "for the runner in JavaScript")]
    only: Option<String>,
    event: Option<Value>,
    error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Repeat {
    before: String,
    text: String,
    times: usize,
    after: String,
}

impl Row {
    #[track_caller]
    fn bytes(&self) -> Vec<u8> {
        match (&self.body, &self.json, &self.hex, &self.repeat) {
            (Some(body), None, None, None) => body.get().as_bytes().to_vec(),
            (None, Some(text), None, None) => text.clone().into_bytes(),
            (None, None, Some(hex), None) => base16ct::lower::decode_vec(hex).unwrap(),
            (None, None, None, Some(repeat)) => {
                let middle = repeat.text.repeat(repeat.times);
                [&*repeat.before, &middle, &repeat.after].concat().into_bytes()
            }
            _ => panic!("`{}` must have one of `body`, `json`, `hex` and `repeat`", self.name),
        }
    }
}

#[test]
fn every_body_is_read() {
    each_row("read", |file, _, row: Row| {
        let outcome = read(row.system, &row.bytes());
        let event = outcome.as_ref().ok().map(|event| json!(event));
        assert_eq!(event, row.event, "{file}: {}", row.name);
        let error = outcome.as_ref().err().map(|error| json!(error));
        assert_eq!(error, row.error, "{file}: {}", row.name);
        if let Ok(event) = outcome {
            let text = serde_json::to_string(&event).unwrap();
            assert_eq!(
                serde_json::from_str::<Event>(&text).unwrap(),
                event,
                "{file}: {}",
                row.name
            );
        }
    });
}

/// Bodies of 300 and 4,800 lines: the time per line must not grow, which a step that compares all lines with all others
/// would make it do. Time is not asserted on: the count of lines is, and a quadratic step would take minutes.
#[test]
fn an_order_of_300_lines_is_read_whole() {
    for count in [300, 4_800] {
        let lines: Vec<_> = (0..count)
            .map(|id| json!({ "id": id, "quantity": 1, "total": "0.10", "total_tax": "0.02" }))
            .collect();
        let order =
            json!({ "id": 7, "status": "processing", "currency": "EUR", "line_items": lines });
        let event = read(System::WooCommerce, &serde_json::to_vec(&order).unwrap()).unwrap();
        let Event::Order(order) = event else { panic!("no order") };
        assert_eq!(order.lines.len(), count);
        let with_tax = order.sums.discounted.with_tax.unwrap().to_money();
        assert_eq!(with_tax, if count == 300 { "36.00" } else { "576.00" });
    }
}

/// All bodies of the fixtures, for changes at random.
static BODIES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let files = fixtures::files::<super::File<Row>>("orders/read");
    let rows = files.into_iter().flat_map(|(_, file)| file.rows);
    rows.filter(|row| row.body.is_some()).map(|row| row.bytes()).collect()
});

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn no_body_panics(
        index in any::<prop::sample::Index>(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let mut body = index.get(&BODIES).clone();
        for (position, byte) in changes {
            let position = position.index(body.len());
            body[position] = byte;
        }
        if is_cut {
            body.truncate(cut.index(body.len()));
        }
        for system in System::VARIANTS {
            let _outcome = read(*system, &body);
        }
    }
}
