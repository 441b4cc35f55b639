//! Advice about a thread that ended soon after it began: its id is over before anything can be done with it.

use whylate_base::{Action, AdvisedFix, ThreadAction};

/// What starts it, as a loop of a shell does, is to have other CPUs. `moved` is of the next one of that name.
pub(super) fn start_elsewhere(culprit: &str, addition: &str, moved: Action) -> AdvisedFix {
    let text = format!(
        "start {culprit} on another CPU, as it ends soon: taskset -c CPUS COMMAND, or taskset -pc CPUS TID of what starts it, whose \
         children inherit it{addition}"
    );
    let moved = match moved {
        Action::Thread { set } => Action::Thread {
            set: set.into_iter().map(|thread| ThreadAction { tid: None, ..thread }).collect(),
        },
        other => other,
    };
    AdvisedFix::new(text, moved)
}
