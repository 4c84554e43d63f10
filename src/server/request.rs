//! A request of the platform's.

use crate::api::header;
use crate::handle::{BodyError, Request};
use js_sys::{Reflect, Uint8Array};
use std::borrow::Cow;
use wasm_bindgen::prelude::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::ReadableStreamDefaultReader;

/// How much of a refused body is waited for: 64 MiB.
const MAX_DRAINED_BYTES: u32 = 64 * 1024 * 1024;

pub struct WorkerRequest<'r> {
    request: &'r web_sys::Request,
    headers: web_sys::Headers,
}

impl<'r> WorkerRequest<'r> {
    pub fn new(request: &'r web_sys::Request) -> Self {
        WorkerRequest { request, headers: request.headers() }
    }

    /// All at once: HTTP holds the body to its announced length, which is known to be small.
    async fn read_whole(&self) -> Result<Vec<u8>, JsValue> {
        let buffer = JsFuture::from(self.request.array_buffer()?).await?;
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
        let Some(stream) = self.request.body().filter(|stream| !stream.locked()) else { return };
        let reader: ReadableStreamDefaultReader = stream.get_reader().unchecked_into();
        let mut drained = 0;
        while let Ok(Some(piece)) = next_piece(&reader).await {
            drained += piece.length();
            if drained > MAX_DRAINED_BYTES {
                // Nothing is left to do with what comes, so neither with its end.
                let _ = reader.cancel();
                return;
            }
        }
    }
}

/// Whether the stream ended within the limit.
async fn copy_up_to(
    reader: &ReadableStreamDefaultReader,
    limit: usize,
    body: &mut Vec<u8>,
) -> Result<bool, JsValue> {
    while let Some(piece) = next_piece(reader).await? {
        if body.len() + piece.length() as usize > limit {
            return Ok(false);
        }
        body.extend(piece.to_vec());
    }
    Ok(true)
}

async fn next_piece(reader: &ReadableStreamDefaultReader) -> Result<Option<Uint8Array>, JsValue> {
    let step = JsFuture::from(reader.read()).await?;
    let done = Reflect::get(&step, &JsValue::from_str("done"))?.is_truthy();
    let value = Reflect::get(&step, &JsValue::from_str("value"))?;
    Ok((!done).then(|| value.unchecked_into()))
}

impl Request for WorkerRequest<'_> {
    fn method(&self) -> Cow<'_, str> {
        Cow::Owned(self.request.method())
    }

    fn url(&self) -> Cow<'_, str> {
        Cow::Owned(self.request.url())
    }

    fn header(&self, name: &str) -> Option<String> {
        self.headers.get(name).ok().flatten()
    }

    async fn body(&self, limit: usize) -> Result<Vec<u8>, BodyError> {
        let length = self.header(header::CONTENT_LENGTH).and_then(|text| text.parse().ok());
        match length {
            Some(length) if limit >= length => {
                self.read_whole().await.map_err(|_| BodyError::Broken)
            }
            _ => match self.read_up_to(limit).await {
                Ok(body) => body.ok_or(BodyError::TooLarge),
                Err(_) => Err(BodyError::Broken),
            },
        }
    }
}
