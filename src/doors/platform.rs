use crate::pledges::service::{Clock, Entropy};
use crate::pledges::time::TimeZones;
use js_sys::{Object, Reflect};
use std::cell::RefCell;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// Minimum number of random bytes to request at once: enough for twenty create requests. A call of Web Crypto
/// takes more time than generating the bytes.
const DRAWN_BYTES: usize = 1024;

#[wasm_bindgen]
extern "C" {
    /// Fills `bytes` with Web Crypto's random numbers: at most 65,536 bytes at a time.
    #[wasm_bindgen(js_namespace = crypto, js_name = getRandomValues)]
    fn get_random_values(bytes: &mut [u8]);

    /// JavaScript's `Intl.DateTimeFormat`. The type of this name in `js_sys` is not used, because its
    /// constructor does not catch the exception for an unknown zone.
    #[wasm_bindgen(js_namespace = Intl)]
    type DateTimeFormat;
    #[wasm_bindgen(constructor, catch, js_namespace = Intl)]
    fn new(locale: &str, options: &Object) -> Result<DateTimeFormat, JsValue>;
    #[wasm_bindgen(method, catch)]
    fn format(this: &DateTimeFormat, ms: f64) -> Result<String, JsValue>;
}

thread_local! {
    /// Random bytes that were drawn and not used yet.
    static UNUSED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    /// The last formatter and its zone. Making a formatter takes 0.1 ms.
    static FORMATTER: RefCell<Option<(String, DateTimeFormat)>> = const { RefCell::new(None) };
}

/// The clock, time zones and random numbers of JavaScript: `Date.now`, `Intl` and Web Crypto.
pub struct Platform;

impl Clock for Platform {
    fn now_ms(&self) -> u64 {
        js_sys::Date::now() as u64
    }
}

impl TimeZones for Platform {
    fn utc_offset(&self, zone: &str, seconds: i64) -> Option<i32> {
        FORMATTER.with_borrow_mut(|kept| {
            let formatter = match kept.take() {
                Some((of, formatter)) if of == zone => formatter,
                _ => formatter(zone)?,
            };
            let text = formatter.format(seconds as f64 * 1_000.0).ok()?;
            *kept = Some((zone.to_owned(), formatter));
            offset_in(&text)
        })
    }
}

/// Makes a formatter of dates in a zone. Returns `None` if the zone is unknown.
fn formatter(zone: &str) -> Option<DateTimeFormat> {
    let options = Object::new();
    for (name, value) in [("timeZone", zone), ("timeZoneName", "longOffset")] {
        Reflect::set(&options, &name.into(), &value.into()).ok()?;
    }
    DateTimeFormat::new("en", &options).ok()
}

/// Parses a time zone's offset from UTC, in seconds, from a text such as `11/20/2026, GMT-03:30`. For UTC,
/// the text has only `GMT`. Offsets of the distant past also have seconds.
fn offset_in(text: &str) -> Option<i32> {
    let (_, offset) = text.rsplit_once("GMT")?;
    let digits = offset.trim_start_matches(|character: char| !character.is_ascii_digit());
    let parts = digits.split(':').filter(|part| !part.is_empty()).map(str::parse::<i32>);
    let mut seconds = 0;
    for (part, unit) in parts.zip([3_600, 60, 1]) {
        seconds += part.ok()? * unit;
    }
    Some(if offset.starts_with('+') { seconds } else { -seconds })
}

impl Entropy for Platform {
    fn fill(&self, bytes: &mut [u8]) {
        UNUSED.with_borrow_mut(|unused| {
            if unused.len() < bytes.len() {
                unused.resize(bytes.len().max(DRAWN_BYTES), 0);
                unused.chunks_mut(65_536).for_each(get_random_values);
            }
            let used = unused.drain(unused.len() - bytes.len()..);
            bytes.iter_mut().zip(used).for_each(|(byte, random)| *byte = random);
        });
    }
}
