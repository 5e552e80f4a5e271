/* The files of tests/golden/reference: outputs of the systems that leat is compared with
 * (docs/README.md) and samples of real data.
 */
#ifndef LEAT_TESTS_GOLDEN_FILES_H
#define LEAT_TESTS_GOLDEN_FILES_H

#include <jansson.h>
#include <stdbool.h>

/*
 * The path of a file or folder by its name there ("golden/can/batches_ref.json"); it is valid until
 * the program ends. With LEAT_SHARED in the environment it is that of this folder, where all files
 * are whole. Without, a file that is stored as NAME.gz is unpacked into a temporary folder, which
 * goes away with the program. The test fails if there is no such file.
 */
const char *golden_path(const char *name);

/* Whether files are whole; if not, those that the README there calls cut are. */
bool golden_whole(void);

/* The same for a file that the README names as left out: skips the test without LEAT_SHARED. */
const char *golden_left_out(const char *name);

/* What a JSON file, packed or not, holds; json_decref. */
json_t *golden_json(const char *name);

#endif
