//! Its own execution.

use super::advised::{Advised, ITS_PROGRAM, all_by_hand};
use super::info::{
    Blames, CauseGroup, CauseInfo, ChargedTime, Details, LateActivation, ShownBy, Usual, page,
};
use crate::growth::Growth;
use whylate_base::AdvisedFix;

pub(super) const CAUSE: CauseInfo = CauseInfo {
    code: "own-work",
    page: page!("own-work"),
    group: CauseGroup::OwnProgram,
    blames: Blames::LateThread,
    why,
    advice,
    details: Details {
        evidence,
        name_on_time: Some("its own work"),
        usual: Usual::OwnWork,
        shown_by: ShownBy::OwnSamples,
        ..Details::DEFAULT
    },
};

fn why(late: &LateActivation<'_>) -> String {
    let LateActivation { thread, charged, usual_work, at_job_before, .. } = late;
    let faults =
        if late.shows_page_faults { "" } else { " (or handled page faults, which were not recorded)" };
    if let Some(at_job_before) = *at_job_before {
        let own = *charged - at_job_before;
        format!(
            "{thread} was still at the job before when this one was due, for {at_job_before}{faults}; it then ran for {own}, and \
             {usual_work} is usual"
        )
    } else if let Some(Growth { count, from, to }) = late.growth.filter(|_| late.is_whole) {
        format!(
            "{thread} itself ran for {charged}{faults}, and {usual_work} is usual: its response grows from one activation to the next, the {count} longest \
             are the last ones, from {from} to {to}"
        )
    } else if let Some(deadline) = late.work_misses {
        format!(
            "{thread} itself ran for {charged}{faults}, and {usual_work} is usual: with that it misses its deadline of {deadline} as a rule"
        )
    } else if late.is_whole {
        format!("{thread} itself ran for {charged}{faults}, and {usual_work} is usual")
    } else {
        format!("{thread} itself ran for {charged}{faults}; the trace shows only part of this activation")
    }
}

fn evidence(time: &ChargedTime) -> String {
    format!("ran for {}", time.length)
}

fn advice(of: &Advised<'_>) -> Vec<AdvisedFix> {
    if of.catches_up {
        let before =
            "look at the activation before, which took longer than its period: this one only waited for it";
        return all_by_hand(ITS_PROGRAM, &[before]);
    }
    if of.grows {
        let grows = "find what grows from one activation to the next: a list, a table or a string to which each adds, and which it goes \
                     through or copies as a whole; bound it, or empty it in time";
        return all_by_hand(ITS_PROGRAM, &[grows]);
    }
    if of.usually_late {
        let shorten = "shorten what the thread does in each period, leave a part of it to a thread with a lower priority, or give it a longer \
                       deadline: record it with --stacks to see where its time goes";
        return all_by_hand(ITS_PROGRAM, &[shorten]);
    }
    all_by_hand(ITS_PROGRAM, &["find what the thread did differently in this activation: its own code ran"])
}
