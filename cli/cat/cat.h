/* What the files of `leat cat` share. */
#ifndef LEAT_CLI_CAT_CAT_H
#define LEAT_CLI_CAT_CAT_H

#include "command/cli.h"

/* Parses a range of `things` ("row") from an option: FIRST:END, END excluded; either bound may be
 * omitted, and the default is all of 0 .. count - 1. A single number selects that one. */
typedef struct leat_cat_range {
    int64_t first, end;
} leat_cat_range;
/* Returns 0, or 2 after reporting an error. */
int leat_cat_read_range(leat_cli *cli, const char *option, const char *things, int64_t count,
                        leat_cat_range *out);

#endif
