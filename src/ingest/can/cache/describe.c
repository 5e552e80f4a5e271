/* The metadata of a cache: see describe.h. */
#include "ingest/can/cache/describe.h"

#include <stdio.h>
#include <string.h>

#include "ingest/can/cache/settings.h"

/* ---- settings ------------------------------------------------------------------------------- */

/* Settings that no preset contains: they depend on data and machine, not on the reference. */
static bool is_free(const char *name) {
    static const char *const names[] = {"format", "window",       "stride", "val-fraction",
                                        "seed",   "store",        "column", "no-time",
                                        "times",  "allow-overlap"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0) return true;
    }
    return false;
}

static leat_code is_preset(const leat_can_settings *settings, const char *preset, bool *is,
                           leat_error *err) {
    leat_can_settings wanted;
    LEAT_TRY(leat_can_settings_preset(&wanted, preset, err));
    *is = true;
    for (const leat_setting *row = leat_can_settings_table()->rows; row->name != NULL; row++) {
        char a[LEAT_SETTING_BYTES], b[LEAT_SETTING_BYTES];
        if (is_free(row->name)) continue;
        *is = *is &&
              strcmp(leat_setting_get(row, settings, a), leat_setting_get(row, &wanted, b)) == 0;
    }
    return LEAT_OK;
}

static leat_code describe_settings(const leat_can_plan *plan, leat_can_meta *meta,
                                   leat_error *err) {
    const leat_can_settings *settings = plan->settings;
    bool plain = false, reference = false;
    LEAT_TRY(is_preset(settings, "default", &plain, err));
    LEAT_TRY(is_preset(settings, "reference", &reference, err));
    snprintf(meta->preset, sizeof meta->preset, "%s",
             plain       ? "default"
             : reference ? "reference"
                         : "own");
    for (const leat_setting *row = leat_can_settings_table()->rows; row->name != NULL; row++) {
        char text[LEAT_SETTING_BYTES];
        const char *value = leat_can_setting_text(row, settings, text);
        if (value == NULL) continue;
        LEAT_TRY(leat_can_meta_set(meta, row->name, value, err));
    }
    snprintf(meta->scaler_strategy, sizeof meta->scaler_strategy, "%s", leat_can_plan_scaler(plan));
    meta->window = settings->window;
    meta->stride = settings->stride;
    meta->seed = (int64_t)settings->seed;
    meta->val_fraction = settings->val_fraction;
    meta->frames = settings->store == LEAT_STORE_FRAMES;
    return LEAT_OK;
}

/* ---- identifiers ---------------------------------------------------------------------------- */

static leat_code describe_ids(const leat_can_names *names, leat_can_ids *ids, leat_error *err) {
    _Static_assert((int)LEAT_CAN_ID_TEXT_BYTES == (int)LEAT_CAN_ID_NAME_BYTES, "the same texts");
    LEAT_TRY(LEAT_NEW(&ids->text, names->count, err));
    memcpy(ids->text, names->name, (size_t)names->count * sizeof *ids->text);
    ids->count = ids->capacity = names->count;
    ids->known = names->known;
    return LEAT_OK;
}

/* ---- splits --------------------------------------------------------------------------------- */

/* Node counts of a part, whose windows are in order. */
typedef struct part_sizes {
    const leat_can_plan *plan;
    const uint32_t *order;
    int64_t count;
} part_sizes;

static int64_t nodes_at(const void *context, int64_t i) {
    const part_sizes *part = context;
    return part->plan->windows[part->order[i]].nodes;
}

static void describe_sizes(const part_sizes *part, leat_can_meta_split *split) {
    int64_t edges = leat_graph_edge_count(part->plan->settings->window);
    split->node_count = leat_can_sizes_of(nodes_at, part, part->count, split->nodes);
    if (part->count == 0) return;
    split->edge_count = (leat_can_sizes){edges, edges, (double)edges, (double)edges, (double)edges};
}

static void add_balance(leat_can_meta_split *split, const char *attack, int64_t windows) {
    if (windows == 0) return;
    leat_can_balance *at = &split->balance[split->balance_count++];
    snprintf(at->attack, sizeof at->attack, "%s", attack);
    at->windows = windows;
}

static void describe_balance(const part_sizes *part, leat_can_meta_split *split) {
    int64_t windows[LEAT_CAN_ATTACKS_MAX] = {0}; /* by code + 1 */
    int64_t unknown = 0;
    for (int64_t i = 0; i < part->count; i++) {
        const leat_can_window *window = &part->plan->windows[part->order[i]];
        if (window->y > 0 && window->attack_type == 0) unknown++;
        else windows[window->attack_type + 1]++;
    }
    for (int i = 0; i < LEAT_CAN_ATTACKS_MAX; i++)
        add_balance(split, leat_can_attack_name(i - 1), windows[i]);
    add_balance(split, leat_can_attack_name_of(1, 0), unknown);
}

/* Folders and frames of the inputs' split `number`. */
static leat_code describe_sources(const leat_can_description *of, int number,
                                  leat_can_meta_split *split, leat_error *err) {
    const char *last = NULL;
    for (int64_t i = 0; i < of->splits->inputs.count; i++) {
        const leat_can_source *file = &of->splits->files[i];
        if (file->split != number) continue;
        if (last == NULL || strcmp(last, file->folder) != 0)
            LEAT_TRY(leat_path_list_add(&split->source_dirs, file->folder, err));
        last = file->folder;
    }
    for (int32_t i = 0; i < of->plan->stream_count; i++) {
        if (of->plan->streams[i].split == number) split->raw_samples += of->plan->streams[i].frames;
    }
    return LEAT_OK;
}

static leat_code describe_split(const leat_can_description *of, int part,
                                leat_can_meta_split *split, leat_error *err) {
    const leat_can_plan *plan = of->plan;
    const part_sizes sizes = {plan, plan->order + plan->part_begin[part],
                              plan->part_begin[part + 1] - plan->part_begin[part]};
    const char *name = part == 0   ? LEAT_CAN_SPLIT_TRAIN
                       : part == 1 ? LEAT_CAN_SPLIT_VAL
                                   : of->splits->name[part - 1];
    snprintf(split->name, sizeof split->name, "%s", name);
    for (int64_t i = 0; i < sizes.count; i++) split->nodes += plan->windows[sizes.order[i]].nodes;
    split->graphs = sizes.count;
    split->edges = sizes.count * leat_graph_edge_count(plan->settings->window);
    split->file_bytes = of->file_bytes[part];
    split->pages_hash = of->pages_hash[part];
    describe_sizes(&sizes, split);
    describe_balance(&sizes, split);
    return part == 1 ? LEAT_OK : describe_sources(of, part == 0 ? 0 : part - 1, split, err);
}

/* ---- captures ------------------------------------------------------------------------------- */

/* Rejected lines: of the stream's file with its first bus, or of all files of its split. */
static int64_t rejected_of(const leat_can_description *of, int32_t number) {
    const leat_can_stream *streams = of->plan->streams, *stream = &streams[number];
    int64_t rejected = 0;
    if (stream->file >= 0) {
        bool first = number == 0 || streams[number - 1].file != stream->file;
        const leat_can_file *file = &of->files[stream->file];
        return first ? file->lines - file->frames : 0;
    }
    for (int64_t i = 0; i < of->splits->inputs.count; i++) {
        if (of->splits->files[i].split == stream->split)
            rejected += of->files[i].lines - of->files[i].frames;
    }
    return rejected;
}

static leat_code describe_capture(const leat_can_description *of, int32_t number,
                                  leat_can_meta_capture *capture, leat_error *err) {
    const leat_can_stream *stream = &of->plan->streams[number];
    const leat_can_source *file = stream->file < 0 ? NULL : &of->splits->files[stream->file];
    LEAT_TRY(leat_strdup(&capture->file, file == NULL ? "" : file->name, err));
    LEAT_TRY(leat_strdup(&capture->folder, file == NULL ? "" : file->folder, err));
    snprintf(capture->split, sizeof capture->split, "%s", of->splits->name[stream->split]);
    capture->recording = file == NULL ? 0 : stream->recording + 1;
    capture->bus = stream->bus;
    capture->vehicle = file == NULL ? 0 : leat_can_vehicle(file->name);
    capture->frames = stream->frames;
    capture->windows = stream->windows;
    capture->tail = stream->tail;
    capture->between = stream->between;
    capture->dropped = stream->dropped;
    capture->rejected = rejected_of(of, number);
    capture->first_s = stream->first_s;
    capture->last_s = stream->last_s;
    LEAT_TRY(LEAT_NEW(&capture->intervals, stream->interval_count, err));
    memcpy(capture->intervals, stream->intervals,
           (size_t)stream->interval_count * sizeof *stream->intervals);
    capture->interval_count = capture->interval_capacity = stream->interval_count;
    return LEAT_OK;
}

/* ---- the complete metadata ------------------------------------------------------------------ */

leat_code leat_can_describe(const leat_can_description *of, leat_can_meta *meta, leat_error *err) {
    const leat_can_plan *plan = of->plan;
    const char *dataset = of->options->dataset;
    char reader[16];
    snprintf(meta->digest, sizeof meta->digest, "%s", of->digest);
    snprintf(meta->dataset, sizeof meta->dataset, "%s", dataset != NULL ? dataset : "");
    snprintf(meta->preprocessing_version, sizeof meta->preprocessing_version, "leat %s",
             leat_version());
    LEAT_TRY(describe_settings(plan, meta, err));
    snprintf(reader, sizeof reader, "%d", LEAT_CAN_READER);
    LEAT_TRY(leat_can_meta_set(meta, "reader", reader, err));
    if (of->like->digest[0] != 0) {
        LEAT_TRY(leat_can_meta_set(meta, "like", of->like->digest, err));
        memcpy(meta->scaler_strategy, of->like->strategy, sizeof meta->scaler_strategy);
    }
    LEAT_TRY(describe_ids(of->names, &meta->ids, err));
    meta->windows_dropped = plan->windows_dropped;
    for (int64_t i = 0; i < of->splits->inputs.count; i++)
        meta->frames_cut += of->files[i].frames_cut;
    LEAT_TRY(LEAT_NEW(&meta->splits, plan->part_count, err));
    for (int part = 0; part < plan->part_count; part++) {
        meta->split_count = part + 1;
        LEAT_TRY(describe_split(of, part, &meta->splits[part], err));
    }
    LEAT_TRY(LEAT_NEW(&meta->captures, plan->stream_count, err));
    meta->capture_capacity = plan->stream_count;
    for (int32_t i = 0; i < plan->stream_count; i++) {
        meta->capture_count = i + 1;
        LEAT_TRY(describe_capture(of, i, &meta->captures[i], err));
    }
    return LEAT_OK;
}
