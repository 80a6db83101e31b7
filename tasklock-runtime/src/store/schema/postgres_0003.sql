-- Named leases are rows of the job table, of a task that nobody can have. Their fences come from here, so that a
-- name whose row was deleted goes on with greater ones.
CREATE SEQUENCE {s}{p}lease_fence;
