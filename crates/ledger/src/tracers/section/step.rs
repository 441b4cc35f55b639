//! Sections that are no longer than a step of the trace's clock, as of machines that keep time by the tick.

use crate::model::section::CriticalSection;
use whylate_base::Ns;

/// The step of the trace's clock, where the section is not longer than one: then its length is not known.
pub(super) fn within_a_step(section: &CriticalSection, step: Option<Ns>) -> Option<Ns> {
    step.filter(|&step| section.latency <= step)
}

/// The same in words.
pub(super) fn of_step(step: Ns) -> String {
    format!(
        "all times of the trace are whole steps of {step}, as of a clock that counts so: the section may have been as short as \
         a microsecond"
    )
}
