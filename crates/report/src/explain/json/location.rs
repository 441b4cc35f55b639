//! A place in a program on the wire.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use whylate_base::SourceLocation;

/// A place in a program; any member may be null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Where {
    /// The function, demangled.
    pub function: Option<String>,
    /// The source file, as the debug information has it.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The program's or library's path.
    pub module: Option<String>,
    /// The offset in the module's file.
    pub offset: Option<u64>,
}

impl From<&SourceLocation> for Where {
    fn from(location: &SourceLocation) -> Where {
        let SourceLocation { function, file, line, module, offset } = location.clone();
        Where { function, file, line, module, offset }
    }
}
