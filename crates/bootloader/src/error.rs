//! Why kernel parameters cannot be determined or changed.

use crate::staged::StageError;
use whylate_host::Unread;

/// Why the parameters of the next boot cannot be determined, or not be changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BootError {
    /// No boot loader was found that is known here.
    #[error(
        "found no supported boot loader (GRUB, systemd-boot, extlinux, Raspberry Pi firmware): set the parameters by hand in your loader's kernel command line"
    )]
    NotFound,
    /// Several, and nothing shows which one starts this machine.
    #[error(
        "found {found}, and cannot tell which of them starts this machine: remove the files of the other"
    )]
    Ambiguous {
        /// What was found.
        found: String,
    },
    /// The command line is inside a signed image.
    #[error(
        "this machine starts a unified kernel image ({evidence}): its command line is built in, and usually signed; put the parameters into /etc/kernel/cmdline and rebuild the image (kernel-install add, ukify)"
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
        "TuneD passes {name} with another value ({path}): the kernel would get both; run `tuned-adm off`, then plan again"
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
    /// A parameter that cannot be written.
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
    #[error("cannot regenerate {cfg}: none of update-grub, grub-mkconfig and grub2-mkconfig is installed")]
    NoCommand {
        /// GRUB's file.
        cfg: String,
    },
    /// GRUB's environment has a fixed size.
    #[error(
        "cannot add to {path}: a GRUB environment block holds 1024 bytes, and the new one would be longer"
    )]
    Full {
        /// The file.
        path: String,
    },
    /// A file could not be read.
    #[error("cannot read {}: {}", .0.path, .0.why)]
    Unread(Unread),
    /// A file could not be read or cannot be changed.
    #[error(transparent)]
    Stage(#[from] StageError),
}
