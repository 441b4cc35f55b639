//! May the user lock the memory?

use super::shared::limits::{Granted, Item, granted};
use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "memlock-limit",
    title: "The user may lock all memory",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &["mlock(2)", "setrlimit(2)", "limits.conf(5)", "include/uapi/linux/resource.h"],
    page: page!("memlock-limit"),
    check,
};

const ITEM: Item = Item {
    name: "memlock",
    rlimit: "RLIMIT_MEMLOCK",
    capability: (14, "CAP_IPC_LOCK"),
    own: |own| own.memlock,
    // KiB in limits.conf, bytes in the kernel.
    scale: |value| u64::try_from(value).unwrap_or(0).saturating_mul(1024),
};
/// Enough for all but large programs.
const PLENTY: u64 = 1 << 30;

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let (whose, most, amount, path, line) = match granted(host, options, &ITEM)? {
        Granted::Anything { by } => {
            return Ok(RuleOutcome::not_applicable(format!(
                "{by}, and needs no limit: select the user with --user"
            )));
        }
        Granted::UpTo { most, whose, path, line } => (whose, most, size(most.unwrap_or(0)), path, line),
        // The kernel's default is 64 KiB before 5.16 and 8 MiB since; systemd has its own default.
        Granted::Default { whose, because } => {
            (whose, Some(0), "the default, 64 KiB to 8 MiB,".to_owned(), "/etc/security".to_owned(), because)
        }
    };
    let Some(most) = most else {
        return Ok(RuleOutcome::pass(format!("{whose} may lock all memory")).shows_as(path, line));
    };
    let name = options.user.as_deref().unwrap_or("USER");
    let mut answer = RuleOutcome::fail(
        format!("{whose} may lock at most {amount} of memory"),
        "mlockall(2) fails with ENOMEM if the program is larger, and with MCL_FUTURE a later malloc or thread fails. \
         Memory that is not locked faults when it is first touched, or after it was reclaimed: then it also waits \
         for the disk.",
    )
    .shows_as(path, line);
    if most >= PLENTY {
        answer = answer.graded(Severity::Info);
    }
    Ok(answer
        .fix(
            Fix::runtime(format!(
                "echo '{name} - memlock unlimited' > /etc/security/limits.d/99-{name}-memlock.conf, and log in again"
            )).by_hand("a file of /etc/security/limits.d is to be written, and the user logs in again")
            .risk("the user's programs may then use all memory, and swap cannot free any"),
        )
        .fix(
            Fix::runtime("as a service: LimitMEMLOCK=infinity in its unit; in a container: --ulimit memlock=-1").by_hand("how the program is started is to be changed: its unit or container")
                .risk("the same risk"),
        ))
}

fn size(bytes: u64) -> String {
    match bytes >> 10 {
        0 => format!("{bytes} bytes"),
        kib if kib < 1024 => format!("{kib} KiB"),
        kib => format!("{} MiB", kib >> 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const LITTLE: &Files = limits!(rtprio 0 20, rttime "unlimited", memlock "8388608");
    const ALL: &Files = limits!(rtprio 0 20, rttime "unlimited", memlock "unlimited");
    const USER: &Files = &[("/proc/self/status", "CapEff:\t0000000000000000\n")];
    const ANN: &Files = &[
        ("/etc/passwd", "ann:x:1000:1000:::\n"),
        ("/etc/group", "ann:x:1000:\n"),
        ("/etc/pam.d/login", "session required pam_limits.so\n"),
    ];
    const SOME: &Files = &[("/etc/security/limits.conf", "ann - memlock 2097152\n")];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("own", &[LITTLE, USER]).fails("8 MiB"),
                case("own, all", &[ALL, USER]).passes("all memory"),
                case("root", &[LITTLE, &[("/proc/self/status", "CapEff:\t0000000000004000\n")]])
                    .does_not_apply("CAP_IPC_LOCK"),
                case("2 GiB", &[ANN, SOME]).user("ann").fails_as(Severity::Info, "2048 MiB"),
                case("unlimited", &[ANN, &[("/etc/security/limits.conf", "* - memlock -1\n")]])
                    .user("ann")
                    .passes("all"),
                case("nothing said", &[ANN]).user("ann").fails("8 MiB"),
                case("hidden", &[&[]]).cannot_tell("/proc"),
            ],
        );
    }
}
