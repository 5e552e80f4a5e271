/*
 * Files mapped for reading, safely: a page that cannot be read (disk error, file cut while mapped)
 * raises SIGBUS; one chained handler, put in front of the program's with every mapping, maps a zero
 * page there and marks the mapping as failed, so that the process lives and the reader reports an
 * error.
 */
#ifndef LEAT_BASE_MAP_H
#define LEAT_BASE_MAP_H

#include "base/file.h"

typedef struct leat_map leat_map;

/* Maps the whole file read-only; the map holds its own reference to the file. */
LEAT_MUST_CHECK leat_code leat_map_open(leat_map **out, const char *path, leat_error *err);
/* Maps size_bytes (> 0) of the file, whatever size it has: where it is shorter there are zeros. */
LEAT_MUST_CHECK leat_code leat_map_open_sized(leat_map **out, const char *path, int64_t size_bytes,
                                              leat_error *err);
/* A map of no bytes, which never fails: stands for a file whose bytes are read in other ways. */
LEAT_MUST_CHECK leat_code leat_map_create_empty(leat_map **out, const char *path, leat_error *err);
void leat_map_close(leat_map *map);
/*
 * All of the map will be read, in any order: asks the system to read it in large pieces and to keep
 * it in large pages, where it can, instead of page by page. For files that memory holds with room
 * to spare; where the disk fails, more bytes around the place are lost than one page.
 */
void leat_map_expect_all(const leat_map *map);
/* Bytes that the file had when it was mapped; leat_map_size is what was mapped. */
int64_t leat_map_file_bytes(const leat_map *map);
const uint8_t *leat_map_data(const leat_map *map);
int64_t leat_map_size(const leat_map *map);
const char *leat_map_path(const leat_map *map);
/* LEAT_OK while no page of the map has failed; else LEAT_ERR_IO naming the file and the byte.
 * To be asked after the bytes were looked at and before anything made of them is handed out. */
LEAT_MUST_CHECK leat_code leat_map_check(const leat_map *map, leat_error *err);
/* How often a page of the map has failed so far. A page that failed reads as zeros from then on, so
 * a reader who knows the hash of what it looks at may compare this number before and after, and
 * check hashes again, instead of giving up the whole map. */
int64_t leat_map_failures(const leat_map *map);

#endif
