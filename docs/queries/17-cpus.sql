-- Which CPU of each machine is the worst?
SELECT machine, cpu, max(max_ns) AS max_ns, sum(samples) AS samples
FROM latencies
WHERE NOT stage AND cpu IS NOT NULL
GROUP BY machine, cpu
QUALIFY row_number() OVER (PARTITION BY machine ORDER BY max(max_ns) DESC, cpu) = 1
ORDER BY max_ns DESC, machine;
