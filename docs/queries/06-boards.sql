-- Which boards differ on the same kernel? p99.999 of all samples of a board and a kernel.
WITH board AS (
    SELECT machine, max(board) AS board FROM machines GROUP BY ALL
), buckets AS (
    SELECT r.kernel, b.board, h.from_ns, sum(h.count) AS count
    FROM histograms h JOIN runs r USING (run) JOIN board b ON b.machine = h.machine
    WHERE NOT h.stage
    GROUP BY ALL
), ranked AS (
    SELECT kernel, board, from_ns,
           sum(count) OVER (PARTITION BY kernel, board ORDER BY from_ns) AS upto,
           sum(count) OVER (PARTITION BY kernel, board) AS samples
    FROM buckets
)
SELECT kernel, board, any_value(samples) AS samples,
       min(from_ns) FILTER (upto >= ceil(0.99999 * samples)) AS p99_999_ns
FROM ranked
GROUP BY kernel, board
ORDER BY kernel, p99_999_ns DESC, board;
