/*
 * The coordinator's side of the database, on a real server and a clock that the tests move: what
 * each condition of a commit refuses, that nothing is written by a coordinator that has lost the
 * run, and what volunteers may not do.
 */
/* No TSan: one thread. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "world.h"

/* ---- steps ----------------------------------------------------------------------------------- */

/* What is usual before the second step, to the bit; before the first one nothing is known. */
static void expect_usual(world *of, leat_unit_norms norms) {
    leat_usual usual;
    leat_unit_norms most;
    leat_error err = {0};
    leat_usual_clear(&usual);
    must(leat_database_usual(of->owner, of->hold.run, 0, &usual, &err), &err);
    assert_false(leat_usual_limits(&usual, 0, LEAT_USUAL_OUTLIER, &most));
    must(leat_database_usual(of->owner, of->hold.run, 1, &usual, &err), &err);
    assert_true(leat_usual_limits(&usual, 1, LEAT_USUAL_OUTLIER, &most));
    assert_true(most.gradient == LEAT_USUAL_OUTLIER * norms.gradient);
    assert_true(most.statistics == LEAT_USUAL_OUTLIER * norms.statistics);
}

static void commits(void **state) {
    world *of = *state;
    leat_database_step step = a_step(0), other;
    leat_database_position at;
    leat_error err = {0};
    join(of->ann, M1);
    join(of->bob, M2);
    deliver_step(of);
    assert_int_equal(commit(of, &step), LEAT_ERR_BUSY); /* nothing is confirmed */
    confirm_all(of, 0);
    other = step, other.step = 1;
    assert_int_equal(commit(of, &other), LEAT_ERR_BUSY);
    other = step, other.weights_slot = 0; /* that workers fetch */
    assert_int_equal(commit(of, &other), LEAT_ERR_BUSY);
    tell(of->owner, "update leat.unit set state = 'done' where unit = 2");
    assert_int_equal(commit(of, &step), LEAT_ERR_BUSY);
    tell(of->owner, "update leat.unit set state = 'confirmed' where unit = 2");
    assert_string_equal(ask(of->owner, "select count(*) from leat.step"), "0");
    step.norms = (leat_unit_norms){0.1, 1.0 / 3};
    assert_int_equal(commit(of, &step), LEAT_OK);
    assert_int_equal(commit(of, &step), LEAT_ERR_BUSY); /* not twice */
    expect_usual(of, step.norms);
    must(leat_database_look(of->owner, of->hold.run, &at, &err), &err);
    assert_int_equal(at.step, 1);
    assert_int_equal(at.weights_slot, 1);
    assert_int_equal(at.state_step, -1);
    assert_string_equal(ask(of->owner, "select count(*) from leat.unit where state = 'ready'"),
                        "3");
    step = a_step(1);
    step.state_slot = 0;
    deliver_step(of);
    confirm_all(of, 1);
    assert_int_equal(commit(of, &step), LEAT_OK);
    must(leat_database_look(of->owner, of->hold.run, &at, &err), &err);
    assert_int_equal(at.state_step, 2);
    assert_string_equal(at.state, HASH64);
    /* of step 0 nothing is left but its row */
    assert_string_equal(ask(of->owner, "select count(*) from leat.unit where step = 0"), "0");
    assert_string_equal(ask(of->owner, "select count(*) from leat.lease where step = 0"), "0");
    step = a_step(2);
    step.state_slot = 0; /* that a resume would read */
    deliver_step(of);
    confirm_all(of, 2);
    assert_int_equal(commit(of, &step), LEAT_ERR_BUSY);
    step.state_slot = 1;
    assert_int_equal(commit(of, &step), LEAT_OK);
    deliver_step(of);
    confirm_all(of, 3);
    step = a_step(3);
    assert_int_equal(commit(of, &step), LEAT_OK);
    assert_int_equal(claim(of, of->ann, M1).lease, 0); /* the last step is done */
    assert_string_equal(ask(of->owner, "select count(*) from leat.step"), "4");
    assert_string_equal(ask(of->owner, "select max(workers) from leat.step"), "1");
}

/* Rows of leat.step_values, as text. */
static const char *values_of(world *of, int64_t run) {
    char sql[256];
    snprintf(sql, sizeof sql,
             "select coalesce(string_agg(iteration || ' ' || name || ' ' || value, ', ' order by "
             "iteration, position), '') from leat.step_values where run = %lld",
             (long long)run);
    return ask(of->bob, sql);
}

static void values_by_name(void **state) {
    world *of = *state;
    leat_database_step step = a_step(0);
    step.values[0] = 0.1 + 0.2, step.values[1] = -1e-300;
    join(of->ann, M1);
    assert_string_equal(values_of(of, 1), "");
    for (int i = 0; i < 2; i++) {
        deliver_step(of);
        confirm_all(of, i);
        assert_int_equal(commit(of, &step), LEAT_OK);
        step = a_step(1);
        step.values[0] = NAN, step.values[1] = -INFINITY;
    }
    assert_string_equal(values_of(of, 1), "0 loss 0.30000000000000004, 0 norm -1e-300, "
                                          "1 loss NaN, 1 norm -Infinity");
    assert_string_equal(ask(of->bob, "select count(*) from leat.loss_history where num_nulls("
                                     "g_loss, d_loss, loss_d_images, loss_d_fakes, norm_d, norm_g) "
                                     "= 6"),
                        "2");
    assert_string_equal(ask(of->bob, "select count(*) from leat.training_state where "
                                     "num_nulls(generator_loss, discriminator_loss) = 2"),
                        "1");
}

/* The views with the names of GANNs-with-friends, for a run whose values have those names, in any
 * order. */
static void losses_of_a_gan(void **state) {
    world *of = *state;
    static const char columns[] =
        "select string_agg(attname, ' ' order by attnum) from pg_attribute where attrelid = "
        "'leat.%s'::regclass";
    static const struct {
        const char *view, *columns;
    } cases[] = {
        {"loss_history", "run iteration epoch g_loss d_loss loss_d_images loss_d_fakes norm_d "
                         "norm_g num_workers state_hash created_at"},
        {"training_state",
         "run name model current_iteration current_epoch steps generator_loss discriminator_loss "
         "total_images_processed training_active state reason weights_hash weights_bytes "
         "payload_bytes units unit_size samples coordinator coordinated updated_at"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char sql[256];
        snprintf(sql, sizeof sql, columns, cases[i].view);
        assert_string_equal(ask(of->bob, sql), cases[i].columns);
    }
    leat_database_step step = a_step(0);
    tell(of->owner, "update leat.run set value_names = "
                    "'{norm_g,loss_d_fakes,other,loss_g,loss_d_images,norm_d}'");
    step.value_count = 6;
    for (int i = 0; i < 6; i++) step.values[i] = i + 1;
    join(of->ann, M1);
    deliver_step(of);
    confirm_all(of, 0);
    assert_int_equal(commit(of, &step), LEAT_OK);
    assert_string_equal(ask(of->bob, "select concat_ws(' ', g_loss, d_loss, loss_d_images, "
                                     "loss_d_fakes, norm_d, norm_g) from leat.loss_history"),
                        "4 7 5 2 6 1");
    assert_string_equal(ask(of->bob, "select concat_ws(' ', generator_loss, discriminator_loss) "
                                     "from leat.training_state"),
                        "4 7");
}

/* None, and as many as there may be. */
static void names_of_values(void **state) {
    world *of = *state;
    static const struct {
        const char *names;
        leat_code code;
    } cases[] = {
        {"", LEAT_OK},
        {"a b c d e f g h i j k l m n o p", LEAT_OK},
        {"a b c d e f g h i j k l m n o p q", LEAT_ERR_INPUT},
        {"a  b", LEAT_ERR_INPUT},
        {"a ", LEAT_ERR_INPUT},
        {"a B", LEAT_ERR_INPUT},
        {"this_name_has_nine_and_forty_characters_which_is_1", LEAT_ERR_INPUT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_error err = {0};
        char name[16];
        int64_t id = 0;
        snprintf(name, sizeof name, "n%zu", i);
        leat_database_run run = a_run(name), found;
        leat_pg_rows *rows = NULL;
        run.value_names = cases[i].names;
        if (leat_database_create_run(of->owner, &run, &id, &err) != cases[i].code)
            fail_msg("case %zu: %s", i, err.message);
        if (cases[i].code != LEAT_OK) continue;
        must(leat_database_find_run(of->owner, name, &found, &rows, &err), &err);
        assert_string_equal(found.value_names, cases[i].names);
        leat_pg_rows_destroy(rows);
    }
    static const char *const wrong[] = {"{\"a b\"}", "{\"a,b\"}", "{a,NULL}", "{{a},{b}}",
                                        "{\"\"}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        leat_error err = {0};
        char sql[128];
        snprintf(sql, sizeof sql, "update leat.run set value_names = '%s'", wrong[i]);
        if (leat_pg_script(of->owner, sql, &err) != LEAT_ERR_INPUT) fail_msg("%s", wrong[i]);
    }
}

/* ---- steps of several numbers of units --------------------------------------------------------
 */

/* Delivers and confirms all of a step, and commits it, with so many units for the next one. */
static void pass_step(world *of, leat_database_step *step, int64_t units, int64_t next_units) {
    step->units = units, step->next_units = next_units;
    for (int64_t i = 0; i < units; i++) {
        leat_database_lease lease = claim(of, of->ann, M1);
        assert_true(lease.lease > 0 && lease.step == step->step && lease.unit == i);
        deliver(of, of->ann, &lease);
    }
    assert_int_equal(claim(of, of->bob, M2).lease, 0);
    confirm_all(of, step->step);
    assert_int_equal(commit(of, step), LEAT_OK);
    step->step++;
    step->weights_slot = 1 - step->weights_slot;
}

static void steps_have_units_of_their_own(void **state) {
    world *of = *state;
    leat_database_position at;
    leat_error err = {0};
    leat_database_run run = a_run("run-a");
    leat_database_step step = a_step(0);
    join(of->ann, M1);
    join(of->bob, M2);
    step.samples = 300;
    pass_step(of, &step, 3, 1);
    step.samples = 330;
    pass_step(of, &step, 1, 2);
    must(leat_database_look(of->owner, of->hold.run, &at, &err), &err);
    assert_true(at.step == 2 && at.units == 2);
    /* as if its end had been there: the units come back with more steps, and those that are there
     * stay */
    tell(of->owner, "delete from leat.unit where unit = 1");
    run.steps = STEPS;
    must(leat_database_resume_run(of->owner, &of->hold, &run, 2, &err), &err);
    assert_int_equal(leat_database_resume_run(of->owner, &of->hold, &run, UNITS + 1, &err),
                     LEAT_ERR_OPTION);
    pass_step(of, &step, 2, 1);
    /* opened again, with another number */
    must(open_step(of->owner, &of->hold, 2, step.weights_slot, 2, &err), &err);
    must(leat_database_look(of->owner, of->hold.run, &at, &err), &err);
    assert_true(at.step == 2 && at.units == 2);
    assert_int_equal(open_step(of->owner, &of->hold, 2, step.weights_slot, 0, &err),
                     LEAT_ERR_OPTION);
    must(open_step(of->owner, &of->hold, STEPS, step.weights_slot, 0, &err), &err);
    must(leat_database_look(of->owner, of->hold.run, &at, &err), &err);
    assert_true(at.step == STEPS && at.units == 0);
}

/* What the views say of samples: of units that are alike, where each is; else what is known. */
static void samples_of_units(void **state) {
    world *of = *state;
    static const char views[] =
        "select concat_ws(' ', u.start_index, u.end_index, u.epoch, u.status, "
        "t.total_images_processed, t.current_epoch, w.total_images) from leat.training_state t, "
        "leat.work_units u, leat.workers w where u.iteration = 1 and u.id = 0 and w.account = "
        "'ann'";
    static const struct {
        const char *sql, *says;
    } cases[] = {
        {"select 1", "300 400 0 pending 2310 2 300"},
        {"update leat.run set unit_size = 0", "pending 2310 2"},
        {"delete from leat.step", "pending"},
        {"update leat.run set unit_size = 100", "300 400 0 pending 300 0 300"},
    };
    leat_database_step step = a_step(0);
    join(of->ann, M1);
    join(of->bob, M2);
    step.samples = 2310;
    pass_step(of, &step, UNITS, UNITS);
    assert_string_equal(ask(of->bob, "select epoch from leat.loss_history"), "2");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tell(of->owner, cases[i].sql);
        assert_string_equal(ask(of->bob, views), cases[i].says);
    }
}

/* A slow copy of a committed step changes nothing. */
static void late_copies(void **state) {
    world *of = *state;
    leat_database_step step = a_step(0);
    join(of->ann, M1);
    join(of->bob, M2);
    leat_database_lease slow = get(of, of->bob, M2, 0, false);
    pass(of, 31);
    leat_database_lease a = get(of, of->ann, M1, 1, false);
    deliver(of, of->ann, &a);
    a = get(of, of->ann, M1, 2, false);
    deliver(of, of->ann, &a);
    a = get(of, of->ann, M1, 0, true);
    deliver(of, of->ann, &a);
    confirm_all(of, 0);
    assert_int_equal(commit(of, &step), LEAT_OK);
    assert_string_equal(put(of, of->bob, &slow, 0), "another machine was faster");
    assert_string_equal(submit(of->bob, &slow, of->hash), "another machine was faster");
    assert_string_equal(ask(of->owner, "select count(*) from leat.part_1_1"), "0");
    assert_string_equal(
        ask(of->owner, "select string_agg(state, ' ') from leat.unit where step = 1"),
        "ready ready ready");
}

static void slots_in_use(void **state) {
    world *of = *state;
    leat_error err = {0};
    assert_int_equal(
        leat_database_clear(of->owner, &of->hold, LEAT_DATABASE_WEIGHTS, 0, 100, NULL, &err),
        LEAT_ERR_BUSY);
    assert_int_equal(
        leat_database_clear(of->owner, &of->hold, LEAT_DATABASE_PARTS, 0, 100, NULL, &err),
        LEAT_ERR_BUSY);
    must(leat_database_clear(of->owner, &of->hold, LEAT_DATABASE_PARTS, 1, 100, NULL, &err), &err);
    must(leat_database_clear(of->owner, &of->hold, LEAT_DATABASE_STATE, 0, 100, NULL, &err), &err);
    must(leat_database_write(of->owner, &of->hold, LEAT_DATABASE_STATE, 0, of->payload, PAYLOAD,
                             PART, &err),
         &err);
    must(leat_database_keep_state(of->owner, &of->hold, 0, 0, HASH64, &err), &err);
    assert_int_equal(
        leat_database_clear(of->owner, &of->hold, LEAT_DATABASE_STATE, 0, 100, NULL, &err),
        LEAT_ERR_BUSY);
    assert_non_null(strstr(err.message, "in use"));
    uint8_t bytes[PAYLOAD];
    must(leat_database_read(of->owner, of->hold.run, LEAT_DATABASE_STATE, 0,
                            &(leat_database_into){bytes, PAYLOAD, PART}, &err),
         &err);
    assert_memory_equal(bytes, of->payload, PAYLOAD);
    assert_int_equal(leat_database_read(of->owner, of->hold.run, LEAT_DATABASE_STATE, 0,
                                        &(leat_database_into){bytes, PAYLOAD - 1, PART}, &err),
                     LEAT_ERR_CORRUPT);
}

/* A dump reads for a long time: neither it nor the run waits. */
static void a_reader_is_left_alone(void **state) {
    world *of = *state;
    leat_error err = {0};
    must(leat_database_write(of->owner, &of->hold, LEAT_DATABASE_WEIGHTS, 1, of->weights, WEIGHTS,
                             PART, &err),
         &err);
    char name[32];
    snprintf(name, sizeof name, "%s", ask(of->owner, "select current_database()"));
    leat_pg *dump = cluster_connect("owner", name);
    tell(dump, "begin; lock table leat.weights_1_1 in access share mode");
    bool waited = false;
    must(leat_database_clear(of->owner, &of->hold, LEAT_DATABASE_WEIGHTS, 1, 50, &waited, &err),
         &err);
    assert_true(waited);
    assert_string_equal(ask(of->owner, "select count(*) from leat.weights_1_1"), "0");
    assert_string_equal(ask(dump, "select 1"), "1");
    leat_pg_close(dump);
}

/* ---- coordinators -----------------------------------------------------------------------------
 */

static void one_coordinator(void **state) {
    world *of = *state;
    leat_database_hold second = {.run = of->hold.run};
    const int64_t epoch = of->hold.epoch, fence = of->hold.fence;
    leat_error err = {0};
    assert_int_equal(leat_database_take(of->owner, "there", &second, &err), LEAT_ERR_BUSY);
    assert_non_null(strstr(err.message, "\"here\" coordinates the run; its hold ends in 15.0 s"));
    pass(of, 10);
    must(leat_database_renew_hold(of->owner, &of->hold, &err), &err);
    pass(of, 10);
    must(leat_database_take(of->owner, "here", &of->hold, &err), &err); /* renewed, too */
    assert_true(of->hold.epoch == epoch && of->hold.fence == fence);
    pass(of, 10);
    assert_int_equal(leat_database_take(of->owner, "there", &second, &err), LEAT_ERR_BUSY);
    pass(of, 6);
    must(leat_database_take(of->owner, "there", &second, &err), &err);
    assert_true(second.fence == fence + 1 && second.epoch != epoch);
    must(leat_database_give_up(of->owner, &second, &err), &err);
    must(leat_database_take(of->owner, "third", &second, &err), &err);
    assert_int_equal(second.fence, fence + 3);
}

/* Nothing that a coordinator without the run calls is written. */
static void a_lost_run_is_not_written(void **state) {
    world *of = *state;
    leat_database_hold second = {.run = of->hold.run}, same_fence, same_epoch;
    leat_database_result result = {.unit = 0};
    const leat_database_step step = a_step(0);
    leat_error err = {0};
    bool done = false;
    int64_t lost = 0;
    join(of->ann, M1);
    deliver_step(of);
    confirm_all(of, 0);
    result.lease = leat_pg_broken(of->owner) ? 0
                                             : strtoll(ask(of->owner, "select lease from "
                                                                      "leat.unit where unit = 0"),
                                                       NULL, 10);
    pass(of, 16);
    must(leat_database_take(of->owner, "there", &second, &err), &err);
    same_fence = same_epoch = second;
    same_fence.epoch = of->hold.epoch; /* a restored database counts the fence again */
    same_epoch.fence = of->hold.fence;
    char before[512];
    snprintf(before, sizeof before, "%s",
             ask(of->owner, "select md5(string_agg(r::text, '')) from "
                            "leat.run r"));
    const leat_database_hold *const holds[] = {&of->hold, &same_fence, &same_epoch};
    for (int i = 0; i < 3; i++) {
        leat_pg *pg = of->owner;
        const leat_database_hold *h = holds[i];
        assert_int_equal(leat_database_commit(pg, h, &step, &err), LEAT_ERR_BUSY);
        assert_non_null(strstr(err.message, "\"there\" has taken over the run"));
        assert_int_equal(leat_database_clear(pg, h, LEAT_DATABASE_STATE, 1, 9, NULL, &err),
                         LEAT_ERR_BUSY);
        assert_int_equal(
            leat_database_write(pg, h, LEAT_DATABASE_STATE, 1, of->payload, 9, PART, &err),
            LEAT_ERR_BUSY);
        assert_int_equal(leat_database_renew_hold(pg, h, &err), LEAT_ERR_BUSY);
        assert_int_equal(open_step(pg, h, 0, 0, UNITS, &err), LEAT_ERR_BUSY);
        assert_int_equal(leat_database_confirm(pg, h, 0, &result, &done, &err), LEAT_ERR_BUSY);
        assert_int_equal(leat_database_refuse(pg, h, 0, &result, false, "x", &done, &err),
                         LEAT_ERR_BUSY);
        assert_int_equal(leat_database_own_result(pg, h, 0, 0, HASH64, &done, &err), LEAT_ERR_BUSY);
        assert_int_equal(leat_database_recover(pg, h, NULL, 0, &lost, &err), LEAT_ERR_BUSY);
        assert_int_equal(leat_database_keep_state(pg, h, 0, 0, HASH64, &err), LEAT_ERR_BUSY);
        assert_int_equal(leat_database_set_state(pg, h, "finished", "", &err), LEAT_ERR_BUSY);
        assert_int_equal(leat_database_give_up(pg, h, &err), LEAT_ERR_BUSY);
    }
    assert_string_equal(ask(of->owner, "select md5(string_agg(r::text, '')) from leat.run r"),
                        before);
    assert_string_equal(ask(of->owner, "select count(*) from leat.unit where state = 'confirmed'"),
                        "3");
    of->hold = second;
    assert_int_equal(commit(of, &step), LEAT_OK);
}

/* The server's clock goes back or forward: what is held is past, and nothing waits for years. */
static void clocks_that_jump(void **state) {
    world *of = *state;
    leat_error err = {0};
    const double jumps[] = {-3600, 3600, -315360000, 315360000};
    tell(of->owner, "update leat.unit set state = 'confirmed' where unit > 0");
    join(of->ann, M1);
    join(of->bob, M2);
    for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++) {
        leat_database_hold other = {.run = of->hold.run};
        leat_database_lease lease = claim(of, i % 2 == 0 ? of->ann : of->bob, i % 2 == 0 ? M1 : M2);
        assert_int_equal(lease.unit, 0);
        pass(of, jumps[i]);
        must(leat_database_take(of->owner, "other", &other, &err), &err);
        of->hold = other;
    }
    leat_database_lease last = get(of, of->ann, M1, 0, false);
    deliver(of, of->ann, &last);
}

static void going_back(void **state) {
    world *of = *state;
    leat_database_step step = a_step(0);
    leat_error err = {0};
    join(of->ann, M1);
    deliver_step(of);
    confirm_all(of, 0);
    assert_int_equal(commit(of, &step), LEAT_OK);
    leat_database_lease late = get(of, of->ann, M1, 0, false);
    put_all(of, of->ann, &late);
    must(open_step(of->owner, &of->hold, 0, 1, UNITS, &err), &err);
    assert_string_equal(submit(of->ann, &late, of->hash), "there is no such lease");
    assert_string_equal(ask(of->owner, "select count(*) from leat.step"), "0");
    /* a database that was restored counts leases again */
    char back[160];
    snprintf(back, sizeof back,
             "select setval(pg_get_serial_sequence('leat.lease', 'lease'), %lld, false)",
             (long long)late.lease);
    tell(of->owner, back);
    const leat_database_lease again = get(of, of->ann, M1, 0, false);
    assert_int_equal(again.lease, late.lease);
    assert_string_equal(put(of, of->ann, &late, 0),
                        "another lease has its number now: the database went back");
    assert_string_equal(submit(of->ann, &late, of->hash),
                        "another lease has its number now: the database went back");
    assert_int_equal(open_step(of->owner, &of->hold, STEPS + 1, 1, UNITS, &err), LEAT_ERR_INPUT);
}

/* A crash of the server has emptied the unlogged parts. */
static void parts_that_are_gone(void **state) {
    world *of = *state;
    leat_error err = {0};
    int64_t lost = 0;
    const int64_t kept[] = {1};
    join(of->ann, M1);
    deliver_step(of);
    confirm_all(of, 0);
    must(leat_database_recover(of->owner, &of->hold, NULL, 0, &lost, &err), &err);
    assert_int_equal(lost, 0);
    tell(of->owner, "truncate leat.part_1_0");
    must(leat_database_recover(of->owner, &of->hold, kept, 1, &lost, &err), &err);
    assert_int_equal(lost, 2);
    assert_string_equal(
        ask(of->owner, "select string_agg(state, ' ' order by unit) from leat.unit"),
        "ready confirmed ready");
}

/* What a server says of damaged blocks: the result is refused, not the whole run. */
static void parts_that_are_damaged(void **state) {
    world *of = *state;
    uint8_t bytes[PAYLOAD];
    leat_error err = {0};
    const struct {
        const char *sqlstate;
        leat_code code;
    } cases[] = {{"XX001", LEAT_ERR_CORRUPT},
                 {"XX002", LEAT_ERR_CORRUPT},
                 {"58P01", LEAT_ERR_BUSY},
                 {"58030", LEAT_ERR_BUSY}};
    tell(of->owner, "drop table leat.part_1_0");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char sql[500];
        snprintf(sql, sizeof sql,
                 "create or replace function public.read() returns bytea language plpgsql as $$ "
                 "begin raise exception 'damaged' using errcode = '%s'; end $$; create or replace "
                 "view leat.part_1_0 as select 1::bigint as lease, 0 as part, public.read() as "
                 "bytes",
                 cases[i].sqlstate);
        tell(of->owner, sql);
        assert_int_equal(leat_database_payload(of->owner, of->hold.run, 0, 1,
                                               &(leat_database_into){bytes, PAYLOAD, PART}, &err),
                         cases[i].code);
    }
}

/* ---- rights -----------------------------------------------------------------------------------
 */

static void denied(leat_pg *pg, const char *sql) {
    leat_error err = {0};
    if (leat_pg_script(pg, sql, &err) == LEAT_OK) fail_msg("allowed: %s", sql);
    assert_string_equal(leat_pg_sqlstate(pg), "42501");
}

static void volunteers_have_functions_alone(void **state) {
    world *of = *state;
    leat_pg_rows *rows = NULL;
    leat_error err = {0};
    join(of->ann, M1);
    leat_database_lease a = get(of, of->ann, M1, 0, false);
    deliver(of, of->ann, &a);
    must(leat_pg_call(of->owner, &rows, (leat_pg_shape){1, 0, false},
                      "select relname from pg_class where relnamespace = 'leat'::regnamespace and "
                      "relkind = 'r' and relname <> 'version'",
                      NULL, 0, &err),
         &err);
    assert_true(leat_pg_row_count(rows) >= 13);
    for (int i = 0; i < leat_pg_row_count(rows); i++) {
        char sql[128];
        snprintf(sql, sizeof sql, "select * from leat.%s", leat_pg_text(rows, i, 0));
        denied(of->bob, sql);
        snprintf(sql, sizeof sql, "delete from leat.%s", leat_pg_text(rows, i, 0));
        denied(of->bob, sql);
    }
    leat_pg_rows_destroy(rows);
    denied(of->bob, "select leat.hold(1, 'me', 1, 1)");
    denied(of->bob, "select leat.commit_step(1, 1, 1, 0, 1, '', null, '', 0, '{}', 1, 1, 0, 0)");
    denied(of->bob, "select leat.note(1, '', '', '', '')");
    denied(of->bob, "select leat.end_lease(1, 'released', '')");
    denied(of->bob, "select leat.create_run('', '', '', '', '', '', '', 1, '', '', 1, 1, 1, 1, 1, "
                    "1, 1, 1, 1, 1, 1, 1, 1, '')");
    assert_string_equal(ask(of->owner, "select count(*) from pg_proc p where pronamespace = "
                                       "'leat'::regnamespace and has_function_privilege('bob', "
                                       "p.oid, 'execute')"),
                        "15");
    /* the hash of a result is nobody's until the step is committed */
    assert_string_equal(ask(of->bob, "select hash is null from leat.gradients"), "t");
    assert_string_equal(ask(of->bob, "select count(*) from leat.work_units"), "3");
    assert_string_equal(ask(of->bob, "select status from leat.workers"), "active");
    pass(of, 121);
    assert_string_equal(ask(of->bob, "select status from leat.workers"), "inactive");
    assert_string_equal(ask(of->bob, "select current_iteration from leat.training_state"), "0");
    assert_string_equal(ask(of->bob, "select count(*) from leat.loss_history"), "0");
}

/* An account that blocks the run a third time within an hour gets no units for an hour. */
static void blame(void **state) {
    world *of = *state;
    leat_error err = {0};
    bool suspended = true;
    join(of->ann, M1);
    join(of->bob, M2);
    leat_database_lease kept = get(of, of->bob, M2, 0, false);
    must(leat_database_blame(of->owner, &of->hold, "bob", "it", &suspended, &err), &err);
    pass(of, 3601); /* forgotten */
    for (int i = 0; i < 3; i++) {
        tell(of->owner, "update leat.machine set run = 1, seen_at = leat.clock()");
        assert_string_equal(renew(of->bob, &kept), "");
        must(leat_database_blame(of->owner, &of->hold, "bob", "it did", &suspended, &err), &err);
        assert_true(suspended == (i == 2));
        pass(of, 60);
    }
    static const char suspended_words[] = "this login gets no units until 2026-01-01 02:02 UTC: it "
                                          "blocked the run three times within an hour";
    /* nothing is locked then */
    tell(of->owner, "begin; select from leat.lease for update; select from leat.unit for update");
    tell(of->bob, "set lock_timeout = 1000");
    assert_string_equal(renew(of->bob, &kept), suspended_words);
    assert_string_equal(put(of, of->bob, &kept, 0), suspended_words);
    assert_string_equal(submit(of->bob, &kept, of->hash), suspended_words);
    must(leat_database_release(of->bob, &kept, &err), &err);
    must(leat_database_fail(of->bob, &kept, "it fails", &err), &err);
    tell(of->owner, "rollback");
    assert_string_equal(ask(of->owner, "select state || ' ' || kind || ' ' || words from leat.unit "
                                       "u, leat.event e where unit = 0 order by id desc limit 1"),
                        "ready blocked it did");
    leat_database_lease lease = claim(of, of->bob, M2);
    assert_int_equal(lease.lease, 0);
    assert_string_equal(lease.run_state, "open");
    assert_string_equal(lease.news, suspended_words);
    assert_int_equal(claim_ahead(of, of->bob, M2, 0).lease, 0);
    get(of, of->ann, M1, 0, false);
    pass(of, 121); /* ann is gone: nobody is protected from bob any more */
    get(of, of->bob, M2, 1, false);
    must(leat_database_blame(of->owner, &of->hold, "bob", "alone", &suspended, &err), &err);
    assert_false(suspended);
    pass(of, 3600);
    get(of, of->bob, M2, 2, false);
    const leat_database_hold other = {of->hold.run, of->hold.fence, of->hold.epoch + 1};
    assert_int_equal(leat_database_blame(of->owner, &other, "bob", "it", &suspended, &err),
                     LEAT_ERR_BUSY);
    denied(of->bob, "select leat.blame(1, 1, 1, 'ann', '')");
    denied(of->bob, "select leat.suspended(1)");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        TEST(commits),
        TEST(blame),
        TEST(steps_have_units_of_their_own),
        TEST(samples_of_units),
        TEST(values_by_name),
        TEST(losses_of_a_gan),
        TEST(names_of_values),
        TEST(late_copies),
        TEST(slots_in_use),
        TEST(a_reader_is_left_alone),
        TEST(one_coordinator),
        TEST(a_lost_run_is_not_written),
        TEST(clocks_that_jump),
        TEST(going_back),
        TEST(parts_that_are_gone),
        TEST(parts_that_are_damaged),
        TEST(volunteers_have_functions_alone),
    };
    cluster_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
