//! Units of systemd and variables of configuration files, as their files and control groups show them. systemd is
//! not asked.

use super::context::PlanContext;
use super::expansion::{Expanded, Found};
use crate::{Setting, unit};
use whylate_bootloader::{UNIT_DIRECTORIES, unit_file};
use whylate_host::{Unread, Why};

/// Where a unit's own file may be (systemd.unit(5)), and where it is masked.
const OWN: &str = "/etc/systemd/system";
const RUN: &str = "/run/systemd/system";

const NO_UNIT: &str = "there is no such unit";

/// Whether it runs.
pub(super) fn active(unit: &str, value: Option<&str>, context: &PlanContext<'_>) -> Expanded {
    let setting = Setting::UnitActive { unit: unit.to_owned() };
    let Some(value) = value else { return Expanded::default() };
    if !matches!(value, "active" | "inactive") {
        return Expanded::left(setting, format!("`{value}` is neither active nor inactive"));
    }
    match context.tree.list(RUN).if_present() {
        Ok(Some(_)) => {}
        Ok(None) => return Expanded::left(setting, "systemd does not run on this machine"),
        Err(unread) => return unread_of(setting, &unread),
    }
    if !unit.ends_with(".service") {
        return match exists(unit, context) {
            Ok(false) if value == "inactive" => Expanded::found(vec![found(setting, value, value)]),
            Ok(false) => Expanded::left(setting, NO_UNIT),
            // Only systemd knows whether it is active, so an undo could not know it either.
            Ok(true) => {
                Expanded::left(setting, "whether it runs can be read only for services: use systemctl")
            }
            Err(unread) => unread_of(setting, &unread),
        };
    }
    match unit::runs(unit, context.tree) {
        Ok(true) => Expanded::found(vec![found(setting, "active", value)]),
        Ok(false) if value == "active" && exists(unit, context) == Ok(false) => {
            Expanded::left(setting, NO_UNIT)
        }
        Ok(false) => Expanded::found(vec![found(setting, "inactive", value)]),
        Err(unread) => unread_of(setting, &unread),
    }
}

/// Whether it is started at boot.
pub(super) fn enabled(unit: &str, value: Option<&str>, context: &PlanContext<'_>) -> Expanded {
    let setting = Setting::UnitEnabled { unit: unit.to_owned() };
    let Some(value) = value else { return Expanded::default() };
    if !matches!(value, "enabled" | "disabled" | "masked") {
        return Expanded::left(setting, format!("`{value}` is none of enabled, disabled and masked"));
    }
    let now = match state(unit, context) {
        Ok(now) => now,
        Err(unread) => return unread_of(setting, &unread),
    };
    match (now, value) {
        // What is not there is not started.
        (None, "disabled" | "masked") => Expanded::found(vec![Found::new(setting, None, None)]),
        (None, _) => Expanded::left(setting, NO_UNIT),
        // Without a section [Install] there is no link to make or to take away.
        (Some("static"), "disabled" | "enabled") => {
            Expanded::left(setting, "it is static: other units start it; only masking prevents that")
        }
        // A mask is a link in the place of such a file.
        (Some(now), "masked") if now != "masked" && has_own_file(unit, context) => {
            Expanded::left(setting, format!("it has a file of its own in {OWN}, which masking would replace"))
        }
        (Some("masked"), "disabled") => Expanded::found(vec![found(setting, "masked", "masked")]),
        (Some(now), value) => Expanded::found(vec![found(setting, now, value)]),
    }
}

fn found(setting: Setting, now: &str, then: &str) -> Found {
    Found::new(setting, Some(now.to_owned()), Some(then.to_owned()))
}

fn unread_of(setting: Setting, unread: &Unread) -> Expanded {
    let mut left = Expanded::default();
    left.unread(setting, unread);
    left
}

fn has_own_file(unit: &str, context: &PlanContext<'_>) -> bool {
    context.tree.list(OWN).known().is_some_and(|names| names.iter().any(|name| name == unit))
}

/// Whether there is a unit of this name.
fn exists(unit: &str, context: &PlanContext<'_>) -> Result<bool, Unread> {
    let file = unit_file(unit);
    let has = |names: Option<&Vec<String>>| names.is_some_and(|names| names.contains(&file));
    let systemd = &context.host.systemd;
    if has(systemd.shipped.if_present()?) {
        return Ok(true);
    }
    for directory in UNIT_DIRECTORIES {
        match context.tree.list(directory).if_present() {
            Ok(names) if has(names) => return Ok(true),
            Ok(_) => {}
            // A captured machine has the first two.
            Err(Unread { why: Why::NotCollected, .. }) if ![OWN, RUN].contains(&directory) => {}
            Err(unread) => return Err(unread),
        }
    }
    Ok(false)
}

/// `enabled`, `disabled`, `masked`, `static`; `None`: there is no such unit.
fn state(unit: &str, context: &PlanContext<'_>) -> Result<Option<&'static str>, Unread> {
    if context.tree.link_name(&format!("{OWN}/{unit}")).known().is_some_and(|target| target == "null") {
        return Ok(Some("masked"));
    }
    if context.host.systemd.is_enabled(unit)? {
        return Ok(Some("enabled"));
    }
    if !exists(unit, context)? {
        return Ok(None);
    }
    let file = unit_file(unit);
    for dir in UNIT_DIRECTORIES {
        if let Some(text) = context.tree.filtered(&format!("{dir}/{file}"), sections).known() {
            return Ok(Some(if text.lines().any(|line| line == "[Install]") {
                "disabled"
            } else {
                "static"
            }));
        }
    }
    Ok(Some("disabled"))
}

/// Of a unit's file the names of its sections: nothing else is asked.
fn sections(text: &str) -> String {
    let names = text.lines().map(str::trim).filter(|line| line.starts_with('[') && line.ends_with(']'));
    names.map(|line| format!("{line}\n")).collect()
}

/// A variable in a configuration file.
pub(super) fn variable(
    (file, section, name): (&str, Option<&str>, &str),
    value: Option<&str>,
    context: &PlanContext<'_>,
) -> Expanded {
    let setting = Setting::Variable {
        file: file.to_owned(),
        section: section.map(str::to_owned),
        name: name.to_owned(),
    };
    match whylate_bootloader::variable(context.tree, file, section, name).need() {
        Ok(now) => Expanded::found(vec![Found::new(setting, now.clone(), value.map(str::to_owned))]),
        Err(Unread { why: Why::Missing, .. }) => {
            Expanded::left(setting, "there is no such file: the program that reads it is not installed")
        }
        Err(unread) => unread_of(setting, &unread),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_host::{FsRoot, Snapshot};

    const FILES: &[(&str, &str)] = &[
        ("/run/systemd/system/x", ""),
        ("/etc/systemd/system/multi-user.target.wants/irqbalance.service", ""),
        ("/usr/lib/systemd/system/irqbalance.service", "[Unit]\n[Install]\n"),
        ("/usr/lib/systemd/system/stalld.service", "[Unit]\n[Install]\n"),
        ("/run/systemd/units/invocation:once.service", ""),
        ("/usr/lib/systemd/system/fwupd.timer", "[Unit]\n"),
        ("/usr/lib/systemd/system/fwupd.service", "[Unit]\n[Service]\n"),
        ("/etc/systemd/system/own.service", "[Install]\n"),
        ("/usr/lib/systemd/system/getty@.service", "[Unit]\n[Install]\n"),
        ("/sys/fs/cgroup/system.slice/irqbalance.service/cgroup.events", "populated 1\nfrozen 0\n"),
        ("/sys/fs/cgroup/system.slice/ended.service/cgroup.events", "populated 0\nfrozen 0\n"),
        ("/sys/fs/cgroup/system.slice/old.service/cgroup.procs", "12\n"),
    ];

    fn planned(files: &[(&str, &str)], ask: impl Fn(&PlanContext<'_>) -> Expanded) -> String {
        let tree = FsRoot::memory(files);
        let host = Snapshot::read(&tree);
        let expanded = ask(&PlanContext::new(&tree, &host));
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
        let found =
            expanded.found.iter().map(|found| format!("{} -> {}", text(&found.now), text(&found.then)));
        found.chain(expanded.left.iter().map(|left| format!("left: {}", left.why))).collect()
    }

    #[test]
    fn what_runs() {
        for (unit, value, expected) in [
            ("irqbalance.service", "inactive", "active -> inactive"),
            ("ended.service", "inactive", "inactive -> inactive"),
            ("old.service", "inactive", "active -> inactive"),
            ("stalld.service", "active", "inactive -> active"),
            ("absent.service", "active", "left: there is no such unit"),
            ("absent.service", "inactive", "inactive -> inactive"),
            ("stalld.service", "on", "left: `on` is neither active nor inactive"),
            ("once.service", "inactive", "active -> inactive"),
            ("fwupd.timer", "inactive", "left: whether it runs can be read only for services: use systemctl"),
            ("absent.timer", "inactive", "inactive -> inactive"),
            ("absent.timer", "active", "left: there is no such unit"),
        ] {
            assert_eq!(
                planned(FILES, |context| active(unit, Some(value), context)),
                expected,
                "{unit} {value}"
            );
        }
        let none = planned(&[("/etc/hostname", "x"), ("/run/lock/x", "")], |context| {
            active("a.service", Some("active"), context)
        });
        assert_eq!(none, "left: systemd does not run on this machine");
    }

    #[test]
    fn what_starts_at_boot() {
        for (unit, value, expected) in [
            ("irqbalance.service", "disabled", "enabled -> disabled"),
            ("stalld.service", "enabled", "disabled -> enabled"),
            ("stalld.service", "disabled", "disabled -> disabled"),
            ("fwupd.service", "masked", "static -> masked"),
            ("own.service", "enabled", "disabled -> enabled"),
            (
                "own.service",
                "masked",
                "left: it has a file of its own in /etc/systemd/system, which masking would replace",
            ),
            ("getty@tty1.service", "enabled", "disabled -> enabled"),
            ("absent.service", "disabled", "- -> -"),
            ("absent.service", "enabled", "left: there is no such unit"),
        ] {
            assert_eq!(
                planned(FILES, |context| enabled(unit, Some(value), context)),
                expected,
                "{unit} {value}"
            );
        }
        let still = planned(FILES, |context| enabled("fwupd.service", Some("disabled"), context));
        assert!(still.contains("static"), "{still}");
        let tree = FsRoot::refusing(Why::Denied);
        let host = Snapshot::read(&tree);
        assert_eq!(enabled("a.service", Some("disabled"), &PlanContext::new(&tree, &host)).left.len(), 1);
    }
}
