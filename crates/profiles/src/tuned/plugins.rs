//! TuneD's plugins: which units are for this machine, in which order, and which module carries each over.

mod bootloader;
mod cpu;
mod devices;
mod irq;
mod options;
mod plain;
mod scheduler;
mod services;

use super::error::TunedError;
use super::functions;
use super::locate::{self, Settings};
use super::merge::Unit;
use super::output::Output;
use super::python::{self, strip};

/// Every unit, in the order in which TuneD applies them.
pub(super) fn carry_over(
    units: Vec<Unit>,
    settings: &Settings,
    out: &mut Output<'_, '_>,
) -> Result<(), TunedError> {
    let mut chosen = Vec::new();
    for unit in units {
        if unit.enabled && is_for_machine(&unit, settings, out)? {
            let priority = match &unit.priority {
                Some(item) => locate::priority(&item.value, &item.location)?,
                None => settings.priority,
            };
            chosen.push((priority, unit));
        }
    }
    // Those of the same priority stay in the order of the profile.
    chosen.sort_by_key(|(priority, _)| *priority);
    let mut has_latency = false;
    for (_, unit) in &chosen {
        for item in [&unit.script_pre, &unit.script_post].into_iter().flatten() {
            out.leave(item, "scripts are never run");
        }
        match unit.kind.as_str() {
            "acpi" => devices::acpi(unit, out)?,
            "audio" => devices::audio(unit, out)?,
            "bootloader" => bootloader::carry_over(unit, out)?,
            "cpu" => {
                cpu::carry_over(unit, !has_latency, out)?;
                has_latency = true;
            }
            "disk" => devices::disk(unit, out)?,
            "eeepc_she" => out.leave_unit(unit, "it changes the Eee PC's bus speed with the load"),
            "irq" => irq::carry_over(unit, out)?,
            "irqbalance" => irq::balancer(unit, out)?,
            "modules" => out.leave_unit(
                unit,
                "TuneD writes /etc/modprobe.d/tuned.conf and reloads modules; write the options to a file of your own there",
            ),
            "mounts" => out.leave_unit(unit, "file systems are not remounted"),
            "net" => devices::net(unit, out)?,
            "rtentsk" => out.leave_unit(
                unit,
                "TuneD's daemon keeps a socket with time stamps open, so that the first one of a program does \
                 not patch kernel code on every CPU; open one early in your own program",
            ),
            "scheduler" => scheduler::carry_over(unit, out)?,
            "script" => services::script(unit, out),
            "scsi_host" => devices::scsi_host(unit, out)?,
            "selinux" => devices::selinux(unit, out)?,
            "service" => services::service(unit, out)?,
            "sysctl" => plain::sysctl(unit, out)?,
            "sysfs" => plain::sysfs(unit, out)?,
            "systemd" => services::systemd(unit, out)?,
            "uncore" => out.leave_unit(unit, "the uncore frequency is not supported"),
            "usb" => devices::usb(unit, out)?,
            "video" => devices::video(unit, out)?,
            "vm" => plain::vm(unit, out)?,
            other => out.leave_unit(unit, &format!("`{other}` is not a supported plugin of TuneD")),
        }
    }
    Ok(())
}

/// Whether `cpuinfo_regex` and `uname_regex` fit, where there are some.
fn is_for_machine(unit: &Unit, settings: &Settings, out: &mut Output<'_, '_>) -> Result<bool, TunedError> {
    for (item, is_uname) in [(&unit.cpuinfo_regex, false), (&unit.uname_regex, true)] {
        let Some(item) = item else { continue };
        let Some(text) = out.value(item)? else { return Ok(false) };
        let subject = match is_uname {
            true => settings.uname.clone().map_or_else(|| uname(out), Ok),
            false => settings.cpuinfo.clone().map_or_else(|| cpuinfo(out), Ok),
        };
        let fits = subject.and_then(|subject| Ok(python::regex(&text, true)?.is_match(&subject)));
        match fits {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(why) => {
                out.leave_unit(unit, &format!("cannot tell whether it applies to this machine: {why}"));
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn cpuinfo(out: &Output<'_, '_>) -> Result<String, String> {
    out.variables.facts.host.cpus.info.need().cloned().map_err(|unread| unread.to_string())
}

/// As `uname -a` has it: the system, the machine's name, the kernel's release and version, the architecture.
fn uname(out: &Output<'_, '_>) -> Result<String, String> {
    let facts = &out.variables.facts;
    let kernel = &facts.host.kernel;
    let need = |reading: &whylate_host::Reading<String>| {
        reading.need().cloned().map_err(|unread| unread.to_string())
    };
    let name = need(&facts.tree.text("/proc/sys/kernel/hostname"))?;
    let machine = functions::architecture(facts)?;
    Ok(format!("Linux {} {} {} {machine}", strip(&name), need(&kernel.release)?, need(&kernel.version)?))
}
