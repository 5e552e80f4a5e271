/* What the user should know about how logs were read: unused labels, identifiers that may be
 * decimal, times that were invented. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ingest/can/job.h"

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

/* "folder/file.csv", and how many others the same is true of. */
static void add_files(notes *to, int64_t first, int64_t count) {
    char folder[100], name[100];
    const leat_can_source *file = &to->splits->files[first];
    leat_text_show(folder, sizeof folder, file->folder, (int64_t)strlen(file->folder));
    leat_text_show(name, sizeof name, file->name, (int64_t)strlen(file->name));
    add(to, "%s\"%s%s%s\"", to->text[0] != 0 ? "; " : "", folder, folder[0] != 0 ? "/" : "", name);
    if (count > 1) add(to, " and %lld other file%s", (long long)count - 1, count == 2 ? "" : "s");
}

/* Identifiers that could be decimal, where they are read as hexadecimal: their column says so, or
 * all digits are decimal and some are too large for 11 bits only as hexadecimal numbers. */
static bool may_be_decimal(const leat_can_file *file) {
    bool hex = file->format == LEAT_CAN_GVRET || file->format == LEAT_CAN_CANDUMP;
    bool decided = (file->ids & (LEAT_CAN_IDS_LETTERS | LEAT_CAN_IDS_DECIDED)) != 0;
    if (hex || decided || file->frames == 0) return false;
    if ((file->ids & LEAT_CAN_IDS_NAMED_DEC) != 0) return true;
    return (file->ids & LEAT_CAN_IDS_LONG) != 0 && (file->ids & LEAT_CAN_IDS_BEYOND) == 0;
}

static bool has_unused_label(const leat_can_file *file) { return file->label_like[0] != 0; }
static bool has_bad_labels(const leat_can_file *file) {
    return file->rejected[LEAT_CAN_REJECT_LABEL] > 0;
}
static bool has_missing_labels(const leat_can_file *file) {
    return file->rejected[LEAT_CAN_REJECT_NO_LABEL] > 0;
}
static bool has_doubtful_bytes(const leat_can_file *file) {
    return (file->doubts & LEAT_CAN_DOUBT_BYTES) != 0 && file->frames > 0;
}
static bool has_doubtful_times(const leat_can_file *file) {
    return (file->doubts & LEAT_CAN_DOUBT_TIME) != 0 && file->frames > 0;
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
        add(to, ", though the log has labels");
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

void leat_can_note_files(const leat_can_file *files, const leat_can_splits *splits,
                         const leat_can_settings *settings, char *warning, size_t warning_bytes) {
    notes to = {splits, warning, warning_bytes};
    int64_t count = 0, first = find_files(&to, files, has_unused_label, &count);
    if (first >= 0) {
        add_files(&to, first, count);
        add(&to,
            ": column \"%s\" looks like a label but is not used%s; use --column label=%s to read "
            "it",
            files[first].label_like, files[first].labelled ? "" : ", so the frames have no label",
            files[first].label_like);
    }
    note_labels(&to, files);
    first = find_files(&to, files, may_be_decimal, &count);
    if (first >= 0 && settings->identifiers == LEAT_IDS_CANONICAL) {
        add_files(&to, first, count);
        add(&to, ": identifiers are read as hexadecimal, but all of them could be decimal; use "
                 "--column id=NAME:dec if they are, or id=NAME:hex if they are not");
    }
    first = find_files(&to, files, has_doubtful_bytes, &count);
    if (first >= 0) {
        add_files(&to, first, count);
        add(&to, ": the first lines do not show whether bytes are hexadecimal or decimal; "
                 "specify --column data=FIRST..LAST:hex (or :dec)");
    }
    first = find_files(&to, files, has_doubtful_times, &count);
    if (first >= 0) {
        add_files(&to, first, count);
        add(&to, ": times are read as seconds, but all of the first ones are whole numbers, most "
                 "of them different; use --column time=NAME:ms, us or ns, or time=NAME:s if they "
                 "are seconds");
    }
    first = find_files(&to, files, has_no_time, &count);
    if (first >= 0) {
        add_files(&to, first, count);
        add(&to, ": there are no times; they were invented, %lld frames per second (--no-time)",
            (long long)settings->no_time);
    }
}

void leat_can_note_attacks(const leat_can_ingest_result *result, char *warning,
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
