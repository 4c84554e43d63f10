use super::call::Call;
use super::chunk_reader::ChunkReader;
use super::deadline::{pause, within};
use super::rate_limit::RateLimit;
use super::slots::Slots;
use crate::pledges::api::header;
use crate::pledges::http::{BodyError, MAX_PIECE_BYTES, Request, Reservation, next_chunk_bytes};
use futures_util::FutureExt as _;
use js_sys::Uint8Array;
use std::borrow::Cow;
use wasm_bindgen::intern;
use wasm_bindgen::prelude::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;

/// Deadline of a body, in milliseconds.
const BODY_MS: u32 = 30_000;
/// Deadline of each piece of a body, in milliseconds. A body must make progress.
const PIECE_MS: u32 = 5_000;

/// Returns the error for a body that could not be read: it was too slow if the deadline has passed, otherwise
/// it broke off.
fn problem(error: &JsValue) -> BodyError {
    if error.is_undefined() { BodyError::Slow } else { BodyError::Broken }
}

/// The platform itself reads and discards a refused body of at most this many bytes: 32 KiB.
const LEFT_TO_PLATFORM_BYTES: usize = 32 * 1024;
/// Number of bytes that each read discards from a refused body: 64 KiB.
const DRAINED_PIECE_BYTES: u32 = 64 * 1024;
/// Maximum number of bytes of a refused body that are read and discarded: 32 MiB.
const MAX_DRAINED_BYTES: u32 = 32 * 1024 * 1024;
/// Deadline for reading and discarding a refused body, in milliseconds.
const DRAIN_MS: u32 = 3_000;
/// Maximum number of refused bodies that an isolate begins to discard within [`DRAIN_MS`]. Each needs memory
/// for one piece of 64 KiB, so all together need 2 MiB.
const MAX_DRAINS: usize = 32;

thread_local! {
    /// The slots for discarding refused bodies. Each slot stays occupied for [`DRAIN_MS`], because it is
    /// unknown when the reading ends.
    static DRAINS: Slots = const { Slots::new(MAX_DRAINS, DRAIN_MS) };
}

pub struct WorkerRequest<'r> {
    request: &'r web_sys::Request,
    headers: web_sys::Headers,
    refused_keys: Option<RateLimit>,
    call: &'r Call,
}

impl<'r> WorkerRequest<'r> {
    /// Wraps a request. `refused_keys` is the rate limit on refused keys, if one is bound.
    pub fn new(
        request: &'r web_sys::Request,
        call: &'r Call,
        refused_keys: Option<RateLimit>,
    ) -> Self {
        WorkerRequest { request, headers: request.headers(), refused_keys, call }
    }

    fn content_length(&self) -> Option<usize> {
        self.header(header::CONTENT_LENGTH)?.parse().ok()
    }

    /// Reads a body of this many bytes at once. The platform ensures that the body has the length of its
    /// `Content-Length`.
    async fn read_whole(&self, length: usize) -> Result<Vec<u8>, JsValue> {
        let milliseconds = if length <= MAX_PIECE_BYTES { PIECE_MS } else { 2 * PIECE_MS };
        let buffer = self.request.array_buffer()?;
        let buffer = JsFuture::from(within(buffer.unchecked_ref(), milliseconds)).await?;
        Ok(Uint8Array::new(&buffer).to_vec())
    }

    /// Reads a body in pieces, and counts the bytes as they arrive. The pieces stay outside WebAssembly's
    /// memory until the last one has arrived.
    async fn read_in_chunks(
        &self,
        limit: usize,
        reservation: &mut Reservation<'_>,
    ) -> Result<Vec<u8>, BodyError> {
        let Some(stream) = self.request.body() else { return Ok(Vec::new()) };
        let mut stream = ChunkReader::of(&stream, BODY_MS).ok_or(BodyError::Broken)?;
        let announced = self.content_length();
        let (mut pieces, mut length) = (Vec::new(), 0);
        loop {
            let left = announced.map_or(usize::MAX, |whole| whole.saturating_sub(length));
            let wanted = next_chunk_bytes(length).min(left);
            let whole = announced.unwrap_or(length + wanted);
            reservation.read(length + wanted, whole)?;
            let buffer = Uint8Array::new_with_length(wanted as u32);
            let piece = stream.fill(buffer, PIECE_MS).await.map_err(|error| problem(&error))?;
            let bytes = piece.length() as usize;
            pieces.push(piece);
            length += bytes;
            match () {
                () if length > limit => return Err(BodyError::TooLarge),
                () if bytes < wanted || announced == Some(length) => break, // that was the last piece
                () => {}
            }
        }
        reservation.read(length, length)?;
        Ok(joined(pieces, length))
    }

    /// Reads and discards the rest of a refused body, so that the caller can finish sending it. Otherwise the
    /// caller would see a broken connection instead of the answer.
    ///
    /// To protect other callers, the bytes, the time and the number of concurrent drains are limited. Beyond
    /// a limit, the answer is sent immediately.
    pub async fn drain(&self) {
        // The length comes first: accessing the stream would make the platform create it.
        if self.content_length().is_some_and(|length| length <= LEFT_TO_PLATFORM_BYTES) {
            return;
        }
        let Some(stream) = self.request.body() else { return };
        if stream.locked() || DRAINS.with(Slots::take).is_none() {
            return;
        }
        let Some(mut pieces) = ChunkReader::of(&stream, DRAIN_MS) else { return };
        let mut buffer = Uint8Array::new_with_length(DRAINED_PIECE_BYTES);
        let mut drained = 0;
        while drained < MAX_DRAINED_BYTES {
            let Ok(piece) = pieces.fill(buffer, DRAIN_MS).await else { break };
            if piece.length() < DRAINED_PIECE_BYTES {
                break;
            }
            drained += piece.length();
            buffer = Uint8Array::new(&piece.buffer()); // the reader detached the old one
        }
    }
}

fn joined(pieces: Vec<Uint8Array>, length: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(length);
    for piece in pieces {
        bytes.extend(piece.to_vec());
    }
    bytes
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

    fn id(&self) -> String {
        self.call.id()
    }

    async fn body(
        &self,
        limit: usize,
        reservation: &mut Reservation<'_>,
    ) -> Result<Vec<u8>, BodyError> {
        let announced = self.content_length().filter(|length| *length <= limit);
        match announced {
            Some(length) if reservation.read_ahead(length)? => {
                self.read_whole(length).await.map_err(|error| problem(&error))
            }
            _ => self.read_in_chunks(limit, reservation).boxed_local().await, // see `Service::handle`
        }
    }

    async fn is_over_limit(&self, network: &str) -> bool {
        match &self.refused_keys {
            Some(limit) => limit.is_over(network).await,
            None => false,
        }
    }

    async fn pause(&self, milliseconds: u32) {
        pause(milliseconds).await;
    }
}
