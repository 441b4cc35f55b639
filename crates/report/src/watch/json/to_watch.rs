//! From a watch's document to what a new watch, a report or a comparison takes.

use super::document::{DeadlineFrom, Distribution, Group, Line, SCHEMA, Summary, WatchedThread, Window};
use whylate_base::Ns;
use whylate_investigate::watch::{
    self as watched, KeptWindow, LateGroup, LateLimit, LimitKind, PreviousWatch, WatchCost, WatchReport,
};
use whylate_stats::{Bucket, Exact, Histogram, Rhythm, Run};

/// The watch in the text of a journal.
///
/// # Errors
/// In a sentence, why it is none.
pub fn report(text: &[u8]) -> Result<WatchReport, String> {
    let line: Line = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    if line.schema != SCHEMA {
        return Err(format!("its schema is {:?} instead of {SCHEMA}", line.schema));
    }
    let summary = line.summary.ok_or_else(|| format!("it has no summary, but the event {:?}", line.event))?;
    Ok(whole(line.at_ns, summary))
}

/// The watch in a line; `None`: it has no summary.
pub fn of_summary(line: &Line) -> Option<WatchReport> {
    line.summary.clone().map(|summary| whole(line.at_ns, summary))
}

/// What a new watch of the same directory takes over.
///
/// # Errors
/// In a sentence, why the text is no journal.
pub fn previous(text: &[u8]) -> Result<PreviousWatch, String> {
    let WatchReport { groups, kept, late, late_before, .. } = report(text)?;
    Ok(PreviousWatch { groups, kept, late: late.saturating_add(late_before) })
}

/// The watch as a run that can be compared; `None`: the text is another document.
pub fn run(text: &[u8]) -> Option<Run> {
    report(text).ok().map(|report| report.run())
}

fn whole(began: i64, summary: Summary) -> WatchReport {
    let Summary { complete, elapsed_ns, late, counted_only, late_before, cost, notes, .. } = summary;
    WatchReport {
        began: Ns(began),
        elapsed: Ns(elapsed_ns),
        threads: summary.threads.into_iter().map(thread).collect(),
        groups: summary.groups.into_iter().map(group).collect(),
        kept: summary.kept.into_iter().map(window).collect(),
        late,
        counted_only,
        late_before,
        cost: WatchCost {
            cpu: Ns(cost.cpu_ns),
            max_cpu: cost.max_cpu,
            events: cost.events,
            lost: cost.lost,
            event_ns: cost.event_ns,
            memory_kib: cost.memory_kib,
            disk_bytes: cost.disk_bytes,
            paused: Ns(cost.paused_ns),
        },
        dropped: summary.dropped,
        notes,
        is_complete: complete,
    }
}

fn thread(thread: WatchedThread) -> watched::WatchedName {
    let limit = thread.deadline_ns.zip(thread.deadline_from);
    watched::WatchedName {
        name: thread.comm,
        activations: thread.activations,
        late: thread.late,
        limit: limit.map(|(limit, from)| LateLimit { limit: Ns(limit), kind: kind(from) }),
        latency: histogram(&thread.latency),
        response: histogram(&thread.response),
    }
}

fn kind(from: DeadlineFrom) -> LimitKind {
    match from {
        DeadlineFrom::Deadline => LimitKind::Deadline,
        DeadlineFrom::Period => LimitKind::Period,
        DeadlineFrom::History => LimitKind::History,
    }
}

fn histogram(distribution: &Distribution) -> Histogram {
    let buckets = distribution.buckets.iter().map(|bucket| Bucket {
        from: Ns(bucket.from_ns),
        upto: Ns(bucket.upto_ns),
        count: bucket.count,
    });
    let exact = Exact {
        overflow: distribution.overflow,
        sum: distribution.sum_ns,
        min: Ns(distribution.min_ns.unwrap_or_default()),
        max: Ns(distribution.max_ns.unwrap_or_default()),
    };
    Histogram::new(buckets, exact)
}

fn group(group: Group) -> LateGroup {
    LateGroup {
        thread: group.thread,
        cause: group.cause,
        culprit: group.culprit,
        count: group.count,
        worst: Ns(group.worst_ns),
        first: Ns(group.first_ns),
        last: Ns(group.last_ns),
        rhythm: group
            .period_ns
            .zip(group.strength)
            .map(|(period, strength)| Rhythm { period: Ns(period), strength }),
    }
}

fn window(window: Window) -> KeptWindow {
    KeptWindow {
        name: window.name,
        bytes: window.bytes,
        thread: window.thread,
        cause: window.cause,
        culprit: window.culprit,
        at: Ns(window.at_ns),
        response: Ns(window.response_ns),
        why: window.why,
    }
}
