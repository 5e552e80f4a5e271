/* Shared by the files of `leat inspect`: one report in three forms. */
#ifndef LEAT_CLI_INSPECT_INSPECT_H
#define LEAT_CLI_INSPECT_INSPECT_H

#include "page/page.h"

typedef struct leat_report {
    const char *name; /* of the data set, as the user gave it */
    const leat_summary *summary;
    const leat_verify_report *verify; /* NULL: not run */
} leat_report;

/* The findings of a verification, for either kind of data. */
typedef struct leat_found {
    const leat_verify_finding *items;
    int64_t count, problems, notes;
    const char *record; /* what the number of a finding counts: "record" */
} leat_found;
void leat_found_terminal(leat_cli *cli, const leat_found *found);
/* Members of the current object. */
void leat_found_json(leat_json *json, const leat_found *found);
/* A panel; `read` is what was read and checked, as HTML. */
void leat_found_page(leat_textbuf *out, const leat_found *found, const char *read);

/* A report's three forms. */
typedef struct leat_report_forms {
    leat_out_members_fn *json;
    void (*terminal)(leat_cli *cli, const void *report);
    void (*page)(leat_page *page, const void *report);
} leat_report_forms;
/* Writes `report` in the requested forms; then reports `failure`, if it is one, instead of writing
 * the page. Returns the exit status: 1 also if verification found problems. */
int leat_inspect_write(leat_cli *cli, const leat_report_forms *forms, const void *report,
                       bool problems, const leat_error *failure);

/* A histogram on one line, if the terminal shows Unicode. */
bool leat_terminal_has_sparks(void);
void leat_terminal_sparks(leat_cli *cli, const leat_distribution *dist);

/* `report` is a leat_report. */
void leat_report_page(leat_page *page, const void *report);
void leat_report_json(leat_json *json, const void *report);
/* All figures of the page. */
void leat_report_figures(leat_page *page, const leat_summary *summary);
/* Those of round trips and failures by version, split, hour and row. */
void leat_report_values(leat_page *page, const leat_summary *summary);
/* The beginning of a part of a row over time, in microseconds. */
double leat_course_begin(const leat_summary *summary, int part);
extern const char *const leat_loss_words[LEAT_LOSSES];
/* Round trips of a split and a version (0: IPv4, 1: IPv6); -1: of all. */
void leat_summary_rtts(const leat_summary *summary, int split, int version, leat_distribution *out);
void leat_report_terminal(leat_cli *cli, const void *report);

#endif
