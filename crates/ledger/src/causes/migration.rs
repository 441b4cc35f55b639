//! Moved to another CPU, late.

use super::advised::Advised;
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, page};
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "migration",
    page: page!("migration"),
    group: CauseGroup::Placement,
    blames: Blames::Another,
    why,
    advice,
    details: Details::DEFAULT,
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, charged, .. } = late;
    format!("{thread} waited {charged} to be moved to another CPU")
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    vec![AdvisedFix::new("pin the thread to its CPU once, after it raised its priority", of.pin_late())]
}
