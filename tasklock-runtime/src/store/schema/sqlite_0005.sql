-- Schedules. Of a standing job: which slot it stands for, whenever it falls due; how many slots passed while another one's
-- run stood for them, and how many no run stood for; what follows the run under way, where its owner does not know (a delay
-- of less than nothing: nothing); and the versions that were run at their start, one a line. An older binary would end
-- runs without moving the slot.
ALTER TABLE {p}job ADD COLUMN slot_at INTEGER;
ALTER TABLE {p}job ADD COLUMN missed INTEGER;
ALTER TABLE {p}job ADD COLUMN skipped INTEGER;
ALTER TABLE {p}job ADD COLUMN next_at INTEGER CHECK (typeof(next_at) IN ('integer', 'null'));
ALTER TABLE {p}job ADD COLUMN next_in INTEGER CHECK (typeof(next_in) IN ('integer', 'null'));
ALTER TABLE {p}job ADD COLUMN versions TEXT;
