//! The sentences and cells of a replayed recording, which all its formats share.

use crate::words;
use whylate_base::Ns;
use whylate_simulate::{MeanReplay, ReplayReport, ReplayedThread};

/// The columns behind a thread's name.
pub(super) fn columns(replay: &ReplayReport) -> [&'static str; 7] {
    match (replay.changes.is_empty(), replay.mean.is_some()) {
        (true, false) => ["jobs", "p50", "max", "replay p50", "replay max", "error p90", "CPU time"],
        (false, false) => ["jobs", "p50", "max", "replay p50", "replay max", "new p50", "new max"],
        (true, true) => ["jobs", "p50", "max", "model p50", "model max", "model jobs", "CPU time"],
        (false, true) => ["jobs", "p50", "max", "model p50", "model max", "new p50", "new max"],
    }
}

/// A difference of less than this share is none.
const NOTABLE: f64 = 0.01;

/// How far the replay without a change is from the recording.
pub(super) fn error(replay: &ReplayReport) -> String {
    if let Some(mean) = &replay.mean {
        return mean_error(mean);
    }
    let Some(error) = &replay.error else {
        return "replay without a change: no job was seen whole, so that nothing can be compared".to_owned();
    };
    let left = match error.not_reached {
        0 => String::new(),
        jobs => format!("; {} not done in the replay", words::plural(jobs, "job")),
    };
    format!(
        "replay without a change: {} off in the median, {} in 9 of 10 and {} at most, of {}{left}; worst response {} off",
        error.median,
        error.p90,
        error.most,
        words::plural(error.jobs, "job"),
        signed_percent(error.worst_share)
    )
}

/// How far the mean model without a change is from the recording.
fn mean_error(mean: &MeanReplay) -> String {
    let Some(error) = &mean.error else {
        return "mean model without a change: no job was seen whole, so that nothing can be compared"
            .to_owned();
    };
    let of = match error.threads {
        1 => String::new(),
        threads => format!(", of the thread with the largest difference of {threads}"),
    };
    format!(
        "mean model without a change: median response {} off, {} in 9 of 10, worst response {}, number of jobs {}{of}",
        signed_percent(error.median),
        signed_percent(error.p90),
        signed_percent(error.worst),
        signed_percent(error.jobs)
    )
}

/// What the recording lost, and what that costs.
pub(super) fn losses(replay: &ReplayReport) -> Option<String> {
    let cut_off: u64 = replay.threads.iter().map(|thread| thread.cut_off).sum();
    let losses = replay.losses;
    if losses.events == 0 && losses.unknown == Ns::ZERO {
        return None;
    }
    let share = losses.unknown.0 as f64 / replay.cpu_time.0.max(1) as f64;
    Some(format!(
        "the recording lost {}: {} of CPU time ({}) is not known and idle in the replay, and {} of these threads {} not \
         seen whole",
        words::plural(losses.events, "event"),
        losses.unknown,
        words::percent(share),
        words::plural(cut_off, "job"),
        if cut_off == 1 { "was" } else { "were" }
    ))
}

/// The cells of [`columns`].
pub(super) fn cells(replay: &ReplayReport, thread: &ReplayedThread) -> [String; 7] {
    let [jobs, p50, max] = match thread.recorded {
        Some(recorded) => [words::count(recorded.jobs), recorded.p50.to_string(), recorded.max.to_string()],
        None => ["0", "-", "-"].map(str::to_owned),
    };
    let replayed =
        [thread.replayed.map(|replayed| replayed.p50), thread.replayed.map(|replayed| replayed.max)];
    let [old_p50, old_max] = replayed.map(words::known);
    let [last, but_one] = match replay.changes.is_empty() {
        true if replay.mean.is_some() => {
            let jobs = thread.replayed.map_or(0, |replayed| replayed.jobs);
            [thread.ran[1].to_string(), words::count(jobs)]
        }
        true => [thread.ran[1].to_string(), words::known(thread.error.as_ref().map(|error| error.p90))],
        false => [thread.predicted.map(|new| new.max), thread.predicted.map(|new| new.p50)].map(words::known),
    };
    [jobs, p50, max, old_p50, old_max, but_one, last]
}

/// What the changes do, a sentence for each thread.
pub(super) fn sentences(replay: &ReplayReport) -> Vec<String> {
    if replay.changes.is_empty() {
        return Vec::new();
    }
    replay.threads.iter().map(|thread| format!("{}: {}", thread.name, effect(replay, thread))).collect()
}

fn effect(replay: &ReplayReport, thread: &ReplayedThread) -> String {
    let mut parts = Vec::new();
    let [_, before, after] = thread.ran;
    // What a run of another length has, in the length of the recording.
    let run = replay.mean.map_or(replay.length, |mean| mean.run);
    let is_as_long = run == replay.length;
    let after = Ns((after.0 as f64 * replay.length.0 as f64 / run.0.max(1) as f64).round() as i64);
    match (thread.replayed, thread.predicted) {
        (Some(old), Some(new)) => {
            parts.push(format!("worst {} -> {}, median {} -> {}", old.max, new.max, old.p50, new.p50));
            if is_as_long && new.jobs != old.jobs {
                parts.push(format!("{} -> {} jobs done", old.jobs, new.jobs));
            }
        }
        (Some(old), None) if after > Ns::ZERO => parts.push(format!("none of its {} jobs is done", old.jobs)),
        _ => {}
    }
    if before > Ns::ZERO && after == Ns::ZERO {
        parts.push("it does not run".to_owned());
    } else if parts.is_empty() || share(before, after).abs() >= 0.05 {
        parts.push(match share(before, after) {
            share if share.abs() < NOTABLE => format!("CPU time unchanged, {after}"),
            share => format!("{} CPU time, {before} -> {after}", signed_percent(share)),
        });
    }
    let [old, new] = thread.longest_wait;
    if new > old + Ns::from_ms(10) {
        parts.push(format!("it waits for a CPU for up to {new}, and waited up to {old}"));
    }
    parts.join("; ")
}

fn share(before: Ns, after: Ns) -> f64 {
    (after - before).0 as f64 / before.0.max(1) as f64
}

fn signed_percent(share: f64) -> String {
    let sign = if share < 0.0 { "-" } else { "+" };
    format!("{sign}{}", words::percent(share.abs()))
}

/// Where the threads that have not their place here are counted.
pub(super) fn unlisted(replay: &ReplayReport) -> Option<String> {
    let count = replay.unlisted as u64;
    (count > 0).then(|| match replay.changes.is_empty() {
        true => format!("{} more: show one with --task COMM", words::plural(count, "thread")),
        false => format!("{} more, which the changes hardly affect", words::plural(count, "thread")),
    })
}
