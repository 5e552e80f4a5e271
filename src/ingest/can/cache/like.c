/* Vocabulary and scaler of an existing cache: see like.h. */
#include "ingest/can/cache/like.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/can/cache/settings.h"

/* ---- settings that have to be the same ------------------------------------------------------- */

/* The size of windows is that of counts and degrees in them. */
static const char *const decisive[] = {"window",     "identifiers", "edge-step",
                                       "self-loops", "vocab",       "scaler"};
enum { DECISIVE = sizeof decisive / sizeof *decisive };

static void add_option(char *text, size_t text_bytes, const char *name, const char *value) {
    const size_t used = strlen(text);
    snprintf(text + used, text_bytes - used, "%s--%s %.40s", used > 0 ? " " : "", name, value);
}

static bool is_merge(const char *bus) { return strcmp(bus, "merge") == 0; }

/* "1:0F5": all names are so, or none, since canonical ones have no colon. */
static bool has_bus(const leat_can_ids *ids) {
    for (int64_t i = 0; i < ids->count; i++) {
        const size_t digits = strspn(ids->text[i], "0123456789");
        if (digits == 0 || ids->text[i][digits] != ':') return false;
    }
    return ids->count > 0;
}

/* Names begin with their bus only in a cache of several that are separate. */
static bool separates_buses(const leat_can_meta *meta) {
    return strcmp(leat_can_meta_get(meta, "bus"), "separate") == 0 && has_bus(&meta->ids);
}

void leat_can_like_advise_bus(const char *bus, char out[LEAT_CAN_LIKE_BUS_BYTES]) {
    const bool one = bus[0] != 0 && bus[strspn(bus, "0123456789")] == 0;
    snprintf(out, LEAT_CAN_LIKE_BUS_BYTES, "--bus %.15s%s", one ? bus : "N",
             one ? "" : " for the one that the cache is of");
}

/* Buses are one sequence of frames in both, or in neither. */
static leat_code check_settings(const leat_can_meta *meta, const leat_can_ingest_options *options,
                                leat_error *err) {
    const leat_setting_table *table = leat_can_settings_table();
    char use[400] = "", bytes[LEAT_SETTING_BYTES], one[LEAT_CAN_LIKE_BUS_BYTES], more[128] = "";
    for (int i = 0; i < DECISIVE + 1; i++) {
        const char *name = i < DECISIVE ? decisive[i] : "bus";
        const char *was = leat_can_meta_get(meta, name);
        const char *is = leat_settings_get(table, &options->settings, name, bytes);
        if (was == NULL)
            return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                             "--like: \"%s\" does not say with which --%s it was made; ingest its "
                             "logs again",
                             options->like, name);
        const bool same = i < DECISIVE ? strcmp(was, is) == 0 : is_merge(was) == is_merge(is);
        if (!same) add_option(use, sizeof use, name, was);
    }
    if (use[0] == 0) return LEAT_OK;
    /* what would be refused next, once the logs are read */
    leat_can_like_advise_bus(leat_can_meta_get(meta, "bus"), one);
    const char *bus = strstr(use, "--bus ");
    const bool separate = bus != NULL ? strcmp(bus, "--bus separate") == 0
                                      : options->settings.bus == LEAT_BUS_SEPARATE;
    if (separate && !separates_buses(meta))
        snprintf(more, sizeof more, " (if these logs have several buses, with %s)", one);
    return leat_fail(err, LEAT_ERR_OPTION,
                     "--like: the identifiers and features of \"%s\" were made with other "
                     "settings; use %s%s, or ingest its logs again with these",
                     options->like, use, more);
}

/* ---- the cache ------------------------------------------------------------------------------- */

static leat_code take(leat_can_like *like, const leat_can_meta *meta, leat_error *err) {
    LEAT_TRY(LEAT_NEW(&like->name, meta->ids.known, err));
    for (int64_t i = 0; i < meta->ids.known; i++)
        memcpy(like->name[i], meta->ids.text[i], sizeof *like->name);
    like->count = meta->ids.known;
    like->has_bus = separates_buses(meta);
    snprintf(like->bus, sizeof like->bus, "%s", leat_can_meta_get(meta, "bus"));
    memcpy(like->digest, meta->digest, sizeof like->digest);
    memcpy(like->strategy, meta->scaler_strategy, sizeof like->strategy);
    like->scaler = meta->scaler;
    return LEAT_OK;
}

/* The complete caches in a folder, by name. */
static leat_code list_caches(const char *dir, leat_path_list *caches, leat_error *err) {
    leat_path_list names = {0};
    leat_code code = leat_path_list_dir(dir, &names, err);
    for (int64_t i = 0; i < names.count && code == LEAT_OK; i++) {
        char path[LEAT_PATH_BYTES];
        leat_output found = {0};
        if (names.paths[i][0] == '.') continue; /* a work folder */
        code = leat_path_join(path, sizeof path, dir, names.paths[i], err);
        if (code == LEAT_OK) code = leat_output_of(path, &found, err);
        if (code == LEAT_OK && found.kind == LEAT_OUTPUT_CAN && found.complete)
            code = leat_path_list_add(caches, names.paths[i], err);
    }
    leat_path_list_free(&names);
    return code;
}

/* The only cache in a folder, as other commands take it. */
static leat_code find_only(const char *dir, char path[LEAT_PATH_BYTES], leat_error *err) {
    leat_path_list caches = {0};
    leat_code code = list_caches(dir, &caches, err);
    if (code == LEAT_OK && caches.count == 1)
        code = leat_path_join(path, LEAT_PATH_BYTES, dir, caches.paths[0], err);
    else if (code == LEAT_OK)
        code = leat_fail(err, LEAT_ERR_NOT_FOUND,
                         "--like: \"%.300s\" holds %lld complete caches; give the path of one%s%s",
                         dir, (long long)caches.count, caches.count > 0 ? ", such as " : "",
                         caches.count > 0 ? caches.paths[0] : "");
    leat_path_list_free(&caches);
    return code;
}

/* The path of the cache: a folder that is not one may hold one, or be another output. */
static leat_code find_cache(const char *given, char path[LEAT_PATH_BYTES], leat_error *err) {
    leat_output found;
    LEAT_TRY(leat_output_look(given, &found, err));
    const bool can = found.kind == LEAT_OUTPUT_CAN;
    if (can && !found.itself) return find_only(given, path, err);
    if (can) {
        snprintf(path, LEAT_PATH_BYTES, "%s", given); /* which was looked at, so it fits */
        return LEAT_OK;
    }
    if (found.kind != LEAT_OUTPUT_NONE)
        return leat_fail(err, LEAT_ERR_NOT_FOUND,
                         "--like: \"%s\" is an output of `%s`, not a cache of `leat ingest can`",
                         given, leat_output_command(found.kind));
    return leat_fail(err, LEAT_ERR_NOT_FOUND,
                     "--like: \"%s\" is not a cache of `leat ingest can`; give the path of one",
                     given);
}

leat_code leat_can_like_load(leat_can_like *like, const leat_can_ingest_options *options,
                             leat_error *err) {
    leat_can_meta *meta = NULL;
    char path[LEAT_PATH_BYTES];
    *like = (leat_can_like){0};
    if (options->like == NULL) return LEAT_OK;
    LEAT_TRY(find_cache(options->like, path, err));
    LEAT_TRY(LEAT_NEW(&meta, 1, err));
    leat_code code = leat_can_meta_load(meta, path, false, err);
    if (code != LEAT_OK) {
        leat_free(meta);
        return leat_error_context(err, code, "--like");
    }
    code = check_settings(meta, options, err);
    if (code == LEAT_OK) code = take(like, meta, err);
    leat_can_meta_free(meta);
    leat_free(meta);
    if (code != LEAT_OK) leat_can_like_free(like);
    return code;
}

static int compare_names(const void *a, const void *b) { return strcmp(a, b); }

int64_t leat_can_like_find(const leat_can_like *like, const char *name) {
    const char(*found)[LEAT_CAN_ID_TEXT_BYTES] = NULL;
    if (like->count > 0)
        found = bsearch(name, like->name, (size_t)like->count, sizeof *like->name, compare_names);
    return found == NULL ? -1 : found - (const char(*)[LEAT_CAN_ID_TEXT_BYTES])like->name;
}

void leat_can_like_free(leat_can_like *like) {
    leat_free(like->name);
    *like = (leat_can_like){0};
}
