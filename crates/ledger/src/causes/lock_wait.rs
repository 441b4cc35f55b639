//! Waited for a lock whose owner was running.

use super::advised::{Advised, ITS_PROGRAM, OF_C_LIBRARY, THEIR_PROGRAM};
use super::info::{Blames, CauseGroup, CauseInfo, ChargedTime, Details, LateActivation, ShownBy, page};
use super::{kernel_lock, other_lock};
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "lock-wait",
    page: page!("lock-wait"),
    group: CauseGroup::Locks,
    blames: Blames::Another,
    why,
    advice,
    details: Details {
        evidence,
        culprit_finding: Some("it held a lock"),
        culprit_holds_cpu: true,
        delays_timer_threads: true,
        shown_by: ShownBy::Lock,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, charged, .. } = late;
    format!("{thread} waited {charged} for a lock that {} held", late.by())
}

fn evidence(time: &ChargedTime) -> String {
    match &time.culprit {
        Some(by) => {
            let waiter = time.expirer.as_ref().map_or_else(String::new, |expirer| format!("{expirer} "));
            format!("{waiter}waited {} for a lock of {by}", time.length)
        }
        None => time.had_the_cpu(),
    }
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    if of.kernel_lock {
        return kernel_lock::advice(of);
    }
    if of.owner_slept {
        let text = format!(
            "let the lock go in {} before it sleeps: priority inheritance does not shorten a sleep",
            of.the_culprit()
        );
        return vec![AdvisedFix::by_hand(text, THEIR_PROGRAM)];
    }
    let shorter = AdvisedFix::by_hand(
        format!(
            "hold the lock for a shorter time in {}, or do not share it with the late thread",
            of.the_culprit()
        ),
        THEIR_PROGRAM,
    );
    if let Some(kind) = of.no_mutex {
        return [vec![shorter], other_lock::advice(of, kind)].concat();
    }
    vec![
        shorter,
        AdvisedFix::by_hand(
            "give the lock priority inheritance, which bounds the wait: PTHREAD_PRIO_INHERIT",
            ITS_PROGRAM,
        ),
        AdvisedFix::by_hand(OF_C_LIBRARY, ITS_PROGRAM),
    ]
}
