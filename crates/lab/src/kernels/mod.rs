//! The kernels: Debian's, fetched by apt and kept in a cache, or files of the user.
//!
//! ```text
//!  series   the kernels known by name, with the use of each
//!  image    the release of a kernel image
//!  pick     the one that a user names
//!  store    the cache: one directory for each kernel, made whole or not at all
//!  fetch    from Debian's mirror into the cache
//!    sources  the mirror's address, from this machine's own apt sources
//!    apt      apt and dpkg-deb, with lists of their own
//!    choose   the packages of a kernel
//!    unpack   the kernel within its image
//! ```

mod apt;
mod choose;
mod fetch;
mod image;
mod pick;
mod series;
mod sources;
mod store;
mod unpack;

pub(crate) use apt::{advice, debian_source};
pub use pick::{arch_of, pick};
pub use series::{SERIES, Series};
pub use store::Store;
pub(crate) use store::UNFINISHED;

use crate::{Arch, LabError};
use std::path::{Path, PathBuf};

/// A kernel of the cache, unpacked, beside its image.
const UNPACKED: &str = "vmlinuz.unpacked";

/// A kernel that can be booted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// `6.12-rt` for one of the cache, otherwise the image's path.
    pub name: String,
    /// `uname -r`.
    pub release: String,
    /// True for PREEMPT_RT.
    pub preempt_rt: bool,
    /// The architecture of its machine.
    pub arch: Arch,
    /// The bzImage of x86, the Image of arm64.
    pub image: PathBuf,
    /// Its modules tree, if any: `/lib/modules/RELEASE` on a machine.
    pub modules: Option<PathBuf>,
}

impl Kernel {
    /// A kernel of the user. Without `modules`, those that this machine has installed for
    /// its release.
    ///
    /// # Errors
    /// When the image is no kernel of a known architecture, or the modules are not there.
    pub fn from_image(image: &Path, modules: Option<&Path>) -> Result<Kernel, LabError> {
        let about = image::read(image)?;
        let modules = match modules {
            Some(given) => Some(find_modules(given, &about.release)?),
            None => {
                Some(Path::new("/lib/modules").join(&about.release)).filter(|installed| installed.is_dir())
            }
        };
        Ok(Kernel {
            name: image.display().to_string(),
            release: about.release,
            preempt_rt: about.preempt_rt,
            arch: about.arch,
            image: image.to_owned(),
            modules,
        })
    }

    /// The file that QEMU boots: the image, or the kernel unpacked from it, which boots faster.
    pub(crate) fn boot(&self) -> PathBuf {
        let unpacked = self.image.with_file_name(UNPACKED);
        if unpacked.is_file() { unpacked } else { self.image.clone() }
    }

    /// Major and minor number of the release: (6, 12).
    pub fn version(&self) -> (u32, u32) {
        let mut numbers =
            self.release.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse().unwrap_or(0));
        (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
    }

    /// True when it boots in virtual time with more than one CPU. Kernels of x86 before 6.12 hang there
    /// while they bring up the second CPU.
    pub fn has_virtual_smp(&self) -> bool {
        self.arch != Arch::X86_64 || self.version() >= (6, 12)
    }
}

/// The tree itself, or the directory of `make modules_install INSTALL_MOD_PATH=`.
fn find_modules(given: &Path, release: &str) -> Result<PathBuf, LabError> {
    let below = given.join("lib/modules").join(release);
    let found = if below.is_dir() { below } else { given.to_owned() };
    std::fs::read_dir(&found).map_err(LabError::file("read", &found))?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_of_the_user_is_described_by_its_image() {
        let root = tempfile::tempdir().expect("temporary directory");
        let image = root.path().join("bzImage");
        std::fs::write(&image, image::tests::setup("6.1.176-custom (me@here) #1 SMP PREEMPT_RT Mon"))
            .expect("file");
        let tree = root.path().join("lib/modules/6.1.176-custom");
        std::fs::create_dir_all(&tree).expect("directory");
        for given in [root.path(), &tree] {
            let kernel = Kernel::from_image(&image, Some(given)).expect("a kernel");
            assert_eq!(kernel.modules.as_deref(), Some(&*tree));
            assert_eq!((kernel.release.as_str(), kernel.version()), ("6.1.176-custom", (6, 1)));
            assert!(kernel.preempt_rt && !kernel.has_virtual_smp());
        }
        assert_eq!(Kernel::from_image(&image, None).expect("a kernel").modules, None);
        let error = Kernel::from_image(&image, Some(Path::new("/no/modules"))).expect_err("missing");
        assert!(error.to_string().contains("/no/modules"), "{error}");
    }
}
