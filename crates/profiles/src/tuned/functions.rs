//! TuneD's functions, as its manual (tuned-profiles.7, "built-in functions") and its source define them. They look
//! at what was read of the machine; none runs a program.

use super::cpulist::{self, Beyond};
use super::error::{TunedError, TunedLocation};
use super::python::{self, int, is_word, strip};
use crate::Skipped;
use std::collections::{BTreeMap, BTreeSet};
use whylate_base::CpuSet;
use whylate_host::{FsRoot, Reading, Snapshot, Why};

/// What functions may look at.
#[derive(Clone, Copy)]
pub(super) struct Facts<'a> {
    pub(super) tree: &'a FsRoot,
    pub(super) host: &'a Snapshot,
}

/// What a function gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Text(String),
    /// Nothing: the call is left as it stands.
    Nothing,
    /// It cannot be determined, and why not.
    Unknown(String),
    /// It would have reported something about the profile, and cannot.
    Untold(Skipped),
}

type Called = Result<Answer, TunedError>;

/// How many arguments a function takes; `None`: any number of them.
fn arity(name: &str) -> Option<(usize, Option<usize>)> {
    Some(match name {
        "assertion" | "assertion_non_equal" => (3, Some(3)),
        "calc_isolated_cores" => (0, Some(1)),
        "check_net_queue_count" | "get_queue_count" | "hex2cpulist" | "kb2s" | "s2kb" => (1, Some(1)),
        "cpuinfo_check" | "lscpu_check" => (2, None),
        "cpulist2devs"
        | "cpulist2hex"
        | "cpulist2hex_invert"
        | "cpulist_invert"
        | "cpulist_online"
        | "cpulist_pack"
        | "cpulist_present"
        | "cpulist_thread_siblings"
        | "cpulist_unpack"
        | "intel_recommended_pstate" => (0, None),
        "exec" | "log" | "package2cpus" | "strip" => (1, None),
        "regex_search_ternary" => (4, Some(4)),
        "virt_check" => (2, Some(2)),
        _ => return None,
    })
}

/// Calls the function that is named first with the rest. `unknown`: why something in the arguments is not known.
///
/// # Errors
/// If an assertion fails, or a CPU's number is beyond any.
pub(super) fn call(
    words: &[String],
    facts: &Facts<'_>,
    unknown: Option<&str>,
    location: &TunedLocation,
) -> Called {
    let Some((name, args)) = words.split_first() else { return Ok(Answer::Nothing) };
    if name.is_empty() || !name.chars().all(is_word) {
        return Ok(Answer::Nothing);
    }
    let Some((least, most)) = arity(name) else { return Ok(Answer::Nothing) };
    if args.len() < least || most.is_some_and(|most| args.len() > most) {
        return Ok(Answer::Nothing);
    }
    if let Some(why) = unknown {
        return Ok(match name.as_str() {
            "assertion" | "assertion_non_equal" => Answer::Untold(Skipped {
                what: format!("{location}: assertion `{}`", args[0]),
                why: why.to_owned(),
            }),
            _ => Answer::Unknown(why.to_owned()),
        });
    }
    if name.starts_with("assertion") {
        return assertion(args, name == "assertion", location);
    }
    let beyond = |Beyond(cpu)| {
        TunedError::written(location, format!("no machine has a CPU {cpu}"), "correct the list of CPUs")
    };
    function(name, args, facts).map_err(beyond)
}

fn assertion(args: &[String], equal: bool, location: &TunedLocation) -> Called {
    match (args[1] == args[2]) == equal {
        true => Ok(Answer::Nothing),
        false => Err(TunedError::Assertion {
            location: location.clone(),
            claim: args[0].clone(),
            sides: format!("`{}` is {}`{}`", args[1], if equal { "not " } else { "" }, args[2]),
            hint: String::new(),
        }),
    }
}

fn function(name: &str, args: &[String], facts: &Facts<'_>) -> Result<Answer, Beyond> {
    let text = |text: String| Ok(Answer::Text(text));
    let known = |text: Option<String>| Ok(text.map_or(Answer::Nothing, Answer::Text));
    let cpus = &facts.host.cpus;
    // What ends a mask is two commas, and some functions have only one.
    let joined = || args.join(",,");
    match name {
        "calc_isolated_cores" => Ok(isolated_cores(args.first().map(String::as_str), facts)),
        "check_net_queue_count" | "get_queue_count" => match python_digits(&args[0]) {
            true => text(args[0].clone()),
            false => with(&cpus.online, |online| Ok(online.len().to_string())),
        },
        "cpuinfo_check" => Ok(match &cpus.info.value {
            Ok(info) => first_match(args, info),
            Err(why) => Answer::Unknown(format!("{}: {why}", cpus.info.path)),
        }),
        "cpulist2devs" => {
            let names: Vec<String> =
                cpulist::unpack(&args.join(","))?.iter().map(|cpu| format!("cpu{cpu}")).collect();
            text(names.join(","))
        }
        "cpulist2hex" => text(cpulist::mask(&cpulist::unpack(&joined())?)),
        "cpulist2hex_invert" => {
            let list = cpulist::unpack(&joined())?;
            with(&cpus.online, |online| Ok(cpulist::mask(&(&numbers(online) - &list))))
        }
        "cpulist_invert" => {
            let list = cpulist::unpack(&joined())?;
            with(&cpus.online, |online| Ok(cpulist::list(&(&numbers(online) - &list))))
        }
        "cpulist_online" => {
            let list = cpulist::unpack(&args.join(","))?;
            with(&cpus.online, |online| Ok(cpulist::list(&(&numbers(online) & &list))))
        }
        "cpulist_present" => {
            let list = cpulist::unpack(&joined())?;
            with(&cpus.present, |present| Ok(cpulist::list(&(&numbers(present) & &list))))
        }
        "cpulist_pack" => text(cpulist::packed(&cpulist::unpack(&joined())?)),
        "cpulist_unpack" => text(cpulist::list(&cpulist::unpack(&joined())?)),
        "cpulist_thread_siblings" => siblings(&cpulist::unpack(&args.join(","))?, facts),
        "hex2cpulist" => text(cpulist::list(&cpulist::of_mask(&args[0])?)),
        "exec" => {
            Ok(Answer::Unknown(format!("it needs the output of `{}`, which is not run", args.join(" "))))
        }
        "intel_recommended_pstate" => Ok(recommended_pstate(facts)),
        "kb2s" => {
            known(int(&args[0], 10).and_then(|kb| kb.checked_mul(2)).map(|sectors| sectors.to_string()))
        }
        "s2kb" => known(int(&args[0], 10).map(|sectors| half(sectors).to_string())),
        "log" => text(args.concat()),
        "lscpu_check" => Ok(match lscpu(facts) {
            Ok(lines) => first_match(args, &lines),
            Err(why) => Answer::Unknown(why),
        }),
        "package2cpus" => Ok(packages(args, facts)),
        "regex_search_ternary" => Ok(match python::regex(&args[1], false) {
            Ok(regex) => Answer::Text(args[if regex.is_match(&args[0]) { 2 } else { 3 }].clone()),
            Err(why) => Answer::Unknown(why),
        }),
        "strip" => text(strip(&args.concat()).to_owned()),
        "virt_check" => Ok(match is_guest(facts.host) {
            Ok(guest) => Answer::Text(args[usize::from(!guest)].clone()),
            Err(why) => Answer::Unknown(why),
        }),
        _ => Ok(Answer::Nothing),
    }
}

/// `str.isdigit`.
fn python_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit())
}

/// Half of it; of two that are as near, the even one.
fn half(value: i64) -> i64 {
    let low = value.div_euclid(2);
    low + i64::from(value.rem_euclid(2) == 1 && low.rem_euclid(2) == 1)
}

fn with<T>(reading: &Reading<T>, then: impl FnOnce(&T) -> Result<String, Beyond>) -> Result<Answer, Beyond> {
    match reading.need() {
        Ok(value) => then(value).map(Answer::Text),
        Err(unread) => Ok(Answer::Unknown(unread.to_string())),
    }
}

pub(super) fn numbers(cpus: &CpuSet) -> BTreeSet<u32> {
    cpus.iter().map(|cpu| cpu.0).collect()
}

/// `REGEX, TEXT, REGEX, TEXT ..., OTHERWISE`.
fn first_match(args: &[String], text: &str) -> Answer {
    for pair in args.chunks_exact(2) {
        match python::regex(&pair[0], true) {
            Ok(regex) if regex.is_match(text) => return Answer::Text(pair[1].clone()),
            Ok(_) => {}
            Err(why) => return Answer::Unknown(why),
        }
    }
    Answer::Text(args.chunks_exact(2).remainder().first().cloned().unwrap_or_default())
}

/// The CPUs of each socket but the first so many.
fn isolated_cores(reserved: Option<&str>, facts: &Facts<'_>) -> Answer {
    let reserved = match reserved {
        None => 1,
        Some(text) if python_digits(text) => text.parse().unwrap_or(usize::MAX),
        Some(_) => return Answer::Nothing,
    };
    match sockets(facts) {
        Ok(sockets) => {
            let isolated = sockets.values().flat_map(|cpus| cpus.iter().skip(reserved)).copied().collect();
            Answer::Text(cpulist::packed(&isolated))
        }
        Err(why) => Answer::Unknown(why),
    }
}

/// The CPUs of each socket. A CPU that is offline has none.
fn sockets(facts: &Facts<'_>) -> Result<BTreeMap<i64, BTreeSet<u32>>, String> {
    let mut sockets: BTreeMap<i64, BTreeSet<u32>> = BTreeMap::new();
    let cpus = &facts.host.cpus;
    for state in cpus.each.need().map_err(|unread| unread.to_string())? {
        if cpus.online.known().is_some_and(|online| !online.contains(state.cpu)) {
            continue;
        }
        match state.topology.package.value {
            Ok(socket) if socket >= 0 => {
                sockets.entry(socket).or_default().insert(state.cpu.0);
            }
            Ok(_) | Err(Why::Missing) => {}
            Err(_) => return Err(state.topology.package.to_string()),
        }
    }
    Ok(sockets)
}

fn packages(wanted: &[String], facts: &Facts<'_>) -> Answer {
    let sockets = match sockets(facts) {
        Ok(sockets) => sockets,
        Err(why) => return Answer::Unknown(why),
    };
    let is_wanted = |socket: &i64| {
        wanted.iter().any(|wanted| match int(wanted, 10) {
            Some(number) => number == *socket,
            None => python::fnmatch(&socket.to_string(), wanted),
        })
    };
    let cpus: BTreeSet<u32> =
        sockets.iter().filter(|(socket, _)| is_wanted(socket)).flat_map(|(_, cpus)| cpus).copied().collect();
    let names: Vec<String> = cpus.iter().map(|cpu| format!("cpu{cpu}")).collect();
    match names.is_empty() {
        true => Answer::Nothing,
        false => Answer::Text(names.join(",")),
    }
}

fn siblings(of: &BTreeSet<u32>, facts: &Facts<'_>) -> Result<Answer, Beyond> {
    let mut all = BTreeSet::new();
    for &cpu in of {
        let Some(state) = facts.host.cpus.get(whylate_base::Cpu(cpu)) else { continue };
        match &state.topology.siblings.value {
            Ok(siblings) => all.extend(numbers(siblings)),
            Err(Why::Missing) => {}
            Err(_) => return Ok(Answer::Unknown(state.topology.siblings.to_string())),
        }
    }
    Ok(Answer::Text(cpulist::list(&(&all - of))))
}

/// Intel's processors before Ice Lake jitter with the driver's own governor, by TuneD's comments.
fn recommended_pstate(facts: &Facts<'_>) -> Answer {
    const OLDER: [&str; 5] = ["sandybridge", "ivybridge", "haswell", "broadwell", "skylake"];
    let name = facts.tree.text("/sys/devices/cpu/caps/pmu_name");
    let mode = match &name.value {
        Ok(name) if !OLDER.contains(&strip(name)) && !strip(name).is_empty() => "active",
        Ok(_) | Err(Why::Missing) => "disable",
        Err(_) => return Answer::Unknown(name.to_string()),
    };
    Answer::Text(mode.to_owned())
}

/// The machine's architecture as uname(2) names it.
pub(super) fn architecture(facts: &Facts<'_>) -> Result<String, String> {
    let reading = facts.tree.text("/proc/sys/kernel/arch");
    if let Ok(name) = &reading.value {
        return Ok(strip(name).to_owned());
    }
    // That file is new (6.1); before, the kernel's configuration shows.
    let config = facts.host.kernel.config.need().map_err(|_| reading.to_string())?;
    let of = [("X86_64", "x86_64"), ("ARM64", "aarch64"), ("PPC64", "ppc64le"), ("S390", "s390x")];
    let found = of.iter().find(|(option, _)| config.has(option));
    found.map(|(_, name)| (*name).to_owned()).ok_or_else(|| reading.to_string())
}

/// What of lscpu(1)'s output is known without running it: of x86, names and numbers of the first CPU.
fn lscpu(facts: &Facts<'_>) -> Result<String, String> {
    let info = facts.host.cpus.info.need().map_err(|unread| unread.to_string())?;
    let mut lines = format!("Architecture: {}\n", architecture(facts)?);
    if let Ok(online) = facts.host.cpus.online.need() {
        lines.push_str(&format!("CPU(s): {}\nOn-line CPU(s) list: {online}\n", online.len()));
    }
    let names = [
        ("vendor_id", "Vendor ID"),
        ("model name", "Model name"),
        ("cpu family", "CPU family"),
        ("model", "Model"),
        ("stepping", "Stepping"),
        ("flags", "Flags"),
    ];
    let mut found = false;
    for (own, shown) in names {
        let fields = info.lines().filter_map(|line| line.split_once(':'));
        if let Some((_, value)) = fields.into_iter().find(|(name, _)| strip(name) == own) {
            lines.push_str(&format!("{shown}: {}\n", strip(value)));
            found = true;
        }
    }
    match found {
        true => Ok(lines),
        false => Err("lscpu(1) is not run, and /proc/cpuinfo has no names that it would show".to_owned()),
    }
}

/// Whether this is a virtual machine, by the signs that virt-what(1) goes by.
fn is_guest(host: &Snapshot) -> Result<bool, String> {
    let platform = &host.platform;
    match &platform.hypervisor.flag.value {
        Ok(flag) => return Ok(*flag),
        // No x86.
        Err(Why::Malformed { .. }) => {}
        Err(_) => return Err(platform.hypervisor.flag.to_string()),
    }
    if platform.hypervisor.kind.value.is_ok() {
        return Ok(true);
    }
    if let Ok(model) = &platform.model.value {
        return Ok(model.contains("dummy-virt") || model.to_ascii_lowercase().contains("qemu"));
    }
    const MAKERS: [&str; 8] =
        ["QEMU", "KVM", "Amazon EC2", "Google", "VMware", "Xen", "innotek", "Parallels"];
    match (&platform.dmi.vendor.value, &platform.dmi.product.value) {
        (Ok(vendor), Ok(product)) => Ok(product.contains("Virtual Machine")
            || product.contains("KVM")
            || MAKERS.iter().any(|maker| vendor.starts_with(maker)) && !product.contains("metal")),
        (Err(_), _) => Err(platform.dmi.vendor.to_string()),
        (_, Err(_)) => Err(platform.dmi.product.to_string()),
    }
}
