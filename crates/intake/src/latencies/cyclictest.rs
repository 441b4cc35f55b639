//! cyclictest's text: the last line of each thread, the histogram of `-h`, each sample of `-v` (rt-tests,
//! src/cyclictest/cyclictest.c); and the same lines of its siblings. They count in us; cyclictest with `-N` in ns,
//! which only the lines of its threads show. A histogram that whylate wrote has comments above it
//! (`# whylate: probe=timer`).

mod samples;

use super::command;
use super::counted::{Counted, MOST_THREADS, Unit};
use super::error::Broken;
use super::sections::{self, numbers};
use super::side_by_side;
use super::source::Source;
use super::unknown::with_unknown;
use samples::{each_sample, sample};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use whylate_base::Ns;
use whylate_stats::Run;

pub(super) fn read(text: &str) -> Vec<Result<Run, Broken>> {
    let text = &with_one_blank(text);
    let mut seen = Seen::default();
    let parts = sections::cut(text, |line| seen.begins(line));
    let asked = (parts.len() == 1).then(|| command::threads(text)).flatten();
    parts.into_iter().flat_map(|part| one(part, asked)).collect()
}

/// The text with one blank between the mark and the words of a comment: people and pages put others there.
fn with_one_blank(text: &str) -> Cow<'_, str> {
    fn words(line: &str) -> Option<&str> {
        let rest = line.strip_prefix('#')?.trim_start();
        rest.starts_with(|first: char| first.is_ascii_alphabetic()).then_some(rest)
    }
    let is_other = |line: &str| words(line).is_some_and(|rest| line.strip_prefix("# ") != Some(rest));
    if !text.lines().any(is_other) {
        return Cow::Borrowed(text);
    }
    let of_line = |line: &str| words(line).map_or(format!("{line}\n"), |rest| format!("# {rest}\n"));
    Cow::Owned(text.lines().map(of_line).collect())
}

/// What a text has of one run so far.
#[derive(Default)]
struct Seen {
    histogram: bool,
    samples: bool,
    /// Of each thread its id, and how many samples it had taken.
    counts: HashMap<u32, (String, u64)>,
    cycles: HashMap<u32, u64>,
}

impl Seen {
    /// True of a line that cannot be of the run that the lines before it are of: its threads are others, they begin to
    /// count anew, or a run has it only once.
    fn begins(&mut self, line: &str) -> bool {
        let status = line.strip_prefix("T:").and_then(Status::of);
        let sample = sample(line);
        let is_histogram = line == "# Histogram";
        let is_new = if line.starts_with("# /dev/cpu_dma_latency") {
            self.samples
        } else if is_histogram {
            self.histogram
        } else if let Some(status) = &status {
            let before = self.counts.get(&status.number);
            self.histogram || before.is_some_and(|(id, count)| *id != status.id || *count > status.count)
        } else if let Some((thread, cycle, _)) = sample {
            self.cycles.get(&thread).is_some_and(|before| *before >= cycle)
        } else {
            false
        };
        if is_new {
            *self = Seen::default();
        }
        self.histogram |= is_histogram;
        self.samples |= is_histogram || status.is_some() || sample.is_some();
        if let Some(status) = status {
            self.counts.insert(status.number, (status.id.to_owned(), status.count));
        }
        if let Some((thread, cycle, _)) = sample {
            self.cycles.insert(thread, cycle);
        }
        is_new
    }
}

/// The measurement in a part of a text, in which so many threads were `asked` for; two where its histogram and its status lines
/// are of two runs.
fn one(text: &str, asked: Option<usize>) -> Vec<Result<Run, Broken>> {
    // Below a command that was pasted with it, the title may be missing.
    let has_histogram =
        text.lines().any(|line| line.trim_end() == "# Histogram" || line.starts_with("# Max Latencies:"));
    let summary = match statuses(text).next() {
        Some(_) => summary(text),
        None => Ok(Vec::new()),
    };
    let source = source(text);
    if let Some(most) = side_by_side::greatest(text) {
        return vec![Err(source.side_by_side(most))];
    }
    let finished = |mut threads: Vec<Counted>| {
        broke_at(text, &mut threads);
        let run = source.at_most(threads.len()).and_then(|()| source.run(threads));
        run.map(|run| with_comments(text, source, run))
    };
    // They stand below Total, which counts the samples in classes alone.
    let has_extremes =
        ["# Max Latencies:", "# Histogram Overflows:"].iter().any(|below| text.contains(below));

    let summary = match summary {
        Ok(threads) => threads,
        Err(why) => return vec![Err(source.broken(why))],
    };
    if has_histogram {
        let Some(mut threads) = histogram(text) else { return Vec::new() };
        let is_below = |line: &str| line.starts_with("# Max Latencies:") || line.starts_with("# Total:");
        let has_samples = threads.len() <= MOST_THREADS && threads.iter().any(Counted::has_samples);
        if has_samples && summary.is_empty() && !text.lines().any(is_below) {
            return vec![Err(source.without_end("Total and Max Latencies"))];
        }
        if let Some(most) = greatest(text).filter(|_| summary.is_empty() && is_without_counts(&threads)) {
            if !are_all_extremes(text) {
                return vec![Err(source.without_counts(most))];
            }
            for thread in threads.iter_mut().filter(|thread| thread.max > Some(0)) {
                (thread.overflow, thread.is_largest_only) = (1, true);
            }
            return vec![finished(threads).map(with_unknown_counts)];
        }
        let later = summary.iter().zip(&threads).any(|(status, thread)| status.max > thread.max);
        let other = (later || summary.len() > threads.len()).then(|| finished(summary));
        let cut = cut_means(&threads, source.unit.name);
        let own = finished(threads).map(|mut run| {
            run.notes.extend(cut);
            run
        });
        let own = own.map(|run| match has_extremes {
            true => run,
            false => {
                with_unknown(run, ["samples beyond the classes, without the line Max Latencies".to_owned()])
            }
        });
        return other.into_iter().chain([own]).collect();
    }
    if let Some(asked) = asked.filter(|&asked| !summary.is_empty() && summary.len() < asked) {
        let why =
            format!("its command asks for {asked} threads, and the lines of {} are here", summary.len());
        return vec![Err(source.broken(why))];
    }
    if !summary.is_empty() {
        return vec![finished(summary)];
    }
    match each_sample(text) {
        Some(Ok(threads)) => vec![finished(threads)],
        Some(Err(why)) => vec![Err(source.broken(why))],
        None => Vec::new(),
    }
}

/// That means are those of the line Avg Latencies, which cyclictest cuts to whole units: the classes do not hold all
/// samples.
fn cut_means(threads: &[Counted], unit: &str) -> Option<String> {
    let lacks =
        |thread: &Counted| thread.overflow > 0 || thread.total.is_some_and(|total| total != thread.held());
    let is_cut = |thread: &&Counted| lacks(thread) && thread.held() > 0 && thread.mean.is_some();
    let names: Vec<&str> = threads.iter().filter(is_cut).map(|thread| thread.name.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "the mean of {} is cyclictest's, which is cut to whole {unit}: the classes do not hold all samples",
            names.join(", ")
        )
    })
}

/// True of the lines below a table alone, where of a thread that has a maximum they do not show how many samples it took.
fn is_without_counts(threads: &[Counted]) -> bool {
    let is_counted = |thread: &Counted| thread.total.is_some_and(|total| total > 0 || thread.overflow > 0);
    let has_table = threads.iter().any(|thread| !thread.classes.is_empty());
    !has_table && threads.iter().any(|thread| thread.max.is_some_and(|max| max > 0) && !is_counted(thread))
}

/// True of what `grep Latencies` leaves of one run: least, mean and most of each thread, and nothing of how many samples there were.
fn are_all_extremes(text: &str) -> bool {
    let count = |name: &str| text.lines().filter(|line| line.starts_with(name)).count();
    let names = ["# Min Latencies:", "# Avg Latencies:", "# Max Latencies:"];
    names.into_iter().all(|name| count(name) == 1) && count("# Total:") == 0
}

fn with_unknown_counts(mut run: Run) -> Run {
    run.notes.push(
        "cyclictest's table and the line with Total are missing: of how many samples these lines are is not known"
            .to_owned(),
    );
    run
}

/// The greatest number of the lines of maxima; 0 is that of a thread without samples.
fn greatest(text: &str) -> Option<u64> {
    let maxima = text.lines().filter_map(|line| line.strip_prefix("# Max Latencies:"));
    maxima.flat_map(numbers).max().filter(|&most| most > 0)
}

/// `# Break thread: 163350`, `# Break value: 51`: the latency that ended the run under `-b`. cyclicdeadline ends before it
/// counts it (rt-tests, src/sched_deadline/cyclicdeadline.c).
fn broke_at(text: &str, threads: &mut [Counted]) {
    let number = |name: &str| {
        let line = text.lines().rev().find_map(|line| line.strip_prefix(name))?;
        numbers(line).next()
    };
    let Some(value) = number("# Break value:") else { return };
    if threads.iter().any(|thread| thread.max >= Some(value)) {
        return;
    }
    let id = number("# Break thread:").map(|id| id.to_string());
    let of_id = statuses(text).filter_map(Status::of).find(|status| Some(status.id) == id.as_deref());
    let name = of_id.map(|status| format!("thread {}", status.number));
    let at = threads.iter().position(|thread| Some(&thread.name) == name.as_ref()).unwrap_or(0);
    if let Some(thread) = threads.get_mut(at) {
        thread.max = Some(value);
    }
}

/// True of a thread's line without its maximum: a mail program broke it.
pub(super) fn ends_early(line: &str) -> bool {
    let maximum = || line.rsplit_once("Max:").map_or("", |(_, maximum)| maximum.trim_start());
    line.starts_with("T:")
        && line.contains("P:")
        && !maximum().starts_with(|first: char| first.is_ascii_digit())
}

/// True of a line that is not the rest of another one.
pub(super) fn is_own(line: &str) -> bool {
    line.starts_with(['T', '#', '/', 'p'])
}

/// Adds what the rest of the text has.
fn with_comments(text: &str, source: Source, mut run: Run) -> Run {
    run.interval = intervals(text).first().copied();
    run.notes.extend(unit_in_doubt(&run, source.unit));
    run.notes.extend(dma_latency(text));
    run.notes.extend(no_priority(text));
    let ours = |name: &str| {
        let comments = text.lines().take_while(|line| line.starts_with('#'));
        comments.filter_map(|line| line.strip_prefix("# whylate: ")).find_map(|rest| rest.strip_prefix(name))
    };
    for (name, own) in [("tool=", &mut run.tool), ("probe=", &mut run.probe)] {
        if let Some(value) = ours(name) {
            value.clone_into(own);
        }
    }
    run
}

/// No idle state takes as long to leave: the longest in the kernel's tables is 10 ms (drivers/idle/intel_idle.c).
const LONGEST_EXIT_US: u64 = 100_000;

/// What `# /dev/cpu_dma_latency set to 0us` means for the numbers: the kernel enters no idle state that takes longer to
/// leave (Documentation/power/pm_qos_interface.rst).
fn dma_latency(text: &str) -> Option<String> {
    let rest = text.split_once("/dev/cpu_dma_latency set to")?.1.trim_start();
    let us: u64 = rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
    Some(match us {
        0 => "it held /dev/cpu_dma_latency at 0 us while it measured: an application that does not will wake later".to_owned(),
        LONGEST_EXIT_US.. => format!(
            "/dev/cpu_dma_latency was set to {us} us: no idle state takes as long to leave, so CPUs entered all of them"
        ),
        _ => format!(
            "it held /dev/cpu_dma_latency at {us} us while it measured: CPUs entered no idle state that takes longer to leave, \
             and an application that does not hold it may wake later"
        ),
    })
}

/// What `P: 0` of all threads means: without -p, cyclictest's threads have SCHED_OTHER, also as root.
fn no_priority(text: &str) -> Option<String> {
    let mut priorities = statuses(text).filter_map(|status| field(status, " P:")).peekable();
    priorities.peek()?;
    let is_other = priorities.all(|priority| priority == 0);
    let note = "its threads had priority 0 (SCHED_OTHER): they waited for other threads, too, as a real-time thread would not";
    is_other.then(|| note.to_owned())
}

/// The lines that are written over and over, one of each thread, without their `T:`.
fn statuses(text: &str) -> impl Iterator<Item = &str> {
    // Without -q they are overwritten by moving the cursor up.
    let lines = text.split(['\n', '\r']);
    lines.filter_map(|line| line.trim_start_matches("\x1b[1A").strip_prefix("T:"))
}

/// Whose lines they are, and what its samples are: cyclictest's have priority and interval, signaltest's have no
/// interval, and cyclicdeadline's no priority.
fn source(text: &str) -> Source {
    let status = statuses(text).next();
    // Its affinity is where the others have a priority.
    if status.is_some_and(|line| line.contains(" A:") && !line.contains(" P:")) {
        return Source { tool: "jitterdebugger", probe: "timer", unit: Unit::US };
    }
    let (tool, probe) = match status.map(|line| (line.contains(" P:"), line.contains(" I:"))) {
        Some((true, false)) => ("signaltest", "ipc signal"),
        Some((false, true)) => ("cyclicdeadline", "deadline"),
        _ => ("cyclictest", "timer"),
    };
    let unit = if statuses(text).any(in_nanoseconds) { Unit::NS } else { Unit::US };
    Source { tool, probe, unit }
}

/// `-N` makes two columns wider: `Act:   25531` has room for eight digits, where `Act:   24` has room for five. All columns
/// were that wide before there was `-N` (2006 to 2009, and in Xenomai 2), the interval's too: `I:   10000`.
fn in_nanoseconds(status: &str) -> bool {
    let padded = |from: &str, to: &str| {
        let column = status.split_once(from).and_then(|(_, rest)| rest.split_once(to));
        column.is_some_and(|(column, _)| column.len() == 8 && column.starts_with(' '))
    };
    let is_newer = status.split_once(" I:").is_some_and(|(_, rest)| !rest.starts_with(' '));
    is_newer && (padded("Act:", " Avg:") || padded("Avg:", " Max:"))
}

/// Histograms and samples look the same with `-N` as without, and so does a line that was typed off. A thread that is later
/// than its interval on average would miss most of its wake-ups.
fn unit_in_doubt(run: &Run, unit: Unit) -> Option<String> {
    let least = run.threads.iter().filter_map(|thread| thread.histogram.min()).min()?;
    let means = run.threads.iter().filter_map(|thread| thread.histogram.mean());
    let mean = means.min()?;
    let why = match run.interval {
        _ if unit != Unit::US => return None,
        _ if least >= Ns::from_ms(1) => format!("no sample is less than {least} late"),
        Some(interval) if mean > interval => {
            format!("the mean is {mean}, and the interval of the wake-ups {interval}")
        }
        _ => return None,
    };
    Some(format!(
        "{why}: was this cyclictest -N, which counts in ns and does not print the unit? Then all latencies are a thousandth of \
         those shown here. cyclictest's --json has the unit"
    ))
}

/// `000057 000041 000019`, then `# Max Latencies: 00744 22027`. With `-H` a last column sums the others up.
fn histogram(text: &str) -> Option<Vec<Counted>> {
    let mut threads: Vec<Counted> = Vec::new();
    let named = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        Some(numbers(line).collect::<Vec<u64>>())
    };
    let (min, max) = (named("# Min Latencies:"), named("# Max Latencies:"));
    let (mean, overflow) = (named("# Avg Latencies:"), named("# Histogram Overflows:"));
    let total = named("# Total:");
    let mut limit = 0_u64;
    for line in text.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit())) {
        let mut words = line.split_ascii_whitespace().map(str::parse::<u64>);
        let Some(Ok(class)) = words.next() else { continue };
        // One more than there may be is enough to refuse them.
        for (at, count) in words.take(MOST_THREADS + 1).enumerate() {
            let Ok(count) = count else { break };
            limit = limit.max(class.saturating_add(1));
            if at >= threads.len() {
                threads.push(Counted::default());
            }
            threads[at].classes.push((class, count));
        }
    }
    // The minima have no column for the sum, and one for a thread whose samples are all beyond the classes.
    let extremes = min.as_ref().or(mean.as_ref()).map(Vec::len);
    let columns = Some(threads.len()).filter(|&columns| columns > 0);
    let alone = || columns_alone(total.as_deref().unwrap_or_default(), max.as_ref()?);
    let real = extremes.or(columns).or_else(alone).unwrap_or(0);
    threads.resize_with(real.min(MOST_THREADS + 1), Counted::default);
    let of = |all: &Option<Vec<u64>>, at: usize| all.as_ref().and_then(|all| all.get(at).copied());
    for (at, thread) in threads.iter_mut().enumerate() {
        thread.name = format!("thread {at}");
        (thread.min, thread.max) = (of(&min, at), of(&max, at));
        thread.overflow = of(&overflow, at).unwrap_or(0);
        (thread.mean, thread.is_mean_cut) = (of(&mean, at).map(|mean| mean as f64), true);
        (thread.total, thread.limit) = (of(&total, at), limit);
        // `log_entries` of `print_hist` (cyclictest.c): 2.40 prints 7 for 7 samples in classes and 1993 beyond.
        thread.is_total_of_classes = true;
    }
    (!threads.is_empty()).then_some(threads)
}

/// How many columns are of threads where minima and means are missing: with `-H` the last one is of all together.
fn columns_alone(totals: &[u64], maxima: &[u64]) -> Option<usize> {
    let (most, others) = maxima.split_last()?;
    let is_of_all = totals.split_last().is_some_and(|(all, totals)| {
        !others.is_empty()
            && totals.len() == others.len()
            && totals.iter().fold(0, |sum: u64, total| sum.saturating_add(*total)) == *all
            && others.iter().max() == Some(most)
    });
    Some(if is_of_all { others.len() } else { maxima.len() })
}

/// `T: 0 ( 9066) P:80 I:1000 C:   2000 Min:     14 Act:   24 Avg:   34 Max:     744`
struct Status<'a> {
    number: u32,
    id: &'a str,
    count: u64,
}

impl Status<'_> {
    /// Of what follows `T:`; `None`: it is not whole, as the last line of a stream may be.
    fn of(line: &str) -> Option<Status<'_>> {
        let (number, rest) = line.split_once('(')?;
        let (id, rest) = rest.split_once(')')?;
        field(rest, "Max:")?;
        Some(Status {
            number: number.trim().parse().ok()?,
            id: id.trim(),
            count: field(line, "C:")?.try_into().ok()?,
        })
    }
}

/// A number behind its name.
fn field(line: &str, name: &str) -> Option<i128> {
    let rest = line.split_once(name)?.1.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// A number with a fraction behind its name, as jitterdebugger prints the mean; one below 0 is 0.
fn decimal(line: &str, name: &str) -> Option<f64> {
    let rest = line.split_once(name)?.1.trim_start();
    let end = rest.find(|sign: char| !sign.is_ascii_digit() && !"-.".contains(sign)).unwrap_or(rest.len());
    rest.get(..end)?.parse().ok().map(|number: f64| number.max(0.0))
}

/// The status lines are written over and over: the last one of each thread counts.
///
/// # Errors
/// If no line of a thread can be read, or none of one between others is there: the thread may be the latest of all.
fn summary(text: &str) -> Result<Vec<Counted>, String> {
    let mut threads: BTreeMap<u32, Result<Counted, &str>> = BTreeMap::new();
    for line in statuses(text) {
        let number = line.trim_start().split(|c: char| !c.is_ascii_digit()).next();
        let Some(number) = number.and_then(|number| number.parse::<u32>().ok()) else { continue };
        // Of latencies below 0 the clock is to blame; a maximum below 0 is no maximum.
        let known = |name: &str| field(line, name).and_then(|value| u64::try_from(value.max(0)).ok());
        let max = field(line, "Max:").and_then(|max| u64::try_from(max).ok());
        match (field(line, "C:").and_then(|count| u64::try_from(count).ok()), max) {
            (Some(count), Some(max)) => {
                let thread = Counted {
                    name: format!("thread {number}"),
                    overflow: count,
                    min: known("Min:"),
                    max: Some(max),
                    mean: decimal(line, "Avg:"),
                    ..Counted::default()
                };
                threads.insert(number, Ok(thread));
            }
            // The last of a stream may be cut.
            _ => _ = threads.entry(number).or_insert(Err(line)),
        }
    }
    let whole = |(number, thread): (u32, Result<Counted, &str>)| {
        thread.map_err(|line| {
            format!("the line of thread {number} has no number of samples or no maximum: {:?}", line.trim())
        })
    };
    // They are numbered from 0 on, one by one.
    let next = threads.keys().zip(threads.keys().skip(1)).find(|(number, next)| **next - **number > 1);
    if let Some((number, next)) = next {
        // People quote the worst line alone, of each of several runs.
        let unit = source(text).unit;
        let of_max =
            |(number, thread): (&u32, &Result<Counted, &str>)| Some((thread.as_ref().ok()?.max?, *number));
        let worst = threads.iter().filter_map(of_max).max().map(|(max, of)| {
            format!(
                "; the largest maximum of the lines that are there is {max} {}, of thread {of}",
                unit.name
            )
        });
        return Err(format!(
            "between the lines of thread {number} and thread {next} those of others are missing{}",
            worst.unwrap_or_default()
        ));
    }
    threads.into_iter().map(whole).collect()
}

/// `I:1000` of a summary, `Thread 0 Interval: 1500` of `-v`, in us.
fn intervals(text: &str) -> Vec<Ns> {
    let of = |line: &str| {
        let rest = match line.starts_with("T:") {
            true => line.split_once(" I:")?.1,
            false => line.strip_prefix("Thread ")?.split_once("Interval:")?.1,
        };
        rest.split_ascii_whitespace().next()?.parse().ok().map(Ns::from_us)
    };
    text.lines().take(1000).filter_map(of).collect()
}
