//! Functions and lines for the call stacks of a recording that was made elsewhere.

use std::path::PathBuf;
use std::sync::Arc;
use whylate_events::{EventSource, TraceInfo};
use whylate_intake::WithInfo;
use whylate_stacks::{ModuleFiles, SymbolOptions, symbolize};

/// The same recording, with the functions and lines of its call stacks that its own machine could not name, found by build
/// id in `directories`.
pub fn with_symbols(source: Box<dyn EventSource>, directories: &[PathBuf]) -> Box<dyn EventSource> {
    let Some(stacks) = source.info().stacks.clone().filter(|_| !directories.is_empty()) else {
        return source;
    };
    let mut stacks = Arc::unwrap_or_clone(stacks);
    // What was missing there may be here; what still is, is noted again.
    stacks.notes.clear();
    let options = SymbolOptions { debug_dirs: directories.to_vec(), kallsyms: None };
    symbolize(&mut stacks, &ModuleFiles::default(), &options);
    let stacks = Arc::new(stacks);
    Box::new(WithInfo::new(source, move |info: &mut TraceInfo| info.stacks = Some(stacks.clone())))
}
