//! JSON of rt-tests (`--json`), of jitterdebugger, and OSADL's RT Dataset (github.com/osadl/Latencyplot).

use super::counted::{Counted, Source, Unit};
use super::error::Broken;
use serde_json::{Map, Value};
use std::collections::HashSet;
use whylate_base::{Cpu, Ns};
use whylate_stats::Run;

pub(super) fn read(text: &str) -> Option<Result<Run, Broken>> {
    let document: Value = match serde_json::from_str(text) {
        Ok(document) => document,
        Err(error) => {
            return Some(Err(Broken { tool: "some program", why: format!("it is no JSON: {error}") }));
        }
    };
    if document["format"]["name"] == "RT Dataset" {
        return Some(dataset(&document));
    }
    if let Some(threads) = document["thread"].as_object() {
        return rt_tests(threads, &document);
    }
    let cpus = document["cpu"].as_object()?;
    cpus.values().next()?.get("histogram")?;
    let thread = |number, thread: &Value| counted(Some(number), thread, &thread["count"]);
    let source = Source { tool: "jitterdebugger", probe: "timer", unit: Unit::US };
    Some(each(source, cpus, thread).map(|run| Run { machine: machine(&document), ..run }))
}

/// What `--json` of rt-tests writes (src/lib/rt-utils.c), and whylate in the same form.
fn rt_tests(threads: &Map<String, Value>, document: &Value) -> Option<Result<Run, Broken>> {
    // The key has a colon, by mistake.
    let command = [&document["cmdline:"], &document["cmdline"]].into_iter().find_map(Value::as_str);
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
        _ if threads.values().any(|thread| thread["cycles"].is_u64()) => ("cyclictest", "timer"),
        _ => return None,
    };
    let unit = match document["resolution_in_ns"].as_i64() {
        Some(1) => Unit::NS,
        _ => Unit::US,
    };
    let thread = |_, thread: &Value| match (&thread["sender"], &thread["receiver"]) {
        (Value::Object(sender), receiver @ Value::Object(_)) => {
            let samples = sender.get("samples").unwrap_or(&Value::Null);
            counted(receiver["cpu"].as_u64(), receiver, samples)
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
fn each(
    source: Source,
    threads: &Map<String, Value>,
    thread: impl Fn(u64, &Value) -> Counted,
) -> Result<Run, Broken> {
    let mut all: Vec<(u64, Counted)> = Vec::new();
    for (key, value) in threads {
        let number = key.parse().map_err(|_| source.broken(format!("{key:?} is no thread's number")))?;
        all.push((number, thread(number, value)));
    }
    all.sort_by_key(|(number, _)| *number);
    // Threads that may run anywhere tell where they were last, which two of them may have in common.
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
fn counted(cpu: Option<u64>, thread: &Value, samples: &Value) -> Counted {
    let classes = thread["histogram"].as_object().into_iter().flatten();
    let classes: Vec<(u64, u64)> =
        classes.filter_map(|(class, count)| Some((class.parse().ok()?, count.as_u64()?))).collect();
    let in_classes = classes.iter().map(|class| class.1).fold(0, u64::saturating_add);
    Counted {
        cpu: cpu.and_then(|cpu| u32::try_from(cpu).ok()).map(Cpu),
        classes,
        overflow: samples.as_u64().unwrap_or(in_classes).saturating_sub(in_classes),
        min: thread["min"].as_u64(),
        max: thread["max"].as_u64(),
        mean: thread["avg"].as_f64(),
        ..Counted::default()
    }
}

/// Its last class holds all that was later, and no field marks the last one: it is where the maximum lies beyond
/// it, as every sample is in some class.
fn oslat(thread: &Value) -> Counted {
    let mut counted = counted(thread["cpu"].as_u64(), thread, &Value::Null);
    counted.classes.sort_unstable();
    if let Some(last) = counted.classes.pop_if(|last| counted.max.is_some_and(|max| max > last.0)) {
        counted.overflow = last.1;
    }
    counted.counted_by_upper_ends()
}

/// The kernel and the architecture; the host's name is private.
fn machine(document: &Value) -> Vec<(String, String)> {
    let info = &document["sysinfo"];
    let machine = [("architecture", "machine"), ("kernel release", "release"), ("kernel version", "version")]
        .into_iter()
        .filter_map(|(name, key)| Some((name.to_owned(), info[key].as_str()?.to_owned())));
    machine.collect()
}

/// `"latency": {"granularity": "microseconds", "cores": [[0, 3, 17, ...], ...]}`: each class a number's place in the list.
fn dataset(document: &Value) -> Result<Run, Broken> {
    let latency = &document["latency"];
    let unit = match latency["granularity"].as_str() {
        Some(unit) if unit.starts_with("nano") => Unit::NS,
        Some(unit) if unit.starts_with("milli") => Unit::MS,
        _ => Unit::US,
    };
    let source = Source { tool: "OSADL's mk-rtdataset", probe: "timer", unit };
    let cores =
        latency["cores"].as_array().ok_or_else(|| source.broken("it has no latency.cores".to_owned()))?;
    let maxima = latency["maxima"].as_array();
    let core = |(at, core): (usize, &Value)| {
        let counts = core.as_array()?.iter().enumerate();
        Some(Counted {
            cpu: u32::try_from(at).ok().map(Cpu),
            name: format!("CPU {at}"),
            classes: counts.filter_map(|(class, count)| Some((class as u64, count.as_u64()?))).collect(),
            max: maxima.and_then(|maxima| maxima.get(at)?.as_u64()),
            ..Counted::default()
        })
    };
    let run = source.run(cores.iter().enumerate().filter_map(core))?;
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
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
    let interval = interval.as_i64().or_else(|| interval.as_str()?.parse().ok());
    Ok(Run {
        // Whose histograms they are made of.
        tool: "cyclictest".to_owned(),
        interval: interval.filter(|us| (1..1 << 40).contains(us)).map(Ns::from_us),
        machine: machine.collect(),
        ..run
    })
}
