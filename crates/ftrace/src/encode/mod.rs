//! Events back to ring-buffer pages: the other way of [`decode`](crate::decode) and [`page`](crate::page).
//!
//! ```text
//! Event ──> Encoder ──> record (our formats) ─┐
//!                                             ├─> PageWriter ──> pages ──> dat::write
//! recorded bytes (the kernel's formats) ──────┘
//! ```
//!
//! The formats of [`Encoder`] hold the fields that a typed event has, under the kernel's names and with its
//! print formats as far as these go: what is not known is left out rather than made up.

mod kernel;
mod pages;
mod record;
mod tracepoints;

pub use kernel::{HEADER_EVENT, format_text, header_page};
pub use pages::PageWriter;
pub use record::{Encoder, vector_number};

#[cfg(test)]
mod tests;
