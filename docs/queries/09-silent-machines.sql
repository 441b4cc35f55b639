-- Which machines sent nothing lately? Beside the newest day of all, not today: so it holds for an archive, too.
WITH last AS (
    SELECT machine, max(date) AS last_seen FROM runs WHERE NOT coalesce(future, false) GROUP BY ALL
)
SELECT machine, last_seen, datediff('day', last_seen::DATE, (SELECT max(last_seen) FROM last)::DATE) AS days
FROM last
WHERE days >= coalesce(getvariable('days'), 2) OR last_seen IS NULL
ORDER BY days DESC, machine;
