//! How the tools of bcc introduce themselves above their histograms, and the labels right above each of these.

/// How the tools introduce themselves, the tool, and what a sample is.
const TITLES: [(&str, &str, &str); 7] = [
    ("Tracing run queue latency", "runqlat", "run queue"),
    ("Tracing CPU scheduler", "runqlat", "run queue"),
    ("Tracing on-CPU time", "cpudist", "on-CPU time"),
    ("Tracing off-CPU time", "cpudist", "off-CPU time"),
    ("Tracing soft irq", "softirqs", "softirq time"),
    ("Tracing hard irq", "hardirqs", "hard interrupt time"),
    (FUNCTIONS, "funclatency", "function time"),
];
/// `Tracing 1 functions for "ext4_sync_file"... Hit Ctrl-C to end.`
const FUNCTIONS: &str = "functions for \"";
/// A longer line is no label.
const LONGEST_LABEL: usize = 80;

/// The tool that printed a histogram, and what a sample is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Title {
    pub(super) tool: &'static str,
    pub(super) probe: String,
}

/// The tool that a line introduces; of `funclatency` with the function.
pub(super) fn title(line: &str) -> Option<Title> {
    let &(words, tool, probe) = TITLES.iter().find(|(words, ..)| line.contains(words))?;
    let function = || {
        let (_, rest) = line.split_once(FUNCTIONS).filter(|_| words == FUNCTIONS)?;
        let name = rest.split(['"', ' ']).next()?;
        let name = name.trim_end_matches('.');
        let name = name.strip_prefix("b'").and_then(|name| name.strip_suffix('\'')).unwrap_or(name);
        (!name.is_empty()).then(|| format!("{name}: {probe}"))
    };
    Some(Title { tool, probe: function().unwrap_or_else(|| probe.to_owned()) })
}

/// The tool and what a sample is, by the command above the first table: `# ./cpudist.py -p 812`.
pub(super) fn of_command<'a>(above: impl Iterator<Item = &'a str> + Clone) -> Option<Title> {
    const OFF_CPU: [&str; 2] = ["-O", "--offcpu"];
    let words = || above.clone().flat_map(str::split_whitespace);
    let tool = |word: &str| {
        let file = word.rsplit('/').next().unwrap_or(word).trim_matches(['`', '"', ':', ',']);
        let name = file.split(['.', '-']).next().unwrap_or(file);
        TITLES.iter().find(|(_, tool, _)| *tool == name).map(|&(_, tool, probe)| (tool, probe))
    };
    let (tool, probe) = words().find_map(tool)?;
    let is_off_cpu = tool == "cpudist" && words().any(|word| OFF_CPU.contains(&word));
    Some(Title { tool, probe: if is_off_cpu { "off-CPU time" } else { probe }.to_owned() })
}

/// `pid = 1207`, `operation = fsync`, `disk = b'sda'`: what the next table is of. Code has such lines, too.
pub(super) fn is_label(line: &str) -> bool {
    let Some((name, value)) = line.split_once(" = ") else { return false };
    let is_name = |sign: char| sign.is_ascii_alphanumeric() || "_- ".contains(sign);
    line.len() < LONGEST_LABEL
        && name.starts_with(char::is_alphabetic)
        && name.chars().all(is_name)
        && !value.trim().is_empty()
        && !line.ends_with([';', '{', '\\'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_of_funclatency_has_the_function() {
        for (line, expected) in [
            ("Tracing 1 functions for \"take_it\"... Hit Ctrl-C to end.", "take_it: function time"),
            ("Tracing 1 functions for \"b'take_it'\"... Hit Ctrl-C to end.", "take_it: function time"),
            ("Tracing 3 functions for \"take_*\"... Hit Ctrl-C to end.", "take_*: function time"),
            ("Tracing 1 functions for \"take_it", "take_it: function time"),
            ("Tracing 1 functions for \"", "function time"),
            ("Tracing run queue latency... Hit Ctrl-C to end.", "run queue"),
        ] {
            assert_eq!(title(line).map(|title| title.probe).as_deref(), Some(expected), "{line}");
        }
        assert_eq!(title("functions for the tracer"), None);
    }

    #[test]
    fn labels_are_no_code() {
        for line in [
            "pid = 7",
            "operation = fsync",
            "disk = b'sda'",
            "Function = b'take_it' [12]",
            "flags = Sync-Write",
        ] {
            assert!(is_label(line), "{line}");
        }
        for line in ["index = 3;", "-  *at = page->index + 1", "if (a = b) {", "a->b = c", "= 3", "pid = "] {
            assert!(!is_label(line), "{line}");
        }
    }
}
