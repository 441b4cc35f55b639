//! Plugins that write values into files as they are: sysctl, sysfs, vm.

use super::super::error::TunedError;
use super::super::glob;
use super::super::locate;
use super::super::merge::{Item, Unit};
use super::super::output::{Must, Output};
use super::super::python::int;
use super::options::{unknown, unquoted};

pub(super) fn sysctl(unit: &Unit, out: &mut Output<'_, '_>) -> Result<(), TunedError> {
    for item in &unit.options {
        let path = format!("/proc/sys/{}", item.name.replace('.', "/"));
        let last = path.rsplit('/').next().unwrap_or_default();
        if item.name.contains(['*', ' ']) || locate::normal(&path) != path {
            out.leave(item, "it is not a sysctl's name");
        } else if matches!(last, "base_reachable_time" | "retrans_time") {
            out.leave(item, "TuneD refuses it: the kernel now has a variant with the unit in its name");
        } else if let Some(value) = out.text(unquoted(&item.value), item)? {
            out.assign(&path, &value, item, Must::Exist);
        }
    }
    Ok(())
}

pub(super) fn sysfs(unit: &Unit, out: &mut Output<'_, '_>) -> Result<(), TunedError> {
    for item in &unit.options {
        let pattern = locate::normal(&item.name);
        if !item.name.starts_with('/') || !pattern.starts_with("/sys/") {
            out.leave(item, "TuneD refuses it: it is not in /sys");
            continue;
        }
        let Some(value) = out.value(item)? else { continue };
        if !glob::is_rich(&pattern) {
            out.tunable(&pattern, &value, item, Must::Perhaps);
            continue;
        }
        match glob::files(out.variables.facts.tree, &pattern) {
            Ok(paths) => paths.iter().for_each(|path| out.tunable(path, &value, item, Must::Perhaps)),
            Err(why) => out.leave(item, why),
        }
    }
    Ok(())
}

const HUGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage";

pub(super) fn vm(unit: &Unit, out: &mut Output<'_, '_>) -> Result<(), TunedError> {
    for item in &unit.options {
        let Some(value) = out.value(item)? else { continue };
        match item.name.as_str() {
            "transparent_hugepages" | "transparent_hugepage" => huge_pages(&value, item, out),
            "transparent_hugepage.defrag" => {
                out.assign(&format!("{HUGE_PAGES}/defrag"), &value, item, Must::Perhaps);
            }
            "dirty_bytes" | "dirty_background_bytes" if value.trim().ends_with('%') => {
                dirty(&item.name.replace("bytes", "ratio"), value.trim().trim_end_matches('%'), item, out);
            }
            "dirty_bytes" | "dirty_background_bytes" | "dirty_ratio" | "dirty_background_ratio" => {
                dirty(&item.name, &value, item, out);
            }
            _ => unknown(item, unit, out),
        }
    }
    Ok(())
}

fn huge_pages(value: &str, item: &Item, out: &mut Output<'_, '_>) {
    if !matches!(value, "always" | "never" | "madvise") {
        return out.leave(item, "it must be always, madvise or never");
    }
    let cmdline = &out.variables.facts.host.kernel.cmdline;
    match cmdline.need().map(|cmdline| cmdline.has("transparent_hugepage")) {
        Ok(true) => out
            .leave(item, "the kernel was started with transparent_hugepage=, which TuneD does not overrule"),
        Ok(false) => out.tunable(&format!("{HUGE_PAGES}/enabled"), value, item, Must::Perhaps),
        Err(unread) => {
            let why = format!("it must not overrule the kernel's command line; {unread}");
            out.leave(item, why);
        }
    }
}

fn dirty(name: &str, value: &str, item: &Item, out: &mut Output<'_, '_>) {
    let least = match name {
        // Two pages; there are larger ones, and those kernels refuse less than that themselves.
        "dirty_bytes" => 2 * 4096,
        "dirty_background_bytes" => 1,
        _ => 0,
    };
    let most = if name.ends_with("ratio") { 100 } else { i64::MAX };
    match int(value, 10).filter(|value| (least..=most).contains(value)) {
        Some(value) => out.tunable(&format!("/proc/sys/vm/{name}"), &value.to_string(), item, Must::Perhaps),
        None => out.leave(item, format!("`{value}` is not a value of vm.{name}")),
    }
}
