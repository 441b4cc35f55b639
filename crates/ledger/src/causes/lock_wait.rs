//! Waited for a lock whose owner was running.

use super::info::{
    Blames, CauseGroup, CauseInfo, ChargedTime, Details, LateActivation, ShownBy, page, the_culprit,
};
use crate::model::culprit::Culprit;
use whylate_base::Priority;

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
        Some(by) => format!("waited {} for a lock of {by}", time.length),
        None => time.had_the_cpu(),
    }
}

fn advice(by: Option<&Culprit>, _late_thread: Priority) -> Vec<String> {
    vec![
        format!(
            "hold the lock for a shorter time in {}, or do not share it with the late thread",
            the_culprit(by)
        ),
        "give the lock priority inheritance, which bounds the wait: PTHREAD_PRIO_INHERIT".to_owned(),
    ]
}
