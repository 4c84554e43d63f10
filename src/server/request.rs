//! A request of the platform's.

use super::deadline::within;
use crate::api::header;
use crate::handle::{BodyError, Request, Reservation};
use js_sys::{Promise, Uint8Array};
use std::borrow::Cow;
use std::cell::RefCell;
use wasm_bindgen::intern;
use wasm_bindgen::prelude::{JsCast as _, JsValue, wasm_bindgen};
use wasm_bindgen_futures::JsFuture;
use web_sys::{ReadableStream, ReadableStreamGetReaderOptions, ReadableStreamReaderMode};

#[wasm_bindgen]
extern "C" {
    type Headers;
    #[wasm_bindgen(method)]
    fn get(this: &Headers, name: &str) -> Option<String>;

    /// Reads a stream in pieces of its own choice.
    #[wasm_bindgen(js_name = ReadableStreamDefaultReader)]
    type Reader;
    #[wasm_bindgen(method, catch)]
    fn read(this: &Reader) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, js_name = releaseLock)]
    fn release_lock(this: &Reader);

    /// Reads a stream in pieces of a size: an addition of workerd's, as one of its own pieces has
    /// 4 KiB.
    #[wasm_bindgen(js_name = ReadableStreamBYOBReader)]
    type PieceReader;
    #[wasm_bindgen(method, catch, js_name = readAtLeast)]
    fn read_at_least(
        this: &PieceReader,
        bytes: u32,
        buffer: Uint8Array,
    ) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch)]
    fn cancel(this: &PieceReader) -> Result<Promise, JsValue>;

    type Step;
    #[wasm_bindgen(method, getter)]
    fn done(this: &Step) -> bool;
    #[wasm_bindgen(method, getter)]
    fn value(this: &Step) -> Option<Uint8Array>;
}

/// How long a body may take from its first byte to its last, in milliseconds. One that takes longer
/// counts as broken off.
const BODY_MS: u32 = 30_000;
/// Up to here a refused body that came unread is left to the platform, which takes as much by
/// itself: 32 KiB.
const LEFT_TO_PLATFORM_BYTES: usize = 32 * 1024;

/// How much of a refused body is read: 32 MiB.
const MAX_DRAINED_BYTES: u32 = 32 * 1024 * 1024;
/// How much of it is read at a time: 64 KiB.
const DRAINED_PIECE_BYTES: u32 = 64 * 1024;
/// How long it is read, in milliseconds.
const DRAIN_MS: u32 = 3_000;
/// How many are read at a time. With [`DRAINED_PIECE_BYTES`] it bounds the memory: 512 KiB.
const MAX_DRAINS: usize = 8;

thread_local! {
    /// When each of the drains under way ends at the latest. The platform drops a request whose caller
    /// hangs up, and its future never goes on: only the time frees its place.
    static DRAINS: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

pub struct WorkerRequest<'r> {
    request: &'r web_sys::Request,
    headers: Headers,
}

impl<'r> WorkerRequest<'r> {
    pub fn new(request: &'r web_sys::Request) -> Self {
        WorkerRequest { request, headers: request.headers().unchecked_into() }
    }

    fn content_length(&self) -> Option<usize> {
        self.header(header::CONTENT_LENGTH)?.parse().ok()
    }

    async fn read(
        &self,
        limit: usize,
        reservation: &mut Reservation<'_>,
    ) -> Result<Vec<u8>, BodyError> {
        match self.content_length() {
            Some(length) if limit >= length => {
                reservation.grow(length)?;
                Ok(self.read_whole().await?)
            }
            _ => self.read_up_to(limit, reservation).await,
        }
    }

    /// All at once: HTTP holds the body to its announced length, which is known to be small.
    async fn read_whole(&self) -> Result<Vec<u8>, JsValue> {
        let buffer = JsFuture::from(self.request.array_buffer()?).await?;
        Ok(Uint8Array::new(&buffer).to_vec())
    }

    /// Piece by piece, until the end or beyond the limit.
    async fn read_up_to(
        &self,
        limit: usize,
        reservation: &mut Reservation<'_>,
    ) -> Result<Vec<u8>, BodyError> {
        let Some(stream) = self.request.body() else { return Ok(Vec::new()) };
        let reader = stream.get_reader().unchecked_into();
        let body = copy_up_to(&reader, limit, reservation).await;
        reader.release_lock();
        body
    }

    /// Lets the caller finish sending a body that was refused unread: one that is cut off in the
    /// middle of sending would see a broken connection instead of the answer. So much, for so long
    /// and for so few callers that it costs nobody else anything; beyond, the answer goes at once.
    pub async fn drain(&self) {
        let Some(stream) = self.request.body() else { return };
        let is_small = self.content_length().is_some_and(|length| length <= LEFT_TO_PLATFORM_BYTES);
        if is_small || stream.locked() {
            return;
        }
        let Some(ends) = begin_drain() else { return };
        drain(&stream).await;
        end_drain(ends);
    }
}

/// Takes a place among the drains; `None`: all are taken.
fn begin_drain() -> Option<f64> {
    let now = js_sys::Date::now();
    let ends = now + f64::from(DRAIN_MS);
    DRAINS.with_borrow_mut(|drains| {
        drains.retain(|ends| *ends > now);
        (drains.len() < MAX_DRAINS).then(|| drains.push(ends)).map(|()| ends)
    })
}

fn end_drain(ends: f64) {
    DRAINS.with_borrow_mut(|drains| {
        if let Some(place) = drains.iter().position(|other| *other == ends) {
            drains.swap_remove(place);
        }
    });
}

async fn drain(stream: &ReadableStream) {
    let options = ReadableStreamGetReaderOptions::new();
    options.set_mode(ReadableStreamReaderMode::Byob);
    let reader: PieceReader = stream.get_reader_with_options(&options).unchecked_into();
    let read = within(DRAIN_MS, discard(&reader)).await;
    if !matches!(read, Some(Ok(true))) {
        // Nothing is left to do with what comes: a read under way would hold its buffer for it.
        let _ = reader.cancel();
    }
}

/// Reads into one buffer; whether the stream ended within the limit.
async fn discard(reader: &PieceReader) -> Result<bool, JsValue> {
    let mut buffer = Uint8Array::new_with_length(DRAINED_PIECE_BYTES);
    let mut drained = 0;
    while drained < MAX_DRAINED_BYTES {
        let step = next(reader.read_at_least(DRAINED_PIECE_BYTES, buffer)).await?;
        let Some(piece) = step.piece() else { return Ok(true) };
        drained += piece.length();
        buffer = Uint8Array::new(&piece.buffer());
    }
    Ok(false)
}

async fn next(read: Result<Promise, JsValue>) -> Result<Step, JsValue> {
    Ok(JsFuture::from(read?).await?.unchecked_into())
}

impl Step {
    /// What was read; `None` at the end.
    fn piece(&self) -> Option<Uint8Array> {
        self.value().filter(|_| !self.done())
    }
}

async fn copy_up_to(
    reader: &Reader,
    limit: usize,
    reservation: &mut Reservation<'_>,
) -> Result<Vec<u8>, BodyError> {
    let mut body = Vec::new();
    while let Some(piece) = next(reader.read()).await?.piece() {
        let length = piece.length() as usize;
        if body.len() + length > limit {
            return Err(BodyError::TooLarge);
        }
        reservation.grow(length)?;
        body.extend(piece.to_vec());
    }
    Ok(body)
}

/// What the stream threw is the caller's connection: nobody else learns from it.
impl From<JsValue> for BodyError {
    fn from(_: JsValue) -> Self {
        BodyError::Broken
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
        self.headers.get(intern(name))
    }

    async fn body(
        &self,
        limit: usize,
        reservation: &mut Reservation<'_>,
    ) -> Result<Vec<u8>, BodyError> {
        within(BODY_MS, self.read(limit, reservation)).await.unwrap_or(Err(BodyError::Broken))
    }
}
