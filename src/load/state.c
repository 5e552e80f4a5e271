/* Writes and reads the state of a loader: see state.h. */
#include "load/state.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"

#define STATE_VERSION 1
#define STATE_BYTES_MAX (INT64_C(1) << 20)

leat_code leat_state_words(leat_json *json, char **words, char hash[17], leat_error *err) {
    const char *text = NULL;
    int64_t size_bytes = 0;
    char hex[65];
    hash[0] = 0;
    LEAT_TRY(leat_json_finish(json, &text, &size_bytes, err));
    LEAT_TRY(leat_strdup(words, text, err));
    (*words)[size_bytes - 1] = 0; /* without the newline */
    leat_sha256_hex_of(*words, size_bytes - 1, hex);
    snprintf(hash, 17, "%.16s", hex);
    return LEAT_OK;
}

void leat_state_text(const leat_state_form *form, const int64_t *place,
                     char text[LEAT_LOADER_STATE_BYTES]) {
    int size = snprintf(text, LEAT_LOADER_STATE_BYTES,
                        "{\"v\":%d,\"data\":\"%s\",\"options\":\"%s\",\"seed\":%lld", STATE_VERSION,
                        form->fingerprint, form->hash, (long long)form->seed);
    for (int i = 0; i < form->place_count && size < LEAT_LOADER_STATE_BYTES; i++) {
        size += snprintf(text + size, (size_t)(LEAT_LOADER_STATE_BYTES - size), ",\"%s\":%lld",
                         form->place_name[i], (long long)place[i]);
    }
    LEAT_ASSERT(size + 1 < LEAT_LOADER_STATE_BYTES);
    memcpy(text + size, "}", 2);
}

leat_code leat_state_save(const leat_state_form *form, const int64_t *place, const char *path,
                          bool replace, leat_error *err) {
    char text[LEAT_LOADER_STATE_BYTES];
    leat_buf buf = {0};
    leat_state_text(form, place, text);
    text[strlen(text) - 1] = 0; /* continued below */
    leat_code code = leat_buf_printf(&buf, err, LEAT_MARK_STATE_BEGINS "%s,\"in_words\":%s}\n",
                                     text + 1, form->words);
    if (code == LEAT_OK)
        code = leat_file_save_output(path, buf.data, buf.size, LEAT_MARK_STATE, replace, err);
    leat_buf_free(&buf);
    return code;
}

/* ---- read ---------------------------------------------------------------------------------------
 */

static leat_code refuse(const char *what, const char *why, leat_error *err) {
    return leat_fail(err, LEAT_ERR_INPUT, "cannot resume: %s: %s", what, why);
}

/* "sampler, length, ...": the options that the hash covers. */
static leat_code list_names(const leat_state_form *form, char *names, int64_t room,
                            leat_error *err) {
    json_t *now = NULL, *value = NULL;
    const char *key = NULL;
    int64_t used = 0;
    LEAT_TRY(leat_json_parse(form->words, (int64_t)strlen(form->words), "options", &now, err));
    json_object_foreach(now, key, value) {
        used += snprintf(names + used, (size_t)(room - used), "%s%s", used > 0 ? ", " : "", key);
        if (used >= room) break;
    }
    for (const char *const *name = form->unlisted; *name != NULL && used < room; name++) {
        if (json_object_get(now, *name) == NULL)
            used += snprintf(names + used, (size_t)(room - used), ", %s", *name);
    }
    json_decref(now);
    return LEAT_OK;
}

/* A hash does not tell which option differs. */
static leat_code refuse_hash(const leat_state_form *form, const char *hash, leat_error *err) {
    char why[LEAT_MESSAGE_BYTES], names[256];
    LEAT_TRY(list_names(form, names, sizeof names, err));
    snprintf(why, sizeof why,
             "the state has hash %.16s, but this loader has %s; use the options with which the "
             "state was saved. This state does not list them; a file written by save or "
             "--save-state does, and load names the one that differs. The hash covers %s",
             hash, form->hash, names);
    return refuse("options", why, err);
}

/* Names the first option that differs, if the state lists options. */
static leat_code refuse_options(const leat_state_form *form, const json_t *then, const char *hash,
                                leat_error *err) {
    char why[360];
    json_t *now = NULL;
    const char *key = NULL;
    json_t *value = NULL;
    if (!json_is_object(then)) return refuse_hash(form, hash, err);
    LEAT_TRY(leat_json_parse(form->words, (int64_t)strlen(form->words), "options", &now, err));
    for (int side = 0; side < 2; side++) {
        json_t *here = side == 0 ? now : (json_t *)(uintptr_t)then;
        const json_t *there = side == 0 ? then : now;
        json_object_foreach(here, key, value) {
            const json_t *other = json_object_get(there, key);
            if (json_equal(value, other)) continue;
            const json_t *was = side == 0 ? other : value, *is = side == 0 ? value : other;
            snprintf(why, sizeof why,
                     "%.60s was %.80s when the state was saved and is %.80s now; use the options "
                     "with which it was saved",
                     key, json_is_string(was) ? json_string_value(was) : "not there",
                     json_is_string(is) ? json_string_value(is) : "not there");
            side = 2;
            break;
        }
    }
    json_decref(now);
    return refuse("options", why, err);
}

static leat_code read_state(const leat_state_form *form, const json_t *state, int64_t *place,
                            leat_error *err) {
    static const char what[] = "loader state";
    const char *data = NULL, *options = NULL;
    int64_t version = 0, seed = 0;
    char why[400];
    LEAT_TRY(leat_json_get_int(state, "v", 0, INT64_MAX, &version, what, err));
    if (version != STATE_VERSION) {
        snprintf(why, sizeof why,
                 "the state is of version %lld, but this version of leat reads version %d",
                 (long long)version, STATE_VERSION);
        return refuse("version", why, err);
    }
    LEAT_TRY(leat_json_get_string(state, "data", &data, what, err));
    LEAT_TRY(leat_json_get_string(state, "options", &options, what, err));
    LEAT_TRY(leat_json_get_int(state, "seed", 0, INT64_MAX, &seed, what, err));
    for (int i = 0; i < form->place_count; i++) {
        bool rules = form->rules_name == form->place_name[i];
        if (rules) place[i] = 1;
        if (rules && json_object_get(state, form->rules_name) == NULL) continue;
        LEAT_TRY(leat_json_get_int(state, form->place_name[i], 0, form->place_max, &place[i], what,
                                   err));
    }
    if (strcmp(data, form->fingerprint) != 0) {
        snprintf(
            why, sizeof why,
            "the state was saved with a data set of fingerprint %.64s, but this one has %.64s; "
            "use that data set, or start without the state",
            data, form->fingerprint);
        return refuse("data", why, err);
    }
    if (strcmp(options, form->hash) != 0)
        return refuse_options(form, json_object_get(state, "in_words"), options, err);
    if ((uint64_t)seed != form->seed) {
        snprintf(why, sizeof why,
                 "the state was saved with seed %lld, but this loader has %lld; use seed %lld",
                 (long long)seed, (long long)form->seed, (long long)seed);
        return refuse("seed", why, err);
    }
    return LEAT_OK;
}

leat_code leat_state_parse(const leat_state_form *form, const char *text, int64_t size_bytes,
                           int64_t *place, leat_error *err) {
    json_t *state = NULL;
    leat_code code = leat_json_parse(text, size_bytes, "loader state", &state, err);
    if (code == LEAT_OK && !json_is_object(state))
        code = leat_fail(err, LEAT_ERR_INPUT, "loader state: must be a JSON object");
    if (code == LEAT_OK) code = read_state(form, state, place, err);
    json_decref(state);
    if (code == LEAT_ERR_CORRUPT) { /* the JSON reader's code; no data is damaged */
        leat_error_context(err, LEAT_ERR_INPUT, "cannot resume");
        code = LEAT_ERR_INPUT;
    }
    return code;
}

leat_code leat_state_load(const leat_state_form *form, const char *path, int64_t *place,
                          leat_error *err) {
    uint8_t *text = NULL;
    int64_t size_bytes = 0;
    LEAT_TRY(leat_file_load(path, STATE_BYTES_MAX, &text, &size_bytes, err));
    leat_code code = leat_state_parse(form, (const char *)text, size_bytes, place, err);
    leat_free(text);
    return code == LEAT_OK ? code : leat_error_context(err, code, "\"%s\"", path);
}
