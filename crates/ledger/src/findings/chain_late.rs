//! Chains that were longer than the deadline that the user gave for them.

use super::info::{FindingInfo, page};
use crate::model::{Chain, ChainInstance, Chains};
use whylate_base::{Evidence, Finding, Ns, Severity};

pub(super) const INFO: FindingInfo = FindingInfo { code: "chain-late", page: page!("chain-late") };

/// Instances that are listed.
const LISTED: usize = 3;

/// One finding for each chain that missed its `deadline`.
pub(crate) fn of_chains(chains: &Chains, deadline: Ns) -> Vec<Finding> {
    chains.found.iter().filter(|chain| chain.late > 0).map(|chain| finding(chain, deadline)).collect()
}

fn finding(chain: &Chain, deadline: Ns) -> Finding {
    let late = chain.worst.iter().filter(|instance| instance.latency() > deadline);
    let evidence = late.take(LISTED).map(evidence).collect();
    Finding {
        code: INFO.code,
        severity: Severity::Error,
        title: format!(
            "the chain {} missed its deadline of {deadline} {} of {} times",
            chain.names().join(" -> "),
            chain.late,
            chain.count
        ),
        why: "the time from its beginning to the end of its last thread was longer than the deadline"
            .to_owned(),
        evidence,
        fix: Vec::new(),
    }
}

fn evidence(instance: &ChainInstance) -> Evidence {
    let cpu = instance.hops.first().and_then(|hop| hop.ledger.first()).map(|segment| segment.cpu);
    let what = match &instance.verdict {
        Some(verdict) => format!("{}: {}", instance.latency(), verdict.why),
        None => format!("{}; no hop took much longer than usual", instance.latency()),
    };
    Evidence::at(instance.start, cpu.unwrap_or_default(), what)
}
