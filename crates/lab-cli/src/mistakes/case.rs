//! A case: the source of a small program, the lines that its comments mark, and how it is built.

use super::codes::group_of;
use serde::Deserialize;

/// The comment that marks a faulty line.
const MARK: &str = "MISTAKE: ";

/// What a program is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Compiled by gcc.
    C,
    /// Compiled by g++.
    Cpp,
    /// A static library of rustc, linked with `harness.c`.
    Rust,
    /// Run by python3.
    Python,
}

impl Language {
    /// The language of a file of that name, by its ending.
    pub fn of(file: &str) -> Option<Language> {
        match file.rsplit_once('.')?.1 {
            "c" => Some(Language::C),
            "cpp" => Some(Language::Cpp),
            "rs" => Some(Language::Rust),
            "py" => Some(Language::Python),
            _ => None,
        }
    }

    /// As people write it.
    pub fn name(self) -> &'static str {
        match self {
            Language::C => "C",
            Language::Cpp => "C++",
            Language::Rust => "Rust",
            Language::Python => "Python",
        }
    }

    fn comment(self) -> &'static str {
        match self {
            Language::Python => "#",
            _ => "//",
        }
    }
}

/// A line that a comment marks as faulty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The code of the mistake.
    pub code: String,
    /// Counted from 1.
    pub line: u32,
}

/// What the first comment of a source declares, as TOML.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Header {
    title: String,
    #[serde(default)]
    code: String,
    #[serde(default)]
    clean: bool,
    #[serde(default)]
    without_line: bool,
    #[serde(default)]
    flags: Vec<String>,
    #[serde(default)]
    stripped: bool,
    #[serde(default)]
    also: Vec<String>,
    #[serde(default)]
    verified: String,
}

/// A program with one mistake, or with none. The clean twin of one with a mistake is the same source with `CLEAN` defined, or
/// called with `clean`.
#[derive(Clone, Debug)]
pub struct Case {
    /// The file's name, with its ending.
    pub name: String,
    /// What it is written in.
    pub language: Language,
    /// The mistake, in one line.
    pub title: String,
    /// Its code; empty where the program has none.
    pub code: String,
    /// True where the mistake is something that is missing, or a state: no line of the program is wrong.
    pub without_line: bool,
    /// For the compiler.
    pub flags: Vec<String>,
    /// True where the program is run without its symbols.
    pub stripped: bool,
    /// Codes that are true as well, as consequences of the mistake: neither right nor wrong.
    pub also: Vec<String>,
    /// How the mistake was confirmed without whylate; empty where there is none.
    pub verified: String,
    /// The marked lines.
    pub marks: Vec<Mark>,
    /// The program.
    pub source: String,
}

impl Case {
    /// Reads a case from its source.
    ///
    /// # Errors
    /// What is wrong in it, and what to write.
    pub fn parse(name: &str, source: &str) -> Result<Case, String> {
        let language = Language::of(name)
            .ok_or_else(|| "the ending is not of a known language: write .c, .cpp, .rs or .py".to_owned())?;
        let header = header(language, source);
        let header: Header = toml::from_str(&header)
            .map_err(|error| format!("its first comment is not a label: {}", error.to_string().trim_end()))?;
        let case = Case {
            name: name.to_owned(),
            language,
            title: header.title,
            code: header.code,
            without_line: header.without_line,
            flags: header.flags,
            stripped: header.stripped,
            also: header.also,
            verified: header.verified,
            marks: marks(language, source),
            source: source.to_owned(),
        };
        if header.clean != case.code.is_empty() {
            return Err("write either the `code` of its mistake, or `clean = true`".to_owned());
        }
        match case.first_wrong() {
            Some(wrong) => Err(wrong),
            None => Ok(case),
        }
    }

    /// The lines on which the mistake stands; none for a mistake without a line.
    pub fn lines(&self) -> impl Iterator<Item = u32> {
        self.marks.iter().filter(|mark| mark.code == self.code).map(|mark| mark.line)
    }

    /// True for the code of the mistake, and for codes that are true as well.
    pub fn is_true(&self, code: &str) -> bool {
        code == self.code
            || self.also.iter().any(|also| also == code)
            || self.marks.iter().any(|mark| mark.code == code)
    }

    /// What is run: the program and its clean twin (true), or the program alone where it has no mistake.
    pub fn runs(&self) -> impl Iterator<Item = (&Case, bool)> {
        let has_mistake = !self.code.is_empty();
        has_mistake.then_some((self, false)).into_iter().chain([(self, true)])
    }

    fn first_wrong(&self) -> Option<String> {
        if self.stripped && matches!(self.language, Language::Python | Language::Rust) {
            return Some("`stripped` is for programs in C and C++".to_owned());
        }
        if self.code.is_empty() {
            let is_marked = !self.marks.is_empty() || !self.also.is_empty();
            return is_marked.then(|| "a program without a mistake has no marks and no `also`".to_owned());
        }
        let marked = self.marks.iter().map(|mark| &mark.code);
        if let Some(code) =
            [&self.code].into_iter().chain(&self.also).chain(marked).find(|code| group_of(code).is_none())
        {
            return Some(format!("`{code}` is not the code of a mistake"));
        }
        if self.without_line == self.lines().next().is_some() {
            let todo = "mark its line with a comment, or write `without-line = true`";
            return Some(format!("`{}` needs either a marked line or none: {todo}", self.code));
        }
        if self.verified.trim().is_empty() || self.title.trim().is_empty() {
            return Some("write `title`, and how the mistake was `verified` without whylate".to_owned());
        }
        None
    }
}

/// The first comment, without the marks of comments.
fn header(language: Language, source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix(language.comment()));
    lines.map(|line| format!("{}\n", line.trim_start())).collect()
}

fn marks(language: Language, source: &str) -> Vec<Mark> {
    let mark = format!("{} {MARK}", language.comment());
    let on = |(index, line): (usize, &str)| {
        let code = line.split_once(&mark)?.1.trim();
        Some(Mark { code: code.to_owned(), line: u32::try_from(index + 1).ok()? })
    };
    source.lines().enumerate().filter_map(on).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "// title = \"x\"\n// code = \"file-write\"\n// flags = [\"-O2\"]\n// also = [\"file-sync\"]\n\
                        // verified = \"strace\"\n// # A remark.\nint main() {\n\twrite(); // MISTAKE: file-write\n\topen(); // MISTAKE: file-open\n}\n";

    #[test]
    fn the_line_is_read_from_the_source() {
        let case = Case::parse("a.c", GOOD).expect("a case");
        assert_eq!((case.language, case.lines().collect::<Vec<_>>()), (Language::C, vec![8]));
        assert_eq!(case.flags, ["-O2"]);
        for (code, is_true) in
            [("file-write", true), ("file-sync", true), ("file-open", true), ("fifo-99", false)]
        {
            assert_eq!(case.is_true(code), is_true, "{code}");
        }
        let python = GOOD.replace("//", "#");
        assert_eq!(Case::parse("a.py", &python).expect("a case").lines().collect::<Vec<_>>(), [8]);
    }

    #[test]
    fn a_program_without_a_mistake_has_one_run() {
        let clean = "// title = \"x\"\n// clean = true\nint main() {}\n";
        let runs = |source: &str| {
            let case = Case::parse("a.c", source).expect("a case");
            case.runs().map(|(_, clean)| clean).collect::<Vec<_>>()
        };
        assert_eq!(runs(clean), [true]);
        assert_eq!(runs(GOOD), [false, true]);
        for (source, expected) in [
            (clean.replace("{}", "{} // MISTAKE: file-write"), "no marks"),
            (clean.replace("// clean", "// code = \"fifo-99\"\n// clean"), "either"),
            (clean.replace("// clean = true\n", ""), "either"),
        ] {
            let error = Case::parse("a.c", &source).expect_err(expected);
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn what_is_wrong_in_a_case_is_named() {
        for (name, from, to, expected) in [
            ("a.c", "code = \"file-write\"", "code = \"file-writes\"", "`file-writes` is not the code"),
            ("a.c", "MISTAKE: file-write", "", "a marked line"),
            ("a.c", "// also", "// without-line = true\n// also", "without-line"),
            ("a.c", "\"strace\"", "\"\"", "verified"),
            ("a.c", "title", "tittle", "tittle"),
            ("a.c", "file-sync", "file-sink", "`file-sink`"),
            ("a.c", "MISTAKE: file-open", "MISTAKE: file-opened", "`file-opened`"),
            ("a.java", "x", "x", ".cpp"),
            ("a.rs", "// also", "// stripped = true\n// also", "stripped"),
        ] {
            let error = Case::parse(name, &GOOD.replace(from, to)).expect_err(to);
            assert!(error.contains(expected), "{to}: {error}");
        }
        assert!(Case::parse("a.c", "").is_err());
    }
}
