//! Where in a program activations begin and end, as probes see it.

use crate::function_place::{FunctionPlace, FunctionPlaceError};
use crate::usdt::{UsdtError, UsdtProbe};
use std::fmt;
use std::path::{Path, PathBuf};
use whylate_events::ProbedActivations;

/// Where in a program activations begin and end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbedPlace {
    /// At the beginning of a function, and at its return.
    Function(FunctionPlace),
    /// At static probes.
    Usdt {
        /// The program or library.
        path: PathBuf,
        /// Where they begin.
        begin: UsdtProbe,
        /// Where they end; `None`: where the next begins.
        end: Option<UsdtProbe>,
    },
}

/// Why a place is none.
#[derive(Debug, thiserror::Error)]
pub enum ProbedPlaceError {
    /// It is not written as one.
    #[error(
        "give a file and a function, such as ./ctl:step, or a static probe, such as usdt:./ctl:motion:begin,end"
    )]
    Form,
    /// The function.
    #[error(transparent)]
    Function(#[from] FunctionPlaceError),
    /// The static probe.
    #[error(transparent)]
    Usdt(#[from] UsdtError),
}

impl ProbedPlace {
    /// `FILE:FUNCTION`, `usdt:FILE:PROVIDER:BEGIN` or `usdt:FILE:PROVIDER:BEGIN,END`.
    ///
    /// # Errors
    /// [`ProbedPlaceError`].
    pub fn parse(text: &str) -> Result<ProbedPlace, ProbedPlaceError> {
        if let Some(text) = text.strip_prefix("usdt:")
            && let Some((file, probes)) = text.split_once(':')
            && let Some((provider, names)) = probes.split_once(':').filter(|_| !file.is_empty())
        {
            return ProbedPlace::usdt(Path::new(file), provider, names);
        }
        // A name may have `::`, a file seldom has a colon.
        match text.split_once(':') {
            Some((file, function)) if !file.is_empty() && !function.is_empty() => {
                Ok(ProbedPlace::Function(FunctionPlace::find(Path::new(file), function)?))
            }
            _ => Err(ProbedPlaceError::Form),
        }
    }

    fn usdt(path: &Path, provider: &str, names: &str) -> Result<ProbedPlace, ProbedPlaceError> {
        let (begin, end) = match names.split_once(',') {
            // The same at both ends: each ends one and begins the next.
            Some((begin, end)) if begin != end => (begin, Some(end)),
            Some((begin, _)) => (begin, None),
            None => (names, None),
        };
        if provider.is_empty()
            || begin.is_empty()
            || end.is_some_and(|end| end.is_empty() || end.contains(','))
        {
            return Err(ProbedPlaceError::Form);
        }
        let end = end.map(|end| UsdtProbe::find(path, provider, end)).transpose()?.map(|(_, end)| end);
        let (path, begin) = UsdtProbe::find(path, provider, begin)?;
        Ok(ProbedPlace::Usdt { path, begin, end })
    }

    /// What its probes show of activations.
    pub fn shows(&self) -> ProbedActivations {
        match self {
            ProbedPlace::Usdt { end: None, .. } => ProbedActivations::Begin,
            _ => ProbedActivations::BeginAndEnd,
        }
    }
}

impl fmt::Display for ProbedPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProbedPlace::Function(place) => {
                write!(f, "the function {} of {}", place.name, place.path.display())
            }
            ProbedPlace::Usdt { path, begin, end: None } => {
                write!(f, "the probe {begin} of {}", path.display())
            }
            ProbedPlace::Usdt { path, begin, end: Some(end) } => {
                write!(f, "the probes {begin} and {end} of {}", path.display())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_function_or_a_static_probe() {
        let own = std::env::current_exe().expect("this program").display().to_string();
        let error = |text: &str| ProbedPlace::parse(text).expect_err(text).to_string();
        for text in [
            "",
            "ctl",
            ":step",
            "ctl:",
            "usdt:",
            "usdt:ctl:motion:",
            "usdt:ctl::a",
            "usdt:ctl:m:a,",
            "usdt:ctl:m:a,b,c",
        ] {
            assert!(error(text).starts_with("give a file and a function"), "{text}: {}", error(text));
        }
        // A file may be called usdt.
        assert!(error("usdt:main").starts_with("usdt: no such file"));
        assert!(error(&format!("{own}:no_such_function_here")).contains("has no function"));
        for names in ["begin", "begin,end", "begin,begin"] {
            assert!(error(&format!("usdt:{own}:motion:{names}")).contains("no static probes"));
        }
    }
}
