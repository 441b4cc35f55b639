//! Is the kernel PREEMPT_RT?

use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::{Action, Severity};
use whylate_host::{Preempt, Snapshot};

pub(super) const RULE: Rule = Rule {
    code: "preempt-rt",
    title: "The kernel is PREEMPT_RT",
    severity: Severity::Error,
    profiles: &[
        Profile::Realtime,
        Profile::RealtimeVirtualHost,
        Profile::RealtimeVirtualGuest,
        Profile::Robotics,
        Profile::Audio,
    ],
    sources: &["uname(1)", "kernel/Kconfig.preempt", "Documentation/admin-guide/kernel-parameters.rst"],
    page: page!("preempt-rt"),
    check,
};

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let kernel = &host.kernel;
    if kernel.is_realtime()? {
        return Ok(RuleOutcome::pass("The kernel is PREEMPT_RT").shows(&kernel.version));
    }
    let model = kernel.preemption();
    let threaded = kernel.cmdline.known().is_some_and(|cmdline| cmdline.has("threadirqs"));
    let also = if threaded { " and threaded interrupt handlers" } else { "" };
    let what = match &model {
        Ok(model) => format!("The kernel is not PREEMPT_RT: its preemption model is `{model}`{also}"),
        Err(_) => "The kernel is not PREEMPT_RT".to_owned(),
    };
    let preemptible = matches!(model, Ok(Preempt::Full | Preempt::Lazy));
    if options.profile == Profile::Audio && preemptible {
        return Ok(RuleOutcome::pass(format!("{what}, which is enough for audio buffers of milliseconds"))
            .shows(&kernel.version));
    }
    let why = match preemptible {
        true => {
            "With `preempt=full` or `lazy` a thread waits while another holds any spinlock or handles softirqs, \
             without a bound. `threadirqs` makes the handlers threads, but spinlocks still disable preemption."
        }
        false => {
            "A system call runs to its end or to a preemption point: under load the time until then has no bound."
        }
    };
    Ok(RuleOutcome::fail(what, why)
        .shows(&kernel.version)
        .fix(
            Fix::reboot(
                "install and boot a PREEMPT_RT kernel (Debian: linux-image-rt-amd64; others: kernel-rt)",
            )
            .by_hand("another kernel is to be installed or built")
            .risk("throughput falls; out-of-tree drivers must be built for it"),
        )
        .fix(
            Fix::reboot("without one: preempt=full threadirqs on the kernel command line")
                .action(Action::parameters("preempt=full threadirqs"))
                .risk("no bound: only the typical latency improves"),
        ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn cases() {
        const CMDLINE: &str = "/proc/cmdline";
        table(
            &RULE,
            &[
                case("6.1-rt", &[KERNEL_6_1_RT]).passes("PREEMPT_RT"),
                case("7.2-rt has no /sys/kernel/realtime", &[KERNEL_7_2_RT]).passes("PREEMPT_RT"),
                case("the flag alone proves nothing", &[&[("/sys/kernel/realtime", "1\n")]])
                    .cannot_tell("version"),
                case("dynamic", &[KERNEL_6_1]).fails("not PREEMPT_RT"),
                case("preempt=full", &[KERNEL_6_1, &[(CMDLINE, "preempt=full")]]).fails("`full`"),
                case("with threadirqs", &[KERNEL_6_1, &[(CMDLINE, "preempt=full threadirqs")]])
                    .fails("threaded"),
                case("lazy", &[KERNEL_6_12, &[(CMDLINE, "preempt=lazy")]]).fails("`lazy`"),
                case("the flag beside another token", &[KERNEL_6_1, &[("/sys/kernel/realtime", "1\n")]])
                    .fails("not"),
                case("audio", &[KERNEL_6_1, &[(CMDLINE, "preempt=full")]])
                    .profile(Profile::Audio)
                    .passes("audio"),
                case("audio, voluntary", &[KERNEL_6_1, &[(CMDLINE, "preempt=voluntary")]])
                    .profile(Profile::Audio)
                    .fails_as(Severity::Warning, "voluntary"),
            ],
        );
    }
}
