//! A place in a program: what is known of it.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A place in a program's code. Any member may be unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SourceLocation {
    /// The function, demangled.
    pub function: Option<String>,
    /// The source file, as the debug information has it.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The program or library.
    pub module: Option<String>,
    /// The offset in the module's file.
    pub offset: Option<u64>,
}

/// ``queue.cpp:88 (`Queue::push`)``, `` `write` in libc.so.6``, `controller+0x1234`: as much as is known.
impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn name(path: &str) -> &str {
            path.rsplit('/').next().unwrap_or(path)
        }
        match (&self.file, &self.function, &self.module) {
            (Some(file), function, _) => {
                f.write_str(name(file))?;
                self.line.map_or(Ok(()), |line| write!(f, ":{line}"))?;
                function.as_ref().map_or(Ok(()), |function| write!(f, " (`{function}`)"))
            }
            (None, Some(function), Some(module)) => write!(f, "`{function}` in {}", name(module)),
            (None, Some(function), None) => write!(f, "`{function}`"),
            (None, None, Some(module)) => write!(f, "{}+{:#x}", name(module), self.offset.unwrap_or(0)),
            (None, None, None) => write!(f, "{:#x}", self.offset.unwrap_or(0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_much_as_is_known_is_shown() {
        let text = |text: &str| Some(text.to_owned());
        let all = SourceLocation {
            function: text("Queue::push"),
            file: text("/src/queue.cpp"),
            line: Some(88),
            module: text("/opt/bin/control"),
            offset: Some(0x1234),
        };
        assert_eq!(all.to_string(), "queue.cpp:88 (`Queue::push`)");
        let no_file = SourceLocation { file: None, line: None, ..all.clone() };
        assert_eq!(no_file.to_string(), "`Queue::push` in control");
        let stripped = SourceLocation { function: None, ..no_file };
        assert_eq!(stripped.to_string(), "control+0x1234");
        assert_eq!(SourceLocation { module: None, ..stripped }.to_string(), "0x1234");
    }
}
