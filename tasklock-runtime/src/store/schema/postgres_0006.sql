-- Schedules. Of a standing job: which slot it stands for, whenever it falls due, and when that was first claimed; how many
-- slots passed while another one's run stood for them, and how many no run stood for; what follows the slot, where a start has changed the schedule
-- since (an instant and its jitter, or a delay; one of less than nothing: nothing follows); whether it falls due once more
-- at the end of the run under way; and the versions that were run at their start, one a line. An older binary would end
-- runs without moving the slot.
ALTER TABLE {s}{p}job
    ADD COLUMN slot_at      timestamptz,
    ADD COLUMN begun_at     timestamptz,
    ADD COLUMN missed       bigint,
    ADD COLUMN skipped      bigint,
    ADD COLUMN next_at      timestamptz,
    ADD COLUMN next_in      bigint,
    ADD COLUMN again        boolean,
    ADD COLUMN versions     text;
UPDATE {s}{p}job SET slot_at = coalesce(due_at, parked_due) WHERE unique_key = '' AND schedule <> 'on demand';
-- Former names of tasks. While their new name is served, nobody makes a job under the old one: `served_until` is kept ahead by
-- the workers that have the new one.
CREATE TABLE {s}{p}alias (
    name         text PRIMARY KEY,
    task         text NOT NULL,
    served_until timestamptz NOT NULL
);
