//! The kernel that a user names: one of the cache, or a file.

use super::{Kernel, Series, Store};
use crate::LabError;
use std::path::Path;

/// The kernel of that name, fetched where it is not cached; or the one in that file, with `modules`. `fetching` is
/// called before a fetch.
///
/// # Errors
/// When there is no such kernel or file, when it cannot be fetched, or when a cached kernel is given other modules.
pub fn pick(name: &str, modules: Option<&Path>, fetching: impl FnOnce(&str)) -> Result<Kernel, LabError> {
    let path = Path::new(name);
    let known = Series::find(name).is_some();
    if known && modules.is_some() {
        return Err(LabError::OwnModules { name: name.to_owned() });
    }
    if !known && (modules.is_some() || name.contains('/') || path.is_file()) {
        return Kernel::from_image(path, modules);
    }
    let store = Store::open_default();
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
