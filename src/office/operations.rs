//! The table of the operator's operations. The command line and its reference are generated from
//! it.
//!
//! An operation takes its arguments as text, and asks for confirmation before a change that cannot
//! be undone. It calls the functions in the `rule` parts of the [`office`](crate::office). It
//! returns JSON for programs and text for people.

pub use super::shared::operation::call::{Aborted, Answer, Call, Failure, Host, Ports};
pub use super::shared::operation::spec::Spec;

use super::audit::operation as audit;
use super::connections::operation as connections;
use super::credit_requests::operation as credit_requests;
use super::credits::operation as credits;
use super::fulfilment::operation as fulfilments;
use super::keys::operation as keys;
use super::mails::operation as emails;
use super::notices::operation as notices;
use super::orders::operation as transactions;
use super::payments::operation::payments;
use super::payments::operation::statements;
use super::payments::operation::sums;
use super::people::operation as people;
use super::prices::operation as prices;
use super::shared::operation::call::Result;
use super::shared::operation::values::{Door, Values};
use super::shared::rule::refused::Refused;
use super::shops::operation::teams;
use super::shops::operation::units;
use super::system::operation::{ledger, tasks};
use super::updates::operation as updates;
use serde_json::{Map, Value};
use strum::{EnumIter, IntoEnumIterator as _};

/// Declares the table: each operation with its [`Spec`], the function that runs it and, if the kinds of the arguments do not
/// say all, the function that checks the arguments.
macro_rules! operations {
    ($($operation:ident = $group:ident :: $spec:ident, $function:ident $(, $check:ident)?;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter)]
        pub enum Operation { $($operation,)* }

        impl Operation {
            pub const fn spec(self) -> &'static Spec {
                match self { $(Operation::$operation => &$group::$spec,)* }
            }

            fn check_values(self, _values: &Values) -> std::result::Result<(), Refused> {
                match self {
                    $(Operation::$operation => { $($group::$check(_values)?;)? Ok(()) })*
                }
            }

            async fn call<P: Ports>(self, call: &Call<'_, P>, values: &Values) -> Result<Answer> {
                match self {
                    $(Operation::$operation => {
                        let arguments = values.read().map_err(Failure::Usage)?;
                        $group::$function(call, arguments).await
                    })*
                }
            }
        }
    };
}

operations! {
    KeysCreate = keys::CREATE, create, check;
    KeysList = keys::LIST, list;
    KeysRotate = keys::ROTATE, rotate;
    KeysRevoke = keys::REVOKE, revoke;
    PricesSet = prices::SET, set, check_set;
    PricesChange = prices::CHANGE, change;
    PricesShow = prices::SHOW, show;
    PricesHistory = prices::HISTORY, history;
    PricesRemove = prices::REMOVE, remove;
    UnitsAdd = units::ADD, add;
    UnitsSet = units::SET, set, check;
    UnitsUnset = units::UNSET, unset;
    UnitsShow = units::SHOW, show;
    UnitsList = units::LIST, list;
    UnitsRemove = units::REMOVE, remove;
    TeamsAdd = teams::ADD, add;
    TeamsRemove = teams::REMOVE, remove;
    TeamsShow = teams::SHOW, show;
    TeamsList = teams::LIST, list;
    PeopleAdd = people::ADD, add, check;
    PeopleRemove = people::REMOVE, remove, check;
    PeopleList = people::LIST, list, check;
    ConnectionsAdd = connections::ADD, add;
    ConnectionsSet = connections::SET, set;
    ConnectionsEnd = connections::END, end;
    ConnectionsList = connections::LIST, list;
    ConnectionsDeliveries = connections::DELIVERIES, deliveries;
    ConnectionsRetry = connections::RETRY, retry;
    ConnectionsFetch = connections::FETCH, fetch;
    ConnectionsPreview = connections::PREVIEW, preview;
    TransactionsList = transactions::LIST, list;
    TransactionsFind = transactions::FIND, find, check_find;
    TransactionsShow = transactions::SHOW, show;
    TransactionsErase = transactions::ERASE, erase, check_erase;
    TransactionsNote = transactions::NOTE, note;
    TransactionsNoteDone = transactions::NOTE_DONE, note_done;
    TransactionsNotes = transactions::NOTES, notes;
    TransactionsUsage = sums::USAGE, usage;
    TransactionsQuantities = sums::QUANTITIES, quantities;
    TransactionsExport = sums::EXPORT, export;
    PaymentsMark = payments::MARK, mark, check;
    PaymentsUndo = payments::UNDO, undo;
    PaymentsShow = payments::SHOW, show;
    PaymentsList = payments::LIST, list;
    PaymentsDue = statements::DUE, due;
    PaymentsStatement = statements::STATEMENT, statement;
    FulfilmentsAdd = fulfilments::ADD, add;
    FulfilmentsRemove = fulfilments::REMOVE, remove;
    FulfilmentsList = fulfilments::LIST, list;
    FulfilmentsBalance = fulfilments::BALANCE, balance;
    FulfilmentsShops = fulfilments::SHOPS, shops;
    UpdatesAdd = updates::ADD, add, check_add;
    UpdatesDraft = updates::DRAFT, draft;
    UpdatesEdit = updates::EDIT, edit, check_edit;
    UpdatesPublish = updates::PUBLISH, publish;
    UpdatesWithdraw = updates::WITHDRAW, withdraw;
    UpdatesList = updates::LIST, list;
    UpdatesPreview = updates::PREVIEW, preview;
    UpdatesCheck = updates::CHECK, check;
    CreditsAdd = credits::ADD, add, check;
    CreditsRequest = credit_requests::REQUEST, request, check;
    CreditsConfirm = credit_requests::CONFIRM, confirm;
    CreditsRefuse = credit_requests::REFUSE, refuse;
    CreditsLimit = credit_requests::LIMIT, limit;
    CreditsRequests = credit_requests::LIST, list;
    CreditsList = credits::LIST, list;
    EmailsShow = emails::SHOW, show;
    EmailsFailed = emails::FAILED, failed;
    EmailsResend = emails::RESEND, resend, check;
    EmailsDismiss = emails::DISMISS, dismiss, check_dismiss;
    EmailsPreview = emails::PREVIEW, preview;
    NoticesSet = notices::SET, set;
    NoticesList = notices::LIST, list;
    LedgerStatus = ledger::STATUS, status;
    LedgerCheck = ledger::CHECK, check;
    LedgerRebuild = ledger::REBUILD, rebuild;
    LedgerKeepFrom = ledger::KEEP_FROM, keep_from;
    LedgerAcceptLoss = ledger::ACCEPT_LOSS, accept_loss;
    TasksAccept = tasks::ACCEPT, accept;
    TasksReopen = tasks::REOPEN, reopen;
    TasksList = tasks::LIST, list;
    AuditList = audit::LIST, list;
}

/// The groups of the table, in their order, each with a short description.
pub const GROUPS: [(&str, &str); 16] = [
    ("keys", "API keys"),
    ("prices", "Price lists: one for test keys, one for live keys, and those of single units"),
    (
        "units",
        "Units (shops): the register of their IDs, and their profiles, which timelines and e-mails show",
    ),
    ("teams", "Teams: a team's key may act for each unit of the team"),
    ("people", "People of shops, who may sign in to the dashboard for a unit or a team"),
    ("connections", "Connections to shop systems, whose paid orders are pledged by themselves"),
    ("transactions", "Recorded transactions"),
    ("payments", "Months that shops have paid: the API returns the date in `charge.paidAt`"),
    (
        "credits",
        "Credits: amounts and quantities that are taken back from transactions, for example after a refund",
    ),
    ("fulfilments", "What was done for pledges, such as trees that were planted"),
    ("updates", "What became of pledges, as shown on buyers' timelines"),
    ("emails", "E-mails and messages to the recipients of pledges"),
    ("notices", "E-mails to the people of the dashboard, about open tasks and failures"),
    (
        "ledger",
        "The ledger: a database of all transactions, built from their records in Workers KV",
    ),
    ("tasks", "Tasks of the dashboard's home page that a person can accept"),
    ("audit", "The audit log: who changed or revealed what, and when"),
];

impl Operation {
    pub fn find(group: &str, name: &str) -> Option<Self> {
        Operation::iter().find(|operation| {
            let spec = operation.spec();
            spec.group == group && spec.name == name
        })
    }

    /// Checks the arguments, keyed by their names, without running the operation.
    ///
    /// # Errors
    /// If an argument is invalid. The error names the first invalid argument, and the values that it accepts.
    pub fn check(self, arguments: Map<String, Value>) -> std::result::Result<(), Refused> {
        let values = Values::check(self.spec(), arguments, Door::Command)?;
        self.check_values(&values)
    }

    /// Checks the arguments and runs the operation.
    ///
    /// # Errors
    /// If an argument is invalid or the operation is refused, or if the store, the ledger or the host
    /// fails.
    pub async fn run<P: Ports>(
        self,
        call: &Call<'_, P>,
        arguments: Map<String, Value>,
    ) -> Result<Answer> {
        self.check(arguments.clone()).map_err(Failure::Usage)?;
        let values =
            Values::check(self.spec(), arguments, Door::Command).map_err(Failure::Usage)?;
        Box::pin(self.call(call, &values)).await
    }
}
