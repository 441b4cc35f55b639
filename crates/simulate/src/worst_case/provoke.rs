//! What a program has to do so that the worst case happens: when each thread is due, from one instant on, and how long it works.

use super::once::OncePart;
use super::sources::{InterferingSource, Victim};
use crate::recording::SourceKey;
use whylate_base::{Ns, Tid};
use whylate_ledger::Cause;

/// No more jobs of one thread are provoked.
const MOST_JOBS: usize = 64;

/// A program that makes the worst case happen, as far as threads can.
#[derive(Clone, Debug, PartialEq)]
pub struct Provocation {
    /// The thread itself first, then those that go before it.
    pub threads: Vec<ProvokedThread>,
    /// From one time to the next.
    pub round: Ns,
    /// What no program provokes: interrupts, sections of the kernel, in words.
    pub left_out: Vec<String>,
    /// The response that the threads alone add up to.
    pub expected: Ns,
}

/// A thread of a [`Provocation`].
#[derive(Clone, Debug, PartialEq)]
pub struct ProvokedThread {
    /// Its name.
    pub name: String,
    /// Its SCHED_FIFO priority.
    pub priority: i32,
    /// From the common instant to when each job is due, and its work.
    pub jobs: Vec<(Ns, Ns)>,
}

pub(super) fn of(
    name: &str,
    victim: &Victim<'_>,
    sources: &[InterferingSource],
    once: &[OncePart],
    window: Ns,
    dues: &[Ns],
) -> Provocation {
    let own = once.iter().filter(|part| matches!(part.cause, Cause::OwnWork | Cause::PageFault));
    let own: Ns = own.map(|part| part.time).sum();
    // Of SCHED_DEADLINE the priority is that of no SCHED_FIFO thread: it is taken as the lowest that leaves room above.
    let user = victim.priority.realtime_user().unwrap_or(50).clamp(1, 98);
    let mut threads =
        vec![ProvokedThread { name: short(name, victim.tid), priority: user, jobs: vec![(Ns::ZERO, own)] }];
    let mut left_out = Vec::new();
    let mut expected = own;
    for source in sources {
        let time = source.curve.within(window);
        let jobs = source.curve.densest(window);
        match &source.key {
            SourceKey::Thread(tid) if !jobs.is_empty() && source.cause != Cause::StopTask => {
                expected += jobs.iter().map(|&(_, work)| work).sum();
                threads.push(ProvokedThread {
                    name: short(&source.name, *tid),
                    priority: (user + 1).min(99),
                    jobs: jobs.into_iter().take(MOST_JOBS).collect(),
                });
            }
            _ if time > Ns::ZERO => left_out.push(format!("{} ({}): {time}", source.name, source.cause)),
            _ => {}
        }
    }
    let parts = once.iter().filter(|part| !matches!(part.cause, Cause::OwnWork | Cause::PageFault));
    for part in parts.filter(|part| part.time > Ns::ZERO) {
        let by = part.by.as_ref().map_or_else(String::new, |by| format!(" by {by}"));
        left_out.push(format!("{}{by}: {}", part.cause, part.time));
    }
    let period = dues.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap_or(Ns::ZERO);
    let round = Ns(2 * window.0.max(period.0).max(Ns::from_ms(5).0));
    Provocation { threads, round, left_out, expected }
}

/// A name of 15 characters at most, without the id.
fn short(name: &str, tid: Tid) -> String {
    let name = name.split_once(&format!(":{tid}")).map_or(name, |(name, _)| name);
    name.chars()
        .filter(|letter| letter.is_ascii_graphic() && !matches!(letter, '"' | '\\'))
        .take(15)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_the_kernel_and_a_string_of_c() {
        assert_eq!(short("hog:12", Tid(12)), "hog");
        assert_eq!(short("hog:12 (rt 59)", Tid(12)), "hog");
        assert_eq!(short("a\"b\\c\nd", Tid(1)), "abcd");
        assert_eq!(short("a-name-of-twenty-one", Tid(1)).len(), 15);
    }
}
