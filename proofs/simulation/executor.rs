//! Virtual time, and an executor that polls tasks which are ready in any order.

use crate::random::Random;
use futures_util::future::{Either, LocalBoxFuture, select};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

/// Milliseconds that pass only when nothing else can be done.
#[derive(Default)]
pub struct Time {
    now_ms: Cell<u64>,
    timers: RefCell<BTreeMap<(u64, u64), Waker>>,
    timer_count: Cell<u64>,
}

impl Time {
    pub fn now_ms(&self) -> u64 {
        self.now_ms.get()
    }

    /// Waits so long, and until all else of this moment was polled: no promise is kept at once.
    pub fn sleep(self: &Rc<Self>, milliseconds: u64) -> Sleep {
        self.timer_count.set(self.timer_count.get() + 1);
        let timer = (self.now_ms() + milliseconds, self.timer_count.get());
        Sleep { time: Rc::clone(self), timer, is_awaited: false }
    }

    /// As the Worker's adapter awaits the store: `None` if the time was up first.
    pub async fn within<W: Future>(
        self: &Rc<Self>,
        milliseconds: u64,
        work: W,
    ) -> Option<W::Output> {
        match select(pin!(work), self.sleep(milliseconds)).await {
            Either::Left((output, _)) => Some(output),
            Either::Right(_) => None,
        }
    }
}

pub struct Sleep {
    time: Rc<Time>,
    timer: (u64, u64),
    is_awaited: bool,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.is_awaited && self.time.now_ms() >= self.timer.0 {
            return Poll::Ready(());
        }
        self.is_awaited = true;
        self.time.timers.borrow_mut().insert(self.timer, context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.time.timers.borrow_mut().remove(&self.timer);
    }
}

type Tasks = BTreeMap<usize, LocalBoxFuture<'static, ()>>;

pub struct Executor {
    time: Rc<Time>,
    random: Rc<Random>,
    tasks: RefCell<Tasks>,
    ready: Arc<Mutex<Vec<usize>>>,
}

/// Puts its task among those that are ready.
struct TaskWaker {
    task: usize,
    ready: Arc<Mutex<Vec<usize>>>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        let mut ready = self.ready.lock().unwrap();
        if !ready.contains(&self.task) {
            ready.push(self.task);
        }
    }
}

impl Executor {
    pub fn new(time: &Rc<Time>, random: &Rc<Random>) -> Self {
        let (time, random) = (Rc::clone(time), Rc::clone(random));
        Executor { time, random, tasks: RefCell::default(), ready: Arc::default() }
    }

    /// Starts a task under a number of its own.
    pub fn spawn(&self, task: usize, future: impl Future<Output = ()> + 'static) {
        self.tasks.borrow_mut().insert(task, Box::pin(future));
        self.ready.lock().unwrap().push(task);
    }

    /// Drops a task wherever it waits.
    pub fn cancel(&self, task: usize) {
        let cancelled = self.tasks.borrow_mut().remove(&task);
        drop(cancelled); // outside of the borrow: what it holds may be dropped with it
    }

    /// The tasks that have not ended.
    pub fn running(&self) -> Vec<usize> {
        self.tasks.borrow().keys().copied().collect()
    }

    /// Lets all happen that happens until this moment.
    pub fn run_until(&self, until_ms: u64) {
        loop {
            while let Some(task) = self.next_ready() {
                self.poll(task);
            }
            if !self.advance(until_ms) {
                self.time.now_ms.set(until_ms);
                return;
            }
        }
    }

    fn next_ready(&self) -> Option<usize> {
        let mut ready = self.ready.lock().unwrap();
        (!ready.is_empty()).then(|| {
            let index = self.random.index(ready.len());
            ready.swap_remove(index)
        })
    }

    fn poll(&self, task: usize) {
        let Some(mut future) = self.tasks.borrow_mut().remove(&task) else { return };
        let waker = Waker::from(Arc::new(TaskWaker { task, ready: Arc::clone(&self.ready) }));
        if future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
            self.tasks.borrow_mut().insert(task, future);
        }
    }

    /// Goes to the next timer and wakes all of that moment; `false` if there is none by then.
    fn advance(&self, until_ms: u64) -> bool {
        let mut timers = self.time.timers.borrow_mut();
        let Some(next_ms) = timers.keys().next().map(|(at_ms, _)| *at_ms) else { return false };
        if next_ms > until_ms {
            return false;
        }
        self.time.now_ms.set(next_ms);
        while let Some(timer) = timers.first_entry().filter(|timer| timer.key().0 == next_ms) {
            timer.remove().wake();
        }
        true
    }
}
