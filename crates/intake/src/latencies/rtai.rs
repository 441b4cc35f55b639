//! The tests `latency` and `preempt` of RTAI (`testsuite/kern` of RTAI). They print no number of samples, so no measurement can be made
//! of their rows.
//!
//! ```text
//! RTAI Testsuite - UP preempt (all data in nanoseconds)
//! RTH|     lat min|     lat avg|     lat max|    jit fast|    jit slow
//! RTD|      -31025|         217|       43662|      256725|      389650
//!
//! RTH|    lat min|    ovl min|    lat avg|    lat max|    ovl max|   overruns
//! RTD|     -38000|     -47725|         17|      65550|      65550|          0
//! ```

use super::error::Broken;
use whylate_base::Ns;
use whylate_stats::Run;

/// The greatest latency of a text with such rows, as a refusal.
pub(super) fn read(text: &str) -> Vec<Result<Run, Broken>> {
    let Some(columns) = text.lines().find_map(columns) else { return Vec::new() };
    let at = |name: &str| columns.iter().position(|column| *column == name);
    // Of all seconds so far; without it of the last one.
    let most = at("ovl max").or_else(|| at("lat max"));
    let value = |line: &str| {
        let values: Vec<&str> = line.trim().strip_prefix("RTD|")?.split('|').map(str::trim).collect();
        values.get(most?).filter(|_| values.len() == columns.len())?.parse::<i64>().ok()
    };
    let Some(most) = text.lines().filter_map(value).max() else { return Vec::new() };
    let most = match text.contains("all data in nanoseconds") {
        true => Ns(most).to_string(),
        false => format!("{most}, in the unit of its title, which is missing,"),
    };
    let why = format!("it prints no number of samples: of the latencies in its rows {most} is the greatest");
    vec![Err(Broken { tool: "RTAI", why })]
}

/// The columns of a head that no other program has: `latency` of Xenomai has others behind the same mark.
pub(super) fn columns(line: &str) -> Option<Vec<&str>> {
    let columns: Vec<&str> = line.trim().strip_prefix("RTH|")?.split('|').map(str::trim).collect();
    let has = |name: &str| columns.contains(&name);
    (has("lat max") && (has("jit slow") || has("ovl max"))).then_some(columns)
}

#[cfg(test)]
mod tests {
    use super::read;

    fn why(text: &str) -> Option<String> {
        read(text).into_iter().find_map(Result::err).map(|broken| format!("{}: {}", broken.tool, broken.why))
    }

    #[test]
    fn the_greatest_latency_is_named_and_no_measurement_made() {
        let title = "RTAI Testsuite - UP preempt (all data in nanoseconds)\n";
        let rows = "RTH|     lat min|     lat avg|     lat max|    jit fast|    jit slow\n\
                    RTD|      -21000|         117|       33000|      156725|      289650\nRTD|      -21000|         -17|       42000|      156725|      289650\n";
        let most = "it prints no number of samples: of the latencies in its rows";
        let expected = format!("RTAI: {most} 42.00 us is the greatest");
        assert_eq!(why(&format!("{title}{rows}")), Some(expected));
        assert_eq!(
            why(rows),
            Some(format!("RTAI: {most} 42000, in the unit of its title, which is missing, is the greatest"))
        );
        let latency = "RTH|    lat min|    ovl min|    lat avg|    lat max|    ovl max|   overruns\n\
                       RTD|     -38000|     -47000|         17|      33000|      55000|          0\n";
        assert!(why(&format!("{title}{latency}")).is_some_and(|why| why.contains("55.00 us")));
        let xenomai = "RTH|----lat min|----lat avg|----lat max|-overrun|---msw|---lat best|--lat worst\n";
        assert_eq!((why(xenomai), why("")), (None, None));
    }
}
