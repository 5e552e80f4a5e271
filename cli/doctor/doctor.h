/* What the files of `leat doctor` share. */
#ifndef LEAT_CLI_DOCTOR_DOCTOR_H
#define LEAT_CLI_DOCTOR_DOCTOR_H

#include "data_kinds.h"
#include "leat/crowd.h"
#include "leat/load.h"

typedef enum leat_verdict { LEAT_DOCTOR_OK, LEAT_DOCTOR_NOTE, LEAT_DOCTOR_PROBLEM } leat_verdict;

struct leat_doctor {
    leat_cli *cli;
    leat_json *json;   /* NULL: words */
    int64_t counts[3]; /* by verdict */
    bool has_database;
    leat_crowd_facts database;
};

/* ---- Told (tell.c) ---- */

/* One line: the finding, and what to do ("" if nothing). */
void leat_doctor_tell(leat_doctor *doc, leat_verdict how, const char *what, const char *todo);
/* Those of a verification that are listed, of `all`. */
void leat_doctor_tell_findings(leat_doctor *doc, const leat_verify_finding *findings, int64_t count,
                               int64_t all);

/* A note if `data` ("the data set") has more bytes than this machine's memory: which order to use.
 */
bool leat_doctor_tell_memory(leat_doctor *doc, const char *data, int64_t size_bytes);

/* ---- Checked (kernels.c, database.c) ---- */

/* The kernels of this name, or "all" of them. */
void leat_doctor_kernels(leat_doctor *doc, const char *name);
/* Only the hashes of their self-test ("all": of those that are used), a line for each suite; the
 * exit status. */
int leat_doctor_hash(leat_cli *cli, const char *name);

/* The database of a crowd of so many workers (0: those that work now): its findings, and its facts
 * for JSON. Not 0: the exit status of a URL that is not valid. */
int leat_doctor_database(leat_doctor *doc, const char *url, int64_t workers);
void leat_doctor_database_json(leat_json *json, const leat_crowd_facts *facts);

#endif
