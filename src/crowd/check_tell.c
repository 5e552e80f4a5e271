/* How the parts of leat_crowd_check ask the server and report what they find. */
#include <stdarg.h>
#include <stdio.h>

#include "crowd/check.h"

enum { WORDS_BYTES = 2048 };

void leat_check_tell(const leat_check *self, leat_crowd_verdict verdict, const char *todo,
                     const char *format, ...) {
    char what[WORDS_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    self->tell(self->user, verdict, what, todo);
}

bool leat_check_ask(const leat_check *self, const char *what, leat_pg_rows **rows, int columns,
                    const char *sql, const leat_pg_value *value) {
    leat_error err = {0};
    *rows = NULL;
    if (leat_pg_broken(self->pg)) return false;
    if (leat_pg_call(self->pg, rows, (leat_pg_shape){columns, 0, false}, sql, value, value != NULL,
                     &err) == LEAT_OK) {
        if (leat_pg_row_count(*rows) > 0) return true;
        leat_pg_rows_destroy(*rows);
        *rows = NULL;
        snprintf(err.message, sizeof err.message, "the server returns no row");
    }
    leat_check_tell(self, LEAT_CROWD_NOTE, "", "%s: not known: %s", what, err.message);
    return false;
}
