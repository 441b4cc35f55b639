-- Which is the top culprit of each machine? By the time that was charged to it in late activations.
SELECT machine, culprit, cause, sum(charged_ns) AS charged_ns
FROM activations
WHERE culprit IS NOT NULL
GROUP BY machine, culprit, cause
QUALIFY row_number() OVER (PARTITION BY machine ORDER BY sum(charged_ns) DESC, culprit) = 1
ORDER BY charged_ns DESC, machine;
