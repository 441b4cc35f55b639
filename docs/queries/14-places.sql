-- At which lines of code does the time of late activations go? Recordings with call stacks only (record --stacks).
SELECT "where", cause, comm, sum(ns) AS ns, count(*) AS segments
FROM segments
WHERE "where" IS NOT NULL
GROUP BY ALL
ORDER BY ns DESC, "where"
LIMIT 20;
