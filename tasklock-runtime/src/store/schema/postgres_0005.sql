-- Vacuum by how many rows are dead, and little by how many there are: claims, ends and pruning leave a dead row each, and
-- among millions that wait or are kept, the usual fifth would be more than a day's work. Each write of a job's row moves
-- it in an index, so room in its pages would not keep updates heap-only: its pages are filled.
ALTER TABLE {s}{p}job SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000,
    autovacuum_analyze_scale_factor = 0.05, autovacuum_analyze_threshold = 5000);
-- As many rows as there are leases at work, written at each beat.
ALTER TABLE {s}{p}heartbeat SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
-- Few rows, written again and again while somebody waits: room for heap-only updates.
ALTER TABLE {s}{p}waiter SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
