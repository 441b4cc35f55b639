//! Runnable to the end of the trace and never run.

use super::advised::{Advised, THEIR_PROGRAM, run_guard};
use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, page};
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "starved",
    page: page!("starved"),
    group: CauseGroup::Placement,
    blames: Blames::Another,
    why,
    advice,
    details: Details::DEFAULT,
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, cpu, response, starved_because, .. } = late;
    format!(
        "{thread} was runnable on CPU {cpu} for {response}, to the end of the trace, and never ran: {} {starved_because}",
        late.by()
    )
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    let by = of.the_culprit();
    vec![
        AdvisedFix::by_hand(format!("find out why {by} does not leave the CPU"), THEIR_PROGRAM),
        of.culprit_moved(),
        AdvisedFix::new(
            "run whylate guard or stalld, or leave the fair server on: each gives starving threads some time",
            run_guard(),
        ),
    ]
}
