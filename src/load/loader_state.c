/*
 * The state of a loader: where it is, as JSON of one constant form.
 *
 *     {"v":1,"data":"<fingerprint>","options":"<hash>","seed":7,"step":123}
 *
 * A pure function of data, options, seed and step: it does not know hosts, threads or what was read
 * ahead. leat_loader_save puts the options in words behind it, so that a refusal can name one.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "load/loader.h"

#define STATE_VERSION 1
#define STATE_BYTES_MAX (INT64_C(1) << 20)

void leat_loader_state(const leat_loader *loader, char text[LEAT_LOADER_STATE_BYTES]) {
    const leat_plan *plan = loader->plan;
    int size = snprintf(text, LEAT_LOADER_STATE_BYTES,
                        "{\"v\":%d,\"data\":\"%s\",\"options\":\"%s\",\"seed\":%lld,\"step\":%lld}",
                        STATE_VERSION, plan->fingerprint, plan->hash, (long long)plan->sample.seed,
                        (long long)leat_loader_step(loader));
    LEAT_ASSERT(size < LEAT_LOADER_STATE_BYTES);
}

leat_code leat_loader_save(const leat_loader *loader, const char *path, leat_error *err) {
    char text[LEAT_LOADER_STATE_BYTES];
    leat_buf buf = {0};
    leat_loader_state(loader, text);
    text[strlen(text) - 1] = 0; /* goes on */
    leat_code code = leat_buf_printf(&buf, err, "%s,\"in_words\":%s}\n", text, loader->plan->words);
    if (code == LEAT_OK) code = leat_file_save(path, buf.data, buf.size, err);
    leat_buf_free(&buf);
    return code;
}

/* ---- back again ---------------------------------------------------------------------------------
 */

static leat_code refuse(const char *what, const char *why, leat_error *err) {
    return leat_fail(err, LEAT_ERR_INPUT, "cannot resume: %s: %s", what, why);
}

/* Names the first option that differs, as far as the state tells. */
static leat_code refuse_options(const leat_plan *plan, const json_t *then, const char *hash,
                                leat_error *err) {
    char why[300];
    json_t *now = NULL;
    const char *key = NULL;
    json_t *value = NULL;
    snprintf(why, sizeof why,
             "those of the state (hash %.16s) are not those of this loader (hash %s); give the "
             "options that the state was made with",
             hash, plan->hash);
    if (!json_is_object(then)) return refuse("options", why, err);
    LEAT_TRY(leat_json_parse(plan->words, (int64_t)strlen(plan->words), "options", &now, err));
    for (int side = 0; side < 2; side++) {
        json_t *here = side == 0 ? now : (json_t *)(uintptr_t)then;
        const json_t *there = side == 0 ? then : now;
        json_object_foreach(here, key, value) {
            const json_t *other = json_object_get(there, key);
            if (json_equal(value, other)) continue;
            const json_t *was = side == 0 ? other : value, *is = side == 0 ? value : other;
            snprintf(why, sizeof why, "%.60s was %.80s when the state was made and is %.80s now",
                     key, json_is_string(was) ? json_string_value(was) : "not there",
                     json_is_string(is) ? json_string_value(is) : "not there");
            side = 2;
            break;
        }
    }
    json_decref(now);
    return refuse("options", why, err);
}

static leat_code read_state(const leat_plan *plan, const json_t *state, int64_t *step,
                            leat_error *err) {
    static const char what[] = "loader state";
    const char *data = NULL, *options = NULL;
    int64_t version = 0, seed = 0;
    char why[300];
    LEAT_TRY(leat_json_get_int(state, "v", 0, INT64_MAX, &version, what, err));
    if (version != STATE_VERSION) {
        snprintf(why, sizeof why, "the state is of version %lld, this leat reads version %d",
                 (long long)version, STATE_VERSION);
        return refuse("version", why, err);
    }
    LEAT_TRY(leat_json_get_string(state, "data", &data, what, err));
    LEAT_TRY(leat_json_get_string(state, "options", &options, what, err));
    LEAT_TRY(leat_json_get_int(state, "seed", 0, INT64_MAX, &seed, what, err));
    LEAT_TRY(leat_json_get_int(state, "step", 0, LEAT_STEPS_MAX, step, what, err));
    if (strcmp(data, plan->fingerprint) != 0) {
        snprintf(why, sizeof why,
                 "the state was made with a data set of fingerprint %.64s, this one has %s", data,
                 plan->fingerprint);
        return refuse("data", why, err);
    }
    if (strcmp(options, plan->hash) != 0)
        return refuse_options(plan, json_object_get(state, "in_words"), options, err);
    if ((uint64_t)seed != plan->sample.seed) {
        snprintf(why, sizeof why, "the state was made with seed %lld, this loader has %lld",
                 (long long)seed, (long long)plan->sample.seed);
        return refuse("seed", why, err);
    }
    return LEAT_OK;
}

static leat_code restore(leat_loader *loader, const char *text, int64_t size_bytes,
                         leat_error *err) {
    json_t *state = NULL;
    int64_t step = 0;
    LEAT_TRY(leat_loader_check_process(loader, err));
    leat_code code = leat_json_parse(text, size_bytes, "loader state", &state, err);
    if (code == LEAT_OK && !json_is_object(state))
        code = leat_fail(err, LEAT_ERR_INPUT, "loader state: must be a JSON object");
    if (code == LEAT_OK) code = read_state(loader->plan, state, &step, err);
    json_decref(state);
    if (code == LEAT_ERR_CORRUPT) { /* as the JSON reader says it; nobody's data is damaged */
        leat_error_context(err, LEAT_ERR_INPUT, "cannot resume");
        code = LEAT_ERR_INPUT;
    }
    return code == LEAT_OK ? leat_loader_seek(loader, step, err) : code;
}

leat_code leat_loader_restore(leat_loader *loader, const char *text, leat_error *err) {
    return restore(loader, text, (int64_t)strlen(text), err);
}

leat_code leat_loader_load(leat_loader *loader, const char *path, leat_error *err) {
    uint8_t *text = NULL;
    int64_t size_bytes = 0;
    LEAT_TRY(leat_file_load(path, STATE_BYTES_MAX, &text, &size_bytes, err));
    leat_code code = restore(loader, (const char *)text, size_bytes, err);
    leat_free(text);
    return code == LEAT_OK ? code : leat_error_context(err, code, "\"%s\"", path);
}
