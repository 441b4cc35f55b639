-- Which checks fail on how many machines? By the newest check of each machine.
WITH newest AS (
    SELECT machine, run FROM runs WHERE kind = 'check'
    QUALIFY row_number() OVER (PARTITION BY machine ORDER BY date DESC, run) = 1
)
SELECT code, severity, count(*) FILTER (status = 'fail') AS failed,
       count(*) FILTER (status = 'cannot-tell') AS unknown, count(*) AS machines,
       mode(fix) FILTER (status = 'fail') AS fix
FROM checks JOIN newest USING (machine, run)
GROUP BY code, severity
HAVING failed > 0 OR unknown > 0
ORDER BY failed DESC, unknown DESC, code;
