//! How much may be written at once?

use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "dirty-writeback",
    title: "Dirty data is written back early, in small portions",
    severity: Severity::Info,
    profiles: Profile::ALL,
    sources: &["Documentation/admin-guide/sysctl/vm.rst", "mm/page-writeback.c (balance_dirty_pages)"],
    page: page!("dirty-writeback"),
    check,
};

/// The values of TuneD's latency profiles, in per cent.
const RATIO: u64 = 10;
const BACKGROUND: u64 = 3;

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let vm = &host.memory.vm;
    let by_bytes = *vm.dirty_bytes.need()? > 0;
    let background_by_bytes = *vm.dirty_background_bytes.need()? > 0;
    let (ratio, background) = (*vm.dirty_ratio.need()?, *vm.dirty_background_ratio.need()?);
    let late = !background_by_bytes && background > BACKGROUND;
    let much = !by_bytes && ratio > RATIO;
    if !late && !much {
        let shown = if background_by_bytes { &vm.dirty_background_bytes } else { &vm.dirty_background_ratio };
        return Ok(RuleOutcome::pass("Dirty data is written back early").shows(shown));
    }
    let what = match late {
        true => format!("Dirty data is written back only when it fills {background} % of memory"),
        false => format!("Dirty data may fill {ratio} % of memory"),
    };
    Ok(RuleOutcome::fail(
        what,
        "It then goes to the disk in one burst, which keeps the disk and its interrupts busy. At the upper limit \
         every thread that writes to a file has to wait, whatever its priority.",
    )
    .shows(&vm.dirty_background_ratio)
    .shows(&vm.dirty_ratio)
    .shows(&vm.dirty_writeback_centisecs)
    .fix(
        Fix::runtime(format!("sysctl vm.dirty_background_ratio={BACKGROUND} vm.dirty_ratio={RATIO}"))
            .boot("the same in /etc/sysctl.d")
            .risk("writes are smaller, so the total disk work grows"),
    )
    .fix(
        Fix::runtime("do not write files from real-time threads: pass the data to another thread").by_hand("the program is to be changed")
            .risk("none: the buffer between them must be large enough"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const USUAL: &Files = &[
        ("/proc/sys/vm/dirty_bytes", "0\n"),
        ("/proc/sys/vm/dirty_background_bytes", "0\n"),
        ("/proc/sys/vm/dirty_ratio", "20\n"),
        ("/proc/sys/vm/dirty_background_ratio", "10\n"),
        ("/proc/sys/vm/dirty_writeback_centisecs", "500\n"),
    ];
    const EARLY: (&str, &str) = ("/proc/sys/vm/dirty_background_ratio", "3\n");
    const LOW: (&str, &str) = ("/proc/sys/vm/dirty_ratio", "10\n");
    const BYTES: &Files =
        &[("/proc/sys/vm/dirty_bytes", "67108864\n"), ("/proc/sys/vm/dirty_background_bytes", "16777216\n")];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("usual", &[USUAL]).fails("10 % of memory"),
                case("much", &[USUAL, &[EARLY]]).fails("20 % of memory"),
                case("as TuneD has it", &[USUAL, &[EARLY, LOW]]).passes("early"),
                case("in bytes", &[USUAL, BYTES]).passes("early"),
                case("unknown", &[&USUAL[..3]]).cannot_tell("dirty_background_ratio"),
                case("hidden", &[&[]]).cannot_tell("/proc"),
            ],
        );
    }
}
