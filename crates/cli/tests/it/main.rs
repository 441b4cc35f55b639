//! Runs the program as a user does: one binary, since every test needs the same helpers, and
//! since what records on this machine must take turns (`support::tracefs`).

mod bench;
mod bundle;
mod check;
mod ci;
mod compare;
mod compare_tables;
mod convert;
mod doctor;
#[path = "../entry/mod.rs"]
mod entry;
mod explain;
mod explain_choice;
mod explain_host;
mod explain_markers;
mod explain_peer;
mod explain_sched_stat;
mod explain_timehist;
mod guard;
mod lab;
mod lab_guest;
mod live_rogue;
mod measure;
mod measure_loads;
mod measure_long;
mod measure_outlets;
mod measure_probes;
mod measure_stacks;
mod mutations;
mod plan;
mod plot;
mod prove;
mod ps;
mod readme;
mod record;
mod run;
mod shell;
mod simulate;
mod support;
mod tables;
mod tuning;
mod watch;
mod wrong_input;
