/* What a scan notices: see notes.h. */
#include "ingest/probes/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/escape.h"
#include "base/hash.h"
#include "base/time.h"
#include "ingest/probes/epochs.h"
#include "ingest/probes/source_parts.h"
#include "ingest/probes/spill.h"

leat_code leat_notes_create(leat_notes **out, int64_t file_count, leat_error *err) {
    *out = NULL;
    leat_notes *notes = NULL;
    LEAT_TRY(LEAT_NEW(&notes, 1, err));
    leat_code code = LEAT_NEW(&notes->files, file_count, err);
    if (code != LEAT_OK) {
        leat_free(notes);
        return code;
    }
    notes->file_count = file_count;
    for (int64_t i = 0; i < file_count; i++) {
        atomic_init(&notes->files[i].first_us, INT64_MAX);
        atomic_init(&notes->files[i].last_us, INT64_MIN);
        atomic_init(&notes->files[i].header_row, INT64_MAX);
        atomic_init(&notes->files[i].table_row, INT64_MAX);
        leat_digit_notes_init(&notes->files[i].digits);
    }
    pthread_mutex_init(&notes->lock, NULL);
    *out = notes;
    return LEAT_OK;
}

void leat_notes_destroy(leat_notes *notes) {
    if (notes == NULL) return;
    pthread_mutex_destroy(&notes->lock);
    leat_free(notes->files);
    leat_free(notes);
}

/* ---- during the scan ---- */

void leat_notes_add_batch(leat_notes *notes, int32_t file_index, const leat_batch_notes *batch) {
    if (notes == NULL) return;
    leat_file_notes *file = &notes->files[file_index];
    atomic_fetch_add(&file->answered, batch->answered);
    atomic_fetch_add(&file->fast, batch->fast);
    atomic_fetch_add(&file->fastest, batch->fastest);
    atomic_fetch_add(&file->whole, batch->whole);
    atomic_fetch_add(&file->slow, batch->slow);
    leat_keep_least(&file->first_us, batch->first_us);
    leat_keep_most(&file->last_us, batch->last_us);
    leat_keep_most(&file->last_row, batch->last_row);
    if (batch->mapped > 0) atomic_fetch_add(&notes->mapped, batch->mapped);
}

void leat_notes_add_units(leat_notes *notes, int32_t file_index, uint8_t units) {
    if (notes != NULL && units != 0) atomic_fetch_or(&notes->files[file_index].units, units);
}

void leat_notes_add_rtts(leat_notes *notes, int32_t file_index, const leat_rtt_tally *rtts) {
    if (notes == NULL) return;
    pthread_mutex_lock(&notes->lock);
    leat_rtt_tally_merge(&notes->files[file_index].rtts, rtts);
    pthread_mutex_unlock(&notes->lock);
}

void leat_notes_add_header(leat_notes *notes, int32_t file_index, int64_t row) {
    if (notes == NULL) return;
    atomic_fetch_add(&notes->files[file_index].headers, 1);
    leat_keep_least(&notes->files[file_index].header_row, row);
}

void leat_notes_add_table(leat_notes *notes, int32_t file_index, int64_t row,
                          const leat_text *line) {
    if (notes == NULL) return;
    leat_notes_object *first = &notes->table;
    leat_keep_least(&notes->files[file_index].table_row, row);
    pthread_mutex_lock(&notes->lock);
    if (leat_notes_take_first(first, file_index, row))
        snprintf(first->names, sizeof first->names, "%.*s", line->size_bytes, line->data);
    pthread_mutex_unlock(&notes->lock);
}

void leat_notes_add_malformed(leat_notes *notes, bool uneven) {
    if (notes != NULL) atomic_fetch_add(uneven ? &notes->uneven : &notes->untimed, 1);
}

/* The place of a word: its own, a free one, or that of the word with the greatest hash; NULL if its
 * own hash is greater. */
static leat_notes_word *place_word(leat_notes *notes, const char *text, int64_t size_bytes,
                                   uint64_t hash) {
    leat_notes_word *place = &notes->words[0];
    for (int i = 0; i < notes->word_count; i++) {
        leat_notes_word *known = &notes->words[i];
        if (known->size_bytes == size_bytes && memcmp(known->text, text, (size_t)size_bytes) == 0)
            return known;
        if (known->hash > place->hash) place = known;
    }
    if (notes->word_count < LEAT_NOTES_WORDS) {
        place = &notes->words[notes->word_count++];
    } else {
        notes->more_words = true;
        if (hash >= place->hash) return NULL;
    }
    *place = (leat_notes_word){.size_bytes = (int32_t)size_bytes, .hash = hash};
    memcpy(place->text, text, (size_t)size_bytes);
    return place;
}

/* Whether a text is a number that leat does not read: with a decimal comma, separators, or a unit.
 * Numbers differ: one that repeats does not stand for something else. */
static bool is_number(const char *text, int64_t size_bytes) {
    enum { UNIT_BYTES = 5 };
    int64_t at = 0, digits = 0;
    while (at < size_bytes && strchr("+- ", text[at]) != NULL && text[at] != 0) at++;
    for (; at < size_bytes && strchr("0123456789.,'_ ", text[at]) != NULL && text[at] != 0; at++)
        digits += text[at] >= '0' && text[at] <= '9';
    if (digits == 0 || size_bytes - at > UNIT_BYTES) return false;
    for (; at < size_bytes; at++) {
        const char small = (char)(text[at] | 0x20);
        const bool letter = (small >= 'a' && small <= 'z') || (uint8_t)text[at] >= 0x80;
        if (!letter && text[at] != '.') return false;
    }
    return true;
}

/* The unit of time that a number, by is_number, ends with; 0: none. */
static unsigned unit_of(const char *text, int64_t size_bytes) {
    static const struct {
        const char *word;
        unsigned unit;
    } words[] = {
        {"ms", LEAT_UNIT_OF_MS},   {"msec", LEAT_UNIT_OF_MS},    {"us", LEAT_UNIT_OF_US},
        {"usec", LEAT_UNIT_OF_US}, {"\u00b5s", LEAT_UNIT_OF_US}, {"\u03bcs", LEAT_UNIT_OF_US},
        {"s", LEAT_UNIT_OF_S},     {"sec", LEAT_UNIT_OF_S},      {"secs", LEAT_UNIT_OF_S},
        {"ns", LEAT_UNIT_OF_NS},   {"nsec", LEAT_UNIT_OF_NS}};
    while (size_bytes > 0 && text[size_bytes - 1] == '.') size_bytes--;
    int64_t at = size_bytes;
    while (at > 0 && ((uint8_t)text[at - 1] >= 0x80 || (text[at - 1] | 0x20) >= 'a')) at--;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if ((int64_t)strlen(words[i].word) == size_bytes - at &&
            strncasecmp(text + at, words[i].word, (size_t)(size_bytes - at)) == 0)
            return words[i].unit;
    return 0;
}

void leat_notes_add_word(leat_notes *notes, const char *text, int64_t size_bytes) {
    if (notes == NULL || size_bytes < 0) return;
    if (is_number(text, size_bytes)) {
        const unsigned unit = unit_of(text, size_bytes);
        atomic_fetch_or(&notes->rtt_units, unit);
        if (unit != 0) atomic_fetch_add(&notes->with_unit, 1);
        return;
    }
    if (size_bytes > LEAT_NOTES_WORD_BYTES) size_bytes = LEAT_NOTES_WORD_BYTES;
    uint64_t hash = leat_xxh3(text, size_bytes);
    pthread_mutex_lock(&notes->lock);
    leat_notes_word *word = place_word(notes, text, size_bytes, hash);
    if (word != NULL) word->count++;
    pthread_mutex_unlock(&notes->lock);
}

/* ---- errors ---- */

/* What makes plain measurements of the output of scamper; a ping without an answer has no avg. */
#define SCAMPER_LINE                                                                               \
    "jq -c 'select(.type==\"ping\")|{event_time:(.start.sec+.start.usec/1e6),src_addr:.src,"       \
    "dst_addr:.dst,rtt:.statistics.avg}'"

static leat_code refuse_scamper(const leat_notes *notes, const leat_input_list *inputs,
                                leat_error *err) {
    int64_t scamper = atomic_load(&notes->scamper);
    for (int64_t i = 0; i < inputs->count; i++)
        if (inputs->items[i].format != LEAT_INPUT_NDJSON) return LEAT_OK;
    if (scamper == 0 || atomic_load(&notes->atlas) > 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "none of the rows is a measurement, %lld are pings of scamper; convert them "
                     "with " SCAMPER_LINE,
                     (long long)scamper);
}

/* Measurements after a header with other names were read with the columns of the first header. */
static leat_code refuse_tables(const leat_notes *notes, const leat_input_list *inputs,
                               const leat_source_options *options, leat_error *err) {
    const leat_notes_object *first = &notes->table;
    const char *names[LEAT_COLUMNS];
    const bool named = leat_source_names(&options->columns, names) > LEAT_COLUMN_PROBE;
    for (int64_t i = 0; i < notes->file_count; i++) {
        const int64_t row = atomic_load(&notes->files[i].table_row);
        if (row >= atomic_load(&notes->files[i].last_row)) continue;
        const bool shown = first->file_index == i && first->row == row;
        char path[160];
        leat_inputs_name(inputs->items[i].path, path, sizeof path);
        return leat_fail(
            err, LEAT_ERR_INPUT,
            "\"%s\": line %lld looks like the header of another table, and records "
            "follow%s%.100s%s; "
            "use the names %.60s, %.60s, %.60s%s%.60s and %.60s in that line, or split the file "
            "there; remove the line if it is not a header",
            path, (long long)row, shown ? ": \"" : "", shown ? first->names : "", shown ? "\"" : "",
            names[LEAT_COLUMN_TIME], names[LEAT_COLUMN_SRC], names[LEAT_COLUMN_DST],
            named ? ", " : "", named ? names[LEAT_COLUMN_PROBE] : "", names[LEAT_COLUMN_RTT]);
    }
    return LEAT_OK;
}

leat_code leat_notes_check(const leat_notes *notes, const leat_input_list *inputs,
                           const leat_source_options *options, leat_error *err) {
    const char *names[LEAT_COLUMNS];
    (void)leat_source_names(&options->columns, names);
    int64_t with = 0, without = 0, atlas = atomic_load(&notes->atlas);
    LEAT_TRY(refuse_tables(notes, inputs, options, err));
    for (int64_t i = 0; i < notes->file_count; i++)
        LEAT_TRY(leat_digit_notes_check(&notes->files[i].digits, inputs->items[i].path,
                                        names[LEAT_COLUMN_TIME], err));
    for (int k = 0; k < LEAT_COLUMNS && atlas > 0; k++) {
        if (!leat_source_is_mapped(options, k) || atomic_load(&notes->atlas_has[k]) > 0) continue;
        if (k == LEAT_COLUMN_RTT && options->per_packet)
            return leat_fail(err, LEAT_ERR_INPUT,
                             "--per-packet --column rtt=%.60s: no packet of %lld RIPE Atlas "
                             "results has the member \"%.60s\"; leave out --column for the rtt of "
                             "each packet, or --per-packet for members of a result, of which the "
                             "first has: %s",
                             names[k], (long long)atlas, names[k], notes->atlas_first.names);
        return leat_fail(err, LEAT_ERR_INPUT,
                         "--column %s=%.60s: none of %lld RIPE Atlas results has the member "
                         "\"%.60s\"; the first has: %s",
                         leat_source_fields[k], names[k], (long long)atlas, names[k],
                         notes->atlas_first.names);
    }
    for (int64_t i = 0; i < notes->file_count; i++) {
        with += atomic_load(&notes->files[i].with);
        without += atomic_load(&notes->files[i].without);
    }
    if (with == 0 && without == 0) LEAT_TRY(refuse_scamper(notes, inputs, err));
    if (with > 0 || without == 0) return LEAT_OK;
    char path[160];
    leat_inputs_name(inputs->items[notes->lacking.file_index].path, path, sizeof path);
    return leat_fail(
        err, LEAT_ERR_INPUT,
        "none of %lld JSON objects has the member \"%.60s\"; %s %lld of \"%s\" has: %s "
        "(use --column rtt=NAME if it has another name)",
        (long long)without, names[LEAT_COLUMN_RTT],
        atomic_load(&notes->files[notes->lacking.file_index].elements) ? "element" : "line",
        (long long)notes->lacking.row, path, notes->lacking.names);
}

/* ---- warnings ---- */

/* Names and values in it may come from anywhere: it is made safe to display, and text that JSON
 * files keep as it is. */
void leat_warnings_add(leat_warnings *warnings, const char *format, ...) {
    char text[2 * sizeof warnings->text[0]];
    if (warnings->count == LEAT_INGEST_WARNINGS_MAX) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    leat_text_show(warnings->text[warnings->count++], sizeof warnings->text[0], text,
                   (int64_t)strlen(text));
}

/* A kind of warning names this many files; the others are counted. */
enum { FILES_NAMED = 4, NAME_BYTES = 160, COLUMN_BYTES = 61 };

typedef struct writing {
    const leat_notes *notes;
    char rtt[COLUMN_BYTES], time[COLUMN_BYTES]; /* names, as far as they are shown */
    int64_t now_us;
    leat_warnings *warnings;
} writing;

/* Adds the warning of a file, if there is one, and returns whether. `name` NULL: only whether. */
typedef bool (*file_warning)(const writing *to, const leat_file_notes *file, const char *name);

static bool warn_without(const writing *to, const leat_file_notes *file, const char *name) {
    int64_t with = atomic_load(&file->with), without = atomic_load(&file->without);
    if (without == 0) return false;
    if (name != NULL)
        leat_warnings_add(to->warnings,
                          "\"%s\": %lld of %lld objects do not have the member \"%s\" and are "
                          "stored as failed measurements; write \"%s\": null if they failed",
                          name, (long long)without, (long long)(with + without), to->rtt, to->rtt);
    return true;
}

static bool warn_empty(const writing *to, const leat_file_notes *file, const char *name) {
    if (!atomic_load(&file->empty)) return false;
    if (name != NULL) leat_warnings_add(to->warnings, "\"%s\" is empty and was skipped", name);
    return true;
}

static bool warn_preamble(const writing *to, const leat_file_notes *file, const char *name) {
    const long long count = (long long)atomic_load(&file->preamble);
    if (count == 0) return false;
    if (name != NULL)
        leat_warnings_add(to->warnings, "\"%s\": %lld line%s before the header %s skipped", name,
                          count, count == 1 ? "" : "s", count == 1 ? "was" : "were");
    return true;
}

static bool warn_turned(const writing *to, const leat_file_notes *file, const char *name) {
    if (!atomic_load(&file->turned)) return false;
    if (name != NULL)
        leat_warnings_add(to->warnings,
                          "\"%s\": a later header line has other columns than the first; each "
                          "record was read by the last header before it",
                          name);
    return true;
}

/* They may be garbage, or the header of a second table whose columns have another order. */
static bool warn_headers(const writing *to, const leat_file_notes *file, const char *name) {
    const long long count = (long long)atomic_load(&file->headers);
    const long long row = (long long)atomic_load(&file->header_row);
    if (count == 0 || row >= atomic_load(&file->last_row)) return false;
    if (name == NULL) return true;
    leat_warnings_add(to->warnings,
                      "\"%s\": line %lld%s like a header with other names; the rows after it were "
                      "read with the columns of the first header: if their order is another, split "
                      "the file there",
                      name, row, count > 1 ? " and others look" : " looks");
    return true;
}

static bool warn_units(const writing *to, const leat_file_notes *file, const char *name) {
    static const char *const words[] = {[LEAT_TIME_UNIT_S] = "seconds",
                                        [LEAT_TIME_UNIT_MS] = "milliseconds",
                                        [LEAT_TIME_UNIT_US] = "microseconds",
                                        [LEAT_TIME_UNIT_NS] = "nanoseconds"};
    unsigned units = atomic_load(&file->units);
    char list[96] = "";
    if ((units & (units - 1)) == 0) return false;
    for (unsigned u = LEAT_TIME_UNIT_S; u <= LEAT_TIME_UNIT_NS; u++) {
        size_t used = strlen(list);
        if ((units >> u & 1) != 0)
            snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? ", " : "", words[u]);
    }
    if (name != NULL)
        leat_warnings_add(to->warnings,
                          "\"%s\": times are numbers of different sizes and were read as %s; if "
                          "they have one unit, name it: --column event_time=%s:ms (s, us, ns)",
                          name, list, to->time);
    return true;
}

/* Whether a number is a date of this or the last century, written as YYYYMMDD. */
static bool is_date(int64_t number) {
    int64_t year = number / 10000, month = number / 100 % 100, day = number % 100;
    return year >= 1900 && year <= 2100 && month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

#define SECOND INT64_C(1000000)
#define YEAR_1971 (INT64_C(31536000) * SECOND)
#define YEAR_1990 INT64_C(631152000)
#define YEAR_1995 (INT64_C(788918400) * SECOND)
#define YEAR_2100 (INT64_C(4102444800) * SECOND)

/* What times look like, and what to do; with a unit, that --column event_time=NAME:UNIT is it. */
typedef struct guess {
    const char *words, *unit;
} guess;

/* Times before 1971: numbers were read as seconds. */
static guess guess_early(int64_t first, int64_t last) {
    if (is_date(first) && is_date(last))
        return (guess){"they look like YYYYMMDD; write dates as ISO 8601 with the time of day",
                       NULL};
    return (guess){"if they are seconds since a start, add the time of the start", NULL};
}

/* Times between 1971 and 1995, from when no measurements are: numbers of other units or beginnings
 * that have these sizes. */
static guess guess_old(int64_t first_us, unsigned units, int64_t now_us) {
    const int64_t now = now_us / SECOND, ticks = first_us / 10000; /* of 100 ns, in seconds */
    const int64_t windows = ticks - INT64_C(11644473600), net = ticks - INT64_C(62135596800);
    if (units == 1U << LEAT_TIME_UNIT_NS && windows >= YEAR_1990 && windows <= now)
        return (guess){"they look like FILETIME of Windows; subtract 116444736000000000 and divide "
                       "by 10, for us",
                       NULL};
    if (units == 1U << LEAT_TIME_UNIT_NS && net >= YEAR_1990 && net <= now)
        return (guess){
            "they look like ticks of .NET; subtract 621355968000000000 and divide by 10, "
            "for us",
            NULL};
    if (units == 1U << LEAT_TIME_UNIT_MS && is_date(first_us / 1000 / 10000))
        return (guess){"they look like YYYYMMDDhhmm; write them as ISO 8601", NULL};
    if (units == 1U << LEAT_TIME_UNIT_MS && first_us / 100000 <= now)
        return (guess){"they look like hundredths of a second; multiply them by 10, for ms", NULL};
    if (units == 1U << LEAT_TIME_UNIT_S)
        return (guess){"if they count seconds since 2001, add 978307200", NULL};
    return (guess){"check the clock that wrote them", NULL};
}

static guess guess_late(int64_t first_us) {
    if (is_date(first_us / 1000 / 1000000))
        return (guess){"they look like YYYYMMDDhhmmss; write them as ISO 8601", NULL};
    return (guess){"if they are numbers, name their unit (s, ms, us, ns):", "ms"};
}

static bool warn_times(const writing *to, const leat_file_notes *file, const char *name) {
    int64_t first = atomic_load(&file->first_us), last = atomic_load(&file->last_us);
    char from[LEAT_TIME_TEXT_BYTES] = "", option[128] = "", list[256];
    bool early = last < YEAR_1971, old = !early && last < YEAR_1995;
    bool late = first > to->now_us || first >= YEAR_2100;
    if (first > last || (!early && !old && !late)) return false;
    if (name == NULL) return true;
    leat_time_format(first, from);
    guess guess = early ? guess_early(first / SECOND, last / SECOND)
                  : old ? guess_old(first, atomic_load(&file->units), to->now_us)
                        : guess_late(first);
    const bool date = early && is_date(first / SECOND) && is_date(last / SECOND);
    if (!old && !date && leat_epochs_list(first, to->now_us, to->time, list, sizeof list))
        guess = (struct guess){list, NULL};
    if (guess.unit != NULL)
        snprintf(option, sizeof option, " --column event_time=%s:%s", to->time, guess.unit);
    leat_warnings_add(to->warnings, "\"%s\": all times are %s (the first is %.19s); %s%s", name,
                      early ? "before 1971"
                      : old ? "before 1995"
                            : "in the future",
                      from, guess.words, option);
    return true;
}

static bool warn_rtts(const writing *to, const leat_file_notes *file, const char *name) {
    int64_t all = atomic_load(&file->answered);
    bool fastest = atomic_load(&file->fastest) * 2 > all, slow = atomic_load(&file->slow) * 2 > all;
    bool fast = atomic_load(&file->fast) * 2 > all && atomic_load(&file->whole) * 50 < all;
    if (!fastest && !fast && !slow) return false;
    if (name != NULL)
        leat_warnings_add(to->warnings,
                          "\"%s\": the median rtt is %s; if the column is in %s, use --column "
                          "rtt=%s:%s",
                          name,
                          fastest ? "below 0.05 ms"
                          : fast  ? "below 0.3 ms, and hardly any is above 1 ms"
                                  : "above 2 s",
                          slow ? "microseconds" : "seconds", to->rtt, slow ? "us" : "s");
    return true;
}

static void warn_files(const writing *to, const leat_input_list *inputs, file_warning warn) {
    int64_t count = 0;
    for (int64_t i = 0; i < inputs->count; i++) {
        char name[NAME_BYTES];
        leat_inputs_name(inputs->items[i].path, name, sizeof name);
        count += warn(to, &to->notes->files[i], count < FILES_NAMED ? name : NULL);
    }
    if (count > FILES_NAMED)
        leat_warnings_add(to->warnings, "... and the same of %lld other files",
                          (long long)(count - FILES_NAMED));
}

static const char *unit_words(unsigned units) {
    switch (units) {
    case LEAT_UNIT_OF_MS: return " (ms)";
    case LEAT_UNIT_OF_US: return " (us)";
    case LEAT_UNIT_OF_S: return " (s)";
    case LEAT_UNIT_OF_NS: return " (ns)";
    default: return " (of several)";
    }
}

static void warn_words(const writing *to) {
    const leat_notes_word *most = NULL;
    for (int i = 0; i < to->notes->word_count; i++) {
        const leat_notes_word *word = &to->notes->words[i];
        bool more =
            most == NULL || word->count > most->count ||
            (word->count == most->count &&
             leat_text_compare(word->text, word->size_bytes, most->text, most->size_bytes) < 0);
        if (word->count > 1 && more) most = word;
    }
    if (most == NULL) return;
    char shown[4 * LEAT_NOTES_WORD_BYTES + 1];
    leat_text_show(shown, sizeof shown, most->text, most->size_bytes);
    leat_warnings_add(
        to->warnings,
        "%s%lld rows have %s \"%s\" as rtt and were rejected (rtt_unparsable); "
        "if it means a lost ping, replace it by NaN, or they are missing from the "
        "failures",
        to->notes->more_words ? "of many different texts, at least " : "", (long long)most->count,
        most->size_bytes == LEAT_NOTES_WORD_BYTES ? "a text that begins with" : "the text", shown);
}

void leat_notes_warn_infinite(const leat_notes *notes, int64_t rejected, leat_warnings *warnings) {
    const int64_t count = rejected + atomic_load(&notes->infinite);
    if (count < 2) return;
    leat_warnings_add(warnings,
                      "%lld rows have an infinite rtt and were rejected; if it means a lost ping, "
                      "replace it by NaN, or they are missing from the failures",
                      (long long)count);
}

void leat_notes_warn(const leat_notes *notes, const leat_input_list *inputs,
                     const leat_source_options *options, int64_t now_us, leat_warnings *warnings) {
    static const file_warning kinds[] = {warn_empty,   warn_without, warn_preamble, warn_turned,
                                         warn_headers, warn_units,   warn_times,    warn_rtts};
    const char *rtt = options->columns.rtt, *time = options->columns.event_time;
    writing to = {.notes = notes, .now_us = now_us, .warnings = warnings};
    leat_text_show(to.rtt, sizeof to.rtt, rtt, (int64_t)strlen(rtt));
    leat_text_show(to.time, sizeof to.time, time, (int64_t)strlen(time));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) warn_files(&to, inputs, kinds[i]);
    warn_words(&to);
    leat_notes_warn_rtts(notes, inputs, options, warnings);
    int64_t mapped = atomic_load(&notes->mapped), scamper = atomic_load(&notes->scamper);
    if (scamper > 0)
        leat_warnings_add(warnings,
                          "%lld pings of scamper were rejected (not_a_ping_result); convert them "
                          "with " SCAMPER_LINE,
                          (long long)scamper);
    const int64_t with_unit = atomic_load(&notes->with_unit);
    if (with_unit > 0)
        leat_warnings_add(warnings,
                          "%lld rows have an rtt with a unit%s and were rejected "
                          "(rtt_unparsable); write all rtts as numbers of one unit, or these "
                          "answers are missing",
                          (long long)with_unit, unit_words(atomic_load(&notes->rtt_units)));
    if (mapped > 0)
        leat_warnings_add(warnings,
                          "%lld measurements have IPv4-mapped addresses, such as ::ffff:192.0.2.1, "
                          "and are stored with the IPv4 address; --address written keeps the text",
                          (long long)mapped);
}
