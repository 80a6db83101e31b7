-- In a database that does not hold the leases: the greatest fence it was shown, by the lease's name.
-- Deleting a row forgets its fence. The role that writes needs no more than:
-- GRANT SELECT, INSERT, UPDATE ON tasklock_fence TO <role>;
-- Room in each page: registering again stays a heap-only update.
CREATE TABLE IF NOT EXISTS tasklock_fence (
    name         text PRIMARY KEY,
    fence        bigint NOT NULL,
    -- When it was shown last, by this database's clock.
    updated_at   timestamptz NOT NULL
) WITH (fillfactor = 50);
