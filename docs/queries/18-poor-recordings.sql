-- Which inputs cannot be relied on: damaged, with lost events, with a wrong clock, or without a machine or a day?
SELECT machine, source, kind,
       concat_ws(', ',
           CASE WHEN quality <> 'whole' THEN quality || ' (' || damage || ' places)' END,
           CASE WHEN lost_events > 0 THEN lost_events || ' events lost' END,
           CASE WHEN future THEN 'a date to come' END,
           CASE WHEN machine IS NULL THEN 'no machine' END,
           CASE WHEN date IS NULL THEN 'no day' END) AS why
FROM runs
WHERE why <> ''
ORDER BY machine NULLS LAST, source;
