//! Patterns of the names of kernels (`6.12*`, `*-rt`), and their families.

use whylate_base::glob;

/// True when one of `patterns` matches the kernel's name, or the family it belongs to.
pub fn one_matches(patterns: &[String], kernel: &str) -> bool {
    let family = family(kernel);
    patterns
        .iter()
        .any(|pattern| glob(pattern, kernel) || family.as_deref().is_some_and(|family| glob(pattern, family)))
}

/// The family of kernels that a name or release belongs to, as scenarios call it: `6.1-rt` for
/// `vmlinuz-6.1.0-18-rt-amd64`. `None` where no version can be seen.
pub fn family(name: &str) -> Option<String> {
    let version = name.get(name.find(|c: char| c.is_ascii_digit())?..)?;
    let mut numbers = version.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty());
    let (major, minor) = (numbers.next()?, numbers.next()?);
    let realtime = version.split(['-', '_', '+', '.']).any(|word| word == "rt" || is_rt_patch(word));
    Some(format!("{major}.{minor}{}", if realtime { "-rt" } else { "" }))
}

/// As the PREEMPT_RT patches number themselves: `6.6.52-rt43`.
fn is_rt_patch(word: &str) -> bool {
    word.strip_prefix("rt")
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, text, fits) in [
            ("*", "", true),
            ("6.1", "6.1", true),
            ("6.1", "6.12", false),
            ("6.12*", "6.12-rt", true),
            ("*-rt", "6.12-rt", true),
            ("*-rt", "6.12", false),
            ("migration/*", "migration/0", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*bc*c", "abc", false),
            ("ab*ba", "aba", false),
            ("*ab*b", "xab", false),
            ("*ab*b", "xabb", true),
            ("/a/*", "/a/b/c", true),
            ("/a/*/c", "/a/b/c", true),
            ("/a/*/c", "/a/b/d", false),
            ("/a*mem", "/a/tcp_rmem", true),
            ("", "x", false),
        ] {
            assert_eq!(glob(pattern, text), fits, "{pattern} on {text}");
        }
    }

    #[test]
    fn a_kernel_belongs_to_a_family() {
        for (name, of) in [
            ("6.1-rt", Some("6.1-rt")),
            ("vmlinuz-6.1.0-18-rt-amd64", Some("6.1-rt")),
            ("6.12.41+deb13-amd64", Some("6.12")),
            ("bzImage-6.6.52-rt43", Some("6.6-rt")),
            ("7.2", Some("7.2")),
            ("linux-start", None),
            ("vmlinuz", None),
        ] {
            assert_eq!(family(name).as_deref(), of, "{name}");
        }
        assert!(one_matches(&["6.1".to_owned()], "6.1.0-18-amd64"));
        assert!(!one_matches(&["6.1".to_owned()], "6.12.41-amd64"));
    }

    proptest! {
        #[test]
        fn what_a_pattern_was_made_from_fits_it(parts in prop::collection::vec("[ab/]{0,3}", 1..5),
                                                 fillers in prop::collection::vec("[abc]{0,3}", 5)) {
            let mut text = String::new();
            for (number, part) in parts.iter().enumerate() {
                if number > 0 {
                    text.push_str(&fillers[number]);
                }
                text.push_str(part);
            }
            prop_assert!(glob(&parts.join("*"), &text));
            prop_assert_eq!(glob(&text, &parts.concat()), text == parts.concat());
        }
    }
}
