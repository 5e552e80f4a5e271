/*
 * Identifiers of a csv, or of a table without a header, that may be hexadecimal or decimal. One
 * with a letter, 0x or a leading zero shows that those of the data set are hexadecimal. Without
 * any, a few may be so by chance, but with sixteen, most of them of three digits, that is less
 * likely than one in a hundred thousand: more likely, they are decimal, or somebody has chosen
 * them. Both readings make valid frames, so neither is taken.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ingest/can/job.h"
#include "ingest/can/read/column_option.h"
#include "ingest/can/read/hints.h"
#include "ingest/can/read/known_logs.h"

enum { IDS_ENOUGH = 16, DIGITS_ENOUGH = 3 };

/* What is known of the files. */
typedef struct csv_files {
    int64_t first, count;
    bool others;  /* there are logs of other formats than the first table */
    bool decided; /* an identifier, or --column, shows how all of them are written */
} csv_files;

/* A csv, or a table without a header. */
static bool is_table(const leat_can_file *file) {
    return file->format == LEAT_CAN_CSV ||
           leat_can_plain_columns(file->format, file->labelled) != NULL;
}

static csv_files look_at(const leat_can_job *job) {
    const int hex = LEAT_CAN_IDS_LETTERS | LEAT_CAN_IDS_DECIDED | LEAT_CAN_IDS_PREFIXED;
    csv_files found = {0};
    for (int64_t i = 0; i < job->splits.inputs.count; i++) {
        const leat_can_file *file = &job->files[i];
        if (file->frames == 0) continue;
        const bool table = is_table(file);
        if (table && found.count++ == 0) found.first = i;
        found.others = found.others || !table || file->format != job->files[found.first].format;
        if (!table) continue;
        found.decided =
            found.decided || (file->ids & hex) != 0 || (file->marks & LEAT_CAN_MARK_PADDED) != 0;
    }
    return found;
}

static bool is_of_csv(const leat_can_job *job, const csv_files *csv, int64_t id) {
    bool met = !csv->others;
    for (int64_t i = 0; i < job->splits.inputs.count && !met; i++)
        met = is_table(&job->files[i]) && leat_can_store_met(job->store, id, (int32_t)i);
    return met;
}

/* As it was written: canonical ones are filled up with zeros. */
static const char *written(const leat_can_id *id) {
    const char *text = id->text;
    while (text[0] == '0' && text[1] != 0) text++;
    return text;
}

/* Whether those of the csv are so many that chance does not explain them; buses have their own.
 * *shown: one of three digits or more. */
static bool are_many(const leat_can_job *job, const csv_files *csv, const char **shown) {
    const leat_can_id *ids = NULL;
    const char *found[2 * IDS_ENOUGH];
    int64_t all = leat_can_store_ids(job->store, &ids);
    int count = 0, long_ = 0;
    for (int64_t i = 0; i < all && count < 2 * IDS_ENOUGH; i++) {
        const char *text = written(&ids[i]);
        bool is_new = true;
        for (int k = 0; k < count && is_new; k++) is_new = strcmp(found[k], text) != 0;
        if (!is_new || !is_of_csv(job, csv, i)) continue;
        found[count++] = text;
        if (strlen(text) >= DIGITS_ENOUGH && long_++ == 0) *shown = text;
    }
    return count >= IDS_ENOUGH && 2 * long_ > count;
}

/* ---- the option that decides ----------------------------------------------------------------- */

/* What is given with --column, with the identifiers' column in this notation: as it is given, or by
 * its name in the header, or its number. */
static void show_option(const leat_can_job *job, const leat_can_file *file, const char *unit,
                        char out[LEAT_CAN_ADVICE_BYTES]) {
    const char *given = file->format == LEAT_CAN_CSV
                            ? job->options->settings.column
                            : leat_can_plain_columns(file->format, file->labelled);
    const char *name = file->format != LEAT_CAN_CSV ? "2"
                       : file->id_name[0] != 0      ? file->id_name
                                                    : "NAME";
    char item[LEAT_CAN_COLUMN_NAME_BYTES + 16];
    int size = (int)strlen(name);
    for (const char *at = given; at != NULL && *at != 0; at += strcspn(at, ",") + 1) {
        if (strncmp(at, "id=", 3) == 0) {
            name = at + 3;
            size = (int)strcspn(name, ",");
        }
        if (at[strcspn(at, ",")] == 0) break;
    }
    snprintf(item, sizeof item, "id=%.*s:%s", size, name, unit);
    leat_can_advise_column(given, item, out, LEAT_CAN_ADVICE_BYTES);
}

leat_code leat_can_check_ids(leat_can_job *job, leat_error *err) {
    const char *shown = "";
    char folder[64], name[100], more[32] = "", how[2][LEAT_CAN_ADVICE_BYTES];
    const csv_files csv = look_at(job);
    if (job->options->settings.identifiers != LEAT_IDS_CANONICAL || csv.count == 0 || csv.decided ||
        !are_many(job, &csv, &shown))
        return LEAT_OK;
    const leat_can_file *file = &job->files[csv.first];
    const leat_can_source *source = &job->splits.files[csv.first];
    leat_text_show(folder, sizeof folder, source->folder, (int64_t)strlen(source->folder));
    leat_text_show(name, sizeof name, source->name, (int64_t)strlen(source->name));
    if (csv.count > 1)
        snprintf(more, sizeof more, " and %lld other file%s", (long long)csv.count - 1,
                 csv.count == 2 ? "" : "s");
    show_option(job, file, "hex", how[0]);
    show_option(job, file, "dec", how[1]);
    if (csv.others) /* --column is for data sets of csv alone */
        snprintf(how[0], sizeof how[0],
                 "begin them with 0x if they are hexadecimal, or write them as hexadecimal numbers "
                 "if not");
    job->resumable = false; /* with the option, it is another cache */
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%s%s%s\"%s: no identifier has a letter, 0x or a leading zero, so all of "
                     "them could be decimal: %s is either 0x%s or 0x%llX; %s%s%s%s",
                     folder, folder[0] != 0 ? "/" : "", name, more, shown, shown,
                     strtoull(shown, NULL, 10), csv.others ? "" : "use ", how[0],
                     csv.others ? "" : ", or if they are decimal ", csv.others ? "" : how[1]);
}
