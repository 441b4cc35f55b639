//! JSON of rt-tests (`--json`), of jitterdebugger, and OSADL's RT Dataset (github.com/osadl/Latencyplot).

use super::Broken;
use super::counted::{Counted, notes};
use serde_json::Value;
use whylate_base::{Cpu, Ns};
use whylate_stats::{Measured, Run};

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
        // The key has a colon, by mistake.
        let command = [&document["cmdline:"], &document["cmdline"]]
            .into_iter()
            .find_map(Value::as_str)
            .unwrap_or_default();
        let program = command
            .split_ascii_whitespace()
            .next()
            .unwrap_or_default()
            .rsplit('/')
            .next()
            .unwrap_or_default();
        let (tool, probe) = match program {
            "oslat" => ("oslat", "busy"),
            "signaltest" => ("signaltest", "ipc signal"),
            "pmqtest" => ("pmqtest", "ipc mq"),
            "ptsematest" | "svsematest" => ("ptsematest", "ipc semaphore"),
            "cyclicdeadline" => ("cyclicdeadline", "deadline"),
            _ => ("cyclictest", "timer"),
        };
        let unit = match document["resolution_in_ns"].as_i64() {
            Some(1) => ("1 ns", Ns(1)),
            _ => ("1 us", Ns::from_us(1)),
        };
        return Some(each(tool, probe, unit, threads.iter(), &document, "cycles"));
    }
    let cpus = document["cpu"].as_object()?;
    cpus.values().next()?.get("histogram")?;
    Some(each("jitterdebugger", "timer", ("1 us", Ns::from_us(1)), cpus.iter(), &document, "count"))
}

/// `"0": {"histogram": {"17": 18, ...}, "cycles": 2000, "min": 17, "max": 787, "avg": 38.73, "cpu": 0}`
fn each<'a>(
    tool: &'static str,
    probe: &str,
    (unit_name, unit): (&str, Ns),
    threads: impl Iterator<Item = (&'a String, &'a Value)>,
    document: &Value,
    count_name: &str,
) -> Result<Run, Broken> {
    let mut counted: Vec<(u64, Counted)> = Vec::new();
    for (key, thread) in threads {
        let number =
            key.parse().map_err(|_| Broken { tool, why: format!("{key:?} is no thread's number") })?;
        let classes = thread["histogram"].as_object().into_iter().flatten();
        let classes: Vec<(u64, u64)> =
            classes.filter_map(|(class, count)| Some((class.parse().ok()?, count.as_u64()?))).collect();
        let in_classes: u64 = classes.iter().map(|class| class.1).fold(0, u64::saturating_add);
        let all = thread[count_name].as_u64().unwrap_or(in_classes);
        let own_cpu = if tool == "jitterdebugger" { Some(number) } else { thread["cpu"].as_u64() };
        let cpu = own_cpu.and_then(|cpu| u32::try_from(cpu).ok()).map(Cpu);
        counted.push((
            number,
            Counted {
                cpu,
                name: cpu.map_or_else(|| format!("thread {number}"), |cpu| format!("CPU {cpu}")),
                classes,
                overflow: all.saturating_sub(in_classes),
                min: thread["min"].as_u64(),
                max: thread["max"].as_u64(),
                mean: thread["avg"].as_f64(),
            },
        ));
    }
    counted.sort_by_key(|(number, _)| *number);
    let threads: Vec<Measured> =
        counted.into_iter().filter_map(|(_, thread)| thread.measured(unit)).collect();
    if threads.is_empty() {
        return Err(Broken { tool, why: "there is no sample in it".to_owned() });
    }
    let info = &document["sysinfo"];
    let machine = [("kernel release", "release"), ("kernel version", "version"), ("architecture", "machine")]
        .into_iter()
        .filter_map(|(name, key)| Some((name.to_owned(), info[key].as_str()?.to_owned())));
    let mut machine: Vec<(String, String)> = machine.collect();
    machine.sort();
    let notes = notes(&threads, unit_name);
    Ok(Run { tool: tool.to_owned(), probe: probe.to_owned(), threads, machine, notes, ..Run::default() })
}

/// `"latency": {"granularity": "microseconds", "cores": [[0, 3, 17, ...], ...]}`: each class a number's place in the list.
fn dataset(document: &Value) -> Result<Run, Broken> {
    const TOOL: &str = "OSADL's mk-rtdataset";
    let latency = &document["latency"];
    let unit = match latency["granularity"].as_str() {
        Some(unit) if unit.starts_with("nano") => ("1 ns", Ns(1)),
        Some(unit) if unit.starts_with("milli") => ("1 ms", Ns::from_ms(1)),
        _ => ("1 us", Ns::from_us(1)),
    };
    let cores = latency["cores"]
        .as_array()
        .ok_or_else(|| Broken { tool: TOOL, why: "it has no latency.cores".to_owned() })?;
    let maxima = latency["maxima"].as_array();
    let core = |(at, core): (usize, &Value)| {
        let counts = core.as_array()?.iter().enumerate();
        Counted {
            cpu: u32::try_from(at).ok().map(Cpu),
            name: format!("CPU {at}"),
            classes: counts.filter_map(|(class, count)| Some((class as u64, count.as_u64()?))).collect(),
            max: maxima.and_then(|maxima| maxima.get(at)?.as_u64()),
            ..Counted::default()
        }
        .measured(unit.1)
    };
    let threads: Vec<Measured> = cores.iter().enumerate().filter_map(core).collect();
    if threads.is_empty() {
        return Err(Broken { tool: TOOL, why: "there is no sample in it".to_owned() });
    }
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
        tool: "cyclictest".to_owned(),
        probe: "timer".to_owned(),
        interval: interval.filter(|us| (1..1 << 40).contains(us)).map(Ns::from_us),
        notes: notes(&threads, unit.0),
        machine: machine.collect(),
        threads,
        ..Run::default()
    })
}
