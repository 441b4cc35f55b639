//! A flight recorder: a trace that runs along at almost no cost, of which only the windows
//! that matter are ever kept.
//!
//! ```text
//! kernel ring buffers, overwriting ──drain, on demand──> Window per CPU (bounded, rolling)
//!                                                          │ capture from, to
//!                                                          └──> Capture ──> Reader ──> ledger
//! ```
//!
//! Nothing is read while nothing happens: the kernel's own buffers are the recorder. Only
//! when an instant is asked for are they emptied into the windows, from which the pages
//! that cover it are taken. Memory stays bounded however long it runs.

mod facts;
mod fresh;
mod image;
mod reader;
mod recorder;
mod window;

pub use fresh::{FreshPages, FreshPart};
pub use image::{CaptureFile, FileData};
pub use reader::{ReadError, Reader};
pub use recorder::FlightRecorder;
pub use window::{Capture, CpuCapture, StreamPosition, Window};
