//! Predictions of `whylate simulate` against the truth: the recording before a change, with the change, beside the recording
//! after it.
//!
//! ```text
//!  change     predictions.toml: scenarios, and changes to them
//!  answer     the documents of simulate and explain, as far as they are compared
//!  judge      prediction and truth, compared
//!  execute    both runs of each change
//!  score      totals, and the JSON document
//! ```

mod answer;
mod change;
mod execute;
mod judge;
mod score;

pub use change::{PredictedChange, PredictionError, built_in};
pub use execute::{PredictRuns, run};
pub use judge::{Direction, Responses, ThreadPrediction};
pub use score::{PREDICT_SCHEMA, PredictDocument, PredictResult, PredictTotals, schema};
