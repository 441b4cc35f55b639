//! Runnable to the end of the trace and never run.

use super::info::{Blames, CauseGroup, CauseInfo, Details, LateActivation, page, the_culprit};
use crate::model::culprit::Culprit;
use whylate_base::Priority;

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

fn advice(by: Option<&Culprit>, _late_thread: Priority) -> Vec<String> {
    vec![
        format!("find out why {} does not leave the CPU", the_culprit(by)),
        "run stalld or leave the fair server on: both give starving threads some time".to_owned(),
    ]
}
