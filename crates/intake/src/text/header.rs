//! A text trace's description of itself: `#` lines, `cpus=`, notes of lost events.

use super::fields;
use super::syscalls::Numbers;
use whylate_base::{Comm, Cpu, Ns, Policy, Tid, release_version};
use whylate_events::{Context, ContextFlags, Fact, LatencyTask, LatencyTrace, LatencyTracer};

/// The content of the lines above the events.
#[derive(Default)]
pub(crate) struct Header {
    pub(crate) cpus: Option<u32>,
    pub(crate) kernel_release: Option<String>,
    pub(crate) clock: Option<String>,
    pub(crate) machine: Option<String>,
    /// As `current_tracer` names it.
    pub(crate) tracer: Option<String>,
    /// The machine's system calls.
    pub(crate) numbers: Numbers,
    pub(crate) facts: Vec<Fact>,
    /// The first latency tracer's header.
    pub(crate) latency: Option<LatencyTrace>,
    /// How many such headers there are.
    pub(crate) latency_traces: u32,
    /// The longest latency in the headers behind the first.
    further_latency: Option<Ns>,
    /// The first of these headers.
    pub(crate) further: Vec<LatencyTrace>,
    title: Option<String>,
    /// The title, or that and the line with the latency, are missing.
    is_untitled: bool,
    /// The header is of the patches of 2004 to 2008, whose lines have no `#`.
    is_bare: bool,
    is_report: bool,
    /// `perf script` printed at least one line.
    pub(crate) is_perf: bool,
    /// A line of LTTng was seen.
    pub(crate) is_lttng: bool,
}

/// True of a header's line that a mail program may have broken: the one with the latency, and the one with the thread.
pub(crate) fn may_break(text: &str) -> bool {
    text.contains("latency: ") || text.contains("| task: ") || text.contains(" latency trace v")
}

/// The header in a line into which a page put all lines: `cat trace # tracer: irqsoff # # irqsoff latency trace ...`.
pub(crate) fn put_into_one(text: &str) -> Option<&str> {
    /// A line of a header is shorter, and has fewer marks.
    const LONGEST: usize = 250;
    const MOST_MARKS: usize = 4;
    (text.len() > LONGEST && text.contains("latency: ") && text.matches(" #").count() > MOST_MARKS)
        .then_some(())?;
    text.find("# tracer: ").and_then(|at| text.get(at..)).map(|header| header.trim_start_matches('#'))
}

/// More headers behind the first are not kept.
const MOST_FURTHER: usize = 4;

/// What a file may make us keep of facts.
const MOST_FACTS: usize = 1024;

/// Functions in which those tracers begin to measure a wake-up.
const WAKES: [&str; 2] = ["try_to_wake_up", "__trace_start_sched_wakeup"];

/// What all latency tracers of the patches of 2004 to 2008 call themselves.
const OLD_TITLE: &str = "preemption";

impl Header {
    /// What the file is, in a few words.
    pub(crate) fn format(&self) -> String {
        match &self.title {
            Some(title) => title.clone(),
            None if self.is_perf => "perf script text".to_owned(),
            None if self.is_lttng => "LTTng text".to_owned(),
            None if self.is_report => "trace-cmd report text".to_owned(),
            None => "ftrace text".to_owned(),
        }
    }

    /// Reads a line that began with `#`; most are column titles, and state nothing.
    pub(crate) fn comment(&mut self, text: &str) {
        let text = fields::trim(text);
        // `whylate convert` writes what a report lacks.
        if let Some(about) = text.strip_prefix("whylate:") {
            for (key, value) in about.split_whitespace().filter_map(|word| word.split_once('=')) {
                match key {
                    "clock" => self.clock = Some(value.to_owned()),
                    "release" => self.kernel_release = Some(value.to_owned()),
                    "machine" => {
                        self.numbers = Numbers::of(value);
                        self.machine = Some(value.to_owned());
                    }
                    _ => {}
                }
            }
        }
        if let Some(tracer) = text.strip_prefix("tracer:").map(fields::first_word)
            && self.tracer.is_none()
        {
            self.tracer = Some(tracer.to_owned());
        }
        // A mail program may break the line before it, and its mark is then that of a comment.
        let broken_off = || text.strip_prefix("P:").filter(|cpus| cpus.trim_end().ends_with(')'));
        if let Some(cpus) = text.rsplit_once("#P:").map(|(_, cpus)| cpus).or_else(broken_off) {
            self.cpus = leading_number(cpus);
        }
        // Each of them is sought anywhere in the line: pasted text may have lost the ends of its lines.
        if let Some((before, after)) = text.split_once(" latency trace v")
            && let Some((version, release)) =
                after.split_once(" on ").or_else(|| of_summer_2004(before, after))
            && let Some((_, tracer)) = fields::last_word(before)
        {
            self.begin(tracer, &format!("{tracer} latency trace v{version}"), release);
        }
        if let Some((_, rest)) = text.split_once("latency: ") {
            // Of the title many keep only the line with the tracer.
            if rest.contains("CPU#") {
                self.begin_titled_by_tracer();
            }
            self.measured(rest);
        }
        if let Some(task) = text.split_once("| task:").map(|(_, task)| task).or(text.strip_prefix("task:")) {
            self.task(task);
        }
        if let Some((_, function)) = text.split_once("=> started at:") {
            match function_of(function) {
                // The patches of 2004 print it of a wake-up, too.
                Some(function) if self.is_bare && WAKES.contains(&function.as_str()) => {}
                // A program began to measure itself (`gettimeofday(0, 1)`): nothing was disabled.
                None if self.is_bare && self.latency_traces == 1 => self.latency = None,
                _ => self.begin_section(),
            }
        }
        for (end, is_start) in [("=> started at:", true), ("=> ended at:", false)] {
            if let Some((_, function)) = text.split_once(end)
                && let Some(latency) = self.first_latency()
            {
                let function = function_of(function);
                *(if is_start { &mut latency.started_at } else { &mut latency.ended_at }) = function;
            }
        }
    }

    /// `wakeup_rt latency trace v1.1.5 on 6.12.107+deb13-rt-amd64`
    fn begin(&mut self, tracer: &str, title: &str, release: &str) {
        self.latency_traces += 1;
        if self.latency_traces > 1 {
            let tracer = LatencyTracer::from_name(fields::trim(tracer));
            let trace = tracer.map(|tracer| latency_trace(tracer, Cpu::UNKNOWN));
            self.further.extend(trace.filter(|_| self.further.len() < MOST_FURTHER));
            return;
        }
        self.title = Some(title.to_owned());
        let release = fields::first_word(release).trim_end_matches(['#', '-']);
        self.kernel_release = (!release.is_empty()).then(|| release.to_owned());
        let tracer = match fields::trim(tracer) {
            // All tracers of those patches have this name; a critical section shows where it started.
            OLD_TITLE => Some(LatencyTracer::Wakeup),
            name => LatencyTracer::from_name(name),
        };
        self.latency = tracer.map(|tracer| latency_trace(tracer, Cpu(0)));
    }

    /// True of a title without `#`: `preemption latency trace v1.0.7 on 2.6.10`.
    pub(crate) fn is_bare_title(text: &str) -> bool {
        let name = text.split_once(" latency trace v").map(|(name, _)| name);
        name.is_some_and(|name| name == OLD_TITLE || LatencyTracer::from_name(name).is_some())
    }

    /// The same of the patches of 2004 to 2008 alone, whose traces count from their own beginning.
    pub(crate) fn is_old_title(text: &str) -> bool {
        text.split_once(" latency trace v").is_some_and(|(name, _)| name == OLD_TITLE)
    }

    /// Reads a header's line without `#`: as the patches of 2004 to 2008 wrote all of them (`/proc/latency_trace`), and as
    /// a page shows them that takes the `#` for its own. False when it is none.
    pub(crate) fn bare_line(&mut self, text: &str) -> bool {
        let is_title = Header::is_bare_title(text);
        let begins = ["latency: ", "| task:", "=> started at:", "=> ended at:"];
        // 2.6.26 and others have the mark in front of some lines only.
        let is_below_title = self.is_bare || self.latency_traces > 0;
        let is_line = is_below_title && begins.iter().any(|begin| text.starts_with(begin));
        self.is_bare |= is_title;
        if is_title || is_line {
            self.comment(text);
        }
        is_title || is_line
    }

    /// The title was left out, and the line with the latency was not.
    fn begin_titled_by_tracer(&mut self) {
        if let Some(tracer) = self.tracer.as_deref().and_then(LatencyTracer::from_name) {
            self.begin_untitled(Some(tracer));
        }
    }

    /// A line that only the header of a critical section has.
    fn begin_section(&mut self) {
        // All tracers of those patches have one name.
        let of_either = |latency: &&mut LatencyTrace| {
            latency.tracer.is_wakeup() || latency.tracer == LatencyTracer::Preemptirqsoff
        };
        if self.is_bare
            && let Some(latency) = self.first_latency().filter(of_either)
        {
            // Which of the two was off, the first line shows.
            latency.tracer = LatencyTracer::Preemptirqsoff;
            self.is_untitled = true;
        }
        let named = self.tracer.as_deref().and_then(LatencyTracer::from_name);
        self.begin_untitled(named.filter(|tracer| !tracer.is_wakeup()));
    }

    /// The lines above were left out.
    fn begin_untitled(&mut self, named: Option<LatencyTracer>) {
        if self.latency_traces > 0 {
            return;
        }
        self.latency_traces = 1;
        self.is_untitled = true;
        self.title =
            Some(format!("{} without its title", named.map_or("latency tracer", LatencyTracer::name)));
        self.latency = Some(latency_trace(named.unwrap_or(LatencyTracer::Preemptirqsoff), Cpu::UNKNOWN));
    }

    /// The text has the end of a critical section, and no header.
    pub(crate) fn fragment(&mut self, ended: LatencyTrace) {
        let named = self.tracer.as_deref().map(LatencyTracer::from_name);
        if self.latency.is_none() && named.is_none_or(|named| named.is_some_and(|named| !named.is_wakeup())) {
            self.latency_traces = 1;
            self.title = Some(format!("{} without its header", ended.tracer.name()));
            self.latency = Some(ended);
        }
    }

    /// What the first line of the trace shows of a critical section whose header lacks it.
    pub(crate) fn first_line(&mut self, cpu: Cpu, context: Context, comm: &str) {
        let Some(latency) = self.latency.as_mut().filter(|_| self.is_untitled) else { return };
        if latency.cpu == Cpu::UNKNOWN {
            latency.cpu = cpu;
        }
        // The first line of a wake-up is one of the waker.
        if latency.tracer.is_wakeup() {
            return;
        }
        let (tid, comm) = (context.tid, Comm::from(comm));
        latency.task.get_or_insert(LatencyTask { tid, comm, policy: None, rt_priority: 0 });
        let flags = context.flags;
        if latency.tracer == LatencyTracer::Preemptirqsoff
            && self.tracer.is_none()
            && !flags.contains(ContextFlags::IRQS_UNKNOWN)
        {
            latency.tracer = match flags.contains(ContextFlags::IRQS_OFF) {
                true => LatencyTracer::Irqsoff,
                false => LatencyTracer::Preemptoff,
            };
        }
    }

    /// `2 more latency traces follow the first, with up to 2.48 ms`, if there are more than one.
    pub(crate) fn further_traces(&self) -> Option<String> {
        let more = self.latency_traces.checked_sub(1).filter(|&more| more > 0)?;
        let longest = self.further_latency.map(|longest| match more {
            1 => format!(", with a latency of {longest}"),
            _ => format!(", with latencies of up to {longest}"),
        });
        Some(format!("{more} more latency traces follow the first{}", longest.unwrap_or_default()))
    }

    /// The thread whose lateness a trace of the patches of 2004 to 2008 is of.
    pub(crate) fn old_task(&self) -> Option<LatencyTask> {
        self.latency.as_ref().filter(|_| self.is_bare && self.latency_traces == 1)?.task
    }

    fn first_latency(&mut self) -> Option<&mut LatencyTrace> {
        self.latency.as_mut().filter(|_| self.latency_traces == 1)
    }

    /// `103 us, #54/54, CPU#0 | (M:preempt_rt VP:0, KP:0, SP:0 HP:0 #P:1)`
    fn measured(&mut self, text: &str) {
        let us = fields::first_word(text).parse::<i64>().ok().and_then(|us| us.checked_mul(1_000));
        let cpu = text.split_once("CPU#").and_then(|(_, cpu)| leading_number(cpu));
        // `entries: 94 (94)` until v1.0.x: those that are shown, and all.
        let entries = text
            .split_once(" #")
            .and_then(|(_, entries)| leading_number(entries))
            .or_else(|| leading_number(text.split_once("entries: ")?.1.split_once('(')?.1));
        if let Some(latency) = self.first_latency() {
            latency.entries = entries.map(u64::from);
            latency.latency = us.map_or(latency.latency, Ns);
            latency.cpu = cpu.and_then(|cpu| fields::cpu_from(&cpu.to_string())).unwrap_or(latency.cpu);
        } else if self.latency_traces > 1 {
            self.further_latency = self.further_latency.max(us.map(Ns));
            if let Some((last, us)) = self.further.last_mut().zip(us) {
                last.latency = Ns(us);
                last.cpu = cpu.and_then(|cpu| fields::cpu_from(&cpu.to_string())).unwrap_or(last.cpu);
            }
        }
        if let Some((_, model)) = text.split_once("(M:") {
            let model = fields::first_word(model).to_ascii_lowercase();
            let is_rt = is_rt_model(&model, self.kernel_release.as_deref().unwrap_or_default());
            self.fact(Fact::PreemptRt(is_rt));
        }
    }

    fn task(&mut self, text: &str) {
        let Some(task) = latency_task(text) else { return };
        if let Some(latency) = self.first_latency() {
            latency.task = Some(task);
        } else if let Some(last) = self.further.last_mut() {
            last.task = Some(task);
        }
        // Only real-time policies are facts; the other ones show in the priority.
        if let Some(policy) = task.policy.filter(|policy| policy.is_realtime()) {
            let LatencyTask { tid, comm, rt_priority, .. } = task;
            self.fact(Fact::Policy { tid, policy, priority: rt_priority, comm });
        }
    }

    fn fact(&mut self, fact: Fact) {
        // A second trace may be of another kernel.
        if self.facts.len() < MOST_FACTS && self.latency_traces <= 1 {
            self.facts.push(fact);
        }
    }

    /// Reads a line of `trace-cmd report` that is no event; false when it is not one.
    pub(crate) fn report_line(&mut self, text: &str) -> bool {
        if let Some(cpus) = text.strip_prefix("cpus=") {
            self.is_report = true;
            self.cpus = leading_number(cpus);
            return true;
        }
        let is_version = text.strip_prefix("version = ").is_some_and(|v| fields::digits(v).is_some());
        let is_empty_cpu = text.starts_with("CPU ") && text.ends_with(" is empty");
        // Records of the ring buffer without an event, by `--debug`.
        let is_of_buffer =
            ["TIME EXTEND: delta:", "TIME STAMP: "].iter().any(|record| text.starts_with(record));
        self.is_report |= is_version || is_empty_cpu || is_of_buffer;
        is_version || is_empty_cpu || is_of_buffer
    }
}

/// True of the line in which `trace-cmd report --debug` begins a page of a CPU's buffer: `CPU:110 [SUBBUFFER START] [81779:0x1320000]`.
pub(crate) fn begins_page(text: &str) -> bool {
    text.starts_with("CPU:") && text.contains(" [SUBBUFFER START] ")
}

/// True of the first line that the kernel prints above a trace: `# tracer: nop`.
pub(crate) fn is_title(text: &str) -> bool {
    fields::trim(text.trim_start_matches('#')).starts_with("tracer: ")
}

fn latency_trace(tracer: LatencyTracer, cpu: Cpu) -> LatencyTrace {
    LatencyTrace {
        tracer,
        latency: Ns::ZERO,
        cpu,
        task: None,
        started_at: None,
        ended_at: None,
        entries: None,
        marked: None,
    }
}

/// The version of a title without the kernel's release, as v1.0.1 wrote it.
fn of_summer_2004<'a>(before: &str, after: &'a str) -> Option<(&'a str, &'a str)> {
    let is_version = after.starts_with("1.0.") && !after.contains(' ');
    (before == OLD_TITLE && is_version).then_some((after, ""))
}

/// A function's name, without what others wrote behind it: offset, drawing, remarks.
fn function_of(text: &str) -> Option<String> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "_.$".contains(c);
    let name = fields::first_word(text);
    let name = name.get(..name.find(|c| !is_of_name(c)).unwrap_or(name.len()))?;
    let is_name = name.starts_with(|first: char| !first.is_ascii_digit());
    is_name.then(|| name.to_owned())
}

/// `cyclictest-12905 (uid:0 nice:0 policy:1 rt_prio:80)`: a latency tracer's victim; `-0` is none.
fn latency_task(text: &str) -> Option<LatencyTask> {
    let (comm, tid, settings) = match text.rsplit_once(" (uid:") {
        Some((who, settings)) => {
            let (comm, tid) = fields::comm_pid(fields::trim(who))?;
            (comm, tid, settings)
        }
        // `kacpid/6, uid:0 nice:-10 policy:0 rt_prio:0` until v1.0.x.
        None => {
            let (who, settings) = text.rsplit_once(", uid:")?;
            let (comm, tid) = fields::trim(who).rsplit_once('/')?;
            (comm, Tid(fields::digits(tid)?.parse().ok()?), settings)
        }
    };
    let setting = |key: &str| leading_number(settings.split_once(key)?.1);
    let policy = setting(" policy:").and_then(Policy::from_raw);
    let rt_priority = setting(" rt_prio:")?;
    (!comm.is_empty()).then_some(LatencyTask { tid, comm: Comm::from(comm), policy, rt_priority })
}

/// A line that notes a loss.
pub(crate) struct NotedLoss<'a> {
    /// The buffer's name; empty for the first one.
    pub(crate) buffer: &'a str,
    pub(crate) cpu: Cpu,
    /// How many events, where the line has it.
    pub(crate) count: Option<u64>,
}

/// A loss as the kernel and trace-cmd note it: `CPU:1 [LOST 123 EVENTS]`,
/// `CPU:1 [123 EVENTS DROPPED]`, either without a count; trace-cmd puts the name of another buffer than the first in front:
/// `threads: CPU:1 [...]`.
pub(crate) fn loss(text: &str) -> Option<NotedLoss<'_>> {
    let of_buffer = || text.split_once(": CPU:").filter(|(buffer, _)| !buffer.contains(char::is_whitespace));
    let (buffer, place) = text.strip_prefix("CPU:").map(|place| ("", place)).or_else(of_buffer)?;
    let (cpu, note) = place.split_once(char::is_whitespace)?;
    let note = note.trim().strip_prefix('[')?.strip_suffix(']')?;
    let mut words = note.split_whitespace().filter(|word| word.parse::<u64>().is_err());
    let is_loss = matches!(
        (words.next(), words.next(), words.next()),
        (Some("LOST"), Some("EVENTS"), None) | (Some("EVENTS"), Some("DROPPED"), None)
    );
    let count = note.split_whitespace().find_map(|word| word.parse().ok());
    is_loss.then_some(NotedLoss { buffer, cpu: fields::cpu_from(cpu)?, count })
}

/// True of the model of a PREEMPT_RT kernel: `preempt_rt`, and since 6.15 `preempt_{rt,(full)}`.
///
/// A kernel with the patches of PREEMPT_RT has a model of its own since 5.5 (commit 9c34fc4b7e90), and was `preempt` before; so it
/// may be again from 6.13, where both are configured together, until 6.15. Then the kernel's name tells.
fn is_rt_model(model: &str, release: &str) -> bool {
    let has_own_model = release_version(release).is_some_and(|version| ((5, 5)..(6, 13)).contains(&version));
    model.starts_with("preempt_rt")
        || model.starts_with("preempt_{rt")
        || !has_own_model && is_rt_release(release)
}

/// `6.1.0-rt7`, `6.12.107+deb13-rt-amd64`: a release that the patches of PREEMPT_RT, or Debian, named.
fn is_rt_release(release: &str) -> bool {
    release.match_indices("-rt").any(|(at, found)| {
        let rest = release.get(at + found.len()..).unwrap_or("");
        rest.is_empty() || rest.starts_with(|next: char| next.is_ascii_digit() || "-+.".contains(next))
    })
}

fn leading_number(text: &str) -> Option<u32> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.get(..end)?.parse().ok()
}
