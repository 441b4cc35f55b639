//! What is left of a file whose index is gone or damaged.

/// What is left of a file whose index is not all there.
pub(super) struct LostIndex {
    /// The place of the damage, and what it is.
    pub(super) at: u64,
    pub(super) what: String,
    /// Sections of pages that no option describes.
    pub(super) sections: Vec<PageSection>,
    /// The statistics the kernel kept of each CPU, as text.
    pub(super) stats: Vec<String>,
    pub(super) page_size: u32,
}

/// A section of pages.
pub(super) struct PageSection {
    pub(super) start: u64,
    pub(super) end: u64,
    /// Whether the section goes on where the file ends.
    pub(super) cut: bool,
    pub(super) packed: bool,
}
