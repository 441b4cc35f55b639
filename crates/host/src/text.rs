//! The shapes in which the kernel writes values into its files.

use std::fmt;
use whylate_base::{Cpu, CpuSet};

/// A value that a file's text holds. Blanks around it have no meaning.
pub trait FromText: Sized {
    /// The expected content, for the error message: "a number".
    const EXPECTED: &'static str;

    /// The value, or `None` if the text is something else.
    fn from_text(text: &str) -> Option<Self>;
}

impl FromText for String {
    const EXPECTED: &'static str = "text";

    /// The kernel shows no file without any byte; an empty line has no defined meaning.
    fn from_text(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| text.trim_matches(['\0', '\n', ' ', '\t']).to_owned())
    }
}

impl FromText for u64 {
    const EXPECTED: &'static str = "a number";

    fn from_text(text: &str) -> Option<Self> {
        text.trim().parse().ok()
    }
}

impl FromText for i64 {
    const EXPECTED: &'static str = "a whole number";

    fn from_text(text: &str) -> Option<Self> {
        text.trim().parse().ok()
    }
}

impl FromText for bool {
    const EXPECTED: &'static str = "0 or 1, N or Y";

    fn from_text(text: &str) -> Option<Self> {
        match text.trim() {
            "1" | "Y" | "y" | "on" => Some(true),
            "0" | "N" | "n" | "off" => Some(false),
            _ => None,
        }
    }
}

/// In the list format, `0-3,8`. Some files print `(null)` for none (`isolated` before 4.20).
impl FromText for CpuSet {
    const EXPECTED: &'static str = "a CPU list such as 0-3,8";

    fn from_text(text: &str) -> Option<Self> {
        match text.trim() {
            // No CPU is an empty line.
            _ if text.is_empty() => None,
            "(null)" => Some(CpuSet::new()),
            list => list.parse().ok(),
        }
    }
}

/// CPUs from a hexadecimal mask, `ff,ffffffff`: 32 bits to a word, the highest first (`/proc/irq/default_smp_affinity`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mask(pub CpuSet);

impl FromText for Mask {
    const EXPECTED: &'static str = "a CPU mask such as ff,ffffffff";

    fn from_text(text: &str) -> Option<Self> {
        let mut cpus = CpuSet::new();
        // 8192 CPUs are 256 words; no kernel has a longer mask.
        if text.trim().split(',').count() > 256 {
            return None;
        }
        for (at, word) in text.trim().split(',').rev().enumerate() {
            if word.is_empty() || word.len() > 8 {
                return None;
            }
            let bits = u32::from_str_radix(word, 16).ok()?;
            (0..32u32)
                .filter(|bit| bits >> bit & 1 == 1)
                .for_each(|bit| cpus.insert(Cpu(at as u32 * 32 + bit)));
        }
        Some(Mask(cpus))
    }
}

impl fmt::Display for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CPUs {}", self.0)
    }
}

/// One of several words, the chosen one in brackets: `always [madvise] never`; or `none voluntary (full)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BracketedChoice {
    /// The chosen word.
    pub chosen: String,
    /// All there are, in the kernel's order.
    pub options: Vec<String>,
}

impl FromText for BracketedChoice {
    const EXPECTED: &'static str = "words, the chosen one in brackets";

    fn from_text(text: &str) -> Option<Self> {
        let bare = |word: &str| {
            let inner = word.strip_prefix('[').and_then(|word| word.strip_suffix(']'));
            inner
                .or_else(|| word.strip_prefix('(').and_then(|word| word.strip_suffix(')')))
                .map(str::to_owned)
        };
        let chosen = text.split_ascii_whitespace().find_map(bare)?;
        let options = text.split_ascii_whitespace().map(|word| bare(word).unwrap_or_else(|| word.to_owned()));
        Some(BracketedChoice { chosen, options: options.collect() })
    }
}

impl fmt::Display for BracketedChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.chosen)
    }
}

/// Words between blanks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words(pub Vec<String>);

impl Words {
    /// Whether `word` is one of them.
    pub fn has(&self, word: &str) -> bool {
        self.0.iter().any(|own| own == word)
    }
}

impl FromText for Words {
    const EXPECTED: &'static str = "words";

    fn from_text(text: &str) -> Option<Self> {
        Some(Words(text.split_ascii_whitespace().map(str::to_owned).collect()))
    }
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn masks() {
        for (text, cpus) in
            [("f", "0-3"), ("00000001", "0"), ("1,00000000", "32"), ("80000000,00000001", "0,63"), ("0", "")]
        {
            assert_eq!(Mask::from_text(text).expect(text).0.to_string(), cpus, "{text}");
        }
        for bad in ["", "x", "f,", "fffffffff", ","] {
            assert_eq!(Mask::from_text(bad), None, "{bad}");
        }
    }

    #[test]
    fn choices() {
        let choice = BracketedChoice::from_text("always [madvise] never\n").expect("choice");
        assert_eq!((choice.to_string().as_str(), choice.options.len()), ("madvise", 3));
        assert_eq!(
            BracketedChoice::from_text("none voluntary (full) lazy\n").expect("choice").chosen,
            "full"
        );
        assert_eq!(BracketedChoice::from_text("always"), None);
    }

    #[test]
    fn lists_and_flags() {
        assert_eq!(CpuSet::from_text("(null)\n"), Some(CpuSet::new()));
        assert_eq!(CpuSet::from_text("\n"), Some(CpuSet::new()));
        assert_eq!(bool::from_text("Y\n"), Some(true));
        assert_eq!(bool::from_text("2"), None);
        assert_eq!(u64::from_text("-1"), None);
        assert_eq!(i64::from_text("-1\n"), Some(-1));
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "\\PC*", hex in "[0-9a-f,]{0,40}") {
            for text in [text, hex] {
                let _ = (Mask::from_text(&text), BracketedChoice::from_text(&text), CpuSet::from_text(&text));
                let _ = (u64::from_text(&text), bool::from_text(&text), Words::from_text(&text));
            }
        }
    }
}
