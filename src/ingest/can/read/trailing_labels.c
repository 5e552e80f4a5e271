/* Labels at the end of lines whose writers write none: see formats.h. */
#include "ingest/can/read/attack_types.h"
#include "ingest/can/read/fields.h"
#include "ingest/can/read/formats.h"
#include "ingest/can/read/labels.h"

static bool is_direction(leat_text word) { return is_word(word, "R") || is_word(word, "T"); }

/* How many words after the frame are labels: all of them, after a direction; 0: they are not. Two
 * digits are none: payloads may be padded. */
static int count_labels(leat_text rest, bool direction) {
    const char *at = rest.data, *end = at + rest.size_bytes;
    int words = 0, labels = 0;
    for (leat_text word; (word = next_word(&at, end)).size_bytes > 0; words++) {
        bool attack = false, directed = direction && words == 0;
        if (directed && is_direction(word)) continue;
        bool byte = word.size_bytes == 2 && are_digits(word.data, 2);
        if (byte || !leat_can_take_label(word, &attack)) return 0;
        labels++;
    }
    return labels <= LEAT_CAN_TRAILING_LABELS_MAX ? labels : 0;
}

/* By the number that most of the lines with labels have. Words of different numbers behind a
 * payload may as well be its padding. */
void leat_can_note_trailing(const leat_can_first_lines *of, const leat_can_line_options *options,
                            leat_can_rest_fn rest_of, bool direction, bool padded,
                            leat_can_layout *layout) {
    int seen[LEAT_CAN_TRAILING_LABELS_MAX + 1] = {0}, complete = 0, most = 1;
    for (int i = 0; i < of->count; i++) {
        leat_text rest = rest_of(of->lines[i].data, of->lines[i].data + of->lines[i].size_bytes);
        if (rest.data == NULL) continue;
        complete++;
        seen[count_labels(rest, direction)]++;
    }
    for (int i = 2; i <= LEAT_CAN_TRAILING_LABELS_MAX; i++) {
        if (seen[i] > seen[most]) most = i;
    }
    int with = complete - seen[0];
    bool same = seen[most] == with || !padded;
    bool enough = options->sparse || seen[0] <= with;
    if (with == 0 || !enough || !same) return;
    layout->trailing_labels = most;
    layout->labelled = true;
}

leat_can_reject leat_can_take_trailing(leat_text rest, int count, bool direction,
                                       const leat_can_line_options *options, leat_can_line *line) {
    const char *at = rest.data, *end = at + rest.size_bytes, *probe = at;
    int words = 0;
    bool good = true;
    line->attack = false;
    if (direction && is_direction(next_word(&probe, end))) at = probe;
    probe = at;
    while (next_word(&probe, end).size_bytes > 0) words++;
    /* a line of a log that has no labels at all counts as benign by its file */
    if (words == 0 && leat_can_take_sparse((leat_text){at, 0}, options, line))
        return LEAT_CAN_TAKEN;
    if (options->sparse && count == 0) count = count_labels(rest, direction);
    if (words < count) return LEAT_CAN_REJECT_NO_LABEL;
    if (words > count) {
        bool late = count == 0 && count_labels(rest, direction) > 0;
        return late ? LEAT_CAN_REJECT_LABEL : LEAT_CAN_REJECT_LINE;
    }
    for (int i = 0; i < count; i++) {
        bool one = false;
        leat_text word = next_word(&at, end);
        good = leat_can_take_label(word, &one) && good;
        line->attack = line->attack || one;
        if (one && line->type == LEAT_CAN_TYPE_BY_FILE)
            line->type = leat_can_word_type(word, options->longer);
    }
    if (count > 0) line->marks |= line->attack ? LEAT_CAN_MARK_ATTACK : LEAT_CAN_MARK_BENIGN;
    return good ? LEAT_CAN_TAKEN : LEAT_CAN_REJECT_LABEL;
}

leat_text leat_can_find_trailing(const leat_can_layout *layout, const char *at, const char *end,
                                 leat_can_rest_fn rest_of, bool direction) {
    bool late = layout->trailing_labels == 0, attack = false;
    int count = layout->trailing_labels;
    leat_text found = {at, 0};
    const char *last = NULL;
    if (late) {
        leat_text rest = rest_of(at, end);
        count = rest.data != NULL ? count_labels(rest, direction) : 0;
    }
    for (int i = 0; i < count; i++) {
        while (end > at && leat_is_blank(end[-1])) end--;
        const char *stop = end;
        if (last == NULL) last = end;
        while (end > at && !leat_is_blank(end[-1])) end--;
        leat_text word = text_between(end, late ? last : stop);
        if (late || !leat_can_take_label(word, &attack)) found = word;
    }
    return found;
}
