//! The sections of a profile: each entry with its aim and its value, in which `${...}` still stands.

mod limits;
mod simple;

pub(super) use simple::{Entry, Value};

use self::simple::{simple, text};
use super::error::ProfileError;
use super::keys::unknown;
use super::node::{Node, NodeKind};
use super::options::{EntryOptions, OPTION_KEYS};
use crate::{Pattern, Selector, ThreadSelector};

/// Everything in a section.
pub(super) fn section(name: &str, node: &Node) -> Result<Vec<Entry>, ProfileError> {
    let table = node.table(name)?;
    let mut entries = Vec::new();
    for (key, node) in table {
        match name {
            "kernel-parameters" => entries.push(parameter(key, node)?),
            "sysctl" => sysctl(key, node, &mut entries)?,
            "files" => entries.push(file(key, node)?),
            "irqs" => entries.push(irqs(key, node)?),
            "threads" => entries.extend(threads(key, node)?),
            "units" => entries.extend(units(key, node)?),
            "partitions" => entries.push(partition(key, node)?),
            "latency" => entries.push(latency(key, node)?),
            "limits" => entries.extend(limits::domain(key, node)?),
            _ => config(key, node, &mut entries)?,
        }
    }
    Ok(entries)
}

fn parameter(key: &str, node: &Node) -> Result<Entry, ProfileError> {
    if key.is_empty() || !key.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '=' | '"' | '\'' | '$')) {
        return Err(node.wrong(
            format!("`{key}` is not a kernel parameter"),
            "write its name before `=`, without blanks and quotes: isolcpus = \"2-3\"",
        ));
    }
    let value = |node: &Node| match node.kind {
        NodeKind::Flag(true) => Ok(Value::Text(String::new())),
        NodeKind::Flag(false) => Ok(Value::Absent),
        _ => text(node),
    };
    simple("kernel-parameters", node, Selector::Parameter { name: key.to_owned() }, value)
}

/// `kernel.nmi_watchdog = 0` is a table in a table to TOML; with quotes it is not.
fn sysctl(key: &str, node: &Node, entries: &mut Vec<Entry>) -> Result<(), ProfileError> {
    if let NodeKind::Table(table) = &node.kind
        && !table.iter().any(|(key, _)| key == "value" || OPTION_KEYS.contains(&key.as_str()))
    {
        if table.is_empty() {
            return Err(node.wrong(format!("`{key}` is empty"), "a sysctl takes a value: vm.swappiness = 10"));
        }
        for (inner, node) in table {
            sysctl(&format!("{key}.{inner}"), node, entries)?;
        }
        return Ok(());
    }
    let path = format!("/proc/sys/{}", crate::sysctl::path(key));
    if !is_path(&path) || path.contains('*') {
        return Err(node.wrong(
            format!("`{key}` is not a sysctl"),
            "it is written like vm.swappiness, or net/ipv4/conf/eth0.1/rp_filter where a name has dots",
        ));
    }
    entries.push(simple("sysctl", node, Selector::Tunable { path }, text)?);
    Ok(())
}

fn file(key: &str, node: &Node) -> Result<Entry, ProfileError> {
    let is_kernels = ["/sys/", "/proc/"].iter().any(|root| key.starts_with(root));
    if crate::tunable::is_of_process(key) {
        return Err(node.wrong(
            format!("`{key}` is a file of a process"),
            "[files] has settings of the machine; threads have a section of their own, [threads]",
        ));
    }
    if !is_kernels || !is_path(key) {
        return Err(node.wrong(
            format!("`{key}` is not a kernel file"),
            "write its whole path below /sys or /proc, without `..`; `*` stands for any name",
        ));
    }
    simple("files", node, Selector::Tunable { path: key.to_owned() }, text)
}

/// An absolute path without detours.
fn is_path(path: &str) -> bool {
    let mut parts = path.split('/');
    parts.next() == Some("")
        && parts.all(|part| !part.is_empty() && part != "." && part != "..")
        && !path.contains(char::is_control)
}

/// CPUs as an expression.
fn cpus(before: &'static str, name: &str, node: &Node) -> Result<Value, ProfileError> {
    match &node.kind {
        NodeKind::Text(text) => Ok(Value::Cpus(before, text.clone())),
        _ => Err(node.wrong(
            format!("`{name}` is {}", node.described()),
            format!("it takes CPUs in quotes: {name} = \"all - isolated\""),
        )),
    }
}

fn irqs(key: &str, node: &Node) -> Result<Entry, ProfileError> {
    match key {
        "cpus" => simple("irqs", node, Selector::Irqs, |node| cpus("", "cpus", node)),
        _ => Err(unknown(node, key, "[irqs]", &["cpus"])),
    }
}

/// A pattern with its policy and its CPUs: a desired setting for each.
fn threads(key: &str, node: &Node) -> Result<Vec<Entry>, ProfileError> {
    const KEYS: &[&str] = &["policy", "cpus", "except"];
    node.table(key).map_err(|_| {
        let example = format!("\"{key}\" = {{ policy = \"fifo 50\", cpus = \"online\" }}");
        node.wrong(format!("`{key}` is {}", node.described()), format!("threads take a table: {example}"))
    })?;
    let options = EntryOptions::of(node, KEYS)?;
    let except = node.get("except").map(|except| except.texts("except")).transpose()?.unwrap_or_default();
    let threads = ThreadSelector {
        named: pattern(key).map_err(|why| node.wrong(why, PATTERNS))?,
        except: except
            .iter()
            .map(|(text, location)| {
                pattern(text).map_err(|why| super::error::Mistake::new(why, PATTERNS).at(location))
            })
            .collect::<Result<_, _>>()?,
    };
    let entry = |selector, value| Entry {
        section: "threads",
        location: node.location.clone(),
        selector,
        value,
        options: options.clone(),
    };
    let (by_policy, by_cpus) =
        (Selector::ThreadPolicy { threads: threads.clone() }, Selector::ThreadCpus { threads });
    let mut entries = Vec::new();
    if let Some(inner) = node.get("policy") {
        entries.push(entry(by_policy.clone(), Value::Text(inner.text("policy")?)));
    }
    if let Some(inner) = node.get("cpus") {
        entries.push(entry(by_cpus.clone(), cpus("", "cpus", inner)?));
    }
    if options.leave_alone {
        return Ok(vec![entry(by_policy, Value::Nothing), entry(by_cpus, Value::Nothing)]);
    }
    match entries.is_empty() {
        true => Err(node.wrong(
            "these threads have neither a policy nor CPUs",
            "give `policy = ...`, `cpus = ...` or both",
        )),
        false => Ok(entries),
    }
}

const PATTERNS: &str =
    "a pattern is the whole name with `*` for any characters, \"[ktimers/*]\", or /regex/ for a part of it";

fn pattern(text: &str) -> Result<Pattern, String> {
    if text.is_empty() {
        return Err("the pattern is empty".to_owned());
    }
    match text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')) {
        Some(regex) => match regex_lite::Regex::new(regex) {
            Ok(_) => Ok(Pattern::Regex(regex.to_owned())),
            Err(error) => Err(format!("`{text}` is not a regular expression: {error}")),
        },
        None => Ok(Pattern::Glob(text.to_owned())),
    }
}

fn units(key: &str, node: &Node) -> Result<Vec<Entry>, ProfileError> {
    const KEYS: &[&str] = &["runs", "at-boot"];
    let example = format!("\"{key}\" = {{ runs = false, at-boot = false }}");
    node.table(key).map_err(|_| {
        node.wrong(format!("`{key}` is {}", node.described()), format!("a unit takes a table: {example}"))
    })?;
    let of = ["service", "timer", "socket", "path", "target", "mount", "swap", "slice"];
    if !key.rsplit_once('.').is_some_and(|(name, kind)| !name.is_empty() && of.contains(&kind))
        || key.contains(|c: char| c == '/' || c.is_whitespace() || c.is_control() || c == '$')
    {
        return Err(node.wrong(
            format!("`{key}` is not a systemd unit"),
            format!("a name ends in its type: .{}", of.join(", .")),
        ));
    }
    let options = EntryOptions::of(node, KEYS)?;
    let entry = |selector, value| Entry {
        section: "units",
        location: node.location.clone(),
        selector,
        value,
        options: options.clone(),
    };
    let unit = key.to_owned();
    let (active, enabled) = (Selector::UnitActive { unit: unit.clone() }, Selector::UnitEnabled { unit });
    if options.leave_alone {
        return Ok(vec![entry(active, Value::Nothing), entry(enabled, Value::Nothing)]);
    }
    let word = |yes: bool, words: [&str; 2]| Value::Text(words[usize::from(yes)].to_owned());
    let mut entries = Vec::new();
    if let Some(runs) = node.get("runs") {
        entries.push(entry(active, word(runs.flag("runs")?, ["inactive", "active"])));
    }
    if let Some(boot) = node.get("at-boot") {
        let value = match &boot.kind {
            NodeKind::Flag(flag) => word(*flag, ["disabled", "enabled"]),
            NodeKind::Text(text) if text == "masked" => Value::Text(text.clone()),
            _ => {
                let possible = "it takes true, false or \"masked\"";
                return Err(boot.wrong(format!("`at-boot` is {}", boot.described()), possible));
            }
        };
        entries.push(entry(enabled, value));
    }
    match entries.is_empty() {
        true => Err(node.wrong("this unit has no setting", format!("write it like {example}"))),
        false => Ok(entries),
    }
}

fn partition(key: &str, node: &Node) -> Result<Entry, ProfileError> {
    if !is_path(&format!("/{key}")) || key.contains(['*', '$']) {
        return Err(node.wrong(
            format!("`{key}` is not a control group"),
            "write its path below /sys/fs/cgroup, such as realtime or system.slice/my.service",
        ));
    }
    let options = EntryOptions::of(node, &["kind", "cpus"])?;
    let value = match (node.get("kind"), node.get("cpus")) {
        (None, None) if options.leave_alone => Value::Nothing,
        (Some(kind), Some(inner)) => match kind.text("kind")?.as_str() {
            "isolated" => cpus("isolated ", "cpus", inner)?,
            "root" => cpus("root ", "cpus", inner)?,
            other => {
                let possible = "it is \"isolated\" (without load balancing) or \"root\"";
                return Err(kind.wrong(format!("there is no kind `{other}` of partition"), possible));
            }
        },
        _ => {
            let possible = format!("write it like \"{key}\" = {{ kind = \"isolated\", cpus = \"2-3\" }}");
            return Err(node.wrong("a partition needs a kind and CPUs", possible));
        }
    };
    let selector = Selector::Partition { group: key.to_owned() };
    Ok(Entry { section: "partitions", location: node.location.clone(), selector, value, options })
}

fn latency(key: &str, node: &Node) -> Result<Entry, ProfileError> {
    match key {
        "cpu-dma-latency" => simple("latency", node, Selector::CpuDmaLatency, text),
        _ => Err(unknown(node, key, "[latency]", &["cpu-dma-latency"])),
    }
}

/// A file, its sections where it has some, and their variables.
fn config(key: &str, node: &Node, entries: &mut Vec<Entry>) -> Result<(), ProfileError> {
    if !key.starts_with("/etc/") || !is_path(key) || key.contains(['*', '$']) {
        return Err(node.wrong(
            format!("`{key}` is not a configuration file"),
            "write [config.\"/etc/default/irqbalance\"], with the whole path below /etc",
        ));
    }
    let variables = node.table(key).map_err(|_| {
        let possible = format!("write [config.\"{key}\"], and its variables below");
        node.wrong(format!("`{key}` is {}", node.described()), possible)
    })?;
    let is_entry = |node: &Node| {
        !matches!(node.kind, NodeKind::Table(_))
            || node.has("value")
            || OPTION_KEYS.iter().any(|options| node.has(options))
    };
    let mut variable = |section: Option<&str>, name: &str, node: &Node| {
        if name.is_empty()
            || !name.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '=' | '[' | ']' | '#' | '$'))
        {
            return Err(
                node.wrong(format!("`{name}` is not a variable name"), "write the name before its `=`")
            );
        }
        let selector = Selector::Variable {
            file: key.to_owned(),
            section: section.map(str::to_owned),
            name: name.to_owned(),
        };
        let value = |node: &Node| match node.kind {
            NodeKind::Flag(false) => Ok(Value::Absent),
            _ => text(node),
        };
        entries.push(simple("config", node, selector, value)?);
        Ok(())
    };
    for (name, inner) in variables {
        match &inner.kind {
            NodeKind::Table(table) if !is_entry(inner) => {
                for (own, inner) in table {
                    variable(Some(name), own, inner)?;
                }
            }
            _ => variable(None, name, inner)?,
        }
    }
    Ok(())
}
