//! What the times of messages mean.

use super::sender::Means;
use crate::bench::{BenchRow, BenchVerdict};
use whylate_base::Severity;

/// So many times as long as without the delay is no chance.
const DELAYED: f64 = 10.0;

pub(super) fn verdict(rows: &[BenchRow]) -> Vec<BenchVerdict> {
    let mut groups: Vec<&str> = rows.iter().map(|row| row.group.as_str()).collect();
    groups.dedup();
    groups.into_iter().flat_map(|group| of_group(group, rows)).collect()
}

fn of_group(group: &str, rows: &[BenchRow]) -> Vec<BenchVerdict> {
    let own: Vec<&BenchRow> = rows.iter().filter(|row| row.group == group).collect();
    let row = |means: Means| own.iter().find(|row| row.name.ends_with(&format!(": {}", means.name())));
    let mut verdict = Vec::new();
    let mut say = |text: String| verdict.push(BenchVerdict::new(Severity::Info, text));
    if let (Some(plain), Some(no_delay)) = (row(Means::Plain), row(Means::NoDelay)) {
        let (plain, no_delay) = (plain.per_operation.p50, no_delay.per_operation.p50);
        let ratio = plain.ratio(no_delay);
        say(match ratio >= DELAYED {
            true => format!(
                "{group}: a message of several writes takes {plain} without an option, because Nagle's algorithm waits \
                 for an acknowledgement that the receiver delays; with TCP_NODELAY it takes {no_delay}, {ratio:.0} times \
                 less."
            ),
            false => format!(
                "{group}: a message of several writes takes {plain} without an option, and {no_delay} with TCP_NODELAY: \
                 no acknowledgement was waited for."
            ),
        });
    }
    if let (Some(no_delay), Some(cork), Some(writev)) =
        (row(Means::NoDelay), row(Means::Cork), row(Means::Writev))
    {
        say(format!(
            "{group}: with TCP_CORK a message takes {} and leaves as one packet; collected by the program and sent with one \
             writev {}, with TCP_NODELAY in parts {}.",
            cork.per_operation.p50, writev.per_operation.p50, no_delay.per_operation.p50
        ));
    }
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::PerOperation;
    use whylate_base::Ns;

    fn row(means: Means, ns: i64) -> BenchRow {
        let samples = [Ns(ns)].into_iter().collect();
        BenchRow {
            group: "loopback".to_owned(),
            name: super::super::path::row_name("loopback", means.name()),
            operations: 1,
            per_operation: PerOperation::of(&samples, 1).expect("a sample"),
            samples,
            round_medians: Vec::new(),
            sending: None,
            clock: None,
        }
    }

    #[test]
    fn a_delay_is_explained_only_where_there_is_one() {
        let delayed = verdict(&[row(Means::Plain, 40_000_000), row(Means::NoDelay, 40_000)]);
        assert!(delayed[0].text.contains("1000 times less"), "{delayed:?}");
        let quick = verdict(&[row(Means::Plain, 50_000), row(Means::NoDelay, 40_000)]);
        assert!(quick[0].text.contains("no acknowledgement was waited for"), "{quick:?}");
        assert_eq!(verdict(&[]), []);
    }
}
