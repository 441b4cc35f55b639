//! Functions and lines of addresses, from ELF files by blazesym and from the text files of generated code.

use crate::demangle::demangled;
use blazesym::Pid;
use blazesym::symbolize::source::{Elf, Process, Source};
use blazesym::symbolize::{CodeInfo, Input, Sym, Symbolized, Symbolizer};
use std::path::{Path, PathBuf};
use whylate_events::CodeLocation;

/// Reads symbol tables and debug information; what was read stays in memory for further addresses.
pub(crate) struct Names {
    symbolizer: Symbolizer,
}

impl Names {
    /// Supplementary debug files, which several debug files share, are searched in `directories` as well.
    pub(crate) fn new(directories: &[PathBuf]) -> Names {
        let all = directories.iter().cloned().chain([PathBuf::from("/usr/lib/debug")]);
        Names { symbolizer: Symbolizer::builder().set_debug_dirs(Some(all)).build() }
    }

    /// The locations of the addresses of an ELF file, in their order; empty ones where there is none.
    ///
    /// # Errors
    /// Why the file's symbols or debug information cannot be read.
    pub(crate) fn of_file(
        &self,
        path: &Path,
        debug_info: bool,
        addresses: &[u64],
    ) -> Result<Vec<Vec<CodeLocation>>, String> {
        let mut file = Elf::new(path);
        file.debug_syms = debug_info;
        let found = self.symbolizer.symbolize(&Source::Elf(file), Input::VirtOffset(addresses));
        Ok(found.map_err(|error| error.to_string())?.iter().map(locations).collect())
    }

    /// The same of the vDSO, which this process has at `start`.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub(crate) fn of_vdso(&self, start: u64, addresses: &[u64]) -> Result<Vec<Vec<CodeLocation>>, String> {
        let mut process = Process::new(Pid::Slf);
        (process.map_files, process.perf_map) = (false, false);
        let here: Vec<u64> = addresses.iter().map(|address| start.wrapping_add(*address)).collect();
        let found = self.symbolizer.symbolize(&Source::Process(process), Input::AbsAddr(&here));
        Ok(found.map_err(|error| error.to_string())?.iter().map(locations).collect())
    }
}

/// The innermost inlined function first; blazesym has the outermost first.
fn locations(found: &Symbolized<'_>) -> Vec<CodeLocation> {
    let Symbolized::Sym(Sym { name, code_info, inlined, .. }) = found else { return Vec::new() };
    let inlined = inlined.iter().rev().map(|function| location(&function.name, function.code_info.as_ref()));
    inlined.chain([location(name, code_info.as_deref())]).collect()
}

fn location(function: &str, code: Option<&CodeInfo<'_>>) -> CodeLocation {
    CodeLocation {
        function: (!function.is_empty()).then(|| without_signature(&demangled(function)).to_owned()),
        file: code.map(|code| code.to_path().to_string_lossy().into_owned()),
        line: code.and_then(|code| code.line).filter(|&line| line > 0),
    }
}

/// A demangled C++ name without its parameters and its result: `long Queue<int>::push<long>(long) const` is
/// `Queue<int>::push<long>`. The line shows which of several overloads it is.
fn without_signature(name: &str) -> &str {
    let whole = name;
    let mut name = name.split(" [clone ").next().unwrap_or(name);
    while let Some(rest) =
        [" const", " volatile", " &", " &&"].iter().find_map(|suffix| name.strip_suffix(suffix))
    {
        name = rest;
    }
    if !name.ends_with(')') {
        return whole;
    }
    let mut depth = 0;
    let opening = name.char_indices().rev().find(|&(_, character)| {
        depth += match character {
            ')' => 1,
            '(' => -1,
            _ => 0,
        };
        depth == 0
    });
    let Some(before) = opening.and_then(|(at, _)| name.get(..at)) else { return whole };
    if before.is_empty() || before.ends_with("operator") {
        return whole;
    }
    // The names of operators have spaces and brackets of their own.
    match before.contains("operator") {
        true => before,
        false => before.get(last_word(before)..).unwrap_or(before),
    }
}

/// Where the last word begins that a space outside of brackets separates: in front of it is the type of the result.
fn last_word(text: &str) -> usize {
    let (mut depth, mut start) = (0, 0);
    for (at, character) in text.char_indices() {
        match character {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => depth -= 1,
            ' ' if depth == 0 => start = at + 1,
            _ => {}
        }
    }
    start
}

/// The location of a name in a perf map file. Python writes `py::FUNCTION:FILE` (`Python/perf_trampoline.c`).
pub(crate) fn of_generated(name: &str) -> CodeLocation {
    let python = name.strip_prefix("py::").and_then(|rest| rest.split_once(':'));
    let (function, file) = match python {
        Some((function, file)) => (function, Some(file.to_owned())),
        None => (name, None),
    };
    CodeLocation { function: Some(function.to_owned()), file, line: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_generated_code_have_pythons_file() {
        for (name, function, file) in [
            ("py::Loop.step:/srv/control.py", "Loop.step", Some("/srv/control.py")),
            ("py::<module>:/srv/a:b.py", "<module>", Some("/srv/a:b.py")),
            ("LazyCompile:~step /srv/a.js:3", "LazyCompile:~step /srv/a.js:3", None),
            ("py::", "py::", None),
        ] {
            let found = of_generated(name);
            assert_eq!((found.function.as_deref(), found.file.as_deref()), (Some(function), file), "{name}");
        }
    }

    #[test]
    fn names_are_shown_without_parameters_and_result() {
        for (name, expected) in [
            ("main", "main"),
            ("Queue::push(int)", "Queue::push"),
            ("plant::Queue<long>::push(long, int) const", "plant::Queue<long>::push"),
            ("long plant::f<long>(std::function<void (int)>)", "plant::f<long>"),
            (
                "unsigned long (anonymous namespace)::f<int>(int) [clone .cold]",
                "(anonymous namespace)::f<int>",
            ),
            (
                "run(Queue&)::{lambda(int)#1}::operator()(int) const",
                "run(Queue&)::{lambda(int)#1}::operator()",
            ),
            ("operator()", "operator()"),
            ("Queue::operator unsigned long() const", "Queue::operator unsigned long"),
            ("operator new(unsigned long)", "operator new"),
            ("bool operator< <int>(A<int> const&, B)", "bool operator< <int>"),
            ("<impl core::fmt::Debug for (A, B)>::fmt", "<impl core::fmt::Debug for (A, B)>::fmt"),
            ("control::step::{{closure}}", "control::step::{{closure}}"),
            (")", ")"),
            ("(a)", "(a)"),
        ] {
            assert_eq!(without_signature(name), expected);
        }
    }

    #[test]
    fn a_file_without_symbols_is_an_error_or_has_no_locations() {
        let names = Names::new(&[]);
        assert!(names.of_file(Path::new("/nonexistent"), true, &[1]).is_err());
        let here = names.of_file(Path::new("/proc/self/exe"), true, &[1 << 62]).expect("this program");
        assert_eq!(here, [Vec::new()]);
    }
}
