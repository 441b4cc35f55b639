//! `whylate compare` and `whylate plot`.

use super::file_to_write;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::str::FromStr;
use whylate_base::{Ns, parse_duration};
use whylate_investigate::compare::Gate;

/// `whylate compare`
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Measurements: documents of `whylate measure --json`, or files of cyclictest, oslat, rtla, jitterdebugger, OSADL
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Compare with this measurement, instead of the first one
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// What each thread has to meet, such as p99.99<50us,max<=100us; of several runs, all but what they are compared with
    #[arg(long, value_name = "CONDITIONS", value_delimiter = ',')]
    pub(crate) gate: Vec<Gate>,
    /// Say whether the numbers carry a claim such as 100us@1e-9: later than 100 us with at most this probability
    /// (repeatable)
    #[arg(long = "claim", value_name = "LATENCY@PROBABILITY")]
    pub(crate) claims: Vec<Bound>,
    /// Exit with 1 when a run is this much worse
    #[arg(long, value_name = "WORSE", default_value = "mixed")]
    pub(crate) fail_on: FailOnWorse,
    /// Write JSON to standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Also write the report as one self-contained HTML file, or only its plots (FILE.svg)
    #[arg(short = 'o', long = "output", value_name = "REPORT.html", value_parser = file_to_write())]
    pub(crate) page: Option<PathBuf>,
}

/// When a comparison fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOnWorse {
    /// In something, even if other things are better
    Mixed,
    /// In all that differs
    Worse,
    /// Never
    Never,
}

/// `whylate plot`
#[derive(Debug, Args)]
pub(crate) struct PlotArgs {
    /// Measurements: documents of `whylate measure --json`, or files of cyclictest, oslat, rtla, jitterdebugger, OSADL
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The file to write, SVG or, in a build with the feature `png`, PNG
    #[arg(short, long, value_name = "FILE.svg", value_parser = file_to_write())]
    pub(crate) output: PathBuf,
    /// What to plot
    #[arg(long, value_name = "KIND", default_value = "histogram")]
    pub(crate) kind: PlotKind,
    /// Each thread on its own: small multiples of histograms, a line for each otherwise
    #[arg(long)]
    pub(crate) per_cpu: bool,
}

/// What is plotted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlotKind {
    /// How often how late, both axes logarithmic
    Histogram,
    /// How rarely so late or later, with the fitted tail
    Ccdf,
    /// The largest latency of each stretch of time
    Time,
    /// How far quantiles moved from the first file to the others
    Shift,
}

/// A latency, and how often it may be exceeded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bound {
    pub(crate) latency: Ns,
    pub(crate) probability: f64,
}

impl FromStr for Bound {
    type Err = String;

    fn from_str(text: &str) -> Result<Bound, String> {
        let (latency, probability) =
            text.split_once('@').ok_or("write a latency, @, and a probability, such as 100us@1e-9")?;
        let latency = parse_duration(latency.trim()).map_err(|error| error.to_string())?;
        let probability = probability.trim().parse::<f64>().ok().filter(|p| *p > 0.0 && *p < 1.0);
        let probability = probability.ok_or("the probability has to be between 0 and 1, such as 1e-9")?;
        // With smaller ones the samples that are needed cannot be counted.
        if probability < 1e-15 {
            return Err("nobody can measure a probability below 1e-15".to_owned());
        }
        Ok(Bound { latency, probability })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_a_latency_and_a_probability() {
        assert_eq!("100us@1e-9".parse(), Ok(Bound { latency: Ns(100_000), probability: 1e-9 }));
        for wrong in ["100us", "100us@", "100us@0", "100us@1", "100us@-1", "100us@nan", "@1e-3", "1us@1e-300"]
        {
            assert!(wrong.parse::<Bound>().is_err(), "{wrong}");
        }
    }
}
