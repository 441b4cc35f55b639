//! A plan as JSON: schema `whylate.plan/1`.

use serde_json::Value;
use whylate_tuning::{Plan, PlanDocument};

/// What tuning would change, as a document of schema [`PlanDocument::SCHEMA`].
pub fn render(plan: &Plan) -> Value {
    crate::json::value(&PlanDocument::from(plan.clone()))
}

/// The JSON Schema of [`render`]'s documents.
pub fn schema() -> Value {
    crate::json::schema::<PlanDocument>()
}
