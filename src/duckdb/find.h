/*
 * Where DuckDB's library is searched for, and whether a copy may be loaded: never from the build
 * tree, unless leat itself runs from there, and never from a place writable by anyone who could not
 * have replaced leat itself.
 */
#ifndef LEAT_DUCKDB_FIND_H
#define LEAT_DUCKDB_FIND_H

#include "base/error.h"
#include "base/file.h"

/* The last one is the system's: a name without a folder, which the loader looks up. */
enum { LEAT_DUCKDB_PLACES = 4 };

typedef enum leat_duckdb_verdict {
    LEAT_DUCKDB_ABSENT,
    LEAT_DUCKDB_REJECTED, /* it exists, and *why is the reason that it is not used */
    LEAT_DUCKDB_TRUSTED
} leat_duckdb_verdict;

/*
 * Place number `index` for a leat that is the file `self` (the command or the library, a path with
 * links resolved; "" if unknown: then the system's place is the only one). `path`: the argument for
 * dlopen, or the path where nothing was found. `why` gets a message for LEAT_DUCKDB_REJECTED.
 *
 * Root, the user, and the owner of `self` are trusted. The library, and each folder from where its
 * path diverges from that of `self`, must belong to one of them and not be writable by others. A
 * group may write if it is the owner's own (with the owner's number), or may write to the folder of
 * `self`. The folder where the paths diverge may be sticky, like /tmp, unless it contains the
 * library.
 */
leat_duckdb_verdict leat_duckdb_place(int index, const char *self, char path[LEAT_PATH_BYTES],
                                      leat_error *why);

#endif
