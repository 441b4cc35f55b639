//! One module for each verb.

pub(crate) mod apply;
pub(crate) mod check;
pub(crate) mod confirm;
pub(crate) mod convert;
pub(crate) mod explain;
pub(crate) mod history;
pub(crate) mod hold;
pub(crate) mod lab;
pub(crate) mod measure;
pub(crate) mod plan;
pub(crate) mod record;
pub(crate) mod revert;
pub(crate) mod rollback;
pub(crate) mod snapshot;
pub(crate) mod tuning;
pub(crate) mod verify;
