/* A database's URL, or a ticket, that is not on the command line, which every user of the machine
 * can see. */
#include <stdio.h>
#include <string.h>

#include "base/lines.h"
#include "crowd/ticket.h"
#include "leat/crowd.h"

_Static_assert(LEAT_CROWD_URL_BYTES >= LEAT_PG_URL_BYTES &&
                   LEAT_CROWD_URL_BYTES >= LEAT_TICKET_TEXT_BYTES,
               "whatever can be connected to can be read");

/* Of the line that leat invite prints, kept as it is, the ticket. */
static void keep_ticket(char *line) {
    char *next = NULL;
    if (strncmp(line, "leat", 4) != 0 || leat_ticket_is(line)) return;
    for (char *word = strtok_r(line, " \t", &next); word != NULL;
         word = strtok_r(NULL, " \t", &next))
        if (leat_ticket_is(word)) {
            memmove(line, word, strlen(word) + 1);
            return;
        }
}

static leat_code read_line(const char *path, char *out, leat_error *err) {
    const leat_lines_options plain = {0};
    leat_lines *lines = NULL;
    leat_line line;
    bool found = false;
    LEAT_TRY(leat_lines_open(&lines, path, &plain, err));
    leat_code code = leat_lines_first(lines, &line, &found, err);
    if (code == LEAT_OK && (!found || line.size_bytes >= LEAT_CROWD_URL_BYTES))
        code = leat_fail(err, LEAT_ERR_OPTION,
                         "\"%.300s\" does not begin with a line that is the URL of a database or a "
                         "ticket",
                         path);
    if (code == LEAT_OK && memchr(line.data, 0, (size_t)line.size_bytes) != NULL)
        code = leat_fail(err, LEAT_ERR_OPTION,
                         "\"%.300s\": the first line has a NUL byte, so what follows it in the "
                         "URL would be lost; write the file again",
                         path);
    if (code == LEAT_OK) {
        memcpy(out, line.data, (size_t)line.size_bytes);
        out[line.size_bytes] = 0;
        keep_ticket(out);
    }
    leat_lines_close(lines);
    return code;
}

leat_code leat_crowd_url_read(const char *typed, char out[LEAT_CROWD_URL_BYTES], leat_error *err) {
    out[0] = 0;
    if (strcmp(typed, "-") == 0) return read_line("/dev/stdin", out, err);
    if (typed[0] == '@') return read_line(typed + 1, out, err);
    if (strlen(typed) >= LEAT_CROWD_URL_BYTES)
        return leat_fail(err, LEAT_ERR_OPTION, "the URL or ticket has more than %d bytes",
                         LEAT_CROWD_URL_BYTES - 1);
    snprintf(out, LEAT_CROWD_URL_BYTES, "%s", typed);
    keep_ticket(out);
    return LEAT_OK;
}
