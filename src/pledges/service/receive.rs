//! Receives orders of shop systems: checks the signature, keeps the order as it came, and answers. What is pledged for the
//! order is decided later, by the office: nothing here depends on rules, prices or the ledger.

use super::create::body;
use super::{Clock, Entropy, Recipients, Service};
use crate::pledges::api::Problem;
use crate::pledges::http::{Body, Media, Request, Response};
use crate::pledges::orders::{Connection, ConnectionId, signature};
use crate::pledges::store::{ConnectionKey, NoMetadata, ReceivedKey, Store};
use futures_util::FutureExt as _;
use futures_util::future::{Either, select};
use std::borrow::Cow;
use std::pin::pin;

/// Deadline of the answer, in milliseconds. Shopify disconnects after 5 s.
const ANSWER_MS: u32 = 4_000;

impl<S: Store, C: Clock, E: Entropy, R: Recipients> Service<'_, S, C, E, R> {
    /// Receives what a shop system sends to the URL of a connection. No answer has a body.
    pub(super) async fn receive(&self, request: &impl Request, id: &str) -> Response<S::Value> {
        let received = pin!(self.keep_received(request, id).boxed_local());
        let deadline = pin!(request.pause(ANSWER_MS));
        let received = match select(received, deadline).await {
            Either::Left((received, _)) => received,
            Either::Right(_) => Err(Problem::SlowReceipt),
        };
        let mut response = match received {
            Ok(()) => Response::new(200, Media::None, Body::Empty),
            Err(problem) => {
                Response::new(problem.status(), Media::None, Body::Empty).about(&problem)
            }
        };
        response.headers.push(("x-content-type-options", Cow::Borrowed("nosniff")));
        response
    }

    /// Keeps what was sent. Returns only after the write is confirmed.
    async fn keep_received(&self, request: &impl Request, id: &str) -> Result<(), Problem> {
        let id = ConnectionId::parse(id).ok_or(Problem::PathNotFound)?;
        let connection = self.load(&ConnectionKey(id.clone())).await?;
        let connection: Connection = connection.ok_or(Problem::PathNotFound)?;
        // Revoking the key of a connection ends the connection.
        let key = self.current_key(connection.key).boxed_local().await?;
        let key = key.ok_or(Problem::PathNotFound)?;
        self.request_log.key.set(Some(connection.key));
        self.request_log.mode.set(Some(key.mode));
        self.request_log.unit.get_or_init(|| key.level.id().to_owned());
        let mut reservation = self.caches.in_flight.reservation(["orders ", id.as_str()].concat());
        let body = body(request, &mut reservation).boxed_local().await?;
        let secret = key.secret.as_ref().ok_or(Problem::SecretMissing)?;
        let header = |name| request.header(name);
        if signature::is_ping(connection.system, &header, &body) {
            return Ok(());
        }
        let secrets = connection.open_secrets(&id, secret);
        let now_ms = self.clock.now_ms();
        signature::verify(connection.system, &header, &body, &secrets, now_ms)
            .map_err(|_| Problem::WrongSignature)?;
        let mut random = [0; ReceivedKey::RANDOM_BYTES];
        self.entropy.fill(&mut random);
        let key = ReceivedKey::new(now_ms, id, random);
        let written = self.wait(self.store.put(&key, body, &NoMetadata)).await;
        written.map_err(|_| Problem::WriteUnconfirmed { repeatable: true })?;
        if let Some(queue) = self.ledger {
            queue.send_received(&key);
        }
        Ok(())
    }
}
