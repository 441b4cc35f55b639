//! One module for each verb.

pub(crate) mod apply;
pub(crate) mod bench;
pub(crate) mod bundle;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod confirm;
pub(crate) mod convert;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod guard;
pub(crate) mod history;
pub(crate) mod hold;
pub(crate) mod lab;
pub(crate) mod load_worker;
pub(crate) mod measure;
mod parts;
pub(crate) mod plan;
pub(crate) mod plot;
pub(crate) mod ps;
pub(crate) mod record;
pub(crate) mod revert;
pub(crate) mod rollback;
pub(crate) mod run;
mod runs;
pub(crate) mod snapshot;
pub(crate) mod tuning;
pub(crate) mod verify;
