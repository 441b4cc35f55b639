//! May memory be swapped out?

use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "swap",
    title: "Swap is off",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &["swapon(8)", "mlockall(2)"],
    page: page!("swap"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let swaps = &host.memory.swaps;
    let Some(areas) = swaps.if_present()? else {
        return Ok(RuleOutcome::pass("The kernel cannot swap").shows_as(&swaps.path, "(it does not exist)"));
    };
    let Some(first) = areas.first() else {
        return Ok(RuleOutcome::pass("No swap area is in use").shows_as(&swaps.path, "no area"));
    };
    let compressed = areas.iter().all(|area| area.name.contains("zram"));
    let medium = if compressed { "is decompressed again" } else { "is read from the disk again" };
    let answer = RuleOutcome::fail(
        format!("{} of {} MiB", first.name, first.size_kib >> 10) + " is in use as swap",
        format!(
            "Memory that a program did not lock (mlockall) may be swapped out; the next access waits until the page \
             {medium}. This includes libraries and configuration of real-time programs."
        ),
    );
    let answer = areas.iter().take(4).fold(answer, |answer, area| {
        answer.shows_as(
            &swaps.path,
            format!("{}: {} KiB of {} KiB used", area.name, area.used_kib, area.size_kib),
        )
    });
    Ok(answer.fix(
        Fix::runtime("swapoff -a")
            .by_hand("memory must be free for what is in the swap area")
            .boot("remove the area from /etc/fstab, or mask its .swap unit; zram: its generator or service")
            .risk("when memory runs out, a process is killed instead"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const HEADER: &str = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";

    #[test]
    fn cases() {
        let disk: &str = format!("{HEADER}/dev/sda2 partition 8388604 12 -2\n").leak();
        let zram: &str = format!("{HEADER}/dev/zram0 partition 8388604 0 100\n").leak();
        table(
            &RULE,
            &[
                case("none", &[&[("/proc/swaps", HEADER)]]).passes("No swap"),
                case("not built in", &[&[("/proc/version", "")]]).passes("cannot swap"),
                case("a disk", &[&[("/proc/swaps", disk)]]).fails("from the disk"),
                case("zram", &[&[("/proc/swaps", zram)]]).fails("decompressed"),
                case("hidden", &[&[]]).cannot_tell("/proc"),
            ],
        );
    }
}
