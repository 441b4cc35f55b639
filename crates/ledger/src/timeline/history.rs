//! What one thread did, from state to state.
//!
//! The latest state is asked for several times for each event, so it does not lie among the earlier ones.

use super::recent::{forget_before, partition_from_end};
use super::sleeps::Wait;
use super::states::{Span, State, Stay};
use std::collections::VecDeque;
use whylate_base::{Confidence, Ns, Tid};

/// What a thread did in this time shows how long it usually runs at once.
const USUAL_OF: Ns = Ns::from_ms(1_000);

/// Each state lasts until the next begins.
#[derive(Debug, Default)]
pub(crate) struct History {
    earlier: VecDeque<Span>,
    latest: Option<Span>,
}

impl History {
    /// What it does now.
    #[inline]
    pub(crate) fn state(&self) -> State {
        self.latest.map_or(State::Unknown, |span| span.state)
    }

    /// When what it does now began.
    #[inline]
    pub(crate) fn since(&self) -> Option<Ns> {
        self.latest.map(|span| span.start)
    }

    /// From `start` on it is in `state`.
    #[inline]
    pub(crate) fn enter(&mut self, start: Ns, state: State) {
        // Clocks of two CPUs may disagree by some nanoseconds; a thread's life goes forward only.
        let start = self.since().map_or(start, |since| start.max(since));
        if let Some(over) = self.latest.replace(Span { start, state }) {
            self.earlier.push_back(over);
        }
    }

    /// Gives up the memory of what it forgot.
    pub(crate) fn release(&mut self) {
        self.earlier.shrink_to_fit();
    }

    /// What it does now was another state all along.
    #[inline]
    pub(crate) fn correct(&mut self, state: State) {
        if let Some(span) = &mut self.latest {
            span.state = state;
        }
    }

    /// What it waited for from `from` on without being woken for it, until a timeout, `owner` had.
    pub(crate) fn waited_for(&mut self, owner: (Tid, Confidence), from: Ns) {
        for span in self.earlier.iter_mut().rev().take_while(|span| span.start >= from) {
            if let State::Blocked { wait: Wait::Semaphore { owner: unknown @ None }, .. } = &mut span.state {
                *unknown = Some(owner);
            }
        }
    }

    /// Since when it has not slept, as far as was seen.
    pub(crate) fn awake_since(&self) -> Option<Ns> {
        awake(self.latest.iter().chain(self.earlier.iter().rev()))
    }

    /// The same before the sleep that it is in now.
    pub(crate) fn awake_before(&self) -> Option<Ns> {
        awake(self.earlier.iter().rev())
    }

    /// The last three states that began before `instant`, the first one first.
    pub(crate) fn last_three_before(&self, instant: Ns) -> Option<[&Span; 3]> {
        let latest = self.latest.as_ref().filter(|span| span.start < instant);
        let before = match latest {
            Some(_) => self.earlier.len(),
            None => partition_from_end(&self.earlier, |span| span.start < instant),
        };
        let earlier = |back: usize| self.earlier.get(before.checked_sub(back)?);
        match latest {
            Some(latest) => Some([earlier(2)?, earlier(1)?, latest]),
            None => Some([earlier(3)?, earlier(2)?, earlier(1)?]),
        }
    }

    /// For how long of `from..to` it waited for a CPU.
    pub(crate) fn time_queued(&self, from: Ns, to: Ns) -> Ns {
        self.time_in(from, to, |state| matches!(state, State::Queued(_)))
    }

    /// For how long of `from..to` it was in a state of which `is` is true.
    pub(crate) fn time_in(&self, from: Ns, to: Ns, is: impl Fn(State) -> bool) -> Ns {
        let stays = self.between(from, to).into_iter().filter(|stay| is(stay.state));
        stays.map(|stay| stay.to - stay.from).sum()
    }

    /// What it did in `from..to`, in order, without gaps: what was not seen is `Unknown`.
    pub(crate) fn between(&self, from: Ns, to: Ns) -> Vec<Stay> {
        let (known, first) = match self.latest.filter(|span| span.start <= from) {
            Some(latest) => (Some(latest), None),
            None => {
                let first = partition_from_end(&self.earlier, |span| span.start <= from);
                (first.checked_sub(1).and_then(|i| self.earlier.get(i)).copied(), Some(first))
            }
        };
        let mut state = known.map_or(State::Unknown, |span| span.state);
        let mut stays = Vec::new();
        let mut at = from;
        let later = first.into_iter().flat_map(|first| self.earlier.range(first..).chain(&self.latest));
        for next in later.take_while(|next| next.start < to) {
            if next.start > at {
                stays.push(Stay { from: at, to: next.start, state });
                at = next.start;
            }
            state = next.state;
        }
        if at < to {
            stays.push(Stay { from: at, to, state });
        }
        stays
    }

    /// True where what is held of it shows that it had a CPU before.
    pub(crate) fn has_run(&self) -> bool {
        self.earlier.iter().rev().any(|span| matches!(span.state, State::Running(_)))
    }

    /// How long it had a CPU at once, each time in the second before `until`: that shows what is usual of late.
    pub(crate) fn runs_before(&self, until: Ns) -> impl Iterator<Item = Ns> {
        let stays = self.between(until - USUAL_OF, until).into_iter();
        stays.filter(|stay| matches!(stay.state, State::Running(_))).map(|stay| stay.to - stay.from)
    }

    /// How many states it holds.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.earlier.len() + usize::from(self.latest.is_some())
    }

    /// Forgets what ended before `horizon`.
    pub(crate) fn forget(&mut self, horizon: Ns) {
        match self.since() {
            Some(since) if since <= horizon => self.earlier.clear(),
            _ => forget_before(&mut self.earlier, |span| span.start <= horizon),
        }
    }
}

/// When the first of the states began, from the last one back, in which the thread was awake.
fn awake<'a>(from_end: impl Iterator<Item = &'a Span>) -> Option<Ns> {
    let is_awake = |span: &&Span| matches!(span.state, State::Running(_) | State::Queued(_));
    from_end.take_while(is_awake).last().map(|span| span.start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use whylate_base::Cpu;

    #[test]
    fn between_tiles_the_interval() {
        let mut history = History::default();
        history.enter(Ns(10), State::Queued(Cpu(0)));
        history.enter(Ns(20), State::Running(Cpu(0)));
        history.enter(Ns(20), State::Queued(Cpu(1)));
        history.enter(Ns(15), State::Running(Cpu(1)));
        let stays = history.between(Ns(5), Ns(30));
        let ends: Vec<_> = stays.iter().map(|stay| (stay.from.0, stay.to.0, stay.state)).collect();
        assert_eq!(
            ends,
            [(5, 10, State::Unknown), (10, 20, State::Queued(Cpu(0))), (20, 30, State::Running(Cpu(1))),]
        );
    }

    proptest! {
        #[test]
        fn the_latest_state_is_found_like_the_earlier_ones(
            starts in prop::collection::vec(0i64..50, 0..20),
            (from, to, horizon) in (0i64..60, 0i64..60, 0i64..30),
        ) {
            let mut starts = starts;
            starts.sort_unstable();
            let mut history = History::default();
            for (cpu, start) in starts.iter().enumerate() {
                history.enter(Ns(*start), State::Running(Cpu(cpu as u32)));
            }
            let at = |instant: i64| match starts.iter().rposition(|start| *start <= instant) {
                Some(cpu) => State::Running(Cpu(cpu as u32)),
                None => State::Unknown,
            };
            let before = starts.partition_point(|start| *start < to);
            let three = history.last_three_before(Ns(to)).map(|spans| spans.map(|span| span.start.0));
            prop_assert_eq!(three, before.checked_sub(3).map(|first| [starts[first], starts[first + 1], starts[first + 2]]));
            history.forget(Ns(horizon));
            for stay in history.between(Ns(from), Ns(to)).into_iter().filter(|stay| stay.from.0 >= horizon) {
                prop_assert_eq!(stay.state, at(stay.from.0));
                prop_assert_eq!(stay.state, at(stay.to.0 - 1));
            }
        }
    }
}
