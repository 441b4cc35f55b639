-- Which setting explains the difference? Of each setting that differs between runs of one kernel: the median of the runs'
-- largest latencies by its value, and how far apart the values are. It is an order of what to look at, not a proof: settings
-- that change together cannot be told apart, as can no setting of a single machine.
WITH runs_with AS (
    SELECT r.kernel, s.name, s.value, r.machine, r.max_ns
    FROM settings s JOIN runs r USING (run)
    WHERE r.kind = 'measurement' AND r.max_ns IS NOT NULL
), by_value AS (
    SELECT kernel, name, value, median(max_ns) AS median_max_ns, count(*) AS runs, count(DISTINCT machine) AS machines
    FROM runs_with
    GROUP BY ALL
)
SELECT kernel, name, arg_min(value, median_max_ns) AS better, arg_max(value, median_max_ns) AS worse,
       max(median_max_ns) - min(median_max_ns) AS apart_ns, sum(machines) AS machines
FROM by_value
GROUP BY kernel, name
HAVING count(*) > 1
ORDER BY apart_ns DESC, kernel, name
LIMIT 20;
