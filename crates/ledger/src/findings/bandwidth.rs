//! RT throttling and deadline servers: how often, how long, how regularly, on which CPU.

use super::rhythm::rhythm;
use super::subject::Subject;
use crate::causes::Cause;
use crate::charge::bandwidth::mechanism;
use crate::charge::charger::{culprit, served};
use crate::timeline::bandwidth::Window;
use std::collections::BTreeMap;
use whylate_base::{Confidence, Cpu, Evidence, Finding, Ns, Priority, Severity};

/// A switch to idle and back is no throttling: the kernel throttles for milliseconds.
const SHORTEST: Ns = Ns::from_us(200);

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let mut groups: BTreeMap<(Cpu, Cause), Vec<&Window>> = BTreeMap::new();
    for window in subject.timeline.windows.iter() {
        let long = window.end.is_some_and(|end| end - window.start >= SHORTEST);
        let (cause, _) = mechanism(window, &subject.timeline.bandwidth);
        if long && window.hurt && cause != Cause::Unexplained {
            groups.entry((window.cpu, cause)).or_default().push(window);
        }
    }
    groups.into_iter().map(|((cpu, cause), windows)| finding(subject, cpu, cause, &windows)).collect()
}

fn finding(subject: &Subject<'_>, cpu: Cpu, cause: Cause, windows: &[&Window]) -> Finding {
    let timeline = subject.timeline;
    let mut lengths: Vec<Ns> =
        windows.iter().filter_map(|window| window.end.map(|end| end - window.start)).collect();
    lengths.sort();
    let typical = lengths.get(lengths.len() / 2).copied().unwrap_or_default();
    let longest = lengths.last().copied().unwrap_or_default();
    let starts: Vec<Ns> = windows.iter().map(|window| window.start).collect();
    let times = match windows.len() {
        1 => "once".to_owned(),
        n => format!("{n} times"),
    };
    let period = match rhythm(&starts) {
        Some(period) => format!(", every {period}"),
        None if cause == Cause::FairServer || windows.len() == 1 => String::new(),
        None => format!(", per period of {}", timeline.bandwidth.period),
    };
    let length = if longest - typical > Ns(typical.0 / 10) {
        format!("{typical} each, {longest} at most")
    } else {
        format!("{typical} each")
    };
    let what = match cause {
        Cause::FairServer => "the fair server ran SCHED_OTHER threads ahead of real-time threads",
        Cause::CoarseClockThrottled => "RT throttling stopped real-time threads that used little CPU time",
        _ => "RT throttling stopped all real-time threads",
    };
    let confidence = windows
        .iter()
        .map(|window| mechanism(window, &timeline.bandwidth).1)
        .min()
        .unwrap_or(Confidence::Low);
    let user =
        windows.iter().find_map(|window| Some((window.start, window.user(timeline.bandwidth.period)?)));
    let user = user.map(|(at, (tid, prio))| culprit(timeline, tid, prio, at));
    let culprit = match cause {
        Cause::FairServer => windows
            .iter()
            .find_map(|window| Some((window.start, window.ran?)))
            .map(|(at, (tid, comm))| served(timeline, at, tid, comm)),
        _ => user,
    };
    let why = match (cause, &user) {
        (Cause::FairServer, Some(user)) => format!(
            "{} kept SCHED_OTHER threads off CPU {cpu}; from Linux 6.12 on a deadline server gives such threads 50 ms \
             of each second, before any real-time thread (confidence {confidence})",
            user
        ),
        (Cause::CoarseClockThrottled, Some(user)) => format!(
            "kernel.sched_rt_runtime_us lets real-time threads have {} of each {} on a CPU, as the scheduler's clock \
             counts; of the little time that they used {} used most (confidence {confidence})",
            timeline.bandwidth.runtime.unwrap_or(Ns::from_ms(950)),
            timeline.bandwidth.period,
            user
        ),
        (_, Some(user)) => format!(
            "kernel.sched_rt_runtime_us lets real-time threads have {} of each {} on a CPU; {} used most of it \
             (confidence {confidence})",
            timeline.bandwidth.runtime.unwrap_or(Ns::from_ms(950)),
            timeline.bandwidth.period,
            user
        ),
        (_, None) => {
            format!("real-time threads were runnable on CPU {cpu} but did not run (confidence {confidence})")
        }
    };
    let evidence = windows
        .iter()
        .take(5)
        .map(|window| {
            let length = window.end.map_or(Ns::ZERO, |end| end - window.start);
            let (share, over) = window.used;
            let used = match window.shows_user(timeline.bandwidth.period) {
                true => {
                    let used = Ns((over.0 as f64 * share) as i64);
                    format!("; real-time use {used} ({:.0} %) of the {over} before", share * 100.0)
                }
                false => String::new(),
            };
            Evidence::at(window.start, cpu, format!("for {length}{used}"))
        })
        .collect();
    Finding {
        code: cause.code(),
        severity: Severity::Error,
        title: format!("{what}: {times}{period}, {length}, CPU {cpu}"),
        why,
        evidence,
        fix: cause.advice(culprit.as_ref(), Priority::realtime(1)),
    }
}
