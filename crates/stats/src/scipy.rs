//! The numbers here beside SciPy's of the same data (`tests/fixtures/make.py`).

use crate::compare::{Larger, uneven};
use crate::normal::most_likely_rate;
use crate::{DOUBT, Gev, Pareto, trend};
use serde_json::Value;
use whylate_base::Ns;

fn fixtures() -> Value {
    serde_json::from_str(include_str!("../tests/fixtures/scipy.json")).expect("JSON")
}

fn cases<'a>(all: &'a Value, name: &str) -> &'a [Value] {
    let cases = all[name].as_array().expect("cases");
    assert!(!cases.is_empty());
    cases
}

fn numbers(case: &Value, name: &str) -> Vec<f64> {
    case[name].as_array().expect("numbers").iter().map(|value| value.as_f64().expect("a number")).collect()
}

#[track_caller]
fn close(own: f64, case: &Value, name: &str, within: f64) {
    let theirs = case[name].as_f64().expect("a number");
    assert!((own - theirs).abs() <= within * theirs.abs().max(1e-12), "{name}: {own}, SciPy {theirs}");
}

#[test]
fn fits_are_as_good() {
    let all = fixtures();
    for case in cases(&all, "pareto") {
        let data = numbers(case, "data");
        let fit = Pareto::fit(&data).expect("a fit");
        let likelihood = case["likelihood"].as_f64().expect("a number");
        assert!(fit.likelihood(&data) >= likelihood - 1e-6, "{} {likelihood}", fit.likelihood(&data));
        close(fit.scale, case, "scale", 1e-3);
        close(fit.exceeded_with(1e-6), case, "exceeded_1e6", 1e-2);
    }
    for case in cases(&all, "gev") {
        let data = numbers(case, "data");
        let fit = Gev::fit(&data).expect("a fit");
        let likelihood = case["likelihood"].as_f64().expect("a number");
        assert!(fit.likelihood(&data) >= likelihood - 1e-6, "{} {likelihood}", fit.likelihood(&data));
        close(fit.location, case, "location", 1e-3);
        close(fit.scale, case, "scale", 1e-3);
        close(fit.exceeded_with(1e-4), case, "exceeded_1e4", 1e-2);
    }
}

#[test]
fn tests_say_the_same() {
    let all = fixtures();
    for case in cases(&all, "trend") {
        let found = trend(&numbers(case, "data")).expect("a trend");
        close(found.p, case, "p", 1e-6);
        let slope = case["slope"].as_f64().expect("a number");
        assert!((found.slope - slope).abs() < 1e-3, "{} {slope}", found.slope);
    }
    let ns = |case: &Value, name| {
        numbers(case, name).into_iter().map(|value| Ns(value as i64)).collect::<Vec<_>>()
    };
    for case in cases(&all, "larger") {
        let found = Larger::of_values(&ns(case, "a"), &ns(case, "b")).expect("enough");
        close(found.share, case, "share", 1e-9);
        close(found.p, case, "p", 1e-6);
    }
    for case in cases(&all, "uneven") {
        let number = |name: &str| case[name].as_u64().expect("a number");
        close(uneven(number("k"), number("n"), case["share"].as_f64().expect("a share")), case, "p", 1e-6);
    }
    for case in cases(&all, "rate") {
        let number = |name: &str| case[name].as_u64().expect("a number");
        close(most_likely_rate(number("k"), number("n"), DOUBT), case, "upper", 1e-6);
    }
}
