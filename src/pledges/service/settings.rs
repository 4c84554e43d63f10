//! The operator's settings, from the Worker's variables.

use super::Entropy;
use super::cors::Cors;
use crate::pledges::api::Problem;
use crate::pledges::http::{Address, is_origin};
use crate::pledges::types::NotificationService;
use crate::pledges::validate::format::is_email;
use serde::Serialize;
use std::borrow::Cow;

#[derive(Clone, Debug)]
pub struct Settings {
    /// `ALLOWED_ORIGINS`: the origins whose pages may call the API.
    pub cors: Cors,
    /// `PUBLIC_ORIGIN`: the origin of timeline URLs, not yet checked. It is empty if the variable is not set.
    pub public_origin: String,
    /// Whether `ENVIRONMENT` is `production`.
    pub is_production: bool,
    /// Whether live keys may come over plain HTTP: `ALLOW_PLAIN_HTTP` is `true`, and `ENVIRONMENT` is not `production`.
    pub allows_plain_http: bool,
    /// `LOG_PERCENT`: the percentage of successful requests that are logged.
    pub log_percent: u8,
    /// The services that deliver notifications for test keys: e-mails if `MAIL_TEST_TO` is set, and messaging
    /// services that have an adapter for test keys.
    pub notifies_tests: Vec<NotificationService>,
    /// Whether e-mails are sent: the notification queue and a mail service are bound, and `MAIL_FROM` and `PUBLIC_ORIGIN` are
    /// valid.
    pub sends_mail: bool,
    /// The reason why no e-mail can be sent. It is determined only if the notification queue is bound.
    pub mail_problem: Option<&'static str>,
    /// The reasons why messaging services cannot deliver, although some of their variables are set.
    pub messaging_problems: Vec<String>,
    /// The deployed version.
    pub version: String,
}

/// The result of checking the settings of the messaging services' adapters.
#[derive(Clone, Debug, Default)]
pub struct Adapters {
    /// The messaging services that have a working adapter for test keys.
    pub of_tests: Vec<NotificationService>,
    pub problems: Vec<String>,
}

/// The values of the Worker's variables; empty if they are not set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Variables<'v> {
    pub allowed_origins: &'v str,
    pub public_origin: &'v str,
    pub environment: &'v str,
    pub allow_plain_http: &'v str,
    pub log_percent: &'v str,
    pub mail_from: &'v str,
    pub mail_test_to: &'v str,
    pub has_queue: bool,
    /// Whether a mail service is bound, or its secret is set.
    pub has_mail_service: bool,
    /// The adapters of messaging services; `None` if there are none.
    pub adapters: Option<&'v Adapters>,
    /// The platform's ID of the deployed version.
    pub deployment: &'v str,
}

const ORIGIN_INVALID: &str = "create requests are refused: the variable `PUBLIC_ORIGIN` must be an \
                              origin such as `https://pledges.example`";
const ORIGIN_INSECURE: &str = "create requests are refused: in production the variable `PUBLIC_ORIGIN` \
                               must begin with `https://`";
const ORIGIN_REQUIRED: &str = "create requests are refused: in production the variable `PUBLIC_ORIGIN` \
                               must be set. Otherwise, each timeline URL would permanently contain the \
                               host that received its create request";
const ORIGIN_MISSING: &str = "the variable `PUBLIC_ORIGIN` is not set: each timeline URL permanently \
                              contains the host that received its create request";
const MAIL_FROM_INVALID: &str = "no e-mails are sent: the variable `MAIL_FROM` must be an e-mail address such as \
                                 `pledges@shop.example`";
const MAIL_SERVICE_MISSING: &str = "no e-mails are sent: bind a mail service as `EMAIL`, or set the \
                                    secret `RESEND_API_KEY`";
const QUEUE_MISSING: &str =
    "no messages are sent: messaging services need the queue `NOTIFICATIONS`";
const MAIL_TEST_TO_INVALID: &str = "no e-mails are sent for test keys: the variable `MAIL_TEST_TO` \
                                    must be an e-mail address or empty";

/// The answer of `/healthz`.
#[derive(Serialize)]
pub struct Health<'a> {
    version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let (cors, public_origin) = (Cors::default(), String::new());
        Settings {
            cors,
            public_origin,
            is_production: false,
            allows_plain_http: false,
            log_percent: 0,
            notifies_tests: Vec::new(),
            sends_mail: false,
            mail_problem: None,
            messaging_problems: Vec::new(),
            version,
        }
    }
}

impl Settings {
    /// Parses the Worker's variables. If `LOG_PERCENT` is invalid, all requests are logged, so that the
    /// operator notices.
    pub fn parse(variables: Variables<'_>) -> Self {
        let Variables { allowed_origins, public_origin, log_percent, .. } = variables;
        let percent = log_percent.trim();
        let is_production = variables.environment.trim() == "production";
        let mut settings = Settings {
            cors: Cors::parse(allowed_origins),
            public_origin: public_origin.trim().trim_end_matches('/').to_owned(),
            is_production,
            allows_plain_http: !is_production && variables.allow_plain_http.trim() == "true",
            log_percent: if percent.is_empty() { 0 } else { percent.parse().unwrap_or(100) },
            notifies_tests: notifies_tests(&variables),
            mail_problem: mail_problem(&variables),
            messaging_problems: messaging_problems(&variables),
            ..Settings::default()
        };
        let has_mail = variables.has_queue && variables.has_mail_service;
        let from = variables.mail_from.trim().as_bytes();
        settings.sends_mail = has_mail && is_email(from) && settings.mail_origin().is_some();
        if !variables.deployment.is_empty() {
            settings.version = [&settings.version, "+", variables.deployment].concat();
        }
        settings
    }

    /// Returns the answer of `/healthz`, without reading a record.
    pub(super) fn health(&self) -> Health<'_> {
        let missing = || self.public_origin.is_empty().then_some(ORIGIN_MISSING);
        let problems = [
            self.origin_problem().or_else(missing).map(Cow::Borrowed),
            self.mail_problem.map(Cow::Borrowed),
            self.cors.useless().map(|origin| Cow::Owned(origin_useless(origin))),
        ];
        let messaging = self.messaging_problems.iter().map(|problem| Cow::Borrowed(&**problem));
        let problems: Vec<_> = problems.into_iter().flatten().chain(messaging).collect();
        let problem = (!problems.is_empty()).then(|| problems.join("; "));
        Health { version: &self.version, problem }
    }

    /// Returns the problem with `PUBLIC_ORIGIN`; `None` if there is none. While there is a problem, create
    /// requests are refused. Only production requires the variable to be set.
    fn origin_problem(&self) -> Option<&'static str> {
        let is_insecure = self.is_production && !self.public_origin.starts_with("https://");
        match &*self.public_origin {
            "" => self.is_production.then_some(ORIGIN_REQUIRED),
            origin if !is_origin(origin) => Some(ORIGIN_INVALID),
            _ => is_insecure.then_some(ORIGIN_INSECURE),
        }
    }

    /// Returns the origin of the links in e-mails; `None` if `PUBLIC_ORIGIN` is not set or invalid. A
    /// request's origin is never used, because the sender of the request could then choose where the links
    /// lead.
    pub fn mail_origin(&self) -> Option<&str> {
        let is_set = !self.public_origin.is_empty() && self.origin_problem().is_none();
        is_set.then_some(&*self.public_origin)
    }

    /// Decides at random whether to log a successful request.
    pub(super) fn draws_log_line(&self, entropy: &impl Entropy) -> bool {
        let mut random = [0; 2];
        if (1..100).contains(&self.log_percent) {
            entropy.fill(&mut random);
        }
        u16::from_be_bytes(random) % 100 < u16::from(self.log_percent)
    }

    /// Returns the origin of timeline URLs: `PUBLIC_ORIGIN` if it is set, otherwise the origin by which the platform
    /// routed the request.
    ///
    /// # Errors
    /// [`Problem::Misconfigured`] if `PUBLIC_ORIGIN` is invalid, or missing in production. [`Problem::InvalidHost`] if
    /// the request's origin is invalid, such as `https://good.example@evil.example`.
    pub(super) fn timeline_origin<'a>(&'a self, address: &Address<'a>) -> Result<&'a str, Problem> {
        if let Some(problem) = self.origin_problem() {
            return Err(Problem::Misconfigured(problem));
        }
        if !self.public_origin.is_empty() {
            return Ok(&self.public_origin);
        }
        is_origin(address.origin).then_some(address.origin).ok_or(Problem::InvalidHost)
    }
}

fn origin_useless(origin: &str) -> String {
    format!(
        "the variable `ALLOWED_ORIGINS` has an entry that no browser sends as its origin: `{origin}`; write \
         origins as `https://shop.example`, separated by commas"
    )
}

fn notifies_tests(variables: &Variables<'_>) -> Vec<NotificationService> {
    let has_address = !variables.mail_test_to.trim().is_empty();
    let mail = has_address.then_some(NotificationService::Email);
    let messaging = variables.adapters.map(|adapters| &*adapters.of_tests).unwrap_or_default();
    mail.into_iter().chain(messaging.iter().copied()).collect()
}

fn messaging_problems(variables: &Variables<'_>) -> Vec<String> {
    let Some(adapters) = variables.adapters else { return Vec::new() };
    let no_queue = (!variables.has_queue).then(|| QUEUE_MISSING.to_owned());
    no_queue.into_iter().chain(adapters.problems.iter().cloned()).collect()
}

fn mail_problem(variables: &Variables<'_>) -> Option<&'static str> {
    let is_address = |text: &str| is_email(text.trim().as_bytes());
    let Variables { mail_from, mail_test_to, has_queue, has_mail_service, .. } = *variables;
    let has_no_mail = variables.adapters.is_some() && mail_from.trim().is_empty(); // the queue is there for the messaging services
    if !has_queue || has_no_mail {
        return None;
    }
    if !is_address(mail_from) {
        return Some(MAIL_FROM_INVALID);
    }
    if !has_mail_service {
        return Some(MAIL_SERVICE_MISSING);
    }
    let is_wrong = !mail_test_to.trim().is_empty() && !is_address(mail_test_to);
    is_wrong.then_some(MAIL_TEST_TO_INVALID)
}
