//! The function tracer, in an instance of its own: its events are many, and must not push out those that the ledger needs.

use super::error::RecordError;
use std::fs;
use whylate_ftrace::tracefs::{Instance, TracefsError};

/// The tracer's name.
const TRACER: &str = "function";
/// The switch of all function tracing (Documentation/trace/ftrace.rst).
const SWITCH: &str = "/proc/sys/kernel/ftrace_enabled";

/// Lets an instance trace the kernel functions of these names, in which `*` stands for anything; all where there is none.
/// Tracing begins when the instance is switched on.
///
/// # Errors
/// [`RecordError::Functions`]: why this kernel does not trace them.
pub(super) fn prepare(instance: &Instance, patterns: &[String]) -> Result<(), RecordError> {
    let refused = |why: String| RecordError::Functions { why };
    let tracers = instance.tracers()?;
    if !tracers.iter().any(|tracer| tracer == TRACER) {
        let others = tracers.join(" ");
        return Err(refused(format!(
            "this kernel has no function tracer (CONFIG_FUNCTION_TRACER); it has {others}"
        )));
    }
    if fs::read_to_string(SWITCH).is_ok_and(|value| value.trim() == "0") {
        return Err(refused(format!(
            "{SWITCH} is 0, which ends all function tracing: sysctl kernel.ftrace_enabled=1"
        )));
    }
    for pattern in patterns {
        instance.add_function(pattern).map_err(|error| {
            refused(format!(
                "{}; available_filter_functions of tracefs lists the functions, and a name may have * at its ends",
                in_words(&error)
            ))
        })?;
    }
    instance.set_tracer(TRACER).map_err(|error| {
        refused(format!("{}: this kernel does not trace functions in an instance", in_words(&error)))
    })
}

/// An error with the kernel's answer. That this process may make an instance was seen before.
fn in_words(error: &TracefsError) -> String {
    match (error, std::error::Error::source(error)) {
        (TracefsError::Permission { action, path }, _) => {
            let file = path.file_name().map(|name| name.display().to_string()).unwrap_or_default();
            format!("the kernel gives no permission to {action} {file}, to root neither")
        }
        (_, Some(source)) => format!("{error}: {source}"),
        (_, None) => error.to_string(),
    }
}
