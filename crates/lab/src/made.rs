//! What the lab makes once and keeps in its cache, until the recipe changes.
//!
//! ```text
//!  DIRECTORY/NAME        what was made: a disk, a root directory
//!  DIRECTORY/recipe      its recipe; another recipe makes another one
//! ```

use crate::LabError;
use crate::kernels::{Store, UNFINISHED};
use std::path::{Path, PathBuf};

/// A directory of the cache with one thing in it.
pub(crate) struct Made<'a> {
    pub(crate) store: &'a Store,
    pub(crate) directory: PathBuf,
    /// The thing in it.
    pub(crate) name: &'static str,
    /// True for the path of a whole one.
    pub(crate) is_whole: fn(&Path) -> bool,
    /// Everything that determines its content, except the versions of the mirror's packages.
    pub(crate) recipe: String,
}

impl Made<'_> {
    /// The cache's, where it was made by this recipe.
    pub(crate) fn cached(&self) -> Option<PathBuf> {
        let made_of = std::fs::read_to_string(self.directory.join("recipe")).unwrap_or_default();
        let made = self.directory.join(self.name);
        (made_of == self.recipe && (self.is_whole)(&made)).then_some(made)
    }

    /// The cache's, made first where it is not there: `make` gets a directory to work in and the path to make.
    ///
    /// # Errors
    /// Those of `make`, and when the cache cannot be locked or written.
    pub(crate) fn path(
        &self,
        make: impl FnOnce(&Path, &Path) -> Result<(), LabError>,
    ) -> Result<PathBuf, LabError> {
        if let Some(made) = self.cached() {
            return Ok(made);
        }
        let _lock = self.store.lock()?;
        // Another process may have made it meanwhile.
        if let Some(made) = self.cached() {
            return Ok(made);
        }
        self.store.clean_up();
        let root = self.store.root();
        let work = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(root);
        let work = work.map_err(LabError::file("write", root))?;
        let new = work.path().join("new");
        std::fs::create_dir(&new).map_err(LabError::file("create", &new))?;
        make(work.path(), &new.join(self.name))?;
        std::fs::write(new.join("recipe"), &self.recipe).map_err(LabError::file("write", &new))?;
        let directory = &self.directory;
        let parent = directory.parent().unwrap_or(root);
        std::fs::create_dir_all(parent).map_err(LabError::file("create", parent))?;
        if directory.exists() {
            let old = work.path().join("old");
            std::fs::rename(directory, &old).map_err(LabError::file("replace", directory))?;
        }
        std::fs::rename(&new, directory).map_err(LabError::file("create", directory))?;
        Ok(directory.join(self.name))
    }
}
