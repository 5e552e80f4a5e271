/* Types of attacks by words: see attack_types.h. */
#include "ingest/can/read/attack_types.h"

#include "ingest/can/read/known_logs.h"
#include "ingest/can/read/labels.h"

static const leat_can_keyword short_list[] = {
    {"normal", 0},   {"attack_free", 0}, {"benign", 0}, {"dos", 1},
    {"fuzzy", 2},    {"fuzzing", 2},     {"gear", 3},   {"rpm", 4},
    {"flooding", 5}, {"malfunction", 6}, {NULL, 0},
};
/* Longer words come before those that they contain. */
static const leat_can_keyword long_list[] = {
    {"normal", 0},         {"attack_free", 0}, {"benign", 0},        {"dos", 1},
    {"fuzzy", 2},          {"fuzzing", 2},     {"force-neutral", 3}, {"gear", 3},
    {"rpm-accessory", 12}, {"rpm", 4},         {"flooding", 5},      {"malfunction", 6},
    {"double", 7},         {"triple", 8},      {"interval", 9},      {"speed-accessory", 11},
    {"speed", 10},         {"standstill", 13}, {"systematic", 14},   {"suppress", 15},
    {"masquerade", 16},    {"replay", 17},     {"spoof", 18},        {NULL, 0},
};
/* What labels have as well, as plain_name makes it. */
static const leat_can_keyword label_list[] = {{"fuzz", 2}, {"flood", 5}, {NULL, 0}};
/* What names no type, besides the words for attacks and benign frames that every label may have. */
static const char *const no_types[] = {"attack", "attacks", "injection", NULL};

const leat_can_keyword *leat_can_keywords(bool longer) { return longer ? long_list : short_list; }

static bool is_number(leat_text word) {
    bool digit = false;
    for (int i = 0; i < word.size_bytes; i++) {
        if (word.data[i] >= '0' && word.data[i] <= '9') digit = true;
        else if (word.data[i] == 0 || strchr("+-.", word.data[i]) == NULL) return false;
    }
    return digit;
}

/* The code of the first of a list's attacks that is in a word; 0: none is. */
static int find_code(const char *plain, const leat_can_keyword *list) {
    for (const leat_can_keyword *it = list; it->word != NULL; it++) {
        char part[LEAT_CAN_PLAIN_BYTES];
        plain_name(text_of(it->word), part);
        if (it->code != 0 && strstr(plain, part) != NULL) return it->code;
    }
    return 0;
}

uint8_t leat_can_word_type(leat_text word, bool longer) {
    char plain[LEAT_CAN_PLAIN_BYTES];
    word = leat_text_trim(word);
    if (leat_can_label_missing(word) || is_number(word)) return LEAT_CAN_TYPE_BY_FILE;
    for (const leat_can_label_row *row = leat_can_label_words; row->word != NULL; row++) {
        if (is_word_of_any_case(word, row->word)) return LEAT_CAN_TYPE_BY_FILE;
    }
    plain_name(word, plain);
    if (is_listed(plain, no_types) || is_listed(plain, leat_can_benign_names))
        return LEAT_CAN_TYPE_BY_FILE;
    int code = find_code(plain, leat_can_keywords(longer));
    if (code == 0) code = find_code(plain, label_list);
    return (uint8_t)(LEAT_CAN_TYPE_UNKNOWN + code);
}
