//! Another machine: how its recording was joined, and the worst round trip hop by hop.

use crate::explain::peer_facts;
use crate::terminal::layout::{Align, Cell, Page};
use crate::terminal::paint::Ink;
use crate::words;
use whylate_base::Ns;
use whylate_ledger::{Explanation, RoundTrip};

pub(super) fn write(page: &mut Page, explanation: &Explanation) {
    let Some(peer) = &explanation.peer else { return };
    page.gap();
    page.line(&[("Peer", Ink::Yellow)]);
    for fact in peer_facts::joined(explanation) {
        page.labelled(2, ("- ", Ink::Faint), &fact, Ink::Plain);
    }
    if let Some(worst) = peer.worst.first() {
        page.paragraph(4, &peer_facts::round_trip(worst, peer.join.error), Ink::Plain);
        hops(page, worst, peer.join.error);
    }
}

fn hops(page: &mut Page, trip: &RoundTrip, error: Ns) {
    let faint = |text: &str| Cell::new(text, Ink::Faint);
    let mut lines = vec![["", "hop", "time", "usually", "charged to"].map(faint).to_vec()];
    let slowest = trip.slowest(error);
    for hop in &trip.hops {
        let accused = slowest.is_some_and(|slowest| std::ptr::eq(slowest, hop));
        let ink = if accused { Ink::Red } else { Ink::Plain };
        let mut charges = peer_facts::charges(hop);
        lines.push(vec![
            Cell::new(if accused { ">" } else { "" }, ink),
            Cell::new(words::clean(&peer_facts::place(hop)), ink),
            Cell::new(hop.time().to_string(), ink),
            faint(&hop.usually.to_string()),
            Cell::new(charges.next().unwrap_or_default(), ink),
        ]);
        lines.extend(charges.map(|more| vec![faint(""), faint(""), faint(""), faint(""), faint(&more)]));
    }
    page.table(4, &[Align::Left, Align::Left, Align::Right, Align::Right, Align::Left], &lines);
}
