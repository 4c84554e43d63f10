//! A request of the platform.

use super::deadline::within;
use super::rate_limit::RateLimit;
use crate::api::header;
use crate::http::{BodyError, Request, Reservation};
use js_sys::{Date, Promise, Uint8Array};
use std::borrow::Cow;
use std::cell::RefCell;
use wasm_bindgen::intern;
use wasm_bindgen::prelude::{JsCast as _, JsValue, wasm_bindgen};
use wasm_bindgen_futures::JsFuture;
use web_sys::{ReadableStream, ReadableStreamGetReaderOptions, ReadableStreamReaderMode};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = ReadableStream)]
    type ByteStream;
    #[wasm_bindgen(method, catch, js_name = getReader)]
    fn get_reader(
        this: &ByteStream,
        options: &ReadableStreamGetReaderOptions,
    ) -> Result<Reader, JsValue>;

    /// `readAtLeast` is an addition of workerd; a plain read gives 4 KiB.
    #[wasm_bindgen(js_name = ReadableStreamBYOBReader)]
    type Reader;
    #[wasm_bindgen(method, catch, js_name = readAtLeast)]
    fn read_at_least(this: &Reader, bytes: u32, buffer: Uint8Array) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, js_name = releaseLock)]
    fn release_lock(this: &Reader);
    #[wasm_bindgen(method, catch)]
    fn cancel(this: &Reader) -> Result<Promise, JsValue>;

    type Step;
    #[wasm_bindgen(method, getter)]
    fn value(this: &Step) -> Option<Uint8Array>;
}

/// Deadline of a body, in milliseconds. A body that takes longer counts as broken off.
const BODY_MS: u32 = 30_000;
/// Bytes of a body that are read at a time: 64 KiB.
const PIECE_BYTES: u32 = 64 * 1024;

/// Most bytes of a refused body that the platform itself reads: 32 KiB.
const LEFT_TO_PLATFORM_BYTES: usize = 32 * 1024;
/// Most bytes of a refused body that are drained: 32 MiB.
const MAX_DRAINED_BYTES: u32 = 32 * 1024 * 1024;
/// Deadline of a drain, in milliseconds.
const DRAIN_MS: u32 = 3_000;
/// Most drains that begin in that time. Each has a piece: 2 MiB in all.
const MAX_DRAINS: usize = 32;

thread_local! {
    /// When the last drains began. Their ends are unknown: if a caller hangs up, the platform drops
    /// the request, and its future never continues.
    static DRAINS: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

pub struct WorkerRequest<'r> {
    request: &'r web_sys::Request,
    headers: web_sys::Headers,
    refused_keys: Option<RateLimit>,
}

impl<'r> WorkerRequest<'r> {
    pub fn new(request: &'r web_sys::Request, refused_keys: Option<RateLimit>) -> Self {
        WorkerRequest { request, headers: request.headers(), refused_keys }
    }

    fn content_length(&self) -> Option<usize> {
        self.header(header::CONTENT_LENGTH)?.parse().ok()
    }

    /// Reads the body at once. HTTP holds it to its announced length, which is within the limit.
    async fn read_whole(&self) -> Result<Vec<u8>, JsValue> {
        let buffer = self.request.array_buffer()?;
        let buffer = JsFuture::from(within(buffer.unchecked_ref(), BODY_MS)).await?;
        Ok(Uint8Array::new(&buffer).to_vec())
    }

    async fn read_up_to(
        &self,
        limit: usize,
        reservation: &mut Reservation<'_>,
    ) -> Result<Vec<u8>, BodyError> {
        let (mut body, mut refused) = (Vec::new(), BodyError::TooLarge);
        let Some(stream) = self.request.body() else { return Ok(body) };
        let ended = for_each_piece(&stream, BODY_MS, |piece| {
            let length = body.len() + piece.length() as usize;
            if length > limit {
                return false;
            }
            if let Err(busy) = reservation.resize(length) {
                refused = busy.into();
                return false;
            }
            body.extend(piece.to_vec());
            true
        });
        match ended.await {
            Some(true) => Ok(body),
            Some(false) => Err(refused),
            None => Err(BodyError::Broken),
        }
    }

    /// Reads a body that was refused unread, so that the caller can finish sending it: a caller that
    /// is cut off sees a broken connection instead of the answer. Beyond the limits of bytes, time
    /// and drains, which protect other callers, the answer is sent at once.
    pub async fn drain(&self) {
        // The length first: asking for the stream would make the platform create it.
        if self.content_length().is_some_and(|length| length <= LEFT_TO_PLATFORM_BYTES) {
            return;
        }
        let Some(stream) = self.request.body() else { return };
        if stream.locked() || !may_drain() {
            return;
        }
        let mut drained = 0;
        for_each_piece(&stream, DRAIN_MS, |piece| {
            drained += piece.length();
            drained < MAX_DRAINED_BYTES
        })
        .await;
    }
}

/// Whether one more body may be drained; if so, counts it.
fn may_drain() -> bool {
    let now = Date::now();
    DRAINS.with_borrow_mut(|begun| {
        begun.retain(|time| now - time < f64::from(DRAIN_MS));
        let may = begun.len() < MAX_DRAINS;
        if may {
            begun.push(now);
        }
        may
    })
}

/// Reads a stream until it ends or `take` returns `false`, and returns whether it ended; `None` if it
/// broke off, or the time is up.
async fn for_each_piece(
    stream: &ReadableStream,
    milliseconds: u32,
    take: impl FnMut(&Uint8Array) -> bool,
) -> Option<bool> {
    let options = ReadableStreamGetReaderOptions::new();
    options.set_mode(ReadableStreamReaderMode::Byob);
    let reader = stream.unchecked_ref::<ByteStream>().get_reader(&options).ok()?;
    let end_ms = Date::now() + f64::from(milliseconds);
    let ended = read_pieces(&reader, end_ms, take).await.ok();
    match ended {
        Some(_) => reader.release_lock(), // the platform may take the rest
        // Else a pending read would hold its buffer for as long as the caller likes.
        None => drop(reader.cancel()),
    }
    ended
}

async fn read_pieces(
    reader: &Reader,
    end_ms: f64,
    mut take: impl FnMut(&Uint8Array) -> bool,
) -> Result<bool, JsValue> {
    let mut buffer = Uint8Array::new_with_length(PIECE_BYTES);
    loop {
        let step = reader.read_at_least(PIECE_BYTES, buffer)?;
        let left_ms = (end_ms - Date::now()) as u32; // 0 when the time is up
        let step = JsFuture::from(within(&step, left_ms)).await?;
        let piece = step.unchecked_into::<Step>().value();
        let Some(piece) = piece.filter(|piece| piece.length() > 0) else { return Ok(true) };
        if !take(&piece) {
            return Ok(false);
        }
        buffer = Uint8Array::new(&piece.buffer()); // the reader detached the old one
    }
}

impl Request for WorkerRequest<'_> {
    fn method(&self) -> Cow<'_, str> {
        Cow::Owned(self.request.method())
    }

    fn url(&self) -> Cow<'_, str> {
        Cow::Owned(self.request.url())
    }

    fn header(&self, name: &'static str) -> Option<String> {
        self.headers.get(intern(name)).ok().flatten() // fails only for an invalid name
    }

    async fn body(
        &self,
        limit: usize,
        reservation: &mut Reservation<'_>,
    ) -> Result<Vec<u8>, BodyError> {
        let Some(length) = self.content_length().filter(|length| *length <= limit) else {
            return self.read_up_to(limit, reservation).await;
        };
        reservation.resize(length)?;
        self.read_whole().await.map_err(|_| BodyError::Broken)
    }

    async fn is_over_limit(&self, network: &str) -> bool {
        match &self.refused_keys {
            Some(limit) => limit.is_over(network).await,
            None => false,
        }
    }
}
