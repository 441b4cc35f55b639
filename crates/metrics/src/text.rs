//! OpenMetrics 1.0 (prometheus.io/docs/specs/om), and the text format before it (prometheus.io/docs/instrumenting/exposition_formats).

use crate::bounds;
use crate::{Family, MetricSamples, Sample};
use std::fmt::Write;
use whylate_stats::Histogram;

/// What an HTTP server calls OpenMetrics.
pub const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Which text format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFormat {
    /// OpenMetrics 1.0. Where no family is a counter, it is read as the older format in the same way.
    OpenMetrics,
    /// Prometheus' own, before: node_exporter's textfile collector reads this one only.
    Prometheus,
}

/// Families as a whole text.
pub fn encode(families: &[Family], format: TextFormat) -> String {
    let mut text = String::new();
    for family in families {
        head(&mut text, family, format);
        match &family.samples {
            MetricSamples::Counter(samples) | MetricSamples::Gauge(samples) => {
                let name = family.full_name();
                for sample in samples {
                    let _ = writeln!(text, "{name}{} {}", braces(&labels(sample)), sample.value);
                }
            }
            MetricSamples::Histogram(samples) => {
                samples.iter().for_each(|sample| histogram(&mut text, family.name, sample));
            }
        }
    }
    if format == TextFormat::OpenMetrics {
        text.push_str("# EOF\n");
    }
    text
}

fn head(text: &mut String, family: &Family, format: TextFormat) {
    let kind = match family.samples {
        MetricSamples::Counter(_) => "counter",
        MetricSamples::Gauge(_) => "gauge",
        MetricSamples::Histogram(_) => "histogram",
    };
    let name = match format {
        TextFormat::OpenMetrics => family.name.to_owned(),
        TextFormat::Prometheus => family.full_name(),
    };
    let _ = writeln!(text, "# TYPE {name} {kind}");
    if let (Some(unit), TextFormat::OpenMetrics) = (family.unit(), format) {
        let _ = writeln!(text, "# UNIT {name} {unit}");
    }
    let _ = writeln!(text, "# HELP {name} {}.", family.help);
}

fn histogram(text: &mut String, name: &str, sample: &Sample<Histogram>) {
    let (labels, histogram) = (labels(sample), &sample.value);
    let before = if labels.is_empty() { String::new() } else { format!("{labels},") };
    for ((_, bound), count) in bounds::cumulative(histogram) {
        let _ = writeln!(text, "{name}_bucket{{{before}le=\"{bound}\"}} {count}");
    }
    let _ = writeln!(text, "{name}_bucket{{{before}le=\"+Inf\"}} {}", histogram.count());
    let labels = braces(&labels);
    let _ = writeln!(text, "{name}_count{labels} {}", histogram.count());
    let _ = writeln!(text, "{name}_sum{labels} {}", histogram.sum() as f64 / 1e9);
}

fn labels<T>(sample: &Sample<T>) -> String {
    let labels = sample.labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
    labels.collect::<Vec<_>>().join(",")
}

fn braces(labels: &str) -> String {
    if labels.is_empty() { String::new() } else { format!("{{{labels}}}") }
}

/// The value of a label, between its quotation marks.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::Ns;

    #[test]
    fn a_label_may_hold_anything() {
        assert_eq!(escaped("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
    }

    #[test]
    fn each_format_has_its_own_names() {
        let labels = vec![("thread", "ctl".to_owned())];
        let families = [
            Family::counter("x_cpu_seconds", "CPU time", vec![Sample { labels, value: 1.5 }]),
            Family::gauge("x_threads", "Threads", Sample::alone(7.0)),
        ];
        assert_eq!(
            encode(&families, TextFormat::OpenMetrics),
            "# TYPE x_cpu_seconds counter\n# UNIT x_cpu_seconds seconds\n# HELP x_cpu_seconds CPU time.\n\
             x_cpu_seconds_total{thread=\"ctl\"} 1.5\n# TYPE x_threads gauge\n# HELP x_threads Threads.\nx_threads 7\n# EOF\n"
        );
        assert_eq!(
            encode(&families, TextFormat::Prometheus),
            "# TYPE x_cpu_seconds_total counter\n# HELP x_cpu_seconds_total CPU time.\n\
             x_cpu_seconds_total{thread=\"ctl\"} 1.5\n# TYPE x_threads gauge\n# HELP x_threads Threads.\nx_threads 7\n"
        );
    }

    #[test]
    fn a_histogram_has_a_bucket_for_each_bound_and_one_for_all() {
        let histogram = [Ns(700), Ns::from_ms(3)].into_iter().collect();
        let text =
            encode(&[Family::histogram("x_seconds", "X", Sample::alone(histogram))], TextFormat::OpenMetrics);
        assert!(text.contains("\nx_seconds_bucket{le=\"1e-06\"} 1\n"), "{text}");
        assert!(
            text.contains("\nx_seconds_bucket{le=\"0.005\"} 2\nx_seconds_bucket{le=\"0.01\"} 2\n"),
            "{text}"
        );
        assert!(
            text.contains("\nx_seconds_bucket{le=\"+Inf\"} 2\nx_seconds_count 2\nx_seconds_sum 0.0030007\n"),
            "{text}"
        );
    }
}
