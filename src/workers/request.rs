//! A request of the platform.

use super::call::Call;
use super::deadline::{pause, within};
use super::pieces::Pieces;
use super::rate_limit::RateLimit;
use crate::api::{MAX_BODY_BYTES, header};
use crate::http::{BodyError, MAX_SMALL_BYTES, Request, Reservation};
use futures_util::FutureExt as _;
use js_sys::{Date, Uint8Array};
use std::borrow::Cow;
use std::cell::RefCell;
use wasm_bindgen::intern;
use wasm_bindgen::prelude::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;

/// Deadline of a body, in milliseconds. A body that takes longer counts as broken off.
const BODY_MS: u32 = 30_000;

/// How a piece of a body is read.
#[derive(Clone, Copy)]
struct Plan {
    /// Its bytes. At the end of the body it may have fewer.
    bytes: u32,
    /// The bytes that the whole body may have.
    of: usize,
    /// Its deadline, in milliseconds.
    milliseconds: u32,
    /// The problem of the body if the piece takes longer.
    late: BodyError,
}

/// All of a small body of unknown length, or the first piece of a large one.
const SMALL: Plan = Plan {
    bytes: MAX_SMALL_BYTES as u32,
    of: MAX_SMALL_BYTES,
    milliseconds: BODY_MS,
    late: BodyError::Broken,
};
/// A piece of a large body: 16 KiB in 5 s.
const LARGE: Plan =
    Plan { bytes: 16 * 1024, of: MAX_BODY_BYTES, milliseconds: 5_000, late: BodyError::Slow };

impl Plan {
    fn error(&self, error: &JsValue) -> BodyError {
        if error.is_undefined() { self.late } else { BodyError::Broken }
    }
}

/// Most bytes of a refused body that the platform itself reads: 32 KiB.
const LEFT_TO_PLATFORM_BYTES: usize = 32 * 1024;
/// Bytes of a refused body that are drained at a time: 64 KiB.
const DRAINED_PIECE_BYTES: u32 = 64 * 1024;
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

/// A request of the platform.
pub struct WorkerRequest<'r> {
    request: &'r web_sys::Request,
    headers: web_sys::Headers,
    refused_keys: Option<RateLimit>,
    call: &'r Call,
}

impl<'r> WorkerRequest<'r> {
    /// `refused_keys`: the rate limit of refused keys, if one is bound.
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

    /// Reads the body at once. HTTP holds it to its announced length, which is within the limit.
    async fn read_whole(&self) -> Result<Vec<u8>, JsValue> {
        let buffer = self.request.array_buffer()?;
        let buffer = JsFuture::from(within(buffer.unchecked_ref(), BODY_MS)).await?;
        Ok(Uint8Array::new(&buffer).to_vec())
    }

    /// Reads a body that is large, or of unknown length. Its pieces stay outside of WebAssembly's memory
    /// until all have come: a caller who stalls holds what was sent, and the piece that is awaited.
    async fn read_in_pieces(
        &self,
        limit: usize,
        reservation: &mut Reservation<'_>,
    ) -> Result<Vec<u8>, BodyError> {
        let Some(stream) = self.request.body() else { return Ok(Vec::new()) };
        let mut stream = Pieces::of(&stream, BODY_MS).ok_or(BodyError::Broken)?;
        let mut plan = if self.content_length().is_none() { SMALL } else { LARGE };
        let (mut pieces, mut length) = (Vec::new(), 0);
        loop {
            reservation.read(length + plan.bytes as usize, plan.of)?;
            let buffer = Uint8Array::new_with_length(plan.bytes);
            let filled = stream.fill(buffer, plan.milliseconds).await;
            let piece = filled.map_err(|error| plan.error(&error))?;
            let bytes = piece.length();
            pieces.push(piece);
            length += bytes as usize;
            match () {
                () if length > limit => return Err(BodyError::TooLarge),
                () if bytes < plan.bytes => break, // it was the last
                () => plan = LARGE,
            }
        }
        reservation.read(length, length)?;
        Ok(joined(pieces, length))
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
        let Some(mut pieces) = Pieces::of(&stream, DRAIN_MS) else { return };
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

/// The bytes of all pieces.
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
        let announced = self.content_length();
        let Some(length) = announced.filter(|length| *length <= MAX_SMALL_BYTES.min(limit)) else {
            return self.read_in_pieces(limit, reservation).boxed_local().await; // see `Service::handle`
        };
        reservation.read(length, length)?;
        self.read_whole().await.map_err(|_| BodyError::Broken)
    }

    async fn is_over_limit(&self, network: &str) -> bool {
        match &self.refused_keys {
            Some(limit) => limit.is_over(network).await,
            None => false,
        }
    }

    async fn pause(&self, milliseconds: u32) {
        let _: Result<_, JsValue> = JsFuture::from(pause(milliseconds)).await; // it never rejects
    }
}
