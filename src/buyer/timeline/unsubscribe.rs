//! The page that ends the e-mails with news about a transaction. Its URL is in each of these e-mails, and their header
//! `List-Unsubscribe` has it too (RFC 8058). Only a POST ends them, because programs that check e-mails open their links.

use super::Timelines;
use crate::buyer::recipient::{Language, Page, unsubscribe_page};
use crate::pledges::api::{Problem, TOKEN_PARAMETER, header};
use crate::pledges::http::{Address, Request, Response};
use crate::pledges::secret::SecretRecord;
use crate::pledges::service::{Clock, Entropy, Service};
use crate::pledges::settlement::Month;
use crate::pledges::store::{NewsKey, SecretKey, Store};
use crate::pledges::types::TransactionId;

impl Timelines {
    pub(super) async fn unsubscribe_answer<S: Store, C: Clock, E: Entropy>(
        &self,
        service: &Service<'_, S, C, E, Self>,
        request: &impl Request,
        id: &str,
        address: &Address<'_>,
    ) -> Response<S::Value> {
        let accepted = request.header(header::ACCEPT_LANGUAGE).unwrap_or_default();
        let language = Language::accepted(&accepted);
        match self.unsubscribe_page(service, request, id, address, language).await {
            Ok(page) => Response::html(200, page),
            Err(problem) => Response::problem_page(&problem, language),
        }
    }

    /// Returns the page; a POST ends the e-mails first. A wrong token leads to the same error as an unknown ID, before any record
    /// of the transaction is read. KV cost: 2 reads, and 1 write for a POST.
    async fn unsubscribe_page<S: Store, C: Clock, E: Entropy>(
        &self,
        service: &Service<'_, S, C, E, Self>,
        request: &impl Request,
        id: &str,
        address: &Address<'_>,
        language: Language,
    ) -> Result<Page, Problem> {
        let token = address.parameter(TOKEN_PARAMETER).unwrap_or_default();
        let id = TransactionId::parse(id).ok_or(Problem::TransactionNotFound)?;
        let secret: Option<SecretRecord> = service.load(&SecretKey).await?;
        secret
            .filter(|record| record.secret.unsubscribes(id.as_str(), &token))
            .ok_or(Problem::TransactionNotFound)?;
        let found = service.transaction(id.as_str()).await?;
        let created_at = found.and_then(|stored| stored.metadata.summary.created_at);
        let month =
            created_at.as_deref().and_then(Month::of).ok_or(Problem::TransactionNotFound)?;
        let is_post = request.method() == "POST";
        if is_post {
            self.end_subscription(service, NewsKey { month, id: &id }).await?;
        }
        Ok(unsubscribe_page(language, is_post))
    }
}
