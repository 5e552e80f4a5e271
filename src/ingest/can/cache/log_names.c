/*
 * What the names of a log and of its folder say: which attack it has or that it has none, and
 * whether it is for training or a test.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "ingest/can/cache/splits.h"
#include "ingest/can/read/attack_types.h"

/* ---- attacks by name ------------------------------------------------------------------------ */

size_t leat_can_stem_bytes(const char *name) {
    size_t size = strlen(name);
    if (leat_path_has_suffix_any_case(name, ".gz")) size -= 3;
    for (size_t dot = size; dot-- > 1;) {
        if (name[dot] == '.') return dot;
    }
    return size;
}

int leat_can_attack_code(const char *name, const char *folder, bool longer) {
    char text[2 * LEAT_PATH_BYTES];
    int size = snprintf(text, sizeof text, "%.*s %s", (int)leat_can_stem_bytes(name), name, folder);
    for (int i = 0; i < size && text[i] != 0; i++) text[i] = (char)tolower((unsigned char)text[i]);
    for (const leat_can_keyword *it = leat_can_keywords(longer); it->word != NULL; it++) {
        if (strstr(text, it->word) != NULL) return it->code;
    }
    return 0;
}

/* ---- logs without labels -------------------------------------------------------------------- */

/* Blanks, dashes and full stops are as good as underscores. */
static char folded(char c) {
    return c == '-' || c == ' ' || c == '.' ? '_' : (char)tolower((unsigned char)c);
}

typedef struct text_name {
    const char *text;
    size_t size;
} text_name;

static bool is_letter(text_name name, size_t at) {
    return at < name.size && isalpha((unsigned char)name.text[at]);
}

/* Whether one word ends before this place: also where capitals begin, as in "carNormal". */
static bool is_edge(text_name name, size_t at) {
    if (at == 0 || !is_letter(name, at - 1) || !is_letter(name, at)) return true;
    bool before = isupper((unsigned char)name.text[at - 1]) != 0;
    bool after = isupper((unsigned char)name.text[at]) != 0;
    bool next = is_letter(name, at + 1) && islower((unsigned char)name.text[at + 1]);
    return after && (!before || next);
}

static bool is_at(text_name name, size_t at, const char *word) {
    size_t length = strlen(word), i = 0;
    if (at + length > name.size) return false;
    while (i < length && folded(name.text[at + i]) == folded(word[i])) i++;
    return i == length;
}

static bool is_whole(text_name name, size_t at, const char *word) {
    return is_at(name, at, word) && is_edge(name, at) && is_edge(name, at + strlen(word));
}

static bool has_whole(text_name name, const char *word) {
    for (size_t at = 0; at < name.size; at++) {
        if (is_whole(name, at, word)) return true;
    }
    return false;
}

static bool has_part(text_name name, const char *part) {
    for (size_t at = 0; at < name.size; at++) {
        if (is_at(name, at, part)) return true;
    }
    return false;
}

static bool is_any(text_name name, size_t at, const char *const *words) {
    for (; *words != NULL; words++) {
        if (is_whole(name, at, *words)) return true;
    }
    return false;
}

static const char *const benign_words[] = {"normal",     "benign",     "attack_free",
                                           "attackfree", "AttackFree", NULL};
static const char *const no_words[] = {"no_", "non_", "without_", NULL};

/* "attack", but neither "attack_free" nor "no_attack". */
static bool has_attack(text_name name) {
    for (size_t at = 0; at < name.size; at++) {
        if (!is_at(name, at, "attack") || is_any(name, at, benign_words)) continue;
        bool denied = false;
        for (const char *const *no = no_words; *no != NULL; no++) {
            size_t size = strlen(*no);
            denied =
                denied || (at >= size && is_at(name, at - size, *no) && is_edge(name, at - size));
        }
        if (!denied) return true;
    }
    return false;
}

/* "not_normal", "non-benign" */
static bool has_denial(text_name name) {
    static const char *const parts[] = {"no_normal",  "non_normal", "nonnormal", "no_benign",
                                        "non_benign", "nonbenign",  "un_normal", NULL};
    if (has_whole(name, "not")) return true;
    for (size_t at = 0; at < name.size; at++) {
        if (is_any(name, at, parts)) return true;
    }
    return false;
}

/* Folders may be named for what a data set is for: "CAN-Intrusion-Dataset". */
static bool has_intrusion(text_name name, bool is_folder) {
    for (size_t at = 0; at < name.size; at++) {
        if (!is_at(name, at, "intrusion")) continue;
        bool purpose = is_at(name, at, "intrusion_data") || is_at(name, at, "intrusion_detection");
        if (!is_folder || !purpose) return true;
    }
    return false;
}

/* Nor does the name of HCRL's data set, "Car-Hacking Dataset", which has a log without attacks. */
static bool has_hacking(text_name name, bool is_folder) {
    for (size_t at = 0; at < name.size; at++) {
        if (!is_at(name, at, "hack")) continue;
        bool purpose = (at >= 4 && is_at(name, at - 4, "car_hacking")) ||
                       (at >= 3 && is_at(name, at - 3, "carhacking"));
        if (!is_folder || !purpose) return true;
    }
    return false;
}

/* Whether there may be attacks, by any word that says so. */
static bool says_attack(text_name name, bool is_folder) {
    static const char *const parts[] = {
        "inject", "malicious", "impersonat", "anomal", "abnormal", "fabricat",  "fuzz",
        "flood",  "spoof",     "mitm",       "jamm",   "tamper",   "compromis", "masq",
        "busoff", "bus_off",   "sybil",      "hijack", "malware",  "blackhole", NULL};
    for (const leat_can_keyword *it = leat_can_keywords(true); it->word != NULL; it++) {
        if (it->code != 0 && has_part(name, it->word)) return true;
    }
    for (const char *const *part = parts; *part != NULL; part++) {
        if (has_part(name, *part)) return true;
    }
    return has_attack(name) || has_denial(name) || has_intrusion(name, is_folder) ||
           has_hacking(name, is_folder);
}

static bool says_benign(text_name name) {
    for (const char *const *word = benign_words; *word != NULL; word++) {
        if (has_whole(name, *word)) return true;
    }
    return false;
}

bool leat_can_name_is_benign(const char *name, const char *folder) {
    text_name file = {name, leat_can_stem_bytes(name)}, place = {folder, strlen(folder)};
    if (says_attack(file, false) || says_attack(place, true)) return false;
    return says_benign(file) || says_benign(place);
}

bool leat_can_name_is_ambient(const char *name) {
    text_name file = {name, leat_can_stem_bytes(name)};
    return has_whole(file, "ambient") && !has_attack(file);
}

bool leat_can_name_has_attack(const char *name, const char *folder) {
    text_name file = {name, leat_can_stem_bytes(name)}, place = {folder, strlen(folder)};
    return has_attack(file) || (has_attack(place) && !leat_can_name_is_ambient(name));
}

/* ---- training and tests ---------------------------------------------------------------------- */

static const char *const train_words[] = {"train", "training", NULL};
static const char *const test_words[] = {"test", "tests", "testing", NULL};
/* Such logs may well be training data. */
static const char *const maybe_words[] = {"eval",    "evaluation", "holdout", "heldout",
                                          "valid",   "validation", "val",     "unseen",
                                          "testset", "testdata",   NULL};

static bool is_any_word(const char *name, size_t size, const char *const *words) {
    for (; *words != NULL; words++) {
        if (strlen(*words) == size && is_at((text_name){name, size}, 0, *words)) return true;
    }
    return false;
}

/* Whether the first or the last of the words in a name is one of these, in any case; whatever is
 * not a letter ends a word. "test_01", "Test01", "my-tests". */
static bool has_outer_word(const char *name, size_t size, const char *const *words) {
    text_name text = {name, size};
    size_t first = 0, first_end = 0, last_end = size;
    while (first < size && !is_letter(text, first)) first++;
    for (first_end = first; is_letter(text, first_end);) first_end++;
    while (last_end > first_end && !is_letter(text, last_end - 1)) last_end--;
    size_t last = last_end;
    while (last > first_end && is_letter(text, last - 1)) last--;
    return is_any_word(name + first, first_end - first, words) ||
           is_any_word(name + last, last_end - last, words);
}

bool leat_can_name_is_train(const char *name, size_t size) {
    return has_outer_word(name, size, train_words);
}

/* "train_test_1" is training data. */
bool leat_can_name_is_test(const char *name, size_t size) {
    if (size >= 5 && memcmp(name, "test_", 5) == 0) return true;
    bool train = size >= 5 && is_at((text_name){name, size}, 0, "train") &&
                 leat_can_name_is_train(name, size);
    return !train && has_outer_word(name, size, test_words);
}

bool leat_can_name_may_be_test(const char *name, size_t size) {
    text_name text = {name, size};
    return has_outer_word(name, size, maybe_words) || has_part(text, "hold_out") ||
           has_part(text, "held_out");
}
