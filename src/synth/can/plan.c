/*
 * Which files a synthetic data set of vehicle logs has, how long each is, and when it was driven.
 *
 *     train_01_attack_free/attack_free_<drive>-<vehicle>.csv     4 parts of the frames
 *     train_02_with_attacks/<attack>_<drive>-<vehicle>.csv       2 parts each
 *     test_01_<attack>/<attack>_<drive>-<vehicle>.csv            1 part each, the same vehicles
 *     test_<n>_unknown_vehicle/<attack>_<drive>-<vehicle>.csv    1 part each, vehicles held out
 *
 * Parts that are too long for one file are several drives. The drives of a vehicle follow each
 * other: first the training ones in random order, so that no type of attack is tied to a certain
 * time, then those of the tests. Different vehicles drive at the same time.
 */
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "base/thread.h"
#include "synth/can/can.h"

#define START_US INT64_C(1751349600000000) /* 2025-07-01T06:00:00Z */
#define PART_LEAST 100                     /* frames */
#define PARTS_FREE 4
#define PARTS_TRAIN 2

static const char *const attack_names[] = {"dos", "fuzzing", "replay", "spoof", "suppress"};

#define ATTACK_COUNT ((int)(sizeof attack_names / sizeof *attack_names))
#define FOLDER_FREE "train_01_attack_free"
#define FOLDER_TRAIN "train_02_with_attacks"
#define NAME_FREE "attack_free"
#define NAME_UNKNOWN "unknown_vehicle"

const char *leat_synth_can_attack_name(int index) {
    return index >= 0 && index < ATTACK_COUNT ? attack_names[index] : NULL;
}

/* ---- Names --------------------------------------------------------------------------------- */

/* Removes one of the attacks' names, or `other`, from the front of a text. */
static bool take_name(const char **text, const char *other) {
    for (int i = 0; i <= ATTACK_COUNT; i++) {
        const char *name = i < ATTACK_COUNT ? attack_names[i] : other;
        size_t size = strlen(name);
        if (strncmp(*text, name, size) != 0) continue;
        *text += size;
        return true;
    }
    return false;
}

static bool take_digits(const char **text) {
    size_t size = strspn(*text, "0123456789");
    *text += size;
    return size > 0;
}

static bool take_char(const char **text, char wanted) {
    if (**text != wanted) return false;
    ++*text;
    return true;
}

static bool take_word(const char **text, const char *word) {
    size_t size = strlen(word);
    if (strncmp(*text, word, size) != 0) return false;
    *text += size;
    return true;
}

bool leat_synth_can_is_ours(const char *name) {
    if (strcmp(name, LEAT_SYNTH_CAN_ATTACKS) == 0) return true;
    if (!take_word(&name, FOLDER_FREE) && !take_word(&name, FOLDER_TRAIN) &&
        !(take_word(&name, "test_") && take_digits(&name) && take_char(&name, '_') &&
          take_name(&name, NAME_UNKNOWN)))
        return false;
    if (*name == 0) return true;
    return take_char(&name, '/') && take_name(&name, NAME_FREE) && take_char(&name, '_') &&
           take_digits(&name) && take_char(&name, '-') && take_digits(&name) &&
           strcmp(name, ".csv") == 0;
}

/* ---- Frames -------------------------------------------------------------------------------- */

typedef struct planner {
    leat_synth_can_plan *plan;
    const leat_synth_can_options *options;
    int64_t parts, parts_done; /* all frames, and those in files so far */
} planner;

/* How many of `count` come before part `part` of `parts`. */
static int64_t share(int64_t count, int64_t part, int64_t parts) {
    return (int64_t)((__int128)count * part / parts);
}

/* The drives of a vehicle in a folder with one attack, `parts` parts of all frames. */
static leat_code add_drives(planner *planner, int folder, int64_t vehicle, int attack,
                            int64_t parts, leat_error *err) {
    leat_synth_can_plan *plan = planner->plan;
    const leat_synth_can_options *options = planner->options;
    int64_t begin = share(options->frames, planner->parts_done, planner->parts);
    planner->parts_done += parts;
    int64_t frames = share(options->frames, planner->parts_done, planner->parts) - begin;
    int64_t drives = (frames - 1) / LEAT_SYNTH_CAN_FILE_FRAMES + 1;
    uint64_t key = leat_random(options->seed, LEAT_SYNTH_CAN_DRIVE, (uint64_t)vehicle);
    LEAT_TRY(LEAT_GROW(&plan->files, &plan->file_capacity, plan->file_count + drives, err));
    for (int64_t i = 0; i < drives; i++) {
        leat_synth_can_file *file = &plan->files[plan->file_count++];
        *file = (leat_synth_can_file){.folder = folder, .vehicle = vehicle, .drive = i + 1};
        file->trip.attack = attack < 0 ? 0 : 1U << attack;
        file->trip.frames = share(frames, i + 1, drives) - share(frames, i, drives);
        /* a drive does not depend on which other attacks and vehicles there are */
        uint64_t kind = (uint64_t)(2 * (attack + 1) + (folder > 1));
        file->trip.key = leat_random(key, kind, (uint64_t)i);
        snprintf(file->name, sizeof file->name, "%s/%s_%03lld-%lld.csv", plan->folders[folder],
                 attack < 0 ? NAME_FREE : attack_names[attack], (long long)file->drive,
                 (long long)vehicle);
    }
    return LEAT_OK;
}

/* Vehicles from `first` up to `end`. */
typedef struct fleet {
    int64_t first, end;
} fleet;

/* The drives of the vehicles with each of the attacks in `attacks`. */
static leat_code add_attacks(planner *planner, int folder, fleet fleet, unsigned attacks,
                             int64_t parts, leat_error *err) {
    for (int64_t vehicle = fleet.first; vehicle < fleet.end; vehicle++)
        for (int attack = 0; attack < ATTACK_COUNT; attack++)
            if ((attacks & 1U << attack) != 0)
                LEAT_TRY(add_drives(planner, folder, vehicle, attack, parts, err));
    return LEAT_OK;
}

static int add_folder(leat_synth_can_plan *plan, const char *name) {
    snprintf(plan->folders[plan->folder_count], sizeof *plan->folders, "%s", name);
    return plan->folder_count++;
}

static int add_test_folder(leat_synth_can_plan *plan, const char *name) {
    char text[32];
    snprintf(text, sizeof text, "test_%02d_%s", plan->folder_count - 1, name);
    return add_folder(plan, text);
}

static leat_code add_files(planner *planner, leat_error *err) {
    leat_synth_can_plan *plan = planner->plan;
    unsigned attacks = planner->options->attacks;
    const int64_t vehicles = planner->options->vehicles;
    const fleet known = {1, vehicles - plan->held_out + 1}, unknown = {known.end, vehicles + 1};
    int folder = add_folder(plan, FOLDER_FREE);
    for (int64_t vehicle = known.first; vehicle < known.end; vehicle++)
        LEAT_TRY(add_drives(planner, folder, vehicle, -1, PARTS_FREE, err));
    folder = add_folder(plan, FOLDER_TRAIN);
    LEAT_TRY(add_attacks(planner, folder, known, attacks, PARTS_TRAIN, err));
    for (int attack = 0; attack < ATTACK_COUNT; attack++) {
        if ((attacks & 1U << attack) == 0) continue;
        folder = add_test_folder(plan, attack_names[attack]);
        LEAT_TRY(add_attacks(planner, folder, known, 1U << attack, 1, err));
    }
    if (plan->held_out == 0) return LEAT_OK;
    folder = add_test_folder(plan, NAME_UNKNOWN);
    return add_attacks(planner, folder, unknown, attacks, 1, err);
}

/* ---- Times --------------------------------------------------------------------------------- */

/* Assigns times to the drives of a vehicle: `list`, with the `training` drives first, has space for
 * the numbers of all files. A pause of a tenth of the drive is longer than any delay caused by an
 * attack. */
static void set_times(leat_synth_can_plan *plan, uint64_t seed, int64_t vehicle, int64_t *list) {
    leat_synth_can_vehicle made;
    int64_t training = 0, count = 0;
    uint64_t key = leat_random(seed, LEAT_SYNTH_CAN_ORDER, (uint64_t)vehicle);
    double at_us = leat_random_unit(key) * 1e6;
    leat_synth_can_vehicle_init(&made, seed, vehicle);
    for (int64_t i = 0; i < plan->file_count; i++)
        if (plan->files[i].vehicle == vehicle) {
            list[count++] = i;
            training += plan->files[i].folder <= 1;
        }
    for (int64_t i = 0; i < count; i++) {
        int64_t place = i < training ? leat_permute(key, training, i) : i;
        leat_synth_can_file *file = &plan->files[list[place]];
        file->trip.start_us = START_US + (int64_t)at_us;
        at_us += (double)file->trip.frames / made.frames_per_second * 1.1e6;
    }
}

/* ---- The plan ------------------------------------------------------------------------------ */

static leat_code check_options(const leat_synth_can_options *options, int64_t parts,
                               leat_error *err) {
    if (options->threads < 1 || options->threads > LEAT_THREADS_MAX)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "synthetic vehicle logs: threads must be between 1 and %d, not %d",
                         LEAT_THREADS_MAX, options->threads);
    if (options->frames < parts * PART_LEAST || options->frames > LEAT_SYNTH_CAN_FRAMES_MAX)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "synthetic vehicle logs: with these vehicles and attacks, frames must be "
                         "between %lld (%d in the smallest file) and %lld, not %lld",
                         (long long)(parts * PART_LEAST), PART_LEAST,
                         (long long)LEAT_SYNTH_CAN_FRAMES_MAX, (long long)options->frames);
    return LEAT_OK;
}

static leat_code make_plan(leat_synth_can_plan *plan, const leat_synth_can_options *options,
                           leat_error *err) {
    planner planner = {.plan = plan, .options = options};
    int64_t vehicles = options->vehicles, *list = NULL;
    if (vehicles < 1 || vehicles > LEAT_SYNTH_CAN_VEHICLES_MAX)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "synthetic vehicle logs: vehicles must be between 1 and %d, not %lld",
                         LEAT_SYNTH_CAN_VEHICLES_MAX, (long long)vehicles);
    if (options->attacks == 0 || (options->attacks & ~(unsigned)LEAT_SYNTH_CAN_ALL) != 0)
        return leat_fail(
            err, LEAT_ERR_OPTION,
            "synthetic vehicle logs: attacks 0x%x are unknown; use one or more of 0x%x",
            options->attacks, LEAT_SYNTH_CAN_ALL);
    plan->held_out = vehicles == 1 ? 0 : vehicles < 4 ? 1 : vehicles / 4;
    int64_t attacks = __builtin_popcount(options->attacks), known = vehicles - plan->held_out;
    planner.parts = known * (PARTS_FREE + attacks * (PARTS_TRAIN + 1)) + plan->held_out * attacks;
    LEAT_TRY(check_options(options, planner.parts, err));
    LEAT_TRY(add_files(&planner, err));
    LEAT_ASSERT(planner.parts_done == planner.parts);
    LEAT_TRY(LEAT_NEW(&list, plan->file_count, err));
    for (int64_t vehicle = 1; vehicle <= vehicles; vehicle++)
        set_times(plan, options->seed, vehicle, list);
    leat_free(list);
    return LEAT_OK;
}

leat_code leat_synth_can_plan_make(leat_synth_can_plan *plan, const leat_synth_can_options *options,
                                   leat_error *err) {
    memset(plan, 0, sizeof *plan);
    leat_code code = make_plan(plan, options, err);
    if (code != LEAT_OK) leat_synth_can_plan_free(plan);
    return code;
}

void leat_synth_can_plan_free(leat_synth_can_plan *plan) {
    leat_free(plan->files);
    memset(plan, 0, sizeof *plan);
}
