//! Is tracing on?

use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::{Snapshot, TraceInstance};

pub(super) const RULE: Rule = Rule {
    code: "tracing-left-on",
    title: "Tracing is off",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &["Documentation/trace/ftrace.rst", "Documentation/core-api/real-time/kernel-configuration.rst"],
    page: page!("tracing-left-on"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let config = &host.kernel.config;
    if let Some(known) = config.known().filter(|config| !config.has("TRACING")) {
        return Ok(RuleOutcome::pass("The kernel cannot trace").shows_as(&config.path, known.line("TRACING")));
    }
    let top = &host.tracing.top;
    let instances = host.tracing.instances.need()?;
    let mut tracers = Vec::new();
    let mut events = Vec::new();
    for buffer in std::iter::once(top).chain(instances.iter().map(|(_, buffer)| buffer)) {
        let TraceInstance { tracer, events: enabled, .. } = buffer;
        // An instance may end while others are looked at.
        if tracer.if_present()?.is_some_and(|name| name != "nop") {
            tracers.push(tracer);
        }
        if enabled.if_present()?.is_some_and(|state| state != "0") {
            events.push(enabled);
        }
    }
    top.tracer.need()?;
    top.events.need()?;
    let fix = Fix::runtime(
        "trace-cmd reset, or echo nop > current_tracer; echo 0 > events/enable; in each instance",
    )
    .by_hand("which traces are still wanted is for the user to decide")
    .boot("remove ftrace= and trace_event= from the kernel command line")
    .risk("another program may need that trace; rasdaemon keeps an instance of its own, with rare events");
    let Some(first) = tracers.first() else {
        if events.is_empty() {
            return Ok(RuleOutcome::pass("Tracing is off").shows(&top.tracer).shows(&top.events));
        }
        let answer = RuleOutcome::fail(
            format!("Events are traced in {} of {} buffers", events.len(), instances.len() + 1),
            "Each event that occurs is written, which takes time on its code path; this matters for frequent events \
             such as sched_switch.",
        )
        .graded(Severity::Info);
        return Ok(events.iter().take(8).fold(answer, |answer, on| answer.shows(*on)).fix(fix));
    };
    let answer = RuleOutcome::fail(
        format!("The tracer `{}` is on", first.need()?),
        "Most tracers hook into every function, or disable interrupts to measure; with tracing_on at 0 they \
         continue, and only discard their data.",
    );
    Ok(tracers.iter().chain(&events).take(8).fold(answer, |answer, on| answer.shows(*on)).fix(fix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const NOP: &Files = &[
        ("/sys/kernel/tracing/current_tracer", "nop\n"),
        ("/sys/kernel/tracing/events/enable", "0\n"),
        ("/sys/kernel/tracing/instances/a/current_tracer", "nop\n"),
        ("/sys/kernel/tracing/instances/a/events/enable", "0\n"),
    ];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("nothing", &[NOP]).passes("off"),
                case("a tracer", &[NOP, &[("/sys/kernel/tracing/current_tracer", "function\n")]])
                    .fails("`function`"),
                case(
                    "in an instance",
                    &[NOP, &[("/sys/kernel/tracing/instances/a/current_tracer", "irqsoff\n")]],
                )
                .fails("`irqsoff`"),
                case("events", &[NOP, &[("/sys/kernel/tracing/events/enable", "X\n")]])
                    .fails_as(Severity::Info, "1 of 2"),
                case("no tracing", &[KERNEL_6_1, &[("/boot/config-6.1.0-28-amd64", "CONFIG_SMP=y\n")]])
                    .passes("cannot trace"),
                case("not mounted", &[KERNEL_6_1]).cannot_tell("/sys"),
            ],
        );
    }
}
