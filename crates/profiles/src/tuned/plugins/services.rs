//! The plugins service, systemd and script.

use super::super::cpulist;
use super::super::error::TunedError;
use super::super::merge::Unit;
use super::super::output::{Must, Output};
use super::options::{unknown, unquoted};
use crate::Selector;
use whylate_host::Why;

/// `service.NAME=start,enable,file:OVERLAY`; the last word counts where two contradict each other.
pub(super) fn service(unit: &Unit, out: &mut Output<'_, '_>) -> Result<(), TunedError> {
    for item in &unit.options {
        let Some(name) = item.name.strip_prefix("service.").filter(|name| !name.is_empty()) else {
            unknown(item, unit, out);
            continue;
        };
        let Some(value) = out.value(item)? else { continue };
        let name = match name.rsplit_once('.') {
            Some((_, "service" | "socket" | "timer" | "target" | "mount" | "path")) => name.to_owned(),
            _ => format!("{name}.service"),
        };
        let (mut active, mut enabled) = (None, None);
        for word in value.split([',', ';']).map(str::trim) {
            match word {
                "start" => active = Some("active"),
                "stop" => active = Some("inactive"),
                "enable" => enabled = Some("enabled"),
                "disable" => enabled = Some("disabled"),
                file if file.starts_with("file:") => {
                    out.leave_at(&item.location, file, "overlay files for units are not supported");
                }
                other => {
                    out.leave_at(&item.location, other, "supported: start, stop, enable, disable, file:")
                }
            }
        }
        if let Some(active) = active {
            out.setting(Selector::UnitActive { unit: name.clone() }, active, item, Must::Perhaps);
        }
        if let Some(enabled) = enabled {
            out.setting(Selector::UnitEnabled { unit: name }, enabled, item, Must::Perhaps);
        }
    }
    Ok(())
}

/// The CPUs of systemd and of all that it starts, from the next boot on.
pub(super) fn systemd(unit: &Unit, out: &mut Output<'_, '_>) -> Result<(), TunedError> {
    const FILE: &str = "/etc/systemd/system.conf";
    for item in &unit.options {
        if item.name != "cpu_affinity" {
            unknown(item, unit, out);
            continue;
        }
        let Some(value) = out.text(unquoted(&item.value), item)? else { continue };
        let cpus = cpulist::unpack(&value.replace('\\', "")).map_err(|cpulist::Beyond(cpu)| {
            TunedError::written(
                &item.location,
                format!("no machine has a CPU {cpu}"),
                "correct the list of CPUs",
            )
        })?;
        if cpus.is_empty() {
            out.leave(item, format!("`{value}` is not a list of CPUs"));
            continue;
        }
        match out.variables.facts.tree.text(FILE).value {
            Ok(_) => {
                let (section, name) = (Some("Manager".to_owned()), "CPUAffinity".to_owned());
                let value = cpulist::list(&cpus).replace(',', " ");
                out.setting(
                    Selector::Variable { file: FILE.to_owned(), section, name },
                    value,
                    item,
                    Must::Perhaps,
                );
            }
            Err(Why::Missing) => {
                out.leave(item, format!("{FILE} does not exist, and TuneD does nothing in this case"))
            }
            Err(why) => out.leave(item, format!("{FILE}: {why}")),
        }
    }
    Ok(())
}

/// What functions of TuneD's that its own scripts call would do (/usr/lib/tuned/functions).
const CALLS: [(&str, &str); 3] = [
    (
        "disable_ksm",
        "it masks ksm.service and ksmtuned.service and separates shared pages (/sys/kernel/mm/ksm/run = 2)",
    ),
    (
        "setup_kvm_mod_low_latency",
        "it writes options of the modules kvm and kvm_intel to /etc/modprobe.d/kvm.rt.tuned.conf: \
         kvmclock_periodic_sync=0, nx_huge_pages=0, ple_gap=0",
    ),
    ("TUNED_tmpdir", "it prepares files for the initial RAM disk"),
];

/// Scripts are named, and never run.
pub(super) fn script(unit: &Unit, out: &mut Output<'_, '_>) {
    for item in &unit.scripts {
        let text = out.variables.facts.tree.text(&item.value).value.unwrap_or_default();
        let known = CALLS.iter().filter(|(call, _)| text.contains(call)).map(|(_, what)| format!("; {what}"));
        let why = format!("scripts are never run: read what it does{}", known.collect::<String>());
        out.leave_at(&item.location, &format!("script={}", item.value), why);
    }
    for item in &unit.options {
        unknown(item, unit, out);
    }
}
