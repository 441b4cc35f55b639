//! The plugin cpu: idle states and frequencies.

use super::super::error::TunedError;
use super::super::merge::{Item, Unit};
use super::super::output::{Must, Output};
use super::super::python::int;
use super::options::{truth, unknown};
use crate::Selector;
use whylate_base::Cpu;
use whylate_host::{IdleState, Why};

const DIR: &str = "/sys/devices/system/cpu";

/// `has_latency`: the latency is this unit's; only the first one has it.
pub(super) fn carry_over(unit: &Unit, has_latency: bool, out: &mut Output<'_, '_>) -> Result<(), TunedError> {
    let cpus = match out.variables.facts.host.cpus.present.need() {
        Ok(present) => present.iter().map(|cpu| format!("cpu{cpu}")).collect(),
        Err(unread) => {
            out.leave_unit(unit, &unread.to_string());
            return Ok(());
        }
    };
    let cpus = out.devices(unit, cpus)?;
    for item in &unit.options {
        let Some(value) = out.value(item)? else { continue };
        match item.name.as_str() {
            "force_latency" | "min_perf_pct" | "max_perf_pct" | "no_turbo" if !has_latency => {
                out.leave(item, "TuneD uses it only in the first unit of the plugin cpu");
            }
            "force_latency" => latency(&value, item, out),
            "min_perf_pct" | "max_perf_pct" => {
                out.tunable(&format!("{DIR}/intel_pstate/{}", item.name), &value, item, Must::Perhaps);
            }
            "no_turbo" => {
                out.tunable(&format!("{DIR}/intel_pstate/no_turbo"), &truth(&value), item, Must::Perhaps);
            }
            "boost" => boost(unit, item, &truth(&value), &cpus, out),
            "governor" => {
                let files = Files {
                    value: "cpufreq/scaling_governor",
                    possible: Some("cpufreq/scaling_available_governors"),
                    policy: false,
                };
                chosen(unit, item, &value, &cpus, files, out);
            }
            "energy_performance_preference" => {
                let files = Files {
                    value: "energy_performance_preference",
                    possible: Some("energy_performance_available_preferences"),
                    policy: true,
                };
                chosen(unit, item, &value, &cpus, files, out);
            }
            "energy_perf_bias" => bias(unit, item, &value, &cpus, out),
            "pm_qos_resume_latency_us" => {
                if value != "n/a" && int(&value, 10).is_none_or(|us| us < 0) {
                    out.leave(item, "it is neither a number of microseconds nor n/a");
                    continue;
                }
                let files = Files { value: "power/pm_qos_resume_latency_us", possible: None, policy: false };
                same(unit, item, &value, &cpus, files, out);
            }
            "sampling_down_factor" => sampling(item, &value, &cpus, out),
            "load_threshold" | "latency_low" | "latency_high" => {
                out.leave(item, "only TuneD's daemon does this: it monitors the load");
            }
            _ => unknown(item, unit, out),
        }
    }
    Ok(())
}

/// `1`, `cstate.id_no_zero:1|3`, `cstate.name:C1|10`: the first that has a value.
fn latency(value: &str, item: &Item, out: &mut Output<'_, '_>) {
    for word in value.split('|') {
        let found = match int(word, 10) {
            Some(us) => Ok(Some(us)),
            None if matches!(word, "none" | "None") => return,
            None => of_state(word, out),
        };
        match found {
            Ok(Some(us)) if us >= 0 => {
                return out.setting(Selector::CpuDmaLatency, us.to_string(), item, Must::Exist);
            }
            Ok(Some(_)) => return out.leave(item, "a latency cannot be negative"),
            Ok(None) => {}
            Err(why) => return out.leave(item, why),
        }
    }
    out.leave(item, "the first CPU has no such idle state, and no fallback in microseconds is given");
}

/// The exit latency of an idle state of the first CPU, us; `None`: it has no such state.
fn of_state(word: &str, out: &Output<'_, '_>) -> Result<Option<i64>, String> {
    let cpus = &out.variables.facts.host.cpus;
    let states: &[IdleState] = match cpus.get(Cpu(0)).map(|cpu| &cpu.idle_states) {
        None => return Err(format!("{DIR}/cpu0 was not read")),
        Some(states) => match &states.value {
            Ok(states) => states,
            Err(Why::Missing) => &[],
            Err(why) => return Err(format!("{}: {why}", states.path)),
        },
    };
    let Some((how, which)) = word.split_once(':') else { return Ok(None) };
    let state = match how {
        "cstate.id" | "cstate.id_no_zero" => int(which, 10).and_then(|number| {
            let directory = format!("/state{number}/name");
            states.iter().find(|state| state.name.path.ends_with(&directory))
        }),
        // Of two with one name TuneD takes the one that its directory lists last, which may be any.
        "cstate.name" | "cstate.name_no_zero" => {
            states.iter().rfind(|state| state.name.value.as_deref().is_ok_and(|name| name == which))
        }
        _ => None,
    };
    let Some(state) = state else { return Ok(None) };
    let us = *state.exit_latency_us.need().map_err(|unread| unread.to_string())?;
    let is_skipped = us == 0 && how.ends_with("_no_zero");
    Ok((!is_skipped).then(|| i64::try_from(us).unwrap_or(i64::MAX)))
}

/// Each policy has it since 6.11; intel_pstate has the opposite, for all.
fn boost(unit: &Unit, item: &Item, value: &str, cpus: &[String], out: &mut Output<'_, '_>) {
    let no_turbo = match value {
        "0" => "1",
        "1" => "0",
        _ => return out.leave(item, "it is neither on nor off"),
    };
    same(unit, item, value, cpus, Files { value: "boost", possible: None, policy: true }, out);
    out.tunable(&format!("{DIR}/intel_pstate/no_turbo"), no_turbo, item, Must::Perhaps);
}

/// Where a CPU has a value, and the possible ones.
#[derive(Clone, Copy)]
struct Files {
    value: &'static str,
    possible: Option<&'static str>,
    /// It is in the directory of a frequency policy.
    policy: bool,
}

impl Files {
    fn path(self, cpu: &str, file: &str) -> String {
        match self.policy {
            true => format!("{DIR}/cpufreq/policy{}/{file}", cpu.trim_start_matches("cpu")),
            false => format!("{DIR}/{cpu}/{file}"),
        }
    }
}

/// The first of `a|b` that each CPU can do.
fn chosen(unit: &Unit, item: &Item, value: &str, cpus: &[String], files: Files, out: &mut Output<'_, '_>) {
    let words: Vec<&str> = value.split('|').map(str::trim).collect();
    if words.iter().any(|word| word.is_empty()) {
        return out.leave(item, "one of the values is empty");
    }
    let Some(possible) = files.possible else { return };
    let mut choices: Vec<(&String, &str)> = Vec::new();
    for cpu in cpus {
        let reading = out.variables.facts.tree.text(&files.path(cpu, possible));
        match reading.value {
            Ok(text) => {
                match words.iter().find(|&&word| text.split_ascii_whitespace().any(|own| own == word)) {
                    Some(word) => choices.push((cpu, word)),
                    None => {
                        let why = format!("{} has none of these: {}", reading.path, text.trim());
                        return out.leave(item, why);
                    }
                }
            }
            // It is offline, or another one has its policy, or there is no frequency driver.
            Err(Why::Missing | Why::NotCollected) => {}
            Err(why) => return out.leave(item, format!("{}: {why}", reading.path)),
        }
    }
    let first = choices.first().map_or(words[0], |(_, word)| word);
    if Output::is_for_all(unit) && choices.iter().all(|(_, word)| *word == first) {
        return same(unit, item, first, cpus, files, out);
    }
    for (cpu, word) in choices {
        out.tunable(&files.path(cpu, files.value), word, item, Must::Perhaps);
    }
}

/// One value for all the unit's CPUs.
fn same(unit: &Unit, item: &Item, value: &str, cpus: &[String], files: Files, out: &mut Output<'_, '_>) {
    if Output::is_for_all(unit) && !cpus.is_empty() {
        return out.assign_all(&files.path("cpu*", files.value), value, item);
    }
    for cpu in cpus {
        out.assign(&files.path(cpu, files.value), value, item, Must::Perhaps);
    }
}

/// The file shows a number, and takes some names (arch/x86/kernel/cpu/intel_epb.c). `powersave` is a name that
/// x86_energy_perf_policy(8) once had for the last one.
fn bias(unit: &Unit, item: &Item, value: &str, cpus: &[String], out: &mut Output<'_, '_>) {
    let number = value.split('|').find_map(|word| {
        Some(match word.trim() {
            "performance" => 0,
            "balance-performance" => 4,
            "normal" => 6,
            "balance-power" => 8,
            "power" | "powersave" => 15,
            word => int(word, 10).filter(|number| (0..=15).contains(number))?,
        })
    });
    let files = Files { value: "power/energy_perf_bias", possible: None, policy: false };
    match number {
        Some(number) => same(unit, item, &number.to_string(), cpus, files, out),
        None => out.leave(
            item,
            "it must be performance, balance-performance, normal, balance-power, power or 0 to 15",
        ),
    }
}

/// It is the governor's, of which TuneD takes the one that it has just set.
fn sampling(item: &Item, value: &str, cpus: &[String], out: &mut Output<'_, '_>) {
    let mut governors: Vec<String> = cpus.iter().filter_map(|cpu| out.governor(cpu)).collect();
    governors.sort();
    governors.dedup();
    if governors.is_empty() {
        return out.leave(item, "no governor of any CPU could be read");
    }
    for governor in governors {
        out.tunable(&format!("{DIR}/cpufreq/{governor}/sampling_down_factor"), value, item, Must::Perhaps);
    }
}
