//! The thread that polls a network device, and so wakes the late thread, waited for a CPU.

use super::advised::Advised;
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, ShownBy, page};
use crate::model::Culprit;
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "napi-thread-delayed",
    page: page!("napi-thread-delayed"),
    group: CauseGroup::Interrupts,
    blames: Blames::Another,
    why,
    advice,
    details: Details {
        culprit_finding: Some("the NAPI thread waited"),
        culprit_holds_cpu: true,
        shown_by: ShownBy::Culprit,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, cpu, charged, .. } = late;
    let by = late.by();
    let carrier = late.carrier_in_brackets();
    format!(
        "{by} had CPU {cpu} for {charged} while the NAPI thread that receives for {thread} was runnable{carrier}"
    )
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    let by = of.the_culprit();
    // The packets of other CPUs (RPS): it is of no device (`backlog_napi_setup`, net/core/dev.c).
    let takes_over =
        matches!(of.carrier, Some(Culprit::Task { comm, .. }) if comm.as_str().starts_with("backlog_napi"));
    let (thread, without) = match takes_over {
        true => (
            "the NAPI thread (backlog_napi/N)",
            "leave the packets on the CPU that receives them: echo 0 > /sys/class/net/DEV/queues/rx-N/rps_cpus",
        ),
        false => (
            "the NAPI thread (napi/DEV-N)",
            "receive in the interrupt's softirq again: echo 0 > /sys/class/net/DEV/threaded",
        ),
    };
    vec![
        of.carrier_raised(thread, ""),
        AdvisedFix::new(
            format!("move {by} to another CPU (taskset -pc CPUS TID), or the NAPI thread"),
            of.move_culprit(),
        ),
        AdvisedFix::by_hand(without, "the recording does not show which network device it is"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::{Comm, Priority, Tid};

    #[test]
    fn the_advice_is_for_the_thread_that_waited() {
        let lines = |comm: &str| {
            let carrier = Culprit::Task { tid: Tid(7), comm: Comm::from(comm), priority: Priority::DEFAULT };
            let advised = Advised { carrier: Some(&carrier), ..Advised::general() };
            advice(&advised).iter().map(|fix| fix.text.clone()).collect::<Vec<_>>().join("\n")
        };
        assert!(lines("napi/eth0-8").contains("DEV/threaded"));
        let backlog = lines("backlog_napi/1");
        assert!(backlog.contains("rps_cpus") && !backlog.contains("threaded"), "{backlog}");
    }
}
