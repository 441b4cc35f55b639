//! Threads by name: their policies, and the CPUs they may use.

use super::cpus::narrowed;
use super::expansion::{Expanded, Found};
use super::pattern;
use crate::{Setting, ThreadId};
use std::collections::HashSet;
use whylate_base::{CpuSet, Policy};
use whylate_host::{Snapshot, Thread};
use whylate_profiles::ThreadSelector;
use whylate_profiles::policy::{POLICIES, RequestedPolicy};

/// So many are named of those that are summed up.
const NAMED: usize = 3;

/// Policy and priority of each thread of a pattern.
pub(super) fn policies(
    wanted: &ThreadSelector,
    value: Option<&str>,
    host: &Snapshot,
    settled: &HashSet<Setting>,
) -> Expanded {
    let what = format!("policy of threads {}", wanted.named);
    let Some(value) = value else { return Expanded::default() };
    let Some(asked) = RequestedPolicy::parse(value) else {
        return Expanded::left(what, format!("`{value}` is no policy: {POLICIES}"));
    };
    let threads = match of_pattern(wanted, host, &what) {
        Ok(threads) => threads,
        Err(left) => return left,
    };
    let mut expanded = Expanded::default();
    let mut deadline = Vec::new();
    let is_open = |thread: &&Thread| !settled.contains(&Setting::ThreadPolicy { thread: id(thread) });
    for thread in threads.into_iter().filter(is_open) {
        match thread.policy {
            // The kernel's own are not to be changed, and of others /proc does not show what to put back.
            Some(Policy::Deadline) => deadline.push(thread),
            None => expanded.leave(format!("policy of {}", id(thread)), "its policy is not supported"),
            Some(policy) => {
                let setting = Setting::ThreadPolicy { thread: id(thread) };
                let now = scheduling_words(policy, thread);
                expanded.found.push(Found::new(setting, Some(now), Some(asked.for_nice(thread.nice))));
            }
        }
    }
    sum_up(
        &mut expanded,
        "policy",
        &deadline,
        "SCHED_DEADLINE: /proc does not show its runtime and period, so it could not be restored",
    );
    expanded
}

/// What becomes of threads that were placed on other CPUs on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placed {
    /// A profile's pattern may meet any thread: they stay.
    Stay,
    /// A fix names the thread: it moves.
    Move,
}

/// The CPUs of each thread of a pattern.
pub(super) fn cpus(
    pattern: &ThreadSelector,
    value: Option<&str>,
    host: &Snapshot,
    settled: &HashSet<Setting>,
    placed_on_purpose: Placed,
) -> Expanded {
    let what = format!("CPUs of threads {}", pattern.named);
    let Some(value) = value else { return Expanded::default() };
    let wanted = match value.parse::<CpuSet>() {
        Ok(wanted) if !wanted.is_empty() => wanted,
        Ok(_) => return Expanded::left(what, "none of the CPUs is left for them"),
        Err(error) => return Expanded::left(what, error),
    };
    let threads = match of_pattern(pattern, host, &what) {
        Ok(threads) => threads,
        Err(left) => return left,
    };
    let mut expanded = Expanded::default();
    let usual = usual(host);
    let (mut bound, mut deadline, mut placed) = (Vec::new(), Vec::new(), Vec::new());
    let is_open = |thread: &&Thread| !settled.contains(&Setting::ThreadCpus { thread: id(thread) });
    for thread in threads.into_iter().filter(is_open) {
        let now = match thread.affinity.need() {
            Ok(now) => now,
            Err(unread) => {
                expanded.unread(format!("CPUs of {}", id(thread)), &unread);
                continue;
            }
        };
        let stays = now.without(&wanted).is_empty();
        if !stays && (thread.bound || is_per_cpu(thread, now)) {
            bound.push(thread);
            continue;
        }
        // A part of a root domain is no place for it (sched_setaffinity(2), EBUSY), and the kernel's own refuse.
        if !stays && thread.policy == Some(Policy::Deadline) {
            deadline.push(thread);
            continue;
        }
        // It is not there by itself, nor because every program begins there (isolcpus=, CPUAffinity= of systemd, an
        // earlier apply): to move a real-time program off the CPUs that were isolated for it would be the
        // worst that tuning can do.
        let elsewhere = !now.iter().any(|cpu| wanted.contains(cpu));
        if placed_on_purpose == Placed::Stay && !thread.kernel && Some(now) != usual && elsewhere {
            placed.push(thread);
            continue;
        }
        let then = narrowed(now, &wanted);
        let setting = Setting::ThreadCpus { thread: id(thread) };
        expanded.found.push(Found::new(setting, Some(now.to_string()), Some(then.to_string())));
    }
    sum_up(&mut expanded, "CPUs", &bound, "the kernel has bound them to their CPUs");
    sum_up(&mut expanded, "CPUs", &placed, "they were placed on other CPUs on purpose");
    sum_up(&mut expanded, "CPUs", &deadline, "SCHED_DEADLINE: it was admitted for the CPUs it has");
    expanded
}

/// The CPUs that programs begin with: those of the first process, which all others inherit.
fn usual(host: &Snapshot) -> Option<&CpuSet> {
    let threads = host.threads.each.known()?;
    threads.iter().find(|thread| thread.tid.0 == 1)?.affinity.known()
}

fn of_pattern<'a>(
    wanted: &ThreadSelector,
    host: &'a Snapshot,
    what: &str,
) -> Result<Vec<&'a Thread>, Expanded> {
    let all = host.threads.each.need().map_err(|unread| {
        let mut left = Expanded::default();
        left.unread(what, &unread);
        left
    })?;
    let threads = pattern::threads(wanted, all).map_err(|why| Expanded::left(what, why))?;
    if !threads.is_empty() {
        return Ok(threads);
    }
    // In a container those of the kernel are hidden: that none is seen proves nothing.
    Err(match all.iter().any(|thread| thread.kernel) {
        true if wanted.except.is_empty() => Expanded::left(what, "no thread has such a name now"),
        true => Expanded::left(what, "no thread has such a name now, except the exceptions"),
        false => Expanded::hidden(what, "kernel threads are hidden, as in a container"),
    })
}

fn id(thread: &Thread) -> ThreadId {
    ThreadId { pid: thread.pid, tid: thread.tid.0, started: thread.started, name: pattern::name(thread) }
}

/// `rcuc/3` on CPU 3: it serves that CPU, whether the kernel refuses to move it or not.
fn is_per_cpu(thread: &Thread, now: &CpuSet) -> bool {
    let number = thread.comm.rsplit_once('/').and_then(|(_, number)| number.parse::<u32>().ok());
    thread.kernel && now.len() == 1 && number.is_some_and(|number| now.iter().any(|cpu| cpu.0 == number))
}

fn sum_up(expanded: &mut Expanded, of: &str, threads: &[&Thread], why: &str) {
    let names: Vec<String> = threads.iter().map(|thread| pattern::name(thread)).collect();
    let what = match names.as_slice() {
        [] => return,
        [name] => format!("{of} of {name}"),
        _ if names.len() <= NAMED => format!("{of} of {}", names.join(", ")),
        _ => format!("{of} of {} threads: {}, ...", names.len(), names[..NAMED].join(", ")),
    };
    expanded.leave(what, why);
}

fn scheduling_words(policy: Policy, thread: &Thread) -> String {
    match policy {
        Policy::Fifo | Policy::Rr => format!("{} {}", policy.name(), thread.priority),
        Policy::Idle => policy.name().to_owned(),
        policy => format!("{} {}", policy.name(), thread.nice),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_host::FsRoot;
    use whylate_profiles::Pattern;

    /// `pid name flags nice rt_priority policy cpus`
    fn machine(threads: &[(i32, &str, u64, i32, u32, u32, &str)]) -> Snapshot {
        let files: Vec<(String, String)> = threads
            .iter()
            .flat_map(|&(pid, name, flags, nice, priority, policy, cpus)| {
                let dir = format!("/proc/{pid}/task/{pid}");
                let stat = format!(
                    "{pid} ({name}) S 0 0 0 0 0 {flags} 0 0 0 0 0 0 0 0 0 {nice} 0 0 7{pid} 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 \
                     0 0 {priority} {policy} 0\n"
                );
                [
                    (format!("{dir}/stat"), stat),
                    (format!("{dir}/status"), format!("Cpus_allowed_list:\t{cpus}\n")),
                ]
            })
            .collect();
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        Snapshot::read(&FsRoot::memory(&files))
    }

    const KERNEL: u64 = 0x0020_0000;
    const BOUND: u64 = 0x0420_0000;

    fn wanted(named: &str, except: &[&str]) -> ThreadSelector {
        ThreadSelector {
            named: Pattern::Glob(named.to_owned()),
            except: except.iter().map(|glob| Pattern::Glob((*glob).to_owned())).collect(),
        }
    }

    fn words_of(expanded: &Expanded) -> Vec<String> {
        let found = expanded.found.iter().map(|found| {
            let text = |value: &Option<String>| value.clone().unwrap_or_default();
            format!("{}: {} -> {}", found.setting, text(&found.now), text(&found.then))
        });
        found.chain(expanded.left.iter().map(|left| format!("{}: {}", left.what, left.why))).collect()
    }

    fn none() -> HashSet<Setting> {
        HashSet::new()
    }

    fn host() -> Snapshot {
        machine(&[
            (2, "kthreadd", KERNEL, 0, 0, 0, "0-3"),
            (15, "ktimers/0", KERNEL | BOUND, 0, 1, 1, "0"),
            (25, "rcuc/2", KERNEL, 0, 4, 1, "2"),
            (26, "ktimers/2", KERNEL | BOUND, 0, 1, 1, "2"),
            (90, "sugov:0", KERNEL, 0, 0, 6, "0-3"),
            (300, "app", 0, 5, 0, 0, "0-3"),
            (301, "pinned", 0, 0, 0, 5, "3"),
            (302, "whylate", 0, 0, 0, 0, "0-3"),
        ])
    }

    #[test]
    fn cpus_are_narrowed_and_what_is_bound_is_summed_up() {
        let host = host();
        assert_eq!(
            words_of(&cpus(&wanted("*", &[]), Some("0-1"), &host, &none(), Placed::Stay)),
            [
                "CPUs of [kthreadd] (2): 0-3 -> 0-1",
                "CPUs of [ktimers/0] (15): 0 -> 0",
                "CPUs of app (300): 0-3 -> 0-1",
                "CPUs of [rcuc/2], [ktimers/2]: the kernel has bound them to their CPUs",
                "CPUs of pinned: they were placed on other CPUs on purpose",
                "CPUs of [sugov:0]: SCHED_DEADLINE: it was admitted for the CPUs it has",
            ]
        );
        assert_eq!(
            words_of(&cpus(&wanted("*", &["[*", "app"]), Some("3"), &host, &none(), Placed::Stay)),
            ["CPUs of pinned (301): 3 -> 3"]
        );
        assert_eq!(
            words_of(&cpus(&wanted("*", &[]), Some(""), &host, &none(), Placed::Stay)),
            ["CPUs of threads *: none of the CPUs is left for them"]
        );
    }

    #[test]
    fn a_program_that_is_where_all_begin_was_put_there_by_nobody() {
        let host = machine(&[
            (1, "systemd", 0, 0, 0, 0, "0-1"),
            (300, "app", 0, 0, 0, 0, "0-1"),
            (301, "placed", 0, 0, 0, 0, "2"),
        ]);
        let planned = |named| words_of(&cpus(&wanted(named, &[]), Some("3"), &host, &none(), Placed::Stay));
        assert_eq!(planned("app"), ["CPUs of app (300): 0-1 -> 3"]);
        assert!(planned("placed")[0].contains("on purpose"), "{:?}", planned("placed"));
    }

    #[test]
    fn what_a_later_wish_settles_an_earlier_one_does_not_mention() {
        let host = host();
        let settled =
            |expanded: &Expanded| expanded.found.iter().map(|found| found.setting.clone()).collect();
        let later = settled(&cpus(&wanted("pinned", &[]), Some("3"), &host, &none(), Placed::Stay));
        let planned = words_of(&cpus(&wanted("*", &["[*]"]), Some("0-1"), &host, &later, Placed::Stay));
        assert_eq!(planned, ["CPUs of app (300): 0-3 -> 0-1"]);
    }

    #[test]
    fn policies_and_priorities() {
        let host = host();
        let of = |named, value| words_of(&policies(&wanted(named, &[]), Some(value), &host, &none()));
        assert_eq!(
            of("[ktimers/*]", "fifo 3"),
            ["policy of [ktimers/0] (15): fifo 1 -> fifo 3", "policy of [ktimers/2] (26): fifo 1 -> fifo 3"]
        );
        assert_eq!(of("app", "batch"), ["policy of app (300): other 5 -> batch 5"]);
        assert_eq!(of("pinned", "idle"), ["policy of pinned (301): idle -> idle"]);
        assert!(of("[sugov*", "fifo 1")[0].contains("SCHED_DEADLINE"));
        assert_eq!(of("absent", "fifo 1"), ["policy of threads absent: no thread has such a name now"]);
        for bad in ["fifo", "fifo 100", "fifo 0", "other 20", "deadline 1 2 3", "fifo 5 5", "", "best"] {
            assert!(of("app", bad)[0].contains("is no policy"), "{bad}");
        }
    }

    #[test]
    fn a_thread_is_known_by_its_start() {
        let expanded = cpus(&wanted("app", &[]), Some("0"), &host(), &none(), Placed::Stay);
        let Setting::ThreadCpus { thread } = &expanded.found[0].setting else { panic!("{expanded:?}") };
        assert_eq!((thread.tid, thread.started), (300, 7300));
    }

    #[test]
    fn hidden_threads_are_not_absent_ones() {
        let host = machine(&[(1, "sh", 0, 0, 0, 0, "0")]);
        let left = words_of(&policies(&wanted("[ktimers/*]", &[]), Some("fifo 3"), &host, &none()));
        assert!(left[0].contains("hidden"), "{left:?}");
        let wrong = ThreadSelector { named: Pattern::Regex("(".to_owned()), except: Vec::new() };
        assert!(
            words_of(&cpus(&wrong, Some("0"), &host, &none(), Placed::Stay))[0]
                .contains("regular expression")
        );
    }
}
