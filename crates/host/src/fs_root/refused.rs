//! Another tree with one file that is refused: for tests.

use super::source::Source;
use crate::Why;

pub(super) struct Refused {
    pub(super) others: Box<dyn Source>,
    pub(super) path: String,
    pub(super) why: Why,
}

impl Source for Refused {
    fn read(&self, path: &str, limit: usize) -> Result<Vec<u8>, Why> {
        match path == self.path {
            true => Err(self.why.clone()),
            false => self.others.read(path, limit),
        }
    }

    fn list(&self, path: &str) -> Result<Vec<String>, Why> {
        self.others.list(path)
    }

    fn link(&self, path: &str) -> Result<String, Why> {
        self.others.link(path)
    }

    fn holders(&self, path: &str) -> Result<Vec<i32>, Why> {
        match path == self.path {
            true => Err(self.why.clone()),
            false => self.others.holders(path),
        }
    }
}
