//! A request of the platform's.

use super::name::constant;
use super::promise::Promise;
use crate::api::header;
use crate::handle::{BodyError, Request, Reservation};
use js_sys::{JsString, Uint8Array};
use std::borrow::Cow;
use std::cell::Cell;
use wasm_bindgen::prelude::{JsCast as _, JsValue, wasm_bindgen};
use web_sys::{ReadableStream, ReadableStreamGetReaderOptions, ReadableStreamReaderMode};

#[wasm_bindgen]
extern "C" {
    type Headers;
    #[wasm_bindgen(method)]
    fn get(this: &Headers, name: &JsString) -> Option<String>;

    /// Reads a stream in pieces of its own choice.
    #[wasm_bindgen(js_name = ReadableStreamDefaultReader)]
    type Reader;
    #[wasm_bindgen(method)]
    fn read(this: &Reader) -> Promise;
    #[wasm_bindgen(method, js_name = releaseLock)]
    fn release_lock(this: &Reader);

    /// Reads a stream in pieces of a size: an addition of workerd's, as one of its own pieces has
    /// 4 KiB.
    #[wasm_bindgen(js_name = ReadableStreamBYOBReader)]
    type PieceReader;
    #[wasm_bindgen(method, js_name = readAtLeast)]
    fn read_at_least(this: &PieceReader, bytes: u32, buffer: Uint8Array) -> Promise;
    #[wasm_bindgen(method)]
    fn cancel(this: &PieceReader) -> JsValue;

    type Step;
    #[wasm_bindgen(method, getter)]
    fn done(this: &Step) -> bool;
    #[wasm_bindgen(method, getter)]
    fn value(this: &Step) -> Option<Uint8Array>;
}

/// Up to here a refused body that came unread is left to the platform, which takes as much by
/// itself: 32 KiB.
const LEFT_TO_PLATFORM_BYTES: usize = 32 * 1024;
/// How much of a refused body is waited for: 64 MiB.
const MAX_DRAINED_BYTES: u32 = 64 * 1024 * 1024;
/// How much of it is read at a time: 256 KiB.
const DRAINED_PIECE_BYTES: u32 = 256 * 1024;

thread_local! {
    /// What was last drained into, for the next to drain into: its memory is at hand.
    static SPARE: Cell<Option<Uint8Array>> = const { Cell::new(None) };
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

    /// All at once: HTTP holds the body to its announced length, which is known to be small.
    async fn read_whole(&self) -> Result<Vec<u8>, JsValue> {
        let buffer = self.request.array_buffer()?;
        let buffer = buffer.unchecked_ref::<Promise>().settled().await?;
        Ok(Uint8Array::new(&buffer).to_vec())
    }

    /// Piece by piece, until the end or beyond the limit; `None` is beyond.
    async fn read_up_to(&self, limit: usize) -> Result<Option<Vec<u8>>, JsValue> {
        let mut body = Vec::new();
        let Some(stream) = self.request.body() else { return Ok(Some(body)) };
        let reader = stream.get_reader().unchecked_into();
        let read = copy_up_to(&reader, limit, &mut body).await;
        reader.release_lock();
        Ok(read?.then_some(body))
    }

    /// Lets the caller finish sending a body that was refused unread: one that is cut off in the
    /// middle of sending would see a broken connection instead of the answer.
    pub async fn drain(&self) {
        let Some(stream) = self.request.body() else { return };
        let is_small = self.content_length().is_some_and(|length| length <= LEFT_TO_PLATFORM_BYTES);
        if !is_small && !stream.locked() {
            drain(&stream).await;
        }
    }
}

async fn drain(stream: &ReadableStream) {
    let options = ReadableStreamGetReaderOptions::new();
    options.set_mode(ReadableStreamReaderMode::Byob);
    let reader: PieceReader = stream.get_reader_with_options(&options).unchecked_into();
    let fresh = || Uint8Array::new_with_length(DRAINED_PIECE_BYTES);
    let mut buffer = SPARE.take().unwrap_or_else(fresh);
    let mut drained = 0;
    while let Ok(step) = read_step(reader.read_at_least(DRAINED_PIECE_BYTES, buffer)).await {
        let Some(piece) = step.value() else { return };
        drained += piece.length();
        buffer = Uint8Array::new(&piece.buffer());
        if step.done() {
            SPARE.set(Some(buffer));
            return;
        }
        if drained > MAX_DRAINED_BYTES {
            // Nothing is left to do with what comes, so neither with its end.
            reader.cancel();
            return;
        }
    }
}

/// Whether the stream ended within the limit.
async fn copy_up_to(reader: &Reader, limit: usize, body: &mut Vec<u8>) -> Result<bool, JsValue> {
    while let Some(piece) = next(reader.read()).await? {
        if body.len() + piece.length() as usize > limit {
            return Ok(false);
        }
        body.extend(piece.to_vec());
    }
    Ok(true)
}

/// The piece that a reader promised; `None` at the end.
async fn next(read: Promise) -> Result<Option<Uint8Array>, JsValue> {
    let step = read_step(read).await?;
    Ok(step.value().filter(|_| !step.done()))
}

async fn read_step(read: Promise) -> Result<Step, JsValue> {
    Ok(read.settled().await?.unchecked_into())
}

impl Request for WorkerRequest<'_> {
    fn method(&self) -> Cow<'_, str> {
        Cow::Owned(self.request.method())
    }

    fn url(&self) -> Cow<'_, str> {
        Cow::Owned(self.request.url())
    }

    fn header(&self, name: &'static str) -> Option<String> {
        constant(name, |name| self.headers.get(name))
    }

    async fn body(
        &self,
        limit: usize,
        reservation: &mut Reservation<'_>,
    ) -> Result<Vec<u8>, BodyError> {
        match self.content_length() {
            Some(length) if limit >= length => {
                reservation.grow(length)?;
                self.read_whole().await.map_err(|_| BodyError::Broken)
            }
            _ => match self.read_up_to(limit).await {
                Ok(body) => {
                    let body = body.ok_or(BodyError::TooLarge)?;
                    reservation.grow(body.len())?;
                    Ok(body)
                }
                Err(_) => Err(BodyError::Broken),
            },
        }
    }
}
