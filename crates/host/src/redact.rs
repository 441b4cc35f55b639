//! Removes text from a capture that identifies the machine and does not affect latency.

use crate::{Capture, FsRoot};

/// What is replaced: the host's name, hardware addresses, UUIDs and IPv4 addresses.
#[derive(Clone, Debug, Default)]
pub struct Redaction {
    host: Option<String>,
}

impl Redaction {
    /// For the machine of this tree, whose name is looked up.
    pub fn of(tree: &FsRoot) -> Redaction {
        let name = tree.value::<String>("/proc/sys/kernel/hostname").value.ok();
        // A name so short or so common would be found in any word.
        Redaction { host: name.filter(|name| name.len() > 3 && name != "localhost") }
    }

    /// The capture without it.
    #[must_use]
    pub fn apply(&self, capture: Capture) -> Capture {
        capture.changed(|text| self.text(text))
    }

    /// The text without it.
    pub fn text(&self, text: &str) -> String {
        let text = match &self.host {
            Some(host) => text.replace(host.as_str(), "(host)"),
            None => text.to_owned(),
        };
        let mut out = String::with_capacity(text.len());
        let mut word = String::new();
        for c in text.chars() {
            if c.is_ascii_alphanumeric() || matches!(c, ':' | '-' | '.') {
                word.push(c);
            } else {
                out.push_str(replaced(&word));
                word.clear();
                out.push(c);
            }
        }
        out.push_str(replaced(&word));
        out
    }
}

/// A word, or what stands for it.
fn replaced(word: &str) -> &str {
    let bare = word.trim_end_matches(['.', ':', '-']);
    if is_mac(bare) {
        "(mac)"
    } else if is_uuid(bare) {
        "(uuid)"
    } else if is_ipv4(bare) {
        "(ip)"
    } else {
        word
    }
}

fn hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_mac(word: &str) -> bool {
    let parts = || word.split(':');
    parts().count() == 6 && parts().all(|part| hex(part, 2))
}

fn is_uuid(word: &str) -> bool {
    let lengths = [8, 4, 4, 4, 12];
    word.split('-').count() == 5 && word.split('-').zip(lengths).all(|(part, length)| hex(part, length))
}

/// Four numbers; a version with four numbers also matches, which is harmless.
fn is_ipv4(word: &str) -> bool {
    word.split('.').count() == 4 && word.split('.').all(|part| part.parse::<u8>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_the_machine_is_replaced() {
        let redaction = Redaction { host: Some("alpha7".to_owned()) };
        for (text, expected) in [
            ("alpha7 eth0: 52:54:00:12:34:56, up", "(host) eth0: (mac), up"),
            ("root=UUID=01234567-89ab-cdef-0123-456789abcdef ro", "root=UUID=(uuid) ro"),
            ("ip=10.0.0.1 isolcpus=2-3", "ip=(ip) isolcpus=2-3"),
            ("Linux version 6.12.0-1-amd64", "Linux version 6.12.0-1-amd64"),
            ("0000:01:00.0 24: 0 0 PCI-MSI", "0000:01:00.0 24: 0 0 PCI-MSI"),
        ] {
            assert_eq!(redaction.text(text), expected);
        }
    }
}
