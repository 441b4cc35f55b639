//! Is the kernel built with checks of itself that cost time?

use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "kernel-debug",
    title: "The kernel is built without costly debug checks",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &[
        "Documentation/core-api/real-time/kernel-configuration.rst",
        "lib/Kconfig.debug",
        "lib/Kconfig.kasan",
        "mm/Kconfig.debug",
    ],
    page: page!("kernel-debug"),
    check,
};

/// Options and their permanent cost. Options that only add information or have no measurable cost
/// (DEBUG_INFO, DEBUG_BUGVERBOSE, DEBUG_KERNEL, DEBUG_ATOMIC_SLEEP, SCHED_DEBUG, KFENCE) are not among them.
const COSTLY: [(&str, &str); 20] = [
    ("PROVE_LOCKING", "verifies the order of all locks"),
    ("LOCKDEP", "tracks every lock"),
    ("LOCK_STAT", "counts and times every contended lock"),
    ("PROVE_RCU", "checks each use of RCU"),
    ("DEBUG_LOCK_ALLOC", "checks that freed memory holds no lock"),
    ("DEBUG_SPINLOCK", "checks each spinlock"),
    ("DEBUG_MUTEXES", "checks each mutex"),
    ("DEBUG_RT_MUTEXES", "checks each priority-inheritance lock"),
    ("DEBUG_PREEMPT", "checks each use of per-CPU data"),
    ("DEBUG_IRQFLAGS", "checks each change of the interrupt flag"),
    ("DEBUG_OBJECTS", "tracks timers and work items, if enabled at boot"),
    ("DEBUG_VM", "checks the memory manager"),
    ("DEBUG_KMEMLEAK", "scans memory for leaks"),
    ("DEBUG_PAGEALLOC", "unmaps free pages, if enabled at boot"),
    ("SLUB_DEBUG_ON", "checks each small allocation"),
    ("KASAN", "checks each memory access"),
    ("KCSAN", "checks memory accesses for races"),
    ("KMSAN", "tracks uninitialised memory"),
    ("KCOV", "records code coverage"),
    ("GCOV_PROFILE_ALL", "counts each branch"),
];
/// Options that must be enabled at boot: option, parameter, the option that makes it the default.
const AT_BOOT: [(&str, &str, &str); 3] = [
    ("DEBUG_OBJECTS", "debug_objects", "DEBUG_OBJECTS_ENABLE_DEFAULT"),
    ("DEBUG_PAGEALLOC", "debug_pagealloc", "DEBUG_PAGEALLOC_ENABLE_DEFAULT"),
    ("DEBUG_KMEMLEAK", "kmemleak", "DEBUG_KMEMLEAK"),
];

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let config = host.kernel.config.need()?;
    let path = &host.kernel.config.path;
    let mut found = Vec::new();
    for (option, does) in COSTLY.iter().filter(|(option, _)| config.has(option)) {
        if let Some((_, parameter, default)) = AT_BOOT.iter().find(|(own, ..)| own == option) {
            let cmdline = host.kernel.cmdline.need()?;
            let default = match *option {
                "DEBUG_KMEMLEAK" => !config.has("DEBUG_KMEMLEAK_DEFAULT_OFF"),
                // An integer before 5.x, a flag since.
                _ => matches!(config.get(default), Some("y" | "1")),
            };
            let on = match cmdline.get(parameter) {
                Some("off" | "0") => false,
                Some(_) => true,
                None => default && !cmdline.has(&format!("no_{parameter}")),
            };
            if !on {
                continue;
            }
        }
        found.push((option, does));
    }
    let Some((first, does)) = found.first() else {
        return Ok(
            RuleOutcome::pass("No costly debug check is on").shows_as(path, config.line("PROVE_LOCKING"))
        );
    };
    let what = match found.len() {
        1 => format!("CONFIG_{first} {does}"),
        more => format!("CONFIG_{first} {does}; {} more such options are on", more - 1),
    };
    let answer = RuleOutcome::fail(
        what,
        "It is right for development, where it finds errors early. In production it makes every path through the \
         kernel longer, in places with interrupts disabled.",
    );
    // Cheap ones, which some distributions leave on in every kernel.
    let cheap =
        |option: &str| matches!(option, "DEBUG_PREEMPT" | "DEBUG_VM" | "DEBUG_MUTEXES" | "DEBUG_RT_MUTEXES");
    let answer = match found.iter().all(|(option, _)| cheap(option)) {
        true => answer.graded(Severity::Info),
        false => answer,
    };
    let answer = found.iter().fold(answer, |answer, (option, does)| {
        answer.shows_as(path, format!("{}: {does}", config.line(option)))
    });
    Ok(answer.fix(
        Fix::reboot(
            "boot a kernel without these options: distributions call the kernel that has them `debug`",
        )
        .by_hand("another kernel is to be installed or built")
        .risk("none, after the program was tested on the debug kernel"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    fn built(config: &'static str, cmdline: &'static str) -> Case {
        let files: &'static Files =
            Box::leak(Box::new([("/boot/config-6.1.0-28-amd64", config), ("/proc/cmdline", cmdline)]));
        case(config, &[KERNEL_6_1, files])
    }

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                built("CONFIG_SMP=y\nCONFIG_DEBUG_INFO=y\nCONFIG_KFENCE=y\n", "").passes("No costly"),
                built("CONFIG_PROVE_LOCKING=y\nCONFIG_LOCKDEP=y\n", "").fails("1 more"),
                built("CONFIG_KASAN=y\n", "").fails("memory access"),
                built("CONFIG_DEBUG_PREEMPT=y\n", "").fails_as(Severity::Info, "DEBUG_PREEMPT"),
                built("CONFIG_DEBUG_PAGEALLOC=y\n", "quiet").passes("No costly"),
                built("CONFIG_DEBUG_PAGEALLOC=y\n", "debug_pagealloc=on").fails("unmaps"),
                built("CONFIG_DEBUG_OBJECTS=y\nCONFIG_DEBUG_OBJECTS_ENABLE_DEFAULT=1\n", "quiet")
                    .fails("timers"),
                built("CONFIG_DEBUG_KMEMLEAK=y\nCONFIG_DEBUG_KMEMLEAK_DEFAULT_OFF=y\n", "quiet")
                    .passes("No costly"),
                built("CONFIG_DEBUG_KMEMLEAK=y\n", "kmemleak=off").passes("No costly"),
                case("unknown build", &[KERNEL_6_1]).cannot_tell("config"),
            ],
        );
    }
}
