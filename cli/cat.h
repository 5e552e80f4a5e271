/* What the files of `leat cat` share. */
#ifndef LEAT_CLI_CAT_H
#define LEAT_CLI_CAT_H

#include "cli.h"

/* A range of `things` ("row"), as an option gives it: FIRST:END, END not among them, each may be
 * left out, which is what the range is then: the whole of 0 .. count - 1. A number alone is that
 * one. */
typedef struct leat_cat_range {
    int64_t first, end;
} leat_cat_range;
/* Returns 0, or 2 after telling what is wrong. */
int leat_cat_read_range(leat_cli *cli, const char *option, const char *things, int64_t count,
                        leat_cat_range *out);

/* A JSON text. What is stored need not be text at all, in files of others. */
void leat_cat_json_text(leat_cli *cli, const char *bytes, int32_t size_bytes);

/* The graphs of a CAN cache. Returns the exit status. */
int leat_cat_can(leat_cli *cli);

#endif
