//! Waited for a lock whose owner was itself kept off the CPU.

use super::advised::{Advised, ITS_PROGRAM, KERNEL, OF_C_LIBRARY};
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, ShownBy, USE_PREEMPT_RT, page};
use super::{kernel_lock, other_lock};
use crate::model::culprit::Culprit;
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "lock-inversion",
    page: page!("lock-inversion"),
    group: CauseGroup::Locks,
    blames: Blames::Another,
    why,
    advice,
    details: Details {
        culprit_holds_cpu: true,
        delays_timer_threads: true,
        shown_by: ShownBy::Lock,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, charged, .. } = late;
    let owner = late.lock_owner.map_or_else(|| "another thread".to_owned(), Culprit::to_string);
    format!(
        "{thread} waited for a lock of {owner}, which {} kept off its CPU for {charged}: priority inversion, because \
         the lock does not inherit priority",
        late.by()
    )
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    let move_culprit = AdvisedFix::new(
        format!("keep {} off the CPU of the lock's owner", of.the_culprit()),
        of.move_culprit(),
    );
    if of.kernel_lock {
        let mut fixes = kernel_lock::advice(of);
        fixes.push(move_culprit);
        fixes.push(AdvisedFix::by_hand(USE_PREEMPT_RT[3], KERNEL));
        return fixes;
    }
    if let Some(kind) = of.no_mutex {
        return [other_lock::advice(of, kind), vec![move_culprit]].concat();
    }
    vec![
        AdvisedFix::by_hand(
            "use a lock with priority inheritance: pthread_mutexattr_setprotocol(PTHREAD_PRIO_INHERIT)",
            ITS_PROGRAM,
        ),
        move_culprit,
        AdvisedFix::by_hand(OF_C_LIBRARY, ITS_PROGRAM),
    ]
}
