//! The rows of the table: settings by heading, equal ones folded into one row, with the reasons below.

use super::facts::{Labels, cell, reasons};
use crate::plan::names;
use crate::words;
use whylate_tuning::{Agreement, ComparedSetting, ComparedSubject};

/// Settings of one sort.
pub(super) struct Section {
    pub(super) title: &'static str,
    pub(super) blocks: Vec<Block>,
}

/// Settings with the same reasons.
pub(super) struct Block {
    pub(super) rows: Vec<Row>,
    pub(super) reasons: Vec<String>,
}

/// A row of the table.
pub(super) struct Row {
    pub(super) name: String,
    /// What A has, what B has, and what the machine has.
    pub(super) cells: [String; 3],
    pub(super) agreement: Agreement,
}

/// Settings that are shown in one row.
struct Group<'a> {
    settings: Vec<&'a ComparedSetting>,
}

/// The settings that `of` selects, each section where its first setting is.
pub(super) fn sections(
    settings: &[ComparedSetting],
    labels: &Labels,
    of: impl Fn(Agreement) -> bool,
) -> Vec<Section> {
    let mut sections: Vec<(&'static str, Vec<Group<'_>>)> = Vec::new();
    for setting in settings.iter().filter(|setting| of(setting.agreement)) {
        let title = title(&setting.subject);
        let at = sections.iter().position(|(own, _)| *own == title).unwrap_or_else(|| {
            sections.push((title, Vec::new()));
            sections.len() - 1
        });
        let groups = &mut sections[at].1;
        match groups.iter_mut().find(|group| group.takes(setting)) {
            Some(group) => group.settings.push(setting),
            None => groups.push(Group { settings: vec![setting] }),
        }
    }
    let section =
        |(title, groups): (&'static str, Vec<Group<'_>>)| Section { title, blocks: blocks(&groups, labels) };
    sections.into_iter().map(section).collect()
}

fn blocks(groups: &[Group<'_>], labels: &Labels) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for group in groups {
        let Some(first) = group.settings.first() else { continue };
        let row = Row {
            name: group.name(),
            cells: [&first.a, &first.b, &first.here].map(|value| cell(value, &first.subject)),
            agreement: first.agreement,
        };
        let reasons = reasons(first, labels);
        match blocks.last_mut() {
            Some(block) if block.reasons == reasons => block.rows.push(row),
            _ => blocks.push(Block { rows: vec![row], reasons }),
        }
    }
    blocks
}

impl Group<'_> {
    /// Whether a setting differs from those of the group only in its name.
    fn takes(&self, setting: &ComparedSetting) -> bool {
        self.settings.first().is_some_and(|first| {
            is_alike(&first.subject, &setting.subject)
                && (&first.a, &first.b, &first.here) == (&setting.a, &setting.b, &setting.here)
        })
    }

    fn name(&self) -> String {
        let subjects: Vec<&ComparedSubject> = self.settings.iter().map(|setting| &setting.subject).collect();
        if let [one] = subjects[..] {
            return name(one);
        }
        let mut names = Vec::new();
        let mut paths = Vec::new();
        for subject in subjects {
            match subject {
                ComparedSubject::ThreadPolicy { threads } | ComparedSubject::ThreadCpus { threads } => {
                    names.push(threads.as_str());
                }
                ComparedSubject::InterruptCpus { name } => names.push(name),
                ComparedSubject::Tunable { path } => paths.push(path.as_str()),
                _ => {}
            }
        }
        match self.settings.first().map(|setting| &setting.subject) {
            Some(ComparedSubject::InterruptCpus { .. }) => names::several("interrupts", &names),
            Some(ComparedSubject::Tunable { .. }) => names::files(&paths),
            _ => names::several("threads", &names),
        }
    }
}

/// The name in its section, which shows the kind.
fn name(subject: &ComparedSubject) -> String {
    match subject {
        ComparedSubject::Parameter { name } | ComparedSubject::InterruptCpus { name } => words::clean(name),
        ComparedSubject::ThreadPolicy { threads } | ComparedSubject::ThreadCpus { threads } => {
            words::clean(threads)
        }
        other => words::clean(&other.to_string()),
    }
}

fn is_alike(a: &ComparedSubject, b: &ComparedSubject) -> bool {
    use ComparedSubject::{InterruptCpus, ThreadCpus, ThreadPolicy, Tunable};
    match (a, b) {
        (ThreadPolicy { .. }, ThreadPolicy { .. })
        | (ThreadCpus { .. }, ThreadCpus { .. })
        | (InterruptCpus { .. }, InterruptCpus { .. }) => true,
        (Tunable { path: a }, Tunable { path: b }) => names::are_alike(a, b),
        _ => false,
    }
}

fn title(subject: &ComparedSubject) -> &'static str {
    match subject {
        ComparedSubject::Parameter { .. } => "Kernel parameters, after a reboot",
        ComparedSubject::Tunable { path } => names::subject_of(path),
        ComparedSubject::InterruptCpus { .. } => "Interrupts: CPUs",
        ComparedSubject::ThreadPolicy { .. } => "Threads: policies",
        ComparedSubject::ThreadCpus { .. } => "Threads: CPUs",
        ComparedSubject::UnitActive { .. } | ComparedSubject::UnitEnabled { .. } => "Services",
        ComparedSubject::Variable { .. } => "Configuration files",
        ComparedSubject::Partition { .. } => "Control groups",
        ComparedSubject::CpuDmaLatency => "Idle states",
    }
}
