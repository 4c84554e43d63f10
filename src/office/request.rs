//! A browser's request: its route, the check of its origin, and its form.

use super::route;
use super::route::Route;
use super::shared::page::form::Form;
use super::shared::page::refusal::{Refusal, Result};
use crate::office::updates::rule::MAX_PICTURE_BYTES;
use crate::pledges::http::{Address, BodyError, Request, Reservation};
use crate::pledges::store::MAX_PRICES_BYTES;
use serde::Serialize;

/// Maximum size of a form with a price list, in bytes: a list of 1 MiB, percent-encoded. The receipt of an erasure has the same
/// limit.
const MAX_PRICES_FORM_BYTES: usize = 3 * MAX_PRICES_BYTES;
/// Maximum size of any other form: 64 KiB.
const MAX_FORM_BYTES: usize = 64 * 1024;
/// Maximum size of a form with a picture, in bytes.
const MAX_PICTURE_FORM_BYTES: usize = MAX_PICTURE_BYTES + MAX_FORM_BYTES;
const FORM: &str = "application/x-www-form-urlencoded";
/// The media type of a form with a file.
const PARTS: &str = "multipart/form-data";

/// The parts of a request that are checked before its body is read.
pub(crate) struct PageRequest {
    pub method: String,
    origin: String,
    pub path: String,
    pub query: Form,
    fetch_site: Option<String>,
    from: Option<String>,
    media: Option<String>,
}

/// The log line of a request. It has no path, because a path may contain the ID of a shop.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'l> {
    route: &'l str,
    status: u16,
    ms: u64,
    /// What an operator can do about a refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'l str>,
}

impl PageRequest {
    pub fn new(request: &impl Request) -> Self {
        let url = request.url();
        let address = Address::parse(&url);
        PageRequest {
            method: request.method().into_owned(),
            origin: address.origin.to_owned(),
            path: address.path.to_owned(),
            query: Form::parse(address.query.as_bytes()),
            fetch_site: request.header("sec-fetch-site"),
            from: request.header("origin"),
            media: request.header("content-type"),
        }
    }

    pub fn route(&self) -> Result<Route> {
        route::find(&self.method, &self.path)
    }

    /// Refuses a form that a page of another site may have sent (CSRF).
    pub fn check_origin(&self) -> Result<()> {
        if self.method != "POST" {
            return Ok(());
        }
        let is_ours = match &self.fetch_site {
            Some(site) => site == "same-origin",
            None => self.from.as_ref() == Some(&self.origin),
        };
        match is_ours {
            true => Ok(()),
            false => Err(Refusal::Request(
                403,
                "The form was not sent by a page of this dashboard, so nothing was changed. Open the \
                 form in this dashboard, and send it again."
                    .to_owned(),
            )),
        }
    }

    /// Reads the posted form, and reserves its bytes.
    pub async fn form(
        &self,
        request: &impl Request,
        route: &Route,
        reservation: &mut Reservation<'_>,
    ) -> Result<Form> {
        if self.method != "POST" {
            return Ok(Form::default());
        }
        let media = self.media.as_deref().unwrap_or_default();
        let is = |wanted: &str| {
            media.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(wanted)
        };
        if route.uploads() && is(PARTS) {
            let body = body(request, MAX_PICTURE_FORM_BYTES, reservation).await?;
            return Form::parse_parts(body, media).await.ok_or_else(incomplete);
        }
        if !is(FORM) {
            return Err(Refusal::Request(
                415,
                format!("Send the form with the media type {FORM}."),
            ));
        }
        let limit = match route {
            Route::SetPrices | Route::ErasePerson => MAX_PRICES_FORM_BYTES,
            _ => MAX_FORM_BYTES,
        };
        Ok(Form::parse(&body(request, limit, reservation).await?))
    }

    pub fn log_line(&self, status: u16, ms: u64, hint: Option<&str>) -> String {
        let route = self.route();
        let route = route.as_ref().map_or("none", Route::template);
        serde_json::to_string(&Line { route, status, ms, hint }).unwrap_or_default() // cannot fail
    }
}

async fn body(
    request: &impl Request,
    limit: usize,
    reservation: &mut Reservation<'_>,
) -> Result<Vec<u8>> {
    request.body(limit, reservation).await.map_err(|error| match error {
        BodyError::TooLarge => Refusal::Request(
            413,
            format!("The form is larger than {limit} bytes. Nothing was changed."),
        ),
        BodyError::Busy => Refusal::Busy,
        BodyError::Broken | BodyError::Slow => incomplete(),
    })
}

fn incomplete() -> Refusal {
    let text = "The form was incomplete. Nothing was changed: send it again.";
    Refusal::Request(400, text.to_owned())
}
