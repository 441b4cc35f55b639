-- How much of the late time is unexplained? By kernel: what a recording lacks cannot be explained.
SELECT r.kernel, sum(s.ns) AS ns,
       sum(s.ns) FILTER (s.cause IN ('unexplained', 'trace-loss')) AS unexplained_ns,
       round(100.0 * coalesce(unexplained_ns, 0) / sum(s.ns), 1) AS percent
FROM segments s JOIN runs r USING (run)
GROUP BY r.kernel
ORDER BY percent DESC, r.kernel;
