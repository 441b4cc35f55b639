//! Plugins for devices: what is a plain file of the kernel is carried over.

use super::super::error::TunedError;
use super::super::merge::{Item, Unit};
use super::super::output::{Must, Output};
use super::super::python::{int, is_space};
use super::options::{truth, unknown};
use whylate_host::Why;

/// Sound cards that sleep when nothing plays. TuneD sets both options wherever there is such a section.
pub(super) fn audio(unit: &Unit, out: &mut Output<'_, '_>) -> Result<(), TunedError> {
    const MODULES: [&str; 2] = ["snd_hda_intel", "snd_ac97_codec"];
    let modules = out.devices(unit, MODULES.map(str::to_owned).into())?;
    let default = |name: &str, value: &str| Item {
        name: name.to_owned(),
        value: value.to_owned(),
        location: unit.location.clone(),
    };
    let mut options = unit.options.clone();
    for item in [default("timeout", "0"), default("reset_controller", "0")] {
        if !options.iter().any(|own| own.name == item.name) {
            options.push(item);
        }
    }
    for item in &options {
        let Some(value) = out.value(item)? else { continue };
        let (file, value) = match item.name.as_str() {
            "timeout" if int(&value, 10).is_some_and(|seconds| seconds >= 0) => ("power_save", value),
            "timeout" => {
                out.leave(item, "it is not a number of seconds");
                continue;
            }
            // Only this driver has it, and shows it as a letter.
            "reset_controller" => {
                let flag = if truth(&value) == "1" { "Y" } else { "N" };
                ("power_save_controller", flag.to_owned())
            }
            _ => {
                unknown(item, unit, out);
                continue;
            }
        };
        for module in &modules {
            if file == "power_save" || module == "snd_hda_intel" {
                out.tunable(&format!("/sys/module/{module}/parameters/{file}"), &value, item, Must::Perhaps);
            }
        }
    }
    Ok(())
}

/// The disks that TuneD looks after: not removable, of SCSI, virtio, Xen, NVMe or no bus at all.
fn disks(out: &Output<'_, '_>) -> Result<Vec<String>, String> {
    let tree = out.variables.facts.tree;
    let names = tree.list("/sys/block");
    let names = names.need().map_err(|unread| unread.to_string())?;
    let is_fixed = |name: &str| {
        let removable = tree.text(&format!("/sys/block/{name}/removable"));
        removable.value.is_ok_and(|text| text.trim() == "0")
    };
    let is_of_bus = |name: &str| {
        // One without a device behind it, such as a loop device.
        if tree
            .list(&format!("/sys/block/{name}"))
            .value
            .is_ok_and(|files| !files.iter().any(|file| file == "device"))
        {
            return true;
        }
        let bus = tree.link_name(&format!("/sys/block/{name}/device/subsystem"));
        match bus.value {
            Ok(bus) => matches!(bus.as_str(), "scsi" | "virtio" | "xen" | "nvme"),
            Err(why) => why == Why::Missing,
        }
    };
    Ok(names.iter().filter(|name| is_fixed(name) && is_of_bus(name)).cloned().collect())
}

pub(super) fn disk(unit: &Unit, out: &mut Output<'_, '_>) -> Result<(), TunedError> {
    let disks = match disks(out) {
        Ok(disks) => out.devices(unit, disks)?,
        Err(why) => {
            out.leave_unit(unit, &why);
            return Ok(());
        }
    };
    for item in &unit.options {
        let Some(value) = out.value(item)? else { continue };
        let (file, value) = match item.name.as_str() {
            "elevator" => ("scheduler", Some(value)),
            "readahead" => ("read_ahead_kb", readahead(&value)),
            "scheduler_quantum" => ("iosched/quantum", int(&value, 10).map(|number| number.to_string())),
            "readahead_multiply" => {
                out.leave(item, "it is relative to the old value: a second apply would change it again");
                continue;
            }
            "apm" | "spindown" => {
                out.leave(item, "hdparm(8) sends it to the disk, and it cannot be read back");
                continue;
            }
            "dynamic" => {
                out.leave(item, "only TuneD's daemon does this: it monitors the disks");
                continue;
            }
            _ => {
                unknown(item, unit, out);
                continue;
            }
        };
        match value {
            Some(value) => {
                for disk in &disks {
                    out.assign(&format!("/sys/block/{disk}/queue/{file}"), &value, item, Must::Perhaps);
                }
            }
            None => out.leave(item, "it is not a number"),
        }
    }
    Ok(())
}

/// KiB, or sectors of 512 bytes with `s` behind a blank. `>` and `<` before it stay.
fn readahead(value: &str) -> Option<String> {
    let (sign, amount) = match value.strip_prefix(['>', '<']) {
        Some(amount) => (&value[..1], amount),
        None => ("", value),
    };
    let mut words = amount.split(is_space).filter(|word| !word.is_empty());
    let number = int(words.next()?, 10)?;
    let is_sectors = words.next().is_some_and(|unit| unit.starts_with('s'));
    Some(format!("{sign}{}", if is_sectors { number / 2 } else { number }))
}

pub(super) fn scsi_host(unit: &Unit, out: &mut Output<'_, '_>) -> Result<(), TunedError> {
    for item in &unit.options {
        match item.name.as_str() {
            "alpm" => each(unit, item, "/sys/class/scsi_host", "link_power_management_policy", out)?,
            _ => unknown(item, unit, out),
        }
    }
    Ok(())
}

/// One file of each device of a class.
fn each(
    unit: &Unit,
    item: &Item,
    class: &str,
    file: &str,
    out: &mut Output<'_, '_>,
) -> Result<(), TunedError> {
    let Some(value) = out.value(item)? else { return Ok(()) };
    let listed = out.variables.facts.tree.list(class);
    let names = match listed.value {
        Ok(names) => names,
        Err(Why::Missing) => Vec::new(),
        Err(why) => {
            out.leave(item, format!("{class}: {why}"));
            return Ok(());
        }
    };
    let all = names.len();
    let own = out.devices(unit, names)?;
    if own.len() == all && Output::is_for_all(unit) {
        out.assign_all(&format!("{class}/*/{file}"), &value, item);
        return Ok(());
    }
    for device in own {
        out.assign(&format!("{class}/{device}/{file}"), &value, item, Must::Perhaps);
    }
    Ok(())
}

pub(super) fn usb(unit: &Unit, out: &mut Output<'_, '_>) -> Result<(), TunedError> {
    for item in &unit.options {
        if item.name != "autosuspend" {
            unknown(item, unit, out);
            continue;
        }
        let Some(value) = out.value(item)? else { continue };
        let flag = if matches!(value.to_lowercase().as_str(), "true" | "1") { "1" } else { "0" };
        let item = Item { value: flag.to_owned(), ..item.clone() };
        each(unit, &item, "/sys/bus/usb/devices", "power/autosuspend", out)?;
    }
    Ok(())
}

/// Radeon's old ways to save power, of which the first that TuneD knows; and how much newer ones save on a panel.
pub(super) fn video(unit: &Unit, out: &mut Output<'_, '_>) -> Result<(), TunedError> {
    for item in &unit.options {
        if item.name == "panel_power_savings" {
            each(unit, item, "/sys/class/drm", "amdgpu/panel_power_savings", out)?;
            continue;
        }
        if item.name != "radeon_powersave" {
            unknown(item, unit, out);
            continue;
        }
        let Some(value) = out.value(item)? else { continue };
        let words = value.split(|c: char| is_space(c) || matches!(c, ':' | ';' | ','));
        let Some(word) = words.into_iter().find(|word| !word.is_empty()) else { continue };
        let (method, file, value) = match word {
            "default" | "auto" | "low" | "mid" | "high" => ("profile", "power_profile", word),
            "dpm-battery" | "dpm-balanced" | "dpm-performance" => ("dpm", "power_dpm_state", &word[4..]),
            "dynpm" => ("dynpm", "", ""),
            _ => {
                out.leave(item, format!("there is no power-saving method `{word}`"));
                continue;
            }
        };
        let of = |value: &str| Item { value: value.to_owned(), ..item.clone() };
        each(unit, &of(method), "/sys/class/drm", "device/power_method", out)?;
        if !file.is_empty() {
            each(unit, &of(value), "/sys/class/drm", &format!("device/{file}"), out)?;
        }
    }
    Ok(())
}

pub(super) fn net(unit: &Unit, out: &mut Output<'_, '_>) -> Result<(), TunedError> {
    for item in &unit.options {
        match item.name.as_str() {
            "nf_conntrack_hashsize" => {
                if let Some(value) = out.value(item)? {
                    out.assign("/sys/module/nf_conntrack/parameters/hashsize", &value, item, Must::Perhaps);
                }
            }
            "mtu" => each(unit, item, "/sys/class/net", "mtu", out)?,
            "txqueuelen" => each(unit, item, "/sys/class/net", "tx_queue_len", out)?,
            "channels" | "coalesce" | "features" | "pause" | "ring" | "wake_on_lan" => {
                out.leave(item, "it is set with ethtool(8), not through a file");
            }
            "dynamic" => out.leave(item, "only TuneD's daemon does this: it monitors the traffic"),
            _ => unknown(item, unit, out),
        }
    }
    Ok(())
}

pub(super) fn selinux(unit: &Unit, out: &mut Output<'_, '_>) -> Result<(), TunedError> {
    for item in &unit.options {
        match item.name.as_str() {
            "avc_cache_threshold" => {
                if let Some(value) = out.value(item)? {
                    out.assign("/sys/fs/selinux/avc/cache_threshold", &value, item, Must::Perhaps);
                }
            }
            _ => unknown(item, unit, out),
        }
    }
    Ok(())
}

/// The first of `a|b` that the firmware has.
pub(super) fn acpi(unit: &Unit, out: &mut Output<'_, '_>) -> Result<(), TunedError> {
    const DIR: &str = "/sys/firmware/acpi";
    for item in &unit.options {
        if item.name != "platform_profile" {
            unknown(item, unit, out);
            continue;
        }
        let Some(value) = out.value(item)? else { continue };
        let choices = out.variables.facts.tree.text(&format!("{DIR}/platform_profile_choices"));
        let mut words = value.split('|').map(str::trim);
        let word = match choices.value {
            Ok(choices) => words.find(|word| choices.split_ascii_whitespace().any(|own| own == *word)),
            Err(_) => words.next(),
        };
        match word {
            Some(word) => out.tunable(&format!("{DIR}/platform_profile"), word, item, Must::Perhaps),
            None => out.leave(item, format!("{} has none of these", choices.path)),
        }
    }
    Ok(())
}
