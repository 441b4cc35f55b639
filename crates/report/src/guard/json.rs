//! The events of a guard as JSON, one object in each line.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use whylate_base::Ns;
use whylate_threads::guard::{
    BoostEnd, GuardCounts, GuardEvent, ThreadEvent, ThreadEventKind, WatchedThread,
};

/// The name and version of this schema.
pub const SCHEMA: &str = "whylate.guard/1";

/// An event. A member that does not belong to the event is null.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "whylate.guard/1")]
pub struct Line {
    /// Always `whylate.guard/1`. Fields may be added within the version: ignore unknown ones.
    pub schema: String,
    /// `started`, `starving`, `boosted`, `restored`, `refused` or `stopped`.
    pub event: String,
    /// When, by CLOCK_MONOTONIC.
    pub at_ns: i64,
    /// The starving thread.
    pub thread: Option<Thread>,
    /// The thread that had the CPU meanwhile; null: cannot tell.
    pub by: Option<Thread>,
    /// The share of the CPU that it had, 0 to 1.
    pub by_share: Option<f64>,
    /// The CPU that the thread waits for.
    pub cpu: Option<u32>,
    /// For how long it had waited at least.
    pub waited_ns: Option<i64>,
    /// The policy that it was lent (`boosted`), or has again (`restored`), with its parameters.
    pub policy: Option<String>,
    /// For how long it had the lent policy (`restored`).
    pub after_ns: Option<i64>,
    /// For how long it ran meanwhile (`restored`).
    pub ran_ns: Option<i64>,
    /// `restored`: `asleep`, `time-over`, `guard-ends`, `thread-ended`, `changed-meanwhile`, `failed`.
    pub end: Option<String>,
    /// Why: of `refused`, of `restored` with `failed`, and of `boosted` where it is not SCHED_DEADLINE.
    pub reason: Option<String>,
    /// Sentences about the guard and the machine (`started`).
    pub notes: Vec<String>,
    /// What the guard did since it began (`stopped`).
    pub counts: Option<Counts>,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Thread {
    /// Its id.
    pub tid: i32,
    /// Its process.
    pub pid: i32,
    /// Its name.
    pub comm: String,
    /// `fifo`, `rr`, `other`, `batch`, `idle`, `deadline`, `ext`; null: unknown.
    pub policy: Option<String>,
    /// 1 to 99 for `fifo` and `rr`, 0 for all others.
    pub priority: u32,
}

/// What a guard did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Looks at all threads.
    pub looks: u64,
    /// Starving threads; one that starves again counts again.
    pub starving: u64,
    /// Boosts.
    pub boosted: u64,
    /// Starving threads that were not helped.
    pub refused: u64,
    /// The longest wait.
    pub longest_wait_ns: i64,
    /// The guard's own CPU time.
    pub own_cpu_time_ns: i64,
    /// How long it guarded.
    pub elapsed_ns: i64,
}

/// The line of an event at a time of CLOCK_MONOTONIC; `None`: it has none.
pub fn line(event: &GuardEvent, at: Ns) -> Option<Value> {
    let line = match event {
        GuardEvent::Started(notes) => Line { notes: notes.clone(), ..named("started", at) },
        GuardEvent::Thread(event) => of_thread(event),
        GuardEvent::Looked(_) => return None,
        GuardEvent::Stopped(counts) => Line { counts: Some(counts.into()), ..named("stopped", at) },
    };
    Some(crate::json::value(&line))
}

/// The JSON Schema of [`line()`]'s objects.
pub fn schema() -> Value {
    crate::json::schema::<Line>()
}

fn named(event: &str, at: Ns) -> Line {
    Line { schema: SCHEMA.to_owned(), event: event.to_owned(), at_ns: at.0, ..Line::default() }
}

fn of_thread(event: &ThreadEvent) -> Line {
    let starving = &event.starving;
    let line = |name: &str| Line {
        thread: Some((&starving.thread).into()),
        by: starving.by.as_ref().map(|by| (&by.thread).into()),
        by_share: starving.by.as_ref().map(|by| by.share),
        cpu: starving.cpu.known(),
        waited_ns: Some(starving.waited.0),
        ..named(name, event.at)
    };
    match &event.kind {
        ThreadEventKind::Starving => line("starving"),
        ThreadEventKind::Boosted { lent, instead, .. } => {
            Line { policy: Some(lent.to_string()), reason: instead.clone(), ..line("boosted") }
        }
        ThreadEventKind::Refused { reason } => Line { reason: Some(reason.clone()), ..line("refused") },
        ThreadEventKind::Restored { to, after, ran, end } => {
            let (end, reason) = match end {
                BoostEnd::Asleep => ("asleep", None),
                BoostEnd::TimeOver => ("time-over", None),
                BoostEnd::GuardEnds => ("guard-ends", None),
                BoostEnd::ThreadEnded => ("thread-ended", None),
                BoostEnd::ChangedMeanwhile => ("changed-meanwhile", None),
                BoostEnd::Failed(why) => ("failed", Some(why.clone())),
            };
            Line {
                policy: Some(to.to_string()),
                after_ns: Some(after.0),
                ran_ns: crate::json::ns(*ran),
                end: Some(end.to_owned()),
                reason,
                ..line("restored")
            }
        }
    }
}

impl From<&WatchedThread> for Thread {
    fn from(thread: &WatchedThread) -> Thread {
        Thread {
            tid: thread.name.tid.0,
            pid: thread.name.pid.0,
            comm: thread.name.comm.clone(),
            policy: thread.policy.map(|policy| policy.name().to_owned()),
            priority: thread.priority,
        }
    }
}

impl From<&GuardCounts> for Counts {
    fn from(counts: &GuardCounts) -> Counts {
        Counts {
            looks: counts.looks,
            starving: counts.starving,
            boosted: counts.boosted,
            refused: counts.refused,
            longest_wait_ns: counts.longest_wait.0,
            own_cpu_time_ns: counts.own_cpu_time.0,
            elapsed_ns: counts.elapsed.0,
        }
    }
}
