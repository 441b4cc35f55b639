//! The wire types of schema `whylate.explain/1`.
//!
//! Apart from the ledger's own types, so that those can change without changing the
//! wire. All times are nanoseconds; instants are of the trace's clock.

pub use super::actors::{By, Class, Rank, Spread};
use super::chain::Chain;
pub use super::confidence::Confidence;
use super::host::{Host, HostPart};
use super::location::Where;
use super::peer::Peer;
use super::profile::Profile;
use super::recording::Trace;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use whylate_base::Action;

/// The name and version of this schema.
pub const SCHEMA: &str = "whylate.explain/1";

/// Why each activation of a real-time thread was late.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "whylate.explain/1")]
pub struct Document {
    /// Always `whylate.explain/1`. Fields may be added within the version: ignore unknown ones.
    pub schema: String,
    /// The recording.
    pub trace: Trace,
    /// The selected threads, real-time ones first, then the one with the worst response; of very many, those with the worst.
    pub tasks: Vec<Task>,
    /// How many selected threads are not among `tasks`, because those have worse responses.
    #[serde(default)]
    pub unlisted_tasks: u64,
    /// The worst activations of each selected thread, in the same order, and the starts of programs last.
    pub activations: Vec<Activation>,
    /// The critical sections that the recording was kept for: of the irqsoff, preemptoff and preemptirqsoff tracers.
    #[serde(default)]
    pub sections: Vec<Section>,
    /// What the threads in `tasks` spent their CPU time on, where call stacks were sampled.
    #[serde(default)]
    pub profiles: Vec<Profile>,
    /// Findings about the trace as a whole, gravest first.
    pub findings: Vec<Finding>,
    /// Kinds of events that were not recorded, and what is unknown without them.
    pub missing: Vec<Missing>,
    /// Chains of threads, where they were asked for, the worst first: chosen ones, or those with explained threads where
    /// there are some.
    #[serde(default)]
    pub chains: Vec<Chain>,
    /// How many more chains there were.
    #[serde(default)]
    pub more_chains: u64,
    /// The threads to choose from, where no thread was asked for and no real-time thread was active; null otherwise.
    #[serde(default)]
    pub candidates: Option<Candidates>,
    /// Of the programs' threads that are not explained, the one that waited longest for a CPU, where that is far more than any that is
    /// explained; null otherwise.
    #[serde(default)]
    pub waits_beside: Option<Candidate>,
    /// The part of the recording that was asked for; null where that is all of it.
    #[serde(default)]
    pub scope: Option<Scope>,
    /// The recording of the guest's host (`--host`); null where none was joined.
    #[serde(default)]
    pub host: Option<Host>,
    /// The recording of another machine (`--peer`); null where none was joined.
    #[serde(default)]
    pub peer: Option<Peer>,
}

/// The threads to choose from. The worst of them are in `tasks`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Candidates {
    /// Why there are candidates, in one sentence.
    pub why: String,
    /// False where no event shows a priority or a policy.
    pub shows_policies: bool,
    /// Threads of the recorded command first, then those of other programs, of recorders, and the kernel's own; each by its worst
    /// latency, or by its longest wait where the trace has no wake-ups. At most 10.
    pub threads: Vec<Candidate>,
    /// How many more there are.
    pub more: u64,
}

/// A thread that may be meant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Candidate {
    /// Its id.
    pub tid: i32,
    /// Its last name.
    pub comm: String,
    /// Its scheduling policy; null where the recording does not show it.
    pub policy: Option<String>,
    /// Its class, priority and nice value, without inheritance.
    #[serde(flatten)]
    pub rank: Rank,
    /// How many activations were seen, whole or cut off.
    pub activations: u64,
    /// The longest time from due to running, or to the end of the trace where it never ran; null if no activation was seen
    /// from its beginning, or without wake-ups.
    pub max_latency_ns: Option<i64>,
    /// The longest time that it was runnable and did not run, woken or preempted; null if it never waited.
    #[serde(default)]
    pub max_wait_ns: Option<i64>,
    /// What it belongs to.
    pub kind: CandidateKind,
    /// True when it is in `tasks`.
    pub explained: bool,
}

/// What a thread belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CandidateKind {
    /// The command that was recorded, and what it started.
    Command,
    /// Another program.
    Program,
    /// A program that records traces, such as trace-cmd.
    Recorder,
    /// The kernel.
    Kernel,
}

/// The part of a recording whose activations are reported: those in progress between the instants that ran on the CPUs, or
/// that waited for them where they never ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scope {
    /// The first instant; null where none was asked for.
    pub from_ns: Option<i64>,
    /// The last instant; null where none was asked for.
    pub to_ns: Option<i64>,
    /// The CPUs, such as `0-3,8`; null where none were asked for.
    pub cpus: Option<String>,
}

/// One thread over the whole recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Task {
    /// Its id.
    pub tid: i32,
    /// Its name in most of its activations, or in most of those in which it was real-time, if it ever was.
    /// So are its policy and its priority.
    pub comm: String,
    /// Its scheduling policy: `fifo`, `rr`, `deadline`, `other`, `batch`, `idle` or `ext`.
    /// Null where the recording does not show, which of `sched_switch` alone is the rule:
    /// `class` is known then all the same.
    pub policy: Option<String>,
    /// Its class, priority and nice value, without inheritance.
    #[serde(flatten)]
    pub rank: Rank,
    /// How many activations were seen, whole or cut off.
    pub activations: u64,
    /// Due to running; null if that was never seen.
    pub latency_ns: Option<Spread>,
    /// Due to done; null if no activation was seen whole.
    pub response_ns: Option<Spread>,
    /// All charged time of all activations, by cause code.
    pub causes: BTreeMap<String, i64>,
}

/// One trip of a thread: due, woken, running, done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Activation {
    /// The thread; negative where the recording does not give its id.
    pub tid: i32,
    /// Its name.
    pub comm: String,
    /// Its class, priority and nice value then, without inheritance.
    #[serde(flatten)]
    pub rank: Rank,
    /// The CPU it first ran on, or was queued on if it never ran; null where that is not recorded.
    pub cpu: Option<u32>,
    /// What made it due.
    pub trigger: Trigger,
    /// When it should have been able to run.
    pub due_ns: i64,
    /// When it was woken; null if the trace begins with it runnable.
    pub woken_ns: Option<i64>,
    /// When it was first switched in; null if it never was.
    pub running_ns: Option<i64>,
    /// When it went to sleep for its next period or input; null if the trace ends before.
    pub done_ns: Option<i64>,
    /// Due to running; null if it never ran, if it ran already (a marker), or if the trace begins too late to show.
    pub latency_ns: Option<i64>,
    /// Due to done, or to the end of the trace where `done_ns` is null.
    pub response_ns: i64,
    /// Whether the thread executed a program in it, or became real-time: such an activation is no part of the distributions, and is
    /// listed after the others of its thread.
    #[serde(default)]
    #[schemars(!default)]
    pub starts_program: bool,
    /// Whether the thread, which had periods before, ended in it by a call of its own: it is counted and listed as the start of a program is.
    #[serde(default)]
    #[schemars(!default)]
    pub ends_program: bool,
    /// Where the time went. The entries follow on one another without a gap: their `ns`
    /// add up to `response_ns` exactly.
    pub ledger: Vec<Entry>,
    /// What made it late.
    pub verdict: Verdict,
}

/// What made a thread due.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trigger {
    /// The sort of trigger.
    pub kind: TriggerKind,
    /// The trigger's source; null for `timer`, `wakeup` and `trace-start`.
    pub by: Option<By>,
}

/// The sorts of triggers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TriggerKind {
    /// A timer expired; `due_ns` is its expiry.
    Timer,
    /// A thread woke it.
    Thread,
    /// An interrupt handler woke it.
    Irq,
    /// A softirq woke it.
    Softirq,
    /// A marker of its own began it.
    Marker,
    /// It was woken, by what was not recorded.
    Wakeup,
    /// The trace begins in the middle of it.
    TraceStart,
    /// It ran already; `due_ns` is where it was held up, and `running_ns` where it went on.
    Running,
}

/// A stretch of time charged to one cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Entry {
    /// The cause code, as `whylate explain --code CODE` explains it.
    pub cause: String,
    /// Its length.
    pub ns: i64,
    /// Where it begins.
    pub start_ns: i64,
    /// The CPU it happened on; null where that is not recorded.
    pub cpu: Option<u32>,
    /// The culprit; null where there is none.
    pub by: Option<By>,
    /// The owner of the lock that was waited for; null where no lock was.
    pub owner: Option<By>,
    /// How sure the charge is.
    pub confidence: Confidence,
    /// Where in the program it happened; null where no call stack shows it.
    #[serde(rename = "where", default)]
    pub location: Option<Where>,
    /// What the host did meanwhile, the most first; only of the cause `stolen`, and where the host's recording was joined.
    #[serde(default)]
    pub host: Vec<HostPart>,
}

/// The answer for one activation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The cause code.
    pub cause: String,
    /// The culprit; null where there is none.
    pub by: Option<By>,
    /// The time charged to cause and culprit.
    pub charged_ns: i64,
    /// That time as a share of `response_ns`, 0 to 1; of `latency_ns` where the latency is judged.
    pub share: f64,
    /// How sure the verdict is.
    pub confidence: Confidence,
    /// One sentence.
    pub why: String,
    /// What to do, best first.
    pub fix: Vec<String>,
    /// The same fixes with the settings that each changes, which `whylate plan --from` plans; empty in documents of older
    /// versions.
    #[serde(default)]
    #[schemars(!default)]
    pub fixes: Vec<Fix>,
    /// What shows it.
    pub evidence: Vec<Evidence>,
}

/// A fix with the settings that it changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fix {
    /// What to do.
    pub text: String,
    /// The settings; of kind `code` the reason why no setting makes it. Null in documents of older versions.
    #[schemars(with = "Option<super::action::Action>")]
    pub action: Option<Action>,
}

/// One observation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// When it was seen; null for a setting or a sum.
    pub at_ns: Option<i64>,
    /// Where it was seen; null if not on one CPU.
    pub cpu: Option<u32>,
    /// What was seen.
    pub what: String,
    /// Where in a program it was seen; null where no call stack shows it.
    #[serde(rename = "where", default)]
    pub location: Option<Where>,
}

/// Something about the recording as a whole that a person should know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Stable kebab-case code; of a cause where a cause stands behind it.
    pub code: String,
    /// How much it matters.
    pub severity: Severity,
    /// One line.
    pub title: String,
    /// Why it matters and how it comes about.
    pub why: String,
    /// What shows it.
    pub evidence: Vec<Evidence>,
    /// What to do, best first.
    pub fix: Vec<String>,
    /// The same fixes with the settings that each changes, which `whylate plan --from` plans; empty in documents of older
    /// versions.
    #[serde(default)]
    #[schemars(!default)]
    pub fixes: Vec<Fix>,
}

/// How much a finding matters to a task with a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know; nothing is late because of it.
    Info,
    /// Makes tasks late now and then, or will under load.
    Warning,
    /// Makes a task miss its time by a lot, or hang.
    Error,
}

/// A stretch of time in which a CPU had interrupts off, or could not switch threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Section {
    /// The tracer that measured it: `irqsoff`, `preemptoff` or `preemptirqsoff`.
    pub tracer: String,
    /// The CPU; null where that is not recorded.
    pub cpu: Option<u32>,
    /// The thread that was current, a bystander where `of_interrupt`; null where it is not recorded.
    pub thread: Option<By>,
    /// True when the section is an interrupt's own.
    pub of_interrupt: bool,
    /// False where it delays no thread: an idle CPU sleeps with interrupts disabled, and a spin for a lock stops when
    /// another thread is to run.
    pub delays: bool,
    /// The function in which it began; null where the file does not have it.
    pub opened_by: Option<String>,
    /// The function in which it ended; null where the file does not have it.
    pub closed_by: Option<String>,
    /// When it began.
    pub start_ns: i64,
    /// How long it was.
    pub latency_ns: i64,
    /// Where the time went, the most first. The parts, `rest_ns` and `unexplained_ns` add up to `latency_ns` exactly.
    pub parts: Vec<SectionPart>,
    /// The time of functions that are not listed.
    pub rest_ns: i64,
    /// The time without any line.
    pub unexplained_ns: i64,
    /// What a part's time is; null where there are none.
    pub times: Option<PartTimes>,
    /// The longest stretches without any line of the trace, longest first.
    pub gaps: Vec<Gap>,
    /// The stack at its end, innermost function first; may be empty.
    pub stack: Vec<String>,
    /// How sure it is where the time went.
    pub confidence: Confidence,
    /// One sentence.
    pub why: String,
    /// What to do, best first.
    pub fix: Vec<String>,
}

/// What the time of a section's part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PartTimes {
    /// The function's own, without those it called.
    Own,
    /// From its entry to that of the next function.
    UntilNext,
}

/// What one function took of a section.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SectionPart {
    /// The function.
    pub function: String,
    /// On whose behalf: `thread`, `softirq` or `irq`.
    pub context: String,
    /// How long in all.
    pub ns: i64,
    /// How often it was entered.
    pub calls: u64,
}

/// A stretch without any line of the trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gap {
    /// Where it begins.
    pub start_ns: i64,
    /// Its length.
    pub ns: i64,
    /// The function of the line before; empty where there is none.
    pub after: String,
    /// The function of the line behind; empty where there is none.
    pub before: String,
}

/// A kind of event that was not recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Missing {
    /// The kind.
    pub kind: String,
    /// The tracepoints to record, as `group:event`.
    pub tracepoints: Vec<String>,
    /// What is unknown without it.
    pub cannot_tell: String,
}
