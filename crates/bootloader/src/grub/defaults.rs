//! GRUB 2: the variables in /etc/default/grub (and in the drop-ins of Debian's), of which grub-mkconfig makes
//! grub.cfg.
//!
//! A command line is GRUB_CMDLINE_LINUX and then GRUB_CMDLINE_LINUX_DEFAULT; an entry to repair the machine with has
//! only the first (10_linux). So ours go to the second, in a drop-in where grub-mkconfig reads some, else in the
//! file itself. What is there with another value is changed where it stands: which of two counts differs from
//! parameter to parameter.

use crate::edit::{Edit, edited};
use crate::error::BootError;
use crate::line::{self, Parameter};
use crate::reading::{closed, names, optional};
use crate::shell::{self, Assignment};
use crate::staged::StagedEdits;
use std::collections::BTreeSet;
use whylate_host::FsRoot;

pub(crate) const FILE: &str = "/etc/default/grub";
const DROP_INS: &str = "/etc/default/grub.d";
/// Ours: read last.
const OWN: &str = "/etc/default/grub.d/zz-whylate.cfg";
const HEAD: &str = "# Kernel parameters that `whylate apply` has set. `whylate rollback` removes them.\n";
const ALWAYS: &str = "GRUB_CMDLINE_LINUX";
const USUAL: &str = "GRUB_CMDLINE_LINUX_DEFAULT";
/// Whether it reads drop-ins differs among distributions, and is written in it.
const MKCONFIG: [&str; 4] = [
    "/usr/sbin/grub-mkconfig",
    "/usr/sbin/grub2-mkconfig",
    "/usr/bin/grub-mkconfig",
    "/usr/bin/grub2-mkconfig",
];

/// A file of variables.
struct Source {
    path: String,
    text: String,
    assignments: Vec<Assignment>,
}

impl Source {
    /// Which assignments count: those of the two variables and of what these are made from, but for those that a
    /// later one replaces.
    fn live(sources: &[Source]) -> Vec<(usize, usize)> {
        let mut asked: BTreeSet<&str> = BTreeSet::from([ALWAYS, USUAL]);
        let mut live = Vec::new();
        for (file, source) in sources.iter().enumerate().rev() {
            for (at, own) in source.assignments.iter().enumerate().rev() {
                if !asked.contains(own.name.as_str()) {
                    continue;
                }
                live.push((file, at));
                if !own.appends && !own.conditional && !own.refers.contains(&own.name) {
                    asked.remove(own.name.as_str());
                }
                asked.extend(own.refers.iter().map(String::as_str));
            }
        }
        live.reverse();
        live
    }
}

fn not_plain(path: &str, wanted: &[Parameter], why: &'static str) -> BootError {
    let names: Vec<&str> = wanted.iter().map(|want| want.name.as_str()).collect();
    BootError::NotPlain { path: path.to_owned(), name: names.join(", "), why }
}

fn sources(
    staged: &StagedEdits<'_>,
    paths: &[String],
    wanted: &[Parameter],
) -> Result<Vec<Source>, BootError> {
    let mut sources = Vec::new();
    for path in paths {
        let Some(text) = staged.text(path)? else { continue };
        let script = shell::parse(&text);
        if !script.whole {
            return Err(not_plain(path, wanted, "it ends within quotes"));
        }
        sources.push(Source { path: path.clone(), text, assignments: script.assignments });
    }
    Ok(sources)
}

fn reads_drop_ins(tree: &FsRoot) -> Result<bool, BootError> {
    for path in MKCONFIG {
        if let Some(script) = optional(tree, path)? {
            return Ok(script.contains("default/grub.d"));
        }
    }
    Ok(!names(tree, DROP_INS)?.is_empty())
}

/// Changes what grub-mkconfig reads.
pub(crate) fn change(
    staged: &mut StagedEdits<'_>,
    tree: &FsRoot,
    wanted: &[Parameter],
) -> Result<(), BootError> {
    let drop_ins = reads_drop_ins(tree)?;
    let mut paths = vec![FILE.to_owned()];
    if drop_ins {
        let names = names(tree, DROP_INS)?;
        let others =
            names.iter().filter(|name| name.ends_with(".cfg")).map(|name| format!("{DROP_INS}/{name}"));
        paths.extend(others.filter(|path| path != OWN));
        paths.push(OWN.to_owned());
    }
    // A variable has no characters that GRUB's own script would take for something else.
    let special = |c: char| "$;&|<>{}'\\`#".contains(c) || c.is_whitespace();
    if let Some(want) = wanted.iter().find(|want| {
        want.name.contains(special) || want.value.as_deref().is_some_and(|value| value.contains(special))
    }) {
        return Err(BootError::Unwritable {
            name: want.name.clone(),
            value: want.value.clone().unwrap_or_default(),
            why: "grub.cfg is a script, in which one of its characters is special; add it by hand",
        });
    }
    let before = sources(staged, &paths, wanted)?;
    let missing = change_in_place(staged, &before, wanted)?;
    let after = sources(staged, &paths, wanted)?;
    if !missing.is_empty() {
        match drop_ins {
            true => add_to_own(staged, &after, &missing)?,
            false => add_to_defaults(staged, &after, &missing, wanted)?,
        }
    }
    drop_empty(staged)?;
    let made = sources(staged, &paths, wanted)?;
    for (file, at) in Source::live(&made) {
        let own = &made[file].assignments[at];
        if !line::changes(&own.value, wanted).edits.is_empty() {
            return Err(not_plain(
                &made[file].path,
                wanted,
                "the way its value is composed is not supported",
            ));
        }
    }
    Ok(())
}

/// Changes every assignment that counts; what none of them has is left over.
fn change_in_place(
    staged: &mut StagedEdits<'_>,
    sources: &[Source],
    wanted: &[Parameter],
) -> Result<Vec<String>, BootError> {
    let mut missing: Vec<String> = line::changes("", wanted).missing;
    let mut edits: Vec<Vec<Edit>> = sources.iter().map(|_| Vec::new()).collect();
    for (file, at) in Source::live(sources) {
        let (source, own) = (&sources[file], &sources[file].assignments[at]);
        closed(&source.path, &own.value, wanted)?;
        let changes = line::changes(&own.value, wanted);
        if !own.conditional && (own.name == ALWAYS || own.name == USUAL) {
            missing.retain(|word| changes.missing.contains(word));
        }
        let made = own.in_file(&changes.edits);
        edits[file].extend(made.ok_or_else(|| {
            not_plain(&source.path, wanted, "a parameter consists of several quoted pieces")
        })?);
    }
    for (source, edits) in sources.iter().zip(edits).filter(|(_, edits)| !edits.is_empty()) {
        staged.write(&source.path, edited(&source.text, &edits))?;
    }
    Ok(missing)
}

/// Whether any value of a variable has words for init: nothing can be added behind those.
fn has_init(sources: &[Source], name: &str) -> bool {
    let live = Source::live(sources);
    let mut own = live.iter().map(|&(file, at)| &sources[file].assignments[at]);
    own.any(|own| own.name == name && line::place(&own.value).1)
}

fn add_to_own(staged: &mut StagedEdits<'_>, sources: &[Source], missing: &[String]) -> Result<(), BootError> {
    let variable = if has_init(sources, ALWAYS) { ALWAYS } else { USUAL };
    let first = has_init(sources, variable);
    let words = missing.join(" ");
    let mut text = staged.text(OWN)?.unwrap_or_else(|| HEAD.to_owned());
    let reference = format!("${variable}");
    let script = shell::parse(&text);
    let own =
        script.assignments.iter().rev().find(|own| own.name == variable && own.value.contains(&reference));
    let edits = own.and_then(|own| {
        let edit = match first {
            true => Edit { range: 0..0, text: format!("{words} ") },
            false => Edit { range: own.value.len()..own.value.len(), text: format!(" {words}") },
        };
        own.in_file(&[edit])
    });
    match (edits, first) {
        (Some(edits), _) => text = edited(&text, &edits),
        (None, true) => text.push_str(&format!("{variable}=\"{words} {reference}\"\n")),
        (None, false) => text.push_str(&format!("{variable}=\"{reference} {words}\"\n")),
    }
    Ok(staged.write(OWN, text)?)
}

fn add_to_defaults(
    staged: &mut StagedEdits<'_>,
    sources: &[Source],
    missing: &[String],
    wanted: &[Parameter],
) -> Result<(), BootError> {
    let Some(source) = sources.first() else {
        let text = format!("{HEAD}{USUAL}=\"{}\"\n", missing.join(" "));
        return Ok(staged.write(FILE, text)?);
    };
    let live = Source::live(sources);
    let sure = |name: &str| {
        let own = live.iter().rev().map(|&(_, at)| &source.assignments[at]);
        own.filter(|own| !own.conditional).find(|own| own.name == name)
    };
    let order = if has_init(sources, ALWAYS) { [ALWAYS, USUAL] } else { [USUAL, ALWAYS] };
    let text = match order.into_iter().find_map(sure) {
        Some(own) => {
            let mut changes = line::Changes { edits: Vec::new(), missing: missing.to_vec() };
            changes.add_to(&own.value);
            let edits = own.in_file(&changes.edits).ok_or_else(|| {
                not_plain(&source.path, wanted, "its value consists of several quoted pieces")
            })?;
            edited(&source.text, &edits)
        }
        None => {
            let newline = if source.text.is_empty() || source.text.ends_with('\n') { "" } else { "\n" };
            format!("{}{newline}{USUAL}=\"{}\"\n", source.text, missing.join(" "))
        }
    };
    Ok(staged.write(FILE, text)?)
}

/// Our file goes when it has no other content.
fn drop_empty(staged: &mut StagedEdits<'_>) -> Result<(), BootError> {
    let Some(text) = staged.text(OWN)? else { return Ok(()) };
    let script = shell::parse(&text);
    let differs_from_default = |own: &Assignment| own.value.trim() != format!("${}", own.name);
    if text.starts_with(HEAD) && script.whole && !script.assignments.iter().any(differs_from_default) {
        staged.remove(OWN)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_replaced_does_not_count() {
        let source = |text: &str| Source {
            path: String::new(),
            text: text.to_owned(),
            assignments: shell::parse(text).assignments,
        };
        let sources = [
            source("GRUB_CMDLINE_LINUX_DEFAULT=a\nX=b\nGRUB_CMDLINE_LINUX=$X\nGRUB_CMDLINE_LINUX_DEFAULT=c"),
            source("Y=d\nGRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT e\""),
        ];
        assert_eq!(Source::live(&sources), [(0, 1), (0, 2), (0, 3), (1, 1)]);
    }
}
