-- Is a kernel worse than another by more than chance? The quantile q of both with its interval of 95 % by order statistics:
-- rank n q +- 1.96 sqrt(n q (1 - q)). It takes the samples for independent: where they come in bursts, or where
-- machines differ, the interval is too narrow: `whylate compare --tables` counts a machine once.
WITH buckets AS (
    SELECT r.kernel, h.from_ns, sum(h.count) AS count
    FROM histograms h JOIN runs r USING (run)
    WHERE NOT h.stage AND r.kernel IN (getvariable('before'), getvariable('after'))
    GROUP BY ALL
), ranked AS (
    SELECT kernel, from_ns,
           sum(count) OVER (PARTITION BY kernel ORDER BY from_ns) AS upto,
           sum(count) OVER (PARTITION BY kernel) AS n,
           coalesce(getvariable('q'), 0.999) AS q
    FROM buckets
), bounds AS (
    SELECT kernel, any_value(n) AS samples,
           min(from_ns) FILTER (upto >= ceil(n * q)) AS at_ns,
           min(from_ns) FILTER (upto >= greatest(1, ceil(n * q - 1.96 * sqrt(n * q * (1 - q))))) AS least_ns,
           min(from_ns) FILTER (upto >= least(n, ceil(n * q + 1.96 * sqrt(n * q * (1 - q))))) AS most_ns
    FROM ranked
    GROUP BY kernel
)
SELECT b.at_ns AS before_ns, a.at_ns AS after_ns,
       CASE WHEN a.least_ns > b.most_ns THEN 'worse'
            WHEN a.most_ns < b.least_ns THEN 'better'
            ELSE 'no difference' END AS verdict,
       b.least_ns AS before_least_ns, b.most_ns AS before_most_ns,
       a.least_ns AS after_least_ns, a.most_ns AS after_most_ns,
       b.samples AS before_samples, a.samples AS after_samples
FROM bounds b JOIN bounds a ON b.kernel = getvariable('before') AND a.kernel = getvariable('after');
