//! The part of a trace, for `convert` and `explain`.

use clap::Args;
use whylate_base::CpuSet;
use whylate_ledger::{Instant, Scope};

/// Which part of a trace.
#[derive(Debug, Args)]
pub(crate) struct ScopeArgs {
    /// Leave out what is before this time: seconds of the trace clock, such as 1999.123456, or a duration from the start,
    /// such as +1.5s
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<Instant>,
    /// Leave out what is after this time
    #[arg(long, value_name = "TIME")]
    pub(crate) to: Option<Instant>,
    /// Keep what is on these CPUs, such as 0-3,8
    #[arg(long, value_name = "LIST", value_parser = super::values::some_cpus)]
    pub(crate) cpu: Option<CpuSet>,
}

impl ScopeArgs {
    /// The part that is asked for.
    pub(crate) fn scope(&self) -> Scope {
        Scope { from: self.from, to: self.to, cpus: self.cpu.clone() }
    }

    /// Fails where it ends before it begins, whatever the trace.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        anyhow::ensure!(!self.scope().is_backwards(), "--to is before --from: nothing can be between them");
        Ok(())
    }
}
