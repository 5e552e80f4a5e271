/* What the files of `leat doctor` share. */
#ifndef LEAT_CLI_DOCTOR_DOCTOR_H
#define LEAT_CLI_DOCTOR_DOCTOR_H

#include "kinds.h"

typedef enum leat_verdict { LEAT_DOCTOR_OK, LEAT_DOCTOR_NOTE, LEAT_DOCTOR_PROBLEM } leat_verdict;

struct leat_doctor {
    leat_cli *cli;
    leat_json *json;   /* NULL: words */
    int64_t counts[3]; /* by verdict */
};

/* One line: the finding, and what to do ("" if nothing). */
void leat_doctor_tell(leat_doctor *doc, leat_verdict how, const char *what, const char *todo);

#endif
