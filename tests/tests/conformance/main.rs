//! One suite for every store: each case below runs on all of them, through the store's trait alone.
//!
//! A case is an `async fn(&World)`. A [`World`](world::World) is a fresh database; its stores are what
//! as many processes would have. What a case waits for it reads from the store, by the store's clock;
//! the times in here are bounds that fail a broken store, never something that a sound one needs.
//!
//! `postgres_elsewhere` is a Postgres whose settings must not matter: serializable by default,
//! another time zone and date style, and a clock that is an hour ahead of the workers'.
//!
//! `mysql_elsewhere` is the same of MariaDB, for some of the cases: serializable by default, without autocommit, with chained
//! transactions and the like; and with snapshots that fail, as MariaDB 11.6 has them by default.
//!
//! What does nothing on Redis, and why:
//!
//! - `guard`, `complete`, `within`, but for their refusals, and `resources::a_guard_holds_both`: no SQL transaction can be part
//!   of Redis
//! - `fence`: it is about a SQL database, whatever holds the leases; `redis::failover` shows fences of Redis there
//! - `locks`, `named::who_takes_a_place_looks_at_the_name_again`, `unique::opposite_orders_do_not_wait_in_a_circle`: scripts run
//!   one at a time, so nothing is locked, or happens between a look and a write
//! - `plans`: there are none; `redis::backlog` counts the server's commands instead
//! - `upgrade`: it has one version of its keys; `prune::renewals_of_what_is_over_go_too`: it has no side rows
//! - `odd_rows`, `progress::odd_numbers_break_nothing`, `prune::nothing_that_waits_or_runs`,
//!   `resources::an_odd_parked_row_holds_up_nobody`, the edits in `declare::a_row_beside_its_new_name_goes`: they edit rows by SQL;
//!   `redis::odd` edits those of Redis
//! - `enqueue::all_of_a_call_or_none`: each thousand of a call is; see there

mod keys;
mod steps;
mod world;

mod claim;
mod clock;
mod complete;
mod declare;
mod ends;
mod enqueue;
mod fence;
mod finish;
mod guard;
mod limits;
mod locked;
mod locks;
mod named;
mod names;
mod odd_rows;
mod pause;
mod plans;
mod priority;
mod progress;
mod prune;
mod release;
mod renew;
mod resources;
mod retry;
mod schema;
mod stale;
mod steer;
mod storm;
mod takeover;
mod trigger;
mod unique;
mod upgrade;
mod wait;
mod watch;
mod within;

macro_rules! cases {
    ($world:ident: $($group:ident { $($case:ident),+ $(,)? })+) => {
        $(mod $group {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $case() {
                // `None` where this run leaves the database out; the support crate says so.
                if let Some(world) = crate::world::World::$world().await {
                    crate::$group::$case(&world).await;
                }
            })+
        })+
    };
}

macro_rules! suite {
    ($($world:ident),+) => {
        $(mod $world {
            cases! { $world:
                schema {
                    migrating_again_changes_nothing,
                    eight_processes_migrate_at_once,
                    missing_tables_are_refused,
                    older_tables_are_refused,
                    newer_tables_that_need_a_newer_binary_are_refused,
                    newer_tables_that_say_they_are_compatible_are_used,
                    a_table_prefix_isolates,
                    a_schema_isolates_or_is_refused,
                }
                upgrade {
                    rows_of_the_first_version_stay_what_they_are,
                    the_grants_that_are_listed_suffice,
                }
                declare {
                    one_row_each_from_eight_declarers,
                    what_is_as_it_should_be_is_not_written,
                    a_new_schedule_moves_a_waiting_job,
                    a_new_schedule_leaves_what_is_due,
                    it_is_known_when_a_slot_was_begun,
                    a_new_schedule_takes_over_after_the_run,
                    each_version_is_run_once_at_its_start,
                    a_former_name_gives_its_row,
                    a_row_beside_its_new_name_goes,
                    jobs_get_the_new_name_whoever_runs_them,
                    what_comes_while_it_is_declared_is_computed_anew,
                    passed_slots_are_counted,
                    a_dormant_job_is_not_claimed,
                }
                claim {
                    only_what_is_due,
                    not_before_it_is_due,
                    the_limit_is_exact,
                    only_tasks_that_the_worker_has,
                    the_earliest_first,
                    each_claim_raises_the_fence,
                    eight_claimers_get_disjoint_rows,
                    each_task_has_its_own_ttl,
                    the_row_says_who_holds_it,
                }
                enqueue {
                    what_was_enqueued_is_read_back,
                    nothing_is_enqueued_by_an_empty_call,
                    it_falls_due_when_it_was_told,
                    any_text_is_kept,
                    ids_are_in_the_order_of_the_call,
                    all_of_a_call_or_none,
                    a_hundred_thousand_by_one_call,
                }
                unique {
                    a_key_is_taken_while_its_job_waits_or_runs,
                    a_key_is_its_tasks_own,
                    one_key_many_times_in_one_call,
                    sixteen_enqueue_ten_keys,
                    opposite_orders_do_not_wait_in_a_circle,
                    one_job_of_a_key_at_any_instant,
                }
                priority {
                    a_point_is_a_second_ahead,
                    over_all_tasks,
                    an_old_job_comes_before_a_new_one,
                    many_priorities,
                    what_is_not_due_is_not_in_the_way,
                    no_time_if_rows_of_any_priority_were_left_behind,
                }
                limits {
                    it_is_reached_and_no_more,
                    each_task_has_its_own,
                    a_full_task_leaves_the_others_their_share,
                    an_expired_run_keeps_its_place_until_it_is_taken,
                    eight_claimers_never_exceed_it,
                    a_freed_place_is_announced,
                    a_hold_keeps_the_place,
                }
                ends {
                    an_ended_job_stays_with_what_is_known_of_it,
                    a_job_of_which_nothing_is_kept_is_gone,
                    an_attempt_counts_as_it_was_told,
                    the_same_work_again_after_a_while,
                    a_cancelled_run_is_not_done_again,
                    a_cancelled_run_that_is_given_back_is_cancelled,
                    a_cancelled_run_may_still_end_otherwise,
                    a_standing_job_never_ends,
                    a_hold_delays_the_next_run,
                    one_call_may_hold_every_end,
                }
                within {
                    it_is_there_when_the_transaction_commits,
                    workers_are_woken_at_the_commit_and_not_before,
                    another_databases_transaction_is_refused,
                    a_key_of_an_open_transaction_is_waited_for,
                    a_key_that_the_snapshot_does_not_show,
                    a_transaction_that_begins_with_it_waits_for_its_turn,
                    others_work_on_beside_a_transaction_with_keys,
                    a_key_whose_job_has_ended_is_free,
                }
                steer {
                    jobs_are_listed_the_newest_first,
                    a_waiting_job_is_cancelled_at_once,
                    a_cancel_says_what_it_found,
                    a_cancelled_run_is_not_renewed_and_learns_why,
                    who_takes_a_cancelled_run_over_is_told,
                }
                retry {
                    an_ended_job_is_run_anew,
                    a_retry_says_what_it_found,
                    a_retry_does_not_take_a_key,
                    a_retry_is_announced,
                }
                pause {
                    what_is_paused_starts_no_run,
                    pausing_twice_is_pausing_once,
                    no_run_of_what_is_paused_is_taken_over,
                    a_pause_is_not_waited_for,
                    a_resumed_task_is_announced,
                }
                plans {
                    no_call_reads_more_where_more_jobs_wait,
                    no_call_takes_longer_where_more_jobs_wait,
                }
                prune {
                    only_what_has_been_kept_for_long_enough,
                    nothing_that_waits_or_runs,
                    no_row_that_keeps_a_place,
                    several_delete_each_row_once,
                    renewals_of_what_is_over_go_too,
                }
                wait {
                    none_without_anything_to_wait_for,
                    until_the_next_is_due,
                    until_a_lease_expires_renewals_included,
                    until_whatever_comes_first,
                    no_time_if_rows_were_left_behind,
                }
                takeover {
                    only_after_expiry,
                    only_after_a_renewed_lease_has_expired,
                    never_while_renewals_hold,
                    live_runs_do_not_hide_an_expired_one,
                    expired_rows_come_first_and_the_limit_counts_both,
                    suspects_are_taken_over_a_few_at_a_time,
                    only_tasks_that_the_worker_has,
                    crashes_and_attempts_are_counted,
                }
                renew {
                    only_what_is_held_is_confirmed,
                    never_backwards,
                    each_row_its_own_ttl,
                    a_thousand_in_chunks,
                    an_expired_lease_that_nobody_took_is_renewed,
                    a_batch_may_hold_a_spent_lease_of_the_same_job,
                    it_connects_again_after_a_reset,
                    the_renewer_reads_and_gives_back_too,
                }
                progress {
                    it_is_what_was_said_last,
                    each_run_has_its_own,
                    it_goes_with_its_run,
                    it_outlives_its_worker_and_no_takeover,
                    odd_numbers_break_nothing,
                }
                locks {
                    a_renewal_does_not_wait_for_a_lock,
                    a_renewal_passes_a_guard,
                    an_end_skips_a_guarded_row,
                    a_takeover_skips_a_guarded_row,
                    a_trigger_does_not_wait_for_a_guarded_run,
                }
                finish {
                    the_job_is_due_when_it_was_told,
                    any_text_is_kept,
                    only_by_the_owner_with_its_fence,
                    only_once,
                    a_full_batch_in_one_call,
                    a_batch_may_hold_a_spent_lease_of_the_same_job,
                }
                release {
                    due_as_before_and_the_attempt_unused,
                    a_renewed_lease_is_free_at_once,
                    only_by_the_owner_with_its_fence,
                    a_lost_claim_is_given_back_by_its_token,
                }
                trigger {
                    a_waiting_job_is_due_now,
                    it_says_what_it_found,
                    one_of_sixteen_queues_it,
                }
                stale {
                    a_former_owner_changes_nothing,
                    it_changes_nothing_after_the_new_owner_has_finished_either,
                    an_owner_whose_job_has_ended_changes_nothing,
                }
                guard {
                    it_commits_while_the_lease_is_held,
                    a_former_owner_commits_nothing,
                    a_takeover_during_the_transaction_refuses_it,
                    a_paused_owner_finishes_renews_and_commits_in_vain,
                    an_ended_run_commits_nothing,
                    a_transaction_completes_its_job_exactly_once,
                    another_stores_transaction_is_refused,
                }
                complete {
                    a_transaction_completes_a_job_that_was_enqueued,
                }
                fence {
                    a_smaller_fence_is_refused_and_cannot_be_committed,
                    an_equal_and_a_greater_fence_pass,
                    a_registration_goes_with_its_transaction,
                    a_newer_fence_waits_for_the_older_transaction,
                    an_equal_fence_waits_too,
                    two_register_first,
                    an_old_snapshot_does_not_help,
                    another_name_is_not_touched,
                    a_missing_table_is_said_with_its_sql,
                    a_table_of_another_shape_lets_nothing_through,
                    what_is_no_name_or_no_fence_is_refused,
                    effects_come_in_the_order_of_their_fences,
                }
                named {
                    a_name_has_one_holder_at_a_time,
                    an_expired_one_is_taken_and_not_before,
                    one_of_sixteen_has_it,
                    many_names_in_one_call,
                    fences_do_not_go_back_when_a_row_goes,
                    names_and_tasks_are_apart,
                    what_was_lost_is_given_back_by_its_token,
                    a_refused_acquisition_writes_nothing,
                    a_completed_one_is_free_and_can_be_deleted,
                    those_who_wait_get_it_in_their_order,
                    nobody_gets_what_others_wait_for,
                    who_has_died_holds_up_nobody_for_long,
                    who_leaves_the_line_makes_room,
                    who_takes_a_place_looks_at_the_name_again,
                    an_expired_one_is_for_the_first,
                    the_first_in_the_line_is_told,
                    jobs_come_after_those_who_wait,
                }
                resources {
                    a_claim_takes_it_and_an_end_gives_it_back,
                    jobs_of_one_name_run_one_after_the_other,
                    whoever_holds_the_name_keeps_jobs_out,
                    a_takeover_takes_both,
                    a_crashed_job_waits_for_its_name,
                    a_cancelled_one_that_crashed_ends_without_its_name,
                    both_are_given_back,
                    a_takeover_takes_no_name_of_another_run_of_the_claim,
                    an_odd_parked_row_holds_up_nobody,
                    a_name_given_back_during_a_claim_is_not_slept_on,
                    a_guard_holds_both,
                    many_at_once_are_one_at_a_time,
                    what_is_not_had_is_as_it_was,
                    finished_ones_that_go_away_free_the_name,
                    parked_jobs_are_seen_as_waiting,
                    a_busy_name_does_not_hold_up_others,
                    a_paused_task_does_not_hold_up_others,
                    a_cancelled_one_does_not_hold_up_others,
                    whose_holder_died_is_found,
                    a_changed_resource_counts_for_what_waits,
                }
                names {
                    any_name_is_itself_and_no_other,
                }
                odd_rows {
                    one_odd_row_stops_nobody,
                    a_held_row_may_be_edited,
                    an_unknown_pause_pauses_nothing,
                    what_the_tables_refuse,
                    the_last_fence_is_given_out_once,
                    a_later_versions_columns_are_no_trouble,
                    among_random_rows_every_sane_one_is_claimed,
                }
                clock {
                    it_is_the_stores_own,
                }
                watch {
                    new_work_is_announced_to_other_processes,
                    a_look_and_the_next_slot_are_told,
                }
                storm {
                    no_live_lease_is_taken,
                }
            }
        })+
    };
}

suite!(memory, redis, sqlite, mysql, postgres, postgres_elsewhere);

/// Those in which the session of a connection matters.
mod mysql_elsewhere {
    cases! { mysql_elsewhere:
        schema {
            migrating_again_changes_nothing,
            eight_processes_migrate_at_once,
            missing_tables_are_refused,
            older_tables_are_refused,
            newer_tables_that_need_a_newer_binary_are_refused,
            newer_tables_that_say_they_are_compatible_are_used,
            a_table_prefix_isolates,
            a_schema_isolates_or_is_refused,
        }
        enqueue {
            what_was_enqueued_is_read_back,
            nothing_is_enqueued_by_an_empty_call,
            it_falls_due_when_it_was_told,
            any_text_is_kept,
            ids_are_in_the_order_of_the_call,
            all_of_a_call_or_none,
        }
        unique {
            a_key_is_taken_while_its_job_waits_or_runs,
            a_key_is_its_tasks_own,
            one_key_many_times_in_one_call,
            sixteen_enqueue_ten_keys,
            opposite_orders_do_not_wait_in_a_circle,
            one_job_of_a_key_at_any_instant,
        }
        within {
            it_is_there_when_the_transaction_commits,
            workers_are_woken_at_the_commit_and_not_before,
            another_databases_transaction_is_refused,
            a_key_of_an_open_transaction_is_waited_for,
            a_key_that_the_snapshot_does_not_show,
            a_transaction_that_begins_with_it_waits_for_its_turn,
            others_work_on_beside_a_transaction_with_keys,
            a_key_whose_job_has_ended_is_free,
        }
        guard {
            it_commits_while_the_lease_is_held,
            a_former_owner_commits_nothing,
            a_takeover_during_the_transaction_refuses_it,
            a_paused_owner_finishes_renews_and_commits_in_vain,
            an_ended_run_commits_nothing,
            a_transaction_completes_its_job_exactly_once,
            another_stores_transaction_is_refused,
        }
        complete {
            a_transaction_completes_a_job_that_was_enqueued,
        }
        claim {
            only_what_is_due,
            not_before_it_is_due,
            the_limit_is_exact,
            only_tasks_that_the_worker_has,
            the_earliest_first,
            each_claim_raises_the_fence,
            eight_claimers_get_disjoint_rows,
            each_task_has_its_own_ttl,
            the_row_says_who_holds_it,
        }
        takeover {
            only_after_expiry,
            only_after_a_renewed_lease_has_expired,
            never_while_renewals_hold,
            live_runs_do_not_hide_an_expired_one,
            expired_rows_come_first_and_the_limit_counts_both,
            suspects_are_taken_over_a_few_at_a_time,
            only_tasks_that_the_worker_has,
            crashes_and_attempts_are_counted,
        }
        renew {
            only_what_is_held_is_confirmed,
            never_backwards,
            each_row_its_own_ttl,
            a_thousand_in_chunks,
            an_expired_lease_that_nobody_took_is_renewed,
            a_batch_may_hold_a_spent_lease_of_the_same_job,
            it_connects_again_after_a_reset,
            the_renewer_reads_and_gives_back_too,
        }
        finish {
            the_job_is_due_when_it_was_told,
            any_text_is_kept,
            only_by_the_owner_with_its_fence,
            only_once,
            a_full_batch_in_one_call,
            a_batch_may_hold_a_spent_lease_of_the_same_job,
        }
        release {
            due_as_before_and_the_attempt_unused,
            a_renewed_lease_is_free_at_once,
            only_by_the_owner_with_its_fence,
            a_lost_claim_is_given_back_by_its_token,
        }
        named {
            a_name_has_one_holder_at_a_time,
            an_expired_one_is_taken_and_not_before,
            one_of_sixteen_has_it,
            many_names_in_one_call,
            fences_do_not_go_back_when_a_row_goes,
            names_and_tasks_are_apart,
            what_was_lost_is_given_back_by_its_token,
            a_refused_acquisition_writes_nothing,
            a_completed_one_is_free_and_can_be_deleted,
            those_who_wait_get_it_in_their_order,
            nobody_gets_what_others_wait_for,
            who_has_died_holds_up_nobody_for_long,
            who_leaves_the_line_makes_room,
            who_takes_a_place_looks_at_the_name_again,
            an_expired_one_is_for_the_first,
            the_first_in_the_line_is_told,
            jobs_come_after_those_who_wait,
        }
        resources {
            a_claim_takes_it_and_an_end_gives_it_back,
            jobs_of_one_name_run_one_after_the_other,
            whoever_holds_the_name_keeps_jobs_out,
            a_takeover_takes_both,
            a_crashed_job_waits_for_its_name,
            a_cancelled_one_that_crashed_ends_without_its_name,
            both_are_given_back,
            a_takeover_takes_no_name_of_another_run_of_the_claim,
            an_odd_parked_row_holds_up_nobody,
            a_name_given_back_during_a_claim_is_not_slept_on,
            a_guard_holds_both,
            many_at_once_are_one_at_a_time,
            what_is_not_had_is_as_it_was,
            finished_ones_that_go_away_free_the_name,
            parked_jobs_are_seen_as_waiting,
            a_busy_name_does_not_hold_up_others,
            a_paused_task_does_not_hold_up_others,
            a_cancelled_one_does_not_hold_up_others,
            whose_holder_died_is_found,
            a_changed_resource_counts_for_what_waits,
        }
        prune {
            only_what_has_been_kept_for_long_enough,
            nothing_that_waits_or_runs,
            no_row_that_keeps_a_place,
            several_delete_each_row_once,
            renewals_of_what_is_over_go_too,
        }
        limits {
            it_is_reached_and_no_more,
            each_task_has_its_own,
            a_full_task_leaves_the_others_their_share,
            an_expired_run_keeps_its_place_until_it_is_taken,
            eight_claimers_never_exceed_it,
            a_freed_place_is_announced,
            a_hold_keeps_the_place,
        }
        pause {
            what_is_paused_starts_no_run,
            pausing_twice_is_pausing_once,
            no_run_of_what_is_paused_is_taken_over,
            a_pause_is_not_waited_for,
            a_resumed_task_is_announced,
        }
        steer {
            jobs_are_listed_the_newest_first,
            a_waiting_job_is_cancelled_at_once,
            a_cancel_says_what_it_found,
            a_cancelled_run_is_not_renewed_and_learns_why,
            who_takes_a_cancelled_run_over_is_told,
        }
        retry {
            an_ended_job_is_run_anew,
            a_retry_says_what_it_found,
            a_retry_does_not_take_a_key,
            a_retry_is_announced,
        }
        trigger {
            a_waiting_job_is_due_now,
            it_says_what_it_found,
            one_of_sixteen_queues_it,
        }
        declare {
            one_row_each_from_eight_declarers,
            what_is_as_it_should_be_is_not_written,
            a_new_schedule_moves_a_waiting_job,
            a_new_schedule_leaves_what_is_due,
            it_is_known_when_a_slot_was_begun,
            a_new_schedule_takes_over_after_the_run,
            each_version_is_run_once_at_its_start,
            a_former_name_gives_its_row,
            a_row_beside_its_new_name_goes,
            jobs_get_the_new_name_whoever_runs_them,
            what_comes_while_it_is_declared_is_computed_anew,
            passed_slots_are_counted,
            a_dormant_job_is_not_claimed,
        }
        fence {
            a_smaller_fence_is_refused_and_cannot_be_committed,
            an_equal_and_a_greater_fence_pass,
            a_registration_goes_with_its_transaction,
            a_newer_fence_waits_for_the_older_transaction,
            an_equal_fence_waits_too,
            two_register_first,
            an_old_snapshot_does_not_help,
            another_name_is_not_touched,
            a_missing_table_is_said_with_its_sql,
            a_table_of_another_shape_lets_nothing_through,
            what_is_no_name_or_no_fence_is_refused,
            effects_come_in_the_order_of_their_fences,
        }
    }
}

/// What is MariaDB's own.
mod mysql_alone {
    cases! { mysql:
        locked {
            a_renewal_does_not_wait_for_a_prune_that_waits,
            drawn_numbers_leave_no_rows,
            a_task_that_another_claim_counts_is_not_waited_for,
            what_is_not_due_is_not_locked_by_a_claim,
            nobody_waits_with_who_makes_a_name,
            a_shorter_time_out_of_the_session_stays,
            a_nested_transactions_guard_ends_its_savepoint_alone,
            a_binary_log_of_statements_is_told,
            what_is_written_during_a_wake_up_is_heard,
        }
    }
}
