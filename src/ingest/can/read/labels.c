/* Labels of frames: the words they are written in, and the names of their columns. */
#include <stdio.h>
#include <string.h>

#include "ingest/can/read/pieces.h"
#include "ingest/can/read/table.h"

/* ---- words ---- */

static const struct {
    const char *word;
    bool attack;
} words[] = {
    {"r", false},          {"t", true},           {"normal", false},  {"attack", true},
    {"false", false},      {"true", true},        {"benign", false},  {"anomaly", true},
    {"no", false},         {"yes", true},         {"regular", false}, {"malicious", true},
    {"legit", false},      {"legitimate", false}, {"genuine", false}, {"attack_free", false},
    {"anomalous", true},   {"abnormal", true},    {"injected", true}, {"intrusion", true},
    {"y", true},           {"n", false},          {"ok", false},      {"attacked", true},
    {"attackfree", false}, {"no_attack", false},
};

/* Types of attacks: such a label says that there is one. */
static const char *const types[] = {
    "dos",           "ddos",         "fuzzy",          "fuzzing",      "fuzz",
    "gear",          "rpm",          "speed",          "flooding",     "flood",
    "malfunction",   "double",       "triple",         "interval",     "forceneutral",
    "standstill",    "systematic",   "suppress",       "suppression",  "masquerade",
    "replay",        "spoof",        "spoofing",       "gearspoofing", "rpmspoofing",
    "speedspoofing", "rpmaccessory", "speedaccessory", "injection",    "fabrication",
    "impersonation",
};

/* "DoS", "attack_dos", "Fuzzing Attack", "gear-spoofing" */
static bool is_type(leat_text text) {
    char plain[LEAT_CAN_PLAIN_BYTES], *name = plain;
    if (text.size_bytes >= LEAT_CAN_PLAIN_BYTES) return false;
    for (int i = 0; i < text.size_bytes; i++) {
        char letter = (char)(text.data[i] | 0x20);
        bool between = text.data[i] != 0 && strchr("_- ", text.data[i]) != NULL;
        if (!between && (letter < 'a' || letter > 'z')) return false;
    }
    plain_name(text, plain);
    size_t size = strlen(name);
    if (size > 6 && strncmp(name, "attack", 6) == 0) name += 6;
    else if (size > 6 && strcmp(name + size - 6, "attack") == 0) name[size - 6] = 0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(name, types[i]) == 0) return true;
    }
    return false;
}

bool leat_can_label_word(leat_text text, bool *attack) {
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!is_word_of_any_case(text, words[i].word)) continue;
        *attack = words[i].attack;
        return true;
    }
    *attack = is_type(text);
    return *attack;
}

bool leat_can_label_missing(leat_text text) {
    text = trim(text);
    return text.size_bytes == 0 || is_word_of_any_case(text, "nan") ||
           is_word_of_any_case(text, "none") || is_word_of_any_case(text, "null");
}

/* ---- rejected labels ---- */

/* The label of a csv: columns after a payload of several words are counted from the end. */
static leat_text label_cell(const leat_can_layout *layout, const char *at, const char *end) {
    enum { CELLS_MAX = LEAT_CAN_COLUMNS_MAX + LEAT_CAN_FD_BYTES };
    leat_text cells[CELLS_MAX];
    char part = layout->part != 0 ? layout->part : ',';
    int count = leat_can_split_cells(at, end, part, cells, CELLS_MAX);
    int more = 0;
    for (int i = 0; i < layout->column_count; i++) {
        if (layout->column[i] == LEAT_CAN_COLUMN_PAYLOAD && count > layout->column_count)
            more = count - layout->column_count;
        if (layout->column[i] == LEAT_CAN_COLUMN_LABEL && i + more < count) return cells[i + more];
    }
    return text_between(at, end);
}

leat_text leat_can_rejected_label(const leat_can_layout *layout, const char *text,
                                  int64_t size_bytes) {
    const char *end = text + size_bytes;
    bool attack = false;
    if (layout->format == LEAT_CAN_CSV) return label_cell(layout, text, end);
    if (layout->format == LEAT_CAN_HCRL || layout->format == LEAT_CAN_SURVIVAL) {
        const char *comma = memrchr(text, ',', (size_t)size_bytes);
        return trim(text_between(comma != NULL ? comma + 1 : text, end));
    }
    /* labels that the first lines lack: all of them, else the first that is not known */
    bool late = layout->trailing_labels == 0;
    int count =
        late ? leat_can_trailing_labels(layout->format, text, size_bytes) : layout->trailing_labels;
    leat_text found = {text, 0};
    const char *last = NULL;
    for (int i = 0; i < count; i++) {
        while (end > text && is_blank(end[-1])) end--;
        const char *stop = end;
        if (last == NULL) last = end;
        while (end > text && !is_blank(end[-1])) end--;
        leat_text word = text_between(end, late ? last : stop);
        if (late || !leat_can_take_label(word, &attack)) found = word;
    }
    return found;
}

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

/* ---- columns ---- */

int leat_can_label_rank(leat_text name) {
    static const char *const names[] = {
        "attack",   "label",     "labels",      "class",     "flag",      "anomaly",
        "isattack", "isanomaly", "attacklabel", "malicious", "intrusion",
    };
    char plain[LEAT_CAN_PLAIN_BYTES];
    plain_name(name, plain);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(plain, names[i]) == 0) return (int)i;
    }
    return -1;
}

bool leat_can_label_like(leat_text name) {
    static const char *const parts[] = {
        "label",  "attack", "class", "anomal",  "malic", "intrus", "inject",   "benign",
        "normal", "spoof",  "legit", "genuine", "fraud", "infect", "groundtr", "threat"};
    static const char *const names[] = {
        "flags", "target", "tag",    "verdict", "truth",  "type",  "category",   "scenario",
        "gt",    "ytrue",  "lbl",    "outcome", "alarm",  "alert", "annotation", "event",
        "mal",   "fake",   "result", "ygt",     "isgood", "isbad", "tampered"};
    char plain[LEAT_CAN_PLAIN_BYTES];
    plain_name(name, plain);
    if (strncmp(plain, "normali", 7) == 0) return false; /* normalized_time */
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strstr(plain, parts[i]) != NULL) return true;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(plain, names[i]) == 0) return true;
    }
    return false;
}

bool leat_can_is_benign_name(leat_text name) {
    static const char *const names[] = {"benign",     "normal",    "legit",        "legitimate",
                                        "genuine",    "regular",   "attackfree",   "noattack",
                                        "notattack",  "nonattack", "nonmalicious", "notmalicious",
                                        "notanomaly", "good"};
    static const char *const before[] = {"is", "label", "class", "type"};
    static const char *const after[] = {"flag", "label", "class", "frame", "message", "traffic"};
    char plain[LEAT_CAN_PLAIN_BYTES], *at = plain;
    plain_name(name, plain);
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        size_t size = strlen(before[i]);
        if (strlen(at) > size && strncmp(at, before[i], size) == 0) at += size;
    }
    for (size_t i = 0; i < sizeof after / sizeof *after; i++) {
        size_t size = strlen(after[i]), all = strlen(at);
        if (all > size && strcmp(at + all - size, after[i]) == 0) at[all - size] = 0;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(at, names[i]) == 0) return true;
    }
    return false;
}

/* ---- the values of labels ---- */

static bool is_number(leat_text text) {
    char letter = text.size_bytes > 0 ? text.data[0] : 0;
    if (text.size_bytes > 1 && (letter == '-' || letter == '+')) letter = text.data[1];
    return letter >= '0' && letter <= '9';
}

bool leat_can_take_inverted(leat_text text, bool *attack) {
    static const char *const yes[] = {"true", "yes", "y", "t"};
    static const char *const no[] = {"false", "no", "n", "f"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        *attack = is_word_of_any_case(text, no[i]);
        if (*attack || is_word_of_any_case(text, yes[i])) return true;
    }
    if (!leat_can_take_label(text, attack)) return false;
    if (is_number(text)) *attack = !*attack;
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
