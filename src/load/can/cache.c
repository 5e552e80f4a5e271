/*
 * Opens a CAN cache: finds its folder, reads its JSON, and maps each split when it is first used.
 */
#include "load/can/cache.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/workdir.h"

#define STAGE_PREFIX ".stage-" /* of a staging, before the name of the cache */

/* ---- which folder -------------------------------------------------------------------------------
 */

static leat_code has_file(const char *dir, const char *name, bool *out, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    *out = false;
    LEAT_TRY(leat_path_join(path, sizeof path, dir, name, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    *out = facts.kind == LEAT_PATH_FILE;
    return LEAT_OK;
}

/* Whether it is a cache; `torn`: also one without .complete. */
static leat_code is_cache(const char *dir, bool torn, bool *out, leat_error *err) {
    leat_output output;
    *out = false;
    LEAT_TRY(leat_output_of(dir, &output, err));
    *out = output.kind == LEAT_OUTPUT_CAN && (torn || output.complete);
    return LEAT_OK;
}

/* The names in a folder that are caches; work folders begin with a dot. */
static leat_code keep_caches(const char *dir, leat_path_list *names, leat_path_list *caches,
                             leat_error *err) {
    for (int64_t i = 0; i < names->count; i++) {
        char path[LEAT_PATH_BYTES];
        bool found = false;
        if (names->paths[i][0] == '.') continue;
        LEAT_TRY(leat_path_join(path, sizeof path, dir, names->paths[i], err));
        LEAT_TRY(is_cache(path, false, &found, err));
        if (found) LEAT_TRY(leat_path_list_add(caches, names->paths[i], err));
    }
    return LEAT_OK;
}

/* The first work folder of `leat ingest can` in a folder; "" if there is none. */
static leat_code find_work(const char *dir, const leat_path_list *names, char work[LEAT_PATH_BYTES],
                           leat_error *err) {
    work[0] = 0;
    for (int64_t i = 0; i < names->count && work[0] == 0; i++) {
        bool marked = false;
        if (strncmp(names->paths[i], LEAT_CAN_WORK_PREFIX, strlen(LEAT_CAN_WORK_PREFIX)) != 0)
            continue;
        LEAT_TRY(leat_workdir_is_marked(dir, names->paths[i], &marked, err));
        if (marked) snprintf(work, LEAT_PATH_BYTES, "%s", names->paths[i]);
    }
    return LEAT_OK;
}

static leat_code refuse_several(const char *dir, const leat_path_list *caches, leat_error *err) {
    char list[320];
    int size = 0;
    for (int64_t i = 0; i < caches->count && size < (int)sizeof list; i++) {
        size += snprintf(list + size, sizeof list - (size_t)size, "%s%s", i == 0 ? "" : ", ",
                         caches->paths[i]);
    }
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%.80s\" holds %lld caches; give the path of one of them: %s%s", dir,
                     (long long)caches->count, list, size < (int)sizeof list ? "" : "...");
}

static leat_code choose(const char *dir, const leat_path_list *names, const leat_path_list *caches,
                        char path[LEAT_PATH_BYTES], leat_error *err) {
    if (caches->count == 1)
        return leat_path_join(path, LEAT_PATH_BYTES, dir, caches->paths[0], err);
    if (caches->count > 1) return refuse_several(dir, caches, err);
    LEAT_TRY(find_work(dir, names, path, err));
    if (path[0] != 0)
        return leat_fail(err, LEAT_ERR_INPUT,
                         "\"%s\" holds an ingest that is running or was interrupted (%s), and no "
                         "complete cache; wait until it ends, or run the same `leat ingest can` "
                         "again, with --resume to continue after its scan",
                         dir, path);
    bool probes = false;
    leat_output found;
    LEAT_TRY(leat_output_look(dir, &found, err));
    bool images = found.kind == LEAT_OUTPUT_IMAGES;
    if (!images) LEAT_TRY(has_file(dir, LEAT_MANIFEST_NAME, &probes, err));
    if (images || probes) {
        leat_output_kind kind = images ? LEAT_OUTPUT_IMAGES : LEAT_OUTPUT_PROBES;
        return leat_fail(err, LEAT_ERR_NOT_FOUND,
                         "\"%s\" is a data set of `%s`, not a CAN cache; open it with %s", dir,
                         leat_output_command(kind), leat_output_opened_with(kind));
    }
    return leat_fail(err, LEAT_ERR_NOT_FOUND,
                     "\"%s\" is not a complete CAN cache and does not hold one; create one with "
                     "`leat ingest can`, or rebuild it with --replace if .complete was lost",
                     dir);
}

leat_code leat_can_cache_find(const char *path, bool torn, char out[LEAT_PATH_BYTES],
                              leat_error *err) {
    leat_path_list names = {0}, caches = {0};
    leat_path_facts facts;
    bool found = false;
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind != LEAT_PATH_DIR)
        return leat_fail(err, LEAT_ERR_NOT_FOUND, "\"%s\" is not a folder", path);
    LEAT_TRY(is_cache(path, torn, &found, err));
    if (found && strlen(path) < LEAT_PATH_BYTES) {
        memcpy(out, path, strlen(path) + 1);
        return LEAT_OK;
    }
    leat_code code = leat_path_list_dir(path, &names, err);
    if (code == LEAT_OK) code = keep_caches(path, &names, &caches, err);
    if (code == LEAT_OK) code = choose(path, &names, &caches, out, err);
    leat_path_list_free(&names);
    leat_path_list_free(&caches);
    return code;
}

bool leat_can_cache_is_at(const char *path) {
    leat_output found;
    return leat_output_look(path, &found, NULL) == LEAT_OK && found.kind == LEAT_OUTPUT_CAN;
}

/* The folder that caches of `path` are in: the one above a cache. "": it is not a folder. */
static leat_code parent_of(const char *path, char dir[LEAT_PATH_BYTES], leat_error *err) {
    leat_path_facts facts;
    bool itself = false;
    dir[0] = 0;
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind != LEAT_PATH_DIR) return LEAT_OK;
    LEAT_TRY(is_cache(path, true, &itself, err));
    return leat_path_join(dir, LEAT_PATH_BYTES, path, itself ? ".." : ".", err);
}

/* A work folder of leat or its lock, by its name; a folder must have the mark as well. */
static leat_code is_leftover(const char *dir, const char *name, bool *found, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    *found = strncmp(name, LEAT_CAN_WORK_PREFIX, strlen(LEAT_CAN_WORK_PREFIX)) == 0 ||
             strncmp(name, STAGE_PREFIX, strlen(STAGE_PREFIX)) == 0;
    if (!*found) return LEAT_OK;
    LEAT_TRY(leat_path_join(path, sizeof path, dir, name, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    return facts.kind == LEAT_PATH_DIR ? leat_workdir_is_marked(dir, name, found, err) : LEAT_OK;
}

leat_code leat_can_leftovers(const char *path, char *text, size_t size_bytes, int64_t *count,
                             leat_error *err) {
    char dir[LEAT_PATH_BYTES];
    leat_path_list names = {0};
    size_t size = 0;
    *count = 0;
    text[0] = 0;
    LEAT_TRY(parent_of(path, dir, err));
    leat_code code = dir[0] != 0 ? leat_path_list_dir(dir, &names, err) : LEAT_OK;
    for (int64_t i = 0; i < names.count && code == LEAT_OK; i++) {
        const char *name = names.paths[i];
        bool found = false;
        code = is_leftover(dir, name, &found, err);
        if (!found) continue;
        if (size < size_bytes)
            size += (size_t)snprintf(text + size, size_bytes - size, "%s%s", *count > 0 ? ", " : "",
                                     name);
        (*count)++;
    }
    leat_path_list_free(&names);
    return code;
}

/* ---- opened and closed --------------------------------------------------------------------------
 */

/* Of all splits, one after the other. */
static leat_code list_attacks(leat_can_cache *cache, leat_error *err) {
    const leat_can_meta *meta = &cache->meta;
    int64_t count = 0;
    for (int s = 0; s < meta->split_count; s++) count += meta->splits[s].balance_count;
    LEAT_TRY(LEAT_NEW(&cache->attacks, count, err));
    count = 0;
    for (int s = 0; s < meta->split_count; s++) {
        const leat_can_meta_split *split = &meta->splits[s];
        for (int i = 0; i < split->balance_count; i++) {
            cache->attacks[count++] = (leat_can_attack_count){.name = split->balance[i].attack,
                                                              .graphs = split->balance[i].windows};
        }
    }
    return LEAT_OK;
}

static leat_code fill(leat_can_cache *cache, const char *path, leat_error *err) {
    LEAT_TRY(leat_can_cache_find(path, false, cache->path, err));
    LEAT_TRY(leat_can_meta_load(&cache->meta, cache->path, false, err));
    LEAT_TRY(list_attacks(cache, err));
    return LEAT_NEW(&cache->files, cache->meta.split_count, err);
}

leat_code leat_can_cache_open(leat_can_cache **out, const char *path, leat_error *err) {
    leat_can_cache *cache = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&cache, 1, err));
    pthread_mutex_init(&cache->lock, NULL);
    cache->process = getpid();
    leat_code code = fill(cache, path, err);
    if (code != LEAT_OK) {
        leat_can_cache_close(cache);
        return code;
    }
    *out = cache;
    return LEAT_OK;
}

void leat_can_cache_close(leat_can_cache *cache) {
    if (cache == NULL) return;
    for (int i = 0; cache->files != NULL && i < cache->meta.split_count; i++) {
        leat_graph_file_close(atomic_load(&cache->files[i]));
    }
    leat_free((void *)cache->files);
    leat_free(cache->attacks);
    leat_can_meta_free(&cache->meta);
    pthread_mutex_destroy(&cache->lock);
    leat_free(cache);
}

leat_code leat_can_cache_check_process(const leat_can_cache *cache, leat_error *err) {
    if (cache->process == getpid()) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "the cache was opened before fork, by process %lld, whose threads may have "
                     "been using it; open it in the child",
                     (long long)cache->process);
}

/* ---- what its JSON says -------------------------------------------------------------------------
 */

void leat_can_cache_get_facts(const leat_can_cache *cache, leat_can_facts *facts) {
    const leat_can_meta *meta = &cache->meta;
    *facts = (leat_can_facts){
        .path = cache->path,
        .fingerprint = meta->digest,
        .dataset = meta->dataset,
        .preset = meta->preset,
        .built_at = meta->built_at,
        .window = meta->window,
        .stride = meta->stride,
        .frames = meta->frames,
        .split_count = meta->split_count,
        .vocab_count = meta->ids.known,
        .id_count = meta->ids.count,
        .capture_count = meta->capture_count,
        .windows_dropped = meta->windows_dropped,
    };
}

const char *leat_can_cache_setting(const leat_can_cache *cache, const char *name) {
    return leat_can_meta_get(&cache->meta, name);
}

const char *leat_can_cache_warning(const leat_can_cache *cache) { return cache->meta.warning; }

int64_t leat_can_cache_frames_cut(const leat_can_cache *cache) { return cache->meta.frames_cut; }

const char *leat_can_cache_setting_name(const leat_can_cache *cache, int index) {
    const leat_can_meta *meta = &cache->meta;
    return index >= 0 && index < meta->setting_count ? meta->settings[index].name : NULL;
}

const char *leat_can_cache_identifier(const leat_can_cache *cache, int64_t index) {
    const leat_can_ids *ids = &cache->meta.ids;
    return index >= 0 && index < ids->count ? ids->text[index] : NULL;
}

const leat_can_scaler_values *leat_can_cache_scaler(const leat_can_cache *cache) {
    return &cache->meta.scaler;
}

void leat_can_cache_get_scaler(const leat_can_cache *cache, leat_can_scaler_facts *out) {
    const leat_can_scaler_values *values = &cache->meta.scaler;
    _Static_assert(sizeof out->x_center == sizeof values->x_center, "as many columns");
    _Static_assert(sizeof out->edge_center == sizeof values->edge_center, "as many columns");
    *out = (leat_can_scaler_facts){.strategy = cache->meta.scaler_strategy};
    memcpy(out->x_center, values->x_center, sizeof out->x_center);
    memcpy(out->x_scale, values->x_scale, sizeof out->x_scale);
    memcpy(out->edge_center, values->edge_center, sizeof out->edge_center);
    memcpy(out->edge_scale, values->edge_scale, sizeof out->edge_scale);
}

static leat_can_sizes_facts sizes_of(const leat_can_sizes *sizes) {
    return (leat_can_sizes_facts){sizes->min, sizes->max, sizes->mean, sizes->p95, sizes->p99};
}

leat_code leat_can_cache_get_split(const leat_can_cache *cache, int index, leat_can_split *out,
                                   leat_error *err) {
    const leat_can_meta *meta = &cache->meta;
    int first_attack = 0;
    *out = (leat_can_split){0};
    if (index < 0 || index >= meta->split_count)
        return leat_fail(err, LEAT_ERR_OPTION, "no split %d: the cache has %d", index,
                         meta->split_count);
    const leat_can_meta_split *split = &meta->splits[index];
    for (int s = 0; s < index; s++) first_attack += meta->splits[s].balance_count;
    *out = (leat_can_split){
        .name = split->name,
        .graph_count = split->graphs,
        .node_count = split->nodes,
        .edge_count = split->edges,
        .nodes = sizes_of(&split->node_count),
        .edges = sizes_of(&split->edge_count),
        .frames = split->raw_samples,
        .file_bytes = split->file_bytes,
        .attacks = cache->attacks + first_attack,
        .attack_count = split->balance_count,
    };
    return LEAT_OK;
}

leat_code leat_can_cache_get_capture(const leat_can_cache *cache, int64_t index,
                                     leat_can_capture_facts *out, leat_error *err) {
    const leat_can_meta *meta = &cache->meta;
    *out = (leat_can_capture_facts){0};
    if (index < 0 || index >= meta->capture_count)
        return leat_fail(err, LEAT_ERR_OPTION, "no capture %lld: the cache has %lld",
                         (long long)index, (long long)meta->capture_count);
    const leat_can_meta_capture *capture = &meta->captures[index];
    *out = (leat_can_capture_facts){
        .file = capture->file,
        .folder = capture->folder,
        .split = capture->split,
        .bus = capture->bus,
        .vehicle = capture->vehicle,
        .frames = capture->frames,
        .windows = capture->windows,
        .tail = capture->tail,
        .between = capture->between,
        .dropped = capture->dropped,
        .rejected = capture->rejected,
        .first_s = capture->first_s,
        .last_s = capture->last_s,
        .recording = capture->recording,
    };
    return LEAT_OK;
}

/* ---- splits -------------------------------------------------------------------------------------
 */

static leat_code refuse_split(const leat_can_cache *cache, const char *name, leat_error *err) {
    char list[320];
    int size = 0;
    for (int i = 0; i < cache->meta.split_count && size < (int)sizeof list; i++) {
        size += snprintf(list + size, sizeof list - (size_t)size, "%s%s", i == 0 ? "" : ", ",
                         cache->meta.splits[i].name);
    }
    return leat_fail(err, LEAT_ERR_OPTION, "the cache has no split \"%.60s\"; it has %s%s", name,
                     list, size < (int)sizeof list ? "" : "...");
}

leat_code leat_can_cache_find_split(const leat_can_cache *cache, const char *name,
                                    leat_can_split *out, leat_error *err) {
    const leat_can_meta_split *found = leat_can_meta_find_split(&cache->meta, name);
    *out = (leat_can_split){0};
    if (found == NULL) return refuse_split(cache, name, err);
    return leat_can_cache_get_split(cache, (int)(found - cache->meta.splits), out, err);
}

/* How graphs are made from stored frames; not needed where features are stored. */
static leat_code graph_options(const leat_can_cache *cache, leat_graph_options *out,
                               leat_error *err) {
    const char *step = leat_can_meta_get(&cache->meta, "edge-step");
    const char *loops = leat_can_meta_get(&cache->meta, "self-loops");
    *out = (leat_graph_options){0};
    if (!cache->meta.frames) return LEAT_OK;
    bool own = step != NULL && strcmp(step, "own") == 0;
    bool ignore = loops != NULL && strcmp(loops, "ignore") == 0;
    if (step == NULL || loops == NULL || (!own && strcmp(step, "previous") != 0) ||
        (!ignore && strcmp(loops, "count") != 0)) {
        return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                         "\"%s\" stores frames, but with edge-step \"%s\" and self-loops \"%s\", "
                         "which this version of leat does not support",
                         cache->path, step == NULL ? "" : step, loops == NULL ? "" : loops);
    }
    out->edge_step = own ? LEAT_EDGE_STEP_OWN : LEAT_EDGE_STEP_PREVIOUS;
    out->self_loops = ignore ? LEAT_SELF_LOOPS_IGNORE : LEAT_SELF_LOOPS_COUNT;
    return LEAT_OK;
}

static leat_code open_file(const leat_can_cache *cache, const leat_can_meta_split *split,
                           leat_graph_file **out, leat_error *err) {
    char path[LEAT_PATH_BYTES], pages[LEAT_PATH_BYTES];
    char name[LEAT_CAN_NAME_BYTES + sizeof LEAT_CAN_TENSORS_SUFFIX];
    leat_graph_file_facts facts = {
        .path = path, .pages_path = pages, .meta = &cache->meta, .split = split};
    snprintf(name, sizeof name, "%s" LEAT_CAN_TENSORS_SUFFIX, split->name);
    LEAT_TRY(leat_path_join(path, sizeof path, cache->path, name, err));
    snprintf(name, sizeof name, "%s" LEAT_CAN_PAGES_SUFFIX, split->name);
    LEAT_TRY(leat_path_join(pages, sizeof pages, cache->path, name, err));
    LEAT_TRY(graph_options(cache, &facts.options, err));
    return leat_graph_file_open(out, &facts, err);
}

leat_code leat_can_cache_file(const leat_can_cache *cache, const char *split,
                              const leat_graph_file **out, leat_error *err) {
    leat_can_cache *ours = (leat_can_cache *)(uintptr_t)cache; /* for lock and files */
    const leat_can_meta_split *found = leat_can_meta_find_split(&cache->meta, split);
    leat_code code = LEAT_OK;
    *out = NULL;
    if (found == NULL) return refuse_split(cache, split, err);
    _Atomic(leat_graph_file *) *place = &ours->files[found - cache->meta.splits];
    leat_graph_file *file = atomic_load_explicit(place, memory_order_acquire);
    if (file == NULL) {
        pthread_mutex_lock(&ours->lock);
        file = atomic_load_explicit(place, memory_order_relaxed);
        if (file == NULL) code = open_file(cache, found, &file, err);
        if (code == LEAT_OK) atomic_store_explicit(place, file, memory_order_release);
        pthread_mutex_unlock(&ours->lock);
    }
    *out = file;
    return code;
}

leat_code leat_can_cache_get_classes(const leat_can_cache *cache, const char *split,
                                     leat_can_classes *out, leat_error *err) {
    const leat_graph_file *file = NULL;
    *out = (leat_can_classes){0};
    LEAT_TRY(leat_can_cache_check_process(cache, err));
    LEAT_TRY(leat_can_cache_file(cache, split, &file, err));
    for (int64_t g = 0; g < file->shape.graphs; g++) {
        bool labelled = file->y[g] >= 0 && file->y[g] < LEAT_CAN_CLASSES;
        if (labelled) out->graphs[file->y[g]]++;
        else out->unlabelled++;
    }
    int classes = 0;
    for (int c = 0; c < LEAT_CAN_CLASSES; c++) classes += out->graphs[c] > 0;
    double all = (double)(file->shape.graphs - out->unlabelled);
    for (int c = 0; c < LEAT_CAN_CLASSES; c++) {
        if (out->graphs[c] > 0) out->weight[c] = all / (classes * (double)out->graphs[c]);
    }
    return LEAT_OK;
}
