-- Are two machines called by one name? Architecture, CPU or board differ; or a machine was repaired.
SELECT machine, list_sort(list_distinct(list(arch) FILTER (arch IS NOT NULL))) AS archs,
       list_sort(list_distinct(list(cpu_model) FILTER (cpu_model IS NOT NULL))) AS cpus,
       list_sort(list_distinct(list(board) FILTER (board IS NOT NULL))) AS boards
FROM machines
WHERE machine IS NOT NULL
GROUP BY machine
HAVING len(archs) > 1 OR len(cpus) > 1 OR len(boards) > 1
ORDER BY machine;
