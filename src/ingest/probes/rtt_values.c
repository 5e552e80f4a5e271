/* Round-trip times as written: see rtt_values.h. */
#include "ingest/probes/rtt_values.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

/* ---- --lost ---- */

void leat_lost_add(leat_lost *lost, double value) {
    int at = 0;
    value += 0.0; /* -0 is 0 */
    while (at < lost->count && lost->value[at] < value) at++;
    if (lost->count == LEAT_LOST_MAX || (at < lost->count && lost->value[at] == value)) return;
    memmove(lost->value + at + 1, lost->value + at,
            (size_t)(lost->count - at) * sizeof *lost->value);
    lost->value[at] = value;
    lost->count++;
}

leat_code leat_lost_read(const char *text, leat_lost *lost, leat_error *err) {
    *lost = (leat_lost){0};
    int values = 0;
    for (const char *at = text; at != NULL && text[0] != 0;) {
        const size_t size = strcspn(at, ",");
        double value = 0;
        if (!leat_decimal_parse(at, (int64_t)size, 0, &value) || !isfinite(value) ||
            values++ == LEAT_LOST_MAX)
            return leat_fail(err, LEAT_ERR_OPTION,
                             "--lost \"%.100s\" is not accepted; give up to %d numbers, separated "
                             "by commas, as they are written in the input: 0,9999",
                             text, LEAT_LOST_MAX);
        leat_lost_add(lost, value);
        at = at[size] == ',' ? at + size + 1 : NULL;
    }
    return LEAT_OK;
}

/* Whole numbers without a point: as they are written. */
static void write_number(double value, bool single, char text[LEAT_DOUBLE_TEXT_BYTES]) {
    const double whole_below = 1e15;
    if (value == floor(value) && fabs(value) < whole_below)
        snprintf(text, LEAT_DOUBLE_TEXT_BYTES, "%.0f", value);
    else if (single) (void)leat_float_format((float)value, text);
    else (void)leat_double_format(value, text);
}

void leat_lost_write(const leat_lost *lost, char text[LEAT_LOST_TEXT_BYTES]) {
    text[0] = 0;
    for (int i = 0; i < lost->count; i++) {
        char number[LEAT_DOUBLE_TEXT_BYTES];
        const size_t used = strlen(text);
        write_number(lost->value[i], false, number);
        snprintf(text + used, LEAT_LOST_TEXT_BYTES - used, "%s%s", i > 0 ? "," : "", number);
    }
}

/* ---- values that repeat ---- */

static const double marks[LEAT_RTT_MARKS] = {0, 9999, 65535, 99999, 2147483647, 4294967295};

void leat_rtt_tally_mark(leat_rtt_tally *tally, double value) {
    for (int i = 0; i < LEAT_RTT_MARKS; i++)
        tally->mark[i] += marks[i] == value || (tally->single && (double)(float)marks[i] == value);
}

void leat_rtt_tally_top(leat_rtt_tally *tally, double value, int64_t count) {
    leat_rtt_top *first = &tally->top[0], *second = &tally->top[1];
    if (count == 0 || value > FLT_MAX) return; /* such rows are rejected */
    if (first->count > 0 && value == first->value) first->count += count;
    else if (second->count > 0 && value == second->value) second->count += count;
    else if (first->count == 0 || value > first->value) {
        *second = *first;
        *first = (leat_rtt_top){value, count};
    } else if (second->count == 0 || value > second->value) *second = (leat_rtt_top){value, count};
}

void leat_rtt_tally_merge(leat_rtt_tally *to, const leat_rtt_tally *from) {
    to->rows += from->rows;
    to->empty += from->empty;
    for (int i = 0; i < LEAT_LOST_MAX; i++) to->lost[i] += from->lost[i];
    for (int i = 0; i < LEAT_RTT_MARKS; i++) to->mark[i] += from->mark[i];
    for (int i = 0; i < 2; i++) leat_rtt_tally_top(to, from->top[i].value, from->top[i].count);
    to->single = to->single || from->single;
    to->fraction = to->fraction || from->fraction;
}

static bool is_often(int64_t count, int64_t rows) { return count > 1 && count * 100 > rows; }

/* Whether the greatest value is not the end of a distribution: what is just below it is rare, as at
 * such an end; it is itself far above that, or comes several times, and is not the rule. */
static bool is_top_a_mark(const leat_rtt_tally *tally) {
    const leat_rtt_top *first = &tally->top[0], *second = &tally->top[1];
    enum { FAR = 2, VERY_FAR = 10, SEVERAL = 3 };
    if (!is_often(first->count, tally->rows) || second->count == 0 || second->value <= 0 ||
        is_often(second->count, tally->rows))
        return false;
    if (first->value >= VERY_FAR * second->value) return true;
    if (first->count * 2 > tally->rows) return false;
    return first->value >= FAR * second->value ||
           (first->count >= SEVERAL && first->count > 2 * second->count);
}

static void add_repeat(leat_lost *found, double value, int64_t count, bool single,
                       char text[LEAT_RTT_REPEATS_BYTES]) {
    char number[LEAT_DOUBLE_TEXT_BYTES];
    const size_t used = strlen(text);
    write_number(value, single, number);
    snprintf(text + used, LEAT_RTT_REPEATS_BYTES - used, "%s%s in %lld", used > 0 ? ", " : "",
             number, (long long)count);
    double written = value;
    (void)leat_decimal_parse(number, (int64_t)strlen(number), 0, &written);
    leat_lost_add(found, written);
}

void leat_rtt_tally_repeats(const leat_rtt_tally *tally, leat_lost *found,
                            char text[LEAT_RTT_REPEATS_BYTES]) {
    bool top = is_top_a_mark(tally);
    text[0] = 0;
    for (int i = 0; i < LEAT_RTT_MARKS; i++) {
        const double stored = tally->single ? (double)(float)marks[i] : marks[i];
        if (!is_often(tally->mark[i], tally->rows)) continue;
        add_repeat(found, marks[i], tally->mark[i], false, text);
        top = top && tally->top[0].value != stored;
    }
    if (top) add_repeat(found, tally->top[0].value, tally->top[0].count, tally->single, text);
}

/* ---- the unit of a name ---- */

typedef struct unit_word {
    const char *text;
    leat_rtt_unit unit;
} unit_word;

static const unit_word unit_words[] = {
    {"s", LEAT_RTT_UNIT_S},
    {"sec", LEAT_RTT_UNIT_S},
    {"secs", LEAT_RTT_UNIT_S},
    {"second", LEAT_RTT_UNIT_S},
    {"seconds", LEAT_RTT_UNIT_S},
    {"ms", LEAT_RTT_UNIT_MS},
    {"msec", LEAT_RTT_UNIT_MS},
    {"msecs", LEAT_RTT_UNIT_MS},
    {"milli", LEAT_RTT_UNIT_MS},
    {"millis", LEAT_RTT_UNIT_MS},
    {"millisecond", LEAT_RTT_UNIT_MS},
    {"milliseconds", LEAT_RTT_UNIT_MS},
    {"us", LEAT_RTT_UNIT_US},
    {"usec", LEAT_RTT_UNIT_US},
    {"usecs", LEAT_RTT_UNIT_US},
    {"micro", LEAT_RTT_UNIT_US},
    {"micros", LEAT_RTT_UNIT_US},
    {"microsecond", LEAT_RTT_UNIT_US},
    {"microseconds", LEAT_RTT_UNIT_US},
    {"\xc2\xb5s", LEAT_RTT_UNIT_US},
    {"\xce\xbcs", LEAT_RTT_UNIT_US},
    {"ns", LEAT_RTT_UNIT_NS},
    {"nsec", LEAT_RTT_UNIT_NS},
    {"nsecs", LEAT_RTT_UNIT_NS},
    {"nano", LEAT_RTT_UNIT_NS},
    {"nanos", LEAT_RTT_UNIT_NS},
    {"nanosecond", LEAT_RTT_UNIT_NS},
    {"nanoseconds", LEAT_RTT_UNIT_NS},
};
/* Words that may follow the unit; digits may follow them: p99. */
static const char *const statistics[] = {"avg", "mean", "average", "min", "max", "median", "p"};
/* What may be before a unit of several letters without a capital: rttms. */
static const char *const stems[] = {"rtt", "ping", "latency", "delay", "time"};

static bool is_lower(char letter) { return letter >= 'a' && letter <= 'z'; }

static bool is_upper(char letter) { return letter >= 'A' && letter <= 'Z'; }

static bool is_letter(char letter) {
    return is_lower(letter) || is_upper(letter) || (uint8_t)letter >= 0x80;
}

/* The last word of the first *size bytes of a name, which become those before it; in small letters,
 * "" if there is none. A capital after a small letter begins a word. */
static void take_word(const char *name, int64_t *size, char word[16]) {
    int64_t end = *size;
    while (end > 0 && !is_letter(name[end - 1])) end--;
    int64_t begin = end;
    while (begin > 0 && is_letter(name[begin - 1]) &&
           (begin == end || !(is_lower(name[begin - 1]) && is_upper(name[begin]))))
        begin--;
    *size = begin;
    word[0] = 0;
    if (end - begin >= 16) return;
    for (int64_t i = begin; i < end; i++)
        word[i - begin] = is_upper(name[i]) ? (char)(name[i] | 0x20) : name[i];
    word[end - begin] = 0;
}

static leat_rtt_unit unit_of_word(const char *word, size_t shortest) {
    for (size_t i = 0; strlen(word) >= shortest && i < sizeof unit_words / sizeof *unit_words; i++)
        if (strcmp(word, unit_words[i].text) == 0) return unit_words[i].unit;
    return LEAT_RTT_UNIT_AUTO;
}

leat_rtt_unit leat_rtt_unit_of_name(const char *name) {
    int64_t size = (int64_t)strlen(name);
    char word[16];
    bool more = true;
    while (more) {
        take_word(name, &size, word);
        more = false;
        for (size_t i = 0; i < sizeof statistics / sizeof *statistics; i++)
            more = more || strcmp(word, statistics[i]) == 0;
    }
    leat_rtt_unit unit = unit_of_word(word, 1);
    for (size_t i = 0; unit == LEAT_RTT_UNIT_AUTO && i < sizeof stems / sizeof *stems; i++) {
        const size_t stem = strlen(stems[i]);
        if (strncmp(word, stems[i], stem) == 0) unit = unit_of_word(word + stem, 2);
    }
    return unit;
}

leat_rtt_unit leat_rtt_unit_of(const leat_probes_ingest_options *options) {
    leat_rtt_unit unit = options->rtt_unit;
    if (unit == LEAT_RTT_UNIT_AUTO && options->column_rtt != NULL)
        unit = leat_rtt_unit_of_name(options->column_rtt);
    return unit == LEAT_RTT_UNIT_AUTO ? LEAT_RTT_UNIT_MS : unit;
}
