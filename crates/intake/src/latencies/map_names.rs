//! What the name of a bpftrace map shows of that which it holds.

/// Words of a map of sizes or counts, as scripts name them: `@ra_sz_hist`, `@interrupts_per_run`, `@bytes`, `@queue_depth`.
const OF_NO_TIME: [&str; 30] = [
    "sz",
    "size",
    "sizes",
    "bytes",
    "byte",
    "kb",
    "kbytes",
    "mb",
    "pages",
    "page",
    "blocks",
    "sectors",
    "len",
    "length",
    "depth",
    "count",
    "counts",
    "cnt",
    "num",
    "nr",
    "freq",
    "number",
    "times",
    "events",
    "interrupts",
    "irqs",
    "packets",
    "pkts",
    "calls",
    "segs",
];
/// Words of a map of times, whatever else its name has.
const OF_TIME: [&str; 12] =
    ["lat", "latency", "delay", "wait", "time", "duration", "elapsed", "late", "us", "ns", "ms", "usecs"];

/// True of the name of a map that holds sizes or counts.
pub(super) fn is_of_no_time(map: &str) -> bool {
    let mut words = map.split(|sign: char| !sign.is_ascii_alphabetic()).map(str::to_ascii_lowercase);
    let has = |list: &[&str], word: &String| list.contains(&word.as_str());
    !words.clone().any(|word| has(&OF_TIME, &word)) && words.any(|word| has(&OF_NO_TIME, &word))
}

#[cfg(test)]
mod tests {
    use super::is_of_no_time;

    #[test]
    fn sizes_and_counts_have_names_of_their_own() {
        for map in ["ra_sz_hist", "interrupts_during_run", "bytes", "queue_depth", "io_size", "nr_pages"] {
            assert!(is_of_no_time(map), "{map}");
        }
        for map in ["late", "hist", "wait_per_count", "latency_by_size", "runq", "", "sizzle"] {
            assert!(!is_of_no_time(map), "{map}");
        }
    }
}
