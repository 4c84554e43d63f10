//! A request of the platform's.

use crate::api::header;
use crate::handle::{BodyError, Request};
use js_sys::{Reflect, Uint8Array};
use std::borrow::Cow;
use wasm_bindgen::prelude::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::ReadableStreamDefaultReader;

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
        let reader: ReadableStreamDefaultReader = stream.get_reader().unchecked_into();
        while let Some(piece) = next_piece(&reader).await? {
            if body.len() + piece.length() as usize > limit {
                // Nothing is left to do with what comes, so neither with its end.
                let _ = reader.cancel();
                return Ok(None);
            }
            body.extend(piece.to_vec());
        }
        Ok(Some(body))
    }
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
