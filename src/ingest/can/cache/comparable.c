/* Whether the identifiers of tests are those of training: see comparable.h. */
#include "ingest/can/cache/comparable.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Hardly any: less than one in so many. Identifiers that are looked up in other notations. */
enum { HARDLY = 10, LOOKED_UP = 64 };

/* Frames and identifiers of a test, of each stream, and those in the vocabulary. */
typedef struct shares {
    int64_t frames, known_frames, ids, known_ids;
    const leat_can_stream *largest;
} shares;

static shares shares_of(const leat_can_plan *plan, int split, int64_t known) {
    shares found = {0};
    for (int32_t i = 0; i < plan->stream_count; i++) {
        const leat_can_stream *stream = &plan->streams[i];
        if (stream->split != split) continue;
        if (found.largest == NULL || stream->frames > found.largest->frames) found.largest = stream;
        for (int64_t k = 0; k < stream->interval_count; k++) {
            const leat_can_interval *id = &stream->intervals[k];
            bool is_known = id->id < known;
            found.frames += id->frames;
            found.ids++;
            found.known_frames += is_known ? id->frames : 0;
            found.known_ids += is_known;
        }
    }
    return found;
}

/* A name without its bus; and also without zeros before it. */
static const char *bare(const char *name, bool zeros) {
    const char *colon = strchr(name, ':');
    const char *at = colon != NULL ? colon + 1 : name;
    while (zeros && at[0] == '0' && at[1] != 0) at++;
    return at;
}

static bool same_letters(const char *a, const char *b) {
    while (*a != 0 && tolower((unsigned char)*a) == tolower((unsigned char)*b)) a++, b++;
    return *a == *b;
}

/* How an identifier of training has the same digits: with another bus, or otherwise written. */
typedef enum likeness { UNLIKE, OTHER_BUS, OTHER_DIGITS } likeness;

/* Eight digits are those of another identifier, of 29 bits. */
static bool is_long(const char *name) { return strlen(bare(name, false)) == 8; }

static likeness likeness_of(const leat_can_names *names, const char *name) {
    likeness found = UNLIKE;
    for (int64_t i = 0; i < names->known; i++) {
        const char *known = names->name[i];
        if (strcmp(bare(known, false), bare(name, false)) == 0) return OTHER_BUS;
        if (same_letters(bare(known, true), bare(name, true)) && is_long(known) == is_long(name))
            found = OTHER_DIGITS;
    }
    return found;
}

/* What most of the unknown identifiers of a stream are like, and the most frequent of them. */
static likeness compare(const leat_can_stream *stream, const leat_can_names *names,
                        const char **example) {
    int64_t count[3] = {0}, looked_up = 0, frames = -1;
    for (int64_t k = 0; k < stream->interval_count; k++) {
        const leat_can_interval *id = &stream->intervals[k];
        if (id->id < names->known) continue;
        if (id->frames > frames) *example = names->name[id->id];
        if (id->frames > frames) frames = id->frames;
        if (looked_up++ < LOOKED_UP) count[likeness_of(names, names->name[id->id])]++;
    }
    if (count[OTHER_BUS] > count[UNLIKE] + count[OTHER_DIGITS]) return OTHER_BUS;
    return count[OTHER_DIGITS] > count[UNLIKE] + count[OTHER_BUS] ? OTHER_DIGITS : UNLIKE;
}

/* The identifier of training that has the same digits; any other if there is none. */
static const char *counterpart(const leat_can_names *names, const char *name) {
    for (int64_t i = 0; i < names->known; i++) {
        if (same_letters(bare(names->name[i], true), bare(name, true))) return names->name[i];
    }
    return names->name[0];
}

static const char *remedy(likeness like, const leat_can_settings *settings, bool fixed) {
    bool written = settings->identifiers == LEAT_IDS_WRITTEN;
    if (fixed && like == OTHER_BUS && settings->bus == LEAT_BUS_SEPARATE)
        return "use --bus merge for both caches to have identifiers without their bus";
    if (fixed && like == OTHER_DIGITS && written)
        return "use --identifiers canonical for both caches to have the same digits";
    if (like == OTHER_BUS && settings->bus == LEAT_BUS_SEPARATE)
        return "use --bus merge to have identifiers without their bus";
    if (like == OTHER_DIGITS && written)
        return "use --identifiers canonical to have all of them with the same digits";
    return "they may be of another vehicle, or one of the logs has decimal ones (--column "
           "id=NAME:dec)";
}

void leat_can_comparable_warn(const leat_can_plan *plan, const leat_can_splits *splits,
                              const leat_can_names *names, bool fixed, char *warning,
                              size_t warning_bytes) {
    for (int split = fixed ? 0 : 1; split < splits->count && names->known > 0; split++) {
        const shares found = shares_of(plan, split, names->known);
        size_t used = strlen(warning);
        if (found.frames == 0 || HARDLY * found.known_frames >= found.frames ||
            HARDLY * found.known_ids >= found.ids)
            continue;
        const char *example = "";
        likeness like = compare(found.largest, names, &example);
        snprintf(warning + used, warning_bytes - used,
                 "%s%.80s: %lld of its %lld identifiers are in the vocabulary, which has \"%s\" "
                 "where %s \"%s\"; %s",
                 used > 0 ? "; " : "", splits->name[split], (long long)found.known_ids,
                 (long long)found.ids, counterpart(names, example),
                 split == 0 ? "these logs have" : "this test has", example,
                 remedy(like, plan->settings, fixed));
    }
}
