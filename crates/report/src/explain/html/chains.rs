//! Chains of threads: the worst of each drawn as lanes with arrows from hop to hop, and as a table.

use super::activation::chip;
use crate::explain::facts;
use crate::explain::timeline::chain;
use crate::words;
use maud::{Markup, html};
use whylate_ledger::{Chain, ChainInstance, Explanation};

/// Charges of a hop that are listed.
const CHARGES: usize = 6;

pub(super) fn write(explanation: &Explanation) -> Markup {
    let Some(chains) = &explanation.chains else { return html! {} };
    html! {
        section id="chains" {
            h2 { "Chains" }
            @for one in &chains.found {
                h3 { (words::clean(&one.names().join(" → "))) }
                p { (facts::chain(one)) }
                @if let Some((first, next)) = one.worst.split_first() {
                    article { (instance(one, first)) }
                    @for next in next {
                        details { summary { (words::clean(&facts::chain_instance(next))) } (instance(one, next)) }
                    }
                }
            }
            @for line in facts::chains(chains) { p { (line) } }
        }
    }
}

fn instance(chain: &Chain, instance: &ChainInstance) -> Markup {
    let accused = instance.verdict.as_ref().map(|verdict| verdict.hop);
    html! {
        p.why {
            @if let Some(verdict) = &instance.verdict { (chip(verdict.cause)) " " }
            (facts::chain_instance(instance))
        }
        (chain::figure(instance))
        table.ledger {
            thead { tr { th { "hop" } th { "by" } th.n { "time" } th.n { "usually" } th { "charged to" } } }
            tbody {
                @for (index, hop) in instance.hops.iter().enumerate() {
                    tr.accused[accused == Some(index)] {
                        td { (words::clean(&format!("{} → {}", hop.from, hop.to))) }
                        td { (facts::hop_by(hop)) }
                        td.n { (hop.length()) }
                        td.n { @if let Some(usual) = chain.usual.get(index) { (usual) } }
                        td { (facts::hop_charges(hop, CHARGES).join(", ")) }
                    }
                }
            }
            tfoot { tr { td { "end to end" } td {} td.n { (instance.latency()) } td.n { (chain.latency.p50) } td {} } }
        }
    }
}
