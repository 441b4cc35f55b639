//! Metrics for Prometheus, in the formats that it reads.
//!
//! ```text
//!             ┌─> text       OpenMetrics, or Prometheus' older text format: histograms with fixed bounds
//! [Family] ───┤
//!             └─> protobuf   the same, and native histograms: within 9 %, wherever a latency lies
//! ```
//!
//! A sample counts in the first bucket whose bound it certainly does not exceed: nothing looks earlier than it was.

mod bounds;
mod native;
mod protobuf;
mod text;

pub use protobuf::{CONTENT_TYPE as PROTOBUF, encode as protobuf};
pub use text::{OPEN_METRICS, TextFormat, encode as text};

use whylate_stats::Histogram;

/// All samples of one name.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// The name; of a counter without `_total`. Its last word is the unit, where it is one.
    pub name: &'static str,
    /// What it is, a sentence without its full stop.
    pub help: &'static str,
    /// The samples.
    pub samples: MetricSamples,
}

/// The samples of a family: of one kind.
#[derive(Clone, Debug, PartialEq)]
pub enum MetricSamples {
    /// What only grows.
    Counter(Vec<Sample<f64>>),
    /// What grows and falls.
    Gauge(Vec<Sample<f64>>),
    /// Distributions, in seconds.
    Histogram(Vec<Sample<Histogram>>),
}

/// A value with its labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample<T> {
    /// Names and values; a value may hold anything.
    pub labels: Vec<(&'static str, String)>,
    /// The value.
    pub value: T,
}

impl<T> Sample<T> {
    /// A value without labels.
    pub fn alone(value: T) -> Vec<Sample<T>> {
        vec![Sample { labels: Vec::new(), value }]
    }
}

impl Family {
    /// A family of counters.
    pub fn counter(name: &'static str, help: &'static str, samples: Vec<Sample<f64>>) -> Family {
        Family { name, help, samples: MetricSamples::Counter(samples) }
    }

    /// A family of gauges.
    pub fn gauge(name: &'static str, help: &'static str, samples: Vec<Sample<f64>>) -> Family {
        Family { name, help, samples: MetricSamples::Gauge(samples) }
    }

    /// A family of histograms.
    pub fn histogram(name: &'static str, help: &'static str, samples: Vec<Sample<Histogram>>) -> Family {
        Family { name, help, samples: MetricSamples::Histogram(samples) }
    }

    /// The unit that its name ends with.
    fn unit(&self) -> Option<&'static str> {
        ["seconds", "bytes", "ratio"]
            .into_iter()
            .find(|&unit| self.name.strip_suffix(unit).is_some_and(|rest| rest.ends_with('_')))
    }

    /// The name of its samples in the older formats, where a counter's is the family's as well.
    fn full_name(&self) -> String {
        match self.samples {
            MetricSamples::Counter(_) => format!("{}_total", self.name),
            _ => self.name.to_owned(),
        }
    }
}
