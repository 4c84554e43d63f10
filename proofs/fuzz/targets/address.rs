//! A method, and the path and query of an address.

use super::service::{ACCESS, EDIT_KEY, FuzzService, ID, PATH, RECORD, Sent, UNIT};
use super::text;

const METHODS: [&str; 8] = ["GET", "GET", "GET", "HEAD", "POST", "OPTIONS", "PUT", "get"];

/// The first byte is the method, the rest what stands behind the host. `@` is the record's ID and `$`
/// its edit key: neither is found by chance.
pub fn run(input: &[u8]) {
    let Some((first, rest)) = input.split_first() else { return };
    let method = METHODS[usize::from(first & 7)];
    let path = ["/", &text(rest).replace('@', ID).replace('$', EDIT_KEY)].concat();
    assert_eq!(status(&service(), method, &path), expected(method, &path), "{method} {path}");
}

/// A service with the record that is looked for.
pub fn service() -> FuzzService {
    FuzzService::with_record(RECORD.as_bytes(), ACCESS.as_bytes())
}

pub fn status(service: &FuzzService, method: &str, path: &str) -> u16 {
    let answer = service.send(&Sent::new(method, path, UNIT));
    assert!(!matches!(answer.status, 405) || answer.headers.contains_key("allow"));
    assert!(method != "HEAD" || answer.body.is_empty());
    answer.status
}

pub fn expected(method: &str, address: &str) -> u16 {
    let address = address.split('#').next().unwrap();
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let (read, found) = if path == PATH {
        ("POST", 415) // it has no body
    } else if path == "/healthz" {
        ("GET", 200)
    } else if let Some(id) = path.strip_prefix("/v2/pledge-transaction/") {
        if id.is_empty() || id.contains('/') {
            return 404;
        }
        ("GET", if decode(id).as_deref() == Some(ID) { 200 } else { 404 })
    } else if path == "/timeline" || path.starts_with("/timeline/") {
        let id = path.strip_prefix("/timeline/").unwrap_or_default();
        let is_open =
            decode(id).as_deref() == Some(ID) && edit_key(query).as_deref() == Some(EDIT_KEY);
        ("GET", if is_open { 200 } else { 404 })
    } else {
        return 404;
    };
    match method {
        "OPTIONS" => 204,
        "HEAD" if read == "GET" => found,
        _ if method == read => found,
        _ => 405,
    }
}

/// The first member that is named so; what is not UTF-8 is empty.
fn edit_key(query: &str) -> Option<String> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let value =
        |(name, value)| (decode(name)? == "edit_key").then(|| decode(value).unwrap_or_default());
    pairs.into_iter().find_map(value)
}

/// RFC 3986 §2.1: `%` and two hexadecimal digits are a byte; anything else is what it is.
pub fn decode(text: &str) -> Option<String> {
    let hex = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let (bytes, mut decoded, mut at) = (text.as_bytes(), Vec::new(), 0);
    while let Some(byte) = bytes.get(at) {
        match (byte, hex(bytes.get(at + 1)), hex(bytes.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                decoded.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8(decoded).ok()
}
