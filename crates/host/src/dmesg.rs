//! The kernel's messages, as far back as its buffer goes.

use crate::{FsRoot, Reading};

/// The messages.
#[derive(Clone, Debug, PartialEq)]
pub struct Dmesg {
    /// Line by line, without level and time.
    pub lines: Reading<Vec<String>>,
}

impl Dmesg {
    /// From the buffer, or from the copy of the boot scripts.
    pub fn read(tree: &FsRoot) -> Dmesg {
        let live = tree.text("/dev/kmsg");
        let lines = match live.known().is_some_and(|text| !text.is_empty()) {
            true => live.and_then(|text| Ok(text.lines().filter_map(of_kmsg).collect())),
            false => {
                let kept = tree.text("/var/log/dmesg").and_then(|text| Ok(text.lines().map(plain).collect()));
                if kept.known().is_some() { kept } else { live.and_then(|_| Err(crate::Why::NotCollected)) }
            }
        };
        Dmesg { lines }
    }

    /// Whether the messages reach back to the start of the kernel: else that a line is not there means nothing.
    pub fn is_complete(&self) -> bool {
        let first = self.lines.known().into_iter().flatten().take(50);
        first.into_iter().any(|line| line.starts_with("Linux version ") || line.starts_with("Booting Linux "))
    }

    /// The first line that holds `text`.
    pub fn find(&self, text: &str) -> Option<&str> {
        self.lines.known()?.iter().find(|line| line.contains(text)).map(String::as_str)
    }
}

/// `6,339,5140900,-;message`; a line that begins with a blank belongs to the message before
/// (Documentation/ABI/testing/dev-kmsg).
fn of_kmsg(line: &str) -> Option<String> {
    match line.starts_with(' ') {
        true => None,
        false => Some(line.split_once(';')?.1.to_owned()),
    }
}

/// `[    0.000000] message`, or `<6>[    0.000000] message`.
fn plain(line: &str) -> String {
    let line = match line.strip_prefix('<').and_then(|line| line.split_once('>')) {
        Some((level, rest)) if level.bytes().all(|byte| byte.is_ascii_digit()) => rest,
        _ => line,
    };
    match line.strip_prefix('[').and_then(|line| line.split_once("] ")) {
        Some((_, message)) => message.to_owned(),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_both_forms() {
        let kmsg = "6,0,0,-;Linux version 6.1\n6,1,5,-;tsc: Fast TSC calibration\n SUBSYSTEM=pci\n";
        let live = Dmesg::read(&FsRoot::memory(&[("/dev/kmsg", kmsg), ("/var/log/dmesg", "old")]));
        assert_eq!(live.lines.need().expect("lines").len(), 2);
        assert!(live.is_complete());
        let kept = Dmesg::read(&FsRoot::memory(&[(
            "/var/log/dmesg",
            "[    1.5] Marking TSC unstable\n<6>[ 2.0] x",
        )]));
        assert_eq!(kept.find("TSC"), Some("Marking TSC unstable"));
        assert!(!kept.is_complete());
        assert!(Dmesg::read(&FsRoot::memory(&[])).lines.need().is_err());
    }
}
