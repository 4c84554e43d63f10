//! People who change facts at once: each claims a fact in the ledger, writes its record into KV, and confirms. Any of them may
//! be killed on the way, and gives up now and then.

use crate::books::Books;
use crate::kv::OPERATOR;
use crate::namespace::Namespace;
use impact_pledge::handle::Clock as _;
use impact_pledge::ledger::claims::{self, Change, Fact, Kind, Seen, Turn, Wanted};
use impact_pledge::store::{
    Key, NoMetadata, OperatorStore as _, Store as _, StoreError, StoredValue as _,
};
use std::borrow::Cow;
use std::rc::Rc;

/// How many change one fact at once, at most.
const TOGETHER: u64 = 3;
/// Per mille of those who give up.
const GIVES_UP: u64 = 100;

/// What somebody was told who changes a fact.
pub struct Told {
    /// The name of its record.
    pub name: &'static str,
    /// Whether the change is theirs: until they begin to confirm it, or to give it up.
    is_ours: bool,
    /// When the change ended, or was killed.
    pub ended_ms: Option<u64>,
}

/// The names of records of facts, whose months and teams nothing else touches.
const FACTS: &[(Kind, &str)] = &[
    (Kind::Settlement, "settlement:test:unit_1:2025-12"),
    (Kind::Member, "member:crew:unit_1"),
    (Kind::Member, "member:crew:unit_2"),
];

/// Ends a change, though its task is killed.
struct Ending(Rc<Books>, usize);

impl Drop for Ending {
    fn drop(&mut self) {
        let Ending(books, number) = self;
        books.end(*number);
        books.told.borrow_mut()[*number].ended_ms = Some(books.now_ms());
    }
}

impl Books {
    /// Some change one fact at about one moment.
    pub fn change_fact(self: &Rc<Self>) {
        let (kind, name) = self.random.pick(FACTS);
        let (_, suffix) = name.split_once(':').unwrap();
        for _ in 0..=self.random.below(TOGETHER) {
            let (books, fact) = (Rc::clone(self), Fact { kind, name: suffix.to_owned() });
            let is_added = self.random.chance(500);
            let number = self.told.borrow().len();
            self.told.borrow_mut().push(Told { name, is_ours: false, ended_ms: None });
            let ending = Ending(Rc::clone(self), number);
            self.spawn_killable(async move {
                books.sleep(books.random.below(2_000)).await;
                let answer = books.change(number, &fact, is_added).await;
                let what = if is_added { "to add" } else { "to take back" };
                books.note(format!("change {number}, {what} {}: {answer}", fact.name));
                books.count(format!("a change: {answer}"));
                drop(ending);
            });
        }
    }

    /// Returns what the person is told.
    async fn change(&self, number: usize, fact: &Fact, is_added: bool) -> &'static str {
        let (clock, store, database) = (self.clock(), self.namespace(OPERATOR), &self.database);
        let key = Named(self.told.borrow()[number].name);
        let by = Change {
            change: format!("audit:{number}"),
            author: "ops".to_owned(),
            at: clock.now_ms(),
        };
        let Ok(seen) = see(&store, fact, &key).await else { return "KV does not answer" };
        let wanted = if is_added { Wanted::Added } else { Wanted::Removed };
        match claims::claim(database, wanted, &[seen], &by).await.as_deref() {
            Ok([Turn::Ours]) => self.begin(number),
            Ok([Turn::Theirs(_)]) => return "somebody else's",
            Ok(_) => return "so already",
            Err(_) => return "nobody knows",
        }
        let facts = std::slice::from_ref(fact);
        if self.random.chance(GIVES_UP) {
            self.end(number);
            let _ = claims::give_up(database, facts, &by).await;
            return "given up";
        }
        let record = serde_json::to_vec(&by).unwrap();
        let written = match wanted {
            Wanted::Added => store.put(&key, record, &NoMetadata).await,
            Wanted::Removed => store.remove(&key).await,
        };
        if written.is_err() {
            return "unconfirmed"; // the record decides, after a while
        }
        self.end(number);
        match claims::confirm(database, facts, &by).await {
            Ok(()) => "done",
            Err(_) => "done, unconfirmed",
        }
    }

    /// Of those who change a fact at once, one has it.
    fn begin(&self, number: usize) {
        self.told.borrow_mut()[number].is_ours = true;
        let told = self.told.borrow();
        let name = told[number].name;
        let is_beside =
            |(other, told): &(usize, &Told)| *other != number && told.name == name && told.is_ours;
        if let Some((other, _)) = told.iter().enumerate().find(is_beside) {
            self.blame(
                "of two changes of a fact one is ours",
                format!("{other} and {number} of {name}"),
            );
        }
    }

    fn end(&self, number: usize) {
        self.told.borrow_mut()[number].is_ours = false;
    }
}

/// A fact as KV shows it.
async fn see(store: &Namespace, fact: &Fact, key: &Named) -> Result<Seen, StoreError> {
    let mut seen = Seen { fact: fact.clone(), is_there: false, change: None };
    if let Some(stored) = store.get(key).await? {
        let value = stored.value.read(Named::READ_MS).await?;
        let change = serde_json::from_slice(&value).ok().map(|by: Change| by.change);
        seen = Seen { is_there: true, change, ..seen };
    }
    Ok(seen)
}

/// A key by its name.
struct Named(&'static str);

impl Key for Named {
    type Metadata = NoMetadata;
    const KIND: &'static str = "fact";
    const PREFIX: &'static str = "";
    fn suffix(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0)
    }
}
