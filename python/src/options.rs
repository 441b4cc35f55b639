//! Python's arguments as options.

use crate::errors::Error;
use pyo3::prelude::*;
use whylate_base::{Ns, parse_duration};
use whylate_ledger::{Options, Select};

/// Threads by name or id.
#[derive(FromPyObject)]
pub(crate) enum Task {
    Tid(i32),
    Comm(String),
}

/// A duration: nanoseconds, or text such as `500us`.
#[derive(FromPyObject)]
pub(crate) enum Duration {
    Nanoseconds(i64),
    Text(String),
}

impl Duration {
    pub(crate) fn ns(&self) -> PyResult<Ns> {
        let ns = match self {
            Duration::Nanoseconds(ns) => Ok(Ns(*ns)),
            Duration::Text(text) => parse_duration(text).map_err(|error| error.to_string()),
        };
        match ns {
            Ok(ns) if ns > Ns::ZERO => Ok(ns),
            Ok(_) => Err(Error::new_err("a duration must be longer than zero, such as 500us")),
            Err(error) => Err(Error::new_err(error)),
        }
    }
}

/// As many of a thread's worst activations can be asked for.
pub(crate) const MOST_WORST: usize = 10_000;

/// What is explained of a recording.
pub(crate) fn options(
    tasks: Option<Vec<Task>>,
    deadline: Option<Duration>,
    worst: usize,
) -> PyResult<Options> {
    let select = |task: Task| match task {
        Task::Tid(tid) => Select::parse(&tid.to_string()),
        Task::Comm(comm) => Select::parse(&comm),
    };
    if !(1..=MOST_WORST).contains(&worst) {
        return Err(Error::new_err(format!("worst must be 1 to {MOST_WORST}")));
    }
    Ok(Options {
        tasks: tasks.into_iter().flatten().map(select).collect(),
        deadline: deadline.map(|deadline| deadline.ns()).transpose()?,
        worst,
        ..Options::default()
    })
}
