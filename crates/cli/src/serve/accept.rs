//! Which format of metrics a client prefers (RFC 9110, section 12.5.1).

/// Whether the headers of a request prefer Prometheus' protobuf to a text: only then are there native histograms.
pub(super) fn prefers_protobuf(headers: &str) -> bool {
    let accepted = headers.split("\r\n").filter_map(|line| line.split_once(':'));
    let accepted = accepted.filter(|(name, _)| name.trim().eq_ignore_ascii_case("accept"));
    let (mut protobuf, mut other) = (0.0_f64, 0.0_f64);
    for range in accepted.flat_map(|(_, value)| value.split(',')) {
        let (quality, is_protobuf) = judge(range);
        let best = if is_protobuf { &mut protobuf } else { &mut other };
        *best = best.max(quality);
    }
    protobuf > 0.0 && protobuf >= other
}

/// How much a media range is wanted, from 0 to 1, and whether it is the protobuf of metrics.
fn judge(range: &str) -> (f64, bool) {
    let mut parts = range.split(';').map(str::trim);
    let media = parts.next().unwrap_or_default();
    let (mut quality, mut of_metrics, mut delimited) = (1.0, false, false);
    for (name, value) in parts.filter_map(|part| part.split_once('=')) {
        match name.trim().to_ascii_lowercase().as_str() {
            // What is no number is not wanted.
            "q" => quality = value.trim().parse().unwrap_or(0.0),
            "proto" => of_metrics = value.trim() == "io.prometheus.client.MetricFamily",
            "encoding" => delimited = value.trim() == "delimited",
            _ => {}
        }
    }
    (quality, media.eq_ignore_ascii_case("application/vnd.google.protobuf") && of_metrics && delimited)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protobuf_goes_to_who_wants_it() {
        // What Prometheus 2.42 sends with and without native histograms.
        let native = "Accept: application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,\
                      application/openmetrics-text;version=1.0.0;q=0.8,application/openmetrics-text;version=0.0.1;q=0.75,\
                      text/plain;version=0.0.4;q=0.5,*/*;q=0.1\r\n";
        let classic = "Accept: application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,\
                       text/plain;version=0.0.4;q=0.5,*/*;q=0.1\r\n";
        assert!(prefers_protobuf(&format!("Host: here\r\n{native}\r\n")));
        assert!(!prefers_protobuf(&format!("Host: here\r\n{classic}\r\n")));
        for (accept, wanted) in [
            ("", false),
            ("*/*", false),
            ("application/vnd.google.protobuf", false),
            ("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text", false),
            (
                "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0",
                false,
            ),
            (
                "text/plain, application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=.5",
                false,
            ),
            (
                "text/plain;q=0.5, application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited; q=0.9",
                true,
            ),
        ] {
            assert_eq!(prefers_protobuf(&format!("accept: {accept}\r\n")), wanted, "{accept}");
        }
    }
}
