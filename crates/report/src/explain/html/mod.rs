//! An explanation as one HTML file.
//!
//! ```text
//! answer ─ findings ─ threads ─ per thread: worst activation ─ limits
//!            each with verdict, timeline (SVG), ledger with folded call stacks, evidence, fix;
//!            own work as a flame graph
//! ```

pub(crate) mod activation;
mod candidates;
mod chains;
mod flame;
mod own_work;
mod section;
pub(crate) mod summary;

use crate::explain::facts;
use crate::html::page::page;
use crate::words;
use maud::{Markup, html};
use summary::anchor;
use whylate_ledger::{Activation, Explanation, TaskSummary};

/// An explanation as one HTML file.
pub fn render(explanation: &Explanation) -> String {
    let title = facts::title(explanation);
    let by_thread = explanation.activations_by_thread();
    let main = html! {
        (candidates::write(explanation))
        (summary::findings(&explanation.findings))
        (summary::closing(explanation))
        (chains::write(explanation))
        @for one in &explanation.sections { (section::write(one)) }
        (summary::tasks(explanation))
        @for task in &explanation.tasks {
            (of_task(explanation, task, by_thread.get(&task.tid).map_or(&[], Vec::as_slice)))
        }
        (summary::host(explanation))
        (summary::peer(explanation))
        (summary::limits(explanation))
    };
    page(&title, &summary::header(explanation, &title), &main, &summary::footer(&explanation.trace))
}

/// A thread's worst activation in full, the next ones folded.
fn of_task(explanation: &Explanation, task: &TaskSummary, worst: &[&Activation]) -> Markup {
    let Some((first, next)) = worst.split_first() else { return html! {} };
    let stacks = explanation.trace.stacks.as_deref();
    let profile = explanation.profiles.iter().find(|profile| profile.tid == task.tid);
    html! {
        section id=(anchor(task)) {
            h2 {
                (words::thread(&task.comm, task.tid))
                small { (words::scheduling(task.policy, task.priority)) " · worst of " (words::plural(task.activations, "activation")) }
            }
            article { (activation::heading(first)) (activation::body(first, stacks)) }
            @for next in next {
                details { summary { (activation::heading(next)) } (activation::body(next, stacks)) }
            }
            @if let (Some(profile), Some(stacks)) = (profile, stacks) { (own_work::profile(profile, stacks)) }
        }
    }
}
