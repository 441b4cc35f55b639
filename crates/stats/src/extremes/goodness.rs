//! The goodness of a fit.

/// Anderson and Darling's A² of values that should be uniform, ascending (JASA 49, 1954).
pub(super) fn anderson_darling(uniform: &[f64]) -> f64 {
    const EDGE: f64 = 1e-12;
    let n = uniform.len() as f64;
    let clamped = |at: usize| uniform[at].clamp(EDGE, 1.0 - EDGE);
    let sum: f64 = (0..uniform.len())
        .map(|at| {
            let mirrored = uniform.len() - 1 - at;
            (2.0 * at as f64 + 1.0) * (clamped(at).ln() + (-clamped(mirrored)).ln_1p())
        })
        .sum();
    -n - sum / n
}
