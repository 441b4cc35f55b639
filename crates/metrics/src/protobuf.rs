//! Prometheus' protobuf format: the messages of `io.prometheus.client` (prometheus/client_model, metrics.proto), each with its
//! length before it. The only one of its formats with native histograms before OpenMetrics 2.0.

use crate::bounds;
use crate::native::{self, NativeHistogram};
use crate::{Family, MetricSamples, Sample};
use prost::Message;
use whylate_stats::Histogram;

/// What an HTTP server calls it.
pub const CONTENT_TYPE: &str =
    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";

/// Families as bytes. Histograms have both kinds of buckets; a Prometheus that takes native histograms leaves the fixed ones
/// out, unless its configuration wants them.
pub fn encode(families: &[Family]) -> Vec<u8> {
    families.iter().map(MetricFamily::of).flat_map(|family| family.encode_length_delimited_to_vec()).collect()
}

#[derive(Clone, PartialEq, Message)]
struct MetricFamily {
    #[prost(string, optional, tag = "1")]
    name: Option<String>,
    #[prost(string, optional, tag = "2")]
    help: Option<String>,
    #[prost(enumeration = "MetricType", optional, tag = "3")]
    kind: Option<i32>,
    #[prost(message, repeated, tag = "4")]
    metrics: Vec<Metric>,
    #[prost(string, optional, tag = "5")]
    unit: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
enum MetricType {
    Counter = 0,
    Gauge = 1,
    Histogram = 4,
}

#[derive(Clone, PartialEq, Message)]
struct Metric {
    #[prost(message, repeated, tag = "1")]
    labels: Vec<LabelPair>,
    #[prost(message, optional, tag = "2")]
    gauge: Option<Value>,
    #[prost(message, optional, tag = "3")]
    counter: Option<Value>,
    #[prost(message, optional, tag = "7")]
    histogram: Option<HistogramMessage>,
}

#[derive(Clone, PartialEq, Message)]
struct LabelPair {
    #[prost(string, optional, tag = "1")]
    name: Option<String>,
    #[prost(string, optional, tag = "2")]
    value: Option<String>,
}

/// A gauge or a counter.
#[derive(Clone, Copy, PartialEq, Message)]
struct Value {
    #[prost(double, optional, tag = "1")]
    value: Option<f64>,
}

#[derive(Clone, PartialEq, Message)]
struct HistogramMessage {
    #[prost(uint64, optional, tag = "1")]
    count: Option<u64>,
    #[prost(double, optional, tag = "2")]
    sum: Option<f64>,
    #[prost(message, repeated, tag = "3")]
    buckets: Vec<BucketMessage>,
    #[prost(sint32, optional, tag = "5")]
    schema: Option<i32>,
    #[prost(double, optional, tag = "6")]
    zero_threshold: Option<f64>,
    #[prost(uint64, optional, tag = "7")]
    zero_count: Option<u64>,
    #[prost(message, repeated, tag = "12")]
    spans: Vec<Span>,
    #[prost(sint64, repeated, packed = "false", tag = "13")]
    deltas: Vec<i64>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct BucketMessage {
    #[prost(uint64, optional, tag = "1")]
    cumulative_count: Option<u64>,
    #[prost(double, optional, tag = "2")]
    upper_bound: Option<f64>,
}

/// Buckets in a row; `offset` is how many are empty before them, for the first span the index of its first bucket.
#[derive(Clone, Copy, PartialEq, Message)]
struct Span {
    #[prost(sint32, optional, tag = "1")]
    offset: Option<i32>,
    #[prost(uint32, optional, tag = "2")]
    length: Option<u32>,
}

impl MetricFamily {
    fn of(family: &Family) -> MetricFamily {
        let value = |&value: &f64| Some(Value { value: Some(value) });
        let (kind, metrics) = match &family.samples {
            MetricSamples::Counter(samples) => {
                let metric = |sample: &Sample<f64>| Metric {
                    counter: value(&sample.value),
                    ..Metric::labelled(sample)
                };
                (MetricType::Counter, samples.iter().map(metric).collect())
            }
            MetricSamples::Gauge(samples) => {
                let metric =
                    |sample: &Sample<f64>| Metric { gauge: value(&sample.value), ..Metric::labelled(sample) };
                (MetricType::Gauge, samples.iter().map(metric).collect())
            }
            MetricSamples::Histogram(samples) => {
                let metric = |sample: &Sample<Histogram>| Metric {
                    histogram: Some(HistogramMessage::of(&sample.value)),
                    ..Metric::labelled(sample)
                };
                (MetricType::Histogram, samples.iter().map(metric).collect())
            }
        };
        MetricFamily {
            name: Some(family.full_name()),
            help: Some(format!("{}.", family.help)),
            kind: Some(kind.into()),
            metrics,
            unit: family.unit().map(str::to_owned),
        }
    }
}

impl Metric {
    fn labelled<T>(sample: &Sample<T>) -> Metric {
        let label = |(name, value): &(&str, String)| LabelPair {
            name: Some((*name).to_owned()),
            value: Some(value.clone()),
        };
        Metric { labels: sample.labels.iter().map(label).collect(), ..Metric::default() }
    }
}

impl HistogramMessage {
    fn of(histogram: &Histogram) -> HistogramMessage {
        let native = NativeHistogram::of(histogram);
        let (mut spans, mut deltas) = (Vec::<(i32, u32)>::new(), Vec::new());
        let (mut next, mut before) = (0, 0);
        for &(index, count) in &native.buckets {
            match spans.last_mut() {
                Some((_, length)) if index == next => *length += 1,
                _ => spans.push((index - next, 1)),
            }
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            deltas.push(count - before);
            (next, before) = (index + 1, count);
        }
        let fixed = bounds::cumulative(histogram).map(|(&(bound, _), count)| BucketMessage {
            cumulative_count: Some(count),
            upper_bound: Some(bound as f64 / 1e9),
        });
        HistogramMessage {
            count: Some(histogram.count()),
            sum: Some(histogram.sum() as f64 / 1e9),
            buckets: fixed.collect(),
            schema: Some(native::SCHEMA),
            zero_threshold: Some(native::ZERO_THRESHOLD),
            zero_count: Some(native.zero),
            spans: spans
                .into_iter()
                .map(|(offset, length)| Span { offset: Some(offset), length: Some(length) })
                .collect(),
            deltas,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::Ns;

    #[test]
    fn the_messages_can_be_read_again() {
        let labels = vec![("thread", "ctl \"1\"".to_owned())];
        let families = [
            Family::counter("x", "X", Sample::alone(7.0)),
            Family::histogram(
                "y_seconds",
                "Y",
                vec![Sample { labels, value: [Ns(5), Ns(5), Ns(80)].into_iter().collect() }],
            ),
        ];
        let bytes = encode(&families);
        let mut rest = bytes.as_slice();
        let counter = MetricFamily::decode_length_delimited(&mut rest).expect("a family");
        let histogram = MetricFamily::decode_length_delimited(&mut rest).expect("a family");
        assert!(rest.is_empty());
        assert_eq!((counter.name.as_deref(), counter.kind), (Some("x_total"), Some(0)));
        assert_eq!(histogram.unit.as_deref(), Some("seconds"));
        let metric = &histogram.metrics[0];
        assert_eq!(metric.labels[0].value.as_deref(), Some("ctl \"1\""));
        let message = metric.histogram.as_ref().expect("a histogram");
        assert_eq!((message.count, message.deltas.as_slice()), (Some(3), [2, -1].as_slice()));
        // 5 ns and 80 ns are 4 octaves of 8 buckets apart.
        let spans: Vec<_> = message.spans.iter().map(|span| (span.offset, span.length)).collect();
        assert_eq!(spans.len(), 2);
        assert_eq!(spans[1], (Some(31), Some(1)));
    }
}
