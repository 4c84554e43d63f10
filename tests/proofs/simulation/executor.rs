//! Virtual time, and an executor of tasks. Of the tasks whose timers are due, the executor continues one at
//! random.

use crate::random::Random;
use futures_util::future::{Either, LocalBoxFuture, select};
use impact_pledge::pledges::store::StoreError;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// A clock in milliseconds that advances only when no task can run.
#[derive(Default)]
pub struct Time {
    now_ms: Cell<u64>,
    /// The waiting tasks, by the time at which their wait ends. A second number keeps waits apart that end at
    /// the same time.
    timers: RefCell<BTreeMap<(u64, u64), usize>>,
    timer_count: Cell<u64>,
    /// The running task.
    current: Cell<usize>,
}

impl Time {
    pub fn now_ms(&self) -> u64 {
        self.now_ms.get()
    }

    /// Waits for this many milliseconds. Tasks whose waits end at the same time continue in random order.
    pub fn sleep(self: &Rc<Self>, milliseconds: u64) -> Sleep {
        self.timer_count.set(self.timer_count.get() + 1);
        let timer = (self.now_ms() + milliseconds, self.timer_count.get());
        Sleep { time: Rc::clone(self), timer, is_awaited: false }
    }

    /// Awaits a call of the store. Returns an error after this many milliseconds, as the Worker's adapter
    /// does.
    pub async fn within<T>(
        self: &Rc<Self>,
        milliseconds: u64,
        work: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        match select(pin!(work), self.sleep(milliseconds)).await {
            Either::Left((output, _)) => output,
            Either::Right(_) => Err(StoreError::Unavailable),
        }
    }

    /// Advances the clock to the end of the next timer, and returns its task. If several timers end at that
    /// time, picks one at random. Returns `None` if no timer ends by `until_ms`.
    fn next(&self, until_ms: u64, random: &Random) -> Option<usize> {
        let mut timers = self.timers.borrow_mut();
        let (at_ms, _) = *timers.keys().next().filter(|(at_ms, _)| *at_ms <= until_ms)?;
        self.now_ms.set(at_ms);
        let of_moment: Vec<_> = timers.range(..(at_ms + 1, 0)).map(|(timer, _)| *timer).collect();
        timers.remove(&random.pick(&of_moment))
    }
}

pub struct Sleep {
    time: Rc<Time>,
    timer: (u64, u64),
    is_awaited: bool,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let mut timers = self.time.timers.borrow_mut();
        if self.is_awaited {
            return if timers.contains_key(&self.timer) { Poll::Pending } else { Poll::Ready(()) };
        }
        timers.insert(self.timer, self.time.current.get());
        drop(timers);
        self.is_awaited = true;
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.time.timers.borrow_mut().remove(&self.timer);
    }
}

pub struct Executor {
    pub time: Rc<Time>,
    pub random: Rc<Random>,
    pub tasks: RefCell<BTreeMap<usize, LocalBoxFuture<'static, ()>>>,
}

impl Executor {
    /// Starts a task under this number, and runs it until it waits.
    pub fn spawn(&self, task: usize, future: impl Future<Output = ()> + 'static) {
        self.tasks.borrow_mut().insert(task, Box::pin(future));
        self.poll(task);
    }

    /// Drops a task, wherever it is waiting.
    pub fn cancel(&self, task: usize) {
        let cancelled = self.tasks.borrow_mut().remove(&task);
        drop(cancelled); // outside of the borrow, because dropping the task may drop other tasks
    }

    /// Returns the numbers of the tasks that have not ended.
    pub fn running(&self) -> Vec<usize> {
        self.tasks.borrow().keys().copied().collect()
    }

    /// Runs all tasks that are due by this time.
    pub fn run_until(&self, until_ms: u64) {
        while let Some(task) = self.time.next(until_ms, &self.random) {
            self.poll(task);
        }
        self.time.now_ms.set(until_ms);
    }

    fn poll(&self, task: usize) {
        let Some(mut future) = self.tasks.borrow_mut().remove(&task) else { return };
        let outer = self.time.current.replace(task); // a task may start another
        if future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
            self.tasks.borrow_mut().insert(task, future);
        }
        self.time.current.set(outer);
    }
}
