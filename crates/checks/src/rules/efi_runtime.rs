//! May the firmware be called while the system runs?

use super::shared::common;
use super::shared::cpus::real_time;
use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::{KernelVersion, Snapshot};

pub(super) const RULE: Rule = Rule {
    code: "efi-runtime",
    title: "EFI runtime services do not stop real-time CPUs",
    severity: Severity::Warning,
    profiles: Profile::HARD,
    sources: &[
        "Documentation/core-api/real-time/hardware.rst",
        "Documentation/admin-guide/kernel-parameters.rst (efi=)",
        "drivers/firmware/efi/efi.c",
        "https://git.kernel.org/torvalds/c/d9f283ae71af (PREEMPT_RT does without; how long the calls take)",
        "https://git.kernel.org/torvalds/c/a031651ff214 (EFI_DISABLE_RUNTIME, 5.19, and in stable kernels from 5.15 on)",
        "https://cdn.kernel.org/pub/linux/kernel/projects/rt/4.18/older/ (efi=runtime in the patches of 4.18-rt)",
    ],
    page: page!("efi-runtime"),
    check,
};

/// Since then it is an option; earlier PREEMPT_RT kernels always disabled runtime services.
const OPTION: KernelVersion = KernelVersion::new(5, 19);

/// Stable kernels from this one on got the option later.
const OPTION_LATER: KernelVersion = KernelVersion::new(5, 15);

/// The first long-term kernel whose RT patches disable runtime services (from 4.18-rt on; some later 4.14 as well).
const WITHOUT: KernelVersion = KernelVersion::new(4, 19);

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    if host.platform.efi.if_present()?.is_none() {
        return Ok(RuleOutcome::not_applicable("The machine was not booted by EFI"));
    }
    let cmdline = &host.kernel.cmdline;
    let given: Vec<&str> = cmdline.need()?.all("efi").flat_map(|value| value.split(',')).collect();
    let off = cmdline.need()?.has("noefi") || given.contains(&"noruntime");
    let on = given.contains(&"runtime");
    if off && !on {
        return Ok(RuleOutcome::pass("EFI runtime services are off").shows_as(&cmdline.path, "noruntime"));
    }
    let config = &host.kernel.config;
    if !on {
        if host.kernel.numbers()? < OPTION {
            if host.kernel.is_realtime()? && host.kernel.numbers()? < WITHOUT {
                let why = "whether PREEMPT_RT kernels before 4.19 disable EFI runtime services is not known";
                return Err(CannotTell::because(&host.kernel.release.path, why));
            }
            let is_built_in =
                host.kernel.numbers()? >= OPTION_LATER && config.need()?.is_off("EFI_DISABLE_RUNTIME");
            if host.kernel.is_realtime()? && !is_built_in {
                return Ok(RuleOutcome::pass("This PREEMPT_RT kernel disables EFI runtime services")
                    .shows(&host.kernel.version));
            }
        } else if config.need()?.has("EFI_DISABLE_RUNTIME") {
            return Ok(RuleOutcome::pass("The kernel was built without EFI runtime services")
                .shows_as(&config.path, config.need()?.line("EFI_DISABLE_RUNTIME")));
        }
    }
    // If the workqueue that calls them runs on other CPUs, most firmware stops only those.
    if let (Some(allowed), Some(cpus)) = (host.platform.efi_cpus.known(), real_time(host, options)?)
        && common(&allowed.0, &cpus).is_empty()
    {
        return Ok(RuleOutcome::pass(format!("EFI runtime services run on CPUs other than {cpus}"))
            .shows(&host.platform.efi_cpus));
    }
    Ok(RuleOutcome::fail(
        "EFI runtime services are in use",
        "While the kernel calls the firmware, to set a variable or the clock, that CPU handles no interrupts; some \
         firmware also stops all other CPUs. On one machine reading the clock took 10 ms, a variable 2 us (commit \
         d9f283ae71af); writing to flash takes longer.",
    )
    .shows_as(&cmdline.path, cmdline.need()?.show("efi"))
    .fix(
        Fix::reboot("efi=noruntime on the kernel command line")
            .risk("efibootmgr and firmware updates then need another boot without it"),
    )
    .fix(
        Fix::runtime(format!("echo MASK > {}, a mask of housekeeping CPUs, if the file exists", host.platform.efi_cpus.path)).by_hand("which CPUs do housekeeping is for the user to choose")
            .boot("the same command from a systemd unit at boot")
            .risk("no effect if the firmware stops all CPUs"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const EFI: &Files = &[("/sys/firmware/efi/fw_vendor", "x"), ("/proc/cmdline", "quiet\n")];
    const PLAIN: (&str, &str) = ("/boot/config-6.12.38+deb13-amd64", "CONFIG_SMP=y\n");
    const BUILT_OUT: (&str, &str) = ("/boot/config-6.12.38+deb13-amd64", "CONFIG_EFI_DISABLE_RUNTIME=y\n");
    const WORKQUEUE: &str = "/sys/devices/virtual/workqueue/efi_runtime/cpumask";
    const NEWER_RT: &Files =
        &[("/proc/sys/kernel/osrelease", "5.15.0-rt\n"), ("/proc/sys/kernel/version", "#1 SMP PREEMPT_RT\n")];
    const NEWER_CONFIG: &str = "/boot/config-5.15.0-rt";
    const OLD_RT: &Files = &[
        ("/proc/sys/kernel/osrelease", "5.10.0-30-rt-amd64\n"),
        ("/proc/sys/kernel/version", "#1 SMP PREEMPT_RT Debian 5.10.218-1 (2024-06-01)\n"),
    ];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("in use", &[TWO_CPUS, KERNEL_6_12, EFI, &[PLAIN]]).cpus("1").fails("in use"),
                case("built to do without", &[KERNEL_6_12, EFI, &[BUILT_OUT]]).passes("built"),
                case(
                    "asked for",
                    &[TWO_CPUS, KERNEL_6_12, EFI, &[BUILT_OUT, ("/proc/cmdline", "efi=runtime")]],
                )
                .cpus("1")
                .fails("in use"),
                case("told to do without", &[EFI, &[("/proc/cmdline", "efi=debug,noruntime")]]).passes("off"),
                case("an older realtime kernel", &[OLD_RT, EFI]).passes("disables"),
                case("5.15, before the option", &[NEWER_RT, EFI, &[(NEWER_CONFIG, "CONFIG_EFI=y\n")]])
                    .passes("disables"),
                case(
                    "5.15, with the option off",
                    &[
                        TWO_CPUS,
                        NEWER_RT,
                        EFI,
                        &[(NEWER_CONFIG, "CONFIG_EFI=y\n# CONFIG_EFI_DISABLE_RUNTIME is not set\n")],
                    ],
                )
                .cpus("1")
                .fails("in use"),
                case("5.15, unknown build", &[NEWER_RT, EFI]).cannot_tell("config"),
                case("elsewhere", &[TWO_CPUS, KERNEL_6_12, EFI, &[PLAIN, (WORKQUEUE, "1\n")]])
                    .cpus("1")
                    .passes("other"),
                case("here", &[TWO_CPUS, KERNEL_6_12, EFI, &[PLAIN, (WORKQUEUE, "3\n")]])
                    .cpus("1")
                    .fails("in use"),
                case("unknown build", &[KERNEL_6_12, EFI]).cannot_tell("config"),
                case("no EFI", &[TWO_CPUS]).does_not_apply("not booted by EFI"),
                case("hidden", &[&[]]).cannot_tell("/sys"),
            ],
        );
    }
}
