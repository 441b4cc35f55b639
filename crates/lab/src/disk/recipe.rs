//! The recipes of disk images: a distribution for each kernel series.

use crate::LabError;
use crate::kernels::{Series, Store};

/// The script that runs in the new root.
pub(super) const CUSTOMIZE: &str = include_str!("customize.sh");
/// Parameters of each boot, as of the guests without a disk (see `qemu`).
pub(super) const PARAMETERS: &str =
    "console=ttyS0 cryptomgr.notests random.trust_cpu=on systemd.show_status=false";

/// Old features of ext4 only: an older GRUB cannot read the ones that newer versions of mke2fs turn on.
pub(super) const FEATURES: &str = "none,has_journal,ext_attr,resize_inode,dir_index,filetype,extent,64bit,flex_bg,sparse_super,\
                        large_file,huge_file,dir_nlink,extra_isize";

/// Packages of every image, apart from the kernel: for the boot, and for tuning.
const PACKAGES: [&str; 12] = [
    "systemd",
    "systemd-sysv",
    "udev",
    "dbus",
    "kmod",
    "procps",
    "cpio",
    "zstd",
    "initramfs-tools",
    "grub-pc",
    "irqbalance",
    "fdisk",
];

/// The content of a disk: Debian's suite that has the kernel, and the kernel as Debian installs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    series: &'static Series,
    /// Packages beside the usual ones.
    more: Vec<String>,
}

impl Image {
    /// The distribution of that kernel series ([`SERIES`](crate::kernels::SERIES)), with packages beside the usual
    /// ones.
    ///
    /// # Errors
    /// When there is no such series.
    pub fn debian(store: &Store, series: &str, more: &[&str]) -> Result<Image, LabError> {
        let mut more: Vec<String> = more.iter().map(|&name| name.to_owned()).collect();
        more.sort();
        Ok(Image { series: store.series(series)?, more })
    }

    /// Its name in the cache.
    pub fn name(&self) -> String {
        std::iter::once(self.series.name)
            .chain(self.more.iter().map(String::as_str))
            .collect::<Vec<_>>()
            .join("+")
    }

    /// Debian's suite.
    pub(super) fn suite(&self) -> &'static str {
        self.series.suite
    }

    pub(super) fn packages(&self) -> Vec<String> {
        let kernel = if self.series.preempt_rt { "linux-image-rt-amd64" } else { "linux-image-amd64" };
        let usual = PACKAGES.into_iter().chain([kernel]).map(str::to_owned);
        usual.chain(self.more.iter().cloned()).collect()
    }

    /// Everything that determines its content, except the versions of the mirror's packages.
    pub(super) fn recipe(&self) -> String {
        let packages = self.packages().join(" ");
        [self.suite(), &packages, PARAMETERS, FEATURES, CUSTOMIZE].join("\n")
    }

    pub(super) fn failed(&self, reason: String) -> LabError {
        LabError::Disk { name: self.name(), reason }
    }
}
