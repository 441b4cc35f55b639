//! RT throttling and deadline servers: how often, how long, how regularly, on which CPU.

use super::rhythm::rhythm;
use super::subject::Subject;
use crate::causes::Cause;
use crate::causes::advised::Advised;
use crate::charge::bandwidth::{mechanism, used_less};
use crate::timeline::windows::Window;
use std::collections::BTreeMap;
use whylate_base::{Confidence, Cpu, Evidence, Finding, Ns, Severity};

/// A switch to idle and back is no throttling: the kernel throttles for milliseconds.
const SHORTEST: Ns = Ns::from_us(200);

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let mut groups: BTreeMap<(Cpu, Cause), Vec<&Window>> = BTreeMap::new();
    for window in subject.timeline.windows.iter() {
        let long = window.end.is_some_and(|end| end - window.start >= SHORTEST);
        let (cause, confidence) = mechanism(window, &subject.timeline.bandwidth.at(window.start));
        // A CPU that idles shows neither mechanism by itself.
        let is_guess = window.saw_idle && confidence == Confidence::Low;
        let in_scope = subject.is_in_scope(window.cpu, window.start, window.end.unwrap_or(window.start));
        if long && in_scope && window.hurt && !is_guess && cause != Cause::Unexplained {
            groups.entry((window.cpu, cause)).or_default().push(window);
        }
    }
    let finding = |((cpu, cause), mut windows): (_, Vec<&Window>)| {
        // A window that only a wait showed is known when that wait ends.
        windows.sort_by_key(|window| window.start);
        finding(subject, cpu, cause, &windows)
    };
    groups.into_iter().map(finding).collect()
}

fn finding(subject: &Subject<'_>, cpu: Cpu, cause: Cause, windows: &[&Window]) -> Finding {
    let settings = |window: &&Window| subject.timeline.bandwidth.at(window.start);
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
    let period = rhythm(&starts).map_or_else(String::new, |period| format!(", every {period}"));
    let length = if longest - typical > Ns(typical.0 / 10) {
        format!("{typical} each, {longest} at most")
    } else {
        format!("{typical} each")
    };
    let confidence =
        windows.iter().map(|window| mechanism(window, &settings(window)).1).min().unwrap_or(Confidence::Low);
    // Without the kernel's version either may have done it.
    let is_open = confidence == Confidence::Low
        && windows
            .first()
            .map(settings)
            .is_some_and(|settings| settings.throttles().or(settings.serves()).is_none());
    let what = match cause {
        _ if is_open => {
            "SCHED_OTHER threads ran ahead of runnable real-time threads, by RT throttling (to Linux 6.11) or by the \
             fair server (from 6.12)"
        }
        Cause::FairServer => "the fair server ran SCHED_OTHER threads ahead of real-time threads",
        Cause::CoarseClockThrottled => "RT throttling stopped real-time threads that used little CPU time",
        _ => "RT throttling stopped all real-time threads",
    };
    let shown = windows.iter().find_map(|window| {
        let settings = settings(window);
        Some((window.user(settings.period)?, settings))
    });
    let culprit = match cause {
        Cause::FairServer => windows.iter().find_map(|window| window.ran),
        _ => shown.map(|(user, _)| user),
    };
    let why = match (cause, &shown) {
        (_, Some((user, _))) if is_open => format!(
            "{user} used most of CPU {cpu} before; the recording does not have the kernel's version (uname -r), which \
             decides between the two"
        ),
        (Cause::FairServer, Some((user, _))) => format!(
            "{} kept SCHED_OTHER threads off CPU {cpu}; from Linux 6.12 on a deadline server gives such threads time, by default 50 ms \
             of each second, before any real-time thread (confidence {confidence})",
            user
        ),
        (Cause::CoarseClockThrottled, Some((user, settings))) => format!(
            "kernel.sched_rt_runtime_us lets real-time threads have {} of each {} on a CPU, as the scheduler's clock \
             counts; of the little time that they used {} used most (confidence {confidence})",
            settings.limit_or_default(),
            settings.period,
            user
        ),
        (_, Some((user, settings))) if windows.iter().any(|window| used_less(window, settings)) => format!(
            "by the recording, kernel.sched_rt_runtime_us lets real-time threads have {} of each {} on a CPU, and they had \
             used less than half of that, {user} most of it: the limit was set to less for a time, or the scheduler's clock \
             only counts ticks (confidence {confidence})",
            settings.limit_or_default(),
            settings.period,
        ),
        (_, Some((user, settings))) => format!(
            "kernel.sched_rt_runtime_us lets real-time threads have {} of each {} on a CPU; {} used most of it \
             (confidence {confidence})",
            settings.limit_or_default(),
            settings.period,
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
            let used = match window.shows_user(settings(window).period) {
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
        code: if is_open { Cause::Unexplained.code() } else { cause.code() },
        severity: if is_open { Severity::Warning } else { Severity::Error },
        title: format!("{what}: {times}{period}, {length}, CPU {cpu}"),
        why,
        evidence,
        fix: cause.advice(&Advised::about(culprit.as_ref(), Some(cpu))),
    }
}
