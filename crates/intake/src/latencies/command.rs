//! What the command line shows that stands above an output of cyclictest or of rtla.

use whylate_base::CpuSet;

/// How many threads it was to measure with: `cyclictest -m -t 4`, `-t4`, `--threads=4`; `None` where no command line has it,
/// or the text has several.
pub(super) fn threads(text: &str) -> Option<usize> {
    // Without a number it is one thread for each CPU.
    option(text, "cyclictest", ["--threads", "-t"])?.parse().ok()
}

/// Which CPUs it was to measure: `rtla osnoise top -c 0-3`, `--cpus=0-3`; `None` as above.
pub(super) fn cpus(text: &str) -> Option<CpuSet> {
    option(text, "rtla", ["--cpus", "-c"])?.parse().ok()
}

/// The value of an option, by its two names, of the one command line of a program in a text.
fn option<'t>(text: &'t str, program: &str, names: [&str; 2]) -> Option<&'t str> {
    let mut commands = text.lines().filter(|line| is_command(line, program));
    let (command, None) = (commands.next()?, commands.next()) else { return None };
    let mut words = command.split_whitespace().skip_while(|word| !is_program(word, program)).skip(1);
    while let Some(word) = words.next() {
        match names.iter().find_map(|name| word.strip_prefix(name)) {
            Some("") => return words.next(),
            Some(value) => return Some(value.strip_prefix('=').unwrap_or(value)),
            None => {}
        }
    }
    None
}

/// A line with the program and an option of it; prose has quotes around words.
fn is_command(line: &str, program: &str) -> bool {
    let mut words = line.split_whitespace().skip_while(|word| !is_program(word, program));
    words.next().is_some() && words.any(|word| word.starts_with('-') && word.len() > 1)
}

fn is_program(word: &str, program: &str) -> bool {
    word.rsplit('/').next() == Some(program)
}

#[cfg(test)]
mod tests {
    use super::{cpus, threads};

    #[test]
    fn the_number_of_threads_is_an_option() {
        for (line, expected) in [
            ("# cyclictest -m -t 4 -p 90", Some(4)),
            ("root@box:~# ./cyclictest -p80 -t4", Some(4)),
            ("$ sudo cyclictest --threads=4 -q", Some(4)),
            ("cyclictest --threads 4 -q", Some(4)),
            ("cyclictest -m -t -p 90", None),
            ("cyclictest -S -p 90", None),
            ("I ran cyclictest for 4 hours", None),
            ("timeout -t 9 cyclictest -q", None),
        ] {
            assert_eq!(threads(&format!("{line}\nT: 0 ( 7) P:90\n")), expected, "{line}");
        }
        assert_eq!(threads("cyclictest -t4\ncyclictest -t2\n"), None, "which of them is not known");
    }

    #[test]
    fn the_cpus_are_an_option() {
        for (line, expected) in [
            ("[root@box ~]# rtla osnoise top -c 0-3 -d 1m -q", Some("0-3")),
            ("rtla timerlat top --cpus=1,3 -q", Some("1,3")),
            ("/usr/bin/rtla timerlat top -c2", Some("2")),
            ("rtla timerlat top -c all", None),
            ("rtla timerlat top -q", None),
        ] {
            assert_eq!(cpus(line).map(|cpus| cpus.to_string()).as_deref(), expected, "{line}");
        }
    }
}
