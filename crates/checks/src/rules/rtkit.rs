//! Does a program that is given its priority by rtkit know what else comes with it?

use super::shared::threads::with_those_of_kernel;
use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "rtkit",
    title: "No request exceeds the limits of rtkit",
    severity: Severity::Info,
    profiles: &[Profile::Audio, Profile::Robotics],
    sources: &["rtkit-daemon(8)", "setrlimit(2)"],
    page: page!("rtkit"),
    check,
};

/// The highest priority it gives by default (`--max-realtime-priority`).
const MOST: u32 = 20;

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let threads = with_those_of_kernel(host)?;
    let Some(daemon) = threads.iter().find(|thread| thread.comm == "rtkit-daemon") else {
        return Ok(RuleOutcome::not_applicable("rtkit does not run"));
    };
    let place = format!("/proc/{}", daemon.pid);
    // Its command line is not read; a drop-in may change it.
    host.systemd.enabled.if_present()?;
    let mut units = host.systemd.units.iter().filter(|unit| unit.name == "rtkit-daemon.service");
    if let Some(unit) = units.find(|unit| unit.settings.path.starts_with("/etc/")) {
        return Err(CannotTell::because(&unit.settings.path, "it may change the limits: check its settings"));
    }
    let Some(priority) = options.priority else {
        return Ok(RuleOutcome::not_applicable(
            "rtkit runs: whether its limit is high enough depends on --priority",
        ));
    };
    if priority <= MOST {
        return Ok(
            RuleOutcome::pass(format!("rtkit gives priorities up to {MOST}")).shows_as(place, "rtkit-daemon")
        );
    }
    Ok(RuleOutcome::fail(
        format!("rtkit gives priorities up to {MOST}, not {priority}"),
        "A desktop program that uses rtkit (PipeWire, PulseAudio, browsers) gets at most this priority, must limit \
         itself to 200 ms without sleeping (RLIMIT_RTTIME, or it is killed), and loses the priority when rtkit \
         detects that the machine starves.",
    )
    .shows_as(place, "rtkit-daemon")
    .fix(
        Fix::runtime("let the program set its own priority: see `rtprio-limit`").by_hand("the program is to be changed")
            .boot("the same; or --max-realtime-priority= in a drop-in for rtkit-daemon.service")
            .risk("a program that loops then keeps its CPU"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const INIT: &Files = thread!(kernel 2 "kthreadd", other 0, "0-1");
    const RTKIT: &Files = thread!(program 9 "rtkit-daemon", other 0, "0-1");

    const ETC: &Files = &[("/etc/hostname", "x")];
    const DROP_IN: &Files =
        &[("/etc/systemd/system/rtkit-daemon.service.d/more.conf", "[Service]\nNice=1\n")];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("none", &[INIT]).does_not_apply("does not run"),
                case("enough", &[INIT, RTKIT, ETC]).priority(20).passes("up to 20"),
                case("too little", &[INIT, RTKIT, ETC]).priority(70).fails("not 70"),
                case("told otherwise", &[INIT, RTKIT, DROP_IN]).priority(70).cannot_tell("more.conf"),
                case("no units to see", &[INIT, RTKIT]).priority(70).cannot_tell("/etc"),
                case("no priority given", &[INIT, RTKIT, ETC]).does_not_apply("--priority"),
                case("a container", &[thread!(program 5 "app", other 0, "0")]).cannot_tell("container"),
            ],
        );
    }
}
