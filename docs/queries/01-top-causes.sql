-- Which causes and culprits cost the farm most? Late activations only: those with a verdict.
SELECT cause, culprit, count(DISTINCT machine) AS machines, count(*) AS activations,
       sum(charged_ns) AS charged_ns, max(response_ns) AS worst_ns
FROM activations
WHERE cause IS NOT NULL
GROUP BY ALL
ORDER BY charged_ns DESC, cause, culprit
LIMIT 20;
