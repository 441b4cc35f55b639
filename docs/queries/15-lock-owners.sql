-- Which threads hold locks that others wait for?
SELECT owner, comm AS waits, count(DISTINCT machine) AS machines, sum(ns) AS ns, max(ns) AS longest_ns
FROM segments
WHERE owner IS NOT NULL
GROUP BY ALL
ORDER BY ns DESC, owner, waits;
