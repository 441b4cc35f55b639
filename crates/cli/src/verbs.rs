//! One module for each verb.

pub(crate) mod check;
pub(crate) mod convert;
pub(crate) mod explain;
pub(crate) mod lab;
pub(crate) mod measure;
pub(crate) mod record;
pub(crate) mod snapshot;
