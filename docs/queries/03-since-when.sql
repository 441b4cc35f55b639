-- On which days was each cause seen first and last?
SELECT cause, culprit, min(date) AS first_seen, max(date) AS last_seen, count(DISTINCT date) AS days,
       count(DISTINCT machine) AS machines
FROM activations
WHERE cause IS NOT NULL AND date IS NOT NULL
GROUP BY ALL
ORDER BY first_seen DESC, cause, culprit;
