//! Facts about the recorded machine from before a cut: a recorder writes them once, when it starts, and they hold for
//! what is cut out as well.
//!
//! What threads were at the start (policies, CPUs they may use) is left behind: by then it may be otherwise.

use crate::cut::Cut;
use crate::tracepoint::Tracepoint;
use whylate_events::{Event, EventKind, Fact, Kind, Marker};

/// So many lines are more than any recorder writes.
const MOST: usize = 4096;

/// Holds facts until the first event that is kept.
pub(crate) struct EarlyFacts<F> {
    /// `None` from the first event on that is kept, and where no markers are.
    held: Option<Vec<F>>,
}

impl<F> EarlyFacts<F> {
    pub(crate) fn of(cut: &Cut) -> EarlyFacts<F> {
        let is_part = cut.scope.from.is_some() || cut.scope.cpus.is_some() || !cut.tasks.is_empty();
        let has_markers = cut.takes(Kind::Marker, &Tracepoint::of(&EventKind::Marker(Marker::default())));
        EarlyFacts { held: (is_part && has_markers).then(Vec::new) }
    }

    /// True while facts are waited for.
    #[inline]
    pub(crate) fn waits(&self) -> bool {
        self.held.is_some()
    }

    /// Holds an event that the cut leaves out, if it is a fact about the machine.
    pub(crate) fn hold(&mut self, event: &Event, held: impl FnOnce() -> F) {
        if let (Some(all), EventKind::Marker(text)) = (&mut self.held, event.kind)
            && all.len() < MOST
            && Fact::parse(text.as_str()).is_some_and(|fact| is_of_machine(&fact))
        {
            all.push(held());
        }
    }

    /// The facts, to be written before the first event that is kept.
    pub(crate) fn take(&mut self) -> Vec<F> {
        self.held.take().unwrap_or_default()
    }
}

fn is_of_machine(fact: &Fact) -> bool {
    match fact {
        Fact::RtRuntimeUs(_)
        | Fact::RtPeriodUs(_)
        | Fact::RtGroupSched(_)
        | Fact::PreemptRt(_)
        | Fact::FairServerNs(_)
        | Fact::Hypervisor(_)
        | Fact::Workload { .. }
        | Fact::Isolated(_)
        | Fact::RecordedCpus(_)
        | Fact::TaintedModule { .. } => true,
        Fact::Policy { .. } | Fact::Affinity { .. } | Fact::Callback { .. } => false,
    }
}
