//! The result of an analysis: plain data for the renderers.

pub(crate) mod candidates;
pub(crate) mod chain;
pub(crate) mod culprit;
pub(crate) mod host;
pub(crate) mod irq_kind;
pub(crate) mod peer;
pub(crate) mod place;
pub(crate) mod profile;
pub(crate) mod section;
pub(crate) mod segment;

pub use candidates::{Candidate, CandidateKind, Candidates};
pub use chain::{Chain, ChainElement, ChainInstance, ChainVerdict, Chains, Hop, UnknownHop};
pub(crate) use culprit::Kin;
pub use culprit::{Culprit, irq_name, is_stand_in, softirq_name, thread_name};
pub use host::{ClockJoin, HostDelay, HostPart, HostRecording, HostState, HostStay, HostVcpu};
pub(crate) use irq_kind::IrqKind;
pub use peer::{PacketJoin, PeerHop, PeerPlace, PeerRecording, RoundTrip, TripVerdict};
pub use place::{Place, PlaceRole};
pub use profile::{CpuProfile, GrownLine, SampleCounts};
pub use section::{CpuContext, CriticalSection, FunctionTime, FunctionTimes, Gap};
pub use segment::{Segment, Spread};

use crate::causes::Cause;
use crate::scope::AppliedScope;
use std::collections::HashMap;
use whylate_base::{
    AdvisedFix, Comm, Confidence, Cpu, Evidence, Finding, Ns, Policy, Priority, SourceLocation, Tid,
};
use whylate_events::{Kind, Name, TraceInfo};

/// The whole answer for one trace.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The recording, with its losses and damage.
    pub trace: TraceInfo,
    /// Every selected thread, real-time ones first, then the one with the worst response; of very many, those with the worst.
    pub tasks: Vec<TaskSummary>,
    /// How many selected threads are not among the tasks, because those have worse responses.
    pub unlisted: u64,
    /// The worst activations of each of these threads, in the same order, and the starts of programs last.
    pub activations: Vec<Activation>,
    /// The critical sections that latency tracers kept the trace for.
    pub sections: Vec<CriticalSection>,
    /// What the explained threads spent their CPU time on, where call stacks were sampled.
    pub profiles: Vec<CpuProfile>,
    /// Findings about the trace as a whole, gravest first.
    pub findings: Vec<Finding>,
    /// Kinds of events that the recording lacks, and what therefore cannot be determined.
    pub missing: Vec<Missing>,
    /// The chains of threads, where they were asked for.
    pub chains: Option<Chains>,
    /// The threads to choose from, where no thread was asked for and no real-time thread was active.
    pub candidates: Option<Candidates>,
    /// Of the threads that are not explained, the one that waited longest for a CPU, where that is far more than any that is explained: of a
    /// program, or of the kernel where it comes before those by its priority.
    pub waits_beside: Option<Candidate>,
    /// The part of the trace that was asked for; `None` where that is all of it.
    pub scope: Option<AppliedScope>,
    /// A guest whose CPUs were shown to stand still again and again: the hypervisor may have had the time of a handler that
    /// took long.
    pub stands_still: bool,
    /// The recording of the guest's host, where one was joined.
    pub host: Option<HostRecording>,
    /// The recording of another machine, where one was joined by packets.
    pub peer: Option<PeerRecording>,
}

impl Explanation {
    /// True of a recording that has no switches, and so does not show which thread had a CPU.
    pub fn lacks_switches(&self) -> bool {
        self.lacks(Kind::Switch)
    }

    fn lacks(&self, kind: Kind) -> bool {
        self.missing.iter().any(|missing| missing.kind == kind && !missing.is_partial)
    }

    /// True where something is known to have delayed a thread.
    fn shows_a_delay(&self) -> bool {
        let known = |activation: &Activation| {
            !matches!(activation.verdict.cause, Cause::OwnWork | Cause::Unexplained)
        };
        self.activations.iter().any(known)
    }

    /// True where nothing is known of the threads but that events show them: whether one was delayed is unknown.
    pub fn shows_no_delays(&self) -> bool {
        self.lacks_switches() && self.sections.is_empty() && !self.shows_a_delay()
    }

    /// True where the trace has no wake-up, no thread is known to have run after it was due, and nothing is known to have delayed one.
    pub fn shows_no_lateness(&self) -> bool {
        self.lacks(Kind::Wakeup)
            && self.lacks(Kind::Waking)
            && self.sections.is_empty()
            && self.chains.is_none()
            && self.findings.is_empty()
            && self.tasks.iter().all(|task| task.latency.is_none())
            && !self.shows_a_delay()
    }

    /// The worst activations by thread, each thread's worst first.
    pub fn activations_by_thread(&self) -> HashMap<Tid, Vec<&Activation>> {
        by_thread(self.activations.iter())
    }
}

/// Activations by thread, in their order.
pub(crate) fn by_thread<'a>(
    activations: impl Iterator<Item = &'a Activation>,
) -> HashMap<Tid, Vec<&'a Activation>> {
    let mut by_thread: HashMap<Tid, Vec<&Activation>> = HashMap::new();
    for activation in activations {
        by_thread.entry(activation.tid).or_default().push(activation);
    }
    by_thread
}

/// A kind of event that was not recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The kind; its tracepoints are what to record.
    pub kind: Kind,
    /// What cannot be determined without it.
    pub cannot_tell: &'static str,
    /// There are events of the kind, which do not have all that a kernel records with them.
    pub is_partial: bool,
}

impl Missing {
    /// There are no events of the kind.
    pub(crate) fn all_of(kind: Kind, cannot_tell: &'static str) -> Missing {
        Missing { kind, cannot_tell, is_partial: false }
    }
}

/// One thread over the whole trace.
#[derive(Clone, Debug)]
pub struct TaskSummary {
    /// Its id.
    pub tid: Tid,
    /// Its name in most of its activations, or in most of those in which it was real-time, if it ever was.
    pub comm: Comm,
    /// Its policy then, where the recording shows it.
    pub policy: Option<Policy>,
    /// Its priority then, without inheritance.
    pub priority: Priority,
    /// How many activations were seen, whole or cut off.
    pub activations: u64,
    /// Due to running, of the activations that ran.
    pub latency: Option<Spread>,
    /// Due to done, of the activations seen whole.
    pub response: Option<Spread>,
    /// All charged time of all activations by cause, largest first.
    pub causes: Vec<(Cause, Ns)>,
}

/// One activation of a thread: due, woken, running, done.
#[derive(Clone, Debug)]
pub struct Activation {
    /// The thread.
    pub tid: Tid,
    /// Its name.
    pub comm: Comm,
    /// Its own priority then, without inheritance.
    pub priority: Priority,
    /// The CPU it first ran on, or was queued on if it never ran.
    pub cpu: Cpu,
    /// What made it due.
    pub trigger: Trigger,
    /// When it should have been able to run.
    pub due: Ns,
    /// When it was woken; `None` if the trace begins with it runnable.
    pub woken: Option<Ns>,
    /// When it was first switched in; `None` if it never was.
    pub running: Option<Ns>,
    /// When it went to sleep for its next period or input; `None` if the trace ends before.
    pub done: Option<Ns>,
    /// The end of what the ledger covers: `done`, or the end of the trace.
    pub end: Ns,
    /// Segments that tile `due..end` exactly, in time order.
    pub ledger: Vec<Segment>,
    /// What made it late.
    pub verdict: Verdict,
    /// What the CPUs involved did from `due` to `end`.
    pub tracks: Vec<CpuTrack>,
    /// The thread executed a program in it, or became real-time: loading and linking a program takes long, and no period waits for it.
    /// Or it went on with that after a thread that it started was ready; or a new thread of the program waited for it.
    pub starts_program: bool,
    /// The thread, which had run several times before, ended in it by a call of its own (exit(2), exit_group(2)), or was ended by
    /// another thread or a signal: what a program does before it ends is part of it, and no period waits for that.
    pub ends_program: bool,
    /// Where in the programs its time went, where call stacks were sampled.
    pub places: Vec<Place>,
    /// What the host did in its stolen segments, where the host's recording was joined: by segment, the most first.
    pub host: Vec<HostPart>,
}

impl Activation {
    /// The activation of a thread from `due` to `end`, with nothing known of it: woken by what was not recorded, on
    /// CPU 0, with an empty ledger and no verdict. Every other way to make one fills in this.
    pub fn of(tid: Tid, comm: Comm, priority: Priority, due: Ns, end: Ns) -> Activation {
        Activation {
            tid,
            comm,
            priority,
            cpu: Cpu::default(),
            trigger: Trigger::Wakeup,
            due,
            woken: None,
            running: None,
            done: None,
            end,
            ledger: Vec::new(),
            verdict: Verdict::none(),
            tracks: Vec::new(),
            starts_program: false,
            ends_program: false,
            places: Vec::new(),
            host: Vec::new(),
        }
    }

    /// Due to running, if it ran and was seen to become due, and did not run already.
    pub fn latency(&self) -> Option<Ns> {
        let wakes =
            !matches!(self.trigger, Trigger::TraceStart | Trigger::Marker) && !self.lacks_its_wakeup();
        let running = self.running.filter(|_| wakes)?;
        Some(running.since(self.due))
    }

    /// True when no wake-up of it is in the trace: it is due when it was first seen to run.
    pub fn lacks_its_wakeup(&self) -> bool {
        self.trigger == Trigger::Wakeup && self.woken.is_none() && self.running == Some(self.due)
    }

    /// True when it was seen from its beginning to its end.
    pub fn is_whole(&self) -> bool {
        self.done.is_some() && self.trigger != Trigger::TraceStart
    }

    /// True of one that says how the thread keeps its periods. What the trace shows from the middle on has no response to be
    /// judged by, nor has the start or the end of a program.
    pub fn is_period(&self) -> bool {
        self.trigger != Trigger::TraceStart && !self.is_start_or_end()
    }

    /// True where a program starts or ends in it.
    pub fn is_start_or_end(&self) -> bool {
        self.starts_program || self.ends_program
    }

    /// Where in the programs the time of a segment went, by its index in the ledger: of several places the first, which
    /// is the late thread's own.
    pub fn place(&self, segment: usize) -> Option<&SourceLocation> {
        self.places.iter().find(|place| place.segment == segment).map(|place| &place.location)
    }

    /// Due to the end of what was seen of it.
    pub fn response(&self) -> Ns {
        self.end.since(self.due)
    }
}

/// What made a thread due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// A timer expired; due is its expiry.
    Timer,
    /// A thread woke it.
    Thread {
        /// The waker.
        tid: Tid,
        /// Its name.
        comm: Comm,
    },
    /// A thread woke it, or an interrupt that came upon that thread: the recording shows no interrupts, and not in what state a CPU was.
    Upon {
        /// The thread.
        tid: Tid,
        /// Its name.
        comm: Comm,
    },
    /// An interrupt handler woke it.
    Irq {
        /// The line.
        irq: u32,
        /// The handler's name.
        name: Name,
    },
    /// A softirq woke it.
    Softirq {
        /// The softirq's number.
        vec: u32,
    },
    /// A marker of its own began it.
    Marker,
    /// It was woken, by what was not recorded.
    Wakeup,
    /// The trace begins in the middle of it; due is where it was first seen.
    TraceStart,
    /// It ran already; due is where the gap begins ([`Activation::gap`]).
    Running,
}

/// The answer for one activation.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// What made it late.
    pub cause: Cause,
    /// The culprit, where there is one.
    pub by: Option<Culprit>,
    /// The time charged to cause and culprit.
    pub charged: Ns,
    /// What it answers for: the response, or the latency where that is judged.
    pub judged: Ns,
    /// The time charged as a share of that, 0 to 1.
    pub share: f64,
    /// How sure the verdict is.
    pub confidence: Confidence,
    /// One sentence.
    pub why: String,
    /// What to do, best first; nothing where nothing delayed it: what took most of the time then is usual.
    pub fix: Vec<AdvisedFix>,
    /// What shows it.
    pub evidence: Vec<Evidence>,
}

impl Verdict {
    /// Before there is one.
    pub(crate) fn none() -> Verdict {
        Verdict {
            cause: Cause::Unexplained,
            by: None,
            charged: Ns::ZERO,
            judged: Ns::ZERO,
            share: 0.0,
            confidence: Confidence::Low,
            why: String::new(),
            fix: Vec::new(),
            evidence: Vec::new(),
        }
    }
}

/// What one CPU did during an activation.
#[derive(Clone, Debug, PartialEq)]
pub struct CpuTrack {
    /// The CPU.
    pub cpu: Cpu,
    /// In time order, without overlaps; interrupts cut the thread below them in two.
    pub slices: Vec<Slice>,
}

/// An interval of a CPU's time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// Where it begins.
    pub start: Ns,
    /// Where it ends.
    pub end: Ns,
    /// What the CPU executed.
    pub on_cpu: OnCpu,
}

/// What a CPU executes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OnCpu {
    /// The idle task.
    Idle,
    /// A thread.
    Task {
        /// Its id.
        tid: Tid,
        /// Its name.
        comm: Comm,
        /// Its priority.
        priority: Priority,
    },
    /// A hard interrupt handler.
    Irq {
        /// The line, or `None` for an architecture vector or a timer interrupt seen only by its timers.
        irq: Option<u32>,
        /// Its name.
        name: Name,
    },
    /// A softirq.
    Softirq {
        /// Its number.
        vec: u32,
    },
    /// Events were lost here: unknown.
    Unknown,
}
