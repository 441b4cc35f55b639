//! Lines that hold the words of a message, and that the kernel did not print: source code and diffs of it, shell commands, sentences.
//!
//! ```text
//! +  pr_warn_once("sched: RT throttling activated\n");                      a call with a string
//!    "BUG: soft lockup - CPU#%d stuck for %us!\n",                          a string of its own line, with conversions of printf
//! dmesg | grep -c "RT throttling activated"                                 a command that looks for it
//! it never reports "sched: RT throttling activated" in such tests           a sentence that quotes it
//! ```
//!
//! A log in JSON or in fields (`msg="..."`) has its messages in quotes, too.

/// Commands that look for words, or print them.
const COMMANDS: [&str; 11] =
    ["grep", "egrep", "fgrep", "zgrep", "pgrep", "rg", "sed", "awk", "echo", "printf", "logger"];
/// What stands before a command, in a line of a shell.
const BEFORE_COMMANDS: [&str; 14] =
    ["|", "||", "&&", ";", "$", "#", "%", "!", "if", "while", "until", "sudo", "git", "then"];

/// True of source code and of commands: `begins` is where the words of the message begin.
pub(super) fn is_source(line: &str, begins: usize) -> bool {
    let Some((before, words)) = split(line, begins) else { return false };
    if open_quote(before).and_then(|at| before.get(..at)).is_some_and(is_field) {
        return false;
    }
    has_conversion(line)
        || ["\\n\"", "\\n'"].iter().any(|end| words.contains(end))
        || is_argument(before)
        || is_comment(before)
        || is_command(before)
        || is_string_of_code(before, words)
}

/// True where a person's words stand beside the quotes that the message is in.
pub(super) fn is_quoted(line: &str, begins: usize) -> bool {
    let Some((before, words)) = split(line, begins) else { return false };
    let has_word = |text: &str| text.contains(char::is_alphabetic);
    match open_quote(before) {
        Some(at) => {
            let sentence = before.get(..at).unwrap_or_default();
            has_word(sentence) && !is_field(sentence)
        }
        // The quote began in a line above.
        None => {
            let behind = words.rsplit_once('"').map_or("", |(_, behind)| behind);
            words.matches('"').count() % 2 == 1 && has_word(behind)
        }
    }
}

/// What stands before the words of the message, behind the kernel's stamp, and the words with what follows them.
pub(super) fn split(line: &str, begins: usize) -> Option<(&str, &str)> {
    let (before, words) = line.split_at_checked(begins)?;
    let is_stamp = |text: &str| {
        let time = text.rsplit_once('[').map_or("", |(_, time)| time.trim());
        time.contains('.') && time.bytes().all(|sign| sign.is_ascii_digit() || sign == b'.')
    };
    let stamp = before.match_indices(']').rev().find(|(end, _)| before.get(..*end).is_some_and(is_stamp));
    Some((stamp.map_or(before, |(end, _)| before.get(end + 1..).unwrap_or_default()), words))
}

/// `%d`, `%02x`, `%ld`, `%pS`. A percentage has a number before its sign.
fn has_conversion(line: &str) -> bool {
    line.match_indices('%').any(|(at, _)| {
        let is_number = line.get(..at).is_some_and(|text| text.ends_with(|sign: char| sign.is_ascii_digit()));
        let behind = line.get(at + 1..).unwrap_or_default();
        let conversion = behind
            .trim_start_matches(|sign: char| sign.is_ascii_digit() || "#-+.*".contains(sign))
            .trim_start_matches(['h', 'l', 'z']);
        !is_number && conversion.starts_with(|sign: char| "diuoxXscp".contains(sign))
    })
}

/// `pr_warn("`, `dev_err(dev, "`, `re.search(r'`: a call that is open, with a string that is open.
fn is_argument(before: &str) -> bool {
    let Some((function, arguments)) = before.rsplit_once('(') else { return false };
    let is_call = function.ends_with(|sign: char| sign.is_ascii_alphanumeric() || sign == '_');
    is_call && !arguments.contains(')') && arguments.contains(['"', '\''])
}

/// `// `, `/* `, in a diff or not.
fn is_comment(before: &str) -> bool {
    let code = before.trim_start_matches(['+', '-', ' ', '\t']);
    code.starts_with("//") || code.starts_with("/*")
}

/// `dmesg | grep -q "`, `grep RT `
fn is_command(before: &str) -> bool {
    let words: Vec<&str> = before.split_whitespace().collect();
    words.iter().enumerate().any(|(at, word)| {
        let name = word.rsplit('/').next().unwrap_or(word).trim_start_matches(['`', '(', '$']);
        let is_in_place = match at.checked_sub(1).and_then(|at| words.get(at)) {
            Some(previous) => BEFORE_COMMANDS.contains(previous) || previous.ends_with(['|', ';', '(']),
            None => true,
        };
        let has_argument = words.get(at + 1).is_none_or(|next| next.starts_with(['-', '"', '\'']));
        COMMANDS.contains(&name) && (is_in_place || has_argument)
    })
}

/// A string behind which only signs of code follow: `= "...";`, and alone in its line `"...",`
fn is_string_of_code(before: &str, words: &str) -> bool {
    let Some(at) = open_quote(before) else { return false };
    let Some((_, behind)) = words.rsplit_once('"') else { return false };
    let behind = behind.trim();
    let is_alone = !before.get(..at).unwrap_or_default().contains(char::is_alphabetic);
    let is_code = !behind.is_empty() && behind.chars().all(|sign| ",;)]}\\".contains(sign));
    is_code && (is_alone || behind.contains([';', '\\']))
}

/// Where the quotes begin that are not closed.
fn open_quote(before: &str) -> Option<usize> {
    ['"', '`']
        .into_iter()
        .filter(|sign| before.matches(*sign).count() % 2 == 1)
        .find_map(|sign| before.rfind(sign))
}

/// True where the quotes are of a value that is a logged line: `{"MESSAGE": "`, `level=warning msg="`
fn is_field(before: &str) -> bool {
    const KEYS: [&str; 5] = ["message", "msg", "log", "line", "text"];
    let before = before.trim_end();
    let is_of_log = |key: &str| {
        let begin = key.rfind(|sign: char| !sign.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
        key.get(begin..).is_some_and(|key| KEYS.contains(&key.to_ascii_lowercase().as_str()))
    };
    let json = before.strip_suffix(':').and_then(|key| key.trim_end().strip_suffix('"'));
    let has_more = before.split_whitespace().filter(|word| word.contains('=')).count() > 1;
    json.is_some_and(is_of_log) || before.strip_suffix('=').is_some_and(|key| has_more && is_of_log(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: &str = "RT throttling activated";

    #[test]
    fn source_and_commands_print_no_message() {
        for line in [
            "+\tpr_warn_once(\"sched: RT throttling activated (rq %d)\\n\", cpu);",
            "-  printk_deferred_once(\"sched: RT throttling activated\\n\");",
            "   dev_warn(dev, \"sched: RT throttling activated by\"",
            "+   \"sched: RT throttling activated\",",
            "static const char text[] = \"RT throttling activated\";",
            "sched: RT throttling activated on %*pbl for %llu ns",
            "if re.search(r'RT throttling activated', line):",
            "+\t/* sched: RT throttling activated is printed once */",
            "{\"pattern\": \"RT throttling activated %s\"}",
            "// then RT throttling activated",
            "dmesg | grep -q \"sched: RT throttling activated\" && exit 1",
            "$ /bin/grep 'RT throttling activated' /var/log/messages",
            "if grep RT throttling activated; then",
            "run `grep -c \"RT throttling activated\"` afterwards",
            "echo \"sched: RT throttling activated\" > /dev/kmsg",
        ] {
            assert!(line.find(WORDS).is_some_and(|at| is_source(line, at)), "{line}");
        }
    }

    #[test]
    fn a_sentence_quotes_a_message() {
        for line in [
            "no \"sched: RT throttling activated\" so far",
            "I see `sched: RT throttling activated`",
            "RT throttling activated\" once more.",
        ] {
            assert!(line.find(WORDS).is_some_and(|at| is_quoted(line, at)), "{line}");
        }
    }

    #[test]
    fn logs_of_any_form_have_messages() {
        for line in [
            "sched: RT throttling activated",
            "- sched: RT throttling activated",
            "`sched: RT throttling activated`",
            "{\"PRIORITY\": \"4\", \"MESSAGE\" : \"sched: RT throttling activated\"}",
            "{\"log\":\"sched: RT throttling activated\\n\",\"stream\":\"stderr\"}",
            "time=\"10:00\" level=warning msg=\"sched: RT throttling activated\"",
            "    \"[   12.345678] sched: RT throttling activated\",",
            "root@host# dmesg | grep RT [   12.345678] sched: RT throttling activated",
            "app 98% sched: RT throttling activated",
            "grep: sched: RT throttling activated",
            "CPU 99%idle sched: RT throttling activated at 95%, 5% idle",
        ] {
            let at = line.find(WORDS);
            assert!(at.is_some_and(|at| !is_source(line, at) && !is_quoted(line, at)), "{line}");
        }
    }
}
