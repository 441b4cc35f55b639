//! One hand-written trace per cause: what the ledger charges, to the nanosecond, and which thread the verdict names.

#[path = "../support/mod.rs"]
mod support;

mod answers;
mod bandwidth;
mod candidates;
mod chains;
mod culprits;
mod edges;
mod few_events;
mod inheritance;
mod instants;
mod let_go;
mod lifetimes;
mod live;
mod locks;
mod losses;
mod markers;
mod moved;
mod napi;
mod nmi;
mod overruns;
mod pinned;
mod placement;
mod protected_pages;
mod quota;
mod recorded_cpus;
mod requests;
mod rings;
mod scheduling;
mod scope;
mod semaphores;
mod settings;
mod sleep_stacks;
mod slews;
mod small_delays;
mod softirqs;
mod spent;
mod standstills;
mod stops;
mod switches;
mod timers;
mod tracers;
mod unranked;
mod woken_again;
mod workings;
