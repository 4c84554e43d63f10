//! Keeps the replay records of the latest create requests with an idempotency key, in the memory of one
//! isolate.
//!
//! Workers KV may take a minute to show a write. Thanks to these records, even a retry after a second is
//! answered as an idempotent replay.

use crate::pledges::idempotency::{Replay, ReplayHash};
use crate::pledges::scope::Scope;
use std::cell::RefCell;
use std::collections::VecDeque;

/// How long a replay record is kept, in milliseconds: twice the time after which KV usually shows a write.
const LIFETIME_MS: u64 = 120_000;
/// Maximum size of all kept records: 2 MiB, about 10,000 create requests.
const MAX_BYTES: usize = 2 * 1024 * 1024;

/// The latest replay records that this isolate wrote, grouped by unit and mode.
#[derive(Debug, Default)]
pub struct RecentReplays(RefCell<Vec<ScopeReplays>>);

/// The replay records of one scope, oldest first.
#[derive(Debug)]
struct ScopeReplays {
    scope: Scope,
    replays: VecDeque<RecentReplay>,
    bytes: usize,
}

#[derive(Debug)]
struct RecentReplay {
    hash: ReplayHash,
    replay: Replay,
    expires_ms: u64,
}

impl RecentReplays {
    /// Keeps the replay record of a create request. If all records together exceed the limit on bytes, the
    /// unit with the most bytes loses its oldest record. In this way, a busy unit cannot displace the records
    /// of other units.
    pub fn keep(&self, scope: &Scope, hash: ReplayHash, replay: Replay, now_ms: u64) {
        let mut shares = self.0.borrow_mut();
        shares
            .iter_mut()
            .for_each(|share| share.forget_while(|oldest| oldest.expires_ms <= now_ms));
        shares.retain(|share| !share.replays.is_empty());
        let expires_ms = now_ms.saturating_add(LIFETIME_MS);
        let recent = RecentReplay { hash, replay, expires_ms };
        match shares.iter_mut().find(|share| share.scope == *scope) {
            Some(share) => share.push(recent),
            None => {
                let mut share =
                    ScopeReplays { scope: scope.clone(), replays: VecDeque::new(), bytes: 0 };
                share.push(recent);
                shares.push(share);
            }
        }
        while bytes_of(&shares) > MAX_BYTES {
            let Some(largest) = shares.iter_mut().max_by_key(|share| share.bytes) else { break };
            largest.forget();
        }
    }

    /// Returns the bytes of all kept records.
    pub fn bytes(&self) -> usize {
        bytes_of(&self.0.borrow())
    }

    /// Returns the replay record of the create request that created the transaction with this ID.
    pub fn of(&self, scope: &Scope, id: &str, now_ms: u64) -> Option<Replay> {
        self.find(scope, now_ms, |recent| recent.replay.id == id)
    }

    /// Returns the last replay record written for this idempotency key.
    pub fn last(&self, scope: &Scope, hash: ReplayHash, now_ms: u64) -> Option<Replay> {
        self.find(scope, now_ms, |recent| recent.hash == hash)
    }

    fn find(
        &self,
        scope: &Scope,
        now_ms: u64,
        is_it: impl Fn(&RecentReplay) -> bool,
    ) -> Option<Replay> {
        let shares = self.0.borrow();
        let share = shares.iter().find(|share| share.scope == *scope)?;
        let mut fresh = share.replays.iter().rev().filter(|recent| now_ms < recent.expires_ms);
        fresh.find(|recent| is_it(recent)).map(|recent| recent.replay.clone())
    }
}

impl ScopeReplays {
    fn push(&mut self, recent: RecentReplay) {
        self.bytes += recent.bytes();
        self.replays.push_back(recent);
    }

    fn forget(&mut self) {
        let oldest = self.replays.pop_front();
        self.bytes -= oldest.map_or(0, |oldest| oldest.bytes());
    }

    fn forget_while(&mut self, is_over: impl Fn(&RecentReplay) -> bool) {
        while self.replays.front().is_some_and(&is_over) {
            self.forget();
        }
    }
}

impl RecentReplay {
    fn bytes(&self) -> usize {
        let terms = &self.replay.terms;
        let texts = [&self.replay.id, &terms.created_at, &terms.amount, &terms.origin];
        size_of::<Self>() + texts.iter().map(|text| text.len()).sum::<usize>()
    }
}

fn bytes_of(shares: &[ScopeReplays]) -> usize {
    shares.iter().map(|share| share.bytes).sum()
}
