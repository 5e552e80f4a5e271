/* The table of the kinds of data, and the kind of a command's arguments, which is determined from
 * what is at their paths before the command reads them. */
#include "data_kinds.h"

#include <stdio.h>
#include <string.h>

#include "command/internal.h"
#include "leat/load_can.h"
#include "leat/load_images.h"
#include "leat/train.h"

#define PACKED(suffix)                                                                             \
    suffix, suffix ".gz", suffix ".bz2", suffix ".xz", suffix ".zst", suffix ".zip"
static const char *const probe_inputs[] = {".parquet",      PACKED(".csv"),   PACKED(".ndjson"),
                                           PACKED(".json"), PACKED(".jsonl"), NULL};
static const char *const probe_parts[] = {"manifest.json", "index.bin", "run.json", "rejected.csv",
                                          NULL};
static const char *const can_inputs[] = {".csv", ".csv.gz", ".log", ".log.gz",
                                         ".txt", ".txt.gz", NULL};
static const char *const can_parts[] = {"vocab.json",   "cache_metadata.json", "scaler.json",
                                        "rejected.csv", ".safetensors",        NULL};
static const char *const image_inputs[] = {".jpg", ".jpeg", ".JPG", ".png", ".zip", NULL};
static const char *const image_parts[] = {"images.json", "images.pages", "rejected.csv",
                                          ".safetensors", NULL};
static const char *const nothing[] = {NULL};
static const char *const run_parts[] = {"training.json", "metrics.jsonl", "reference.json",
                                        ".safetensors", NULL};

const char *const leat_cli_headings[LEAT_CLI_DATA_KINDS] = {
    [LEAT_CLI_PROBES] = "Options for probe rows",
    [LEAT_CLI_CAN] = "Options for CAN caches",
    [LEAT_CLI_IMAGES] = "Options for image data sets",
    [LEAT_CLI_RUNS] = "Options for training runs",
};

static const leat_data_kind kinds[LEAT_CLI_DATA_KINDS] = {
    [LEAT_CLI_PROBES] = {.name = "probe rows",
                         .one = "probe rows, if any data",
                         .ingest = "leat ingest probes",
                         .inputs = probe_inputs,
                         .parts = probe_parts,
                         .inspect = leat_inspect_probes,
                         .cat = leat_cat_probes,
                         .batches = leat_batches_probes,
                         .doctor = leat_doctor_probes},
    [LEAT_CLI_CAN] = {.name = "CAN caches",
                      .one = "a CAN cache",
                      .ingest = "leat ingest can",
                      .inputs = can_inputs,
                      .parts = can_parts,
                      .alone = true,
                      .is_at = leat_can_cache_is_at,
                      .inspect = leat_inspect_can,
                      .cat = leat_cat_can,
                      .batches = leat_batches_can,
                      .doctor = leat_doctor_can},
    [LEAT_CLI_IMAGES] = {.name = "image data sets",
                         .one = "an image data set",
                         .ingest = "leat ingest images",
                         .inputs = image_inputs,
                         .parts = image_parts,
                         .alone = true,
                         .is_at = leat_images_is_at,
                         .inspect = leat_inspect_images,
                         .cat = leat_cat_images,
                         .batches = leat_batches_images,
                         .doctor = leat_doctor_images},
    [LEAT_CLI_RUNS] = {.name = "training runs",
                       .one = "a training run",
                       .ingest = "leat train dcgan",
                       .inputs = nothing,
                       .parts = run_parts,
                       .alone = true,
                       .is_at = leat_run_is_at,
                       .inspect = leat_inspect_run,
                       .cat = leat_cat_run,
                       .batches = leat_batches_run,
                       .doctor = leat_doctor_run},
};

enum { FIRST_KIND = LEAT_CLI_ANY + 1 };

/* ---- Paths that are not data --------------------------------------------------------------- */

static bool is_listed(const char *path, const char *const *list) {
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    size_t size = strlen(name);
    for (; *list != NULL; list++) {
        size_t end = strlen(*list);
        if (strcmp(name, *list) == 0) return true;
        if ((*list)[0] == '.' && size >= end && strcmp(name + size - end, *list) == 0) return true;
    }
    return false;
}

/* By the name of a file; a data set is a folder, whatever its name. */
static int refuse_raw(leat_cli *cli, const char *path) {
    char ingests[160] = "";
    size_t used = 0;
    if (leat_cli_is_folder(path)) return 0;
    for (int i = FIRST_KIND; i < LEAT_CLI_DATA_KINDS; i++) {
        if (is_listed(path, kinds[i].parts))
            return leat_cli_usage(
                cli, "\"%.200s\": part of a data set, run or export; give its folder", path);
    }
    for (int i = FIRST_KIND; i < LEAT_CLI_DATA_KINDS; i++) {
        if (!is_listed(path, kinds[i].inputs) || used >= sizeof ingests) continue;
        used += (size_t)snprintf(ingests + used, sizeof ingests - used, "%s`%s`",
                                 used > 0 ? " or " : "", kinds[i].ingest);
    }
    if (used == 0) return 0;
    return leat_cli_usage(cli,
                          "\"%.200s\": raw data, but this command takes ingested data; run %s on "
                          "it first",
                          path, ingests);
}

/* ---- The arguments of a command ------------------------------------------------------------ */

static leat_cli_data data_at(const char *path) {
    int data = LEAT_CLI_ANY;
    for (int i = FIRST_KIND; i < LEAT_CLI_DATA_KINDS; i++) {
        if (kinds[i].is_at == NULL) data = i;
        else if (kinds[i].is_at(path)) return (leat_cli_data)i;
    }
    return (leat_cli_data)data;
}

const leat_data_kind *leat_data_kind_at(const char *path) { return &kinds[data_at(path)]; }

static int refuse_options(leat_cli *cli, leat_cli_data data) {
    const leat_cli_row *row = leat_cli_misplaced(cli, data);
    if (row == NULL) return 0;
    return leat_cli_usage(cli, "--%s is for %s; \"%.200s\" holds %s", row->setting->name,
                          kinds[row->option->of].name, leat_cli_argument(cli, 0), kinds[data].one);
}

int leat_cli_take_data(leat_cli *cli, const leat_data_kind **kind) {
    int count = leat_cli_argument_count(cli);
    leat_cli_data data = LEAT_CLI_ANY;
    *kind = NULL;
    for (int i = 0; i < count; i++) {
        const char *path = leat_cli_argument(cli, i);
        int status = refuse_raw(cli, path);
        if (status != 0) return status;
        data = data_at(path);
        if (kinds[data].alone && count > 1)
            return leat_cli_usage(cli,
                                  "\"%.200s\" is %s and must be the only "
                                  "argument",
                                  path, kinds[data].one);
    }
    *kind = &kinds[data];
    return refuse_options(cli, data);
}
