/* Everything that decides the contents of a cache, by name: one table for the command line and the
 * cache. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ingest/can/cache/overlap.h"
#include "ingest/can/cache/settings.h"
#include "ingest/can/store/frame.h"
#include "ingest/option_rows.h"

#define AT(field) .place = offsetof(leat_can_settings, field)
#define CHOICE(word, field, words)                                                                 \
    .name = word, .kind = LEAT_SETTING_CHOICE, AT(field), .choices = words
#define INT(word, field, least, most)                                                              \
    .name = word, .kind = LEAT_SETTING_INT, AT(field), .min = least, .max = most
#define OR(format, name) "|" name

/* ---- clock-steps: an enum, and the seconds of pause_s -----------------------------------------
 */

static const leat_setting pause_length = {.name = "split",
                                          .kind = LEAT_SETTING_REAL,
                                          .low = 0,
                                          .low_open = true,
                                          .high = LEAT_CAN_TIME_MAX_S};

/* The settings that this member is of. */
static const leat_can_settings *settings_of(const void *member) {
    return (const void *)((const char *)member - offsetof(leat_can_settings, clock_steps));
}

static leat_code parse_clock_steps(const char *text, void *member, leat_error *err) {
    leat_can_settings *settings = (leat_can_settings *)settings_of(member);
    bool sort = strcmp(text, "sort") == 0;
    double pause_s = 0;
    if (strncmp(text, "split:", 6) == 0) {
        LEAT_TRY(leat_setting_set(&pause_length, &pause_s, text + 6, err));
    } else if (!sort && strcmp(text, "split") != 0) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "\"%.100s\" is not accepted; it takes split, sort or split:SECONDS, for "
                         "example split:60",
                         text);
    }
    settings->clock_steps = sort ? LEAT_CLOCK_STEPS_SORT : LEAT_CLOCK_STEPS_SPLIT;
    settings->pause_s = pause_s;
    return LEAT_OK;
}

static leat_code check_clock_steps(const void *member, leat_error *err) {
    const leat_can_settings *settings = settings_of(member);
    bool split = settings->clock_steps == LEAT_CLOCK_STEPS_SPLIT;
    if (!split && settings->clock_steps != LEAT_CLOCK_STEPS_SORT)
        return leat_fail(err, LEAT_ERR_OPTION, "clock_steps is %d; it must be split or sort",
                         (int)settings->clock_steps);
    if (settings->pause_s == 0) return LEAT_OK;
    if (!split || !(settings->pause_s > 0 && settings->pause_s <= LEAT_CAN_TIME_MAX_S))
        return leat_fail(err, LEAT_ERR_OPTION, "pause_s is %g; it must be above 0, of split",
                         settings->pause_s);
    if (settings->captures != LEAT_CAPTURES_MERGED) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "split:%g begins new captures, but --captures merged makes one of all; add "
                     "--captures separate",
                     settings->pause_s);
}

static void format_clock_steps(const void *member, char text[LEAT_SETTING_BYTES]) {
    const leat_can_settings *settings = settings_of(member);
    char seconds[LEAT_SETTING_BYTES];
    bool split = settings->clock_steps == LEAT_CLOCK_STEPS_SPLIT;
    if (!split || settings->pause_s == 0)
        snprintf(text, LEAT_SETTING_BYTES, "%s", split ? "split" : "sort");
    else
        snprintf(text, LEAT_SETTING_BYTES, "split:%.24s",
                 leat_setting_get(&pause_length, &settings->pause_s, seconds));
}

static const leat_setting_type clock_steps_type = {parse_clock_steps, check_clock_steps,
                                                   format_clock_steps};

/* ---- the table --------------------------------------------------------------------------------
 */

/* In the order of cache_metadata.json and of the digest that names a cache. */
static const leat_setting rows[] = {
    {CHOICE("format", format, "auto" LEAT_CAN_FORMAT_TABLE(OR)),
     .help = "format of the logs; auto detects it from the contents"},
    {INT("window", window, LEAT_WINDOW_MIN, LEAT_WINDOW_MAX), .help = "frames per window"},
    {INT("stride", stride, 1, INT64_C(1) << 30), .help = "frames from one window to the next"},
    {CHOICE("captures", captures, "separate|merged"),
     .help = "windows never span two captures, or the captures of a split are merged by time"},
    {.name = "clock-steps",
     .kind = LEAT_SETTING_OTHER,
     AT(clock_steps),
     .type = &clock_steps_type,
     .value = "split|sort|split:SECONDS",
     .help = "where the timestamps of a log fall back by more than 1 s, start a new capture, or "
             "sort; with SECONDS, also start one after a pause of more than that"},
    {INT("bus", bus, 0, UINT16_MAX), .choices = "separate|merge", .word_value = LEAT_BUS_SEPARATE,
     .value = "separate|merge|N",
     .help = "treat each bus of a log as a capture, merge the buses, or read only one of them"},
    {CHOICE("payload", payload, "strict|lenient"),
     .help = "reject lines whose payload is not hexadecimal, or read them as graphids does"},
    {CHOICE("can-fd", fd, "cut|refuse"), .help = "cut frames of more than 8 bytes, or reject them"},
    {CHOICE("identifiers", identifiers, "canonical|written"),
     .help = "identifiers with 3 or 8 upper-case digits, or as written in the log"},
    {CHOICE("val-split", val_split, "blocks|random"),
     .help = "validate on blocks of time with a gap to training, or on random windows"},
    {.name = "val-fraction",
     .kind = LEAT_SETTING_REAL,
     AT(val_fraction),
     .high = 1,
     .high_open = true,
     .value = "F",
     .help = "fraction of the training windows used for validation"},
    {CHOICE("edge-step", edge_step, "previous|own"),
     .help = "edge features compare the source with the previous frame, or with the target"},
    {CHOICE("self-loops", self_loops, "count|ignore"),
     .help = "count or ignore self-loops in the clustering coefficient"},
    {CHOICE("attack-type", attack_type, "frame|file"),
     .help = "label frames individually, or all frames of a file by its name"},
    {CHOICE("attack-codes", attack_codes, "long|short"),
     .help = "19 attack types, or the 7 of graphids"},
    {CHOICE("unlabelled", unlabelled, "by-name|benign|unknown|benign-lines"),
     .help = "logs without labels: by-name: benign if their names say so; benign: always benign; "
             "unknown: unlabelled; benign-lines: always benign, and so is every line without a "
             "label in a log with labels"},
    {CHOICE("vocab", vocab, "train|all|benign"),
     .help = "number identifiers seen in training, or those of tests as well, or only those of "
             "training frames that are not labelled as attacks"},
    {CHOICE("scaler", scaler, "z_benign|z_all|robust_benign|none"),
     .help = "how features are scaled while loading"},
    {CHOICE("store", store, "features|frames"),
     .help = "store features, or store frames (a quarter of the size) and compute features while "
             "loading"},
    {INT("seed", seed, 0, INT64_MAX), .value = "S",
     .help = "seed of the choice of validation windows"},
    {.name = "column",
     .kind = LEAT_SETTING_TEXT,
     AT(column),
     .value = "WHAT=NAME",
     .usually = "usual names",
     .help = "read the logs as csv with these columns, separated by commas, by name or number: "
             "time=T:ms,id=ID:dec,bus=B,dlc=N,data=D0..D7,label=L or L+M, attack for the types of "
             "attacks "
             "if another column has them, and extended, remote, error; "
             "after a colon time takes s, ms, us, ns or gap, id hex or dec, dlc bytes or bits, "
             "data hex, dec, bits or base64"},
    {CHOICE("times", times, "auto|clock|gap"),
     .help =
         "read times as those of a clock, or as gaps from one frame to the next, which are "
         "added up; auto reads a clock, and refuses logs where more than a quarter of the times "
         "are earlier than the one before"},
    {INT("no-time", no_time, 1, 1000000), .choices = "refuse", .word_value = 0, .value = "RATE",
     .help = "read csv without times, as if they had this many frames per second"},
    {.name = "allow-overlap",
     .kind = LEAT_SETTING_FLAG,
     AT(allow_overlap),
     .help = "allow --val-split random with --stride below --window, though validation then has "
             "the frames of training"},
    {.name = NULL},
};

static const leat_can_settings preset_default = {
    .window = 100,
    .stride = 100,
    .bus = LEAT_BUS_SEPARATE,
    .val_fraction = 0.2,
    .seed = 42,
};

const char *leat_can_setting_text(const leat_setting *row, const leat_can_settings *settings,
                                  char text[LEAT_SETTING_BYTES]) {
    if (strcmp(row->name, "no-time") == 0 && settings->no_time == 0) return NULL;
    if (strcmp(row->name, "times") == 0 && settings->times == LEAT_TIMES_AUTO) return NULL;
    if (strcmp(row->name, "allow-overlap") == 0 &&
        !(settings->allow_overlap && leat_can_has_overlap(settings)))
        return NULL; /* it changes nothing */
    return leat_setting_get(row, settings, text);
}

static void set_defaults(void *settings) { *(leat_can_settings *)settings = preset_default; }

const leat_setting_table *leat_can_settings_table(void) {
    static const leat_setting_table table = {"a cache", rows, sizeof(leat_can_settings),
                                             set_defaults};
    return &table;
}

leat_code leat_can_settings_preset(leat_can_settings *settings, const char *name, leat_error *err) {
    if (strcmp(name, "default") == 0) {
        *settings = preset_default;
        return LEAT_OK;
    }
    if (strcmp(name, "reference") != 0) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "preset: \"%.40s\" is not accepted; it takes default or reference", name);
    }
    *settings = preset_default;
    settings->captures = LEAT_CAPTURES_MERGED;
    settings->clock_steps = LEAT_CLOCK_STEPS_SORT;
    settings->bus = LEAT_BUS_MERGE;
    settings->payload = LEAT_PAYLOAD_LENIENT;
    settings->identifiers = LEAT_IDS_WRITTEN;
    settings->val_split = LEAT_VAL_RANDOM;
    settings->attack_type = LEAT_ATTACK_FILE;
    settings->attack_codes = LEAT_CODES_SHORT;
    settings->unlabelled = LEAT_UNLABELLED_BENIGN;
    settings->vocab = LEAT_VOCAB_ALL;
    return LEAT_OK;
}

/* ---- besides the settings ----------------------------------------------------------------- */

leat_can_ingest_options leat_can_ingest_options_default(void) {
    leat_can_ingest_options options = {
        .memory_bytes = INT64_C(512) << 20,
        .threads = leat_cpu_count(),
    };
    leat_code code = leat_can_settings_preset(&options.settings, "default", NULL);
    LEAT_ASSERT(code == LEAT_OK);
    return options;
}

typedef leat_can_ingest_options can;

/* Enough for logs of any length with some hundred identifiers. */
#define LEAT_CAN_MEMORY_MIB_MIN 16

static const leat_setting option_rows[] = {
    {LEAT_INGEST_MEMORY(can, LEAT_CAN_MEMORY_MIB_MIN)},
    {LEAT_INGEST_THREADS(can)},
    {.name = "max-rejected",
     .kind = LEAT_SETTING_REAL,
     .place = offsetof(can, max_rejected),
     .high = 1,
     .value = "SHARE",
     .help = "share of a file's lines that may be rejected even if that is more than 1 % and 100 "
             "lines, or more than half, or if their labels cannot be read"},
    {LEAT_INGEST_RESUME(can)},
    {LEAT_INGEST_REPLACE(can)},
    {LEAT_INGEST_VERIFY(can),
     .help = "hash the inputs, and the pages of the cache, before an existing cache is reused; "
             "equal sizes and modification times are not enough"},
    {LEAT_INGEST_TEMP(can),
     .help = "existing folder for temporary data; --resume needs the same one"},
    {.name = "like",
     .kind = LEAT_SETTING_PATH,
     .place = offsetof(can, like),
     .value = "CACHE",
     .usually = "its own",
     .help = "use the vocabulary and the scaler of this cache, for a model that was trained on it: "
             "other identifiers are unknown; settings that decide identifiers and features must be "
             "the same"},
    {.name = NULL},
};

static void set_option_defaults(void *options) {
    *(can *)options = leat_can_ingest_options_default();
}

const leat_setting_table *leat_can_ingest_options_table(void) {
    static const leat_setting_table table = {"an ingest of vehicle logs", option_rows, sizeof(can),
                                             set_option_defaults};
    return &table;
}
