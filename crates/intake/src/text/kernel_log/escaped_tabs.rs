//! Tabs in the kernel's messages that loggers and pages print as other signs.
//!
//! ```text
//! rcu: #0113-...0: (1 GPs behind)      rsyslog: the octal number of the sign (`$EscapeControlCharactersOnReceive`)
//! rcu: \x093-...0: (1 GPs behind)      `/dev/kmsg` (`msg_add_ext_text()` in kernel/printk/printk.c), and journals read from it
//! rcu: \t3-...0: (1 GPs behind)        strings of programs
//! rcu: ^I3-...0: (1 GPs behind)        `cat -A`, editors
//! ```
//!
//! The number behind such a tab begins with its own first digit: read as one number with the escape, it is that of another CPU.

use memchr::memchr3;
use std::borrow::Cow;

/// What stands for a tab.
const TABS: [&str; 4] = ["#011", "\\x09", "\\t", "^I"];

/// The line with its tabs. What stands within a word is no tab.
pub(super) fn restored(line: &str) -> Cow<'_, str> {
    if memchr3(b'#', b'\\', b'^', line.as_bytes()).is_none() {
        return Cow::Borrowed(line);
    }
    let mut whole = String::new();
    let mut rest = line;
    while let Some((at, escape)) = first(&whole, rest) {
        let (before, behind) = rest.split_at(at);
        whole.push_str(before);
        whole.push('\t');
        rest = behind.get(escape.len()..).unwrap_or_default();
    }
    match whole.is_empty() {
        true => Cow::Borrowed(line),
        false => {
            whole.push_str(rest);
            Cow::Owned(whole)
        }
    }
}

/// The first of them in the rest of a line, behind what is known of it.
fn first<'a>(known: &str, rest: &'a str) -> Option<(usize, &'a str)> {
    rest.char_indices().find_map(|(at, _)| {
        let text = rest.get(at..)?;
        let escape = TABS.iter().find_map(|tab| text.get(..tab.len()).filter(|begin| begin == tab))?;
        let before = rest.get(..at).and_then(|before| before.chars().next_back());
        let before = before.or_else(|| known.chars().next_back());
        let begins = before.is_none_or(|sign| sign.is_whitespace() || matches!(sign, ']' | '>'));
        begins.then_some((at, escape))
    })
}

#[cfg(test)]
mod tests {
    use super::restored;

    #[test]
    fn what_stands_for_a_tab_is_one() {
        for (line, expected) in [
            ("rcu: #0113-...0: (1 GPs behind)", "rcu: \t3-...0: (1 GPs behind)"),
            ("rcu: #01114-...!: (0 ticks", "rcu: \t14-...!: (0 ticks"),
            ("host kernel: [ 9.1] #011(detected by 2", "host kernel: [ 9.1] \t(detected by 2"),
            ("#011#0115-...:", "\t\t5-...:"),
            ("rcu: \\x0914-...0:", "rcu: \t14-...0:"),
            ("rcu: \\t(t=5252 jiffies", "rcu: \t(t=5252 jiffies"),
            ("kernel: ^I3-....:", "kernel: \t3-....:"),
            ("soft lockup - CPU#0112 stuck", "soft lockup - CPU#0112 stuck"),
            ("Not tainted 6.5.2 #01", "Not tainted 6.5.2 #01"),
            ("a\\x09b C:\\temp €", "a\\x09b C:\\temp €"),
            ("", ""),
        ] {
            assert_eq!(restored(line), expected, "{line}");
        }
    }
}
