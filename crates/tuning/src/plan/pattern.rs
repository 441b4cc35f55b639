//! Patterns for names.

use regex_lite::Regex;
use whylate_base::glob;
use whylate_host::Thread;
use whylate_profiles::{Pattern, ThreadSelector};

/// A pattern that is ready to be matched.
enum Ready<'a> {
    Glob(&'a str),
    Regex(Box<Regex>),
}

impl Ready<'_> {
    fn of(pattern: &Pattern) -> Result<Ready<'_>, String> {
        Ok(match pattern {
            Pattern::Glob(glob) => Ready::Glob(glob),
            Pattern::Regex(text) => Ready::Regex(Box::new(
                Regex::new(text).map_err(|error| format!("/{text}/ is not a regular expression: {error}"))?,
            )),
        })
    }

    fn is_of(&self, name: &str) -> bool {
        match self {
            Ready::Glob(pattern) => glob(pattern, name),
            Ready::Regex(regex) => regex.is_match(name),
        }
    }
}

/// The threads of a pattern: those with the name, less the exceptions. This program's own are never meant.
pub(super) fn threads<'a>(wanted: &ThreadSelector, all: &'a [Thread]) -> Result<Vec<&'a Thread>, String> {
    let named = Ready::of(&wanted.named)?;
    let except = wanted.except.iter().map(Ready::of).collect::<Result<Vec<_>, _>>()?;
    let is_meant = |thread: &&Thread| {
        let name = name(thread);
        thread.comm != "whylate" && named.is_of(&name) && !except.iter().any(|pattern| pattern.is_of(&name))
    };
    Ok(all.iter().filter(is_meant).collect())
}

/// A thread's name, in brackets if it is the kernel's.
pub(super) fn name(thread: &Thread) -> String {
    match thread.kernel {
        true => format!("[{}]", thread.comm),
        false => thread.comm.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn globs() {
        for (pattern, name, matches) in [
            ("*", "", true),
            ("[ktimers/*]", "[ktimers/12]", true),
            ("[ktimers/*]", "ktimers/12", false),
            ("a*b*c", "axbxbc", true),
            ("a*b*c", "ac", false),
            ("a*a", "a", false),
            ("a*", "a", true),
            ("*a", "ba", true),
            ("**", "x", true),
            ("x", "xx", false),
            ("?", "x", false),
        ] {
            assert_eq!(glob(pattern, name), matches, "{pattern} {name}");
        }
    }

    proptest! {
        #[test]
        fn globs_agree_with_regular_expressions(pattern in "[ab*]{0,6}", name in "[ab]{0,8}") {
            let regex = Regex::new(&format!("^{}$", pattern.replace('*', ".*"))).expect("a pattern");
            prop_assert_eq!(glob(&pattern, &name), regex.is_match(&name));
        }
    }
}
