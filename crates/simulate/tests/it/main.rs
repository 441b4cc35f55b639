//! The model as its users see it.

mod behaviour;
mod bounds;
mod changes;
mod ledger;
mod mean;
mod propose;
mod random;
mod recording;
mod stories;
mod sweep;
mod worst_case;
