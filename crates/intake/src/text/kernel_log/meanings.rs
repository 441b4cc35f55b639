//! What each message means.

use super::owner::LoggedThread;
use super::source_text;
use crate::text::known::has_all;
use crate::text::remarks;

/// What the message in a line of the kernel's log is about; `None` for other lines.
pub(super) fn meaning(line: &str) -> Option<&'static str> {
    let (_, meaning) = *entry(line)?;
    Some(if meaning == IDLE_LOCKUP && !is_of_idle_thread(line) { SOFT_LOCKUP } else { meaning })
}

/// True where the thread in brackets is an idle one: `[swapper/0:0]`. The first thread has the name `swapper/0`, too, until it becomes
/// init: `[swapper/0:1]`.
fn is_of_idle_thread(line: &str) -> bool {
    let thread = line.rsplit_once('[').and_then(|(_, rest)| LoggedThread::of(rest.split(']').next()?));
    thread.is_some_and(|thread| thread.is_idle())
}

/// True of a line in which a person's words stand before those of the message: it quotes the message. The kernel's own have no other
/// letters than those of ASCII. The subject of a mail quotes it as well.
pub(super) fn is_quoted(line: &str) -> bool {
    if line.starts_with("Subject: ") && entry(line).is_some() {
        return true;
    }
    let Some((words, _)) = entry(line) else { return false };
    let begins = begins(line, words);
    let before = source_text::split(line, begins).map_or("", |(before, _)| before);
    if is_item(before) || is_mention_of_lockup(line) {
        return true;
    }
    let behind_stamp = line.get(begins.saturating_sub(before.len())..).unwrap_or(line);
    source_text::is_quoted(line, begins)
        || before.chars().any(|sign| !sign.is_ascii() && sign.is_alphabetic())
        || remarks::is_plain_sentence(before)
        || remarks::is_plain_sentence(&without(behind_stamp, words))
}

/// True of what stands before the words in an item of a list: `* the kernel's`, `2) `.
fn is_item(before: &str) -> bool {
    let before = before.trim_start();
    let number = before.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let is_numbered = number.len() < before.len() && [") ", ". "].iter().any(|mark| number.starts_with(mark));
    is_numbered || ["* ", "- ", "+ ", "\u{2022} ", "\u{2013} "].iter().any(|mark| before.starts_with(mark))
}

/// True of words about soft lockups that are not the kernel's: all of its versions begin them with `BUG:`, and name the CPU.
fn is_mention_of_lockup(line: &str) -> bool {
    line.contains("soft lockup") && !line.contains("BUG: soft lockup") && !line.contains("CPU#")
}

/// What a line has beside these words: `With this the`, `is gone.`
fn without(line: &str, words: &[&str]) -> String {
    words.iter().fold(line.to_owned(), |rest, words| rest.replacen(words, " ", 1))
}

/// Where the first of these words begins in a line.
fn begins(line: &str, words: &[&str]) -> usize {
    words.iter().filter_map(|words| line.find(words)).min().unwrap_or(0)
}

fn entry(line: &str) -> Option<&'static (&'static [&'static str], &'static str)> {
    const MESSAGES: [(&[&str], &str); 79] = [
        (&["soft lockup", "stuck for", "[swapper/"], IDLE_LOCKUP),
        (&["RT throttling activated"], RT_THROTTLING),
        (&["DL replenish lagged"], DL_REPLENISH),
        (&["soft lockup"], SOFT_LOCKUP),
        (&["hard LOCKUP"], HARD_LOCKUP),
        (&["blocked for more than"], HUNG_TASK),
        (&["INFO: task ", " blocked"], HUNG_TASK),
        (&["hogged CPU for >"], CPU_HOG),
        (&["BUG: workqueue lockup"], WORK_LOCKUP),
        (&["detected stall"], RCU),
        (&["detected expedited stalls"], RCU),
        (&["kthread starved for", "jiffies"], RCU),
        (&["local_softirq_pending"], NOHZ),
        (&["local softirq work is pending"], NOHZ),
        (&["hrtimer: interrupt took"], TIMER_INTERRUPT),
        (&["perf", "interrupt took too long ("], PERF),
        (&["perf samples too long ("], PERF),
        (&["NMI handler (", "took too long"], LONG_NMI),
        (&["timekeeping watchdog"], CLOCK),
        (&["Marking TSC unstable"], CLOCK),
        (&["Clocksource ", " unstable (delta"], CLOCK),
        (&["clocksource: ", "read-back delay of "], CLOCK),
        (&["clocksource: Long readout interval"], CLOCK),
        (&["clocksource: Watchdog ", " read timed out"], CLOCK),
        (&["Marking clocksource ", " unstable due to "], CLOCK),
        (&["runnable task stall"], SCHED_EXT),
        (&["sched_ext: ", "failed to run for "], SCHED_EXT),
        (&["failed to check in for "], SCHED_EXT),
        (&["kthread timer wakeup didn't happen for"], RCU),
        (&["rcu_tasks_wait_gp: ", "jiffies old"], RCU),
        (&["us maximum-latency critical section"], OLD_SECTION),
        (&["us maximum-latency wakeup"], OLD_WAKE_UP),
        (&["BUG: scheduling while atomic"], ATOMIC),
        (&["BUG: sleeping function called from invalid context"], ATOMIC),
        (&["workqueue leaked lock or atomic"], WORK_LEAK),
        (&["workqueue leaked atomic, lock or RCU"], WORK_LEAK),
        (&["scheduling from the idle thread"], IDLE_SLEEP),
        (&["BUG: spinlock lockup ", "on CPU#"], SPIN_LOCKUP),
        (&["possible circular locking dependency"], LOCKDEP),
        (&["possible recursive locking"], LOCKDEP),
        (&["possible irq lock inversion dependency"], LOCKDEP),
        (&["inconsistent lock state"], LOCKDEP_STATE),
        (&["-safe -> ", "-unsafe lock order detected"], LOCKDEP),
        (&["BUG: Invalid wait context"], LOCKDEP_WAIT),
        (&["irq ", " cared (try booting with "], UNHANDLED_IRQ),
        (&["temperature above threshold", "throttled"], "a CPU was too hot, and its clock was slowed"),
        (&["non-responsive CSD lock"], CSD),
        (&["page allocation stalls for "], "a thread waited for memory for long"),
        (&["transmit queue ", " timed out"], "a network device did not send for seconds"),
        (&["NMI received for unknown reason"], "an NMI came that no handler took"),
        (&["Xenomai", "watchdog triggered"], XENOMAI),
        (&["EVL: ", "watchdog triggered"], XENOMAI),
        (&["Kernel panic - not syncing: hung_task"], CHOSEN_PANIC),
        (&["Kernel panic - not syncing: softlockup"], CHOSEN_PANIC),
        (&["Kernel panic - not syncing: Hard LOCKUP"], HARD_PANIC),
        (&["Kernel panic - not syncing: RCU Stall"], CHOSEN_PANIC),
        (&["Kernel panic - not syncing"], CRASH),
        // PowerPC: `Watchdog CPU:4 Hard LOCKUP`, from 4.18 on `watchdog: CPU 4 Hard LOCKUP`.
        (&["atchdog", "CPU", "Hard LOCKUP"], HARD_LOCKUP),
        (&["BUG: unable to handle"], CRASH),
        (&["BUG: kernel NULL pointer dereference"], CRASH),
        (&["Unable to handle kernel "], CRASH),
        (&["kernel BUG at "], CRASH),
        (&["general protection fault"], CRASH),
        (&["Oops: "], CRASH),
        // arm64 and arm: `Internal error: synchronous external abort: 96000210 [#1] SMP`; mips, riscv: `Oops[#1]:`
        (&["Internal error: ", "[#"], CRASH),
        (&["Oops", "[#"], CRASH),
        (&["divide error: ", "[#"], CRASH),
        (&["note: ", "] exited with preempt_count "], ENDED),
        (&["note: ", "] exited with irqs disabled"], ENDED),
        (&["nvme", " QID ", " timeout"], STORAGE),
        (&["nvme", "controller is down; will reset"], STORAGE),
        (&["ata", "exception Emask ", "frozen"], STORAGE),
        (&["ata", ": qc timeout "], STORAGE),
        (&["timing out command, waited "], STORAGE),
        (&["hostbyte=DID_TIME_OUT"], STORAGE),
        (&["mmc", ": Timeout waiting for hardware "], STORAGE),
        (&["mmc", ": cqhci: timeout for tag "], STORAGE),
        (&["nfs: server ", " not responding"], STORAGE),
        (&["need_resched set for >"], "a thread did not give its CPU to another one that was to run"),
    ];
    let found = MESSAGES.iter().find(|(words, _)| has_all(line, words))?;
    (!source_text::is_source(line, begins(line, found.0))).then_some(found)
}

/// True of meanings that the same words may have, by what else a line shows.
pub(super) fn are_related(one: &str, other: &str) -> bool {
    let is_soft = |meaning: &str| [SOFT_LOCKUP, IDLE_LOCKUP].contains(&meaning);
    one == other || is_soft(one) && is_soft(other)
}

/// True of the line that ends the report of a panic, with the words of its first line (`panic()` in `kernel/panic.c`).
pub(super) fn is_end(line: &str) -> bool {
    line.contains("---[ end Kernel panic")
}

pub(super) const WORK_LOCKUP: &str = "the work items of a workqueue did not come to run";
pub(super) const CRASH: &str = "the kernel crashed: what is late beside it may follow from that";
/// drivers/nvme/host/pci.c, drivers/ata/libata-eh.c, drivers/scsi, drivers/mmc/host, net/sunrpc/clnt.c
pub(super) const STORAGE: &str = "storage did not answer a request in time";
/// `make_task_dead()` in kernel/exit.c; before it `do_exit()`.
pub(super) const ENDED: &str = "a thread was ended in the kernel with preemption or interrupts disabled, as an oops or a BUG above it ends one";
/// By `kernel.hung_task_panic`, `kernel.softlockup_panic`, `kernel.hardlockup_panic` or `kernel.panic_on_rcu_stall`.
pub(super) const CHOSEN_PANIC: &str =
    "the kernel is set to stop at such a report: the stop follows from what was late, and is no cause of it";
/// By `kernel.hardlockup_panic`.
pub(super) const HARD_PANIC: &str = "a CPU had interrupts disabled for 10 s or more (hard lockup), and the kernel is set to stop at such a report";
pub(super) const TIMER_INTERRUPT: &str = "the timer interrupt took long, or the machine stood still in it";
pub(super) const LONG_NMI: &str = "the handler of an NMI took long";
pub(super) const IDLE_LOCKUP: &str = "the watchdog of a CPU did not run for 20 s or more while its idle task had it (soft lockup): its timer or its \
                           interrupts were lost, a clock jumped, or the machine stood still";
pub(super) const PERF: &str = "the interrupts of perf took long";
pub(super) const SCHED_EXT: &str =
    "a BPF scheduler (sched_ext) left a runnable thread without a CPU for seconds, and was turned off";
pub(super) const OLD_SECTION: &str = "the latency tracer of the patches of 2004 to 2008 met a longer section with preemption disabled or interrupts off than before";
pub(super) const OLD_WAKE_UP: &str =
    "the latency tracer of the patches of 2004 to 2008 met a longer wake-up than before";
pub(super) const ATOMIC: &str =
    "a thread was about to sleep where it must not: a bug of the kernel or of a module";
pub(super) const WORK_LEAK: &str =
    "a work item returned with a lock held or with preemption disabled: a bug of the kernel or of a module";
/// `dequeue_task_idle()` in `kernel/sched/idle.c`
pub(super) const IDLE_SLEEP: &str =
    "the idle thread of a CPU was about to sleep, which it never may: a bug of the kernel or of a module";
pub(super) const SPIN_LOCKUP: &str = "a CPU did not get a spinlock for about a second or more";
const LOCKDEP: &str =
    "locks are taken in an order by which threads may wait for each other for ever (lockdep)";
const LOCKDEP_STATE: &str = "a lock is taken both in an interrupt, an NMI or memory reclaim and elsewhere, so that a CPU or a thread may wait for itself \
                             for ever (lockdep)";
const LOCKDEP_WAIT: &str = "a sleeping lock is taken where a thread must not sleep, on PREEMPT_RT (lockdep)";
const XENOMAI: &str = "a real-time thread of Xenomai kept a CPU for seconds, and was stopped";
const RT_THROTTLING: &str = "real-time threads used up their share of a CPU (kernel.sched_rt_runtime_us), and were stopped for \
                             the rest of a period (rt-throttled)";
const DL_REPLENISH: &str =
    "a SCHED_DEADLINE thread, or a deadline server, did not get its runtime for longer than a period";
pub(super) const SOFT_LOCKUP: &str = "a CPU did not run its watchdog for 20 s or more (soft lockup)";
pub(super) const CPU_HOG: &str = "a work item of a workqueue ran for long without a sleep";
pub(super) const HARD_LOCKUP: &str = "a CPU had interrupts disabled for 10 s or more (hard lockup)";
pub(super) const HUNG_TASK: &str = "a thread slept uninterruptibly for longer than kernel.hung_task_timeout_secs, for a device or a lock (hung task)";
pub(super) const RCU: &str =
    "a CPU gave RCU no quiescent state for long, or RCU's own threads did not come to run (RCU stall)";
pub(super) const NOHZ: &str = "softirqs were pending as an idle CPU stopped its tick";
pub(super) const UNHANDLED_IRQ: &str =
    "no handler took an interrupt, which was turned off after many of them";
pub(super) const CSD: &str = "a CPU did not take the call of another CPU for seconds";
pub(super) const CLOCK: &str = "the kernel could not check a clock, or gave it up: the clock was unstable, reads of it took long, or the machine stood still";

/// True of messages below which the kernel prints a call stack.
pub(super) fn brings_stack(meaning: &str) -> bool {
    ![
        CHOSEN_PANIC,
        RT_THROTTLING,
        DL_REPLENISH,
        TIMER_INTERRUPT,
        PERF,
        LONG_NMI,
        NOHZ,
        CLOCK,
        CPU_HOG,
        STORAGE,
        ENDED,
    ]
    .contains(&meaning)
}

/// True of reports in which stacks of the past stand above that of the thread that prints it.
pub(super) fn shows_past_of_locks(meaning: &str) -> bool {
    [LOCKDEP, LOCKDEP_STATE, LOCKDEP_WAIT].contains(&meaning)
}

#[cfg(test)]
mod tests {
    use super::{is_quoted, meaning};

    #[test]
    fn each_message_has_a_meaning() {
        let cases = [
            ("[ 9.1] sched_ext: BPF scheduler \"x\" disabled (runnable task stall)", "sched_ext"),
            ("kernel: sched_ext: x: app[12] failed to run for 5.010s", "sched_ext"),
            ("(app/12): new 980 us maximum-latency critical section.", "preemption disabled"),
            ("( IRQ 14-1783 |#0): new 826 us maximum-latency wakeup.", "wake-up"),
            ("perf: interrupt took too long (2501 > 2500),", "perf"),
            ("rcu: rcu_preempt kthread timer wakeup didn't happen for 2501 jiffies!", "RCU"),
            ("irq 17: ... cared (try booting with the \"irqpoll\" option)", "no handler"),
            ("CPU3: Core temperature above threshold, cpu clock throttled (total events = 1)", "hot"),
            ("app: page allocation stalls for 10004ms, order:0", "memory"),
            ("WARNING: possible circular locking dependency detected", "lockdep"),
            ("WARNING: inconsistent lock state", "may wait for itself"),
            ("[ BUG: Invalid wait context ]", "PREEMPT_RT"),
            ("clocksource: Watchdog remote CPU 7 read timed out", "clock"),
            ("clocksource: Marking clocksource tsc unstable due to frequency skew", "clock"),
            ("nvme nvme0: I/O 12 QID 3 timeout, aborting", "storage"),
            ("nvme nvme0: I/O tag 12 (100c) opcode 0x2 (Read) QID 3 timeout, reset controller", "storage"),
            ("ata3.00: exception Emask 0x0 SAct 0x0 SErr 0x0 action 0x6 frozen", "storage"),
            ("sd 2:0:0:0: [sdb] tag#1 timing out command, waited 180s", "storage"),
            ("mmc0: Timeout waiting for hardware interrupt.", "storage"),
            ("nfs: server 10.0.0.7 not responding, still trying", "storage"),
            ("Watchdog CPU:3 Hard LOCKUP", "hard lockup"),
            ("watchdog: CPU 3 Hard LOCKUP", "hard lockup"),
            ("Kernel panic - not syncing: Hard LOCKUP", "set to stop"),
            ("BUG: spinlock lockup suspected on CPU#3, mill/7", "did not get a spinlock"),
            ("note: app[12] exited with preempt_count 2", "was ended"),
            ("BUG: workqueue leaked lock or atomic: kworker/0:2/0x1/71", "work item returned"),
            ("BUG: workqueue leaked atomic, lock or RCU: kworker/0:2[71]", "work item returned"),
            ("bad: scheduling from the idle thread!", "the idle thread of a CPU was about to sleep"),
            ("watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [swapper/0:1]", "did not run its watchdog"),
            ("watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [swapper/0:0]", "while its idle task had it"),
            ("Internal error: synchronous external abort: 96000210 [#1] SMP", "crashed"),
            ("Internal error: undefined instruction: 0 [#1] PREEMPT SMP ARM", "crashed"),
            ("Oops - illegal instruction [#1]", "crashed"),
            ("[Xenomai] watchdog triggered on CPU #0 -- runaway thread 'a' signaled", "Xenomai"),
        ];
        for (line, words) in cases {
            assert!(meaning(line).is_some_and(|found| found.contains(words)), "{line}");
        }
        let quoted = "After I changed the config, the kernel prints \"BUG: scheduling while atomic: app\"";
        assert!(is_quoted(quoted) && is_quoted("启动时内核报告了 BUG: scheduling while atomic: app"));
        for quoted in [
            "Fix the soft lockup that was seen on big machines.",
            "a task that is blocked for more than 120 seconds is hung",
        ] {
            assert!(is_quoted(quoted), "{quoted}");
        }
        assert!(!is_quoted(
            "Then I see that there is this in the log: [   12.345678] sched: RT throttling activated"
        ));
        for line in [
            "Unable to handle kernel paging request at virtual address 00000008",
            "NOHZ tick-stop error: Non-RCU local softirq work is pending, handler #08!!!",
            "[Xenomai] watchdog triggered on CPU #0 -- runaway thread 'a' signaled",
            "NMI received for unknown reason 2d on CPU 0.",
            "Watchdog detected hard LOCKUP on cpu 13",
            "Clocksource tsc unstable (delta = 62493812 ns)",
            "watchdog: BUG: soft lockup - CPU#1 stuck for 22s!",
            "INFO: task jbd2/sda1-8:12 blocked for more than 120 s",
        ] {
            assert!(!is_quoted(line), "{line}");
        }
        assert_eq!(meaning("Internal error: the service did not start"), None);
        assert_eq!(meaning("the perf tool took long to interrupt"), None);
    }
}
