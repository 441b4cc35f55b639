//! U-Boot's and syslinux's menu: `append` lines under labels. Debian's u-boot-update(8) makes the file anew for
//! each kernel from U_BOOT_PARAMETERS in /etc/default/u-boot, or, where that is not set, from /etc/kernel/cmdline.

use crate::edit::{Edit, edited};
use crate::entries;
use crate::error::BootError;
use crate::line::{self, Parameter};
use crate::reading::{closed, need};
use crate::shell;
use crate::staged::StagedEdits;
use whylate_host::FsRoot;

/// What u-boot-update reads.
const DEFAULTS: &str = "/etc/default/u-boot";
const VARIABLE: &str = "U_BOOT_PARAMETERS";

/// A word of the command line by which an entry is one to repair the machine with; such are left as they are.
const REPAIR: [&str; 4] = ["single", "emergency", "rescue", "recovery"];

/// An `append` line.
struct Append<'a> {
    label: String,
    /// Where its parameters begin in the file.
    at: usize,
    line: &'a str,
}

impl Append<'_> {
    fn repairs(&self) -> bool {
        line::words(self.line).iter().any(|word| REPAIR.contains(&word.name()))
    }
}

/// A keyword in any case, and what follows it.
fn keyword(line: &str) -> Option<(String, &str)> {
    let (word, rest) = line.trim_start().split_once([' ', '\t'])?;
    Some((word.to_ascii_lowercase(), rest.trim_start()))
}

fn appends(text: &str) -> Vec<Append<'_>> {
    let (mut found, mut label, mut start) = (Vec::new(), String::new(), 0);
    for whole in text.split_inclusive('\n') {
        let line = whole.trim_end_matches(['\n', '\r']);
        match keyword(line) {
            Some((word, rest)) if word == "label" => label = rest.trim_end().to_owned(),
            Some((word, rest)) if word == "append" => {
                let at = start + (line.len() - rest.len());
                found.push(Append { label: label.clone(), at, line: rest });
            }
            _ => {}
        }
        start += whole.len();
    }
    found
}

/// The line of the entry that starts unless another is chosen.
pub(crate) fn configured(tree: &FsRoot, path: &str) -> Result<(String, String), BootError> {
    let text = need(tree, path)?;
    let default = text.lines().filter_map(keyword).find(|(word, _)| word == "default");
    let appends = appends(&text);
    let chosen = default.and_then(|(_, label)| appends.iter().find(|own| own.label == label.trim_end()));
    let line = chosen.or(appends.first()).map(|own| own.line.to_owned()).unwrap_or_default();
    Ok((path.to_owned(), line))
}

pub(crate) fn change(
    staged: &mut StagedEdits<'_>,
    path: &str,
    wanted: &[Parameter],
) -> Result<(), BootError> {
    let text = staged.text(path)?.unwrap_or_default();
    let not_plain = |why| BootError::NotPlain {
        path: path.to_owned(),
        name: wanted.iter().map(|want| want.name.as_str()).collect::<Vec<_>>().join(", "),
        why,
    };
    let appends = appends(&text);
    let normal: Vec<&Append<'_>> = appends.iter().filter(|own| !own.repairs()).collect();
    let first = normal.first().ok_or_else(|| not_plain("it has no entry with an `append` line"))?.line;
    let mut edits = Vec::new();
    for own in &normal {
        closed(path, own.line, wanted)?;
        let range = own.at..own.at + own.line.len();
        edits.push(Edit { range, text: line::merged(own.line, wanted) });
    }
    staged.write(path, edited(&text, &edits))?;
    match staged.text(DEFAULTS)? {
        Some(defaults) => of_defaults(staged, &defaults, first, wanted),
        None => entries::for_new_kernels(staged, wanted),
    }
}

/// The parameters of kernels to come.
fn of_defaults(
    staged: &mut StagedEdits<'_>,
    defaults: &str,
    first: &str,
    wanted: &[Parameter],
) -> Result<(), BootError> {
    let not_plain = || BootError::NotPlain {
        path: DEFAULTS.to_owned(),
        name: VARIABLE.to_owned(),
        why: "its syntax is not supported",
    };
    let script = shell::parse(defaults);
    if !script.whole {
        return Err(not_plain());
    }
    let own = script.assignments.iter().rev().find(|own| own.name == VARIABLE);
    let text = match own {
        Some(own) => {
            let mut changes = line::changes(&own.value, wanted);
            changes.add_to(&own.value);
            let edits = own.in_file(&changes.edits).ok_or_else(not_plain)?;
            edited(defaults, &edits)
        }
        None if staged.exists(entries::FOR_NEW)? => return entries::for_new_kernels(staged, wanted),
        None => {
            // What u-boot-update put behind the root file system is what it takes for the parameters.
            let root = Parameter { name: "root".to_owned(), value: None };
            let line = line::merged(&line::merged(first, &[root]), wanted);
            let newline = if defaults.is_empty() || defaults.ends_with('\n') { "" } else { "\n" };
            format!("{defaults}{newline}{VARIABLE}={}\n", shell::quoted(&line))
        }
    };
    Ok(staged.write(DEFAULTS, text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MENU: &str = "default l1\nmenu title x\n\nlabel l0\n\tlinux /a\n\tappend root=/dev/a ro quiet\n\n\
                        LABEL l1\n  LINUX /b\n  APPEND ${cbootargs} root=/dev/b x=\"1 2\"\nlabel l1r\n\tappend root=/dev/b single\n";

    #[test]
    fn the_default_entry_counts() {
        let path = "/boot/extlinux/extlinux.conf";
        let tree = FsRoot::memory(&[(path, MENU)]);
        let (_, line) = configured(&tree, path).expect("a menu");
        assert_eq!(line, "${cbootargs} root=/dev/b x=\"1 2\"");
        let labels: Vec<_> = appends(MENU).iter().map(|own| (own.label.clone(), own.repairs())).collect();
        assert_eq!(labels, [("l0".into(), false), ("l1".into(), false), ("l1r".into(), true)]);
        for own in appends(MENU) {
            assert!(MENU[own.at..].starts_with(own.line));
        }
    }
}
