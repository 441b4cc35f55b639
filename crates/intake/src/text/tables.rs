//! Tables that other tools make of recordings: they hold sums, and not the events that an explanation needs.

/// A table that a line is the head of: which tool printed it, and what to give instead.
pub(crate) fn named(line: &str) -> Option<(&'static str, &'static str)> {
    const PERF: &str = "give the recording itself (perf.data), or the output of `perf script`";
    const EVENTS: &str = "give the trace itself (trace.dat, perf.data), or its events as text";
    const TABLES: [(&[&str], &str, &str); 9] = [
        (&["task name", "wait time", "sch delay"], "perf sched timehist", PERF),
        (&["Task", "Runtime ms", "delay ms"], "perf sched latency", PERF),
        (&["Kwork Name", "Cpu"], "perf kwork", PERF),
        (&["Task", "Runtime ms", "Count"], "perf sched", PERF),
        (&[" secs ", " => ", "*"], "perf sched map", PERF),
        (&["{ ", " } hitcount:"], "a histogram trigger of the kernel", EVENTS),
        (&["TIME", "COMM", "LAT(us)"], "bcc's runqslower", EVENTS),
        (&["atenc", "ercentiles (us"], "schbench", "record the scheduler while it runs: `whylate record`"),
        (&["CPU0", "CPU1"], "/proc/interrupts or /proc/softirqs", "record the interrupts: `whylate record`"),
    ];
    let is_head = |words: &[&str]| words.iter().all(|word| line.contains(word));
    TABLES.iter().find(|(words, ..)| is_head(words)).map(|&(_, tool, advice)| (tool, advice))
}
