//! The ledger of a stream without end: each activation is judged when it has ended, and only late ones are explained.
//!
//! ```text
//! events ──> apply ──> ended activations ──> LateJudge ──late──> charged, with verdict ──> take_late
//!                                              └─not late──> counted
//! ```

use crate::assemble::Assembler;
use crate::explain::doubt_own_work;
use crate::late_judge::LateJudge;
use crate::model::Activation;
use crate::options::Options;
use crate::verdict;
use whylate_base::{Comm, Ns, Tid};
use whylate_events::{Event, Kind, KindSet, TraceInfo};

/// See the module.
pub struct LiveLedger<'a> {
    assembler: Assembler<'a>,
    info: TraceInfo,
}

impl<'a> LiveLedger<'a> {
    /// A ledger of the threads that `options` select; `info` describes the stream. The judge, not `options.deadline`,
    /// decides what is late.
    pub fn new(options: &'a Options, info: TraceInfo, judge: &'a dyn LateJudge) -> LiveLedger<'a> {
        let assembler = Assembler::judged(options, &info, judge);
        let mut ledger = LiveLedger { assembler, info };
        ledger.set_recorded(ledger.info.recorded.unwrap_or(KindSet::NONE));
        ledger
    }

    /// The name of a thread that is known beside the events.
    pub fn assume_name(&mut self, tid: Tid, comm: Comm) {
        let thread = self.assembler.timeline_mut().threads.get_mut(tid);
        if thread.comm().is_empty() {
            thread.assume_name(comm);
        }
    }

    /// From here on, these kinds of events are recorded.
    pub fn set_recorded(&mut self, recorded: KindSet) {
        self.info.recorded = Some(recorded);
        self.assembler.timeline_mut().set_recorded(recorded);
    }

    /// Nothing was recorded for a while, up to `at`: what was in progress is not known.
    pub fn resumes(&mut self, at: Ns) {
        self.assembler.timeline_mut().resumes(at);
    }

    /// Takes in the next event.
    pub fn apply(&mut self, event: &Event) {
        self.assembler.apply(event, event.kind.kind());
    }

    /// The stream is complete up to `now`: threads that have slept since before `until` were done then.
    pub fn settle(&mut self, until: Ns) {
        self.assembler.settle(until);
    }

    /// The stream ends; what is in progress ends with it.
    pub fn end(&mut self) {
        self.assembler.end();
    }

    /// The late activations that have ended since the last call, in the order of their ends, with their verdicts.
    pub fn take_late(&mut self) -> Vec<Activation> {
        let late = self.assembler.take_late();
        let timeline = self.assembler.timeline();
        let explain = |kept: crate::stats::Kept| {
            let mut activation = kept.activation;
            if !timeline.recorded.contains(Kind::PageFault) {
                doubt_own_work(&mut activation);
            }
            let usual = self.assembler.usual(activation.tid)?;
            let judge = self.assembler.options.judge;
            let deadline = self.assembler.missed_deadline(activation.tid, activation.due);
            activation.verdict = verdict::of(timeline, usual, judge, deadline, &activation, &kept.notes);
            verdict::weigh(&mut activation, judge, &self.info);
            verdict::one_cpu::drop_moves(timeline, &self.info, std::iter::once(&mut activation), &mut []);
            Some(activation)
        };
        late.into_iter().filter_map(explain).collect()
    }
}
