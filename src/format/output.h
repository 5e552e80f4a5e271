/*
 * Which output of leat is in a folder, by the names in it: what every ingest asks before it writes
 * there or reads from there, and every reader before it opens a path.
 *
 *   probes   DIR/manifest.json, index.bin, ...   a data set, work in DIR/.leat
 *   can      DIR/.complete, cache_metadata.json, ...   a cache, work in .leat-* beside it
 *   images   DIR/.complete, images.json, ...   a data set, work in DIR/.leat
 */
#ifndef LEAT_FORMAT_OUTPUT_H
#define LEAT_FORMAT_OUTPUT_H

#include "base/file.h"

#define LEAT_MANIFEST_NAME "manifest.json"
#define LEAT_INDEX_NAME "index.bin"
#define LEAT_CAN_METADATA_NAME "cache_metadata.json"
#define LEAT_IMAGES_NAME "images.json"
#define LEAT_IMAGES_TENSORS_NAME "images.safetensors"
#define LEAT_REJECTED_NAME "rejected.csv"

/* The folder of an ingest at work, in the output folder; that of an ingest of CAN logs, beside its
 * cache, has a digest after the prefix. */
#define LEAT_WORK_NAME ".leat"
#define LEAT_CAN_WORK_PREFIX LEAT_WORK_NAME "-"
/* In a work folder: the output as it grows. */
#define LEAT_WORK_OUT_NAME "out"

typedef enum leat_output_kind {
    LEAT_OUTPUT_NONE,
    LEAT_OUTPUT_PROBES,
    LEAT_OUTPUT_CAN,
    LEAT_OUTPUT_IMAGES,
} leat_output_kind;

typedef struct leat_output {
    leat_output_kind kind;
    bool complete; /* not that of an interrupted or running ingest, nor one that lost .complete */
    bool itself;   /* false: the folder holds one or more caches */
} leat_output;

/* "leat ingest probes"; "" for none. */
const char *leat_output_command(leat_output_kind kind);
/* What opens it: "leat.ProbeDataset in Python, leat_dataset_open() in C"; "" for none. */
const char *leat_output_opened_with(leat_output_kind kind);

/* What the folder itself is, whether or not other files are in it. A folder that does not exist is
 * none. */
LEAT_MUST_CHECK leat_code leat_output_of(const char *dir, leat_output *out, leat_error *err);
/* The same; if it is none, by the work of an ingest in it and by the caches that it holds. */
LEAT_MUST_CHECK leat_code leat_output_look(const char *dir, leat_output *out, leat_error *err);
/* Whether a folder with these names is an output, finished or not: its files are not inputs. */
bool leat_output_has_names(const leat_path_list *names);

#endif
