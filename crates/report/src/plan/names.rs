//! Names of settings that are shown together: files that differ in a number, threads, interrupts.

use crate::words;

/// So many names are written out of those that are folded.
pub(crate) const NAMED: usize = 3;

/// `83 threads: [kthreadd], init, ...`
pub(crate) fn several(noun: &str, all: &[&str]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in all {
        if !names.contains(name) {
            names.push(name);
        }
    }
    let more = if names.len() > NAMED { ", ..." } else { "" };
    names.truncate(NAMED);
    words::clean(&format!("{} {noun}: {}{more}", all.len(), names.join(", ")))
}

/// Files whose paths are alike as one: `/sys/devices/system/cpu/cpu{0-3}/online`.
pub(crate) fn files(paths: &[&str]) -> String {
    let template = paths.first().map(|path| template(path).0).unwrap_or_default();
    let numbers: Vec<Vec<u64>> = paths.iter().map(|path| numbers_of(path)).collect();
    match numbers.iter().all(|numbers| numbers.len() == 1) {
        true => template.replacen('*', &format!("{{{}}}", ranges(numbers.concat())), 1),
        false => format!("{template} ({} files)", paths.len()),
    }
}

/// Whether two paths differ only in numbers of CPUs, interrupts and the like.
pub(crate) fn are_alike(a: &str, b: &str) -> bool {
    let ((a, numbers), (b, _)) = (template(a), template(b));
    a == b && numbers > 0
}

/// The heading of a kernel file.
pub(crate) fn subject_of(path: &str) -> &'static str {
    match path {
        path if path.starts_with("/proc/sys/") => "Sysctls",
        path if path.starts_with("/proc/irq/") => "Interrupts: CPUs",
        path if path.starts_with("/sys/devices/system/cpu/") => "CPUs",
        _ => "Files of the kernel",
    }
}

/// A path with `*` for each number behind a name or alone in a directory (`cpu3`, `24`), and how many there are.
fn template(path: &str) -> (String, usize) {
    let mut count = 0;
    let parts = path.split('/').map(|part| match number_in(part) {
        Some((name, _)) => {
            count += 1;
            format!("{name}*")
        }
        None => words::clean(part),
    });
    let template = parts.collect::<Vec<_>>().join("/");
    (template, count)
}

fn numbers_of(path: &str) -> Vec<u64> {
    path.split('/').filter_map(|part| Some(number_in(part)?.1)).collect()
}

fn number_in(part: &str) -> Option<(&str, u64)> {
    let name = part.trim_end_matches(|c: char| c.is_ascii_digit());
    let known = matches!(name, "" | "cpu" | "policy" | "state" | "node" | "machinecheck" | "rx-" | "tx-");
    Some((name, part[name.len()..].parse().ok()?)).filter(|_| known)
}

/// `24,30-32`
pub(crate) fn ranges(mut numbers: Vec<u64>) -> String {
    numbers.sort_unstable();
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if number - *last <= 1 => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let ranges = runs.iter().map(|&(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    ranges.collect::<Vec<_>>().join(",")
}

/// Paths that differ in one number as one, each where the first of them is.
pub(crate) fn folded(whats: &[&str]) -> Vec<String> {
    let mut kinds: Vec<(String, Vec<u64>)> = Vec::new();
    for what in whats {
        let (kind, count) = template(what);
        if !what.starts_with('/') || what.contains('*') || count != 1 {
            kinds.push(((*what).to_owned(), Vec::new()));
            continue;
        }
        match kinds.iter_mut().find(|(own, _)| *own == kind) {
            Some((_, numbers)) => numbers.extend(numbers_of(what)),
            None => kinds.push((kind, numbers_of(what))),
        }
    }
    let lines = kinds.into_iter().map(|(kind, numbers)| match numbers[..] {
        [] => kind,
        [one] => kind.replacen('*', &one.to_string(), 1),
        _ => kind.replacen('*', &format!("{{{}}}", ranges(numbers)), 1),
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_templates() {
        assert_eq!(ranges(vec![32, 24, 31, 30]), "24,30-32");
        assert_eq!(ranges(vec![u64::MAX, u64::MAX - 1]), format!("{}-{}", u64::MAX - 1, u64::MAX));
        let of = |path: &str| template(path);
        assert_eq!(of("/sys/devices/system/cpu/cpu12/x"), ("/sys/devices/system/cpu/cpu*/x".to_owned(), 1));
        assert_eq!(
            of("/sys/cpu1/cpuidle/state2/disable"),
            ("/sys/cpu*/cpuidle/state*/disable".to_owned(), 2)
        );
        assert_eq!(of("net.ipv4"), ("net.ipv4".to_owned(), 0));
        let whats = ["/a/cpu0/x", "other", "/a/cpu1/x", "/a/cpu3/y", "/a/cpu*/z", "/a/cpu2/x"];
        assert_eq!(folded(&whats), ["/a/cpu{0-2}/x", "other", "/a/cpu3/y", "/a/cpu*/z"]);
    }
}
