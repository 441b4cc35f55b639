//! The histogram that cyclictest's -h and -H ask for.

use std::io;
use whylate_base::Ns;
use whylate_export::latencies::{self, Form};
use whylate_stats::{Bucket, Exact, Histogram, Measured, Run};

/// As cyclictest prints it: samples from `upto` microseconds on are overflows; with `sum`, a last column has all threads
/// together where there are several.
pub(super) fn text(mut run: Run, upto: u32, sum: bool) -> io::Result<String> {
    let threads = run.threads.len();
    let sum = sum && threads > 1;
    if sum {
        let histogram = run.all();
        run.threads.push(Measured { name: "all".to_owned(), histogram, ..Measured::default() });
    }
    let limit = Ns::from_us(upto.into());
    run.threads.iter_mut().for_each(|thread| thread.histogram = cut(&thread.histogram, limit));
    let mut text = Vec::new();
    latencies::write(&run, Form::Histogram, &mut text)?;
    let text = String::from_utf8(text).map_err(io::Error::other)?;
    if !sum {
        return Ok(text);
    }
    let lines = text.lines().filter_map(|line| as_summed(line, threads));
    Ok(lines.map(|line| format!("{line}\n")).collect())
}

/// A line as cyclictest's -H has it: the sum of all threads has no minimum, no mean and no thread (`print_hist`).
fn as_summed(line: &str, threads: usize) -> Option<&str> {
    if ["# Min Latencies:", "# Avg Latencies:"].iter().any(|start| line.starts_with(start)) {
        return line.rsplit_once(' ').map(|(rest, _)| rest);
    }
    Some(line).filter(|line| !line.starts_with(&format!("# Thread {threads}:")))
}

/// The same samples; those from `limit` on in no bucket.
fn cut(histogram: &Histogram, limit: Ns) -> Histogram {
    let (Some(min), Some(max)) = (histogram.min(), histogram.max()) else { return histogram.clone() };
    let below = |bucket: &Bucket| bucket.upto.min(max) < limit;
    let buckets: Vec<Bucket> = histogram.buckets().iter().copied().filter(below).collect();
    let overflow = histogram.count() - buckets.iter().map(|bucket| bucket.count).sum::<u64>();
    Histogram::new(buckets, Exact { overflow, sum: histogram.sum(), min, max })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_is_an_overflow() {
        let thread = |us: &[i64]| Measured {
            histogram: us.iter().map(|&us| Ns::from_us(us)).collect(),
            ..Measured::default()
        };
        let run = Run { threads: vec![thread(&[1, 2, 2]), thread(&[2, 50])], ..Run::default() };
        let one = text(Run { threads: vec![thread(&[1])], ..Run::default() }, 10, true).expect("memory");
        assert!(one.contains("\n000001 000001\n"), "no sum of one thread: {one}");
        let text = text(run, 10, true).expect("memory does not fail");
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(
            lines[2..4],
            [["000001", "000001", "000000", "000001"], ["000002", "000002", "000001", "000003"]]
        );
        for line in [
            "# Total: 000000003 000000001 000000004",
            "# Min Latencies: 00001 00002\n",
            "# Avg Latencies: 00001 00026\n",
            "# Max Latencies: 00002 00050 00050\n",
            "# Histogram Overflows: 00000 00001 00001",
        ] {
            assert!(text.contains(line), "{line} is not in {text}");
        }
        assert!(text.contains("# Thread 1:") && !text.contains("# Thread 2:"), "{text}");
    }
}
