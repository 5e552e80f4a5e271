/* What the files of `leat inspect` share: one report, in three forms. */
#ifndef LEAT_CLI_INSPECT_H
#define LEAT_CLI_INSPECT_H

#include "page.h"

typedef struct leat_report {
    const char *name; /* of the data set, as the user gave it */
    const leat_summary *summary;
    const leat_verify_report *verify; /* NULL: not run */
} leat_report;

/* `report` is a leat_report. */
void leat_report_page(leat_textbuf *out, const void *report);
void leat_report_json(leat_json *json, const void *report);
/* All figures of the page. */
void leat_report_figures(leat_textbuf *out, const leat_summary *summary);
void leat_report_terminal(leat_cli *cli, const leat_report *report);

#endif
