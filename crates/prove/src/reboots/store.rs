//! The file of a proof across reboots: replaced as a whole, and on the disk before anything relies on it.

use super::record::RebootProof;
use crate::error::ProveError;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Below a machine's root.
const DIRECTORY: &str = "var/lib/whylate/prove";
/// The unit's condition names it as well.
const STATE: &str = "state.json";
/// The copy of the document of `--from`.
const DOCUMENT: &str = "from.json";
/// The last report.
const REPORT: &str = "report.json";

/// Where a machine keeps its proof.
#[derive(Clone, Debug)]
pub struct RebootStore {
    directory: PathBuf,
}

impl RebootStore {
    /// Of the machine with this root.
    pub fn of(root: &Path) -> RebootStore {
        RebootStore { directory: root.join(DIRECTORY) }
    }

    /// The copy of the document of `--from`, which need not be there after a reboot.
    pub fn document(&self) -> PathBuf {
        self.directory.join(DOCUMENT)
    }

    /// Where the report goes in any case.
    pub fn report(&self) -> PathBuf {
        self.directory.join(REPORT)
    }

    /// The proof of this machine; `None`: there was none.
    ///
    /// # Errors
    /// It cannot be read, or another version of whylate wrote it.
    pub fn load(&self) -> Result<Option<RebootProof>, ProveError> {
        let path = self.directory.join(STATE);
        let text = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|error| failed("read", &path, &error))?,
        };
        match serde_json::from_slice::<RebootProof>(&text) {
            Ok(proof) if proof.is_readable() => Ok(Some(proof)),
            Ok(_) => Err(ProveError::Reboots(format!("{} is of another version of whylate", path.display()))),
            Err(error) => Err(ProveError::Reboots(format!(
                "cannot read {}: {error}; `whylate history` lists what is applied, and `whylate rollback` undoes it",
                path.display()
            ))),
        }
    }

    /// Writes it. After a return it outlasts a power cut.
    ///
    /// # Errors
    /// It cannot be written; the one before is still there.
    pub fn save(&self, proof: &RebootProof) -> Result<(), ProveError> {
        let text =
            serde_json::to_vec(proof).map_err(|error| failed("write", &self.directory, &error.into()))?;
        self.replace(STATE, &text)
    }

    /// Keeps the document of `--from`.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep_document(&self, content: &[u8]) -> Result<(), ProveError> {
        self.replace(DOCUMENT, content)
    }

    /// Keeps the report, so that a power cut does not take it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep_report(&self, content: &[u8]) -> Result<(), ProveError> {
        self.replace(REPORT, content)
    }

    fn replace(&self, name: &str, content: &[u8]) -> Result<(), ProveError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.directory);
        made.map_err(|error| failed("make", &self.directory, &error))?;
        let (path, part) = (self.directory.join(name), self.directory.join(format!("{name}.part")));
        let written = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&part)
            .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
            .and_then(|()| fs::rename(&part, &path))
            .and_then(|()| File::open(&self.directory)?.sync_all());
        written.map_err(|error| failed("write", &path, &error))
    }
}

fn failed(tried: &str, path: &Path, error: &io::Error) -> ProveError {
    ProveError::Reboots(format!("cannot {tried} {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_profiles::DesiredState;

    #[test]
    fn a_proof_is_read_as_it_was_written_and_others_are_refused() {
        let root = tempfile::tempdir().expect("a directory");
        let store = RebootStore::of(root.path());
        assert_eq!(store.load().expect("nothing is there"), None);
        let desired = DesiredState { profile: "t".to_owned(), ..DesiredState::default() };
        let proof = RebootProof::new(vec!["--round".to_owned()], "/root".to_owned(), desired, Vec::new());
        store.save(&proof).expect("written");
        assert_eq!(store.load().expect("read"), Some(proof.clone()));
        store.save(&RebootProof { version: 99, ..proof }).expect("written");
        assert!(store.load().is_err_and(|error| error.to_string().contains("another version")));
        // A power cut leaves the old file whole: what is cut is the new one, which has another name.
        fs::write(root.path().join(DIRECTORY).join("state.json"), b"{\"version\"").expect("written");
        assert!(store.load().is_err_and(|error| error.to_string().contains("whylate rollback")));
    }
}
