//! The words of a comparison of settings, which its formats share.

use crate::words;
use whylate_tuning::{
    Agreement, ComparedSetting, ComparedSide, ComparedSubject, SettingsComparison, SideKind, SideValue,
    ValueState,
};

/// What the columns are called.
pub(super) struct Labels {
    pub(super) a: String,
    pub(super) b: String,
    pub(super) here: String,
}

impl Labels {
    pub(super) fn of(comparison: &SettingsComparison) -> Labels {
        let [a, b] = [&comparison.a.name, &comparison.b.name].map(|name| short(name));
        let here = match comparison.root.as_str() {
            "/" => "this machine".to_owned(),
            root => short(root),
        };
        match a == b {
            true => Labels { a: format!("A {a}"), b: format!("B {b}"), here },
            false => Labels { a, b, here },
        }
    }

    /// In the order of the cells.
    pub(super) fn each(&self) -> [&str; 3] {
        [&self.a, &self.b, &self.here]
    }
}

/// A name without the directories of its path.
fn short(name: &str) -> String {
    let (kind, path) = match name.strip_prefix("tuned:") {
        Some(path) => ("tuned:", path),
        None => ("", name),
    };
    let last = path.trim_end_matches('/').rsplit('/').next().filter(|last| !last.is_empty());
    words::clean(&format!("{kind}{}", last.unwrap_or(path)))
}

/// The answer in one line.
pub(super) fn title(comparison: &SettingsComparison, labels: &Labels) -> String {
    let all = comparison.settings.len() as u64;
    let different = comparison.count(Agreement::Different) as u64;
    let unread = comparison.count(Agreement::CannotTell) as u64;
    let answer = match (all, different) {
        (0, _) => "no setting to compare".to_owned(),
        (_, 0) if unread == all => "cannot tell: nothing could be read".to_owned(),
        (_, 0) => "no difference".to_owned(),
        (1, _) => "the only setting differs".to_owned(),
        (_, 1) => format!("1 of {} settings differs", words::count(all)),
        _ => format!("{} of {} settings differ", words::count(different), words::count(all)),
    };
    let unknown = match unread {
        0 => String::new(),
        some if some == all => String::new(),
        some => format!(", {} cannot be compared", words::count(some)),
    };
    format!("{} against {}: {answer}{unknown}", labels.a, labels.b)
}

/// How many settings are the same; `None`: there is none.
pub(super) fn same(comparison: &SettingsComparison) -> Option<String> {
    match comparison.count(Agreement::Same) as u64 {
        0 => None,
        1 => Some("1 setting is the same in both".to_owned()),
        same => Some(format!("{} settings are the same in both", words::count(same))),
    }
}

/// A value in a table.
pub(super) fn cell(value: &SideValue, subject: &ComparedSubject) -> String {
    match value.state {
        ValueState::Known => shown(value, subject),
        ValueState::NotSet => "not set".to_owned(),
        ValueState::Conditional => "not set here".to_owned(),
        ValueState::NotApplicable => "none".to_owned(),
        ValueState::Unread => "cannot read".to_owned(),
    }
}

fn shown(value: &SideValue, subject: &ComparedSubject) -> String {
    let parameter = matches!(subject, ComparedSubject::Parameter { .. });
    let shown = value.values.iter().map(|value| match value.as_deref() {
        None => "absent".to_owned(),
        Some("") if parameter => "present".to_owned(),
        Some("") => "empty".to_owned(),
        Some(value) => words::clean(value),
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// What a reader is to know beside the values, each a line: why, the check, the benefit and the risk by each profile; and
/// what keeps a value from being set or read.
pub(super) fn reasons(setting: &ComparedSetting, labels: &Labels) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let (first, second) = (of_profile(&setting.a), of_profile(&setting.b));
    lines.extend((!first.is_empty()).then(|| first.join(" · ")));
    // What both give is written once.
    let more: Vec<String> = second.into_iter().filter(|part| !first.contains(part)).collect();
    if !more.is_empty() {
        let more = more.join(" · ");
        lines.push(if first.is_empty() { more } else { format!("{}: {more}", labels.b) });
    }
    if lines.is_empty() && [&setting.a, &setting.b].iter().any(|value| value.origin.is_some()) {
        lines.push("why: not given".to_owned());
    }
    for (value, label) in [(&setting.a, &labels.a), (&setting.b, &labels.b), (&setting.here, &labels.here)] {
        lines.extend(remark(value, &setting.subject).map(|remark| format!("{label}: {remark}")));
    }
    lines
}

fn of_profile(value: &SideValue) -> Vec<String> {
    let Some(own) = &value.reasons else { return Vec::new() };
    let rule = own.rule.as_deref().map(|rule| format!(" [{}]", words::clean(rule))).unwrap_or_default();
    let why = own.why.as_deref().map(|why| format!("{}{rule}", words::clean(why)));
    let benefit = own.benefit.as_deref().map(|benefit| format!("benefit: {}", words::clean(benefit)));
    let risk = own.risk.as_deref().map(|risk| format!("risk: {}", words::clean(risk)));
    [why, benefit, risk].into_iter().flatten().collect()
}

/// Why there is no value, or what becomes of it.
fn remark(value: &SideValue, subject: &ComparedSubject) -> Option<String> {
    let why = value.why.as_deref().map(words::clean);
    let why = match value.state {
        ValueState::Conditional => why.map(|why| format!("would be {}, {why}", shown(value, subject))),
        ValueState::Unread => why.map(|why| format!("cannot read: {why}")),
        _ => why,
    };
    let note = value.note.as_deref().map(words::clean);
    match (why, note) {
        (None, None) => None,
        (why, note) => Some(why.into_iter().chain(note).collect::<Vec<_>>().join("; ")),
    }
}

/// What both sides are, and the machine.
pub(super) fn about(comparison: &SettingsComparison, labels: &Labels) -> Vec<String> {
    let mut about: Vec<String> = [(&labels.a, &comparison.a), (&labels.b, &comparison.b)]
        .into_iter()
        .map(|(label, side)| format!("{label}: {}", of_side(side)))
        .collect();
    let machine = &comparison.machine;
    let facts = [
        machine.release.as_ref().map(|release| format!("Linux {}", words::clean(release))),
        machine.cpus.as_ref().map(|cpus| format!("CPUs {}", words::clean(cpus))),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    about.push(match facts.is_empty() {
        true => format!("{}: unknown kernel and CPUs", labels.here),
        false => format!("{}: {}", labels.here, facts.join(", ")),
    });
    for (label, notes) in [
        (&labels.a, &comparison.a.notes),
        (&labels.b, &comparison.b.notes),
        (&labels.here, &comparison.notes),
    ] {
        about.extend(notes.iter().map(|note| format!("{label}: {}", words::clean(note))));
    }
    about
}

fn of_side(side: &ComparedSide) -> String {
    if let Some(machine) = &side.machine {
        let release = machine.release.as_deref().map_or("unknown".to_owned(), words::clean);
        let cpus = machine.cpus.as_deref().map(|cpus| format!(", CPUs {}", words::clean(cpus)));
        return format!("machine {}, Linux {release}{}", words::clean(&side.name), cpus.unwrap_or_default());
    }
    // A variable that is switched off has no effect to show.
    let set = side.variables.iter().filter(|(_, value)| !matches!(value.as_str(), "" | "no" | "false"));
    let set: Vec<String> = set.map(|(name, value)| words::clean(&format!("{name}={value}"))).collect();
    let kind = match side.kind {
        SideKind::Tuned => "profile of TuneD",
        SideKind::Profile | SideKind::Machine => "profile",
    };
    let path = side.name.trim_start_matches("tuned:");
    let kind = match path.contains('/') {
        true => format!("{kind} in {}", words::clean(path)),
        false => kind.to_owned(),
    };
    match set.is_empty() {
        true => kind,
        false => format!("{kind}, {}", set.join(", ")),
    }
}

/// What is not compared of each side: a heading, and each thing with the reason.
pub(super) fn not_compared(
    comparison: &SettingsComparison,
    labels: &Labels,
) -> Vec<(String, Vec<(String, String)>)> {
    let sides = [(&labels.a, &comparison.a), (&labels.b, &comparison.b)];
    sides
        .into_iter()
        .filter(|(_, side)| !side.skipped.is_empty())
        .map(|(label, side)| {
            (format!("Not supported from {label}"), crate::plan::changes::by_reason(&side.skipped))
        })
        .collect()
}
