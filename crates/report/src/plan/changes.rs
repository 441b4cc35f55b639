//! What all renderers of a plan share: changes by subject, equal ones folded into one line.

use super::names::{self, NAMED, folded, ranges};
use crate::words;
use whylate_profiles::{Reasons, Skipped};
use whylate_tuning::{Change, Plan, Setting, ThreadId};

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
            let names: Vec<&str> = threads.iter().map(|thread| thread.name.as_str()).collect();
            return names::several("threads", &names);
        }
        let paths = || self.settings.iter().filter_map(|setting| path_of(setting));
        let irqs: Vec<u64> = paths().filter_map(irq_of).collect();
        if irqs.len() == self.settings.len() {
            return format!("interrupts {}", ranges(irqs));
        }
        names::files(&paths().collect::<Vec<_>>())
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
        (Setting::Tunable { path: a }, Setting::Tunable { path: b }) => names::are_alike(a, b),
        _ => false,
    }
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

fn subject(setting: &Setting) -> &'static str {
    match setting {
        Setting::Parameter { .. } => "Kernel parameters, after a reboot",
        Setting::Tunable { path } => names::subject_of(path),
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
