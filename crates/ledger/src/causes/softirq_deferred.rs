//! A softirq was left to a thread of SCHED_OTHER, which waited for a CPU.

use super::advised::{Advised, ITS_PROGRAM};
use super::grace_period;
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, ShownBy, page};
use crate::timeline::origins::{HRTIMER, NET_RX, NET_TX, TIMER};
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "softirq-deferred",
    page: page!("softirq-deferred"),
    group: CauseGroup::Interrupts,
    blames: Blames::Another,
    why,
    advice,
    details: Details {
        culprit_finding: Some("softirqs deferred"),
        culprit_holds_cpu: true,
        shown_by: ShownBy::Culprit,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    if grace_period::ends_by(late.carrier) {
        return grace_period::why_deferred(late);
    }
    let LateActivation { thread, cpu, charged, .. } = late;
    let by = late.by();
    let carrier = late.carrier_or("the thread that runs softirqs there");
    format!(
        "{by} had CPU {cpu} for {charged} while {carrier} was runnable: the softirq that wakes {thread} had been left \
         to it"
    )
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    if grace_period::ends_by(of.carrier) {
        return grace_period::advice_on_deferred(of);
    }
    let by = of.the_culprit();
    let is_timer = of.deferred.is_some_and(|vec| [TIMER, HRTIMER].contains(&vec));
    let may_be_of_network = of.deferred.is_none_or(|vec| [NET_TX, NET_RX].contains(&vec));
    let moved = match is_timer {
        true => format!("move {by} away from the CPU on which the timer expires: taskset -pc CPUS TID"),
        false => format!(
            "move {by} away from the CPU that takes the interrupt: taskset -pc CPUS TID, /proc/irq/N/smp_affinity_list"
        ),
    };
    let risk = if is_timer { "; risk: all that it runs gets it" } else { "; risk: all softirqs get it" };
    let raised = of.carrier_raised("ksoftirqd/N of that CPU", risk);
    let mut fixes = vec![AdvisedFix::new(moved, of.move_culprit()), raised];
    if is_timer {
        fixes.push(AdvisedFix::by_hand(
            "wait with a timer of the thread's own where that will do: clock_nanosleep(2) of a real-time thread expires in the \
             interrupt itself, and not in a softirq",
            ITS_PROGRAM,
        ));
    }
    if may_be_of_network {
        fixes.push(AdvisedFix::by_hand(
            "receive in a thread with a priority of its own: echo 1 > /sys/class/net/DEV/threaded, then chrt the napi/DEV-N",
            "the recording does not show which network device it is",
        ));
    }
    fixes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_is_of_no_network_device() {
        let lines = |deferred| {
            let of = Advised { deferred, ..Advised::general() };
            advice(&of).iter().map(|fix| fix.text.clone()).collect::<Vec<_>>().join("\n")
        };
        let (timer, received, block, unknown) =
            (lines(Some(TIMER)), lines(Some(NET_RX)), lines(Some(4)), lines(None));
        assert!(
            timer.contains("the CPU on which the timer expires") && timer.contains("clock_nanosleep"),
            "{timer}"
        );
        assert!(!timer.contains("smp_affinity") && !timer.contains("threaded"), "{timer}");
        assert!(received.contains("DEV/threaded") && unknown.contains("DEV/threaded"), "{received}");
        assert!(block.contains("smp_affinity") && !block.contains("threaded"), "{block}");
    }
}
