//! Where a function of a program begins in its file, for a probe.

use crate::demangle::demangled;
use crate::program_file;
use blazesym::SymType;
use blazesym::inspect::Inspector;
use blazesym::inspect::source::{Elf, Source};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Names that are suggested in place of one that is not there.
const MOST_SUGGESTED: usize = 3;

/// A function in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionPlace {
    /// The program or library.
    pub path: PathBuf,
    /// The function as its source names it, with the parts of its scope.
    pub name: String,
    /// Where it begins in the file, in bytes.
    pub offset: u64,
}

/// Why a function has no place.
#[derive(Debug, thiserror::Error)]
pub enum FunctionPlaceError {
    /// The file cannot be read, or is no program.
    #[error("{}: {why}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// In words.
        why: String,
    },
    /// It has no function of this name.
    #[error(
        "{} has no function {function}{}; a program that was stripped has only the functions that it exports",
        path.display(), suggested(near)
    )]
    NoFunction {
        /// The file.
        path: PathBuf,
        /// As asked for.
        function: String,
        /// Functions whose names have that one in them.
        near: Vec<String>,
    },
    /// It has several.
    #[error("{} has several functions {function}: give one of {}", path.display(), names.join(", "))]
    Several {
        /// The file.
        path: PathBuf,
        /// As asked for.
        function: String,
        /// Their whole names.
        names: Vec<String>,
    },
}

fn suggested(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!("; it has {}", near.join(", ")) }
}

impl FunctionPlace {
    /// The function of a file, by its name in the symbol table or in the source (`Controller::step`), whole or without the scopes
    /// that it is in.
    ///
    /// # Errors
    /// [`FunctionPlaceError`].
    pub fn find(path: &Path, function: &str) -> Result<FunctionPlace, FunctionPlaceError> {
        let failed = |why: String| FunctionPlaceError::File { path: path.to_owned(), why };
        let path = program_file::checked(path).map_err(failed)?;
        let mut elf = Elf::new(&path);
        // Its debug information may be of any size; the symbols are all that is needed.
        elf.debug_syms = false;
        let (mut whole, mut parts, mut near) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        let listed = Inspector::new().for_each(&Source::Elf(elf), |symbol| {
            if let (SymType::Function, Some(offset)) = (symbol.sym_type, symbol.file_offset) {
                let name = demangled(&symbol.name);
                let name = without_arguments(&name);
                if symbol.name == function || name == function {
                    whole.insert(offset, name.to_owned());
                } else if name.strip_suffix(function).is_some_and(|scope| scope.ends_with("::")) {
                    parts.insert(offset, name.to_owned());
                } else if near.len() < MOST_SUGGESTED && name.contains(function) {
                    near.push(name.to_owned());
                }
            }
            ControlFlow::Continue(())
        });
        listed.map_err(|error| failed(error.to_string()))?;
        // One function may have several names.
        let found = if whole.is_empty() { parts } else { whole };
        let mut found = found.into_iter();
        match (found.next(), found.len()) {
            (Some((offset, name)), 0) => Ok(FunctionPlace { path, name, offset }),
            (Some(first), _) => {
                let names = [first].into_iter().chain(found).map(|(_, name)| name).collect();
                Err(FunctionPlaceError::Several { path, function: function.to_owned(), names })
            }
            (None, _) => Err(FunctionPlaceError::NoFunction { path, function: function.to_owned(), near }),
        }
    }
}

/// `a::b(int)` as `a::b`.
fn without_arguments(name: &str) -> &str {
    match name.find('(') {
        // `(anonymous namespace)::a`, `operator()`.
        Some(at) if at > 0 && !name[..at].ends_with("operator") && !name[..at].ends_with("::") => &name[..at],
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn a_function_to_be_found(by: u64) -> u64 {
        std::hint::black_box(by + 1)
    }

    #[test]
    fn a_function_of_this_program_is_found_by_the_end_of_its_name() {
        a_function_to_be_found(1);
        let own = std::env::current_exe().expect("this program");
        let place = FunctionPlace::find(&own, "a_function_to_be_found").expect("it is there");
        assert!(place.name.ends_with("function_place::tests::a_function_to_be_found"), "{}", place.name);
        let whole = FunctionPlace::find(&own, &place.name).expect("it is there");
        assert_eq!(whole, place);
        assert!(place.offset > 0);
    }

    #[test]
    fn what_is_not_there_is_named() {
        let own = std::env::current_exe().expect("this program");
        let error =
            FunctionPlace::find(&own, "function_to_be_foun").expect_err("it is not there").to_string();
        assert!(error.contains("no function function_to_be_foun; it has "), "{error}");
        let error = FunctionPlace::find(Path::new("/nowhere"), "main").expect_err("no file").to_string();
        assert!(error.starts_with("/nowhere: "), "{error}");
        let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let error = FunctionPlace::find(&text, "main").expect_err("no program").to_string();
        assert!(error.contains("Cargo.toml: it is no ELF program"), "{error}");
        let directory = tempfile::tempdir().expect("a directory");
        let blank = directory.path().join("a program");
        std::fs::copy(&own, &blank).expect("a copy");
        let error = FunctionPlace::find(&blank, "main").expect_err("a blank").to_string();
        assert!(error.contains("no path with a blank"), "{error}");
    }

    #[test]
    fn arguments_are_no_part_of_a_name() {
        for (name, expected) in [
            ("a::b(int)", "a::b"),
            ("main", "main"),
            ("(anonymous namespace)::a", "(anonymous namespace)::a"),
            ("A::operator()", "A::operator()"),
        ] {
            assert_eq!(without_arguments(name), expected);
        }
    }
}
