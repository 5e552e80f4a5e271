/* What the files of `leat batches --report` share. */
#ifndef LEAT_CLI_BATCHES_TOKENS_REPORT_H
#define LEAT_CLI_BATCHES_TOKENS_REPORT_H

#include "batches/batches.h"
#include "page/page.h"

typedef struct batches_report {
    leat_cli *cli;
    const char *name; /* of the data set, as the user gave it */
    const leat_loader_options *options;
    leat_batch_report *report;
} batches_report;

/* ---- tokens_words.c ---- */
extern const char *const batches_field_names[LEAT_TOKEN_FIELDS];

/* Share of the positions of the given number of sequences. */
double batches_padding_share(const batches_report *job, int64_t padding, int64_t sequences);

/* The value of --order. */
const char *batches_order_of(const batches_report *job, char text[LEAT_SETTING_BYTES]);

/* ---- tokens_page.c ---- */
/* `user` is a batches_report. */
void batches_report_page(leat_page *page, const void *user);

/* ---- tokens_sequences.c ---- */
void batches_draw_sequences(leat_page *page, const batches_report *job);

#endif
