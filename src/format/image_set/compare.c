/*
 * Image data sets compared by the hashes of their images: which are twice in one, and in what two
 * sets differ, in the words of somebody who has to repair one of them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/hash.h"
#include "format/image_set/image_set.h"

/* ---- sorting -------------------------------------------------------------------------------- */

static void sift(uint64_t *values, int64_t at, int64_t count) {
    const uint64_t value = values[at];
    for (int64_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && values[child + 1] > values[child]) child++;
        if (values[child] <= value) break;
        values[at] = values[child];
    }
    values[at] = value;
}

/* In place, because there may be many. */
static void sort(uint64_t *values, int64_t count) {
    for (int64_t i = count / 2 - 1; i >= 0; i--) sift(values, i, count);
    for (int64_t end = count - 1; end > 0; end--) {
        const uint64_t largest = values[0];
        values[0] = values[end];
        values[end] = largest;
        sift(values, 0, end);
    }
}

static bool has(const uint64_t *sorted, int64_t count, uint64_t value) {
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (sorted[middle] < value) low = middle + 1;
        else high = middle;
    }
    return low < count && sorted[low] == value;
}

static uint64_t hash_of(const leat_image_set *set, int64_t i) { return set->entries[i].decoded; }

/* Pixels of one colour are the same bytes in pictures of several sizes. */
static uint64_t key_of(const leat_image_set *set, int64_t i) {
    const leat_image_kept *it = &set->entries[i];
    const uint64_t all[] = {it->decoded, (uint64_t)it->width, (uint64_t)it->height};
    return leat_xxh3(all, sizeof all);
}

static leat_code sorted_of(const leat_image_set *set,
                           uint64_t (*of)(const leat_image_set *set, int64_t i), uint64_t **out,
                           leat_error *err) {
    LEAT_TRY(LEAT_NEW(out, set->count, err));
    for (int64_t i = 0; i < set->count; i++) (*out)[i] = of(set, i);
    sort(*out, set->count);
    return LEAT_OK;
}

leat_code leat_image_set_sorted_sha256(const leat_image_set *set, char digest[65],
                                       leat_error *err) {
    uint64_t *sorted = NULL;
    LEAT_TRY(sorted_of(set, hash_of, &sorted, err));
    leat_sha256_hex_of(sorted, set->count * (int64_t)sizeof *sorted, digest); /* little-endian */
    leat_free(sorted);
    return LEAT_OK;
}

leat_code leat_image_set_duplicates(const leat_image_set *set, int64_t *count, int64_t *first,
                                    int64_t *second, leat_error *err) {
    uint64_t *sorted = NULL;
    int64_t kinds = 0; /* that are there more than once */
    *count = 0;
    *first = *second = -1;
    LEAT_TRY(sorted_of(set, key_of, &sorted, err));
    for (int64_t i = 1; i < set->count; i++) {
        if (sorted[i] != sorted[i - 1]) continue;
        ++*count;
        if (kinds == 0 || sorted[kinds - 1] != sorted[i]) sorted[kinds++] = sorted[i];
    }
    for (int64_t i = 0; kinds > 0 && i < set->count && *second < 0; i++) {
        const uint64_t key = key_of(set, i);
        if (*first < 0 && has(sorted, kinds, key)) *first = i;
        else if (*first >= 0 && key == key_of(set, *first)) *second = i;
    }
    leat_free(sorted);
    return LEAT_OK;
}

/* ---- the difference ------------------------------------------------------------------------- */

#define NAMES_SHOWN 3

/* Images of one kind of difference. */
typedef struct kind {
    int64_t count;
    char names[NAMES_SHOWN][80];
} kind;

typedef struct difference {
    const leat_image_set *wanted, *mine;
    uint64_t *wanted_hashes, *my_hashes; /* sorted */
    kind missing, decoded, others, extra;
    bool renamed; /* or in another order */
} difference;

static void add(kind *to, const char *name) {
    if (to->count < NAMES_SHOWN)
        leat_text_show(to->names[to->count], sizeof to->names[0], name, (int64_t)strlen(name));
    to->count++;
}

static void compare_both(difference *self, const leat_image_entry *want,
                         const leat_image_entry *have) {
    if (want->decoded == have->decoded && want->width == have->width &&
        want->height == have->height)
        return;
    if (has(self->my_hashes, self->mine->count, want->decoded)) self->renamed = true;
    else if (want->width == have->width && want->height == have->height)
        add(&self->decoded, want->name);
    else add(&self->others, want->name);
}

/* Both are in the order of their names. */
static void compare(difference *self) {
    const leat_image_set *wanted = self->wanted, *mine = self->mine;
    for (int64_t i = 0, k = 0; i < wanted->count || k < mine->count;) {
        leat_image_entry want = {0}, have = {0};
        if (i < wanted->count) want = leat_image_set_entry(wanted, i);
        if (k < mine->count) have = leat_image_set_entry(mine, k);
        const int order = want.name == NULL   ? 1
                          : have.name == NULL ? -1
                                              : strcmp(want.name, have.name);
        if (order == 0) {
            compare_both(self, &want, &have);
        } else if (order < 0) {
            if (has(self->my_hashes, mine->count, want.decoded)) self->renamed = true;
            else add(&self->missing, want.name);
        } else if (has(self->wanted_hashes, wanted->count, have.decoded)) {
            self->renamed = true;
        } else {
            add(&self->extra, have.name);
        }
        i += order <= 0;
        k += order >= 0;
    }
}

static void put(char words[LEAT_IMAGES_DIFFERENCE_BYTES], const char *text) {
    const size_t used = strlen(words);
    snprintf(words + used, LEAT_IMAGES_DIFFERENCE_BYTES - used, "%s", text);
}

static void put_kind(char words[LEAT_IMAGES_DIFFERENCE_BYTES], const kind *it, const char *what) {
    char text[128];
    if (it->count == 0) return;
    snprintf(text, sizeof text, "%s%" PRId64 " %s: ", words[0] != 0 ? "; " : "", it->count, what);
    put(words, text);
    for (int64_t i = 0; i < it->count && i < NAMES_SHOWN; i++) {
        put(words, i > 0 ? ", " : "");
        put(words, it->names[i]);
    }
    snprintf(text, sizeof text, " and %" PRId64 " more", it->count - NAMES_SHOWN);
    if (it->count > NAMES_SHOWN) put(words, text);
}

static void say(const difference *self, char words[LEAT_IMAGES_DIFFERENCE_BYTES]) {
    char text[160];
    put_kind(words, &self->missing, "missing");
    put_kind(words, &self->decoded,
             "decoded differently, by another decoder or because the file is another");
    put_kind(words, &self->others, "of another size than the file of this name should have");
    put_kind(words, &self->extra, "that should not be there");
    if (words[0] != 0 || !self->renamed) return;
    if (self->wanted->count == self->mine->count &&
        memcmp(self->wanted_hashes, self->my_hashes,
               (size_t)self->mine->count * sizeof *self->my_hashes) == 0) {
        put(words, "the same pictures in another order, because files have other names");
        return;
    }
    snprintf(text, sizeof text,
             "the same pictures, but some another number of times: %" PRId64 " images instead of "
             "%" PRId64,
             self->mine->count, self->wanted->count);
    put(words, text);
}

/* The same pictures, of which the tensor holds other values. */
static void say_scaled(const leat_image_set *wanted, const leat_image_set *mine,
                       char words[LEAT_IMAGES_DIFFERENCE_BYTES]) {
    char text[160];
    if (wanted->size != mine->size) {
        snprintf(text, sizeof text, "the same pictures at %d x %d instead of %d x %d (--size)",
                 mine->size, mine->size, wanted->size, wanted->size);
        put(words, text);
    } else if (strcmp(wanted->background, mine->background) != 0) {
        snprintf(text, sizeof text, "the same pictures with --background %s instead of %s",
                 mine->background[0] != 0 ? mine->background : "drop",
                 wanted->background[0] != 0 ? wanted->background : "drop");
        put(words, text);
    } else if (strcmp(wanted->fingerprint, mine->fingerprint) != 0) {
        put(words, "the same pictures, but other values of their pixels after scaling");
    }
}

leat_code leat_image_set_difference(const leat_image_set *wanted, const leat_image_set *mine,
                                    bool *same, char words[LEAT_IMAGES_DIFFERENCE_BYTES],
                                    leat_error *err) {
    difference self = {.wanted = wanted, .mine = mine};
    words[0] = 0;
    *same = false;
    leat_code code = sorted_of(wanted, hash_of, &self.wanted_hashes, err);
    if (code == LEAT_OK) code = sorted_of(mine, hash_of, &self.my_hashes, err);
    if (code == LEAT_OK) {
        compare(&self);
        say(&self, words);
        if (words[0] == 0) say_scaled(wanted, mine, words);
        *same = words[0] == 0;
    }
    leat_free(self.wanted_hashes);
    leat_free(self.my_hashes);
    return code;
}
