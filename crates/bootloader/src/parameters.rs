//! Kernel parameters of the next boot: what they are, and the edits that change them.

use crate::error::BootError;
use crate::files::Files;
use crate::line::{self, Parameter};
use crate::loader::Loader;
use crate::staged::{StagedEdit, StagedEdits};
use crate::{detect, entries, extlinux, firmware, grub};
use whylate_host::{Cmdline, FsRoot, Reading, Unread, Why};

/// The boot loader that starts this machine.
///
/// # Errors
/// If none is found, if several are possible, or if it is one whose command line is not in a file.
pub fn loader(tree: &FsRoot) -> Result<Loader, BootError> {
    detect::loader(tree)
}

/// The kernel parameters the next boot will have, of the entry that starts unless another is chosen, with the file
/// they are in. What another program has changed since that file was made is not in there, nor will it be at the
/// next boot.
pub fn configured(tree: &FsRoot) -> Reading<Cmdline> {
    let line = loader(tree).and_then(|loader| match &loader {
        Loader::Grub { cfg, entries: None } => grub::configured(tree, cfg),
        Loader::Grub { cfg, entries: Some(entries) } => {
            entries::configured(tree, std::slice::from_ref(entries), &grub::variables(tree, cfg)?)
        }
        Loader::Entries { directories } => entries::configured(tree, directories, &[]),
        Loader::Firmware { path } => firmware::configured(tree, path),
        Loader::Extlinux { path } => extlinux::configured(tree, path),
    });
    match line {
        // The kernel's own file ends in a newline, and has one where there are no parameters.
        Ok((path, line)) => Reading::new(path, Ok(format!("{line}\n"))).parsed(),
        Err(BootError::Unread(Unread { path, why })) => Reading::new(path, Err(why)),
        Err(BootError::NotFound) => Reading::new("/boot", Err(Why::Missing)),
        Err(error) => Reading::new("/boot", Err(Why::Io { error: error.to_string() })),
    }
}

/// The value a parameter has, as a plan shows it: of one that may be there several times (`console`), the wanted one
/// if it is among them, else the last. Where several values of any other are given, all of them, so that the plan
/// shows what is there and leaves one. `None`: it is not given.
pub fn value(cmdline: &Cmdline, name: &str, wanted: Option<&str>) -> Option<String> {
    let mut all: Vec<&str> = cmdline.all(name).collect();
    if line::adds_up(name) && wanted.is_some_and(|wanted| all.contains(&wanted)) {
        return wanted.map(str::to_owned);
    }
    if line::adds_up(name) {
        return all.last().map(|&last| last.to_owned());
    }
    all.dedup();
    match all.is_empty() {
        true => None,
        false => Some(all.join(&format!(" {name}="))),
    }
}

/// The edits that give the next boot these kernel parameters. Files are edited word by word; a parameter that is set to
/// another value is changed where it is set, a new one goes to a file of our own where the loader reads one.
///
/// # Errors
/// If the boot loader that starts this machine is not known, or one of its files cannot be read or changed. Nothing
/// has been written then.
pub fn edits(wanted: &[Parameter], files: &dyn Files) -> Result<Vec<StagedEdit>, BootError> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(refused) = wanted.iter().find(|want| !want.is_writable()) {
        return Err(BootError::Unwritable {
            name: refused.name.clone(),
            value: refused.value.clone().unwrap_or_default(),
            why: "a name is one word without `=`, and neither holds double quotes or control characters",
        });
    }
    let tree = files.tree();
    let mut staged = StagedEdits::new(files);
    match loader(&tree)? {
        Loader::Grub { cfg, entries: None } => grub::plain(&mut staged, &tree, files, &cfg, wanted)?,
        Loader::Grub { cfg, entries: Some(entries) } => {
            grub::with_entries(&mut staged, &tree, &cfg, &entries, wanted)?;
        }
        Loader::Entries { directories } => entries::change(&mut staged, &tree, &directories, wanted, false)?,
        Loader::Firmware { path } => firmware::change(&mut staged, &path, wanted)?,
        Loader::Extlinux { path } => extlinux::change(&mut staged, &path, wanted)?,
    }
    Ok(staged.into_edits())
}
