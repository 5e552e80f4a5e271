/* Warnings about the values of rtt in files: see notes.h. */
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "ingest/probes/notes.h"

/* Files named by a warning, as in notes.c. */
enum { FILES_NAMED = 4, NAME_BYTES = 160, COLUMN_BYTES = 61 };

static void warn_more(int64_t count, leat_warnings *warnings) {
    if (count > FILES_NAMED)
        leat_warnings_add(warnings, "... and the same of %lld other files",
                          (long long)(count - FILES_NAMED));
}

/* Files in which hardly any row has a value: the rtts may be in another column. A file of objects
 * without the member has a warning of its own. */
static void warn_empty(const leat_notes *notes, const leat_input_list *inputs, const char *column,
                       leat_warnings *warnings) {
    int64_t count = 0;
    for (int64_t i = 0; i < inputs->count; i++) {
        const leat_rtt_tally *rtts = &notes->files[i].rtts;
        char name[NAME_BYTES];
        if (rtts->empty == 0 || rtts->empty * 10 < rtts->rows * 9 ||
            atomic_load(&notes->files[i].without) > 0 || count++ >= FILES_NAMED)
            continue;
        leat_inputs_name(inputs->items[i].path, name, sizeof name);
        leat_warnings_add(warnings,
                          "\"%s\": %s is empty in %lld of %lld rows, which are stored as failed "
                          "measurements; if the rtts are in another column, use --column rtt=NAME",
                          name, column, (long long)rtts->empty, (long long)rtts->rows);
    }
    warn_more(count, warnings);
}

/* The option of the advice has the values of all files, and those that were given: following it
 * loses none. */
static void warn_repeats(const leat_notes *notes, const leat_input_list *inputs,
                         const leat_lost *given, leat_rtt_unit unit, leat_warnings *warnings) {
    char name[NAME_BYTES], repeats[LEAT_RTT_REPEATS_BYTES], option[LEAT_LOST_TEXT_BYTES];
    leat_lost all = {0};
    int64_t count = 0;
    if (given != NULL) all = *given;
    for (int64_t i = 0; i < inputs->count; i++)
        leat_rtt_tally_repeats(&notes->files[i].rtts, &all, repeats);
    leat_lost_write(&all, option);
    for (int64_t i = 0; i < inputs->count; i++) {
        const leat_rtt_tally *rtts = &notes->files[i].rtts;
        leat_lost own = {0};
        leat_rtt_tally_repeats(rtts, &own, repeats);
        if (own.count == 0 || count++ >= FILES_NAMED) continue;
        leat_inputs_name(inputs->items[i].path, name, sizeof name);
        /* as ping writes answers in less than 1 ms without fractions */
        if (unit == LEAT_RTT_UNIT_MS && !rtts->fraction && own.count == 1 && own.value[0] == 0)
            leat_warnings_add(
                warnings,
                "\"%s\": all rtts are whole numbers of ms, and 0 in %lld of %lld rows: "
                "less than 1 ms, or a lost ping; if it means that, use --lost %s",
                name, (long long)rtts->mark[0], (long long)rtts->rows, option);
        else
            leat_warnings_add(
                warnings,
                "\"%s\": an rtt repeats as no measurement would: %s of %lld rows; if it "
                "means a lost ping, use --lost %s",
                name, repeats, (long long)rtts->rows, option);
    }
    warn_more(count, warnings);
}

/* A value that no row has, perhaps because it is in another unit than the input's. */
static void warn_unused(const leat_notes *notes, const leat_input_list *inputs,
                        const leat_lost *given, leat_warnings *warnings) {
    leat_lost unused = {0};
    char text[LEAT_LOST_TEXT_BYTES];
    for (int k = 0; given != NULL && k < given->count; k++) {
        int64_t rows = 0;
        for (int64_t i = 0; i < inputs->count; i++) rows += notes->files[i].rtts.lost[k];
        if (rows == 0) leat_lost_add(&unused, given->value[k]);
    }
    leat_lost_write(&unused, text);
    if (unused.count > 0)
        leat_warnings_add(warnings,
                          "--lost %s: no row has %s; values are compared as they are written in "
                          "the input, before units",
                          text, unused.count == 1 ? "this rtt" : "one of these rtts");
}

void leat_notes_add_shape(leat_notes *notes, int32_t file_index, int64_t row,
                          const leat_json_slice *value) {
    if (notes == NULL) return;
    atomic_fetch_add(&notes->shaped, 1);
    pthread_mutex_lock(&notes->lock);
    leat_shape *first = &notes->shape;
    if (!first->known || file_index < first->file_index ||
        (file_index == first->file_index && row < first->row)) {
        *first = (leat_shape){.known = true, .file_index = file_index, .row = row};
        first->elements = atomic_load(&notes->files[file_index].elements);
        leat_shape_take(first, value);
    }
    pthread_mutex_unlock(&notes->lock);
}

void leat_notes_shape(const leat_notes *notes, const leat_input_list *inputs, const char *rtt,
                      char out[LEAT_SHAPE_BYTES]) {
    const leat_shape *first = &notes->shape;
    out[0] = 0;
    if (first->known) leat_shape_remedy(first, &inputs->items[first->file_index], rtt, out);
}

static void warn_shapes(const leat_notes *notes, const leat_input_list *inputs, const char *rtt,
                        leat_warnings *warnings) {
    char text[LEAT_SHAPE_BYTES];
    leat_notes_shape(notes, inputs, rtt, text);
    if (text[0] != 0)
        leat_warnings_add(warnings,
                          "%lld rows have a list or an object as rtt and were rejected "
                          "(rtt_unparsable); the first is %s",
                          (long long)atomic_load(&notes->shaped), text);
}

void leat_notes_warn_rtts(const leat_notes *notes, const leat_input_list *inputs,
                          const leat_source_options *options, leat_warnings *warnings) {
    const char *rtt = options->columns.rtt;
    char column[COLUMN_BYTES];
    leat_text_show(column, sizeof column, rtt, (int64_t)strlen(rtt));
    warn_empty(notes, inputs, column, warnings);
    warn_repeats(notes, inputs, options->lost, options->rtt_unit, warnings);
    warn_unused(notes, inputs, options->lost, warnings);
    warn_shapes(notes, inputs, rtt, warnings);
}
