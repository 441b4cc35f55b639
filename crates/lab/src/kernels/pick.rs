//! The kernel that a user names: one of the cache, or a file.

use super::{Kernel, Series, Store};
use crate::{Arch, LabError};
use std::path::Path;

/// The architecture of the kernel that a user names, without a fetch: `arch` where it is given, that of the image for a
/// file, otherwise this machine's.
pub fn arch_of(name: &str, arch: Option<Arch>) -> Arch {
    let of_image = || Kernel::from_image(Path::new(name), None).ok().map(|kernel| kernel.arch);
    let is_known = Series::find(name).is_some();
    arch.or_else(|| of_image().filter(|_| !is_known)).unwrap_or(Arch::native())
}

/// The kernel of that name for `arch`, this machine's by default, fetched where it is not cached; or the one in that file,
/// with `modules`. `fetching` is called before a fetch.
///
/// # Errors
/// When there is no such kernel or file, when it cannot be fetched, when a cached kernel is given other modules, or when the
/// file's kernel is for another architecture than `arch`.
pub fn pick(
    name: &str,
    arch: Option<Arch>,
    modules: Option<&Path>,
    fetching: impl FnOnce(&str),
) -> Result<Kernel, LabError> {
    let path = Path::new(name);
    let known = Series::find(name).is_some();
    if known && modules.is_some() {
        return Err(LabError::OwnModules { name: name.to_owned() });
    }
    if !known && (modules.is_some() || name.contains('/') || path.is_file()) {
        let kernel = Kernel::from_image(path, modules)?;
        return match arch {
            Some(arch) if arch != kernel.arch => {
                Err(LabError::OtherArch { path: path.to_owned(), is: kernel.arch.name(), asked: arch.name() })
            }
            _ => Ok(kernel),
        };
    }
    let store = Store::open_default().of(arch.unwrap_or(Arch::native()));
    if known && store.cached().iter().all(|kernel| kernel.name != name) {
        fetching(name);
    }
    store.get(name).map_err(|error| match error {
        LabError::UnknownKernel { name, known } => {
            LabError::UnknownKernel { name, known: format!("{known}; or give a file: --kernel PATH/vmlinuz") }
        }
        error => error,
    })
}
