-- Schedules. Of a standing job: which slot it stands for, whenever it falls due, and when that was first claimed; how many
-- slots passed while another one's run stood for them, and how many no run stood for; what follows the slot, where a start has changed the schedule
-- since (an instant and its jitter, or a delay; one of less than nothing: nothing follows); whether it falls due once more
-- at the end of the run under way; and the versions that were run at their start, one a line. An older binary would end
-- runs without moving the slot.
ALTER TABLE {p}job ADD COLUMN slot_at INTEGER;
ALTER TABLE {p}job ADD COLUMN begun_at INTEGER;
ALTER TABLE {p}job ADD COLUMN missed INTEGER;
ALTER TABLE {p}job ADD COLUMN skipped INTEGER;
ALTER TABLE {p}job ADD COLUMN next_at INTEGER CHECK (typeof(next_at) IN ('integer', 'null'));
ALTER TABLE {p}job ADD COLUMN next_in INTEGER CHECK (typeof(next_in) IN ('integer', 'null'));
ALTER TABLE {p}job ADD COLUMN again INTEGER;
ALTER TABLE {p}job ADD COLUMN versions TEXT;
UPDATE {p}job SET slot_at = coalesce(due_at, parked_due) WHERE unique_key = '' AND schedule <> 'on demand';
-- Former names of tasks. While their new name is served, nobody makes a job under the old one: `served_until` is kept ahead by
-- the workers that have the new one.
CREATE TABLE {p}alias (
    name         TEXT PRIMARY KEY,
    task         TEXT NOT NULL,
    served_until INTEGER NOT NULL
);
