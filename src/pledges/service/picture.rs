//! Serves the uploaded pictures of updates. A picture never changes, because its name is its hash.

use super::{Clock, Entropy, Recipients, Service};
use crate::pledges::api::{Problem, header};
use crate::pledges::http::{Body, Media, Request, Response};
use crate::pledges::picture::PictureName;
use crate::pledges::store::Store;
use std::borrow::Cow;

impl<S: Store, C: Clock, E: Entropy, R: Recipients> Service<'_, S, C, E, R> {
    /// Returns a picture, or 304 if the caller has it.
    pub(super) async fn picture(
        &self,
        request: &impl Request,
        name: &str,
    ) -> Result<Response<S::Value>, Problem> {
        let name = PictureName::parse(name).ok_or(Problem::PathNotFound)?;
        let found = self.wait(self.store.picture(&name)).await?.ok_or(Problem::PathNotFound)?;
        let tag = format!("\"{}\"", name.as_str());
        let known = request.header(header::IF_NONE_MATCH);
        let is_known = known.is_some_and(|tags| tags.contains(&tag) || tags.trim() == "*");
        let mut response = match is_known {
            true => Response::new(304, Media::Picture, Body::Empty),
            false => Response::new(200, Media::Picture, Body::Stored(found)),
        };
        let of_bytes = ("content-type", Cow::Borrowed(name.format().media_type()));
        response.headers.extend([of_bytes, ("etag", Cow::Owned(tag))]);
        Ok(response)
    }
}
