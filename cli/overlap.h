/* What the splits of a data set of probe rows share, in words and in documents. */
#ifndef LEAT_CLI_OVERLAP_H
#define LEAT_CLI_OVERLAP_H

#include "command/cli.h"
#include "leat/format.h"

/* Two lines, the first after `first`, the second after `second`; nothing if it is not known, or if
 * there is no test split. */
void leat_overlap_write(leat_cli *cli, const leat_split_overlap *overlap, const char *first,
                        const char *second);
/* The member "overlap"; null if it is not known. */
void leat_overlap_json(leat_json *json, const leat_split_overlap *overlap);

#endif
