//! Which of an activation's delays is the answer.

use crate::causes::Cause;
use crate::model::{Culprit, Kin};
use crate::stats::Charged;
use std::cmp::Reverse;
use whylate_base::Ns;

/// Of delays by how much each exceeds the usual, the heaviest: what it weighs in all, its cause and culprit, and the time charged to these two.
///
/// Threads that the scheduler's rules let run first are one delay, however many they are; of those, the answer is one of the name and
/// priority of which most time is, as five threads of one program do what it does.
pub(super) fn heaviest(weighed: &[(Ns, Charged)]) -> (Ns, (Cause, Option<Culprit>), Ns) {
    let in_all = |of: Cause, counts: &dyn Fn(Option<Culprit>) -> bool| -> Ns {
        let same = weighed.iter().filter(|(_, ((cause, by), _))| *cause == of && counts(*by));
        same.map(|(weight, _)| *weight).sum()
    };
    let kin = |by: Option<Culprit>| by.map(|by| Kin::of(&by));
    let ranked = weighed.iter().map(|&(weight, ((cause, by), time))| {
        let (all, of_kin) = match cause.culprit_runs_first() {
            true => (in_all(cause, &|_| true), in_all(cause, &|other| kin(other) == kin(by))),
            false => (weight, weight),
        };
        ((all, of_kin, weight, time, Reverse(cause)), (all, (cause, by), time))
    });
    let heaviest = ranked.max_by_key(|(rank, _)| *rank);
    heaviest.map_or((Ns::ZERO, (Cause::OwnWork, None), Ns::ZERO), |(_, heaviest)| heaviest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::{Priority, Tid};

    fn task(tid: i32, comm: &str) -> Option<Culprit> {
        Some(Culprit::Task { tid: Tid(tid), comm: comm.into(), priority: Priority(120) })
    }

    #[test]
    fn the_largest_of_most_kin_is_the_answer() {
        let delays = |cause: Cause, times: &[(i32, &str, i64)]| {
            let of = |&(tid, comm, us): &(i32, &str, i64)| {
                (Ns::from_us(us), ((cause, task(tid, comm)), Ns::from_us(us)))
            };
            times.iter().map(of).collect::<Vec<_>>()
        };
        let gzip = [(1, "recorder", 500), (2, "gzip", 410), (3, "gzip", 380), (4, "gzip", 300)];
        let (all, (cause, by), charged) = heaviest(&delays(Cause::FairQueue, &gzip));
        assert_eq!((all, charged), (Ns::from_us(1_590), Ns::from_us(410)));
        assert_eq!((cause, by), (Cause::FairQueue, task(2, "gzip")));
        // A lock is held by one thread each time.
        let (.., charged) = heaviest(&delays(Cause::LockWait, &gzip));
        assert_eq!(charged, Ns::from_us(500));
        assert_eq!(heaviest(&[]), (Ns::ZERO, (Cause::OwnWork, None), Ns::ZERO));
    }
}
