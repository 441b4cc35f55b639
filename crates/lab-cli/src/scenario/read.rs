//! The sources of scenarios: built into this program, or a file of the user.

use super::Scenario;
use super::built_in::FILES;
use super::check::first_wrong;
use std::path::Path;
use thiserror::Error;

/// The reason why a scenario cannot be used.
#[derive(Debug, Error)]
pub enum ScenarioError {
    /// The file cannot be read.
    #[error("cannot read the scenario {path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// The reason.
        source: std::io::Error,
    },
    /// It is not TOML, lacks something, or has a field that is not known.
    #[error("{path} is not a scenario: {what}")]
    Syntax {
        /// The file.
        path: String,
        /// Line, column, and what is wrong there.
        what: String,
    },
    /// A word of it is not known.
    #[error("{path}:{line}: `{word}`: {why}")]
    Word {
        /// The file.
        path: String,
        /// Counted from 1.
        line: usize,
        /// The word.
        word: String,
        /// What is wrong with it, and what to write.
        why: String,
    },
    /// Neither a built-in scenario nor a file.
    #[error("`{name}` is neither a scenario nor a file: `whylate-lab run --list` names the scenarios{near}")]
    Unknown {
        /// The requested name.
        name: String,
        /// Scenarios of a similar name, if any.
        near: String,
    },
}

/// Every built-in scenario.
///
/// # Errors
/// When one of them is invalid, which a test excludes.
pub fn built_in() -> Result<Vec<Scenario>, ScenarioError> {
    FILES.iter().map(|(name, text)| parse(name, &format!("scenarios/{name}.toml"), text)).collect()
}

/// The scenario of that name, or in that file.
///
/// # Errors
/// When there is none, or it is invalid.
pub fn find(name: &str) -> Result<Scenario, ScenarioError> {
    match FILES.iter().find(|(known, _)| *known == name) {
        Some((_, text)) => parse(name, &format!("scenarios/{name}.toml"), text),
        None if Path::new(name).is_file() => load(Path::new(name)),
        None => Err(ScenarioError::Unknown { name: name.to_owned(), near: near(name) }),
    }
}

/// The scenario in a file.
///
/// # Errors
/// When it cannot be read, or is invalid.
pub fn load(path: &Path) -> Result<Scenario, ScenarioError> {
    let shown = path.display().to_string();
    let text =
        std::fs::read_to_string(path).map_err(|source| ScenarioError::Io { path: shown.clone(), source })?;
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    parse(&name, &shown, &text)
}

fn parse(name: &str, path: &str, text: &str) -> Result<Scenario, ScenarioError> {
    let scenario: Scenario = toml::from_str(text).map_err(|error| ScenarioError::Syntax {
        path: path.to_owned(),
        what: error.to_string().trim_end().to_owned(),
    })?;
    if let Some(wrong) = first_wrong(&scenario) {
        let line = text.lines().position(|line| line.contains(&wrong.word)).map_or(1, |at| at + 1);
        return Err(ScenarioError::Word { path: path.to_owned(), line, word: wrong.word, why: wrong.why });
    }
    Ok(Scenario { name: name.to_owned(), ..scenario })
}

fn near(name: &str) -> String {
    let start: String = name.chars().take(3).collect();
    let near: Vec<&str> = FILES
        .iter()
        .map(|(known, _)| *known)
        .filter(|known| !start.is_empty() && known.contains(&start))
        .collect();
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str =
        "title = 'x'\ninject = ['higher']\n[[expect]]\ncauses = ['irq']\nculprits = ['none']\n";

    #[test]
    fn every_file_is_built_in_and_right() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
        let mut files: Vec<String> = std::fs::read_dir(dir)
            .expect("the directory of scenarios")
            .filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.strip_suffix(".toml")?.to_owned()))
            .collect();
        files.sort();
        let names: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, files, "built_in.rs must list the files of scenarios");
        let scenarios = built_in().expect("every scenario is valid");
        assert_eq!(
            scenarios.iter().map(|scenario| &scenario.name).collect::<Vec<_>>(),
            files.iter().collect::<Vec<_>>()
        );
        for kernel in ["6.1", "6.1-rt", "6.12", "6.12-rt", "7.2", "7.2-rt"] {
            for scenario in &scenarios {
                let covered = crate::pattern::one_matches(&scenario.kernels, kernel);
                assert!(!covered || scenario.expectation(kernel).is_some(), "{} on {kernel}", scenario.name);
            }
        }
    }

    #[test]
    fn an_error_has_its_line() {
        assert!(parse("x", "x.toml", GOOD).is_ok());
        for (from, to, expected) in [
            ("'irq'", "'irk'", "x.toml:4: `irk`: not a cause"),
            ("'none'", "'nothing'", "x.toml:5: `nothing`: not a culprit"),
            ("title", "tittle", "line 1"),
            ("['higher']", "[]", "x.toml:2: `inject`: no fault"),
            (
                "[[expect]]\ncauses",
                "duration = '2'\n[[expect]]\ncauses",
                "x.toml:3: `2`: `2` is not a duration",
            ),
            ("[[expect]]\n", "settings = ['sys = 1']\n[[expect]]\n", "x.toml:3: `sys = 1`: not a setting"),
            ("causes = ['irq']\n", "", "write `causes`"),
            ("causes", "not-judged = ['irk']\ncauses", "x.toml:4: `irk`: not a cause"),
            ("[[expect]]\n", "duration = '2000h'\n[[expect]]\n", "x.toml:3: `2000h`: too short or too long"),
            ("[[expect]]\n", "time = 'free'\nstop-ms = 99999999\n[[expect]]\n", "x.toml:4: `stop-ms`"),
            ("[[expect]]\n", "stop-ms = 20\n[[expect]]\n", "time = \"free\""),
            ("[[expect]]\n", "record-after-ms = 999999999\n[[expect]]\n", "x.toml:3: `record-after-ms`"),
            (
                "[[expect]]\n",
                "architectures = ['mips']\n[[expect]]\n",
                "x.toml:3: `mips`: not an architecture",
            ),
            ("[[expect]]\n", "[peer]\ninject = []\n[[expect]]\n", "x.toml:3: `peer`"),
            (
                "[[expect]]\n",
                "record-for = '1s'\n[peer]\ninject = ['slave']\n[[expect]]\n",
                "x.toml:4: `peer`",
            ),
            ("title = 'x'", "title = 'x", "line 1"),
        ] {
            let text = GOOD.replace(from, to);
            let error = parse("x", "x.toml", &text).expect_err(to).to_string();
            assert!(error.contains(expected), "{to}: {error}");
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_near_ones() {
        let error = find("higher-than").expect_err("no such scenario").to_string();
        assert!(error.contains("higher") && error.contains("--list"), "{error}");
        assert!(find("/nowhere/x.toml").is_err());
    }
}
