//! Whether a line is whole by itself: an event's row with all of its fields, or one that ends too early.

use super::Reader;
use crate::text::body::{self, Body};
use crate::text::held::Shape;
use crate::text::{graph, header, line, lttng, timehist};

impl Reader {
    /// What a line is by itself.
    pub(super) fn shape(&self, text: &str) -> Shape {
        if text.is_empty() || text.starts_with('#') || text.starts_with("=>") {
            return Shape::Whole;
        }
        if lttng::begins(text) {
            return lttng::parse(text).map_or(Shape::Early, |_| Shape::Whole);
        }
        match line::split(text).map(|(head, body)| (body::parse(&head, body, self.header.numbers), body)) {
            Some((body, text)) if body.ends_early(text) => Shape::Early,
            Some(_) => Shape::Whole,
            None if header::loss(text).is_some() || graph::parse(text).is_some() => Shape::Whole,
            None if timehist::parse(text).is_some() => Shape::Whole,
            None if timehist::begins(text) => Shape::Early,
            None => self.analyses.shape(text),
        }
    }

    /// True of an event's row with all of its fields.
    pub(super) fn is_event(&self, text: &str) -> bool {
        line::split(text).is_some_and(|(head, body)| {
            matches!(body::parse(&head, body, self.header.numbers), Body::Event(_))
        })
    }

    /// True of the rest of a line that was whole without it.
    pub(super) fn is_rest(&self, text: &str) -> bool {
        self.held.last_with(text).is_some_and(|whole| self.shape(&whole) == Shape::Whole)
    }
}
