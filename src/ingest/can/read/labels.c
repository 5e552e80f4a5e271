/* Labels of frames: what their words and numbers mean. */
#include "ingest/can/read/labels.h"

#include <stdio.h>

#include "ingest/can/read/known_logs.h"

/* ---- words ---- */

/* Letters, and what stands between words: without the latter, in small letters. */
static bool take_phrase(leat_text text, char plain[LEAT_CAN_PLAIN_BYTES]) {
    if (text.size_bytes >= LEAT_CAN_PLAIN_BYTES) return false;
    for (int i = 0; i < text.size_bytes; i++) {
        char letter = (char)(text.data[i] | 0x20);
        bool between = text.data[i] != 0 && strchr("_- ", text.data[i]) != NULL;
        if (!between && (letter < 'a' || letter > 'z')) return false;
    }
    plain_name(text, plain);
    return true;
}

/* "dos", "attackdos", "fuzzingattack", "gearspoofing" */
static bool is_type(char *name) {
    size_t size = strlen(name);
    if (size > 6 && strncmp(name, "attack", 6) == 0) name += 6;
    else if (size > 6 && strcmp(name + size - 6, "attack") == 0) name[size - 6] = 0;
    return is_listed(name, leat_can_attack_types);
}

bool leat_can_is_attack_type(leat_text text) {
    char plain[LEAT_CAN_PLAIN_BYTES];
    return take_phrase(text, plain) && is_type(plain);
}

bool leat_can_label_word(leat_text text, bool *attack) {
    char plain[LEAT_CAN_PLAIN_BYTES];
    for (const leat_can_label_row *row = leat_can_label_words; row->word != NULL; row++) {
        if (!is_word_of_any_case(text, row->word)) continue;
        *attack = row->attack;
        return true;
    }
    *attack = false;
    if (!take_phrase(text, plain)) return false;
    if (is_listed(plain, leat_can_benign_names)) return true; /* "Attack-free", "no attack" */
    *attack = is_type(plain);
    return *attack;
}

bool leat_can_label_missing(leat_text text) {
    text = leat_text_trim(text);
    return text.size_bytes == 0 || is_listed_word(text, leat_can_nothing_words);
}

/* ---- numbers and words ---- */

/* An integer, also with zeros after a decimal point, as tables with gaps write it; above 0: attack.
 */
static bool take_number_label(leat_text text, bool *attack) {
    const char *at = text.data, *end = at + text.size_bytes;
    bool negative = at < end && *at == '-', above = false;
    if (at < end && (*at == '-' || *at == '+')) at++;
    const char *begin = at;
    while (at < end && *at >= '0' && *at <= '9') above = *at++ != '0' || above;
    if (at == begin) return false;
    bool point = at < end && *at == '.';
    if (point) at++;
    while (point && at < end && *at == '0') at++;
    *attack = above && !negative;
    return at == end;
}

bool leat_can_take_label(leat_text text, bool *attack) {
    return take_number_label(text, attack) || leat_can_label_word(text, attack);
}

static bool is_number(leat_text text) {
    char letter = text.size_bytes > 0 ? text.data[0] : 0;
    if (text.size_bytes > 1 && (letter == '-' || letter == '+')) letter = text.data[1];
    return letter >= '0' && letter <= '9';
}

bool leat_can_take_inverted(leat_text text, bool *attack) {
    *attack = is_listed_word(text, leat_can_no_words);
    if (*attack || is_listed_word(text, leat_can_yes_words)) return true;
    if (!leat_can_take_label(text, attack)) return false;
    if (is_number(text)) *attack = !*attack;
    return true;
}

bool leat_can_take_sparse(leat_text text, const leat_can_line_options *options,
                          leat_can_line *line) {
    if (!options->sparse || !leat_can_label_missing(text)) return false;
    line->marks |= LEAT_CAN_MARK_SPARSE;
    return true;
}

uint8_t leat_can_label_mark(leat_text text, bool attack) {
    int digits = 0;
    if (!attack && text.data[0] == '-') {
        while (digits < text.size_bytes && strchr("-0.", text.data[digits]) != NULL) digits++;
        return digits < text.size_bytes ? LEAT_CAN_MARK_NEGATIVE : LEAT_CAN_MARK_BENIGN;
    }
    if (!attack) return LEAT_CAN_MARK_BENIGN;
    if (!is_number(text)) return LEAT_CAN_MARK_ATTACK;
    while (digits < text.size_bytes && strchr("+0", text.data[digits]) != NULL) digits++;
    bool one = digits < text.size_bytes && text.data[digits] == '1' &&
               (digits + 1 == text.size_bytes || text.data[digits + 1] == '.');
    return one ? LEAT_CAN_MARK_ATTACK : LEAT_CAN_MARK_MORE;
}

/* ---- labels that are not known ---- */

void leat_can_labels_add(leat_can_label_list *list, leat_text label, int64_t line) {
    char text[LEAT_CAN_LABEL_BYTES];
    int64_t taken = leat_text_show(text, sizeof text - 3, label.data, label.size_bytes);
    if (taken < label.size_bytes) memcpy(text + strlen(text), "...", 4);
    int at = 0;
    while (at < list->count && strcmp(list->items[at].text, text) != 0) at++;
    if (at == LEAT_CAN_LABELS_MAX) list->more = true;
    if (at == LEAT_CAN_LABELS_MAX) return;
    if (at == list->count) {
        memcpy(list->items[list->count].text, text, sizeof text);
        list->items[list->count].lines = 0;
        list->items[list->count++].first = line;
    }
    list->items[at].lines++;
}

void leat_can_labels_show(leat_can_label_list *list, bool counts, char *text, size_t text_bytes) {
    size_t used = 0;
    text[0] = 0;
    for (int shown = 0; shown < LEAT_CAN_LABELS_SHOWN && shown < list->count; shown++) {
        int best = 0;
        for (int i = 1; i < list->count; i++) {
            if (list->items[i].lines > list->items[best].lines) best = i;
        }
        int64_t lines = list->items[best].lines;
        char times[32] = "";
        if (counts && list->count > 1) /* of a single label they are those of all lines */
            snprintf(times, sizeof times, " (%lld time%s)", (long long)lines,
                     lines == 1 ? "" : "s");
        if (used < text_bytes)
            used += (size_t)snprintf(text + used, text_bytes - used, "%s \"%s\" in line %lld%s",
                                     shown > 0 ? "," : "", list->items[best].text,
                                     (long long)list->items[best].first, times);
        list->items[best].lines = -1; /* shown */
    }
    int more = list->count - LEAT_CAN_LABELS_SHOWN;
    if (more > 0 && used < text_bytes)
        snprintf(text + used, text_bytes - used, ", and %d%s more", more, list->more ? " or" : "");
}
