//! The CPU time that SCHED_DEADLINE threads have reserved, which admission control counts.

use crate::select;
use std::fmt;
use whylate_base::{Policy, Tid};
use whylate_host::FsRoot;
use whylate_sys::DeadlineParams;

/// More threads are not listed.
const MOST_LISTED: usize = 8;

/// The reservations of a machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Reservations {
    /// Each thread with its name and what it reserves, the largest first.
    pub(super) threads: Vec<(Tid, String, DeadlineParams)>,
    /// The share of each CPU that may be reserved; `None`: no limit, or not known.
    pub(super) limit: Option<f64>,
}

impl Reservations {
    /// Those of this machine at this moment.
    pub(super) fn read(tree: &FsRoot) -> Reservations {
        let mut threads: Vec<(Tid, String, DeadlineParams)> = select::all_threads()
            .into_iter()
            .filter_map(|thread| {
                let params = whylate_sys::getattr(thread.tid).ok()?;
                let deadline = params.deadline.filter(|_| params.policy == Policy::Deadline)?;
                Some((thread.tid, thread.comm, deadline))
            })
            .collect();
        threads.sort_by(|a, b| share(&b.2).total_cmp(&share(&a.2)));
        let us = |name: &str| tree.value::<i64>(&format!("/proc/sys/kernel/{name}")).value.ok();
        let limit = match (us("sched_rt_runtime_us"), us("sched_rt_period_us")) {
            (Some(runtime @ 0..), Some(period @ 1..)) => Some(runtime as f64 / period as f64),
            _ => None,
        };
        Reservations { threads, limit }
    }

    /// What admission control sees, in sentences; `wanted` is the new thread's.
    pub(super) fn sentences(&self, wanted: &DeadlineParams) -> Vec<String> {
        let mut sentences = vec![format!("this thread asks for {} of a CPU", Percent(share(wanted)))];
        if let Some(limit) = self.limit {
            sentences.push(format!(
                "kernel.sched_rt_runtime_us and kernel.sched_rt_period_us allow {} of each CPU of the root domain; from \
                 Linux 6.12 on the deadline servers of the CPUs count as well",
                Percent(limit)
            ));
        }
        let sum: f64 = self.threads.iter().map(|(_, _, params)| share(params)).sum();
        sentences.push(match self.threads.len() {
            0 => "no other SCHED_DEADLINE thread is visible".to_owned(),
            1 => format!("1 other thread has reserved {} of a CPU", Percent(sum)),
            count => format!("{count} other threads have reserved {} of a CPU together", Percent(sum)),
        });
        sentences.extend(self.threads.iter().take(MOST_LISTED).map(|(tid, comm, params)| {
            format!("{comm}:{tid} has {} of {}: {}", params.runtime, period(params), Percent(share(params)))
        }));
        sentences
    }
}

/// The period in which the runtime is granted.
fn period(params: &DeadlineParams) -> whylate_base::Ns {
    if params.period.0 > 0 { params.period } else { params.deadline }
}

/// The share of a CPU that a thread reserves (`to_ratio()`, kernel/sched/core.c).
fn share(params: &DeadlineParams) -> f64 {
    params.runtime.as_secs_f64() / period(params).as_secs_f64().max(1e-9)
}

struct Percent(f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} %", self.0 * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::Ns;

    fn params(runtime: i64, period: i64) -> DeadlineParams {
        DeadlineParams { runtime: Ns::from_ms(runtime), deadline: Ns::from_ms(period), period: Ns::ZERO }
    }

    #[test]
    fn shares_are_of_the_period_or_the_deadline() {
        assert!((share(&params(3, 10)) - 0.3).abs() < 1e-9);
        let longer = DeadlineParams { period: Ns::from_ms(20), ..params(3, 10) };
        assert!((share(&longer) - 0.15).abs() < 1e-9);
    }

    #[test]
    fn what_admission_counts_is_listed() {
        let threads =
            vec![(Tid(7), "video".to_owned(), params(5, 10)), (Tid(9), "audio".to_owned(), params(1, 10))];
        let text = Reservations { threads, limit: Some(0.95) }.sentences(&params(6, 10)).join("\n");
        for part in
            ["asks for 60.0 %", "allow 95.0 %", "2 other threads", "60.0 % of a CPU together", "video:7"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
