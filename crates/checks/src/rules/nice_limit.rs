//! May the user raise the weight of SCHED_OTHER threads?

use super::shared::limits::{Granted, Item, granted};
use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "nice-limit",
    title: "The user may set negative nice values",
    severity: Severity::Info,
    profiles: &[Profile::Audio],
    sources: &["setpriority(2)", "setrlimit(2)", "limits.conf(5)"],
    page: page!("nice-limit"),
    check,
};

const ITEM: Item = Item {
    name: "nice",
    rlimit: "RLIMIT_NICE",
    capability: (23, "CAP_SYS_NICE"),
    own: |own| own.nice,
    // -20 to 19 in limits.conf, 40 to 1 in the kernel.
    scale: |value| u64::try_from(20i64.saturating_sub(value)).unwrap_or(0),
};

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let (whose, most, path, line) = match granted(host, options, &ITEM)? {
        Granted::Anything { by } => {
            return Ok(RuleOutcome::not_applicable(format!(
                "{by}, and needs no limit: select the user with --user"
            )));
        }
        Granted::UpTo { most, whose, path, line } => (whose, most.unwrap_or(40).min(40), path, line),
        Granted::Default { whose, because } => (whose, 0, "/etc/security".to_owned(), because),
    };
    if most > 20 {
        return Ok(RuleOutcome::pass(format!("{whose} may set nice values down to -{}", most - 20))
            .shows_as(path, line));
    }
    let name = options.user.as_deref().unwrap_or("USER");
    Ok(RuleOutcome::fail(
        format!("{whose} may not set negative nice values"),
        "Real-time threads need none. The SCHED_OTHER threads that feed them share the CPU with every other program \
         at the same weight; each step of the nice value changes the weight by a factor of 1.25.",
    )
    .shows_as(path, line)
    .fix(
        Fix::runtime(format!("echo '{name} - nice -11' > /etc/security/limits.d/99-{name}-nice.conf, and log in again")).by_hand("a file of /etc/security/limits.d is to be written, and the user logs in again")
            .risk("the user's programs may then take CPU time from others"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const ANN: &Files = &[
        ("/etc/passwd", "ann:x:1000:1000:::\n"),
        ("/etc/group", "ann:x:1000:\n"),
        ("/etc/pam.d/login", "session required pam_limits.so\n"),
    ];

    #[test]
    fn cases() {
        const FILE: &str = "/etc/security/limits.conf";
        table(
            &RULE,
            &[
                case("down to -19", &[ANN, &[(FILE, "ann - nice -19\n")]]).user("ann").passes("-19"),
                case("no less than 1", &[ANN, &[(FILE, "ann - nice 1\n")]]).user("ann").fails("negative"),
                case("-1 is no wildcard", &[ANN, &[(FILE, "ann - nice -1\n")]])
                    .user("ann")
                    .passes("down to -1"),
                case("nothing said", &[ANN]).user("ann").fails("negative"),
                case("hidden", &[&[]]).cannot_tell("/proc"),
            ],
        );
    }
}
