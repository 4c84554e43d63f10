//! The exports that check and run an operation, for the command line of the scripts.

use super::kv::{CommandStore, Kv};
use super::{CommandOutcome, thrown_as, to_js};
use crate::doors::platform::Platform;
use crate::office::mails::rule::QueuedRounds;
use crate::office::operations::Operation;
use crate::office::shared::operation::call;
use crate::office::shared::operation::call::{Aborted, Answer, Call, Failure, Ports};
use crate::office::shared::operation::question::Question;
use crate::office::shared::rule::operation_id::OperationId;
use crate::pledges::service::{Message, Outbox, PutFuture};
use serde_json::{Map, Value};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    /// The command-line program that runs an operation. If one of its methods throws an error, the
    /// operation stops, and `run` throws the same error.
    pub type Program;
    #[wasm_bindgen(method, getter)]
    fn records(this: &Program) -> Kv;
    /// The name of the environment, for messages.
    #[wasm_bindgen(method, getter)]
    fn place(this: &Program) -> String;
    /// The operation ID, if the person passed one.
    #[wasm_bindgen(method, getter, js_name = operationId)]
    fn operation_id(this: &Program) -> Option<String>;
    #[wasm_bindgen(method, catch)]
    async fn person(this: &Program) -> Result<JsValue, JsValue>;
    /// Asks the person to confirm. Throws if the person does not.
    #[wasm_bindgen(method, catch)]
    async fn confirm(this: &Program, question: &str, otherwise: &str) -> Result<JsValue, JsValue>;
    /// Reads a file. Resolves to a `Uint8Array`.
    #[wasm_bindgen(method, catch)]
    async fn read(this: &Program, file: &str) -> Result<JsValue, JsValue>;
    /// Creates a file. If `file` is `None`, opens standard output instead.
    #[wasm_bindgen(method, catch)]
    async fn create(this: &Program, file: Option<&str>) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch)]
    async fn write(this: &Program, text: &str) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method)]
    fn note(this: &Program, text: &str);
    #[wasm_bindgen(method, catch, js_name = openQueue)]
    async fn open_queue(this: &Program) -> Result<JsValue, JsValue>;
    /// Puts a message into the queue. Throws if the queue does not accept it.
    #[wasm_bindgen(method, catch)]
    async fn put(this: &Program, message: JsValue) -> Result<JsValue, JsValue>;
}

/// Gives an operation access to the command-line program. If the program throws an error, `store` keeps the
/// error until the operation has ended.
struct Host<'h> {
    program: &'h Program,
    store: &'h CommandStore,
}

impl Host<'_> {
    fn answer(&self, outcome: CommandOutcome) -> Result<JsValue, Aborted> {
        outcome.map_err(|thrown| {
            self.store.keep(thrown);
            Aborted
        })
    }
}

impl call::Host for Host<'_> {
    async fn person(&self) -> Result<String, Aborted> {
        let name = self.answer(self.program.person().await)?;
        Ok(name.as_string().unwrap_or_default())
    }

    async fn confirm(&self, question: &Question) -> Result<(), Aborted> {
        let words = question.in_words(&self.program.place());
        self.answer(self.program.confirm(&words, question.otherwise).await).map(drop)
    }

    async fn read(&self, file: &str) -> Result<Vec<u8>, Aborted> {
        let bytes = self.answer(self.program.read(file).await)?;
        Ok(js_sys::Uint8Array::new(&bytes).to_vec())
    }

    async fn create(&self, file: Option<&str>) -> Result<(), Aborted> {
        self.answer(self.program.create(file).await).map(drop)
    }

    async fn write(&self, text: &str) -> Result<(), Aborted> {
        self.answer(self.program.write(text).await).map(drop)
    }

    fn note(&self, text: &str) {
        self.program.note(text);
    }

    async fn open_queue(&self) -> Result<(), Aborted> {
        self.answer(self.program.open_queue().await).map(drop)
    }
}

impl Outbox for Host<'_> {
    fn put<'m>(&'m self, message: &'m Message) -> PutFuture<'m> {
        Box::pin(async {
            let Ok(message) = self.answer(to_js(message)) else { return false };
            self.answer(self.program.put(message).await).is_ok()
        })
    }
}

struct Script<'h>(std::marker::PhantomData<&'h ()>);

impl<'h> Ports for Script<'h> {
    type Store = CommandStore;
    type Platform = Platform;
    type Host = Host<'h>;
}

/// Checks the arguments of an operation. `arguments` is a JSON object with a member for each argument.
/// Throws `{usage}` if an argument is wrong; `usage` has `field`, `item`, `code` and `message`.
#[wasm_bindgen]
pub fn check(group: &str, name: &str, arguments: &str) -> Result<(), JsValue> {
    let (operation, arguments) = read(group, name, arguments)?;
    operation.check(arguments).map_err(|refused| thrown_as("usage", &refused))
}

/// Runs an operation. Returns `{data, text, exitCode, isAside}`. `data` is a JSON object, and `text` is the
/// text to print. If `isAside` is true, the text belongs on standard error.
///
/// For wrong arguments, throws `{usage}`, as [`check`]; if a rule refused the operation, `{refused}` with the same members.
/// If the operation failed after a part of it was done, throws `{problem, answer}`. For any other failure, throws a text, or
/// the error that the program threw.
#[wasm_bindgen]
pub async fn run(program: Program, group: &str, name: &str, arguments: &str) -> CommandOutcome {
    let (operation, arguments) = read(group, name, arguments)?;
    let store = CommandStore::new(program.records());
    let host = Host { program: &program, store: &store };
    let operation_id = program.operation_id().as_deref().map(OperationId::parse).transpose();
    let operation_id = operation_id.map_err(|refused| thrown_as("usage", &refused))?;
    let call: Call<'_, Script<'_>> = Call {
        store: &store,
        ledger: store.ledger(),
        platform: &Platform,
        host: &host,
        memberships: None,
        operation: operation_id,
        rounds: &QueuedRounds::default(),
        rest: "",
    };
    match operation.run(&call, arguments).await {
        Ok(answer) => shown(&answer),
        Err(failure) => Err(thrown(&store, failure)),
    }
}

fn read(
    group: &str,
    name: &str,
    arguments: &str,
) -> Result<(Operation, Map<String, Value>), JsValue> {
    let operation = Operation::find(group, name).ok_or("there is no such operation")?;
    let arguments = serde_json::from_str(arguments).map_err(|error| error.to_string())?;
    Ok((operation, arguments))
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct RunAnswer<'a> {
    data: &'a str,
    text: &'a str,
    exit_code: u8,
    is_aside: bool,
}

fn shown(Answer { data, text, exit_code, is_aside, .. }: &Answer) -> CommandOutcome {
    to_js(&RunAnswer { data, text, exit_code: *exit_code, is_aside: *is_aside })
}

fn thrown(store: &CommandStore, failure: Failure) -> JsValue {
    match failure {
        Failure::Usage(refused) => thrown_as("usage", &refused),
        Failure::Partial(failure, answer) => {
            let error = js_sys::Object::new();
            let answer = shown(&answer).unwrap_or_else(|error| error);
            let members = [("problem", thrown(store, *failure)), ("answer", answer)];
            for (name, value) in members {
                let _ = js_sys::Reflect::set(&error, &name.into(), &value); // cannot fail on a new object
            }
            error.into()
        }
        Failure::Operator(error) => store.failure(&error),
        Failure::Aborted => store.kept().unwrap_or_else(|| Failure::Aborted.reason().into()),
    }
}
