//! Entries of the Boot Loader Specification: a file for each kernel, with its command line behind `options`. GRUB
//! expands variables in it (`$kernelopts`, `$tuned_params`). kernel-install(8) writes those of new kernels, with
//! the command line in /etc/kernel/cmdline, or where there is none, that of the running kernel.

use crate::detect;
use crate::edit::{Edit, edited};
use crate::error::BootError;
use crate::line::{self, Parameter};
use crate::reading::{closed, names, need, optional};
use crate::staged::StagedEdits;
use whylate_base::natural;
use whylate_host::FsRoot;

/// The command line of kernels to come.
pub(crate) const FOR_NEW: &str = "/etc/kernel/cmdline";

/// The `options` of an entry: where each line's begin, and what they are.
fn options(text: &str) -> Vec<(usize, &str)> {
    let mut start = 0;
    let mut found = Vec::new();
    for whole in text.split_inclusive('\n') {
        if let Some(value) = key(whole, "options") {
            found.push((start + (whole.trim_end_matches(['\n', '\r']).len() - value.len()), value));
        }
        start += whole.len();
    }
    found
}

/// What follows a key.
fn key<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let rest = line.trim_end_matches(['\n', '\r']).trim_start().strip_prefix(name)?;
    match rest.chars().next() {
        None => Some(rest),
        Some(' ' | '\t') => Some(rest.trim_start()),
        Some(_) => None,
    }
}

/// Whether an entry starts a kernel, and in earnest: one to repair the machine with is left as it is, so that there
/// is a way back.
fn is_usual(path: &str, text: &str) -> bool {
    text.lines().any(|line| key(line, "linux").is_some()) && !path.contains("rescue")
}

/// The usual entries, by path.
fn entries(tree: &FsRoot, directories: &[String]) -> Result<Vec<(String, String)>, BootError> {
    let mut found = Vec::new();
    for directory in directories {
        for name in names(tree, directory)?.into_iter().filter(|name| name.ends_with(".conf")) {
            let path = format!("{directory}/{name}");
            let text = need(tree, &path)?;
            if is_usual(&path, &text) {
                found.push((path, text));
            }
        }
    }
    Ok(found)
}

/// The command line of the entry that starts unless another is chosen: what the loader's configuration names, or
/// else the highest version.
pub(crate) fn configured(
    tree: &FsRoot,
    directories: &[String],
    variables: &[(String, String)],
) -> Result<(String, String), BootError> {
    let entries = entries(tree, directories)?;
    let named = match variables.iter().find(|(name, _)| name == "saved_entry") {
        Some((_, saved)) => Some(saved.clone()),
        None => default_entry(tree)?,
    };
    let by_name = named.and_then(|named| {
        entries.iter().find(|(path, _)| file_name(path) == named.trim_end_matches(".conf"))
    });
    let newest = || entries.iter().max_by(|a, b| natural(file_name(&a.0), file_name(&b.0)));
    let (path, text) = by_name.or_else(newest).ok_or(BootError::NotFound)?;
    let line = options(text).iter().map(|(_, line)| *line).collect::<Vec<_>>().join(" ");
    Ok((path.clone(), expanded(&line, variables)))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path).trim_end_matches(".conf")
}

fn default_entry(tree: &FsRoot) -> Result<Option<String>, BootError> {
    for partition in detect::PARTITIONS {
        let Some(text) = optional(tree, &format!("{partition}/loader/loader.conf"))? else { continue };
        if let Some(named) = text.lines().find_map(|line| key(line, "default")) {
            return Ok(Some(named.trim_end().to_owned()));
        }
    }
    Ok(None)
}

/// A line with `$NAME` and `${NAME}` replaced by what is known of them; of others nothing is left.
pub(crate) fn expanded(line: &str, variables: &[(String, String)]) -> String {
    let mut made = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('$') {
        made.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let (name, after) = match rest.strip_prefix('{') {
            Some(inner) => inner.split_once('}').unwrap_or((inner, "")),
            None => {
                let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
                rest.split_at(end)
            }
        };
        let value = variables.iter().rev().find(|(own, _)| own == name);
        made.push_str(value.map(|(_, value)| value.as_str()).unwrap_or_default());
        rest = after;
    }
    made + rest
}

/// Changes every usual entry, and what new ones are made from. With `by_variable`, an entry with `$kernelopts` is
/// given nothing new: that variable was.
pub(crate) fn change(
    staged: &mut StagedEdits<'_>,
    tree: &FsRoot,
    directories: &[String],
    wanted: &[Parameter],
    by_variable: bool,
) -> Result<(), BootError> {
    for (path, _) in entries(tree, directories)? {
        let Some(text) = staged.text(&path)? else { continue };
        let options = options(&text);
        let lines: Vec<&str> = options.iter().map(|(_, line)| *line).collect();
        lines.iter().try_for_each(|line| closed(&path, line, wanted))?;
        let merged = match by_variable && lines.iter().any(|line| takes_kernelopts(line)) {
            true => lines.iter().map(|line| edited(line, &line::changes(line, wanted).edits)).collect(),
            false => line::merged_lines(&lines, wanted),
        };
        let replaced = options.iter().zip(merged);
        let edits: Vec<Edit> =
            replaced.map(|((at, line), text)| Edit { range: *at..at + line.len(), text }).collect();
        let mut text = edited(&text, &edits);
        let line = line::merged("", wanted);
        if options.is_empty() && !line.is_empty() {
            let newline = if text.ends_with('\n') { "" } else { "\n" };
            text.push_str(&format!("{newline}options {line}\n"));
        }
        staged.write(&path, text)?;
    }
    for_new_kernels(staged, wanted)
}

/// Whether an entry takes its command line from GRUB's environment (RHEL 8).
pub(crate) fn takes_kernelopts(line: &str) -> bool {
    line::words(line).iter().any(|word| matches!(word.name(), "$kernelopts" | "${kernelopts}"))
}

/// Whether any entry does.
pub(crate) fn any_takes_kernelopts(tree: &FsRoot, directories: &[String]) -> Result<bool, BootError> {
    let entries = entries(tree, directories)?;
    Ok(entries.iter().any(|(_, text)| options(text).iter().any(|(_, line)| takes_kernelopts(line))))
}

/// Changes /etc/kernel/cmdline, where there is one. It may have several lines, and comments.
pub(crate) fn for_new_kernels(staged: &mut StagedEdits<'_>, wanted: &[Parameter]) -> Result<(), BootError> {
    let Some(text) = staged.text(FOR_NEW)? else { return Ok(()) };
    let mut start = 0;
    let mut lines = Vec::new();
    for whole in text.split_inclusive('\n') {
        let line = whole.trim_end_matches(['\n', '\r']);
        if !line.trim_start().starts_with('#') && !line.trim().is_empty() {
            closed(FOR_NEW, line, wanted)?;
            lines.push((start, line));
        }
        start += whole.len();
    }
    let only: Vec<&str> = lines.iter().map(|(_, line)| *line).collect();
    let edits: Vec<Edit> = lines
        .iter()
        .zip(line::merged_lines(&only, wanted))
        .map(|((at, line), text)| Edit { range: *at..at + line.len(), text })
        .collect();
    Ok(staged.write(FOR_NEW, edited(&text, &edits))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_expanded() {
        let variables = [("a".to_owned(), "1 2".to_owned())];
        for (line, made) in
            [("$a b", "1 2 b"), ("x${a}y", "x1 2y"), ("$b c", " c"), ("c$", "c"), ("${a", "1 2")]
        {
            assert_eq!(expanded(line, &variables), made, "{line}");
        }
    }

    #[test]
    fn the_entry_that_starts() {
        let dir = "/boot/loader/entries";
        let old = (format!("{dir}/m-6.9.0.conf"), "title x\nlinux /a\noptions root=1\noptions old");
        let new = (format!("{dir}/m-6.10.0.conf"), "linux /b\noptions root=1 new\n");
        let rescue = (format!("{dir}/m-9-rescue.conf"), "linux /b\noptions rescue\n");
        let other = (format!("{dir}/z.conf"), "efi /shell.efi\n");
        let all = [old, new, rescue, other];
        let mut files: Vec<(&str, &str)> = all.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let line = |files: &[(&str, &str)], saved: &[(String, String)]| {
            configured(&FsRoot::memory(files), &[dir.to_owned()], saved).expect("entries").1
        };
        assert_eq!(line(&files, &[]), "root=1 new");
        assert_eq!(line(&files, &[("saved_entry".to_owned(), "m-6.9.0".to_owned())]), "root=1 old");
        files.push(("/boot/loader/loader.conf", "timeout 3\ndefault m-6.9.0.conf\n"));
        assert_eq!(line(&files, &[]), "root=1 old");
    }
}
