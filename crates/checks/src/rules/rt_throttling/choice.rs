//! The choice between RT throttling, the fair server, a guard and moving the thread that loops, with a machine's numbers.

use crate::rules::shared::cpus::real_time;
use crate::rules::shared::threads::{cpus_of, described, may_run_on};
use crate::rules::shared::{Throttle, has_servers};
use crate::{CheckOptions, Choice};
use whylate_base::CpuSet;
use whylate_host::{STARVATION_GUARDS, Snapshot, Thread};

/// How many threads are named.
const NAMED: usize = 3;

/// The ways to keep SCHED_OTHER threads alive beside real-time ones: what each costs here, and its state.
pub(super) fn choices(host: &Snapshot, options: &CheckOptions, throttle: Throttle) -> Vec<Choice> {
    let choice = |name: &str, here: String| Choice { name: name.to_owned(), here };
    vec![
        choice("throttling", throttling(host, throttle)),
        choice("fair server", fair_server(host)),
        choice("guard", guard(host)),
        choice("moving the thread", moving(host, options)),
        choice("advice", advice(host, throttle).to_owned()),
    ]
}

fn throttling(host: &Snapshot, throttle: Throttle) -> String {
    if throttle == Throttle::None {
        return "this kernel has none: its setting only limits SCHED_DEADLINE reservations".to_owned();
    }
    let runtime = host.sched.rt_runtime_us.known();
    if runtime.is_some_and(|&runtime| runtime < 0) {
        return "off: no real-time thread is stopped".to_owned();
    }
    match runtime.zip(host.sched.rt_period_us.known()) {
        None => format!("cannot tell: {} or its period cannot be read", host.sched.rt_runtime_us.path),
        Some((runtime, period)) if runtime >= period => {
            "off in effect: the runtime is the whole period".to_owned()
        }
        Some((runtime, period)) => format!(
            "on: all real-time threads of a CPU stop for {} us of each {period} us once they used {runtime} us, with an idle CPU \
             too{}; it helps SCHED_OTHER threads and kernel threads without a real-time policy",
            period - runtime,
            if throttle == Throttle::Borrowing { ", unless the CPU borrows from others" } else { "" }
        ),
    }
}

fn fair_server(host: &Snapshot) -> String {
    match has_servers(host) {
        Err(unknown) => format!("cannot tell: {}: {}", unknown.path, unknown.why),
        Ok(false) => "this kernel has none (Linux 6.12 and later)".to_owned(),
        Ok(true) => match host.sched.fair_servers.known() {
            None => format!("cannot tell: {} cannot be read", host.sched.fair_servers.path),
            Some(servers) => {
                let on: CpuSet = servers
                    .iter()
                    .filter(|server| server.runtime_ns.known().is_some_and(|&ns| ns > 0))
                    .map(|server| server.cpu)
                    .collect();
                let first = servers.iter().find(|server| on.contains(server.cpu));
                let ms = |ns: Option<&u64>| ns.copied().unwrap_or_default() / 1_000_000;
                match first {
                    None => "off on every CPU whose setting was read".to_owned(),
                    Some(first) => format!(
                        "on for CPUs {on}: real-time threads lose {} ms of each {} ms, only while SCHED_OTHER threads of the CPU \
                         starve; it does not help real-time threads behind real-time threads",
                        ms(first.runtime_ns.known()),
                        ms(first.period_ns.known()),
                    ),
                }
            }
        },
    }
}

fn guard(host: &Snapshot) -> String {
    const COST: &str = "1 ms of each second for each starving thread, 5 % of a CPU at most, after 20 s; it helps every thread, \
                        kernel threads and real-time threads too, and names the thread that has the CPU";
    match host.threads.each.known() {
        None => format!(
            "cannot tell whether one runs: {} cannot be read; it costs {COST}",
            host.threads.each.path
        ),
        Some(threads) => {
            match threads.iter().find(|thread| STARVATION_GUARDS.contains(&thread.comm.as_str())) {
                Some(guard) => format!("{}:{} runs; `whylate guard` costs {COST}", guard.comm, guard.tid),
                None => format!("none runs; `whylate guard` costs {COST}"),
            }
        }
    }
}

/// Which real-time threads of programs ran when the snapshot was taken: one that loops is among them.
fn moving(host: &Snapshot, options: &CheckOptions) -> String {
    let Some(threads) = host.threads.each.known() else {
        return format!("cannot tell which threads run: {} cannot be read", host.threads.each.path);
    };
    let real_time_threads: Vec<&Thread> =
        threads.iter().filter(|thread| thread.is_realtime() && !thread.kernel).collect();
    let running: Vec<String> = real_time_threads
        .iter()
        .filter(|thread| thread.state == Some('R'))
        .map(|thread| format!("{}:{}, {}", described(thread), thread.tid, cpus_of(thread)))
        .collect();
    if real_time_threads.is_empty() {
        return "no program has a real-time thread now: nothing can loop before SCHED_OTHER threads"
            .to_owned();
    }
    let chosen = real_time(host, options).ok().flatten();
    let beside = chosen.map(|cpus| {
        let there = real_time_threads.iter().filter(|thread| may_run_on(thread, &cpus)).count();
        format!("; {there} of them may run on the real-time CPUs {cpus}")
    });
    let count = real_time_threads.len();
    let seen = match running.as_slice() {
        [] => "none of them ran at this instant (`whylate ps` shows their CPU shares)".to_owned(),
        running => {
            let more = running.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("at this instant ran {}{more}", running[..running.len().min(NAMED)].join("; "))
        }
    };
    format!(
        "programs have {count} real-time threads{}: {seen}; `whylate run --pid PID --cpus LIST` moves one, and it costs nothing",
        beside.unwrap_or_default()
    )
}

fn advice(host: &Snapshot, throttle: Throttle) -> &'static str {
    let is_throttled = throttle != Throttle::None
        && host
            .sched
            .rt_runtime_us
            .known()
            .zip(host.sched.rt_period_us.known())
            .is_some_and(|(a, b)| *a >= 0 && a < b);
    let has_server = has_servers(host).unwrap_or(false);
    match (is_throttled, has_server) {
        (true, false) => {
            "first move or mend the thread that loops; then switch throttling off and run `whylate guard`: throttling stops \
             well-behaved threads as well"
        }
        (true, true) => {
            "first move or mend the thread that loops; then switch throttling off: the fair server remains for SCHED_OTHER \
             threads"
        }
        (false, true) => {
            "keep the fair server, unless a real-time thread must poll without a gap; then give that thread a CPU of its own, and \
             run `whylate guard` on the others"
        }
        (false, false) => "run `whylate guard`: nothing of the kernel's own helps starving threads here",
    }
}
