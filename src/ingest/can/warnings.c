/* What the user should know about how logs were read: unused labels, identifiers that may be
 * decimal, times that were invented. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/can/job.h"
#include "ingest/can/read/csv.h"
#include "ingest/can/read/hints.h"
#include "ingest/can/read/known_logs.h"
#include "ingest/can/read/labels.h"

typedef struct notes {
    const leat_can_splits *splits; /* NULL: no files are named */
    char *text;
    size_t text_bytes;
} notes;

static void add(notes *to, const char *format, ...) LEAT_PRINTF(2, 3);
static void add(notes *to, const char *format, ...) {
    size_t used = strlen(to->text);
    va_list args;
    va_start(args, format);
    vsnprintf(to->text + used, to->text_bytes - used, format, args);
    va_end(args);
}

/* "folder/file.csv" */
static void add_name(notes *to, int64_t number) {
    char folder[100], name[100];
    const leat_can_source *file = &to->splits->files[number];
    leat_text_show(folder, sizeof folder, file->folder, (int64_t)strlen(file->folder));
    leat_text_show(name, sizeof name, file->name, (int64_t)strlen(file->name));
    add(to, "\"%s%s%s\"", folder, folder[0] != 0 ? "/" : "", name);
}

/* The first of them, and how many others the same is true of. */
static void add_files(notes *to, int64_t first, int64_t count) {
    if (to->text[0] != 0) add(to, "; ");
    add_name(to, first);
    if (count > 1) add(to, " and %lld other file%s", (long long)count - 1, count == 2 ? "" : "s");
}

/* Identifiers that could be decimal, where they are read as hexadecimal: their column says so, or
 * all digits are decimal, and their column has a name that is also that of decimal ones (HCRL's
 * text calls it ID, and fills hexadecimal ones up with zeros), and none begins with 0, or some are
 * too large for 11 bits only as hexadecimal numbers. */
static bool may_be_decimal(const leat_can_file *file) {
    bool hex = leat_can_formats[file->format].is_hex;
    bool decided = (file->ids & (LEAT_CAN_IDS_LETTERS | LEAT_CAN_IDS_DECIDED)) != 0;
    if (hex || decided || file->frames == 0) return false;
    if ((file->ids & LEAT_CAN_IDS_NAMED_DEC) != 0) return true;
    bool shown =
        (file->marks & LEAT_CAN_MARK_PADDED) != 0 || (file->ids & LEAT_CAN_IDS_PREFIXED) != 0;
    bool text = file->format == LEAT_CAN_HCRL_TEXT && (file->ids & LEAT_CAN_IDS_BEYOND) == 0;
    bool named = (file->id_may_be_decimal || text) && !shown;
    return named || (file->ids & (LEAT_CAN_IDS_LONG | LEAT_CAN_IDS_BEYOND)) == LEAT_CAN_IDS_LONG;
}

/* 0x1A4 beside 2015: those without 0x could be decimal, and as hexadecimal numbers some of them
 * would be too large for 11 bits. */
static bool has_mixed_ids(const leat_can_file *file) {
    const int both = LEAT_CAN_IDS_PREFIXED | LEAT_CAN_IDS_BARE_LONG;
    return (file->ids & both) == both &&
           (file->ids & (LEAT_CAN_IDS_DECIDED | LEAT_CAN_IDS_BARE_HEX)) == 0;
}

/* A column for --column: its number. */
typedef struct column {
    char text[8];
} column;
static column number_of(int number) {
    column out = {"NAME"};
    if (number > 0) snprintf(out.text, sizeof out.text, "%d", number);
    return out;
}

static bool has_unused_label(const leat_can_file *file) { return file->label_like.names[0] != 0; }
static bool has_unused_columns(const leat_can_file *file) {
    return file->unused[0] != 0 || file->late_mark[0] != 0;
}
static bool has_bad_labels(const leat_can_file *file) {
    return file->rejected[LEAT_CAN_REJECT_LABEL] > 0;
}
static bool has_missing_labels(const leat_can_file *file) {
    return file->rejected[LEAT_CAN_REJECT_NO_LABEL] > 0;
}
/* Some of its lines; a log without any is counted as such. */
static bool has_sparse_labels(const leat_can_file *file) {
    return file->labelled && file->frames_sparse > 0;
}
static bool has_doubtful_bytes(const leat_can_file *file) {
    return (file->doubts & LEAT_CAN_DOUBT_BYTES) != 0 && file->frames > 0;
}
static bool has_doubtful_times(const leat_can_file *file) {
    return (file->doubts & LEAT_CAN_DOUBT_TIME) != 0 && file->frames > 0;
}
/* If its first times are not whole numbers, which alone are doubtful. */
static bool has_slow_times(const leat_can_file *file) {
    return (file->doubts & LEAT_CAN_DOUBT_SLOW) != 0 && !has_doubtful_times(file);
}
static bool has_doubtful_bits(const leat_can_file *file) {
    return (file->doubts & LEAT_CAN_DOUBT_BITS) != 0 && file->frames > 0;
}
static bool has_doubtful_digits(const leat_can_file *file) {
    return (file->doubts & LEAT_CAN_DOUBT_DIGITS) != 0 && file->frames > 0;
}
static bool has_padded_ids(const leat_can_file *file) {
    return (file->doubts & LEAT_CAN_DOUBT_WIDTH) != 0 && file->frames > 0;
}
static bool is_inverted(const leat_can_file *file) {
    return (file->doubts & LEAT_CAN_DOUBT_INVERTED) != 0 && file->frames > 0;
}
static bool has_negative_labels(const leat_can_file *file) {
    return (file->marks & LEAT_CAN_MARK_NEGATIVE) != 0;
}
/* 1 and 2, or other numbers without a 0. */
static bool has_no_zero(const leat_can_file *file) {
    const int none = LEAT_CAN_MARK_BENIGN | LEAT_CAN_MARK_NEGATIVE;
    return (file->marks & LEAT_CAN_MARK_MORE) != 0 && (file->marks & none) == 0;
}
/* A bus has frames with equal times where a logger rounds, but then there are others as well. */
static bool has_equal_times(const leat_can_file *file) {
    enum { FRAMES_ENOUGH = 100 };
    return file->frames >= FRAMES_ENOUGH && !file->no_time &&
           5 * file->equal_times > 4 * file->frames;
}
static bool has_zero_times(const leat_can_file *file) {
    return file->rejected[LEAT_CAN_REJECT_ZERO] > 0;
}
static bool has_no_time(const leat_can_file *file) { return file->no_time; }

/* The first of the files of which this is true, and their number. */
static int64_t find_files(const notes *of, const leat_can_file *files,
                          bool (*is_one)(const leat_can_file *file), int64_t *count) {
    int64_t first = -1;
    *count = 0;
    for (int64_t i = 0; i < of->splits->inputs.count; i++) {
        if (!is_one(&files[i])) continue;
        if (first < 0) first = i;
        ++*count;
    }
    return first;
}

/* "rejected 3 frames WHAT" */
static void add_rejected(notes *to, int64_t frames, const char *what) {
    add(to, ": rejected %lld frame%s %s", (long long)frames, frames == 1 ? "" : "s", what);
}

/* Frames that were left out because of their labels may be attacks. */
static void note_labels(notes *to, const leat_can_file *files) {
    int64_t count = 0, first = find_files(to, files, has_missing_labels, &count);
    if (first >= 0) {
        add_files(to, first, count);
        add_rejected(to, files[first].rejected[LEAT_CAN_REJECT_NO_LABEL], "without a label");
        add(to, ", though the log has labels; if such frames are benign, use --unlabelled "
                "benign-lines");
    }
    first = find_files(to, files, has_sparse_labels, &count);
    if (first >= 0) {
        add_files(to, first, count);
        add(to,
            ": %lld of %lld frames have no label, and count as benign (--unlabelled "
            "benign-lines)",
            (long long)files[first].frames_sparse, (long long)files[first].frames);
    }
    first = find_files(to, files, has_bad_labels, &count);
    if (first >= 0) {
        add_files(to, first, count);
        add_rejected(to, files[first].rejected[LEAT_CAN_REJECT_LABEL],
                     files[first].labelled ? "with an unknown label"
                                           : "with a label that the first lines do not have");
        add(to, " (--max-rejected)");
    }
}

/* Logs that may be for tests, among others, if nobody has chosen which are. */
static void note_tests(notes *to) {
    int64_t first = -1, count = 0;
    for (int64_t i = 0; i < to->splits->inputs.count; i++) {
        if (!to->splits->files[i].may_be_test) continue;
        if (first < 0) first = i;
        count++;
    }
    if (to->splits->chosen || count == 0 || count == to->splits->inputs.count) return;
    add_files(to, first, count);
    add(to, ": by its name, this may be a test, but it is training data; choose with --train and "
            "--test");
}

/* Labels whose numbers may mean something else. */
static void note_values(notes *to, const leat_can_file *files) {
    int64_t count = 0, first = find_files(to, files, is_inverted, &count);
    if (first >= 0) {
        add_files(to, first, count);
        add(to, ": the column of --column label is named for benign frames, so it is read "
                "inverted: values above 0 are benign, all others attacks");
    }
    first = find_files(to, files, has_negative_labels, &count);
    if (first >= 0) {
        add_files(to, first, count);
        add(to, ": there are labels below 0, which are read as benign, and only labels above 0 as "
                "attacks; if that is wrong, write 0 for benign frames and 1 for attacks");
    }
    first = find_files(to, files, has_no_zero, &count);
    if (first >= 0) {
        add_files(to, first, count);
        add(to, ": no label is 0, so every frame is an attack; if one of the numbers means benign, "
                "write 0 instead");
    }
}

/* --column as it is, with other labels. */
static void add_label_option(notes *to, const leat_can_settings *settings, const char *labels) {
    char item[LEAT_CAN_LABELS_BYTES + 8], option[LEAT_CAN_ADVICE_MAX];
    snprintf(item, sizeof item, "label=%s", labels);
    leat_can_advise_column(settings->column, item, option, sizeof option);
    add(to, "%s", option);
}

/* --column as it is, with a column of this number in this notation. */
static void add_notation(notes *to, const leat_can_settings *settings, const char *role, int number,
                         const char *unit) {
    char item[48], option[LEAT_CAN_ADVICE_MAX];
    snprintf(item, sizeof item, "%s=%s:%s", role, number_of(number).text, unit);
    leat_can_advise_column(settings->column, item, option, sizeof option);
    add(to, "%s", option);
}

/* Whether 1 is benign in one of these columns. */
static bool has_inverted(const leat_can_label_columns *columns) {
    for (const char *at = columns->names; *at == '"';) {
        const char *end = strchr(at + 1, '"');
        if (end == NULL) return false;
        if (leat_can_is_benign_name(text_between(at + 1, end))) return true;
        at = end + 1 + strspn(end + 1, ", ");
    }
    return false;
}

static void note_unused_labels(notes *to, const leat_can_file *files,
                               const leat_can_settings *settings) {
    const int attacks = LEAT_CAN_MARK_ATTACK | LEAT_CAN_MARK_MORE;
    int64_t count = 0, first = find_files(to, files, has_unused_label, &count);
    if (first < 0) return;
    const leat_can_file *file = &files[first];
    const leat_can_label_columns *like = &file->label_like;
    bool several = strstr(like->names, "\", \"") != NULL, sum = strchr(like->option, '+') != NULL;
    add_files(to, first, count);
    add(to, ": column%s %s look%s like %s but %s not used%s; use ", several ? "s" : "", like->names,
        several ? "" : "s", several ? "labels" : "a label", several ? "are" : "is",
        !file->labelled                ? ", so the frames have no label"
        : (file->marks & attacks) == 0 ? ", and no frame is labelled as an attack"
                                       : "");
    add_label_option(to, settings, like->option);
    add(to, " to read %s", several ? "them" : "it");
    if (sum) add(to, ": a frame is an attack if one of the columns says so");
    if (has_inverted(like) && sum)
        add(to, ", and 1 is benign in one that is named for benign frames");
    else if (has_inverted(like)) add(to, " inverted: 1 is then benign, and 0 an attack");
    if (several && !file->labelled) add(to, "; or label=NAME to read one of them");
    if (like->names[1] >= '0' && like->names[1] <= '9')
        add(to, "; or bus=N, extended=N, remote=N or error=N if a column is one of these");
}

/* The options for identifiers that may be decimal. */
static void add_id_options(notes *to, const leat_can_file *file,
                           const leat_can_settings *settings) {
    char option[LEAT_CAN_ADVICE_MAX];
    add(to, ": identifiers are read as hexadecimal, but all of them could be decimal; ");
    if (file->format == LEAT_CAN_CSV) {
        add(to, "use ");
        add_notation(to, settings, "id", file->id_column, "dec");
        add(to, " if they are, or id=%s:hex if they are not", number_of(file->id_column).text);
        return;
    }
    const char *columns = leat_can_plain_columns(file->format, file->labelled);
    if (columns != NULL) {
        leat_can_advise_column(columns, "id=2:dec", option, sizeof option);
        add(to, "use %s if they are", option);
        return;
    }
    add(to, "if they are, write them as hexadecimal numbers");
}

static void note_columns(notes *of, const leat_can_file *files, const leat_can_settings *settings) {
    notes to = *of;
    note_unused_labels(&to, files, settings);
    int64_t count = 0, first = find_files(&to, files, has_unused_columns, &count);
    if (first >= 0) {
        char late[LEAT_CAN_LABEL_NAME_BYTES + 4] = "";
        if (files[first].late_mark[0] != 0)
            snprintf(late, sizeof late, "\"%s\"", files[first].late_mark);
        if (strstr(files[first].unused, late) != NULL && files[first].unused[0] != 0) late[0] = 0;
        add_files(&to, first, count);
        add(&to,
            ": columns of few values are not used: %s%s%s; if one is the bus or marks frames, name "
            "it with --column bus=NAME, extended=NAME, remote=NAME or error=NAME (a mark is 0, "
            "1, or a word such as true)",
            files[first].unused, files[first].unused[0] != 0 && late[0] != 0 ? ", " : "", late);
    }
    note_labels(&to, files);
    note_values(&to, files);
    first = find_files(&to, files, may_be_decimal, &count);
    if (first >= 0 && settings->identifiers == LEAT_IDS_CANONICAL) {
        add_files(&to, first, count);
        add_id_options(&to, &files[first], settings);
    }
    first = find_files(&to, files, has_doubtful_bytes, &count);
    if (first >= 0) {
        add_files(&to, first, count);
        add(&to, ": the first lines do not show whether bytes are hexadecimal or decimal; "
                 "specify --column data=FIRST..LAST:hex (or :dec)");
        if (files[first].data_column > 0)
            add(&to, " (here data=%d:hex or data=%d:dec)", files[first].data_column,
                files[first].data_column);
    }
    first = find_files(&to, files, has_doubtful_bits, &count);
    if (first >= 0) {
        add_files(&to, first, count);
        add(&to,
            ": payloads are read as hexadecimal, but those of the first lines consist of 0 and "
            "1 only; use ");
        add_notation(&to, settings, "data", files[first].data_column, "bits");
        add(&to, " if they are bits, or data=%s:hex", number_of(files[first].data_column).text);
    }
    first = find_files(&to, files, has_doubtful_digits, &count);
    if (first >= 0) {
        add_files(&to, first, count);
        add(&to, ": payloads are read as hexadecimal, but those of the first lines have no digit "
                 "from A to F; use ");
        add_notation(&to, settings, "data", files[first].data_column, "hex");
        add(&to, " if they are");
    }
}

static void note_prefixes(notes *to, const leat_can_file *files) {
    int64_t count = 0, first = find_files(to, files, has_mixed_ids, &count);
    if (first < 0) return;
    add_files(to, first, count);
    add(to, ": some identifiers begin with 0x, others could be decimal; all are read as "
            "hexadecimal: if the others are decimal, write all of them alike");
}

/* Eight digits mean 29 bits in a trace, unless its writer fills all identifiers up. */
static void note_widths(notes *to, const leat_can_file *files) {
    int64_t count = 0, first = find_files(to, files, has_padded_ids, &count);
    if (first < 0) return;
    add_files(to, first, count);
    add(to, ": all identifiers of the first lines have eight digits, also some up to 7FF, so those "
            "up to 7FF are read as 11 bits");
}

/* Files of which this is true, whose times may be of a smaller unit. */
static void doubt_unit(notes *to, const leat_can_file *files, const leat_can_settings *settings,
                       bool (*is_one)(const leat_can_file *file), const char *why) {
    int64_t count = 0, first = find_files(to, files, is_one, &count);
    if (first < 0) return;
    add_files(to, first, count);
    add(to, ": times are read as seconds, but %s; use ", why);
    add_notation(to, settings, "time", files[first].time_column, "ms");
    add(to, ", us or ns, or time=%s:s if they are seconds%s",
        number_of(files[first].time_column).text, files[first].gaps ? ", with --times gap" : "");
}

static void note_times(notes *of, const leat_can_file *files, const leat_can_settings *settings) {
    notes to = *of;
    doubt_unit(&to, files, settings, has_doubtful_times,
               "all of the first ones are whole numbers, most of them different");
    doubt_unit(&to, files, settings, has_slow_times,
               "most frames are then more than 0.1 s after the one before, and a bus is faster");
    int64_t count = 0, first = find_files(&to, files, has_equal_times, &count);
    if (first >= 0) {
        add_files(&to, first, count);
        add(&to,
            ": %lld %% of consecutive frames have equal times, so the times between them are lost; "
            "use a log whose times are not rounded",
            (long long)(100 * files[first].equal_times / files[first].frames));
    }
    first = find_files(&to, files, has_zero_times, &count);
    if (first >= 0) {
        add_files(&to, first, count);
        add_rejected(&to, files[first].rejected[LEAT_CAN_REJECT_ZERO],
                     "with the time 0, which loggers write where they do not have a time");
    }
    first = find_files(&to, files, has_no_time, &count);
    if (first >= 0) {
        add_files(&to, first, count);
        add(&to, ": there are no times; they were invented, %lld frames per second (--no-time)",
            (long long)settings->no_time);
    }
}

/* ---- copies --------------------------------------------------------------------------------- */

typedef struct copy {
    uint8_t sha256[32];
    int split;
    int64_t file;
} copy;

static int compare_copies(const void *a, const void *b) {
    const copy *x = a, *y = b;
    int order = memcmp(x->sha256, y->sha256, sizeof x->sha256);
    if (order != 0) return order;
    return x->file < y->file ? -1 : x->file > y->file;
}

/* Logs of the same contents. The first pair in different splits is named, or else the first one. */
static leat_code note_copies(notes *to, const leat_can_file *files, leat_error *err) {
    int64_t count = 0, copies = 0, all = to->splits->inputs.count;
    const copy *a = NULL, *b = NULL;
    copy *list = NULL;
    LEAT_TRY(LEAT_NEW(&list, all, err));
    for (int64_t i = 0; i < all; i++) {
        if (files[i].frames == 0) continue;
        list[count] = (copy){.split = to->splits->files[i].split, .file = i};
        memcpy(list[count++].sha256, to->splits->inputs.items[i].sha256, sizeof list->sha256);
    }
    qsort(list, (size_t)count, sizeof *list, compare_copies);
    for (int64_t i = 1; i < count; i++) {
        const copy *x = &list[i - 1], *y = &list[i];
        if (memcmp(x->sha256, y->sha256, sizeof x->sha256) != 0) continue;
        copies++;
        if (a != NULL && (a->split != b->split || x->split == y->split)) continue;
        a = x;
        b = y;
    }
    if (a != NULL) {
        add_files(to, a->file, 1);
        add(to, " and ");
        add_name(to, b->file);
        add(to, " have the same contents");
        if (a->split != b->split)
            add(to, ", though they are in the splits %s and %s", to->splits->name[a->split],
                to->splits->name[b->split]);
        if (copies > 1) add(to, "; so have %lld more", (long long)copies - 1);
        add(to, "; remove copies");
    }
    leat_free(list);
    return LEAT_OK;
}

leat_code leat_can_warn_files(const leat_can_file *files, const leat_can_splits *splits,
                              const leat_can_settings *settings, char *warning,
                              size_t warning_bytes, leat_error *err) {
    notes to = {splits, warning, warning_bytes};
    LEAT_TRY(note_copies(&to, files, err));
    note_tests(&to);
    note_columns(&to, files, settings);
    note_prefixes(&to, files);
    note_widths(&to, files);
    note_times(&to, files, settings);
    /* a character may have been cut */
    size_t size = strlen(warning);
    while (size + 1 == warning_bytes && size > 0 && ((uint8_t)warning[size - 1] & 0x80) != 0)
        warning[--size] = 0;
    return LEAT_OK;
}

void leat_can_warn_attacks(const leat_can_ingest_result *result, char *warning,
                           size_t warning_bytes) {
    enum { GRAPHS_ENOUGH = 20, PER_CENT = 90 };
    notes to = {NULL, warning, warning_bytes};
    long long graphs = result->split_graphs[0], attacks = result->split_attacks[0];
    if (graphs < GRAPHS_ENOUGH || 100 * attacks <= PER_CENT * graphs) return;
    add(&to,
        "%s%lld of the %lld training graphs have an attack; check that the right column is read as "
        "the label (--column label=NAME), and add logs of normal driving if there are none",
        warning[0] != 0 ? "; " : "", attacks, graphs);
}
