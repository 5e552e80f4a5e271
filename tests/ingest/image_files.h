/*
 * What the tests of the whole of `leat ingest images` share: a folder of pictures and other files,
 * the same as an archive, and what a data set is made of.
 */
#ifndef LEAT_TESTS_IMAGE_FILES_H
#define LEAT_TESTS_IMAGE_FILES_H

#include "ingest/core_support.h"
#include "leat/ingest.h"

/* A file of the set: a drawn picture, or other bytes. */
typedef struct image_file {
    const char *name;
    int32_t width, height; /* 0: not a picture */
    enum { FILE_JPEG, FILE_PNG, FILE_TURNED, FILE_CUT, FILE_TEXT } kind;
} image_file;

/* The files in the order of their names: 14, of which 10 are pictures and 4 are rejected. */
enum { IMAGE_FILES = 14, IMAGE_FILES_GOOD = 10 };
extern const image_file image_files[IMAGE_FILES];
/* The bytes of one; leat_buf_free. */
leat_buf image_file_bytes(const image_file *file);

/* Writes them into the folder `dir`, with names that are passed over; `clean`: only pictures. */
void image_files_write(const char *dir, bool clean);
/* The same as an archive, in another order. */
void image_files_zip(const char *path, bool clean);

/* 16 pixels, one thread. */
leat_images_ingest_options image_files_options(void);

/* SHA-256 over the names and bytes of all files in the folder of a data set but those of its work,
 * in hexadecimal digits; "" if it has no `.complete`. */
typedef struct image_digest {
    char text[65];
} image_digest;
image_digest image_set_digest(const char *dir);

#endif
