-- Which findings are there, gravest first?
SELECT code, severity, count(DISTINCT machine) AS machines, count(*) AS findings, any_value(title) AS example
FROM findings
GROUP BY code, severity
ORDER BY CASE severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, machines DESC, code;
