//! What a text without events is: a table that another tool made of a recording, a log, or events without what an explanation
//! needs.

use super::cases::Cases;
use super::figures::Figures;
use super::jack::JackLog;
use super::kernel_log::{self, KernelLog};
use super::known::{EVENTS, INTERRUPT_EVENTS, RECORD, Row, by_words};
use super::prose::{self, LineParts};
use super::{others, programs};

/// What a text without events is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Other {
    /// A table of sums: the tool that printed it, and what to give instead.
    Table { tool: &'static str, advice: &'static str },
    /// Something else that is known: what, and what to give instead.
    Known { what: &'static str, advice: &'static str },
    /// What a line lets one guess, unless a later one shows more.
    Guess { what: &'static str, advice: &'static str },
    /// A list of single delays.
    Cases(Box<Cases>),
    /// Figures of another program.
    Figures(Box<Figures>),
    /// Call stacks of the kernel's log, of which no message was met yet.
    Stacks(Box<KernelLog>),
    /// The kernel's log.
    KernelLog(Box<KernelLog>),
    /// The same, in which no message is known as one about what is late.
    QuietLog,
}

/// A line that is none of a trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct OtherLine<'a> {
    pub(super) number: u64,
    pub(super) text: &'a str,
    /// With the time that the kernel's log has before it.
    pub(super) logged: &'a str,
}

impl<'a> OtherLine<'a> {
    /// A line of which no such time is known.
    pub(super) fn bare(number: u64, text: &'a str) -> OtherLine<'a> {
        OtherLine { number, text, logged: text }
    }
}

impl Other {
    /// Takes in that a line follows in the same text. Of a log all kinds of messages count, and before what programs
    /// wrote into it.
    pub(super) fn followed_by(&mut self, line: OtherLine<'_>) {
        let OtherLine { number, text, logged } = line;
        if let Other::Guess { .. } = self {
            if let Some(shown) = shown(line) {
                *self = shown;
            }
            return;
        }
        if let Other::Cases(cases) = self {
            cases.line(number, text);
            return;
        }
        if let Other::Figures(figures) = self {
            figures.line(number, text);
        }
        if let Other::Stacks(log) = self {
            log.line(number, logged);
            if log.has_message() {
                *self = Other::KernelLog(std::mem::take(log));
            } else if let Some(shown) = shown(line) {
                *self = shown;
            }
            return;
        }
        if let Other::KernelLog(log) = self {
            log.line(number, logged);
        } else if !matches!(self, Other::Table { .. })
            && let Some(log) = KernelLog::beginning(number, logged)
        {
            *self = Other::KernelLog(Box::new(log));
        }
    }

    /// What it is, in words.
    fn what(&self) -> String {
        match self {
            Other::Table { tool, .. } => format!("a table of {tool}"),
            Other::Known { what, .. } | Other::Guess { what, .. } => (*what).to_owned(),
            Other::Cases(cases) => cases.what().to_owned(),
            Other::Figures(figures) => figures.what().to_owned(),
            Other::Stacks(_) => STACKS.0.to_owned(),
            Other::KernelLog(log) => log.what().to_owned(),
            Other::QuietLog => "a log of the kernel".to_owned(),
        }
    }
}

/// Takes in a line below rows: the kernel's log may stand beside them.
pub(super) fn beside_rows(other: &mut Option<Other>, line: OtherLine<'_>) {
    match other {
        Some(log @ Other::KernelLog(_)) => log.followed_by(line),
        None => {
            *other = KernelLog::beginning(line.number, line.logged).map(|log| Other::KernelLog(Box::new(log)))
        }
        Some(_) => {}
    }
}

/// What the messages of the kernel's log in a text mean, where it has any but those that a person quotes.
pub(super) fn logged(other: Option<&Other>) -> Option<String> {
    let Some(Other::KernelLog(log)) = other else { return None };
    log.has_own_message().then(|| log.to_string())
}

/// Takes in a line that begins with `#`: the kernel's log numbers rows of a report so (`#1: 100% system`).
pub(super) fn comment(other: &mut Option<Other>, line: OtherLine<'_>) {
    if let Some(log @ Other::KernelLog(_)) = other {
        log.followed_by(line);
    }
}

/// What a text is that is no measurement, by its first line that shows it.
pub(crate) fn what_is(text: &str) -> Option<String> {
    /// No table has its head below so many lines.
    const MOST_LINES: usize = 2_000;
    let lines = || text.lines().take(MOST_LINES);
    let lines = || lines().map(|line| OtherLine::bare(0, line));
    let other = lines().find_map(shown).or_else(|| lines().find_map(guessed));
    other.map(|other| other.what())
}

/// What a line shows the text to be, or lets one guess.
pub(super) fn named(line: OtherLine<'_>) -> Option<Other> {
    shown(line).or_else(|| guessed(line))
}

fn guessed(line: OtherLine<'_>) -> Option<Other> {
    let OtherLine { number, text, logged } = line;
    let guess = programs::guessed(text).map(|(what, advice)| Other::Guess { what, advice });
    guess.or_else(|| {
        (programs::is_frame(text) || kernel_log::is_line_of_cpu(logged))
            .then(|| Other::Stacks(Box::new(KernelLog::of_stack(number, logged))))
    })
}

fn shown(line: OtherLine<'_>) -> Option<Other> {
    let OtherLine { number, text, logged } = line;
    if let Some((what, advice)) = by_words(&SAMPLES, text) {
        return Some(Other::Known { what, advice });
    }
    if let Some(cases) = Cases::beginning(number, text) {
        return Some(Other::Cases(Box::new(cases)));
    }
    if let Some(figures) = Figures::beginning(text) {
        return Some(Other::Figures(Box::new(figures)));
    }
    by_words(&TABLES, text)
        .map(|(tool, advice)| Other::Table { tool, advice })
        .or_else(|| KernelLog::beginning(number, logged).map(|log| Other::KernelLog(Box::new(log))))
        .or_else(|| {
            others::named(text).or_else(|| lacking(text)).or_else(|| programs::named(text)).map(
                |(what, advice)| match what {
                    others::JACK => Other::Figures(Box::new(Figures::Jack(JackLog::beginning(number, text)))),
                    what => Other::Known { what, advice },
                },
            )
        })
}

/// What a text of call stacks alone looks like, and what to give instead.
pub(crate) const STACKS: (&str, &str) = ("call stacks without the events that they belong to", RECORD);
const PERF: &str = "give the recording itself (perf.data), or the output of `perf script`";
const LINUXCNC: &str = "for a comparison give the histogram of LinuxCNC's latency-histogram; for causes record it: `whylate record`";
const RTEVAL: &str = "for a comparison run its command with a histogram, as `cyclictest -h 1000`; for causes record it: `whylate record`";

const TIMEHIST: &str = "a table of perf sched timehist without rows that can be read";
const TIMEHIST_ROWS: &str = "give whole rows of it, or the recording itself (perf.data)";

/// Tables, by words of their heads; the first that fits.
const TABLES: [Row; 19] = [
    (&["parent", "sched-in", "run-time"], "perf sched timehist --summary", PERF),
    (&["parent", "sched-out", "idle-time"], "perf sched timehist --idle-hist", PERF),
    (&["CPU ", " idle for ", " msec "], "perf sched timehist --summary", PERF),
    (&["Task", "Runtime ms", "delay ms"], "perf sched latency", PERF),
    // Rows without their title.
    (&["| avg:", " ms | max:", " ms |"], "perf sched latency", PERF),
    (&["Task", "Avg delay", "Max delay"], "perf sched latency", PERF),
    (&["Kwork Name", "Cpu"], "perf kwork", PERF),
    (&["Task", "Runtime ms", "Count"], "perf sched", PERF),
    (&["Tasks", "count", "total", "avg", "max"], "perf sched of 2009", PERF),
    (&[" secs ", " => ", "*"], "perf sched map", PERF),
    (&["{ ", " } hitcount:"], "a histogram trigger of the kernel", EVENTS),
    (&["HARDIRQ", "TOTAL_"], "bcc's hardirqs", INTERRUPT_EVENTS),
    (&["SOFTIRQ", "TOTAL_"], "bcc's softirqs", INTERRUPT_EVENTS),
    (&["Caller", "Avg ", "Count"], "bcc's klockstat", RECORD),
    (&["Tracing off-CPU time"], "bcc's offcputime", RECORD),
    (&["atenc", "ercentiles (us"], "schbench", RECORD),
    (&["rteval (v", ") report"], "rteval", RTEVAL),
    (&["RTH|", "ctx switches"], "Xenomai's switchtest", RECORD),
    (&["CPU0", "CPU1"], "/proc/interrupts or /proc/softirqs", INTERRUPT_EVENTS),
];

/// What tools print of single cases, without what came before each.
const SAMPLES: [Row; 4] = [
    (&["task name", "wait time", "sch delay"], TIMEHIST, TIMEHIST_ROWS),
    (
        &["hwlatdetect:", "test duration"],
        "the head of a report of hwlatdetect, without its result",
        "give the report up to `Max Latency:`",
    ),
    (&["realtime delay on task"], "a message of LinuxCNC: a thread came later than its period", LINUXCNC),
    (
        &["Overrun detected!", "controller manager missed"],
        "the log of ROS 2's controller_manager: the work of a cycle took longer than its period, or began late",
        RECORD,
    ),
];

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|sign| sign.is_ascii_digit() || sign == b'.')
}

/// Events that lack what an explanation needs.
fn lacking(line: &str) -> Option<(&'static str, &'static str)> {
    if line.contains("latency trace v1.1.1 on ") || line.contains("latency trace v1.1.2 on ") {
        return Some((
            "a latency trace in the format of 2004 (v1.1.1, v1.1.2), which whylate does not read",
            "v1.0.x is read, and later formats from v1.1.3 on",
        ));
    }
    if line.contains(": { cpu_id = ") && !line.starts_with('[') {
        return Some((
            "text of LTTng without the times of its events",
            "print it with all fields, as `babeltrace2 DIRECTORY > trace.txt` does",
        ));
    }
    /// An event by its name and a field of it.
    const EVENTS: [(&str, &str); 15] = [
        ("sched_switch:", "prev_comm="),
        ("sched_switch:", " ==> "),
        ("sched_waking:", "comm="),
        ("sched_wakeup:", "comm="),
        ("sched_wakeup:", "success=1"),
        ("sched_stat_wait:", "delay="),
        ("sched_stat_runtime:", "runtime="),
        ("sched_migrate_task:", "dest_cpu="),
        ("hrtimer_expire_entry:", "hrtimer="),
        ("irq_handler_entry:", "irq="),
        ("cpu_idle:", "state="),
        ("workqueue_execute_start: ", ""),
        ("thread_noise: ", ""),
        ("irq_noise: ", ""),
        ("softirq_noise: ", ""),
    ];
    let is_event = EVENTS
        .iter()
        .any(|(event, field)| line.split_once(event).is_some_and(|(_, fields)| fields.contains(field)));
    // The words before the event are there, and in an order of their own.
    if is_event && prose::has_time_and_cpu(line) {
        return Some((
            "events in lines of an unknown form",
            "give them as the tracefs file `trace`, `trace-cmd report` or `perf script` print them",
        ));
    }
    let what = match prose::parts(line) {
        _ if !is_event && !is_bare_switch(line) => return None,
        // A switch names its threads itself.
        LineParts { has_cpu: false, has_time: true, .. } if !is_event => {
            "switches without the CPU in front of them"
        }
        LineParts { has_thread: false, has_tid: true, has_cpu: true, has_time: false } => {
            "events without the time and the name of the thread in front of them: their order alone is known, and not for how long a thread \
             had the CPU or waited"
        }
        LineParts { has_thread: true, has_cpu: false, has_time: true, .. } => {
            "events without the CPU in front of them"
        }
        LineParts { has_thread: false, has_cpu: true, has_time: true, .. } => {
            "events without the thread in front of the CPU and the time"
        }
        LineParts { has_thread: true, has_cpu: true, has_time: false, .. } => {
            "events without the time in front of them: their order alone is known, and not for how long a thread had the CPU or waited"
        }
        LineParts { has_thread: false, has_cpu: false, has_time: true, .. } => {
            "events without the thread and the CPU in front of them"
        }
        LineParts { has_thread: true, has_cpu: false, has_time: false, .. } => {
            "events without the CPU and the time in front of them"
        }
        LineParts { has_thread: false, has_cpu: true, has_time: false, .. } => {
            "events without the thread and the time in front of them"
        }
        LineParts { .. } => "events without the thread, the CPU and the time in front of them",
    };
    Some((what, "give whole lines, as the tracefs file `trace` and `trace-cmd report` print them"))
}

/// `app:12 [120] S ==> swapper/1:0 [120]`, whatever is left out before it.
fn is_bare_switch(line: &str) -> bool {
    let thread = |text: &str| {
        let (name, prio) = text.trim().strip_suffix(']')?.rsplit_once(" [")?;
        let (_, tid) = name.rsplit_once(':')?;
        (is_number(tid) && is_number(prio)).then_some(())
    };
    let Some((prev, next)) = line.split_once(" ==> ") else { return false };
    let Some((prev, state)) = prev.rsplit_once(' ') else { return false };
    state.len() <= 3
        && state.starts_with(|c: char| c.is_ascii_uppercase())
        && thread(prev).and(thread(next)).is_some()
}
