//! Where in a program activations begin and end, as probes see it.

use crate::function_place::FunctionPlace;
use crate::usdt::{UsdtError, UsdtProbe};
use std::fmt;
use std::path::{Path, PathBuf};
use whylate_events::ProbedActivations;

/// Where in a program activations begin and end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbedPlace {
    /// At the beginning of a function, and at its return.
    Function(FunctionPlace),
    /// At a function's return, until the next.
    Return(FunctionPlace),
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

impl ProbedPlace {
    /// At static probes of a program or library.
    ///
    /// # Errors
    /// [`UsdtError`].
    pub fn usdt(
        path: &Path,
        provider: &str,
        begin: &str,
        end: Option<&str>,
    ) -> Result<ProbedPlace, UsdtError> {
        let end = end.map(|end| UsdtProbe::find(path, provider, end)).transpose()?.map(|(_, end)| end);
        let (path, begin) = UsdtProbe::find(path, provider, begin)?;
        Ok(ProbedPlace::Usdt { path, begin, end })
    }

    /// What its probes show of activations.
    pub fn shows(&self) -> ProbedActivations {
        match self {
            ProbedPlace::Return(_) | ProbedPlace::Usdt { end: None, .. } => ProbedActivations::Begin,
            ProbedPlace::Function(_) | ProbedPlace::Usdt { end: Some(_), .. } => {
                ProbedActivations::BeginAndEnd
            }
        }
    }
}

impl fmt::Display for ProbedPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProbedPlace::Function(place) | ProbedPlace::Return(place) => {
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
