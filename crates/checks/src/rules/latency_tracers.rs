//! Are the tracers built in that cost something even while nothing is traced?

use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "latency-tracers",
    title: "No built-in tracer costs time while idle",
    severity: Severity::Warning,
    profiles: Profile::HARD,
    sources: &["Documentation/core-api/real-time/kernel-configuration.rst", "kernel/trace/Kconfig"],
    page: page!("latency-tracers"),
    check,
};

const OPTIONS: [(&str, &str); 2] = [
    ("IRQSOFF_TRACER", "watches each change of the interrupt flag"),
    ("PREEMPT_TRACER", "watches each change of the preemption count"),
];

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let config = host.kernel.config.need()?;
    let path = &host.kernel.config.path;
    let found: Vec<_> = OPTIONS.iter().filter(|(option, _)| config.has(option)).collect();
    let Some((first, does)) = found.first() else {
        return Ok(RuleOutcome::pass("Neither IRQSOFF_TRACER nor PREEMPT_TRACER is built in")
            .shows_as(path, config.line(OPTIONS[0].0))
            .shows_as(path, config.line(OPTIONS[1].0)));
    };
    let answer = RuleOutcome::fail(
        format!("CONFIG_{first} {does}, even while tracing is off"),
        "Both happen at every spinlock and every interrupt. The kernel's guide for real-time builds gives it the \
         severity `high`.",
    );
    let answer = found.iter().fold(answer, |answer, (option, _)| answer.shows_as(path, config.line(option)));
    Ok(answer.fix(
        Fix::reboot("boot a kernel without them: the tracers osnoise and timerlat, and `whylate record`, need neither").by_hand("another kernel is to be installed or built")
            .risk("the latency tracers irqsoff and preemptoff are then not available"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const NONE: &Files = &[("/boot/config-6.1.0-28-amd64", "CONFIG_TRACING=y\n")];
    const BOTH: &Files =
        &[("/boot/config-6.1.0-28-amd64", "CONFIG_IRQSOFF_TRACER=y\nCONFIG_PREEMPT_TRACER=y\n")];
    const ONE: &Files = &[("/boot/config-6.1.0-28-amd64", "CONFIG_PREEMPT_TRACER=y\n")];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("none", &[KERNEL_6_1, NONE]).passes("Neither"),
                case("both", &[KERNEL_6_1, BOTH]).fails("interrupt flag"),
                case("one", &[KERNEL_6_1, ONE]).fails("preemption count"),
                case("unknown build", &[KERNEL_6_1]).cannot_tell("config"),
            ],
        );
    }
}
