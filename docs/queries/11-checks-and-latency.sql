-- Are machines with a failed check later? The median of the machines' largest latencies where it fails and where it passes.
WITH worst AS (
    SELECT machine, max(max_ns) AS max_ns FROM runs WHERE kind = 'measurement' GROUP BY ALL
), newest AS (
    SELECT machine, run FROM runs WHERE kind = 'check'
    QUALIFY row_number() OVER (PARTITION BY machine ORDER BY date DESC, run) = 1
)
SELECT c.code,
       count(*) FILTER (status = 'fail') AS failed, count(*) FILTER (status = 'pass') AS passed,
       median(max_ns) FILTER (status = 'fail') AS failed_max_ns, median(max_ns) FILTER (status = 'pass') AS passed_max_ns
FROM checks c JOIN newest USING (machine, run) JOIN worst USING (machine)
GROUP BY c.code
HAVING failed > 0 AND passed > 0
ORDER BY failed_max_ns - passed_max_ns DESC, c.code;
