/* Messages that the ingest commands share. */
#ifndef LEAT_CLI_INGEST_H
#define LEAT_CLI_INGEST_H

#include "command/cli.h"
#include "leat/ingest.h"

/* Of an ingest whose folder is one data set. */
#define LEAT_INGEST_OPTION_OUTPUT                                                                  \
    {                                                                                              \
        .own.name = "output", .own.kind = LEAT_SETTING_OUTPUT, .own.value = "DIR",                 \
        .own.help = "folder to write the data set to; it holds one data set", .letter = 'o',       \
        .required = true                                                                           \
    }

/* How the inputs of a reused result were compared with those of this run. */
static inline const char *leat_ingest_compared(bool verified) {
    return verified ? "same contents"
                    : "same sizes and modification times; --verify compares their contents";
}

/* Files and folders in the input folders that were not read. */
static inline void leat_ingest_write_skipped(leat_cli *cli, const leat_ingest_skipped *skipped) {
    char a[LEAT_WORDS_BYTES];
    if (skipped->count == 0) return;
    leat_out(cli, "        not read: ");
    for (int i = 0; i < skipped->name_count; i++) {
        if (i > 0) leat_out(cli, ", ");
        leat_out_name(cli, skipped->name[i]);
    }
    if (skipped->count > skipped->name_count)
        leat_out(cli, " and %s more", leat_words_count(a, skipped->count - skipped->name_count));
    leat_out(cli, "\n");
}

static inline void leat_ingest_json_skipped(leat_json *json, const leat_ingest_skipped *skipped) {
    leat_json_key(json, "not_read");
    leat_json_begin_object(json);
    leat_json_member_int(json, "count", skipped->count);
    leat_json_key(json, "first");
    leat_json_begin_array(json);
    for (int i = 0; i < skipped->name_count; i++) leat_json_string(json, skipped->name[i]);
    leat_json_end_array(json);
    leat_json_end_object(json);
}

/* Notes that --resume found nothing to resume. */
static inline void leat_ingest_note_new(leat_cli *cli) {
    leat_cli_note(cli, "there was nothing to resume; this was a new ingest");
}

#endif
