/*
 * ArrayRecord files that were given without a manifest, by others or of a data set whose manifest
 * is damaged: which they are.
 */
#ifndef LEAT_LOAD_PROBES_FILES_H
#define LEAT_LOAD_PROBES_FILES_H

#include "base/file.h"

/* Adds the *.arrayrecord files of `dir`, then those of its folders train and test, each by name. A
 * folder that is not there, or has none, adds none. */
LEAT_MUST_CHECK leat_code leat_files_of_folder(const char *dir, leat_path_list *files,
                                               leat_error *err);
/* Adds `path` itself if it is a file, what leat_files_of_folder finds if it is a folder; neither,
 * or a folder without any, is LEAT_ERR_NOT_FOUND. */
LEAT_MUST_CHECK leat_code leat_files_of_path(const char *path, leat_path_list *files,
                                             leat_error *err);

#endif
