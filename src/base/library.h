/*
 * Libraries that are opened at run time, when something needs them: leat runs without them. Who
 * uses one has a struct with a pointer to each function that it calls, and a constant that
 * describes the library:
 *
 *     static const leat_library_function functions[] = {
 *         {"zip_fread", offsetof(struct leat_zip, fread), LEAT_LINKED(LEAT_LINK_ZIP, zip_fread)},
 *         {0}};
 *     static const leat_library libzip = {.name = "libzip", .files = {"libzip.so.5"}, ...};
 *     LEAT_TRY(leat_library_open(&zip->library, &libzip, zip, err));
 *
 * A build that runs where the library is not installed links it instead (LEAT_LINK in
 * CMakeLists.txt): then its functions are those of the table, and no file is looked for.
 */
#ifndef LEAT_BASE_LIBRARY_H
#define LEAT_BASE_LIBRARY_H

#include <stddef.h>

#include "base/error.h"
#include "base/file.h"

typedef struct leat_library_function {
    const char *name;     /* as the library exports it */
    size_t offset;        /* of its pointer in the user's struct */
    void (*linked)(void); /* in a build that links the library, in all rows; otherwise NULL */
} leat_library_function;

/* The last member of a row: is_linked is LEAT_LINK_<NAME>, 0 or 1. */
#define LEAT_LINKED(is_linked, symbol) LEAT_LINKED_(is_linked, symbol)
#define LEAT_LINKED_(is_linked, symbol) LEAT_LINKED_##is_linked(symbol)
#define LEAT_LINKED_0(symbol) NULL
#define LEAT_LINKED_1(symbol) ((void (*)(void))(symbol))

typedef struct leat_library {
    const char *name;      /* "libzip" */
    const char *least;     /* the oldest version with all functions: "1.7" */
    const char *files[3];  /* names for the system's loader, tried in this order; ends with NULL */
    bool beside;           /* looked for in the folder of the command or libleat.so first */
    bool stays;            /* its code stays in memory after it is closed */
    const char *use;       /* begins the message that it is missing: "zip archives are read with" */
    const char *package;   /* in Debian: "libzip-dev" */
    const char *otherwise; /* ends that message: ", or unpack the archive"; NULL: nothing else */
    const leat_library_function *functions; /* ends with {0} */
} leat_library;

/*
 * Opens the first of the files that can be loaded and fills the pointers in the struct `into`.
 * LEAT_ERR_UNSUPPORTED: none can be loaded, or it lacks a function, so it is older than `least`;
 * the message names the library and what to install, and why one beside cannot be loaded.
 * Then *handle and all pointers are NULL.
 */
LEAT_MUST_CHECK leat_code leat_library_open(void **handle, const leat_library *library, void *into,
                                            leat_error *err);
/* NULL accepted. The pointers must not be used any more. */
void leat_library_close(void *handle);

/* ---- for a library with places of its own ---------------------------------------------------- */

/* What is in the file `path`, a path or a name for the system's loader. NULL: it cannot be loaded,
 * and *problem says why, until the thread's next call; NULL if there is no such file. */
void *leat_library_load(const char *path, bool stays, const char **problem);
/* Fills the pointers; the name of a function that is missing (its pointer is NULL), or NULL. */
const char *leat_library_bind(void *handle, const leat_library_function *functions, void *into);
/* The real path of the library; "?" if unknown, "linked" if there is no file. Valid as long as it
 * is open. */
const char *leat_library_path(void *handle);
/* The file that contains this code, the command or libleat.so, with links resolved; "" if unknown.
 */
void leat_library_find_self(char self[LEAT_PATH_BYTES]);

#endif
