//! Do other CPUs change the frequency of real-time CPUs?

use super::shared::hardware::states;
use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::{Action, Cpu, CpuSet, Severity};
use whylate_host::{Reading, Snapshot, Words};

pub(super) const RULE: Rule = Rule {
    code: "frequency-domain",
    title: "No other CPU changes the frequency of real-time CPUs",
    severity: Severity::Info,
    profiles: Profile::ALL,
    sources: &["Documentation/admin-guide/pm/cpufreq.rst (policy objects, related_cpus)"],
    page: page!("frequency-domain"),
    check,
};

/// Governors that keep a frequency, until a program sets another.
const FIXED: [&str; 3] = ["performance", "powersave", "userspace"];

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let cpus = options.cpus(host)?;
    let online = host.cpus.online.need()?;
    if online.iter().all(|cpu| cpus.contains(cpu)) {
        return Ok(RuleOutcome::not_applicable("All CPUs are real-time CPUs: choose some with --cpus"));
    }
    let mut fixed = None;
    let mut own_domain = None;
    for state in states(host, &cpus)? {
        let own = &state.cpufreq;
        if own.driver.if_present()?.is_none() {
            continue;
        }
        let (least, most) = (own.scaling_min_khz.need()?, own.scaling_max_khz.need()?);
        if least == most || FIXED.contains(&own.governor.need()?.as_str()) {
            fixed = fixed.or(Some(own));
            continue;
        }
        let others: CpuSet =
            members(&own.related_cpus, state.cpu)?.iter().filter(|cpu| !cpus.contains(*cpu)).collect();
        if others.is_empty() {
            own_domain = own_domain.or(Some(own));
            continue;
        }
        let governor = own.governor.need()?;
        return Ok(RuleOutcome::fail(
            format!("CPU {} has one frequency with CPUs {others}, and the governor `{governor}` changes it", state.cpu),
            "CPUs of a frequency domain have one clock. The governor sets it by the CPU that needs most: work of the others makes a \
             real-time task faster or slower.",
        )
        .shows(&own.related_cpus)
        .shows(&own.governor)
        .fix(
            Fix::runtime(format!("echo performance > {}", own.governor.path))
                .action(Action::tunables([(&own.governor.path, "performance".to_owned())]))
                .boot("cpufreq.default_governor=performance on the kernel command line, or give real-time work all CPUs of a domain")
                .risk("more power and heat"),
        ));
    }
    match (fixed, own_domain) {
        (None, None) => Ok(RuleOutcome::not_applicable("No driver lets the kernel select frequencies")),
        (_, Some(own)) => Ok(RuleOutcome::pass("The real-time CPUs have frequency domains of their own")
            .shows(&own.related_cpus)),
        (Some(own), None) => {
            Ok(RuleOutcome::pass("The frequency of real-time CPUs is fixed").shows(&own.governor))
        }
    }
}

/// `0 1 2 3`: a domain has at least the CPU itself.
fn members(reading: &Reading<Words>, own: Cpu) -> Result<CpuSet, CannotTell> {
    let words = reading.need()?;
    let domain = words.0.iter().map(|word| word.parse().map(Cpu)).collect::<Result<CpuSet, _>>();
    domain.ok().filter(|domain| domain.contains(own)).ok_or_else(|| {
        CannotTell::because(&reading.path, format!("`{words}` is no list of CPUs with CPU {own}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    macro_rules! cpu1 {
        ($related:literal, $governor:literal, $min:literal) => {
            &[
                ("/sys/devices/system/cpu/cpu1/cpufreq/scaling_driver", "cpufreq-dt\n"),
                ("/sys/devices/system/cpu/cpu1/cpufreq/related_cpus", $related),
                ("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", $governor),
                ("/sys/devices/system/cpu/cpu1/cpufreq/scaling_min_freq", $min),
                ("/sys/devices/system/cpu/cpu1/cpufreq/scaling_max_freq", "1800000\n"),
            ]
        };
    }

    #[test]
    fn cases() {
        let shared: &Files = cpu1!("0 1\n", "schedutil\n", "600000\n");
        table(
            &RULE,
            &[
                case("shared", &[TWO_CPUS, shared]).cpus("1").fails("CPU 1 has one frequency with CPUs 0"),
                case("shared, fixed", &[TWO_CPUS, cpu1!("0 1\n", "performance\n", "600000\n")])
                    .cpus("1")
                    .passes("is fixed"),
                case("shared, one frequency", &[TWO_CPUS, cpu1!("0 1\n", "schedutil\n", "1800000\n")])
                    .cpus("1")
                    .passes("is fixed"),
                case("its own", &[TWO_CPUS, cpu1!("1\n", "schedutil\n", "600000\n")])
                    .cpus("1")
                    .passes("of their own"),
                case("all CPUs", &[TWO_CPUS, shared]).does_not_apply("All CPUs"),
                case("no driver", &[TWO_CPUS]).cpus("1").does_not_apply("No driver"),
                case("no list", &[TWO_CPUS, cpu1!("x\n", "schedutil\n", "600000\n")])
                    .cpus("1")
                    .cannot_tell("no list"),
                case("hidden", &[&[]]).cpus("1").cannot_tell("online"),
            ],
        );
    }
}
