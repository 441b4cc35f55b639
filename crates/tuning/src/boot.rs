//! Kernel parameters for the next boot: which boot loader starts this machine, what it will pass to the kernel, and
//! the edits that change that. docs/boot-settings.md is the page for users.
//!
//! ```text
//! detect.rs    which loader: what the firmware's variables say, then which files there are
//! line.rs      a command line changed without losing anything
//! grub.rs      grub.cfg made anew; grubenv; grub/defaults.rs: /etc/default/grub, our own drop-in
//! entries.rs   Boot Loader Specification entries: systemd-boot, and GRUB with blscfg
//! extlinux.rs  U-Boot's extlinux.conf
//! firmware.rs  Raspberry Pi's cmdline.txt
//! ```

mod detect;
mod entries;
mod extlinux;
mod firmware;
mod grub;
pub(crate) mod line;

use crate::draft::{Draft, DraftError};
use crate::{Change, Setting, Step, System};
use line::Wanted;
use std::fmt;
use whylate_host::{Cmdline, Reading, Tree, Unread, Why};

/// What starts the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loader {
    /// GRUB 2.
    Grub {
        /// The file it reads, made by grub-mkconfig.
        cfg: String,
        /// The directory of Boot Loader Specification entries, where `blscfg` in that file reads them.
        entries: Option<String>,
    },
    /// systemd-boot, or another loader of Boot Loader Specification entries.
    Entries {
        /// The directories with entries.
        directories: Vec<String>,
    },
    /// The firmware of a Raspberry Pi.
    Firmware {
        /// The file with the one line.
        path: String,
    },
    /// U-Boot or syslinux with a menu file.
    Extlinux {
        /// The menu file.
        path: String,
    },
}

impl fmt::Display for Loader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Loader::Grub { cfg, entries: None } => write!(f, "GRUB ({cfg})"),
            Loader::Grub { entries: Some(entries), .. } => write!(f, "GRUB (entries in {entries})"),
            Loader::Entries { directories } => {
                write!(f, "systemd-boot (entries in {})", directories.join(", "))
            }
            Loader::Firmware { path } => write!(f, "Raspberry Pi firmware ({path})"),
            Loader::Extlinux { path } => write!(f, "extlinux ({path})"),
        }
    }
}

/// Why the parameters of the next boot cannot be told, or not be changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BootError {
    /// No boot loader was found that is known here.
    #[error(
        "found no boot loader that is known here (GRUB, systemd-boot, extlinux, Raspberry Pi firmware): add the \
         parameters by hand where your loader has its kernel command line"
    )]
    NotFound,
    /// Several, and nothing says which one starts this machine.
    #[error(
        "found {found}, and nothing says which of them starts this machine: remove what is left of the other"
    )]
    Ambiguous {
        /// What was found.
        found: String,
    },
    /// The command line is inside a signed image.
    #[error(
        "this machine starts a unified kernel image ({evidence}): its command line is built in, and usually signed; \
         put the parameters into /etc/kernel/cmdline and build the image anew (kernel-install add, ukify)"
    )]
    Unified {
        /// How that is known.
        evidence: String,
    },
    /// Something else writes the loader's files.
    #[error("{by} writes the boot loader's files of this machine, and would undo an edit: {instead}")]
    Managed {
        /// Who.
        by: &'static str,
        /// What to do.
        instead: &'static str,
    },
    /// A parameter is passed by TuneD.
    #[error(
        "TuneD passes {name} with another value ({path}): the kernel would get both; `tuned-adm off`, and plan again"
    )]
    Tuned {
        /// The parameter.
        name: String,
        /// Where it is.
        path: String,
    },
    /// A file is written in a way that is not understood.
    #[error("cannot change {path}: {why}; change {name} there by hand")]
    NotPlain {
        /// The file.
        path: String,
        /// What is to be changed.
        name: String,
        /// What is not understood.
        why: &'static str,
    },
    /// A parameter nobody can write.
    #[error("cannot pass the kernel parameter {name:?} with the value {value:?}: {why}")]
    Unwritable {
        /// Its name.
        name: String,
        /// Its value.
        value: String,
        /// Why not.
        why: &'static str,
    },
    /// The command that makes the loader's file is not there.
    #[error("cannot make {cfg} anew: neither update-grub nor grub-mkconfig nor grub2-mkconfig is installed")]
    NoCommand {
        /// GRUB's file.
        cfg: String,
    },
    /// GRUB's environment has a fixed size.
    #[error("cannot add to {path}: a GRUB environment block holds 1024 bytes, and it would have more")]
    Full {
        /// The file.
        path: String,
    },
    /// A file could not be read.
    #[error("cannot read {}: {}", .0.path, .0.why)]
    Unread(Unread),
    /// A file could not be read or cannot be changed.
    #[error(transparent)]
    Draft(#[from] DraftError),
}

/// The boot loader that starts this machine.
///
/// # Errors
/// If none is found, if it cannot be told which of several, or if it is one whose command line is not in a file.
pub fn loader(tree: &Tree) -> Result<Loader, BootError> {
    detect::loader(tree)
}

/// The kernel parameters the next boot will have, of the entry that starts unless another is chosen, with the file
/// they are in. What another program has changed since that file was made is not in there, nor will it be at the
/// next boot.
pub fn configured(tree: &Tree) -> Reading<Cmdline> {
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

/// The value a parameter has, as a plan says it: of one that may be there several times (`console`), the wanted one
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

/// The steps that make the next boot have the kernel parameters of these changes; changes of other settings are
/// passed over. Files are edited word by word; what somebody else set to another value is changed where it is set,
/// what is new goes to a file of our own where the loader has a place for that.
///
/// # Errors
/// If it cannot be told what starts this machine, or one of its files cannot be read or not be changed. Nothing has
/// been written then.
pub fn steps(changes: &[&Change], system: &dyn System) -> Result<Vec<Step>, BootError> {
    let (wanted, settings) = wanted(changes)?;
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let tree = system.tree();
    let mut draft = Draft::new(system);
    match loader(&tree)? {
        Loader::Grub { cfg, entries: None } => grub::plain(&mut draft, &tree, system, &cfg, &wanted)?,
        Loader::Grub { cfg, entries: Some(entries) } => {
            grub::with_entries(&mut draft, &tree, &cfg, &entries, &wanted)?;
        }
        Loader::Entries { directories } => entries::change(&mut draft, &tree, &directories, &wanted, false)?,
        Loader::Firmware { path } => firmware::change(&mut draft, &path, &wanted)?,
        Loader::Extlinux { path } => extlinux::change(&mut draft, &path, &wanted)?,
    }
    draft.label(0, &settings, None);
    Ok(draft.into_steps())
}

fn wanted(changes: &[&Change]) -> Result<(Vec<Wanted>, Vec<String>), BootError> {
    let (mut wanted, mut settings) = (Vec::new(), Vec::new());
    for change in changes {
        let Setting::Parameter { name } = &change.setting else { continue };
        let want = Wanted { name: name.clone(), value: change.then.clone() };
        if !want.is_writable() {
            return Err(BootError::Unwritable {
                name: name.clone(),
                value: change.then.clone().unwrap_or_default(),
                why: "a name is one word without `=`, and neither holds double quotes or control characters",
            });
        }
        wanted.push(want);
        settings.push(change.setting.to_string());
    }
    Ok((wanted, settings))
}

/// A file's text; `None`: there is none, or nobody knows of one.
fn optional(tree: &Tree, path: &str) -> Result<Option<String>, BootError> {
    match tree.text(path).value {
        Ok(text) => Ok(Some(text)),
        Err(Why::Missing | Why::NotCollected | Why::NotMounted { .. }) => Ok(None),
        Err(why) => Err(BootError::Unread(Unread { path: path.to_owned(), why })),
    }
}

fn need(tree: &Tree, path: &str) -> Result<String, BootError> {
    tree.text(path).need().cloned().map_err(BootError::Unread)
}

/// The names in a directory; none where there is none.
fn names(tree: &Tree, path: &str) -> Result<Vec<String>, BootError> {
    match tree.list(path).value {
        Ok(names) => Ok(names),
        Err(Why::Missing | Why::NotCollected | Why::NotMounted { .. }) => Ok(Vec::new()),
        Err(why) => Err(BootError::Unread(Unread { path: path.to_owned(), why })),
    }
}

/// An odd double quote makes one word of the rest of a line.
fn closed(path: &str, line: &str, wanted: &[Wanted]) -> Result<(), BootError> {
    match line.matches('"').count() % 2 {
        0 => Ok(()),
        _ => Err(BootError::NotPlain {
            path: path.to_owned(),
            name: wanted.iter().map(|want| want.name.as_str()).collect::<Vec<_>>().join(", "),
            why: "a double quote on its kernel command line is not closed",
        }),
    }
}
