//! What one renderer shows and another does not.

/// What Markdown marks code and emphasis with, and escapes by.
const MARKS: [char; 3] = ['\\', '`', '*'];

/// The pieces of a text for a terminal, as wide as it likes: cells of tables, and parts of sentences and lists.
pub(crate) fn pieces(text: &str) -> Vec<String> {
    let cells = text.lines().flat_map(|line| line.split("  "));
    let parts = cells.flat_map(|cell| cell.split(", ")).flat_map(|part| part.split(": "));
    let parts = parts.flat_map(|part| part.split(" -> "));
    let bare = |part: &str| {
        part.replace(MARKS, "").trim().trim_start_matches("- ").trim_end_matches(':').to_lowercase()
    };
    let known = |piece: &String| piece.chars().any(char::is_alphanumeric);
    parts.map(bare).filter(known).collect()
}

/// Those of the pieces that a page, or Markdown, lacks.
pub(crate) fn missing(pieces: Vec<String>, page: &str) -> Vec<String> {
    let shown = bare(page);
    pieces.into_iter().filter(|piece| !shown.contains(piece.as_str())).collect()
}

/// Without tags, marks and escapes.
fn bare(page: &str) -> String {
    let mut text = String::with_capacity(page.len());
    let mut in_tag = false;
    for c in page.chars() {
        match c {
            '<' => in_tag = true,
            '>' if in_tag => in_tag = false,
            c if !in_tag && !MARKS.contains(&c) => text.push(c),
            _ => {}
        }
    }
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").to_lowercase()
}
