//! Is there a graphics processor that shares the memory?

use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "graphics",
    title: "No graphics driver shares resources with real-time work",
    severity: Severity::Info,
    profiles: Profile::HARD,
    sources: &[
        "Documentation/core-api/real-time/kernel-configuration.rst (CONFIG_DRM)",
        "Documentation/filesystems/resctrl.rst",
    ],
    page: page!("graphics"),
    check,
};

/// Drivers of graphics processors; drivers of management controllers and of guests only display.
const DRIVERS: [&str; 10] =
    ["i915", "xe", "amdgpu", "radeon", "nouveau", "nvidia", "nova", "gma500", "etnaviv", "loongson"];

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let Some(devices) = host.platform.pci.if_present()? else {
        return Ok(RuleOutcome::not_applicable("There is no PCI bus; graphics elsewhere is not detected"));
    };
    let mut drivers = Vec::new();
    let mut displays = 0;
    for device in devices {
        if !device.class.need()?.starts_with("0x03") {
            continue;
        }
        displays += 1;
        if let Some(driver) = device.driver.if_present()?
            && DRIVERS.contains(&driver.as_str())
        {
            drivers.push((device, driver));
        }
    }
    let Some((_, first)) = drivers.first() else {
        // A board with a device tree has its graphics outside PCI.
        if host.platform.model.if_present()?.is_some() {
            return Err(CannotTell::because(
                "/sys/class/drm",
                "this board's graphics are not on PCI: check there",
            ));
        }
        return Ok(RuleOutcome::pass("No graphics processor driver is in use").shows_as(
            &host.platform.pci.path,
            format!("{displays} displays among {} devices", devices.len()),
        ));
    };
    let answer = RuleOutcome::fail(
        format!("A graphics processor is in use, with the driver {first}"),
        "An integrated graphics processor shares the last-level cache, the memory and the power budget with the \
         CPUs, and is designed for throughput, not for constant latency. Every graphics driver holds locks and \
         raises interrupts that delay other threads.",
    );
    let answer = drivers.iter().fold(answer, |answer, (device, driver)| {
        let sleeps = match device.power_control.known().map(String::as_str) {
            Some("auto") => ", may sleep when idle",
            _ => "",
        };
        answer.shows_as(format!("/sys/bus/pci/devices/{}", device.address), format!("{driver}{sleeps}"))
    });
    Ok(answer.fix(
        Fix::runtime(
            "measure under graphics load before production use (whylate measure, with glmark2 beside it)",
        )
        .by_hand("it is a measurement, which changes nothing on the machine")
        .boot(
            "run without a desktop, and blacklist the driver; give real-time tasks a part of the cache \
                   (resctrl) if the CPU supports it",
        )
        .risk("without the driver only a plain console remains"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;
    use whylate_host::FsRoot;

    /// /proc is there, and has no device tree.
    const NO_BOARD: &Files = &[("/proc/stat", "")];
    const CLASS: &str = "/sys/bus/pci/devices/0000:00:02.0/class";

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("no driver", &[NO_BOARD, &[(CLASS, "0x030000\n")]])
                    .passes("No graphics processor driver"),
                case("no display", &[NO_BOARD, &[(CLASS, "0x020000\n")]])
                    .passes("No graphics processor driver"),
                case("a board", &[&[(CLASS, "0x0c0330\n"), ("/proc/device-tree/model", "Raspberry Pi 4\0")]])
                    .cannot_tell("not on PCI"),
                case("no bus", &[TWO_CPUS]).does_not_apply("no PCI"),
                case("hidden", &[&[]]).cannot_tell("/sys"),
            ],
        );
    }

    /// A link that leads to a driver is nothing that a tree of files can have.
    #[test]
    fn drivers() {
        let directory = tempfile::tempdir().expect("a directory");
        let device = directory.path().join("sys/bus/pci/devices/0000:00:02.0");
        std::fs::create_dir_all(&device).expect("directories");
        std::fs::write(device.join("class"), "0x030000\n").expect("a file");
        let options = CheckOptions::of(Profile::Realtime);
        for (driver, expected) in [("i915", Some(crate::RuleStatus::Fail)), ("ast", None)] {
            let link = device.join("driver");
            let _ = std::fs::remove_file(&link);
            std::os::unix::fs::symlink(format!("../../../bus/pci/drivers/{driver}"), &link).expect("a link");
            let host = Snapshot::read(&FsRoot::open(directory.path()).expect("a tree"));
            // A directory does not show that there is no device tree.
            let answer = check(&host, &options);
            assert_eq!(answer.as_ref().ok().map(|answer| answer.status), expected, "{answer:?}");
        }
    }
}
