//! Fuzzes the method, path and query of a request.

use crate::{EDIT_KEY, ID, send, service, text};
use percent_encoding::percent_decode_str;
use support::service::{TestRequest, UNIT};

const METHODS: [&str; 8] = ["GET", "GET", "GET", "HEAD", "POST", "OPTIONS", "PUT", "get"];

/// Runs the target. The first byte of the input is the method, the rest is the path and query. `@` stands for the
/// record's ID and `$` for its edit key, because random input contains neither.
pub fn run(input: &[u8]) {
    let Some((first, rest)) = input.split_first() else { return };
    let method = METHODS[usize::from(first & 7)];
    let path = ["/", &text(rest).replace('@', ID).replace('$', EDIT_KEY)].concat();
    let (answer, added) = send(&service(), &TestRequest::new(method, &path, UNIT));
    assert!(answer.status < 500 && added == 0, "{method} {path}: {}", answer.status);
    assert_eq!(answer.status == 405, answer.status != 204 && answer.headers.contains_key("allow"));
    assert!(method != "HEAD" || answer.text.is_empty());
    // Only the exact ID opens a record, and only its edit key opens the page.
    let decoded = percent_decode_str(&path).decode_utf8_lossy();
    let needs = match path.split(['?', '#']).next() {
        Some("/healthz") => vec![],
        Some(path) if path.starts_with("/timeline/") => vec![ID, EDIT_KEY],
        _ => vec![ID],
    };
    let is_open = answer.status == 200 && method != "OPTIONS";
    assert!(!is_open || needs.iter().all(|need| decoded.contains(need)), "{method} {path}");
}
