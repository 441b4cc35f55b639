//! Two outputs of cyclictest that were put beside each other, as mails do to compare them: which of the numbers in a line are of one
//! run cannot be told, and those behind the first ones would be left out.

use super::sections::numbers;

/// How lines begin that a run has once for all of its threads.
const OF_ALL: [&str; 3] = ["# Min Latencies:", "# Avg Latencies:", "# Max Latencies:"];
/// The last number of a thread's line.
const OF_THREAD: &str = "Max:";

/// Where a line holds two of what one line of a run holds once: the greatest maximum of the text.
pub(super) fn greatest(text: &str) -> Option<u64> {
    let is_double = |line: &str| {
        let is_twice = |name: &str| line.matches(name).nth(1).is_some();
        OF_ALL.into_iter().any(is_twice) || line.starts_with("T:") && is_twice(OF_THREAD)
    };
    let mut lines = text.split(['\n', '\r']);
    lines.any(is_double).then(|| text.lines().flat_map(maxima).max()).flatten()
}

fn maxima(line: &str) -> impl Iterator<Item = u64> {
    let name = if line.starts_with("T:") { OF_THREAD } else { OF_ALL[2] };
    line.split(name).skip(1).flat_map(numbers)
}

#[cfg(test)]
mod tests {
    use super::greatest;

    #[test]
    fn of_outputs_beside_each_other_the_greatest_of_all_is_found() {
        let lines = "# Max Latencies: 00120   # Max Latencies: 00950 00007\n# Max Latencies: 00130\n";
        assert_eq!(greatest(lines), Some(950));
        let thread = "T: 0 (  71) P:80 I:1000 C:  2000 Min:     14 Act:   24 Avg:   34 Max:     744";
        assert_eq!(greatest(&format!("{thread}   {}\n", thread.replace("744", "1744"))), Some(1744));
        for single in [thread, "# Max Latencies: 00120 00950", "# Max Latencies: 7 (Max: 9, Max: 8)", ""] {
            assert_eq!(greatest(single), None, "{single}");
        }
    }
}
