-- Which threads miss a deadline, and because of what? A recording keeps its worst activations: import with --deadline or
-- --all, so that none is left out.
SELECT machine, comm, count(*) AS missed, max(response_ns) AS worst_ns, mode(cause) AS usual_cause
FROM activations
WHERE response_ns > coalesce(getvariable('deadline_ns'), 1000000) AND NOT starts_program AND NOT ends_program
GROUP BY ALL
ORDER BY missed DESC, machine, comm;
