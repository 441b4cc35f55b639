//! The arguments of `whylate explain`.

use super::output::{OutputArgs, file_of, format_of};
use super::scope::ScopeArgs;
use super::selection::Selection;
use super::values::positive_duration;
use clap::Args;
use std::path::PathBuf;
use whylate_base::Ns;
use whylate_ledger::{ChainOptions, ChainPattern};
use whylate_report::explain::Explained;

/// `whylate explain`
#[derive(Debug, Args)]
#[command(mut_arg("format", format_of::<Explained<'_>>), mut_arg("output", file_of::<Explained<'_>>))]
pub(crate) struct ExplainArgs {
    /// The trace; `-` reads it from standard input
    #[arg(required_unless_present = "code")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Look for programs and separate debug files (by build id) of recorded call stacks in this directory (repeatable)
    #[arg(long, value_name = "DIR")]
    pub(crate) symbols: Vec<PathBuf>,
    /// Print the page of a cause or finding, such as rt-throttled, and exit; `list` prints all codes
    #[arg(long, value_name = "CAUSE")]
    pub(crate) code: Option<String>,
    #[command(flatten)]
    pub(crate) chains: ChainArgs,
    #[command(flatten)]
    pub(crate) host: HostArgs,
    /// PEER was recorded at the same time on another machine, with which FILE's exchanged packets: explain round trips by what
    /// both did
    ///
    /// The clocks are joined by the packets: none arrives before it was sent. The report has the error of the join. Where no
    /// offset agrees with all packets, or several do, this fails with exit code 2. `net:net_dev_queue` and
    /// `net:netif_receive_skb` of both machines are needed; `whylate record` has them.
    #[arg(long, value_name = "PEER", conflicts_with = "host", help_heading = "Another machine")]
    pub(crate) peer: Option<PathBuf>,
}

/// The recording of the guest's host.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Host of a guest")]
pub(crate) struct HostArgs {
    /// FILE was recorded in a guest, and this on its host at the same time: explain stolen time by what the host did
    ///
    /// The clocks are joined by the events themselves, and the report has the error of the join. Where no offset between the
    /// clocks agrees with all events, or several do, this fails with exit code 2. On the host, sched:sched_switch is enough to
    /// join; `whylate record` has what explains as well, and `-e kvm:kvm_exit -e kvm:kvm_entry` the reasons of exits.
    #[arg(id = "host", long, value_name = "HOST")]
    pub(crate) file: Option<PathBuf>,
    /// The host's threads that are the guest's CPUs 0, 1, ... in order [default: those called `CPU 0/KVM`, `CPU 0/TCG`, `vcpu0`,
    /// `fc_vcpu 0`, ...]
    #[arg(long = "vcpu", value_name = "TID", value_delimiter = ',', requires = "host", value_parser = clap::value_parser!(i32).range(1..))]
    pub(crate) vcpus: Vec<i32>,
}

/// Which chains are explained.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Chains of threads")]
pub(crate) struct ChainArgs {
    /// Find chains from a timer, an interrupt or a packet from thread to thread, and explain the worst of each hop by hop
    #[arg(long)]
    pub(crate) chains: bool,
    /// Explain this chain (repeatable), such as 'irq:eth1 -> rx -> ctl' or 'timer -> net:lo -> control'
    ///
    /// A hop is the name or id of a thread, timer, irq:NAME, net:DEVICE, work:FUNCTION, softirq:NAME or callback:NAME; names
    /// may have wildcards. Others may lie in between. With --peer: network, and peer: before the name of a thread or interrupt
    /// there.
    #[arg(long, value_name = "CHAIN", value_parser = ChainPattern::parse)]
    pub(crate) chain: Vec<ChainPattern>,
    /// A chain is late when it took longer than this, such as 2ms, from its beginning to the end of its last thread
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    pub(crate) chain_deadline: Option<Ns>,
}

impl ChainArgs {
    /// What is asked about chains; any of the options asks for them.
    pub(crate) fn options(&self) -> Option<ChainOptions> {
        let asked = self.chains || !self.chain.is_empty() || self.chain_deadline.is_some();
        asked.then(|| ChainOptions { chosen: self.chain.clone(), deadline: self.chain_deadline })
    }

    /// What one machine's recording answers; `None`: nothing of it is asked for.
    pub(crate) fn own(&self) -> Option<ChainOptions> {
        self.part(false)
    }

    /// What only the recordings of two machines answer.
    pub(crate) fn across(&self) -> Option<ChainOptions> {
        self.part(true)
    }

    /// Without a choice chains of both kinds are looked for.
    fn part(&self, across: bool) -> Option<ChainOptions> {
        let mut options = self.options()?;
        options.chosen.retain(|chain| chain.peer_hop().is_some() == across);
        (self.chain.is_empty() || !options.chosen.is_empty()).then_some(options)
    }
}
