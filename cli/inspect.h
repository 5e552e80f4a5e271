/* What the files of `leat inspect` share: one report, in three forms. */
#ifndef LEAT_CLI_INSPECT_H
#define LEAT_CLI_INSPECT_H

#include "page.h"

typedef struct leat_report {
    const char *name; /* of the data set, as the user gave it */
    const leat_summary *summary;
    const leat_verify_report *verify; /* NULL: not run */
} leat_report;

/* What verification found, of either kind of data. */
typedef struct leat_found {
    const leat_verify_finding *items;
    int64_t count, problems, notes;
    const char *record; /* what the number of a finding counts: "record" */
} leat_found;
void leat_found_terminal(leat_cli *cli, const leat_found *found);
/* Members of the object at hand. */
void leat_found_json(leat_json *json, const leat_found *found);
/* A panel; `read` says what was read and checked, as HTML. */
void leat_found_page(leat_textbuf *out, const leat_found *found, const char *read);

/* A histogram in one line, where the terminal shows Unicode. */
bool leat_terminal_has_sparks(void);
void leat_terminal_sparks(leat_cli *cli, const leat_dist *dist);

/* A CAN cache: in words, as JSON or as a page, by the options. Returns the exit status. */
int leat_inspect_can(leat_cli *cli);

/* `report` is a leat_report. */
void leat_report_page(leat_textbuf *out, const void *report);
void leat_report_json(leat_json *json, const void *report);
/* All figures of the page. */
void leat_report_figures(leat_textbuf *out, const leat_summary *summary);
void leat_report_terminal(leat_cli *cli, const leat_report *report);

#endif
