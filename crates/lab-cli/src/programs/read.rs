//! Reads the files of `programs`.

use super::Case;
use super::files::FILES;
use crate::scenario::ExpectedCulprit;
use std::path::Path;
use thiserror::Error;
use whylate_base::parse_duration;
use whylate_ledger::finding_page;

/// The reason why a case cannot be used.
#[derive(Debug, Error)]
pub enum CaseError {
    /// The file cannot be read, is not TOML, or has a word that is not known.
    #[error("{path} is not a case of programs: {what}")]
    Syntax {
        /// The file.
        path: String,
        /// What is wrong, and what to write.
        what: String,
    },
    /// Neither a built-in case nor a file.
    #[error("`{0}` is neither a case of programs nor a file: `whylate-lab programs --list` names the cases")]
    Unknown(String),
}

/// Every built-in case.
///
/// # Errors
/// When one of them is invalid, which a test excludes.
pub fn built_in() -> Result<Vec<Case>, CaseError> {
    FILES.iter().map(|(name, text)| parse(name, &format!("programs/{name}.toml"), text)).collect()
}

/// The case of that name, or in that file.
///
/// # Errors
/// When there is none, or it is invalid.
pub fn find(name: &str) -> Result<Case, CaseError> {
    if let Some((_, text)) = FILES.iter().find(|(known, _)| *known == name) {
        return parse(name, &format!("programs/{name}.toml"), text);
    }
    let path = Path::new(name);
    if !path.is_file() {
        return Err(CaseError::Unknown(name.to_owned()));
    }
    let syntax = |error: std::io::Error| CaseError::Syntax { path: name.to_owned(), what: error.to_string() };
    let text = std::fs::read_to_string(path).map_err(syntax)?;
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    parse(&stem, name, &text)
}

fn parse(name: &str, path: &str, text: &str) -> Result<Case, CaseError> {
    let syntax = |what: String| CaseError::Syntax { path: path.to_owned(), what };
    let case: Case = toml::from_str(text).map_err(|error| syntax(error.to_string().trim_end().to_owned()))?;
    match first_wrong(&case) {
        Some(wrong) => Err(syntax(wrong)),
        None => Ok(Case { name: name.to_owned(), ..case }),
    }
}

/// The first word that is wrong, and what to write.
fn first_wrong(case: &Case) -> Option<String> {
    if case.cpus == 0 || case.cpus > 16 {
        return Some("`cpus`: a guest has 1 to 16 CPUs".to_owned());
    }
    if case.victims.is_empty() || case.programs.is_empty() || case.packages.is_empty() {
        return Some("write at least one of each: `victims`, `programs`, `packages`".to_owned());
    }
    if let Err(error) = parse_duration(&case.late) {
        return Some(error.to_string());
    }
    if case.truth.is_none() && (case.is_healthy() || case.faults.iter().any(|fault| fault.had_cpu.is_empty()))
    {
        return Some("no truth: write `truth`, or `had-cpu` for each fault".to_owned());
    }
    let causes = case.faults.iter().flat_map(|fault| &fault.causes);
    if let Some(code) = causes.chain(&case.may).find(|code| finding_page(code).is_none()) {
        return Some(format!(
            "`{code}` is neither a cause nor a finding: `whylate explain --code list` names them all"
        ));
    }
    if case.faults.iter().any(|fault| fault.causes.is_empty()) {
        return Some("a fault without `causes`".to_owned());
    }
    let mut culprits = case.faults.iter().flat_map(|fault| &fault.culprits);
    let known = |culprit: &String| match ExpectedCulprit::parse(culprit) {
        Some(ExpectedCulprit::Part(_)) | None => false,
        Some(_) => true,
    };
    let culprit = culprits.find(|culprit| !known(culprit))?;
    Some(format!("`{culprit}` is not a culprit: write thread:PATTERN, irq:PATTERN, softirq:PATTERN or none"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "title = 'x'\nprograms = ['fio']\npackages = ['fio']\nscript = 'fio'\nvictims = ['fio']\n\
                        truth = 'true'\n[[faults]]\ncauses = ['irq']\nculprits = ['none']\n";

    #[test]
    fn every_file_is_built_in_and_right() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
        let mut files: Vec<String> = std::fs::read_dir(dir)
            .expect("the directory of cases")
            .filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.strip_suffix(".toml")?.to_owned()))
            .collect();
        files.sort();
        let names: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, files, "read.rs must list the files of programs");
        for case in built_in().expect("every case is valid") {
            let kernels = ["6.1", "6.1-rt", "6.12", "6.12-rt", "7.2", "7.2-rt"];
            assert!(kernels.into_iter().any(|kernel| case.applies_to(kernel)), "{}", case.name);
        }
    }

    #[test]
    fn what_is_wrong_in_a_case_is_named() {
        assert!(parse("x", "x.toml", GOOD).is_ok());
        let with_finding = GOOD.replace("truth", "may = ['realtime-refused']\ntruth");
        assert!(parse("x", "x.toml", &with_finding).is_ok());
        for (from, to, expected) in [
            ("'irq'", "'irk'", "`irk` is neither a cause nor a finding"),
            ("'none'", "'part:culprit'", "`part:culprit` is not a culprit"),
            ("truth", "may = ['irk']\ntruth", "`irk` is neither a cause nor a finding"),
            ("['irq']", "[]", "without `causes`"),
            ("truth = 'true'\n", "", "no truth"),
            ("title", "tittle", "tittle"),
            ("truth", "late = '5'\ntruth", "not a duration"),
            ("victims = ['fio']", "victims = []", "`victims`"),
            ("truth", "cpus = 0\ntruth", "1 to 16 CPUs"),
        ] {
            let text = GOOD.replace(from, to);
            let error = parse("x", "x.toml", &text).expect_err(to).to_string();
            assert!(error.contains(expected), "{to}: {error}");
        }
        assert!(find("no-such-case").expect_err("none").to_string().contains("--list"));
    }
}
