/*
 * How many units a run should have: steps of several numbers and sizes of units, played for crews
 * of machines that are drawn (plan.h).
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "crowd/plan.h"
#include "leat/crowd.h"

#define ENOUGH 0.85 /* of the machines' speed */
#define DAY_MS INT64_C(86400000)
enum { MBIT = 1000000, UNIT_SIZE_MAX = 1 << 20 };
/* What a coordinator takes, about: bytes that it reads, checks and adds, or writes, in a second;
 * and a step besides its bytes. docs/crowd.md names them. */
enum { READ_BYTES = 100000000, WRITE_BYTES = 20000000, COMMIT_US = 500000, CALL_US = 2000 };
/* Few machines differ more from crew to crew. */
enum {
    CREWS_MOST = 8,
    CREWS_LEAST = 1,
    CREW_WORKERS = 64,
    STEPS = 9,
    STEPS_OF_MANY = 4,
    MANY = 100
};

static const int64_t per_worker[] = {1, 2, 4, 10};
enum { LEVELS = sizeof per_worker / sizeof *per_worker };
_Static_assert(1 + 2 * LEVELS <= LEAT_CROWD_PLAN_ROWS, "rows of a table");

leat_crowd_plan_options leat_crowd_plan_options_default(void) {
    const leat_coordinate_options of = leat_coordinate_options_default();
    return (leat_crowd_plan_options){.workers = 1,
                                     .units = of.train.units,
                                     .unit_size = of.train.unit_size,
                                     .multiple = of.train.micro_batch,
                                     .unit_seconds = 10,
                                     .spread = 0.3,
                                     .link_bits = 100 * MBIT,
                                     .server_bits = 1000 * MBIT,
                                     .part_bytes = of.part_bytes,
                                     .lease_ms = of.lease_ms,
                                     .renew_ms = of.renew_ms,
                                     .silent_ms = of.silent_ms,
                                     .poll_ms = of.poll_ms};
}

/* ---- Which rows ------------------------------------------------------------------------------ */

/* Otherwise so few steps are taken that they train nothing, however fast they are. */
static bool fits(const leat_crowd_plan_options *options, int64_t samples) {
    return options->data_samples == 0 ||
           samples <= options->data_samples / LEAT_CROWD_PLAN_EPOCH_STEPS;
}

static int64_t samples_of(const leat_crowd_plan_row *row) { return row->units * row->unit_size; }

/* In the order of samples of a step, then of units. */
static void put(leat_crowd_plan_table *table, int64_t units, int64_t unit_size) {
    const leat_crowd_plan_row row = {.units = units, .unit_size = unit_size};
    int at = 0;
    while (at < table->count &&
           (samples_of(&table->rows[at]) < samples_of(&row) ||
            (samples_of(&table->rows[at]) == samples_of(&row) && table->rows[at].units < units)))
        at++;
    if (at < table->count && table->rows[at].units == units &&
        table->rows[at].unit_size == unit_size)
        return;
    LEAT_ASSERT(table->count < LEAT_CROWD_PLAN_ROWS);
    memmove(&table->rows[at + 1], &table->rows[at],
            (size_t)(table->count - at) * sizeof *table->rows);
    table->rows[at] = row;
    table->count++;
}

/* The largest number of units, at most `most`, into which the samples of a step can be cut. */
static int64_t cut(const leat_crowd_plan_options *options, int64_t most) {
    const int64_t pieces = options->units * (options->unit_size / options->multiple);
    int64_t units = most < pieces ? most : pieces;
    while (pieces % units != 0) units--;
    return units;
}

static int64_t unit_us(const leat_crowd_plan_options *options, int64_t unit_size) {
    const double us = 1e6 * options->unit_seconds * (double)unit_size / (double)options->unit_size;
    return us < 1 ? 1 : us > 1e18 ? INT64_MAX : (int64_t)(us + 0.5);
}

/* What was asked for; the same samples in other numbers of units; more units of the same size. */
static void choose_rows(const leat_crowd_plan_options *options, leat_crowd_plan_table *table) {
    const int64_t pieces = options->units * (options->unit_size / options->multiple);
    put(table, options->units, options->unit_size);
    for (int i = 0; i < LEVELS; i++) {
        const int64_t units = per_worker[i] * options->workers, same = cut(options, units);
        const int64_t size = pieces / same * options->multiple;
        if (size <= UNIT_SIZE_MAX && unit_us(options, size) <= LEAT_PLAN_UNIT_US_MAX &&
            options->sample_bytes <= LEAT_PLAN_BYTES_MAX / size)
            put(table, same, size);
        if (units <= LEAT_PLAN_UNITS_MAX) put(table, units, options->unit_size);
    }
}

/* ---- What they are like ---------------------------------------------------------------------- */

static leat_plan_setting setting_of(const leat_crowd_plan_options *options,
                                    const leat_crowd_plan_row *row) {
    leat_plan_setting of = leat_plan_setting_default();
    of.workers = options->workers;
    of.units = row->units;
    of.steps = options->workers > MANY ? STEPS_OF_MANY : STEPS;
    of.unit_us = unit_us(options, row->unit_size);
    of.spread = options->spread;
    of.payload_bytes = options->payload_bytes;
    of.weights_bytes = options->weights_bytes;
    of.part_bytes = options->part_bytes;
    of.sample_bytes = options->sample_bytes * row->unit_size;
    of.up_bits = options->link_bits;
    of.down_bits = options->down_bits != 0 ? options->down_bits : options->link_bits;
    of.server_bits = options->server_bits;
    of.read_us = options->payload_bytes * 1000000 / READ_BYTES;
    of.commit_us = COMMIT_US + options->weights_bytes * 1000000 / WRITE_BYTES;
    of.call_us = CALL_US;
    of.lease_us = options->lease_ms * 1000;
    of.renew_us = options->renew_ms * 1000;
    of.silent_us = options->silent_ms * 1000;
    of.poll_us = options->poll_ms * 1000;
    return of;
}

static void add(leat_plan_sums *to, const leat_plan_sums *more) {
    to->steps += more->steps;
    to->us += more->us;
    to->counted += more->counted;
    to->finished += more->finished;
    to->abandoned += more->abandoned;
    to->copies += more->copies;
    to->useful_us += more->useful_us;
    to->spent_us += more->spent_us;
    to->capacity += more->capacity;
    to->read_us += more->read_us;
    to->up_bytes += more->up_bytes;
    to->down_bytes += more->down_bytes;
}

/* A unit that was begun in the step before the first that counts may be counted. */
static double share(double part, double whole) {
    return whole <= 0 || part > whole ? 1 : part / whole;
}

static leat_code play(const leat_crowd_plan_options *options, leat_crowd_plan_row *row,
                      leat_error *err) {
    leat_plan_setting setting = setting_of(options, row);
    leat_plan_sums all = {0}, one;
    const int64_t wanted = CREW_WORKERS / options->workers;
    const int64_t crews = wanted > CREWS_MOST    ? CREWS_MOST
                          : wanted < CREWS_LEAST ? CREWS_LEAST
                                                 : wanted;
    for (int64_t i = 0; i < crews; i++) {
        setting.seed = (uint64_t)i;
        LEAT_TRY(leat_plan_run(&setting, &one, err));
        add(&all, &one);
    }
    row->step_seconds = 1e-6 * (double)all.us / (double)all.steps;
    row->useful_share = share(all.useful_us, all.spent_us);
    row->counted_share = share((double)all.counted, (double)all.finished);
    row->speed_share = share((double)all.counted, all.capacity);
    row->read_share = share((double)all.read_us, (double)all.us);
    row->epoch_steps =
        options->data_samples == 0 ? NAN : (double)options->data_samples / (double)samples_of(row);
    row->fits = fits(options, samples_of(row));
    row->up_bytes = all.up_bytes / all.steps;
    row->down_bytes = all.down_bytes / all.steps;
    return LEAT_OK;
}

/* Of the rows that fit: the fewest samples a step with which the machines' speed is used; or where
 * it is used best. If none fits, of those with the fewest samples. */
static int choose_best(const leat_crowd_plan_table *table) {
    int best = 0;
    for (int i = 1; i < table->count; i++) {
        const leat_crowd_plan_row *a = &table->rows[i], *b = &table->rows[best];
        const bool enough = b->speed_share >= ENOUGH;
        /* rows are in the order of samples */
        if (enough && samples_of(a) > samples_of(b)) break;
        if (!a->fits && samples_of(a) > samples_of(&table->rows[0])) break;
        if (a->speed_share > b->speed_share) best = i;
    }
    return best;
}

static leat_code check(const leat_crowd_plan_options *options, leat_error *err) {
    if (options->multiple < 1 || options->unit_size < 1 || options->unit_size > UNIT_SIZE_MAX ||
        options->unit_size % options->multiple != 0)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "units of %lld samples cannot be planned: 1 to %d, a multiple of %lld",
                         (long long)options->unit_size, UNIT_SIZE_MAX,
                         (long long)options->multiple);
    if (options->data_samples < 0)
        return leat_fail(err, LEAT_ERR_OPTION, "a data set cannot have %lld samples",
                         (long long)options->data_samples);
    if (!(options->unit_seconds >= 0.001 && options->unit_seconds <= 3600))
        return leat_fail(err, LEAT_ERR_OPTION,
                         "a unit that takes %g s cannot be planned: 0.001 s to 3600 s",
                         options->unit_seconds);
    /* also before anything is computed from them */
    const leat_crowd_plan_row row = {.units = options->units, .unit_size = options->unit_size};
    if (options->payload_bytes < 0 || options->payload_bytes > LEAT_PLAN_BYTES_MAX ||
        options->weights_bytes < 0 || options->weights_bytes > LEAT_PLAN_BYTES_MAX ||
        options->sample_bytes < 0 ||
        options->sample_bytes > LEAT_PLAN_BYTES_MAX / options->unit_size ||
        options->workers > LEAT_CROWD_PLAN_WORKERS_MAX)
        return leat_fail(
            err, LEAT_ERR_OPTION,
            "a plan has at most %d machines, and at most %lld MiB each for a result, the "
            "weights and the samples of a unit",
            LEAT_CROWD_PLAN_WORKERS_MAX, (long long)LEAT_PLAN_BYTES_MAX >> 20);
    const int64_t times[] = {options->lease_ms, options->renew_ms, options->silent_ms,
                             options->poll_ms};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (times[i] < 1 || times[i] > DAY_MS)
            return leat_fail(err, LEAT_ERR_OPTION, "a plan cannot have times of %lld ms: 1 to %lld",
                             (long long)times[i], (long long)DAY_MS);
    const leat_plan_setting setting = setting_of(options, &row);
    return leat_plan_check(&setting, err);
}

static leat_code tell(const leat_crowd_plan_options *options, int64_t done, int64_t total,
                      leat_error *err) {
    const leat_progress progress = {"simulating", "lines", done, total};
    if (options->progress == NULL || options->progress(options->progress_user, &progress))
        return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CANCELLED, "stopped after %lld of %lld lines of the plan",
                     (long long)done, (long long)total);
}

leat_code leat_crowd_plan(const leat_crowd_plan_options *options, leat_crowd_plan_table *table,
                          leat_error *err) {
    *table = (leat_crowd_plan_table){0};
    LEAT_TRY(check(options, err));
    choose_rows(options, table);
    for (int i = 0; i < table->count; i++) {
        leat_code code = tell(options, i, table->count, err);
        if (code == LEAT_OK) code = play(options, &table->rows[i], err);
        if (code == LEAT_OK) continue;
        *table = (leat_crowd_plan_table){0};
        return code;
    }
    table->best = choose_best(table);
    const leat_crowd_plan_row *best = &table->rows[table->best];
    table->is_enough = best->fits && best->speed_share >= ENOUGH;
    return LEAT_OK;
}

/* ---- Options --------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int64_t bits;
} link_units[] = {{"Gbit", 1000000000}, {"Mbit", 1000000}, {"kbit", 1000}};
enum { LINK_UNITS = sizeof link_units / sizeof *link_units };
#define LINK_BITS_MAX INT64_C(1000000000000)

static leat_code check_link(const void *member, leat_error *err) {
    int64_t bits = 0;
    memcpy(&bits, member, sizeof bits);
    if (bits >= 1000 && bits <= LINK_BITS_MAX) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION, "it takes 1kbit to 1000Gbit, per second");
}

static leat_code parse_link(const char *text, void *member, leat_error *err) {
    const size_t digits = strspn(text, "0123456789.");
    for (int i = 0; digits > 0 && i < LINK_UNITS; i++) {
        double value = 0;
        if (strcmp(text + digits, link_units[i].name) != 0 ||
            !leat_decimal_parse(text, (int64_t)digits, 0, &value))
            continue;
        value *= (double)link_units[i].bits;
        const int64_t bits = value > (double)LINK_BITS_MAX ? 0 : (int64_t)(value + 0.5);
        LEAT_TRY(check_link(&bits, err));
        memcpy(member, &bits, sizeof bits);
        return LEAT_OK;
    }
    return leat_fail(err, LEAT_ERR_OPTION,
                     "\"%.40s\" is not accepted; it takes bits a second, such as 10Mbit, 500kbit "
                     "or 1Gbit",
                     text);
}

static void format_link(const void *member, char text[LEAT_SETTING_BYTES]) {
    int64_t bits = 0;
    memcpy(&bits, member, sizeof bits);
    int i = 0;
    while (i + 1 < LINK_UNITS && bits < link_units[i].bits) i++;
    char number[LEAT_DOUBLE_TEXT_BYTES];
    leat_double_digits((double)bits / (double)link_units[i].bits, 12, number);
    snprintf(text, LEAT_SETTING_BYTES, "%.20s%s", number, link_units[i].name);
}

static const leat_setting_type link_type = {parse_link, check_link, format_link};

#define AT(field) .place = offsetof(leat_crowd_plan_options, field)
static const leat_setting rows[] = {
    {.name = "plan",
     .kind = LEAT_SETTING_INT,
     AT(workers),
     .min = 1,
     .max = LEAT_CROWD_PLAN_WORKERS_MAX,
     .neutral = true,
     .value = "WORKERS",
     .usually = "no plan",
     .help =
         "simulate the run on this many machines with several values of --units and --unit-size, "
         "print how long a step takes and how much of what is computed counts, and exit; needs "
         "only --data"},
    {.name = "uplink",
     .kind = LEAT_SETTING_OTHER,
     AT(link_bits),
     .type = &link_type,
     .neutral = true,
     .value = "RATE",
     .help = "with --plan: upload rate of each machine's link, in bits per second, such as 10Mbit"},
    {.name = "downlink",
     .kind = LEAT_SETTING_OTHER,
     AT(down_bits),
     .type = &link_type,
     .neutral = true,
     .value = "RATE",
     .usually = "as --uplink",
     .help = "with --plan: download rate of each machine's link"},
    {.name = "server-link",
     .kind = LEAT_SETTING_OTHER,
     AT(server_bits),
     .type = &link_type,
     .neutral = true,
     .value = "RATE",
     .help =
         "with --plan: rate of the database's link, in each direction, which all machines share"},
    {.name = "unit-seconds",
     .kind = LEAT_SETTING_REAL,
     AT(unit_seconds),
     .low = 0.001,
     .high = 3600,
     .neutral = true,
     .value = "S",
     .usually = "measured on this machine",
     .help = "with --plan: seconds that a usual machine needs for a unit of --unit-size"},
    {.name = "spread",
     .kind = LEAT_SETTING_REAL,
     AT(spread),
     .low = 0,
     .high = 1,
     .neutral = true,
     .help = "with --plan: standard deviation of the logarithm of the machines' speeds"},
    {0},
};

static void set_defaults(void *options) {
    *(leat_crowd_plan_options *)options = leat_crowd_plan_options_default();
}

const leat_setting_table *leat_crowd_plan_options_table(void) {
    static const leat_setting_table table = {.owner = "a plan",
                                             .rows = rows,
                                             .size_bytes = sizeof(leat_crowd_plan_options),
                                             .set_defaults = set_defaults};
    return &table;
}
