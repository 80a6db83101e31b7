-- Named leases are rows of the job table, of a task that nobody can have. Their fences come from here, so that a
-- name whose row was deleted goes on with greater ones; and so it does where the tables alone were dropped.
CREATE SEQUENCE IF NOT EXISTS {s}{p}lease_fence;
