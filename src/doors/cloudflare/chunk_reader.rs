//! Reads a stream of the platform in pieces.

use super::deadline::within;
use js_sys::{Date, Promise, Uint8Array};
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

    /// A stream reader with the method `readAtLeast`, which only workerd has. A read by the standard method
    /// returns only 4 KiB.
    #[wasm_bindgen(js_name = ReadableStreamBYOBReader)]
    type Reader;
    #[wasm_bindgen(method, catch, js_name = readAtLeast)]
    fn read_at_least(this: &Reader, bytes: u32, buffer: Uint8Array) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, js_name = releaseLock)]
    fn release_lock(this: &Reader);
    #[wasm_bindgen(method, catch)]
    fn cancel(this: &Reader) -> Result<Promise, JsValue>;

    type ReadStep;
    #[wasm_bindgen(method, getter)]
    fn value(this: &ReadStep) -> Option<Uint8Array>;
}

/// A stream that is read until a deadline.
pub struct ChunkReader {
    reader: Reader,
    end_ms: f64,
    is_reading: bool,
}

impl ChunkReader {
    /// Begins to read a stream, for at most this many milliseconds in all. Returns `None` if the stream
    /// cannot be read, for example because it has another reader.
    pub fn of(stream: &ReadableStream, milliseconds: u32) -> Option<Self> {
        let options = ReadableStreamGetReaderOptions::new();
        options.set_mode(ReadableStreamReaderMode::Byob);
        let reader = stream.unchecked_ref::<ByteStream>().get_reader(&options).ok()?;
        Some(ChunkReader {
            reader,
            end_ms: Date::now() + f64::from(milliseconds),
            is_reading: false,
        })
    }

    /// Fills a buffer within this many milliseconds. At the end of the stream, the returned buffer is
    /// shorter.
    ///
    /// # Errors
    /// If the stream breaks off, or the time is over. The error is `undefined` if the time is over.
    pub async fn fill(
        &mut self,
        buffer: Uint8Array,
        milliseconds: u32,
    ) -> Result<Uint8Array, JsValue> {
        let left_ms = (self.end_ms - Date::now()) as u32; // 0 when the time is over
        self.is_reading = true;
        let step = self.reader.read_at_least(buffer.length(), buffer)?;
        let step = JsFuture::from(within(&step, left_ms.min(milliseconds))).await?;
        self.is_reading = false;
        Ok(step.unchecked_into::<ReadStep>().value().unwrap_or_default())
    }
}

impl Drop for ChunkReader {
    fn drop(&mut self) {
        if self.is_reading {
            drop(self.reader.cancel()); // otherwise a slow caller could make the read hold its buffer
        } else {
            self.reader.release_lock(); // lets the platform read the rest
        }
    }
}
