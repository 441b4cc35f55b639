//! Interrupts: their devices, their allowed CPUs and their effective CPUs.

use crate::{FsRoot, Mask, Reading};
use whylate_base::CpuSet;

/// All of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Irqs {
    /// The rows of /proc/interrupts: numbered ones and the architecture's own (`LOC`, `NMI`, `MCP`).
    pub rows: Reading<Vec<IrqRow>>,
    /// Each numbered interrupt's settings, ascending.
    pub each: Reading<Vec<Irq>>,
    /// Where a new interrupt may go.
    pub default_affinity: Reading<Mask>,
    /// The configuration of irqbalance, at each path that distributions use.
    pub balancer: Vec<Reading<Balancer>>,
}

/// The variables that irqbalance(1) reads, from the file its service is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Balancer(Vec<(String, String)>);

impl Balancer {
    /// The last value of a variable, without quotes; one that is empty is as good as none.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().rev().find(|(own, _)| own == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    fn parse(text: &str) -> Balancer {
        let lines = text.lines().filter_map(|line| line.trim().split_once('='));
        let bare = |value: &str| value.trim().trim_matches(['"', '\'']).trim().to_owned();
        Balancer(lines.map(|(name, value)| (name.trim().to_owned(), bare(value))).collect())
    }
}

/// A row of /proc/interrupts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IrqRow {
    /// `24`, `LOC`.
    pub name: String,
    /// The count on each CPU of the header.
    pub counts: Vec<u64>,
    /// Chip, trigger and devices, as the kernel prints them.
    pub what: String,
}

/// The settings of an interrupt, in /proc/irq/N.
#[derive(Clone, Debug, PartialEq)]
pub struct Irq {
    /// Its number.
    pub number: u32,
    /// Its devices: the names of the directories next to the settings.
    pub actions: Vec<String>,
    /// The CPUs it may go to.
    pub affinity: Reading<CpuSet>,
    /// The effective CPUs (4.15); the hardware often uses only one.
    pub effective: Reading<CpuSet>,
}

impl Irqs {
    /// Reads them.
    pub fn read(tree: &FsRoot) -> Irqs {
        let each = tree.list("/proc/irq").and_then(|names| {
            let mut numbers: Vec<u32> = names.iter().filter_map(|name| name.parse().ok()).collect();
            numbers.sort_unstable();
            Ok(numbers.into_iter().map(|number| Irq::read(tree, number)).collect())
        });
        Irqs {
            rows: tree.text("/proc/interrupts").and_then(|text| rows(text)),
            each,
            default_affinity: tree.value("/proc/irq/default_smp_affinity"),
            balancer: ["/etc/default/irqbalance", "/etc/sysconfig/irqbalance"]
                .map(|path| tree.filtered(path, own_variables).and_then(|text| Ok(Balancer::parse(text))))
                .into(),
        }
    }

    /// The row of an interrupt.
    pub fn row(&self, number: u32) -> Option<&IrqRow> {
        let name = number.to_string();
        self.rows.known()?.iter().find(|row| row.name == name)
    }

    /// The count of a numbered interrupt on all CPUs.
    pub fn count(&self, number: u32) -> Option<u64> {
        Some(self.row(number)?.total())
    }
}

impl IrqRow {
    /// The count on all CPUs.
    pub fn total(&self) -> u64 {
        self.counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }
}

/// Nothing else in such a file is anybody's business.
fn own_variables(text: &str) -> String {
    let own = text.lines().filter(|line| line.trim_start().starts_with("IRQBALANCE_"));
    own.map(|line| format!("{line}\n")).collect()
}

impl Irq {
    fn read(tree: &FsRoot, number: u32) -> Irq {
        let dir = format!("/proc/irq/{number}");
        let names = tree.list(&dir);
        let settings = |name: &str| {
            name.starts_with("smp_affinity")
                || name.starts_with("effective_affinity")
                || matches!(name, "node" | "spurious" | "affinity_hint")
        };
        Irq {
            number,
            actions: names.known().into_iter().flatten().filter(|name| !settings(name)).cloned().collect(),
            affinity: tree.value(&format!("{dir}/smp_affinity_list")),
            effective: tree.value(&format!("{dir}/effective_affinity_list")),
        }
    }
}

fn rows(text: &str) -> Result<Vec<IrqRow>, crate::Why> {
    let malformed = || crate::Why::Malformed { expected: "a header of CPUs and rows of counts".to_owned() };
    let mut lines = text.lines();
    let header = lines.next().ok_or_else(malformed)?;
    let cpus = header.split_ascii_whitespace().take_while(|word| word.starts_with("CPU")).count();
    if cpus == 0 {
        return Err(malformed());
    }
    let rows = lines.filter_map(|line| {
        let (name, mut rest) = line.split_once(':')?;
        // `ERR` and `MIS` have one count, whatever the number of CPUs.
        let mut counts = Vec::new();
        while counts.len() < cpus {
            let trimmed = rest.trim_start();
            let end = trimmed.find(char::is_whitespace).unwrap_or(trimmed.len());
            let Ok(count) = trimmed[..end].parse() else { break };
            counts.push(count);
            rest = &trimmed[end..];
        }
        let what = rest.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        Some(IrqRow { name: name.trim().to_owned(), counts, what })
    });
    Ok(rows.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "           CPU0       CPU1\n  0:         31          0   IO-APIC   2-edge      timer\n\
                        LOC:      92112      83221   Local timer interrupts\nERR:          0\n";

    #[test]
    fn rows_and_settings() {
        let tree = FsRoot::memory(&[
            ("/proc/interrupts", TEXT),
            ("/proc/irq/0/smp_affinity_list", "0-1\n"),
            ("/proc/irq/0/timer/x", ""),
            ("/proc/irq/default_smp_affinity", "3\n"),
        ]);
        let irqs = Irqs::read(&tree);
        let rows = irqs.rows.need().expect("rows");
        assert_eq!(rows[0].what, "IO-APIC 2-edge timer");
        assert_eq!(rows[1].counts, [92112, 83221]);
        assert_eq!(rows[2].counts, [0]);
        assert_eq!(irqs.count(0), Some(31));
        let each = irqs.each.need().expect("settings");
        assert_eq!(each[0].actions, ["timer"]);
        assert!(each[0].effective.value.is_err());
    }

    #[test]
    fn what_the_balancer_is_told() {
        let file =
            "# IRQBALANCE_BANNED_CPULIST=9\nIRQBALANCE_BANNED_CPULIST=\"2-3\"\nIRQBALANCE_ARGS=\nSECRET=1\n";
        let irqs = Irqs::read(&FsRoot::memory(&[("/etc/default/irqbalance", file)]));
        let variables = irqs.balancer[0].need().expect("variables");
        assert_eq!(variables.get("IRQBALANCE_BANNED_CPULIST"), Some("2-3"));
        assert_eq!((variables.get("IRQBALANCE_ARGS"), variables.get("SECRET")), (None, None));
        assert_eq!(irqs.balancer[1].if_present(), Ok(None));
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "(CPU0 CPU1\n)?(\\PC|\n){0,80}") {
            let _ = rows(&text);
        }
    }
}
