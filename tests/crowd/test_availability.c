/*
 * What a machine that is lent looks at besides the database: its power, the time of day, whether it
 * has slept, how many may work, whether its link keeps up. On machines of the test's own, whose
 * clocks and batteries the test sets.
 */
/* TSan: the test changes a machine while a worker looks at it. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/machine.h"
#include "base/thread.h"
#include "check.h"
#include "crowd/availability.h"
#include "crowd/database.h"
#include "crowd/machines.h"
#include "crowd/pause.h"
#include "crowd/roles.h"
#include "crowd/slow_link.h"
#include "local.h"
#include "train/train_support.h"

#define SECOND INT64_C(1000000000)

/* ---- quiet hours ---------------------------------------------------------------------------- */

static void quiet_hours(void **state) {
    const struct {
        const char *text;
        int minute, left; /* 0: not quiet */
    } cases[] = {{"22:00-07:00", 21 * 60 + 59, 0},
                 {"22:00-07:00", 22 * 60, 9 * 60},
                 {"22:00-07:00", 23 * 60 + 59, 7 * 60 + 1},
                 {"22:00-07:00", 0, 7 * 60},
                 {"22:00-07:00", 6 * 60 + 59, 1},
                 {"22:00-07:00", 7 * 60, 0},
                 {"00:00-12:30", 0, 750},
                 {"00:00-12:30", 750, 0},
                 {"00:00-12:30", 1439, 0},
                 {"23:59-00:00", 1439, 1},
                 {"23:59-00:00", 0, 0},
                 {"12:00-13:00,22:00-07:00", 12 * 60, 60},
                 {"12:00-13:00,22:00-07:00", 13 * 60, 0},
                 {"12:00-13:00,22:00-07:00", 60, 6 * 60},
                 {"12:00-13:00,13:00-14:00", 12 * 60, 120},          /* one after the other */
                 {"20:00-23:00,22:00-02:00,01:00-03:00", 1200, 420}, /* over each other */
                 {"00:00-23:59", 5, 1434}};
    const struct {
        const char *text, *says;
    } wrong[] = {{"", "is not like"},
                 {"22", "is not like"},
                 {"22:00", "is not like"},
                 {"22:00-", "is not like"},
                 {"22:00-7:00", "is not like"},
                 {"22:00-07:0", "is not like"},
                 {"22:00-07:00 ", "is not like"},
                 {"22:00-07:00,", "is not like"},
                 {"22:00,07:00", "is not like"},
                 {"22-00-07-00", "is not like"},
                 {"24:00-07:00", "is not like"},
                 {"22:60-07:00", "is not like"},
                 {"-1:00-07:00", "is not like"},
                 {"07:00-07:00", "07:00 is both begin and end"},
                 {"12:00-13:00,05:30-05:30", "05:30 is both begin and end"},
                 {"00:00-12:00,12:00-00:00", "is all day"},
                 {"00:00-00:01,00:02-00:03,00:04-00:05,00:06-00:07,00:08-00:09,00:10-00:11,"
                  "00:12-00:13,00:14-00:15,00:16-00:17,00:18-00:19,00:20-00:21,00:22-00:23,"
                  "00:24-00:25,00:26-00:27,00:28-00:29,00:30-00:31,00:32-00:33",
                  "at most 16 spans"}};
    leat_quiet_hours of;
    leat_error err = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (leat_quiet_hours_parse(&of, cases[i].text, &err) != LEAT_OK)
            fail_msg("%s", err.message);
        if (leat_quiet_left(&of, cases[i].minute) != cases[i].left)
            fail_msg("%s at %d: %d, not %d", cases[i].text, cases[i].minute,
                     leat_quiet_left(&of, cases[i].minute), cases[i].left);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(leat_quiet_hours_parse(&of, wrong[i].text, &err), LEAT_ERR_OPTION);
        assert_int_equal(of.count, 0);
        if (strstr(err.message, wrong[i].says) == NULL)
            fail_msg("\"%s\": %s", wrong[i].text, err.message);
    }
}

/* ---- power ---------------------------------------------------------------------------------- */

/* A file of a power supply. */
static void supply(const char *folder, const char *name, const char *file, const char *text) {
    char path[LEAT_PATH_BYTES];
    (void)!leat_path_make_dir(folder, NULL);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    (void)!leat_path_make_dir(path, NULL);
    snprintf(path, sizeof path, "%s/%s/%s", folder, name, file);
    assert_int_equal(leat_file_save(path, text, (int64_t)strlen(text), NULL), LEAT_OK);
}

static void power(void **state) {
    const struct {
        const char *files[7][2]; /* "supply/file", text */
        bool on_battery;
    } cases[] = {
        {{{"BAT0/type", "Battery\n"}, {"BAT0/status", "Discharging\n"}}, true},
        {{{"BAT0/type", "Battery\n"}, {"BAT0/status", "Charging\n"}}, false},
        {{{"BAT0/type", "Battery\n"}, {"BAT0/status", "Not charging\n"}}, false},
        {{{"BAT0/type", "Battery\n"}, {"BAT0/status", "Full\n"}}, false},
        {{{"BAT0/type", "Battery\n"}}, false},
        {{{"AC/type", "Mains\n"}, {"AC/online", "0\n"}}, false},
        {{{"AC/type", "Mains\n"},
          {"AC/online", "0\n"},
          {"BAT0/type", "Battery\n"},
          {"BAT0/status", "Discharging\n"}},
         true},
        /* a charger that is too weak, or a machine that balances its batteries */
        {{{"AC/type", "Mains\n"},
          {"AC/online", "1\n"},
          {"BAT0/type", "Battery\n"},
          {"BAT0/status", "Discharging\n"}},
         false},
        {{{"C/type", "USB\n"},
          {"C/online", "1\n"},
          {"BAT0/type", "Battery\n"},
          {"BAT0/status", "Discharging\n"}},
         false},
        {{{"BAT0/type", "Battery\n"},
          {"BAT0/status", "Full\n"},
          {"BAT1/type", "Battery\n"},
          {"BAT1/status", "Discharging\n"}},
         true},
        /* those of a mouse */
        {{{"mouse/type", "Battery\n"},
          {"mouse/scope", "Device\n"},
          {"mouse/status", "Discharging\n"}},
         false},
        {{{"mouse/type", "USB\n"},
          {"mouse/scope", "Device\n"},
          {"mouse/online", "1\n"},
          {"BAT0/type", "Battery\n"},
          {"BAT0/scope", "System\n"},
          {"BAT0/status", "Discharging\n"}},
         true},
        {{{NULL, NULL}}, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char folder[512], name[32];
        snprintf(name, sizeof name, "power-%zu", i);
        snprintf(folder, sizeof folder, "%s", train_path(name));
        assert_int_equal(leat_path_make_dir(folder, NULL), LEAT_OK);
        for (int f = 0; f < 7 && cases[i].files[f][0] != NULL; f++) {
            char of[64];
            snprintf(of, sizeof of, "%s", cases[i].files[f][0]);
            char *slash = strchr(of, '/');
            *slash = 0;
            supply(folder, of, slash + 1, cases[i].files[f][1]);
        }
        if (leat_machine_on_battery(folder) != cases[i].on_battery) fail_msg("case %zu", i);
    }
    assert_false(leat_machine_on_battery(train_path("no-such-folder")));
}

/* ---- a machine of the test's own --------------------------------------------------------------
 */

typedef struct machine {
    leat_host host;
    _Atomic int64_t slept_ns;
    atomic_int minute, looks;
    char power[512];
    /* what its worker has said */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    char said[8192];
    leat_pg *pg;
    bool quiet_with_part; /* from then on, when a part of a result is there */
} machine;

static int64_t awake(void *of) { return (void)of, leat_clock_ns(); }
static int64_t boot(void *of) { return leat_clock_ns() + atomic_load(&((machine *)of)->slept_ns); }

static int32_t minute_of(void *of) {
    machine *self = of;
    atomic_fetch_add(&self->looks, 1);
    if (self->quiet_with_part &&
        strcmp(ask(self->pg, "select exists (select from leat.part_1_0)"), "t") == 0) {
        self->quiet_with_part = false;
        atomic_store(&self->minute, 23 * 60);
        atomic_store(&self->looks, 0);
    }
    return atomic_load(&self->minute);
}

static void machine_init(machine *self, const char *power) {
    *self = (machine){.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    atomic_store(&self->minute, 12 * 60);
    snprintf(self->power, sizeof self->power, "%s", train_path(power));
    self->host = (leat_host){{awake, boot, self}, minute_of, self->power};
}

static void say(void *user, const char *line) {
    machine *self = (machine *)(uintptr_t)((helper *)user)->host->clocks.of;
    pthread_mutex_lock(&self->lock);
    strncat(self->said, line, sizeof self->said - strlen(self->said) - 2);
    strcat(self->said, "\n");
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

/* Waits until its worker has said so. */
static void until_said(machine *self, const char *text) {
    pthread_mutex_lock(&self->lock);
    while (strstr(self->said, text) == NULL) pthread_cond_wait(&self->changed, &self->lock);
    pthread_mutex_unlock(&self->lock);
}

/* Until a statement gives this, which workers bring about. */
static void until(leat_pg *pg, const char *sql, const char *value) {
    while (strcmp(ask(pg, sql), value) != 0) usleep(2000);
}

static void begin(helper *worker, machine *on, const char *quiet) {
    leat_error err = {0};
    helper_prepare(worker, 0);
    worker->host = &on->host;
    worker->options.say = say;
    worker->options.pause_on_battery = true;
    worker->options.grace_ms = 3600000;
    if (quiet != NULL && leat_quiet_hours_parse(&worker->options.quiet, quiet, &err) != LEAT_OK)
        fail_msg("%s", err.message);
}

/* A run at step 0, whose coordinator has ended; the same for all tests, as new. */
static void open_run(void) {
    static bool is_open = false;
    leat_coordinate_result result;
    leat_error err = {0};
    if (!is_open && coordinate(0, false, &result, &err) != LEAT_ERR_CANCELLED)
        fail_msg("%s", err.message);
    leat_pg *pg = cluster_connect("owner", local_database());
    if (is_open)
        tell(pg, "truncate leat.part_1_0; delete from leat.lease; delete from leat.machine; update "
                 "leat.unit set state = 'ready', lease = null, hash = null");
    leat_pg_close(pg);
    is_open = true;
}

static void stop(helper *worker) {
    atomic_store(&worker->stop, true);
    helper_join(worker);
}

/* ---- pausing -------------------------------------------------------------------------------- */

static void lines(void **state) {
    const struct {
        int minute;
        bool on_battery;
        const char *line; /* NULL: nothing has changed */
    } cases[] = {{12 * 60, false, NULL},
                 {22 * 60, false, "quiet hours: takes no units until 07:00"},
                 {60, false, NULL},
                 {60, true, NULL},
                 {7 * 60, true, "on battery: takes no units until it is on mains power"},
                 {7 * 60, false, "on mains power again: takes units"},
                 {13 * 60, true, "on battery: takes no units until it is on mains power"},
                 {14 * 60 + 5, true, "quiet hours: takes no units until 15:30"},
                 {15 * 60 + 30, false, "the quiet hours are over: takes units"}};
    leat_work_options options = leat_work_options_default();
    leat_availability of = {LEAT_AVAILABLE, 0};
    machine on;
    char line[LEAT_AVAILABILITY_LINE_BYTES];
    (void)state;
    machine_init(&on, "lines");
    assert_true(options.pause_on_battery);
    assert_int_equal(options.quiet.count, 0);
    assert_int_equal(leat_quiet_hours_parse(&options.quiet, "22:00-07:00,14:00-15:30", NULL),
                     LEAT_OK);
    supply(on.power, "BAT0", "type", "Battery\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        atomic_store(&on.minute, cases[i].minute);
        supply(on.power, "BAT0", "status", cases[i].on_battery ? "Discharging\n" : "Charging\n");
        const bool changed = leat_availability_look(&of, &on.host, &options, line);
        if (changed != (cases[i].line != NULL)) fail_msg("case %zu: %s", i, line);
        if (changed) assert_string_equal(line, cases[i].line);
    }
    options.pause_on_battery = false;
    options.quiet.count = 0;
    supply(on.power, "BAT0", "status", "Discharging\n");
    assert_false(leat_availability_look(&of, &on.host, &options, line));
    assert_int_equal(of.state, LEAT_AVAILABLE);
}

/* On battery it claims nothing, on mains it does. */
static void on_battery(void **state) {
    machine on;
    helper worker;
    (void)state;
    machine_init(&on, "battery");
    supply(on.power, "BAT0", "type", "Battery\n");
    supply(on.power, "BAT0", "status", "Discharging\n");
    open_run();
    leat_pg *pg = cluster_connect("owner", local_database());
    begin(&worker, &on, NULL);
    helper_begin(&worker);
    until_said(&on, "on battery: takes no units until it is on mains power\n");
    until(pg, "select count(*) from leat.machine", "1");
    assert_string_equal(ask(pg, "select count(*) from leat.lease"), "0");
    supply(on.power, "BAT0", "status", "Charging\n");
    until_said(&on, "on mains power again: takes units\n");
    until(pg, "select count(*) from leat.unit where state = 'done'", "3");
    leat_pg_close(pg);
    stop(&worker);
    assert_int_equal(worker.result.lost, 0);
}

/* From now on, a part of a result takes longer than the time between two looks at the machine. */
static void slow_parts(leat_pg *owner) {
    tell(owner, "create or replace function public.slowly() returns trigger language plpgsql as "
                "$$ begin perform pg_sleep(0.01); return new; end $$");
    tell(owner, "drop trigger if exists slowly on leat.part_1_0");
    tell(owner, "create trigger slowly before insert on leat.part_1_0 for each row "
                "execute function public.slowly()");
}

/* Quiet hours begin while it sends a unit and computes another: both are handed in, or left if
 * there is no time. */
static void quiet_while_it_computes(bool has_time) {
    machine on;
    helper worker;
    char ends[32];
    machine_init(&on, "quiet");
    open_run();
    on.pg = cluster_connect("owner", local_database());
    on.quiet_with_part = true;
    begin(&worker, &on, "22:00-07:00");
    if (!has_time) worker.options.grace_ms = -1;
    leat_pg *pg = cluster_connect("owner", local_database());
    slow_parts(pg);
    helper_begin(&worker);
    until_said(&on, "quiet hours: takes no units until 07:00\n");
    until(pg, "select count(*) from leat.lease where state = 'live'", "0");
    const int looks = atomic_load(&on.looks);
    while (atomic_load(&on.looks) < looks + 5)
        usleep(2000); /* it has looked, and goes on pausing */
    snprintf(ends, sizeof ends, "%s", ask(pg, "select string_agg(state, ' ') from leat.lease"));
    atomic_store(&on.minute, 7 * 60);
    until_said(&on, "the quiet hours are over: takes units\n");
    until(pg, "select count(*) from leat.unit where state = 'done'", "3");
    leat_pg_close(pg);
    stop(&worker);
    leat_pg_close(on.pg);
    assert_string_equal(ends, has_time ? "used used" : "released released");
    assert_int_equal(worker.result.lost, has_time ? 0 : 2);
}

static void units_are_handed_in(void **state) {
    (void)state;
    quiet_while_it_computes(true);
}

static void units_are_left(void **state) {
    (void)state;
    quiet_while_it_computes(false);
}

/* ---- sleep ---------------------------------------------------------------------------------- */

typedef struct two_clocks {
    int64_t awake_ns, asleep_ns;
    int looks;
} two_clocks;

/* The machine is awake for 10 s at a time, and has slept for a minute before the fourth. */
static int64_t awake_of(void *of) {
    two_clocks *self = of;
    self->awake_ns += 10 * SECOND / 1000;
    if (++self->looks == 4) self->asleep_ns += 60 * SECOND;
    return self->awake_ns;
}
static int64_t boot_of(void *of) {
    const two_clocks *self = of;
    return self->awake_ns + self->asleep_ns;
}

static void a_pause_ends_with_sleep(void **state) {
    two_clocks of = {.awake_ns = 1000 * SECOND, .asleep_ns = 500 * SECOND};
    const leat_clocks clocks = {awake_of, boot_of, &of};
    const leat_stop stop = {.clocks = &clocks};
    leat_pause pause = leat_pause_make(1, 86400000);
    (void)state;
    pause.next_ms = 86400000; /* after many failures */
    assert_true(leat_pause_wait(&pause, &stop));
    assert_int_equal(pause.next_ms, 1);
    assert_in_range(of.looks, 4, 6);
    /* without sleep it grows */
    pause.next_ms = 2;
    assert_true(leat_pause_wait(&pause, &stop));
    assert_int_equal(pause.next_ms, 4);
}

/* A connection that was there before is broken, and the next one is not. */
static void a_connection_ends_with_sleep(void **state) {
    machine on;
    leat_pg_place place;
    leat_pg *pg = NULL;
    leat_error err = {0};
    bool any = false;
    (void)state;
    machine_init(&on, "sleep");
    const leat_stop stop = {.clocks = &on.host.clocks};
    cluster_place(&place, "owner", "postgres");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(leat_pg_connect(&pg, &place, "test", 60000, &stop, &err), LEAT_OK);
        assert_string_equal(ask(pg, "select 1"), "1");
        atomic_fetch_add(&on.slept_ns, 4 * SECOND); /* too short to matter */
        assert_string_equal(ask(pg, "select 2"), "2");
        assert_int_equal(leat_pg_notified(pg, &any, &err), LEAT_OK);
        atomic_fetch_add(&on.slept_ns, 3600 * SECOND);
        const leat_code code =
            i == 0   ? leat_pg_call(pg, NULL, (leat_pg_shape){0}, "select 3", NULL, 0, &err)
            : i == 1 ? leat_pg_script(pg, "select 3", &err)
                     : leat_pg_notified(pg, &any, &err);
        assert_int_equal(code, LEAT_ERR_CONNECTION);
        assert_non_null(strstr(err.message, "this machine has slept"));
        assert_true(leat_pg_broken(pg));
        leat_pg_close(pg);
    }
}

/* A worker that would ask a day later connects again at once, and asks. */
static void a_worker_wakes(void **state) {
    machine on;
    helper worker;
    (void)state;
    machine_init(&on, "wakes");
    open_run();
    leat_pg *pg = cluster_connect("owner", local_database());
    begin(&worker, &on, NULL);
    worker.options.poll_ms = 86400000;
    helper_begin(&worker);
    until(pg, "select count(*) from leat.unit where state = 'done'", "3");
    /* it asks before it sends the last one, and rests for a day */
    char first[32];
    snprintf(first, sizeof first, "%s",
             ask(pg, "select pid from pg_stat_activity where application_name = 'leat work' and "
                     "datname = current_database()"));
    /* what nobody tells it */
    tell(pg, "update leat.unit set state = 'ready', lease = null, hash = null where unit = 1");
    atomic_fetch_add(&on.slept_ns, 3600 * SECOND);
    until_said(&on, "this machine has slept\n");
    until(pg, "select count(*) from leat.unit where state = 'done'", "3");
    assert_string_not_equal(
        first, ask(pg, "select pid from pg_stat_activity where application_name = 'leat work' and "
                       "datname = current_database()"));
    leat_pg_close(pg);
    stop(&worker);
    assert_int_equal(worker.result.connections, 2);
}

/* ---- how many machines there may be ---------------------------------------------------------- */

/* One of two machines that have worked: who is let in at its second connection is not known. */
static bool waits(machine *on) {
    pthread_mutex_lock(&on->lock);
    const bool said = strstr(on->said, "1 machine works with the login \"ann\" already, as many as "
                                       "it is for; stop one") != NULL;
    pthread_mutex_unlock(&on->lock);
    return said;
}

static const char of_ann[] = "select count(*) from pg_stat_activity where usename = 'ann'";

/* As leat invite does for one machine less than that. */
static void invite(leat_pg *pg, const char *limit) {
    char sql[64];
    tell(pg, "comment on role ann is '" LEAT_ROLES_MARK "'");
    snprintf(sql, sizeof sql, "alter role ann connection limit %s", limit);
    tell(pg, sql);
}

static void uninvite(leat_pg *pg) {
    tell(pg, "alter role ann connection limit -1");
    tell(pg, "comment on role ann is null");
}

static void machines_come_back(void **state) {
    machine on[2];
    helper workers[2];
    (void)state;
    open_run();
    leat_pg *pg = cluster_connect("owner", local_database());
    until(pg, of_ann, "0");
    invite(pg, "3");
    for (int k = 0; k < 2; k++) {
        machine_init(&on[k], k == 0 ? "comes" : "comes-too");
        begin(&workers[k], &on[k], NULL);
        memset(workers[k].machine, '1' + k, 32);
        helper_begin(&workers[k]);
    }
    until(pg, "select count(*) from leat.machine", "2");
    invite(pg, "2");
    tell(pg, "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'ann'");
    while (!waits(&on[0]) && !waits(&on[1])) usleep(2000);
    until(pg, of_ann, "1"); /* the other one is for leat status */
    for (int k = 0; k < 2; k++) stop(&workers[k]);
    uninvite(pg);
    leat_pg_close(pg);
}

static void a_machine_counts_once(void **state) {
    leat_pg *first = NULL, *again = NULL, *other = NULL;
    leat_pg_place place;
    int64_t begun_us = 0, begun_too_us = 0;
    (void)state;
    leat_pg *pg = cluster_connect("owner", local_database());
    until(pg, of_ann, "0");
    invite(pg, "2");
    cluster_place(&place, "ann", local_database());
    assert_ok(leat_machine_connect(&first, &begun_us, &place, NULL, err));
    assert_fails(leat_machine_connect(&other, &begun_too_us, &place, NULL, err),
                 LEAT_ERR_CONNECTION, "1 machine works with the login \"ann\" already");
    assert_null(other);
    assert_true(begun_us > 0 && begun_too_us == 0);
    until(pg, of_ann, "1");
    assert_ok(leat_machine_connect(&again, &begun_us, &place, NULL, err));
    leat_pg_close(first);
    leat_pg_close(again);
    uninvite(pg);
    leat_pg_close(pg);
}

/* ---- a link that does not keep up -------------------------------------------------------------
 */

static void what_a_slow_link_says(void **state) {
    char words[LEAT_SLOW_LINK_WORDS_BYTES];
    leat_slow_link lag = {0};
    const int64_t all = 25000000;
    (void)state;
    /* a quarter of the weights in 100 s, three times; a step each 60 s */
    assert_false(leat_slow_link_add(&lag, 7, 0, 100 * SECOND, all / 4, all, words));
    assert_false(
        leat_slow_link_add(&lag, 9, 110 * SECOND, 110 * SECOND, 0, all, words)); /* no part */
    assert_false(leat_slow_link_add(&lag, 9, 110 * SECOND, 210 * SECOND, all / 4, all, words));
    assert_true(leat_slow_link_add(&lag, 12, 260 * SECOND, 360 * SECOND, all / 4, all, words));
    assert_string_equal(words, "download 400 s, step 60 s: this run needs 3.3 Mbit/s");
    /* in a row */
    assert_false(leat_slow_link_add(&lag, 20, 0, SECOND, all / 2, all, words));
    assert_false(leat_slow_link_add(&lag, 21, SECOND, 2 * SECOND, all / 2, all, words));
    leat_slow_link_end(&lag);
    assert_false(leat_slow_link_add(&lag, 22, 3 * SECOND, 4 * SECOND, all / 2, all, words));
    assert_false(leat_slow_link_add(&lag, 23, 4 * SECOND, 5 * SECOND, all / 2, all, words));
    assert_true(leat_slow_link_add(&lag, 24, 5 * SECOND, 6 * SECOND, all / 2, all, words));
    assert_string_equal(words, "download 2 s, step 1 s: this run needs 200 Mbit/s");
    assert_true(strlen(words) < sizeof words);
}

/* Three steps replace the weights after the first part of them. */
static void weights_that_are_replaced(void **state) {
    machine on;
    helper worker;
    leat_crowd_status *status = NULL;
    leat_crowd_event event;
    leat_error err = {0};
    char url[LEAT_PG_URL_BYTES];
    const leat_coordinate_options options = coordinator(url);
    (void)state;
    machine_init(&on, "slow");
    open_run();
    leat_pg *pg = cluster_connect("owner", local_database());
    assert_string_equal(ask(pg, "select weights_bytes > part_bytes from leat.run"), "t");
    tell(pg, "alter function leat.fetch rename to real_fetch; create function leat.fetch(p_run "
             "bigint, p_weights text, p_part integer) returns bytea language plpgsql security "
             "definer as $$ begin if p_part = 1 and (select step < 3 from leat.run where id = "
             "p_run) then update leat.run set step = step + 1 where id = p_run; insert into "
             "leat.unit (run, step, unit) select id, step, n from leat.run, generate_series(0, "
             "units - 1) n; return null; end if; return leat.real_fetch(p_run, p_weights, p_part); "
             "end $$; grant execute on function leat.fetch to public");
    begin(&worker, &on, NULL);
    worker.options.poll_ms = 86400000; /* nothing but the newest step makes it ask again */
    helper_begin(&worker);
    until(pg, "select count(*) from leat.unit where step = 3 and state = 'done'", "3");
    until_said(&on, "each step replaces the weights before they are here: download ");
    assert_non_null(strstr(on.said, " Mbit/s\n"));
    stop(&worker);
    assert_string_equal(ask(pg, "select count(*) from leat.lease where step < 3 and state = "
                                "'released'"),
                        "3");
    assert_int_equal(leat_crowd_status_load(&status, options.url, &err), LEAT_OK);
    assert_true(leat_crowd_event_at(status, 0, &event));
    assert_string_equal(event.kind, "slow");
    assert_string_equal(event.machine, worker.machine);
    assert_non_null(strstr(on.said, event.words));
    assert_false(leat_crowd_event_at(status, 1, &event));
    leat_crowd_status_destroy(status);
    /* its last word is kept; and nobody else's machine has one */
    leat_pg *ann = cluster_connect("ann", local_database());
    leat_pg *bob = cluster_connect("bob", local_database());
    bool known = false;
    assert_int_equal(leat_database_rejoin(ann, worker.machine, "secret", &known, &err), LEAT_OK);
    assert_true(known);
    assert_int_equal(leat_database_slow(ann, 1, worker.machine, "no\033[31m way", &err), LEAT_OK);
    assert_int_equal(leat_database_slow(bob, 1, worker.machine, "not mine", &err), LEAT_OK);
    assert_int_equal(leat_database_slow(ann, 2, worker.machine, "no such run", &err), LEAT_OK);
    assert_string_equal(ask(pg, "select string_agg(words, ',') from leat.event"), "no?[31m way");
    /* a database of before keeps it from nothing */
    tell(pg, "drop function leat.slow");
    assert_int_equal(leat_database_slow(ann, 1, worker.machine, "x", &err), LEAT_OK);
    leat_pg_close(ann);
    leat_pg_close(bob);
    leat_pg_close(pg);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quiet_hours),
        cmocka_unit_test(power),
        cmocka_unit_test(lines),
        cmocka_unit_test(on_battery),
        cmocka_unit_test(units_are_handed_in),
        cmocka_unit_test(units_are_left),
        cmocka_unit_test(a_pause_ends_with_sleep),
        cmocka_unit_test(a_connection_ends_with_sleep),
        cmocka_unit_test(a_worker_wakes),
        cmocka_unit_test(machines_come_back),
        cmocka_unit_test(a_machine_counts_once),
        cmocka_unit_test(what_a_slow_link_says),
        cmocka_unit_test(weights_that_are_replaced),
    };
    cluster_start();
    return cmocka_run_group_tests(tests, local_setup, train_teardown);
}
