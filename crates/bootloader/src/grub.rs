//! GRUB 2: its menu, grub.cfg, which is made by a command of what `defaults` changes; and its environment.

mod defaults;

use crate::entries;
use crate::error::BootError;
use crate::files::Files;
use crate::line::{self, Parameter};
use crate::reading::{closed, need, optional};
use crate::staged::StagedEdits;
use whylate_host::FsRoot;

/// A GRUB environment block (grub-editenv(1)).
const BLOCK: usize = 1024;

/// The first command line in grub.cfg: all usual entries have the same.
pub(crate) fn configured(tree: &FsRoot, cfg: &str) -> Result<(String, String), BootError> {
    let text = need(tree, cfg)?;
    let variables = set_in(&text);
    let line = text.lines().find_map(kernel_line).unwrap_or_default();
    Ok((cfg.to_owned(), plain_words(&entries::expanded(line, &variables))))
}

/// What follows the kernel's path on a line that loads one.
fn kernel_line(line: &str) -> Option<&str> {
    let mut words = line.trim_start().splitn(2, [' ', '\t']);
    matches!(words.next()?, "linux" | "linux16" | "linuxefi").then_some(())?;
    let rest = words.next()?.trim_start();
    Some(rest.split_once([' ', '\t']).map(|(_, rest)| rest).unwrap_or_default())
}

/// As GRUB passes words: single quotes and backslashes are its own, double quotes are kept for the kernel.
fn plain_words(line: &str) -> String {
    let (mut made, mut single, mut chars) = (String::new(), false, line.chars());
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                single = !single;
                made.push('"');
            }
            '\\' if !single => made.extend(chars.next()),
            c => made.push(c),
        }
    }
    made
}

/// `set NAME="value"`.
fn set_in(text: &str) -> Vec<(String, String)> {
    let sets = text.lines().filter_map(|line| line.trim().strip_prefix("set "));
    let pairs = sets.filter_map(|set| set.trim_start().split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.trim_matches(['"', '\'']).to_owned())).collect()
}

fn environment_path(cfg: &str) -> String {
    format!("{}/grubenv", crate::path::parent(cfg))
}

/// GRUB's variables: those set in grub.cfg, and those of its environment, which is read later.
pub(crate) fn variables(tree: &FsRoot, cfg: &str) -> Result<Vec<(String, String)>, BootError> {
    let mut variables = set_in(&need(tree, cfg)?);
    let environment = optional(tree, &environment_path(cfg))?.unwrap_or_default();
    let lines = environment.lines().filter(|line| !line.starts_with('#'));
    variables.extend(
        lines.filter_map(|line| line.split_once('=')).map(|(a, b)| (a.to_owned(), b.replace("\\\\", "\\"))),
    );
    Ok(variables)
}

/// TuneD passes parameters through a variable that it writes itself.
fn without_tuned(tree: &FsRoot, cfg: &str, wanted: &[Parameter]) -> Result<(), BootError> {
    for (_, line) in variables(tree, cfg)?.iter().filter(|(name, _)| name == "tuned_params") {
        for want in wanted {
            let there = line::words(line).iter().any(|word| line::same_name(word.name(), &want.name));
            if there && !line::holds(line, std::slice::from_ref(want)) {
                return Err(BootError::Tuned { name: want.name.clone(), path: cfg.to_owned() });
            }
        }
    }
    Ok(())
}

/// GRUB with menu entries in grub.cfg.
pub(crate) fn plain(
    staged: &mut StagedEdits<'_>,
    tree: &FsRoot,
    files: &dyn Files,
    cfg: &str,
    wanted: &[Parameter],
) -> Result<(), BootError> {
    without_tuned(tree, cfg, wanted)?;
    defaults::change(staged, tree, wanted)?;
    if staged.mark() == 0 && line::holds(&configured(tree, cfg)?.1, wanted) {
        return Ok(());
    }
    // No command runs in a directory's root; that it has one shows which command has to be run there.
    let has = |name: &str| -> Result<bool, BootError> {
        let there = |place: &str| optional(tree, &format!("{place}/{name}"));
        Ok(files.has_command(name) || there("/usr/sbin")?.is_some() || there("/usr/bin")?.is_some())
    };
    let command = if cfg == "/boot/grub/grub.cfg" && has("update-grub")? {
        vec!["update-grub".to_owned()]
    } else {
        let name = match (has("grub-mkconfig")?, has("grub2-mkconfig")?) {
            (true, _) => "grub-mkconfig",
            (false, true) => "grub2-mkconfig",
            (false, false) => return Err(BootError::NoCommand { cfg: cfg.to_owned() }),
        };
        vec![name.to_owned(), "-o".to_owned(), cfg.to_owned()]
    };
    let path = staged.resolved(cfg)?;
    staged.regenerate(path, command);
    Ok(())
}

/// GRUB that reads entries: those are changed, what they take from the environment, and what new ones are made of.
pub(crate) fn with_entries(
    staged: &mut StagedEdits<'_>,
    tree: &FsRoot,
    cfg: &str,
    directory: &str,
    wanted: &[Parameter],
) -> Result<(), BootError> {
    without_tuned(tree, cfg, wanted)?;
    let directories = [directory.to_owned()];
    let by_variable =
        entries::any_takes_kernelopts(tree, &directories)? && change_environment(staged, cfg, wanted)?;
    entries::change(staged, tree, &directories, wanted, by_variable)?;
    match optional(tree, defaults::FILE)? {
        Some(_) => defaults::change(staged, tree, wanted),
        None => Ok(()),
    }
}

/// Changes `kernelopts` in the environment; false where it is not there.
fn change_environment(
    staged: &mut StagedEdits<'_>,
    cfg: &str,
    wanted: &[Parameter],
) -> Result<bool, BootError> {
    let path = environment_path(cfg);
    let Some(text) = staged.text(&path)? else { return Ok(false) };
    let Some(start) = text.find("\nkernelopts=").map(|at| at + "\nkernelopts=".len()) else {
        return Ok(false);
    };
    let end = text[start..].find('\n').map_or(text.len(), |end| start + end);
    let line = text[start..end].replace("\\\\", "\\");
    closed(&path, &line, wanted)?;
    let merged = line::merged(&line, wanted).replace('\\', "\\\\");
    let rest = text[end..].trim_end_matches('#');
    let mut made = format!("{}{merged}{rest}", &text[..start]);
    if made.len() > BLOCK {
        return Err(BootError::Full { path });
    }
    made.push_str(&"#".repeat(BLOCK - made.len()));
    staged.write(&path, made)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_of_a_menu() {
        for (line, parameters) in [
            ("\tlinux\t/boot/vmlinuz-6.1 root=UUID=x ro  quiet", Some("root=UUID=x ro  quiet")),
            ("linuxefi ($root)/vmlinuz ro", Some("ro")),
            ("linux /vmlinuz", Some("")),
            ("initrd /x y", None),
            ("# linux /vmlinuz ro", None),
        ] {
            assert_eq!(kernel_line(line), parameters, "{line}");
        }
        assert_eq!(plain_words("a='b c' d\\;e \"f\""), "a=\"b c\" d;e \"f\"");
    }
}
