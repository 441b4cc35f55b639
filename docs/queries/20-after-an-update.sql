-- Which machines became worse with a new kernel? The largest latency of the last day with the old one, and of all days with
-- the new one. A maximum is no test: see `whylate compare --tables`.
WITH days AS (
    SELECT machine, kernel, date, max(max_ns) AS max_ns
    FROM runs
    WHERE kind = 'measurement' AND kernel IS NOT NULL
    GROUP BY ALL
), updates AS (
    SELECT machine, date, kernel, max_ns,
           lag(kernel) OVER by_day AS old_kernel, lag(max_ns) OVER by_day AS old_max_ns
    FROM days
    WINDOW by_day AS (PARTITION BY machine ORDER BY date)
)
SELECT machine, date AS since, old_kernel, kernel AS new_kernel, old_max_ns, max_ns AS new_max_ns,
       round(max_ns / old_max_ns, 1) AS times
FROM updates
WHERE kernel <> old_kernel AND max_ns > old_max_ns
ORDER BY times DESC, machine;
