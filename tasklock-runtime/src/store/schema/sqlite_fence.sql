-- In a file that does not hold the leases: the greatest fence it was shown, by the lease's name.
-- Deleting a row forgets its fence.
CREATE TABLE IF NOT EXISTS tasklock_fence (
    name         TEXT PRIMARY KEY NOT NULL,
    fence        INTEGER NOT NULL,
    -- When it was shown last, by this machine's clock, in UTC.
    updated_at   TEXT NOT NULL,
    -- Refers to no row while a transaction's fence was refused, so that its COMMIT fails.
    refused      TEXT REFERENCES tasklock_fence (name) DEFERRABLE INITIALLY DEFERRED
);
