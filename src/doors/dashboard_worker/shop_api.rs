//! Asks the APIs of shop systems for orders.

use super::intake::ServiceApi;
use crate::doors::cloudflare::chunk_reader::ChunkReader;
use crate::doors::cloudflare::deadline::within;
use crate::office::connections::rule::{
    MAX_ANSWER_BYTES, ShopAnswer, ShopApi, ShopProblem, ShopRequest,
};
use crate::pledges::api::JSON;
use gloo_net::http::{Method, RequestBuilder};
use js_sys::{Promise, Uint8Array};
use wasm_bindgen::prelude::{JsCast as _, JsValue, wasm_bindgen};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, ReadableStream, Request, RequestRedirect, Response};

/// Timeout of a request and of the body of its answer, in milliseconds.
const ANSWER_MS: u32 = 20_000;
/// Sent because some web hosts refuse requests without it.
const USER_AGENT: &str = "impact-pledge";

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch)]
    fn fetch(request: &Request) -> Result<Promise, JsValue>;
}

impl ShopApi for ServiceApi<'_> {
    async fn send(&self, asked: &ShopRequest) -> Result<ShopAnswer, ShopProblem> {
        let abort = AbortController::new().map_err(|_| ShopProblem::NoAnswer)?;
        let request = RequestBuilder::new(&asked.url)
            .header("accept", JSON)
            .header("user-agent", USER_AGENT)
            .redirect(RequestRedirect::Manual) // a redirect would send the token to another server
            .abort_signal(Some(&abort.signal()));
        let request = match &asked.token {
            Some((name, token)) => request.header(name, token),
            None => request,
        };
        let request = match &asked.form {
            Some(form) => request
                .method(Method::POST)
                .header("content-type", "application/x-www-form-urlencoded")
                .body(form.as_str()),
            None => request.build(),
        };
        let request = request.map_err(|_| ShopProblem::Address)?;
        let answer = answer(&request.into()).await;
        if answer.is_err() {
            abort.abort();
        }
        answer.unwrap_or(Err(ShopProblem::NoAnswer))
    }
}

async fn answer(request: &Request) -> Result<Result<ShopAnswer, ShopProblem>, JsValue> {
    let response = JsFuture::from(within(&fetch(request)?, ANSWER_MS)).await?;
    let response: Response = response.dyn_into()?;
    let link = response.headers().get("link")?;
    let body = match response.body() {
        Some(body) => match read(&body).await? {
            Some(body) => body,
            None => return Ok(Err(ShopProblem::TooLarge)),
        },
        None => Vec::new(),
    };
    Ok(Ok(ShopAnswer { status: response.status(), link, body }))
}

/// Number of bytes that are read at once.
const PIECE_BYTES: u32 = 64 * 1024;

/// Reads a body; `None` if it is too large.
async fn read(body: &ReadableStream) -> Result<Option<Vec<u8>>, JsValue> {
    let Some(mut reader) = ChunkReader::of(body, ANSWER_MS) else { return Ok(Some(Vec::new())) };
    let mut bytes = Vec::new();
    let mut buffer = Uint8Array::new_with_length(PIECE_BYTES);
    loop {
        let piece = reader.fill(buffer, ANSWER_MS).await?;
        let is_last = piece.length() < PIECE_BYTES;
        bytes.extend(piece.to_vec());
        match () {
            () if bytes.len() > MAX_ANSWER_BYTES => {
                drop(reader);
                drop(body.cancel());
                return Ok(None);
            }
            () if is_last => return Ok(Some(bytes)),
            () => buffer = Uint8Array::new_with_length(PIECE_BYTES),
        }
    }
}
