//! Work that waits for promises: the least executor that serves requests.
//!
//! A task goes on in the very call by which JavaScript tells that a promise of its own is settled.
//! So it runs in the turn of its own request, as the platform wants it, and never in another's.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

type Task = Pin<Box<dyn Future<Output = ()>>>;

/// The tasks that wait, by their number.
#[derive(Default)]
struct Tasks {
    last: u64,
    /// In the order of their numbers.
    waiting: Vec<(u64, Task)>,
}

impl Tasks {
    fn put(&mut self, number: u64, task: Task) {
        let place = self.waiting.partition_point(|(known, _)| *known < number);
        self.waiting.insert(place, (number, task));
    }

    fn take(&mut self, number: u64) -> Option<Task> {
        let place = self.waiting.binary_search_by_key(&number, |(known, _)| *known).ok()?;
        Some(self.waiting.remove(place).1)
    }
}

thread_local! {
    static TASKS: RefCell<Tasks> = RefCell::default();
}

/// Runs a task up to its first wait; what is left of it runs when that is over.
pub fn start(task: impl Future<Output = ()> + 'static) {
    let number = TASKS.with_borrow_mut(|tasks| {
        tasks.last += 1;
        tasks.last
    });
    go_on(number, Box::pin(task));
}

fn go_on(number: u64, mut task: Task) {
    let waker = Waker::from(Arc::new(Number(number)));
    if task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
        TASKS.with_borrow_mut(|tasks| tasks.put(number, task));
    }
}

/// A task as the promises know it that it waits for.
struct Number(u64);

impl Wake for Number {
    /// JavaScript calls when nothing runs, so a task that is not among those that wait has ended.
    fn wake(self: Arc<Self>) {
        let task = TASKS.with_borrow_mut(|tasks| tasks.take(self.0));
        if let Some(task) = task {
            go_on(self.0, task);
        }
    }
}
