//! What a text without events is: a table that another tool made of a recording, a log, or events without what an explanation
//! needs.

use super::kernel_log;

/// What a text without events is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Other {
    /// A table of sums: the tool that printed it, and what to give instead.
    Table { tool: &'static str, advice: &'static str },
    /// Something else that is known: what, and what to give instead.
    Known { what: &'static str, advice: &'static str },
    /// The kernel's log: the line of a message in it, and what that means.
    KernelLog { line: u64, meaning: &'static str },
}

/// What the line `number` shows the text to be.
pub(super) fn named(number: u64, line: &str) -> Option<Other> {
    let is_head = |words: &[&str]| words.iter().all(|word| line.contains(word));
    if let Some(&(_, what, advice)) = SAMPLES.iter().find(|(words, ..)| is_head(words)) {
        return Some(Other::Known { what, advice });
    }
    let table = TABLES.iter().find(|(words, ..)| is_head(words));
    table
        .map(|&(_, tool, advice)| Other::Table { tool, advice })
        .or_else(|| kernel_log::message(line).map(|meaning| Other::KernelLog { line: number, meaning }))
        .or_else(|| lacking(line).map(|(what, advice)| Other::Known { what, advice }))
}

const PERF: &str = "give the recording itself (perf.data), or the output of `perf script`";
const EVENTS: &str = "give the trace itself (trace.dat, perf.data), or its events as text";
const RECORD: &str = "record the scheduler while it runs: `whylate record`";
const INTERRUPTS: &str = "record the interrupts: `whylate record`";

/// Tables, by words of their heads; the first that fits.
const TABLES: [(&[&str], &str, &str); 14] = [
    (&["task name", "wait time", "sch delay"], "perf sched timehist", PERF),
    (&["Task", "Runtime ms", "delay ms"], "perf sched latency", PERF),
    (&["Kwork Name", "Cpu"], "perf kwork", PERF),
    (&["Task", "Runtime ms", "Count"], "perf sched", PERF),
    (&["Tasks", "count", "total", "avg", "max"], "perf sched of 2009", PERF),
    (&[" secs ", " => ", "*"], "perf sched map", PERF),
    (&["{ ", " } hitcount:"], "a histogram trigger of the kernel", EVENTS),
    (&["TIME", "COMM", "LAT(us)"], "bcc's runqslower", EVENTS),
    (&["HARDIRQ", "TOTAL_"], "bcc's hardirqs", INTERRUPTS),
    (&["SOFTIRQ", "TOTAL_"], "bcc's softirqs", INTERRUPTS),
    (&["Caller", "Avg ", "Count"], "bcc's klockstat", RECORD),
    (&["Tracing off-CPU time"], "bcc's offcputime", RECORD),
    (&["atenc", "ercentiles (us"], "schbench", RECORD),
    (&["CPU0", "CPU1"], "/proc/interrupts or /proc/softirqs", INTERRUPTS),
];

/// What tools print of single cases, without what came before each.
const SAMPLES: [(&[&str], &str, &str); 2] = [
    (
        &["TIME", "SOFTIRQ", "LAT(us)"],
        "the output of bcc's softirqslower, which has no cause of a latency",
        INTERRUPTS,
    ),
    (
        &["Finding critical section with "],
        "the output of bcc's criticalstat, which has the ends of a critical section and not what ran in it",
        "record it by the tracers irqsoff or preemptoff, with its functions",
    ),
];

/// Events that lack what an explanation needs.
fn lacking(line: &str) -> Option<(&'static str, &'static str)> {
    if line.contains("latency trace v1.1.1 on ") || line.contains("latency trace v1.1.2 on ") {
        return Some((
            "a latency trace in the format of 2004 (v1.1.1, v1.1.2), which whylate does not read",
            "later formats are read, from v1.1.3 on",
        ));
    }
    if line.contains(": { cpu_id = ") && !line.starts_with('[') {
        return Some((
            "text of LTTng without the times of its events",
            "print it with all fields, as `babeltrace2 DIRECTORY > trace.txt` does",
        ));
    }
    const EVENTS: [&str; 5] = [
        "sched_switch: prev_comm=",
        "workqueue_execute_start: ",
        "thread_noise: ",
        "irq_noise: ",
        "softirq_noise: ",
    ];
    let is_event = EVENTS.iter().any(|event| line.contains(event));
    is_event.then_some((
        "events without the thread, the CPU or the time in front of them",
        "give whole lines, as the tracefs file `trace` and `trace-cmd report` print them",
    ))
}
