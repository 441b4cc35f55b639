-- How late is each kernel? All samples of its measurements; a percentile is the lower end of its bucket.
WITH buckets AS (
    SELECT r.kernel, h.from_ns, sum(h.count) AS count
    FROM histograms h JOIN runs r USING (run)
    WHERE NOT h.stage
    GROUP BY ALL
), ranked AS (
    SELECT kernel, from_ns, count,
           sum(count) OVER (PARTITION BY kernel ORDER BY from_ns) AS upto,
           sum(count) OVER (PARTITION BY kernel) AS samples
    FROM buckets
), worst AS (
    SELECT r.kernel, max(l.max_ns) AS max_ns
    FROM latencies l JOIN runs r USING (run)
    WHERE NOT l.stage
    GROUP BY ALL
)
SELECT kernel, any_value(samples) AS samples,
       min(from_ns) FILTER (upto >= ceil(0.5 * samples)) AS p50_ns,
       min(from_ns) FILTER (upto >= ceil(0.99 * samples)) AS p99_ns,
       min(from_ns) FILTER (upto >= ceil(0.9999 * samples)) AS p99_99_ns,
       any_value(max_ns) AS max_ns
FROM ranked JOIN worst USING (kernel)
GROUP BY kernel
ORDER BY p99_99_ns DESC, kernel;
