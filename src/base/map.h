/*
 * Files mapped for reading, safely: a page that cannot be read (disk error, file truncated while
 * mapped) raises SIGBUS; one chained handler, installed before the program's with every mapping,
 * maps a zero page there and marks the mapping as failed, so that the process lives and the reader
 * reports an error.
 */
#ifndef LEAT_BASE_MAP_H
#define LEAT_BASE_MAP_H

#include "base/file.h"

typedef struct leat_map leat_map;

/* Maps the whole file read-only; the map holds its own reference to the file. */
LEAT_MUST_CHECK leat_code leat_map_open(leat_map **out, const char *path, leat_error *err);
/* Maps size_bytes (> 0) of the file, whatever its size: the rest is zeros. */
LEAT_MUST_CHECK leat_code leat_map_open_sized(leat_map **out, const char *path, int64_t size_bytes,
                                              leat_error *err);
/* A map of zero bytes, which never fails: represents a file whose bytes are read in other ways. */
LEAT_MUST_CHECK leat_code leat_map_create_empty(leat_map **out, const char *path, leat_error *err);
void leat_map_close(leat_map *map);
/*
 * All of the map will be read, in any order: asks the system to read it in large pieces and to keep
 * it in large pages, if it can, instead of page by page. For files that fit in memory with space to
 * spare; if the disk fails, more bytes around the place are lost than one page.
 */
void leat_map_expect_all(const leat_map *map);
/*
 * Reads bytes [begin, end) of the map in large pieces, as far as they are not in memory, and
 * returns when they are there. A hint: whatever cannot be read is found when it is touched.
 */
void leat_map_fetch(const leat_map *map, int64_t begin, int64_t end);
/* Size of the file when it was mapped; leat_map_size is what was mapped. */
int64_t leat_map_file_bytes(const leat_map *map);
const uint8_t *leat_map_data(const leat_map *map);
int64_t leat_map_size(const leat_map *map);
const char *leat_map_path(const leat_map *map);
/* LEAT_OK while no page of the map has failed; else LEAT_ERR_IO naming the file and the byte. Call
 * it after reading the bytes and before returning anything made from them. */
LEAT_MUST_CHECK leat_code leat_map_check(const leat_map *map, leat_error *err);
/* The number of page failures so far. A page that failed reads as zeros from then on, so a reader
 * that knows the hash of what it reads may compare this number before and after, and check hashes
 * again, instead of giving up the complete map. */
int64_t leat_map_failures(const leat_map *map);

#endif
