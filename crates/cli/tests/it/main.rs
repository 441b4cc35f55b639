//! Runs the program as a user does: one binary, since every test needs the same helpers, and
//! since what records on this machine must take turns (`support::tracefs`).

mod check;
mod convert;
mod explain;
mod lab;
mod lab_disk;
mod lab_guest;
mod lab_run;
mod live_rogue;
mod measure;
mod plan;
mod readme;
mod record;
mod support;
mod tuning;
mod wrong_input;
