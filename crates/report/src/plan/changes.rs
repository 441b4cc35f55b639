//! What all renderers of a plan share: changes by subject, equal ones folded into one line.

use crate::words;
use whylate_profiles::{Reasons, Skipped};
use whylate_tuning::{Change, Plan, Setting, ThreadId};

/// So many names are written out of those that are folded.
const NAMED: usize = 3;
/// So many of what was left alone for one reason.
const LEFT: usize = 8;

/// Changes of one sort.
pub(crate) struct Section<'a> {
    /// Such as `Interrupts`.
    pub(crate) title: &'static str,
    /// What is done for one reason, each.
    pub(crate) blocks: Vec<Block<'a>>,
}

/// Changes for the same reasons.
pub(crate) struct Block<'a> {
    /// Each a line: what, how it is, how it would be.
    pub(crate) rows: Vec<Row<'a>>,
    pub(crate) reasons: &'a Reasons,
    pub(crate) prediction: Option<&'a str>,
    pub(crate) note: Option<&'a str>,
}

/// The same change of several settings.
pub(crate) struct Row<'a> {
    settings: Vec<&'a Setting>,
    now: Option<&'a str>,
    then: Option<&'a str>,
}

impl Row<'_> {
    /// What is changed: `kernel.timer_migration`, `interrupts 24,30-32`, `83 threads: [kthreadd], init, ...`.
    pub(crate) fn name(&self) -> String {
        let [one] = self.settings[..] else { return self.names() };
        match one {
            Setting::Parameter { name } => words::clean(name),
            Setting::ThreadPolicy { thread } | Setting::ThreadCpus { thread } => {
                words::clean(&thread.to_string())
            }
            Setting::Tunable { path } => match irq_of(path) {
                Some(irq) => format!("interrupt {irq}"),
                None => words::clean(&one.to_string()),
            },
            other => words::clean(&other.to_string()),
        }
    }

    fn names(&self) -> String {
        let threads: Vec<&ThreadId> = self.settings.iter().filter_map(|setting| thread_of(setting)).collect();
        if !threads.is_empty() {
            let mut names: Vec<&str> = Vec::new();
            for thread in &threads {
                if !names.contains(&thread.name.as_str()) {
                    names.push(&thread.name);
                }
            }
            let more = if names.len() > NAMED { ", ..." } else { "" };
            names.truncate(NAMED);
            return words::clean(&format!("{} threads: {}{more}", threads.len(), names.join(", ")));
        }
        let paths = || self.settings.iter().filter_map(|setting| path_of(setting));
        let irqs: Vec<u64> = paths().filter_map(irq_of).collect();
        if irqs.len() == self.settings.len() {
            return format!("interrupts {}", ranges(irqs));
        }
        let template = paths().next().map(|path| template(path).0).unwrap_or_default();
        let numbers: Vec<Vec<u64>> = paths().map(numbers_of).collect();
        match numbers.iter().all(|numbers| numbers.len() == 1) {
            true => template.replacen('*', &format!("{{{}}}", ranges(numbers.concat())), 1),
            false => format!("{template} ({} files)", self.settings.len()),
        }
    }

    /// `1 -> 0`; what is not there is `none`, what is there and has no value `set`.
    pub(crate) fn values(&self) -> (String, String) {
        let parameter = matches!(self.settings.first(), Some(Setting::Parameter { .. }));
        let shown = |value: Option<&str>| match value {
            None => "none".to_owned(),
            Some("") if parameter => "set".to_owned(),
            Some("") => "empty".to_owned(),
            Some(value) => words::clean(value),
        };
        (shown(self.now), shown(self.then))
    }
}

/// The changes by subject, each where its first one is.
pub(crate) fn sections(plan: &Plan) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    for change in &plan.changes {
        let title = subject(&change.setting);
        let at = sections.iter().position(|section| section.title == title).unwrap_or_else(|| {
            sections.push(Section { title, blocks: Vec::new() });
            sections.len() - 1
        });
        add(&mut sections[at].blocks, change);
    }
    sections
}

fn add<'a>(blocks: &mut Vec<Block<'a>>, change: &'a Change) {
    let (prediction, note) = (change.prediction.as_deref(), change.note.as_deref());
    let same = |block: &Block<'_>| {
        block.reasons == &change.reasons && block.note == note && block.prediction == prediction
    };
    let at = blocks.iter().position(same);
    let at = at.unwrap_or_else(|| {
        blocks.push(Block { rows: Vec::new(), reasons: &change.reasons, prediction, note });
        blocks.len() - 1
    });
    let rows = &mut blocks[at].rows;
    let (now, then) = (change.now.as_deref(), change.then.as_deref());
    let same = |row: &&mut Row<'_>| {
        (row.now, row.then) == (now, then)
            && row.settings.first().is_some_and(|first| is_alike(first, &change.setting))
    };
    match rows.iter_mut().find(same) {
        Some(row) => row.settings.push(&change.setting),
        None => rows.push(Row { settings: vec![&change.setting], now, then }),
    }
}

/// Whether two settings fit in one line.
fn is_alike(a: &Setting, b: &Setting) -> bool {
    match (a, b) {
        (Setting::ThreadPolicy { .. }, Setting::ThreadPolicy { .. })
        | (Setting::ThreadCpus { .. }, Setting::ThreadCpus { .. }) => true,
        (Setting::Tunable { path: a }, Setting::Tunable { path: b }) => {
            let ((a, numbers), (b, _)) = (template(a), template(b));
            a == b && numbers > 0
        }
        _ => false,
    }
}

/// A path with `*` for each number behind a name or alone in a directory (`cpu3`, `24`), and how many there are.
fn template(path: &str) -> (String, usize) {
    let mut count = 0;
    let parts = path.split('/').map(|part| match number_in(part) {
        Some((name, _)) => {
            count += 1;
            format!("{name}*")
        }
        None => words::clean(part),
    });
    let template = parts.collect::<Vec<_>>().join("/");
    (template, count)
}

fn numbers_of(path: &str) -> Vec<u64> {
    path.split('/').filter_map(|part| Some(number_in(part)?.1)).collect()
}

fn number_in(part: &str) -> Option<(&str, u64)> {
    let name = part.trim_end_matches(|c: char| c.is_ascii_digit());
    let known = matches!(name, "" | "cpu" | "policy" | "state" | "node" | "machinecheck" | "rx-" | "tx-");
    Some((name, part[name.len()..].parse().ok()?)).filter(|_| known)
}

/// `/proc/irq/24/smp_affinity_list`
fn irq_of(path: &str) -> Option<u64> {
    path.strip_prefix("/proc/irq/")?.strip_suffix("/smp_affinity_list")?.parse().ok()
}

fn path_of(setting: &Setting) -> Option<&str> {
    match setting {
        Setting::Tunable { path } => Some(path),
        _ => None,
    }
}

fn thread_of(setting: &Setting) -> Option<&ThreadId> {
    match setting {
        Setting::ThreadPolicy { thread } | Setting::ThreadCpus { thread } => Some(thread),
        _ => None,
    }
}

/// `24,30-32`
fn ranges(mut numbers: Vec<u64>) -> String {
    numbers.sort_unstable();
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if number - *last <= 1 => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let ranges = runs.iter().map(|&(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    ranges.collect::<Vec<_>>().join(",")
}

fn subject(setting: &Setting) -> &'static str {
    match setting {
        Setting::Parameter { .. } => "Kernel parameters, after a reboot",
        Setting::Tunable { path } if path.starts_with("/proc/sys/") => "Sysctls",
        Setting::Tunable { path } if path.starts_with("/proc/irq/") => "Interrupts: CPUs",
        Setting::Tunable { path } if path.starts_with("/sys/devices/system/cpu/") => "CPUs",
        Setting::Tunable { .. } => "Files of the kernel",
        Setting::ThreadPolicy { .. } => "Threads: policies",
        Setting::ThreadCpus { .. } => "Threads: CPUs",
        Setting::UnitActive { .. } | Setting::UnitEnabled { .. } => "Services",
        Setting::Variable { .. } => "Configuration files",
        Setting::Partition { .. } => "Control groups",
        Setting::CpuDmaLatency => "Idle states",
    }
}

/// The answer in one line.
pub(crate) fn title(plan: &Plan) -> String {
    let reboot = plan.changes.iter().filter(|change| change.setting.needs_reboot()).count();
    let answer = match plan.changes.len() {
        0 if plan.is_blind() => "cannot tell: nothing it would change could be read".to_owned(),
        0 => "nothing to change".to_owned(),
        count => words::plural(count as u64, "change"),
    };
    let after = match reboot {
        0 => String::new(),
        all if all == plan.changes.len() => ", after a reboot".to_owned(),
        some => format!(", {some} of them after a reboot"),
    };
    format!("{}: {answer}{after}", words::clean(&plan.desired.profile))
}

/// What a reader is to know of a block beside its lines: why, the check, the benefit, the risk.
pub(crate) fn reasons(block: &Block<'_>) -> String {
    let own = block.reasons;
    let mut reasons = vec![own.why.as_deref().map_or("why: not given".to_owned(), words::clean)];
    if let Some(rule) = &own.rule {
        reasons[0] += &format!(" [{}]", words::clean(rule));
    }
    reasons.push(format!("benefit: {}", own.benefit.as_deref().map_or("unknown".to_owned(), words::clean)));
    reasons.extend(own.risk.as_deref().map(|risk| format!("risk: {}", words::clean(risk))));
    reasons.extend(block.prediction.map(|why| format!("the kernel will refuse it: {}", words::clean(why))));
    reasons.extend(block.note.map(|note| format!("note: {}", words::clean(note))));
    reasons.join(" · ")
}

/// The optional settings that the kernel will refuse, one entry for each reason: what, and why.
pub(crate) fn predicted(plan: &Plan) -> Vec<(String, String)> {
    let left = plan.predicted.iter().map(|one| {
        let value = one.then.as_deref().map(|value| format!(" = {value}")).unwrap_or_default();
        Skipped { what: format!("{}{value}", one.setting), why: one.why.clone() }
    });
    by_reason(&left.collect::<Vec<_>>())
}

/// What was left alone, one entry for each reason: what, and why.
pub(crate) fn by_reason(left: &[Skipped]) -> Vec<(String, String)> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for one in left {
        match reasons.iter_mut().find(|(why, _)| *why == one.why) {
            Some((_, whats)) => whats.push(&one.what),
            None => reasons.push((&one.why, vec![&one.what])),
        }
    }
    reasons.into_iter().map(|(why, whats)| (together(&whats), words::clean(why))).collect()
}

/// `kernel parameters isolcpus, nohz_full`; of many the first ones.
fn together(whats: &[&str]) -> String {
    const PARAMETER: &str = "kernel parameter ";
    let whats = folded(whats);
    let whats: Vec<&str> = whats.iter().map(String::as_str).collect();
    let more = match whats.len().saturating_sub(LEFT) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let bare: Vec<&str> = whats.iter().filter_map(|what| what.strip_prefix(PARAMETER)).collect();
    let (kind, whats) = match whats.len() > 1 && bare.len() == whats.len() {
        true => ("kernel parameters ", bare),
        false => ("", whats),
    };
    let whats: Vec<String> = whats.iter().take(LEFT).map(|what| words::clean(what)).collect();
    format!("{kind}{}{more}", whats.join(", "))
}

/// Paths that differ in one number as one, each where the first of them is.
fn folded(whats: &[&str]) -> Vec<String> {
    let mut kinds: Vec<(String, Vec<u64>)> = Vec::new();
    for what in whats {
        let (kind, count) = template(what);
        if !what.starts_with('/') || what.contains('*') || count != 1 {
            kinds.push(((*what).to_owned(), Vec::new()));
            continue;
        }
        match kinds.iter_mut().find(|(own, _)| *own == kind) {
            Some((_, numbers)) => numbers.extend(numbers_of(what)),
            None => kinds.push((kind, numbers_of(what))),
        }
    }
    let lines = kinds.into_iter().map(|(kind, numbers)| match numbers[..] {
        [] => kind,
        [one] => kind.replacen('*', &one.to_string(), 1),
        _ => kind.replacen('*', &format!("{{{}}}", ranges(numbers)), 1),
    });
    lines.collect()
}

/// What is configured as it should be, and not so yet.
pub(crate) fn not_yet(plan: &Plan) -> Vec<(String, String)> {
    let kept = plan.unchanged.iter().filter_map(|kept| {
        let value = kept.value.as_deref().filter(|value| !value.is_empty());
        let value = value.map(|value| format!(" = {value}")).unwrap_or_default();
        Some((words::clean(&format!("{}{value}", kept.setting)), words::clean(kept.note.as_deref()?)))
    });
    kept.collect()
}

/// `concerns 3 settings: a, b, c`; of many the first ones.
pub(crate) fn concerned(settings: &[String]) -> Option<String> {
    let names: Vec<String> = settings.iter().take(NAMED).map(|name| words::clean(name)).collect();
    let more = if settings.len() > NAMED { ", ..." } else { "" };
    let count = words::plural(settings.len() as u64, "setting");
    (!settings.is_empty()).then(|| format!("affects {count}: {}{more}", names.join(", ")))
}

/// Totals, machine, variables.
pub(crate) fn facts(plan: &Plan) -> Vec<String> {
    let mut facts = vec![
        words::plural(plan.changes.len() as u64, "change"),
        format!("{} already set", plan.unchanged.len()),
        format!("{} skipped", plan.skipped.len()),
        words::plural(plan.conflicts.len() as u64, "conflict"),
    ];
    facts.extend((!plan.predicted.is_empty()).then(|| format!("{} will be refused", plan.predicted.len())));
    facts.extend(plan.machine.release.as_ref().map(|release| format!("Linux {}", words::clean(release))));
    facts.extend(plan.machine.cpus.as_ref().map(|cpus| format!("CPUs {}", words::clean(cpus))));
    // A variable that is switched off has no effect to show.
    let set =
        plan.desired.variables.iter().filter(|(_, value)| !matches!(value.as_str(), "" | "no" | "false"));
    facts.extend(set.map(|(name, value)| words::clean(&format!("{name}={value}"))));
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_templates() {
        assert_eq!(ranges(vec![32, 24, 31, 30]), "24,30-32");
        assert_eq!(ranges(vec![u64::MAX, u64::MAX - 1]), format!("{}-{}", u64::MAX - 1, u64::MAX));
        let of = |path: &str| template(path);
        assert_eq!(of("/sys/devices/system/cpu/cpu12/x"), ("/sys/devices/system/cpu/cpu*/x".to_owned(), 1));
        assert_eq!(
            of("/sys/cpu1/cpuidle/state2/disable"),
            ("/sys/cpu*/cpuidle/state*/disable".to_owned(), 2)
        );
        assert_eq!(of("net.ipv4"), ("net.ipv4".to_owned(), 0));
        let whats = ["/a/cpu0/x", "other", "/a/cpu1/x", "/a/cpu3/y", "/a/cpu*/z", "/a/cpu2/x"];
        assert_eq!(folded(&whats), ["/a/cpu{0-2}/x", "other", "/a/cpu3/y", "/a/cpu*/z"]);
    }
}
