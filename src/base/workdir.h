/*
 * Work folders: where a run keeps unfinished output, and what a later run may remove.
 *
 * A folder is leat's if it contains leat's mark, the file leat-work.json, and only then: its name
 * proves nothing. The mark holds the random number of the run, and where the run keeps temporary
 * files if not in the folder itself (a folder in --temp, with a mark of the same number). Only
 * files with names that the caller lists are removed; a link, or a file with another name, is never
 * touched or followed, and prevents the folder from being used: LEAT_ERR_EXISTS names it.
 */
#ifndef LEAT_BASE_WORKDIR_H
#define LEAT_BASE_WORKDIR_H

#include "base/file.h"

#define LEAT_WORKDIR_MARK "leat-work.json"
/* The folder for temporary files inside a work folder. */
#define LEAT_WORKDIR_TEMP "temp"

/*
 * The names of a work folder, relative to it: "out/" is a folder, "out/\*.pages" the files in it
 * ('*' stands for any bytes but '/'). A name that begins with "temp/" is also one of the folder of
 * temporary files elsewhere, there without "temp/". Drafts of a name belong to it. The list ends
 * with NULL; the mark need not be in it.
 */
typedef const char *const *leat_workdir_names;

/* Whether `name` is in the list. */
bool leat_workdir_lists(leat_workdir_names names, const char *name);

typedef struct leat_workdir {
    char path[LEAT_PATH_BYTES];
    leat_workdir_names names;
    uint64_t run;               /* number of the run whose work it contains; 0: none */
    char temp[LEAT_PATH_BYTES]; /* its temporary files, from the root if elsewhere; "" before
                                   leat_workdir_begin or _look */
    bool temp_elsewhere;
    bool used;     /* it contains more than its mark */
    char note[80]; /* a text for the next run; printable */
} leat_workdir;

/* Whether dir/name is a folder with the mark of leat, for readers. One without it is a third
 * party's, whatever its name. */
LEAT_MUST_CHECK leat_code leat_workdir_is_marked(const char *dir, const char *name, bool *marked,
                                                 leat_error *err);

/*
 * Finds out to which run the folder belongs; changes nothing. run is 0 if it does not exist or is
 * empty. LEAT_ERR_EXISTS: a folder, file or link of that name is not leat's, or contains
 * third-party files.
 */
LEAT_MUST_CHECK leat_code leat_workdir_look(leat_workdir *dir, const char *path,
                                            leat_workdir_names names, leat_error *err);

/*
 * Begins work in a folder that leat_workdir_look found missing or empty: creates it, with a new
 * number in its mark, and the folder for temporary files in it, or in temp_dir, which must exist,
 * unless that is NULL. `note` is kept in the mark. On failure nothing is left.
 */
LEAT_MUST_CHECK leat_code leat_workdir_begin(leat_workdir *dir, const char *temp_dir,
                                             const char *note, leat_error *err);

/* LEAT_ERR_NOT_FOUND: temp_dir does not exist or is not a folder. It is never created: a missing
 * folder may be a disk that is not mounted. */
LEAT_MUST_CHECK leat_code leat_workdir_check_temp_dir(const char *temp_dir, leat_error *err);

/* Whether the temporary files are in a folder in temp_dir (NULL: in the work folder itself). */
LEAT_MUST_CHECK leat_code leat_workdir_is_temp(const leat_workdir *dir, const char *temp_dir,
                                               bool *same, leat_error *err);

/* For a run that resumes the work: checks that its folder for temporary files still exists and
 * belongs to it (LEAT_ERR_NOT_FOUND). */
LEAT_MUST_CHECK leat_code leat_workdir_check_temp(const leat_workdir *dir, leat_error *err);

/*
 * Removes the folder with its contents, and the temporary files elsewhere; fine if it does not
 * exist. Checks again first: files that are not leat's, by name or by kind, are LEAT_ERR_EXISTS,
 * and then nothing has been removed. `last` (NULL: none) is removed after all other files except
 * the mark. If interrupted or failed, it can be repeated.
 */
LEAT_MUST_CHECK leat_code leat_workdir_remove(leat_workdir *dir, const char *last, leat_error *err);

#endif
