/*
 * Files that a user names, and which of them leat may replace: those that it wrote itself, which it
 * recognises by the marks of leat/base.h. The one rule of all commands (docs/outputs.md).
 */
#ifndef LEAT_BASE_OWN_H
#define LEAT_BASE_OWN_H

#include "base/file.h"

/* The marks are within this many bytes at the beginning of a file. */
#define LEAT_OWN_HEAD_BYTES 256
/* The mark that a file begins with; LEAT_MARK_NONE: none. Never LEAT_MARK_NUMBERS, which no bytes
 * of the file itself show. */
leat_mark leat_own_mark(const uint8_t *head, int64_t size_bytes);

/* LEAT_ERR_EXISTS: the path is taken, and not by a file with this mark (LEAT_MARK_NONE: by
 * anything). Reads no more of a file than its head, but for LEAT_MARK_NUMBERS, where the hash of
 * the file must be the one in the figure beside it. */
LEAT_MUST_CHECK leat_code leat_own_check(const char *path, leat_mark mark, leat_error *err);
/* The mark of files of this name in a folder of figures: FIGURE, NUMBERS or NONE. */
leat_mark leat_own_mark_of_name(const char *name);

/*
 * Renames the file `from` to `to`, a path in the same folder or another one of the file system,
 * without replacing a file that leat_own_check refuses, even one that appears meanwhile. Where the
 * file system can exchange two names, the check is made of the very file that is replaced; where it
 * cannot, a file that appears between the last check and the rename is replaced. Afterwards `from`
 * may be the file that was replaced, which the caller removes.
 */
LEAT_MUST_CHECK leat_code leat_own_rename(const char *from, const char *to, leat_mark mark,
                                          leat_error *err);

#endif
