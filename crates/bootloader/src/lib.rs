//! The boot loader's configuration and other files that decide how a machine boots: read, and edited so that every
//! other byte stays as it is. Nothing is written here: edits are staged, and the caller makes them.
//!
//! ```text
//! parameters.rs  kernel parameters of the next boot: configured, and the edits that change them
//!   detect.rs      the boot loader: what the firmware's variables show, then which files there are
//!   grub.rs        grub.cfg, made by a command of what grub/defaults.rs edits; grubenv
//!   entries.rs     Boot Loader Specification entries: systemd-boot, and GRUB with blscfg
//!   extlinux.rs    U-Boot's extlinux.conf
//!   firmware.rs    Raspberry Pi's cmdline.txt
//!   line.rs        a command line
//! variable.rs    variables of configuration files, and whether systemd starts a unit at boot
//!   shell.rs       NAME=value in the quotes of the shell
//!   ini.rs         key=value under [section]
//! staged.rs      edits so far: a later edit sees the earlier ones
//! files.rs       what is at a path, as the caller reads it
//! ```
//!
//! docs/boot-settings.md is the page for users.

mod detect;
mod edit;
mod entries;
mod error;
mod extlinux;
mod files;
mod firmware;
mod grub;
mod ini;
mod limits;
mod line;
mod loader;
mod parameters;
mod path;
mod reading;
mod shell;
mod staged;
mod systemd;
mod variable;

pub use error::BootError;
pub use files::{FileEntry, FileError, FileState, Files, LONGEST_FILE};
pub use line::Parameter;
pub use loader::Loader;
pub use parameters::{configured, edits, loader, value};
pub use path::parent;
pub use staged::{FileChange, StageError, StagedEdit, StagedEdits};
pub use systemd::{RUNNING, UNIT_DIRECTORIES, runs_systemd, unit_file};
pub use variable::{
    ConfigurationChange, ConfigurationSubject, VariableError, edits as variable_edits, variable,
};

/// The example of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
