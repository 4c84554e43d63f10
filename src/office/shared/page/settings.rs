//! The settings of the dashboard's Worker, from its variables and secrets.

use super::identity::Identity;
use crate::office::people::rule::is_address;
use crate::office::shared::rule::roles::{Role, Roles, Staff};
use crate::office::system::rule::backup_index::BackupDays;
use crate::pledges::decimal::Decimal;
use crate::pledges::http::is_origin;

/// The values of the Worker's variables and secrets. A value that is not set is empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Variables<'v> {
    /// `OPERATORS`: the e-mail addresses of people with the role operator, separated by commas, semicolons
    /// or white space. An address may have a name: `Ada <ada@shop.example>`.
    pub operators: &'v str,
    /// `SUPPORT`: the e-mail addresses of people with the role support, in the format of `OPERATORS`.
    pub support: &'v str,
    /// `ACCOUNTS`: the e-mail addresses of people with the role accounts, in the format of `OPERATORS`.
    pub accounts: &'v str,
    /// `ENVIRONMENT`, such as `production`.
    pub environment: &'v str,
    /// `SERVICE_ORIGIN`: the origin of the service's API.
    pub service_origin: &'v str,
    /// `BILLING_NAME`: the name of the operator's company on statements.
    pub billing_name: &'v str,
    /// `BILLING_ADDRESS`: the company's address on statements. It may have several lines.
    pub billing_address: &'v str,
    /// `TAX_TEXT`: the company's tax details on statements, such as its VAT number. They may have several
    /// lines.
    pub tax_text: &'v str,
    /// `BANK_DETAILS`: what statements say about how to pay. It may have several lines.
    pub bank_details: &'v str,
    /// `CONTACT`: the contact for people who have no role here, such as an e-mail address.
    pub contact: &'v str,
    /// `UNUSUAL_CHARGE`: the charge above which a transaction is unusual, such as `5000.00`.
    pub unusual_charge: &'v str,
    /// `BACKUP_FULL_DAYS`: the time between two full backups of the cron, in days.
    pub backup_full_days: &'v str,
    /// `BACKUP_KEPT_DAYS`: how long backups of the cron are kept, in days.
    pub backup_kept_days: &'v str,
    /// `DASHBOARD_ORIGIN`: the origin of the dashboard, to which e-mails to its people link.
    pub dashboard_origin: &'v str,
    /// `MAIL_FROM`: the sender's address of e-mails.
    pub mail_from: &'v str,
    /// Whether a mail service is bound: `EMAIL`, or the secret `RESEND_API_KEY`.
    pub has_mail_service: bool,
    /// Whether a bucket for pictures is bound: `PICTURES`.
    pub has_pictures: bool,
    /// `MESSAGING_BINDINGS`: the names of the bindings, variables and secrets with which the service reaches
    /// messaging services. Each deploy sets it.
    pub messaging_bindings: &'v str,
    /// Cloudflare's ID of the deployed version.
    pub deployment: &'v str,
}

/// The dashboard's settings, such as the members of each role and the environment.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The people with each role.
    pub staff: Staff,
    /// A message for each role whose list of members is set but cannot be read. Such a role has no members.
    pub problems: Vec<String>,
    /// Why a variable is ignored: one text per variable.
    pub variable_problems: Vec<String>,
    /// The environment's name; empty if it is not set.
    pub environment: String,
    /// The origin of the service's API; empty if it is not set.
    pub service_origin: String,
    /// The operator's company, as statements show it.
    pub(crate) issuer: Issuer,
    /// The contact for people who have no role here; empty if it is not set.
    pub contact: String,
    /// The charge above which a transaction is unusual, in hundredths of its currency; `None` if it is not set.
    pub unusual_charge: Option<u64>,
    /// When the cron makes full backups, and how long it keeps backups.
    pub backup_days: BackupDays,
    /// Whether the dashboard sends e-mails to its people.
    pub notices: NoticeSetup,
    /// Whether pictures can be uploaded.
    pub has_pictures: bool,
    /// The names of the service's bindings, variables and secrets for messaging services.
    pub messaging_bindings: Vec<String>,
    /// The release and, if known, the deployed version: `0.1.0+ID`.
    pub version: String,
}

/// Whether the dashboard sends e-mails to its people, and what it needs for that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NoticeSetup {
    /// The origin of the dashboard, without a slash at its end; empty if e-mails are off.
    pub origin: String,
    /// The sender's address.
    pub from: String,
    /// The variables, bindings and secrets that are missing; empty if e-mails are on.
    pub missing: Vec<&'static str>,
}

impl NoticeSetup {
    /// Reads the variables. Also returns why `DASHBOARD_ORIGIN` is ignored.
    fn read(variables: &Variables<'_>) -> (Self, Option<&'static str>) {
        let origin = variables.dashboard_origin.trim().trim_end_matches('/');
        let is_origin = is_origin(origin);
        let from = variables.mail_from.trim();
        let parts = [
            ("DASHBOARD_ORIGIN", is_origin),
            ("MAIL_FROM", is_address(from)),
            ("EMAIL` or `RESEND_API_KEY", variables.has_mail_service),
        ];
        let missing: Vec<_> =
            parts.into_iter().filter(|(_, is_set)| !is_set).map(|(name, _)| name).collect();
        let problem = (!origin.is_empty() && !is_origin).then_some(NOT_AN_ORIGIN);
        let text = |text: &str| if missing.is_empty() { text.to_owned() } else { String::new() };
        (NoticeSetup { origin: text(origin), from: text(from), missing }, problem)
    }

    /// Whether e-mails are sent.
    pub fn is_on(&self) -> bool {
        !self.origin.is_empty()
    }
}

/// The company that issues statements. Each field may have several lines, or be empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct Issuer {
    pub name: String,
    pub address: String,
    pub tax_text: String,
    pub bank_details: String,
}

impl Issuer {
    fn new(variables: &Variables<'_>) -> Self {
        Issuer {
            name: variables.billing_name.trim().to_owned(),
            address: variables.billing_address.trim().to_owned(),
            tax_text: variables.tax_text.trim().to_owned(),
            bank_details: variables.bank_details.trim().to_owned(),
        }
    }
}

impl Settings {
    /// Parses the variables. A role whose list is empty or unreadable has no members.
    pub fn parse(variables: Variables<'_>) -> Self {
        let lists = [
            (Role::Operator, "OPERATORS", variables.operators),
            (Role::Support, "SUPPORT", variables.support),
            (Role::Accounts, "ACCOUNTS", variables.accounts),
        ];
        let (mut members, mut problems) = (Vec::new(), Vec::new());
        for (role, name, list) in lists {
            match addresses(list) {
                Ok(own) => members.extend(own.into_iter().map(|address| (role, address))),
                Err(number) => problems.push(unreadable(name, number)),
            }
        }
        let (backup_days, mut variable_problems) =
            BackupDays::parse(variables.backup_full_days, variables.backup_kept_days);
        let unusual_charge = match variables.unusual_charge.trim() {
            "" => None,
            text => {
                let charge = Decimal::parse_bounded(text).and_then(|charge| charge.units(2));
                if charge.is_none() {
                    variable_problems.push(NOT_A_CHARGE.to_owned());
                }
                charge
            }
        };
        let (notices, problem) = NoticeSetup::read(&variables);
        variable_problems.extend(problem.map(str::to_owned));
        let release = env!("CARGO_PKG_VERSION");
        let version = match variables.deployment {
            "" => release.to_owned(),
            deployment => [release, "+", deployment].concat(),
        };
        Settings {
            staff: Staff(members),
            problems,
            environment: variables.environment.trim().to_owned(),
            issuer: Issuer::new(&variables),
            service_origin: variables.service_origin.trim().trim_end_matches('/').to_owned(),
            contact: variables.contact.trim().to_owned(),
            unusual_charge,
            variable_problems,
            backup_days,
            notices,
            has_pictures: variables.has_pictures,
            messaging_bindings: names(variables.messaging_bindings),
            version,
        }
    }

    pub(crate) fn roles_of(&self, identity: Identity<'_>) -> Roles {
        let Identity::Address(address) = identity else { return Roles::default() };
        self.staff.roles_of(address)
    }

    /// Returns the addresses of a role's members, in lower case.
    pub(crate) fn members(&self, role: Role) -> impl Iterator<Item = &str> {
        self.staff.members(role)
    }

    pub(crate) fn is_production(&self) -> bool {
        self.environment == "production"
    }
}

fn names(list: &str) -> Vec<String> {
    let is_separator = |character: char| character.is_whitespace() || character == ',';
    list.split(is_separator).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

const NOT_A_CHARGE: &str =
    "the variable `UNUSUAL_CHARGE` is ignored, because it is not an amount: write it as `5000.00`";

const NOT_AN_ORIGIN: &str = "the variable `DASHBOARD_ORIGIN` is ignored, because it is not an origin: write it as `https://dashboard.example`";

/// Parses a list of e-mail addresses into lower case. Only ASCII letters are converted, because two
/// addresses may differ in the case of other letters. The error is the number of the first entry that is
/// not an address, counted from 1.
fn addresses(list: &str) -> Result<Vec<String>, usize> {
    let mut found = Vec::new();
    let entries = list.split([',', ';', '\n', '\r']).map(str::trim_ascii);
    for (number, entry) in (1..).zip(entries.filter(|entry| !entry.is_empty())) {
        let own: Vec<_> = match named(entry) {
            Some(address) => vec![address],
            None => entry.split_ascii_whitespace().collect(),
        };
        if !own.iter().all(|address| is_address(address)) {
            return Err(number);
        }
        found.extend(own.into_iter().map(str::to_ascii_lowercase));
    }
    Ok(found)
}

/// Returns the address in `Ada <ada@shop.example>`; `None` for another format.
fn named(entry: &str) -> Option<&str> {
    let (name, address) = entry.strip_suffix('>')?.split_once('<')?;
    (!name.contains('@')).then_some(address)
}

fn unreadable(name: &str, number: usize) -> String {
    format!(
        "the Worker's secret `{name}` is ignored, because its entry {number} is not an e-mail address: separate \
         e-mail addresses with commas"
    )
}
