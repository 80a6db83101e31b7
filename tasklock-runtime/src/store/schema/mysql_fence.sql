-- In a database that does not hold the leases: the greatest fence it was shown, by the lease's name.
-- Deleting a row forgets its fence. The user that writes needs no more than:
-- GRANT SELECT, INSERT, UPDATE ON tasklock_fence TO <user>;
CREATE TABLE IF NOT EXISTS tasklock_fence (
    -- Bytes, so that names are told apart by each of them.
    name         VARBINARY(128) NOT NULL PRIMARY KEY,
    fence        BIGINT NOT NULL,
    -- When it was shown last, by this database's clock, in UTC.
    updated_at   DATETIME(6) NOT NULL
) ENGINE = InnoDB;
