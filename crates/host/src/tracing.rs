//! The trace settings of the kernel, which a tool may have left on.

use crate::table::readings;
use crate::{FsRoot, Reading};

const DIR: &str = "/sys/kernel/tracing";

/// The buffers of ftrace: the one at the top, and instances.
#[derive(Clone, Debug, PartialEq)]
pub struct Tracing {
    /// The buffer that is always there.
    pub top: TraceInstance,
    /// The others, each with its name.
    pub instances: Reading<Vec<(String, TraceInstance)>>,
}

readings! {
    /// A trace buffer (Documentation/trace/ftrace.rst).
    pub struct TraceInstance {
        /// The tracer; `nop`: none.
        pub tracer: String = "current_tracer",
        /// Whether the trace data is also recorded.
        pub on: bool = "tracing_on",
        /// `0`: no event is enabled; `1`: all; `X`: some.
        pub events: String = "events/enable",
    }
}

impl Tracing {
    pub(crate) fn read(tree: &FsRoot) -> Tracing {
        let dir = format!("{DIR}/instances");
        Tracing {
            top: TraceInstance::read(tree, DIR),
            instances: tree.list(&dir).and_then(|names| {
                let of = |name: &String| (name.clone(), TraceInstance::read(tree, &format!("{dir}/{name}")));
                Ok(names.iter().map(of).collect())
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_and_instances() {
        let tracing = Tracing::read(&FsRoot::memory(&[
            ("/sys/kernel/tracing/current_tracer", "nop\n"),
            ("/sys/kernel/tracing/events/enable", "X\n"),
            ("/sys/kernel/tracing/instances/a/current_tracer", "function\n"),
        ]));
        assert_eq!(tracing.top.events.known().map(String::as_str), Some("X"));
        let instances = tracing.instances.need().expect("instances");
        assert_eq!(instances[0].0, "a");
        assert_eq!(instances[0].1.tracer.known().map(String::as_str), Some("function"));
        assert!(Tracing::read(&FsRoot::memory(&[("/sys/x", "")])).top.tracer.value.is_err());
    }
}
