/*
 * The state of a loader: where it is, as JSON of one constant form.
 *
 *     {"v":1,"data":"<fingerprint>","options":"<hash>","seed":7,"step":123}
 *
 * A pure function of data, options, seed and place: independent of hosts, threads and what was read
 * ahead. As a file it also lists the options, so that an error can name the one that differs.
 */
#ifndef LEAT_LOAD_STATE_H
#define LEAT_LOAD_STATE_H

#include "base/json.h"
#include "leat/load.h"

#define LEAT_STATE_PLACES_MAX 3

/* What a loader's states have in common. */
typedef struct leat_state_form {
    const char *fingerprint; /* of the data */
    const char *words;       /* the options that decide bytes, as JSON */
    const char *hash;        /* of the words */
    /* [..., NULL] Options that the words list only where they are not the defaults. */
    const char *const *unlisted;
    uint64_t seed; /* below 2^63 */
    int place_count;
    const char *place_name[LEAT_STATE_PLACES_MAX]; /* "step" */
    int64_t place_max;
    const char *rules_name; /* of the last place, which is the number of the rules by which the data
                               are ordered; older states do not have it: 1. NULL: there is none */
} leat_state_form;

/* Ends the JSON document of the options that decide bytes: its text, the caller's, and the hash of
 * it. */
LEAT_MUST_CHECK leat_code leat_state_words(leat_json *json, char **words, char hash[17],
                                           leat_error *err);

void leat_state_text(const leat_state_form *form, const int64_t *place,
                     char text[LEAT_LOADER_STATE_BYTES]);
/* Parses the place in a state; LEAT_ERR_INPUT names what differs. */
LEAT_MUST_CHECK leat_code leat_state_parse(const leat_state_form *form, const char *text,
                                           int64_t size_bytes, int64_t *place, leat_error *err);
/* Replaces what leat_text_save would. */
LEAT_MUST_CHECK leat_code leat_state_save(const leat_state_form *form, const int64_t *place,
                                          const char *path, bool replace, leat_error *err);
LEAT_MUST_CHECK leat_code leat_state_load(const leat_state_form *form, const char *path,
                                          int64_t *place, leat_error *err);

#endif
