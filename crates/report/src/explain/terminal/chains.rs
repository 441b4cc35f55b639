//! Chains of threads: how often, how long, and the worst of each hop by hop.

use crate::explain::facts;
use crate::terminal::layout::{Align, Cell, Page};
use crate::terminal::paint::Ink;
use crate::words;
use whylate_ledger::{Chain, ChainInstance, Explanation};

/// Charges of a hop that are shown.
const CHARGES: usize = 3;

pub(super) fn write(page: &mut Page, explanation: &Explanation) {
    let Some(chains) = &explanation.chains else { return };
    for chain in &chains.found {
        page.gap();
        one(page, chain);
    }
    for line in facts::chains(chains) {
        page.gap();
        page.paragraph(2, &line, Ink::Faint);
    }
    page.gap();
}

fn one(page: &mut Page, chain: &Chain) {
    let path = words::clean(&chain.names().join(" -> "));
    page.paragraph(2, &path, Ink::Strong);
    page.paragraph(4, &facts::chain(chain), Ink::Plain);
    let Some(worst) = chain.worst.first() else { return };
    page.paragraph(4, &facts::chain_instance(worst), Ink::Plain);
    hops(page, chain, worst);
}

fn hops(page: &mut Page, chain: &Chain, worst: &ChainInstance) {
    let faint = |text: &str| Cell::new(text, Ink::Faint);
    let mut lines = vec![["", "hop", "by", "time", "usually", "charged to"].map(faint).to_vec()];
    for (index, hop) in worst.hops.iter().enumerate() {
        let accused = worst.verdict.as_ref().is_some_and(|verdict| verdict.hop == index);
        let ink = if accused { Ink::Red } else { Ink::Plain };
        let usual = chain.usual.get(index).map_or_else(String::new, ToString::to_string);
        let mut charges = facts::hop_charges(hop, CHARGES).into_iter();
        lines.push(vec![
            Cell::new(if accused { ">" } else { "" }, ink),
            Cell::new(words::clean(&format!("{} -> {}", hop.from, hop.to)), ink),
            Cell::new(facts::hop_by(hop), Ink::Plain),
            Cell::new(hop.length().to_string(), ink),
            faint(&usual),
            Cell::new(charges.next().unwrap_or_default(), ink),
        ]);
        lines.extend(
            charges.map(|more| vec![faint(""), faint(""), faint(""), faint(""), faint(""), faint(&more)]),
        );
    }
    page.table(4, &[Align::Left, Align::Left, Align::Left, Align::Right, Align::Right, Align::Left], &lines);
}
