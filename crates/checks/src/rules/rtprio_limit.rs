//! May the user ask for a real-time priority?

use super::shared::limits::{Granted, Item, granted};
use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "rtprio-limit",
    title: "The user may use the requested real-time priority",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &["sched(7)", "setrlimit(2)", "limits.conf(5)", "pam_limits(8)"],
    page: page!("rtprio-limit"),
    check,
};

const ITEM: Item = Item {
    name: "rtprio",
    rlimit: "RLIMIT_RTPRIO",
    capability: (23, "CAP_SYS_NICE"),
    own: |own| own.rtprio,
    scale: |value| u64::try_from(value).unwrap_or(0),
};

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let wanted = u64::from(options.priority.unwrap_or(1));
    let (whose, most, path, line) = match granted(host, options, &ITEM)? {
        Granted::Anything { by } => {
            return Ok(RuleOutcome::not_applicable(format!(
                "{by}, and needs no limit: select the user with --user"
            )));
        }
        Granted::UpTo { most, whose, path, line } => (whose, most.unwrap_or(99).min(99), path, line),
        Granted::Default { whose, because } => (whose, 0, "/etc/security".to_owned(), because),
    };
    if most >= wanted {
        return Ok(RuleOutcome::pass(format!("{whose} may use priorities up to {most}")).shows_as(path, line));
    }
    let what = match most {
        0 => format!("{whose} may not use real-time priorities"),
        most => format!("{whose} may use priorities up to {most}; {wanted} is requested"),
    };
    let name = options.user.as_deref().unwrap_or("USER");
    let priority = wanted.max(80);
    Ok(RuleOutcome::fail(
        what,
        "Without CAP_SYS_NICE sched_setscheduler(2) fails with EPERM. Many programs then continue as SCHED_OTHER \
         without a message.",
    )
    .shows_as(path, line)
    .fix(
        Fix::runtime(format!(
            "echo '{name} - rtprio {priority}' > /etc/security/limits.d/99-{name}-rtprio.conf, and log in again"
        )).by_hand("a file of /etc/security/limits.d is to be written, and the user logs in again")
        .risk("the user's programs may then occupy a CPU"),
    )
    .fix(
        Fix::runtime(
            "as a service: CPUSchedulingPolicy=fifo and CPUSchedulingPriority= in its unit, for any user",
        ).by_hand("how the program is started is to be changed: its unit or container")
        .risk("PAM limits do not apply there; LimitRTPRIO= does"),
    )
    .fix(
        Fix::runtime("in a container: --ulimit rtprio=99, or --cap-add SYS_NICE").by_hand("how the program is started is to be changed: its unit or container")
            .risk("CAP_SYS_NICE also allows changes to other users' threads"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const OWN: &Files = limits!(rtprio 20 20);
    const TO_BE_RAISED: &Files = limits!(rtprio 0 20);
    const USER: &Files = &[("/proc/self/status", "CapEff:\t0000000000000000\n")];
    const ROOT: &Files = &[("/proc/self/status", "CapEff:\t000001ffffffffff\n")];
    const ANN: &Files = &[
        ("/etc/passwd", "root:x:0:0:::\nann:x:1000:1000:::\n"),
        ("/etc/group", "root:x:0:\nann:x:1000:\naudio:x:29:ann\n"),
        ("/etc/pam.d/login", "session required pam_limits.so\n"),
    ];
    const AUDIO: &Files = &[("/etc/security/limits.d/audio.conf", "@audio - rtprio 95\n")];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("own", &[OWN, USER]).passes("up to 20"),
                case("own, not enough", &[OWN, USER]).priority(80).fails("80 is requested"),
                case("own, to be raised first", &[TO_BE_RAISED, USER]).fails("not use real-time"),
                case(
                    "the hard limit alone",
                    &[ANN, &[("/etc/security/limits.conf", "ann hard rtprio 95\n")]],
                )
                .user("ann")
                .fails("not use real-time"),
                case("root", &[OWN, ROOT]).priority(80).does_not_apply("CAP_SYS_NICE"),
                case("own, capabilities not known", &[OWN]).cannot_tell("/proc/self/status"),
                case("by group", &[ANN, AUDIO]).user("ann").priority(90).passes("up to 95"),
                case("by group, too little", &[ANN, AUDIO]).user("ann").priority(98).fails("98 is requested"),
                case("nothing said", &[ANN]).user("ann").fails("not use real-time"),
                case("PAM does not ask", &[ANN, AUDIO, &[("/etc/pam.d/login", "# nothing\n")]])
                    .user("ann")
                    .fails("not use real-time"),
                case("root by name", &[ANN]).user("root").does_not_apply("every capability"),
                case("bob is unknown", &[ANN]).user("bob").cannot_tell("user bob is not"),
                case("nonsense", &[ANN, &[("/etc/security/limits.conf", "ann hard rtprio lots\n")]])
                    .user("ann")
                    .cannot_tell("lots"),
            ],
        );
    }
}
