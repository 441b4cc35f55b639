//! From a watch's types to the wire's.

use super::document::{
    Bucket, Cost, DeadlineFrom, Distribution, Group, Line, SCHEMA, Summary, Thread, WatchedThread, Window,
};
use crate::explain::json::from_ledger::activation;
use serde_json::Value;
use whylate_base::Ns;
use whylate_investigate::watch::{
    self as watched, KeptWindow, LateActivation, LateGroup, LimitKind, WatchCost, WatchEvent, WatchReport,
};
use whylate_stats::Histogram;

/// The line of an event at a time of CLOCK_REALTIME; `None`: it has none.
pub fn line(event: &WatchEvent<'_>, at: Ns) -> Option<Value> {
    let line = match event {
        WatchEvent::Started(notes) => Line { notes: notes.clone(), ..named("started", at) },
        WatchEvent::Late(late) => of_late(late),
        WatchEvent::Recording { dropped, paused } => Line {
            dropped: texts(dropped),
            paused_ns: paused.map(|paused| paused.0),
            ..named("recording", at)
        },
        WatchEvent::Reloaded(result) => Line { reason: result.clone().err(), ..named("reloaded", at) },
        WatchEvent::Progress(_) => return None,
    };
    Some(crate::json::value(&line))
}

/// The line of the whole watch.
pub fn summary(report: &WatchReport) -> Value {
    let line = Line { summary: Some(Summary::from(report)), ..named("summary", report.began) };
    crate::json::value(&line)
}

fn named(event: &str, at: Ns) -> Line {
    Line { schema: SCHEMA.to_owned(), event: event.to_owned(), at_ns: at.0, ..Line::default() }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

fn of_late(late: &LateActivation) -> Line {
    let activation = activation(&late.activation);
    Line {
        thread: Some(Thread { tid: activation.tid, comm: activation.comm, rank: activation.rank }),
        due_ns: Some(activation.due_ns),
        latency_ns: activation.latency_ns,
        response_ns: Some(activation.response_ns),
        deadline_ns: Some(late.limit.limit.0),
        deadline_from: Some(late.limit.kind.into()),
        verdict: Some(activation.verdict),
        ledger: activation.ledger,
        window: late.window.clone(),
        not_kept: late.not_kept.clone(),
        dropped: texts(&late.dropped),
        ..named("late", late.at)
    }
}

impl From<LimitKind> for DeadlineFrom {
    fn from(kind: LimitKind) -> DeadlineFrom {
        match kind {
            LimitKind::Deadline => DeadlineFrom::Deadline,
            LimitKind::Period => DeadlineFrom::Period,
            LimitKind::History => DeadlineFrom::History,
        }
    }
}

impl From<&WatchReport> for Summary {
    fn from(report: &WatchReport) -> Summary {
        Summary {
            complete: report.is_complete,
            elapsed_ns: report.elapsed.0,
            late: report.late,
            counted_only: report.counted_only,
            late_before: report.late_before,
            threads: report.threads.iter().map(thread).collect(),
            groups: report.groups.iter().map(group).collect(),
            kept: report.kept.iter().map(window).collect(),
            cost: cost(&report.cost),
            dropped: report.dropped.clone(),
            notes: report.notes.clone(),
        }
    }
}

fn thread(thread: &watched::WatchedName) -> WatchedThread {
    WatchedThread {
        comm: thread.name.clone(),
        activations: thread.activations,
        late: thread.late,
        deadline_ns: thread.limit.map(|limit| limit.limit.0),
        deadline_from: thread.limit.map(|limit| limit.kind.into()),
        latency: distribution(&thread.latency),
        response: distribution(&thread.response),
    }
}

fn distribution(histogram: &Histogram) -> Distribution {
    Distribution {
        count: histogram.count(),
        sum_ns: histogram.sum(),
        min_ns: histogram.min().map(|min| min.0),
        max_ns: histogram.max().map(|max| max.0),
        overflow: histogram.overflow(),
        buckets: histogram
            .buckets()
            .iter()
            .map(|bucket| Bucket { from_ns: bucket.from.0, upto_ns: bucket.upto.0, count: bucket.count })
            .collect(),
    }
}

fn group(group: &LateGroup) -> Group {
    Group {
        thread: group.thread.clone(),
        cause: group.cause.clone(),
        culprit: group.culprit.clone(),
        count: group.count,
        worst_ns: group.worst.0,
        first_ns: group.first.0,
        last_ns: group.last.0,
        period_ns: group.rhythm.map(|rhythm| rhythm.period.0),
        strength: group.rhythm.map(|rhythm| rhythm.strength),
    }
}

fn window(window: &KeptWindow) -> Window {
    Window {
        name: window.name.clone(),
        bytes: window.bytes,
        thread: window.thread.clone(),
        cause: window.cause.clone(),
        culprit: window.culprit.clone(),
        at_ns: window.at.0,
        response_ns: window.response.0,
        why: window.why.clone(),
    }
}

fn cost(cost: &WatchCost) -> Cost {
    Cost {
        cpu_ns: cost.cpu.0,
        max_cpu: cost.max_cpu,
        events: cost.events,
        lost: cost.lost,
        event_ns: cost.event_ns,
        memory_kib: cost.memory_kib,
        disk_bytes: cost.disk_bytes,
        paused_ns: cost.paused.0,
    }
}
