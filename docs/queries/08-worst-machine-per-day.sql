-- Which machine is the worst of each day?
SELECT date, machine, max(max_ns) AS max_ns
FROM runs
WHERE kind = 'measurement'
GROUP BY date, machine
QUALIFY row_number() OVER (PARTITION BY date ORDER BY max(max_ns) DESC, machine) = 1
ORDER BY date;
