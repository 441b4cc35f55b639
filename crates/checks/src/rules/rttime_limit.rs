//! Are real-time threads killed that do not sleep for a while?

use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "rttime-limit",
    title: "No limit kills real-time threads that run long",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &["setrlimit(2)", "limits.conf(5)", "systemd.exec(5)", "kernel/time/posix-cpu-timers.c"],
    page: page!("rttime-limit"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let own = &host.limits.own;
    let limit = own.need()?.rttime;
    let mut found: Vec<(String, String)> = Vec::new();
    if limit.soft.is_some() || limit.hard.is_some() {
        let word = |value: Option<u64>| value.map_or("unlimited".to_owned(), |us| format!("{us} us"));
        found.push((
            own.path.clone(),
            format!("Max realtime timeout {} {}", word(limit.soft), word(limit.hard)),
        ));
    }
    host.limits.drop_ins.if_present()?;
    for file in &host.limits.files {
        let lines = file.lines.if_present()?.into_iter().flatten();
        for line in lines.filter(|line| line.item == "rttime" && !is_unlimited(&line.value)) {
            let entry = format!("{} {} {} {}", line.domain, line.kind, line.item, line.value);
            found.push((file.lines.path.clone(), entry));
        }
    }
    host.systemd.enabled.if_present()?;
    let units = host.systemd.manager.iter().map(|unit| (unit, "DefaultLimitRTTIME"));
    for (unit, key) in units.chain(host.systemd.units.iter().map(|unit| (unit, "LimitRTTIME"))) {
        // A link to a removed unit proves nothing.
        let Some(settings) = unit.settings.if_present()? else { continue };
        for (_, value) in settings.iter().filter(|(own, value)| own == key && !is_unlimited(value)) {
            found.push((unit.settings.path.clone(), format!("{key}={value}")));
        }
    }
    let Some((path, line)) = found.first() else {
        return Ok(RuleOutcome::pass("RLIMIT_RTTIME is not set")
            .shows_as(&own.path, "Max realtime timeout unlimited"));
    };
    let answer = RuleOutcome::fail(
        format!("RLIMIT_RTTIME is set: {line} in {path}"),
        "A real-time thread that runs that long without a blocking system call gets SIGXCPU, at the hard limit \
         SIGKILL. Preemption or sched_yield(2) does not reset the time. Nothing is logged.",
    );
    let answer = found.iter().take(12).fold(answer, |answer, (path, line)| answer.shows_as(path, line));
    Ok(answer.fix(
        Fix::runtime("prlimit --rttime=unlimited --pid PID")
            .by_hand("the limit is that of a process, a service or a user")
            .boot("remove the line; in a unit LimitRTTIME=infinity")
            .risk("a looping real-time thread is then not stopped"),
    ))
}

fn is_unlimited(value: &str) -> bool {
    matches!(value, "unlimited" | "infinity" | "-1" | "infinity:infinity" | "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const OWN: &Files = limits!(rtprio 0 20);
    const SHORT: &Files = limits!(rtprio 0 20, rttime "200000");
    const ETC: &Files = &[("/etc/hostname", "x")];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("none", &[OWN, ETC]).passes("not set"),
                case("own", &[SHORT, ETC]).fails("200000 us"),
                case("by PAM", &[OWN, &[("/etc/security/limits.conf", "@audio hard rttime 500000\n")]])
                    .fails("rttime 500000"),
                case(
                    "by systemd",
                    &[OWN, &[("/etc/systemd/system.conf", "[Manager]\nDefaultLimitRTTIME=200000\n")]],
                )
                .fails("DefaultLimitRTTIME=200000"),
                case(
                    "infinity",
                    &[
                        OWN,
                        &[("/etc/systemd/system/a.service.d/x.conf", "[Service]\nLimitRTTIME=infinity\n")],
                    ],
                )
                .passes("not set"),
                case(
                    "a unit",
                    &[OWN, &[("/etc/systemd/system/a.service.d/x.conf", "[Service]\nLimitRTTIME=1s\n")]],
                )
                .fails("LimitRTTIME=1s"),
                case("no files to see", &[OWN]).cannot_tell("/etc"),
                case("hidden", &[ETC]).cannot_tell("/proc"),
            ],
        );
    }
}
