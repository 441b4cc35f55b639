//! What the programs of a recording lack for functions and lines, and what the user can do about it.

use whylate_events::{CodeModule, ModuleKind};

/// Modules that a sentence lists; the number of all others follows.
const LISTED: usize = 3;

/// How the sentences begin.
const NO_FUNCTIONS: &str = "no names for some functions of ";
const NO_LINES: &str = "no line numbers for ";

/// Modules without names, collected for one sentence each kind.
#[derive(Debug, Default)]
pub(crate) struct Missing {
    functions: Vec<String>,
    lines: Vec<String>,
}

impl Missing {
    /// Adds a module of which some addresses have no function, or none has a line. Nothing is missed in a library of the
    /// system: the line of its caller explains more.
    pub(crate) fn add(&mut self, module: &CodeModule, has_functions: bool, has_lines: bool) {
        let list = match (module.kind, has_functions, has_lines) {
            (ModuleKind::System, ..) | (_, _, true) => return,
            (_, false, false) => &mut self.functions,
            (_, true, false) => &mut self.lines,
        };
        list.push(match &module.build_id {
            Some(id) => format!("{} (build id {id})", module.path),
            None => format!("{} (without a build id: only its own symbols can be used)", module.path),
        });
    }

    /// Whether a note is one of these sentences, of an earlier search.
    pub(crate) fn is_sentence(note: &str) -> bool {
        note.starts_with(NO_FUNCTIONS) || note.starts_with(NO_LINES)
    }

    /// The sentences.
    pub(crate) fn sentences(self) -> impl Iterator<Item = String> {
        let functions = sentence(&self.functions, |all| {
            format!(
                "{NO_FUNCTIONS}{all}: install the debug symbols, or give their directory with --symbols DIR"
            )
        });
        let lines = sentence(&self.lines, |all| {
            format!(
                "{NO_LINES}{all}: compile with -g, install the debug symbols, or give their directory with \
                 --symbols DIR"
            )
        });
        functions.into_iter().chain(lines)
    }
}

fn sentence(modules: &[String], of: impl FnOnce(String) -> String) -> Option<String> {
    let listed = modules.get(..LISTED).unwrap_or(modules);
    let all = match (listed, modules.len() - listed.len()) {
        ([], _) => return None,
        (listed, 0) => listed.join(", "),
        (listed, others) => format!("{} and {others} more", listed.join(", ")),
    };
    Some(of(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_lists_three_modules_and_counts_the_others() {
        let mut missing = Missing::default();
        let module =
            |name: &str, kind| CodeModule { path: name.to_owned(), build_id: Some("12ab".to_owned()), kind };
        missing.add(&module("/lib/libc.so.6", ModuleKind::System), false, false);
        missing.add(&module("/opt/whole", ModuleKind::Program), false, true);
        assert_eq!(missing.sentences().count(), 0);
        let mut missing = Missing::default();
        for name in ["/opt/a", "/opt/b", "/opt/c", "/opt/d", "/opt/e"] {
            missing.add(&module(name, ModuleKind::Program), true, false);
        }
        missing.add(&CodeModule { build_id: None, ..module("/opt/f", ModuleKind::Program) }, false, false);
        let sentences: Vec<String> = missing.sentences().collect();
        assert!(
            sentences[0].starts_with("no names for some functions of /opt/f (without a build id"),
            "{sentences:?}"
        );
        assert!(
            sentences[1].contains(
                "/opt/a (build id 12ab), /opt/b (build id 12ab), /opt/c (build id 12ab) and 2 more:"
            )
        );
        assert!(sentences.len() == 2 && sentences.iter().all(|note| Missing::is_sentence(note)));
    }
}
