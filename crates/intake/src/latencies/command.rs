//! What the command line shows that stands above an output of cyclictest.

/// How many threads it was to measure with: `cyclictest -m -t 4`, `-t4`, `--threads=4`; `None` where no command line has it,
/// or the text has several.
pub(super) fn threads(text: &str) -> Option<usize> {
    let mut commands = text.lines().filter(|line| is_command(line));
    let (command, None) = (commands.next()?, commands.next()) else { return None };
    let mut words = command.split_whitespace().skip_while(|word| !is_program(word)).skip(1).peekable();
    while let Some(word) = words.next() {
        let value = match word.strip_prefix("--threads").or_else(|| word.strip_prefix("-t")) {
            Some("") => words.peek().copied(),
            Some(value) => Some(value.strip_prefix('=').unwrap_or(value)),
            None => continue,
        };
        // Without a number it is one thread for each CPU.
        return value.and_then(|value| value.parse().ok());
    }
    None
}

/// A line with the program and an option of it; prose has quotes around words.
fn is_command(line: &str) -> bool {
    let mut words = line.split_whitespace().skip_while(|word| !is_program(word));
    words.next().is_some() && words.any(|word| word.starts_with('-') && word.len() > 1)
}

fn is_program(word: &str) -> bool {
    word == "cyclictest" || word.ends_with("/cyclictest")
}

#[cfg(test)]
mod tests {
    use super::threads;

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
}
