//! What sched_ext reports as it turns a BPF scheduler off, for a thread that did not get to run (`kernel/sched/ext.c`).
//!
//! ```text
//! runnable task stall (app[2412] failed to run for 5.525s)                     check_rq_for_timeouts()
//! CPU 3   : nr_run=3 flags=0x9 cpu_rel=0 ops_qseq=3683 pnt_seq=2729            scx_dump_state()
//!           curr=audiod[583] class=rt_sched_class
//!   R app[2412] -5525ms                                                       scx_dump_task(), of the CPU's runqueue
//! ```
//!
//! The call stack that it prints is the watchdog's own.

use super::owner::LoggedThread;

/// The scheduling classes, in the order in which the kernel asks them for a thread to run; sched_ext's own is the last but one.
const CLASSES_BEFORE: [&str; 4] =
    ["stop_sched_class", "dl_sched_class", "rt_sched_class", "fair_sched_class"];

/// The thread that stalled, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SchedExtStall {
    /// With the time in seconds, as it is printed.
    stalled: Option<(LoggedThread, String)>,
    /// The CPU whose part of the dump was read last, and what ran there.
    cpu: Option<u64>,
    current: Option<Current>,
    /// The same, of the CPU in whose runqueue the thread was.
    found: Option<(u64, Option<Current>)>,
}

/// What ran on a CPU as it was dumped.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Current {
    thread: LoggedThread,
    class: String,
}

impl SchedExtStall {
    /// Takes in a line; false where it belongs to nothing.
    pub(super) fn line(&mut self, message: &str) -> bool {
        if let Some((before, after)) = message.split_once(" failed to run for ") {
            let time = after.split_once('s').map(|(seconds, _)| seconds.trim().to_owned());
            let stalled = thread(behind_words(before)).zip(time.filter(|time| time.parse::<f64>().is_ok()));
            self.stalled = self.stalled.take().or(stalled);
            return true;
        }
        // The line comes again, joined to those behind it.
        if let Some(cpu) = dumped_cpu(message) {
            if self.cpu != Some(cpu) {
                (self.cpu, self.current) = (Some(cpu), None);
            }
            return true;
        }
        if self.cpu.is_none() {
            return false;
        }
        if let Some((who, class)) = message.strip_prefix("curr=").and_then(|rest| rest.rsplit_once(" class="))
        {
            let class = class.split_whitespace().next().unwrap_or_default().to_owned();
            self.current = thread(who).map(|thread| Current { thread, class });
            return true;
        }
        let Some(row) = row(message) else { return false };
        if self.stalled.as_ref().is_some_and(|(stalled, _)| *stalled == row) && self.found.is_none() {
            self.found = self.cpu.map(|cpu| (cpu, self.current.clone()));
        }
        true
    }

    /// What it means; `None` where no thread is named.
    pub(super) fn meaning(&self) -> Option<String> {
        let (thread, seconds) = self.stalled.as_ref()?;
        Some(format!(
            "{thread} was runnable and did not run for {seconds} s, so that the BPF scheduler (sched_ext) was turned off"
        ))
    }

    /// What the dump shows of its CPU.
    pub(super) fn shown(&self) -> Option<String> {
        let (thread, _) = self.stalled.as_ref()?;
        let (cpu, current) = self.found.as_ref()?;
        let runqueue = format!("{} was in the runqueue of CPU {cpu}", thread.name);
        let Some(Current { thread: running, class }) = current else {
            return Some(format!("{runqueue}; what ran there is not shown"));
        };
        Some(match class.as_str() {
            _ if running == thread => format!("{runqueue}, and ran there as the report was made"),
            "idle_sched_class" => format!("{runqueue}, which was idle as the report was made"),
            class if CLASSES_BEFORE.contains(&class) => format!(
                "{runqueue}, on which {running} ran as the report was made: its class, {class}, comes before sched_ext"
            ),
            class => format!("{runqueue}, on which {running} ({class}) ran as the report was made"),
        })
    }
}

/// `CPU 3   : nr_run=3 flags=0x9`
fn dumped_cpu(message: &str) -> Option<u64> {
    let (cpu, _) = message.strip_prefix("CPU ")?.split_once(": nr_run=")?;
    cpu.trim().parse().ok()
}

/// What stands behind the words before a thread's name: `sched_ext: simple: app[12]`, `stall (app[12]`.
fn behind_words(text: &str) -> &str {
    let text = text.split_once("runnable task stall (").map_or(text, |(_, rest)| rest);
    text.rsplit_once(": ").map_or(text, |(_, rest)| rest)
}

/// `app[2412]`
fn thread(text: &str) -> Option<LoggedThread> {
    let (name, pid) = text.trim().strip_suffix(']')?.rsplit_once('[')?;
    LoggedThread::with_pid(name, pid.parse().ok()?)
}

/// `R app[2412] -5525ms`, `*R app[2412] +0ms`
fn row(message: &str) -> Option<LoggedThread> {
    let (who, time) = message.trim_start_matches('*').trim_start().rsplit_once(' ')?;
    let (state, who) = who.split_once(' ')?;
    let is_time = time.starts_with(['-', '+']) && time.ends_with("ms");
    (is_time && state.len() == 1).then(|| thread(who)).flatten()
}

#[cfg(test)]
mod tests {
    use super::SchedExtStall;

    fn read(class: &str, first: &str) -> SchedExtStall {
        let mut stall = SchedExtStall::default();
        let dump = format!(
            "{first}\nCPU 2   : nr_run=1 flags=0x1\ncurr=other[4] class=ext_sched_class\n R third[9] -10ms\n\
             CPU 3   : nr_run=3 flags=0x9\ncurr=audiod.0[583] class={class}\n R third[8] -10ms\n R Web app[2412] -5525ms\n cpus=f\n\
             CPU 4   : nr_run=3 flags=0x9\n"
        );
        dump.lines().for_each(|line| {
            stall.line(line);
        });
        stall
    }

    #[test]
    fn a_stall_has_its_thread_its_cpu_and_what_ran_there() {
        let first = "runnable task stall (Web app[2412] failed to run for 5.525s)";
        let stall = read("rt_sched_class", first);
        assert_eq!(
            stall.meaning().as_deref(),
            Some(
                "Web app (2412) was runnable and did not run for 5.525 s, so that the BPF scheduler (sched_ext) was turned off"
            )
        );
        let shown = |class| read(class, first).shown().unwrap_or_default();
        assert_eq!(
            shown("rt_sched_class"),
            "Web app was in the runqueue of CPU 3, on which audiod.0 (583) ran as the report was made: its class, rt_sched_class, \
             comes before sched_ext"
        );
        let own = "Web app was in the runqueue of CPU 3, on which audiod.0 (583) (ext_sched_class) ran as the report was made";
        assert_eq!(shown("ext_sched_class"), own);
        assert!(shown("idle_sched_class").ends_with("which was idle as the report was made"));
        let log = read("rt_sched_class", "sched_ext: simple: Web app[2412] failed to run for 5.525s");
        assert_eq!(log.meaning(), stall.meaning());
        // Of another thread the dump shows nothing, and of no thread the report.
        assert_eq!(read("rt_sched_class", "sched_ext: x: b[1] failed to run for 5.5s").shown(), None);
        let none = read("rt_sched_class", "watchdog failed to check in for 5.001s");
        assert_eq!((none.meaning(), none.shown()), (None, None));
    }
}
