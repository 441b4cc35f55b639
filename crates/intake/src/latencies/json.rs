//! JSON of rt-tests (`--json`), of jitterdebugger, and OSADL's RT Dataset (github.com/osadl/Latencyplot).

use super::counted::{Counted, MOST_THREADS, Unit};
use super::error::Broken;
use super::node::{Members, Node};
use super::source::Source;
use std::collections::HashSet;
use whylate_base::{Cpu, Ns};
use whylate_stats::Run;

/// How many lines may begin a document.
const MOST_BEGINNINGS: usize = 16;

/// The documents of known programs within a text, as a terminal shows them below a command (`jitterdebugger -v`).
pub(super) fn within(text: &str) -> Vec<Result<Run, Broken>> {
    let starts = text.match_indices("\n{").map(|(at, _)| at + 1).take(MOST_BEGINNINGS);
    for start in starts {
        let documents = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Node>();
        let runs: Vec<_> = documents.map_while(Result::ok).filter_map(|document| one(&document)).collect();
        if !runs.is_empty() {
            return runs;
        }
    }
    Vec::new()
}

/// Each document in a text; comments may stand before the first.
pub(super) fn read(text: &str) -> Vec<Result<Run, Broken>> {
    let start = text.find('{').unwrap_or(0);
    let mut runs = Vec::new();
    for document in serde_json::Deserializer::from_str(&text[start..]).into_iter::<Node>() {
        match document {
            Ok(document) => runs.extend(one(&document)),
            Err(error) => {
                let why = format!("it is no JSON: {error}");
                runs.push(Err(Broken { tool: "some program", why }));
            }
        }
    }
    runs
}

fn one(document: &Node) -> Option<Result<Run, Broken>> {
    if document["format"]["name"].as_str() == Some("RT Dataset") {
        return Some(dataset(document));
    }
    if let Some(threads) = document["thread"].members() {
        return rt_tests(threads, document);
    }
    let cpus = document["cpu"].members()?;
    cpus.values().next()?.members()?.get("histogram")?;
    let thread = |number, thread: &Node| counted(Some(number), thread, &thread["count"]);
    let source = Source { tool: "jitterdebugger", probe: "timer", unit: Unit::US };
    Some(each(source, cpus, thread).map(|run| Run { machine: machine(document), ..run }))
}

/// What `--json` of rt-tests writes (src/lib/rt-utils.c), and whylate in the same form.
fn rt_tests(threads: &Members, document: &Node) -> Option<Result<Run, Broken>> {
    // The key has a colon, by mistake.
    let command = [&document["cmdline:"], &document["cmdline"]].into_iter().find_map(Node::as_str);
    let program = command.and_then(|command| command.split_ascii_whitespace().next()).unwrap_or_default();
    let (tool, probe) = match program.rsplit('/').next().unwrap_or_default() {
        "oslat" => ("oslat", "busy"),
        "signaltest" => ("signaltest", "ipc signal"),
        "sigwaittest" => ("sigwaittest", "ipc signal"),
        "pmqtest" => ("pmqtest", "ipc mq"),
        "ptsematest" => ("ptsematest", "ipc semaphore"),
        "svsematest" => ("svsematest", "ipc semaphore"),
        "cyclicdeadline" => ("cyclicdeadline", "deadline"),
        // Under a name of the user's own it is recognized by its threads.
        _ if threads.values().any(|thread| thread["cycles"].as_u64().is_some()) => ("cyclictest", "timer"),
        _ => return None,
    };
    let unit = match document["resolution_in_ns"].as_u64() {
        Some(1) => Unit::NS,
        _ => Unit::US,
    };
    let thread = |_, thread: &Node| match (&thread["sender"], &thread["receiver"]) {
        (sender @ Node::Object(_), receiver @ Node::Object(_)) => {
            counted(receiver["cpu"].as_u64(), receiver, &sender["samples"])
        }
        _ if tool == "oslat" => oslat(thread),
        _ => counted(thread["cpu"].as_u64(), thread, &thread["cycles"]),
    };
    let own = |key: &str| document["whylate"][key].as_str().map(str::to_owned);
    Some(each(Source { tool, probe, unit }, threads, thread).map(|run| Run {
        tool: own("tool").unwrap_or(run.tool),
        probe: own("probe").unwrap_or(run.probe),
        machine: machine(document),
        ..run
    }))
}

/// Of `"0": {"histogram": {"17": 18, ...}, "cycles": 2000, "min": 17, "max": 787, "avg": 38.73, "cpu": 0}` what `thread`
/// makes of each.
fn each(source: Source, threads: &Members, thread: impl Fn(u64, &Node) -> Counted) -> Result<Run, Broken> {
    let mut all: Vec<(u64, Counted)> = Vec::new();
    for (key, value) in threads {
        let number = key.parse().map_err(|_| source.broken(format!("{key:?} is no thread's number")))?;
        all.push((number, thread(number, value)));
    }
    all.sort_by_key(|(number, _)| *number);
    // Threads that may run anywhere show where they were last, which two of them may have in common.
    let mut cpus = HashSet::new();
    let alone = all.iter().filter_map(|(_, thread)| thread.cpu).all(|cpu| cpus.insert(cpu));
    let named = |(number, thread): (u64, Counted)| {
        let cpu = thread.cpu.filter(|_| alone);
        let name = cpu.map_or_else(|| format!("thread {number}"), |cpu| format!("CPU {cpu}"));
        Counted { cpu, name, ..thread }
    };
    source.run(all.into_iter().map(named))
}

/// A thread's counts; it has no name yet. `samples` counts those of no class, too.
fn counted(cpu: Option<u64>, thread: &Node, samples: &Node) -> Counted {
    let classes = thread["histogram"].classes();
    let in_classes = classes.iter().map(|class| class.1).fold(0, u64::saturating_add);
    Counted {
        cpu: cpu.and_then(|cpu| u32::try_from(cpu).ok()).map(Cpu),
        classes,
        overflow: samples.as_u64().unwrap_or(in_classes).saturating_sub(in_classes),
        total: samples.as_u64(),
        min: thread["min"].as_u64(),
        max: thread["max"].as_u64(),
        mean: thread["avg"].as_f64(),
        ..Counted::default()
    }
}

/// Its last class holds all that was later, and no field marks the last one: it is where the maximum lies beyond
/// it, as every sample is in some class.
fn oslat(thread: &Node) -> Counted {
    let mut counted = counted(thread["cpu"].as_u64(), thread, &Node::Null);
    counted.classes.sort_unstable();
    if let Some(last) = counted.classes.pop_if(|last| counted.max.is_some_and(|max| max > last.0)) {
        counted.overflow = last.1;
    }
    counted.counted_by_upper_ends()
}

/// The kernel and the architecture; the host's name is private.
fn machine(document: &Node) -> Vec<(String, String)> {
    let info = &document["sysinfo"];
    let machine = [("architecture", "machine"), ("kernel release", "release"), ("kernel version", "version")]
        .into_iter()
        .filter_map(|(name, key)| Some((name.to_owned(), info[key].as_str()?.to_owned())));
    machine.collect()
}

/// `"latency": {"granularity": "microseconds", "maxima": [7], "cores": [[0, 1, 2], [0, 3, 17]]}`: the first list has the
/// lower ends of the classes, each other one the counts of a core (src/plot-rtdataset.py).
fn dataset(document: &Node) -> Result<Run, Broken> {
    let latency = &document["latency"];
    let unit = match latency["granularity"].as_str() {
        Some(unit) if unit.starts_with("nano") => Unit::NS,
        Some(unit) if unit.starts_with("milli") => Unit::MS,
        _ => Unit::US,
    };
    let source = Source { tool: "OSADL's mk-rtdataset", probe: "timer", unit };
    let lists = latency["cores"].items().iter().map(Node::counts);
    let lists: Option<Vec<&[u64]>> = match latency["cores"].counts() {
        Some([_, ..]) => None,
        _ => lists.collect(),
    };
    let lists = lists.ok_or_else(|| source.broken("latency.cores has what is no count".to_owned()))?;
    let Some((axis, cores)) = lists.split_first() else {
        return Err(source.broken("it has no latency.cores".to_owned()));
    };
    let width = axis.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).max().unwrap_or(1);
    if axis.windows(2).any(|pair| pair[0] >= pair[1]) || cores.iter().any(|core| core.len() != axis.len()) {
        let why = "latency.cores does not begin with the classes of all cores, ascending".to_owned();
        return Err(source.broken(why));
    }
    let numbers = cpus(document["condition"]["cyclictest"].as_str().unwrap_or_default());
    let numbers = numbers.filter(|numbers| numbers.len() == cores.len());
    let cycles = document["condition"]["cycles"].as_u64();
    let core = |(at, counts): (usize, &&[u64])| {
        let cpu = numbers.as_ref().map_or(at as u32, |numbers| numbers[at]);
        let max = latency["maxima"].counts().and_then(|maxima| maxima.get(at).copied());
        let limit = axis.last().map_or(0, |last| last.saturating_add(width));
        let held = counts.iter().fold(0_u64, |all, count| all.saturating_add(*count));
        // Samples beyond the last class are not counted: the maximum shows that there are some, the cycles how many.
        let is_beyond = max.is_some_and(|max| max >= limit);
        Counted {
            cpu: Some(Cpu(cpu)),
            name: format!("CPU {cpu}"),
            classes: axis.iter().copied().zip(counts.iter().copied()).collect(),
            width,
            limit,
            overflow: cycles.filter(|_| is_beyond).map_or(0, |cycles| cycles.saturating_sub(held)),
            max,
            ..Counted::default()
        }
    };
    let run = source.run(cores.iter().enumerate().map(core))?;
    let text = |value: &Node| match value {
        Node::Text(text) => Some(text.to_string()),
        Node::Count(number) => Some(number.to_string()),
        Node::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let machine = [
        ("kernel command line", &document["kernel"]["cmdline"]),
        ("kernel release", &document["kernel"]["version"]),
        ("load", &document["condition"]["load"]),
        ("processor", &document["processor"]["type"]),
    ];
    let machine = machine.into_iter().filter_map(|(name, value)| Some((name.to_owned(), text(value)?)));
    let interval = &document["condition"]["interval"];
    let interval = interval.as_u64().or_else(|| interval.as_str()?.parse().ok());
    let interval = interval.and_then(|us| i64::try_from(us).ok());
    Ok(Run {
        // Whose histograms they are made of.
        tool: "cyclictest".to_owned(),
        interval: interval.filter(|us| (1..1 << 40).contains(us)).map(Ns::from_us),
        machine: machine.collect(),
        ..run
    })
}

/// The CPUs of `-a2,4-7` in a command line of cyclictest; `None`: it names none.
fn cpus(command: &str) -> Option<Vec<u32>> {
    let list = command.split_ascii_whitespace().find_map(|word| word.strip_prefix("-a"))?;
    let mut all = Vec::new();
    for range in list.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
        if last.saturating_sub(first) as usize > MOST_THREADS {
            return None;
        }
        all.extend(first..=last);
    }
    Some(all)
}
