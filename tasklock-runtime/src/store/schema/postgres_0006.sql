-- Schedules. Of a standing job: which slot it stands for, whenever it falls due; how many slots passed while another one's
-- run stood for them, and how many no run stood for; what follows the run under way, where its owner does not know (a delay
-- of less than nothing: nothing); and the versions that were run at their start, one a line. An older binary would end
-- runs without moving the slot.
ALTER TABLE {s}{p}job
    ADD COLUMN slot_at      timestamptz,
    ADD COLUMN missed       bigint,
    ADD COLUMN skipped      bigint,
    ADD COLUMN next_at      timestamptz,
    ADD COLUMN next_in      bigint,
    ADD COLUMN versions     text;
