//! Several outputs of one result: each is tried, whatever happened to the others.

use anyhow::{Error, Result, anyhow};

/// What went wrong with the outputs so far. A full disk must not cost what standard output, or another disk, can take.
#[derive(Debug, Default)]
pub(crate) struct OutputErrors(Vec<Error>);

impl OutputErrors {
    /// Keeps the error of an output, if there is one.
    pub(crate) fn collect(&mut self, written: Result<()>) {
        self.0.extend(written.err());
    }

    /// All errors as one, after the last output.
    pub(crate) fn into_result(mut self) -> Result<()> {
        match self.0.len() {
            0 => Ok(()),
            1 => Err(self.0.remove(0)),
            _ => {
                let all: Vec<String> = self.0.iter().map(|error| format!("{error:#}")).collect();
                Err(anyhow!("{}", all.join("; ")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_is_reported() {
        let result = |errors: &[&'static str]| {
            let mut collected = OutputErrors::default();
            collected.collect(Ok(()));
            errors.iter().for_each(|&error| collected.collect(Err(anyhow!(error))));
            collected.into_result().map_err(|error| format!("{error:#}"))
        };
        assert_eq!(result(&[]), Ok(()));
        assert_eq!(result(&["a"]), Err("a".to_owned()));
        assert_eq!(result(&["a", "b"]), Err("a; b".to_owned()));
    }
}
