/*
 * A data set of images on disk: its files, its one tensor, and the JSON beside it. The contract
 * between ingest, which writes data sets, and load. docs/images.md, "The data set".
 *
 *   images.safetensors   u8 [N, S, S, 3], "images": rows from the top, red, green, blue
 *   images.pages         XXH3-64 of each 4 KiB page of it
 *   images.json          what the images are: names, sizes, hashes
 *   .complete            SHA-256 of images.json; written last
 *   rejected.csv         ingest's own: the files that are not in it; only if there are any
 */
#ifndef LEAT_FORMAT_IMAGE_SET_IMAGE_SET_H
#define LEAT_FORMAT_IMAGE_SET_IMAGE_SET_H

#include "format/complete.h"
#include "format/image/image.h"
#include "format/output.h"
#include "format/tensor_file.h"

#define LEAT_IMAGES_FORMAT "leat.images"
#define LEAT_IMAGES_VERSION 1
#define LEAT_IMAGES_PAGES_NAME "images.pages"

/* What to do about a damaged data set, at the end of a message. */
#define LEAT_IMAGES_REBUILD "repeat the `leat ingest images` command with --replace"

/* The names of a data set's own files, as a list for base/workdir.h, with `prefix` before each. */
#define LEAT_IMAGES_NAMES(prefix)                                                                  \
    prefix LEAT_COMPLETE_NAME, prefix LEAT_REJECTED_NAME, prefix LEAT_IMAGES_NAME,                 \
        prefix LEAT_IMAGES_TENSORS_NAME, prefix LEAT_IMAGES_PAGES_NAME

#define LEAT_IMAGES_SIZE_MIN 8
#define LEAT_IMAGES_SIZE_MAX 1024
#define LEAT_IMAGES_COUNT_MAX INT32_MAX
#define LEAT_IMAGE_NAME_BYTES 4096 /* with the NUL */

/* The header is one page, filled up with blanks: its size does not depend on N, which is known only
 * at the end, and images of 64 x 64 take three pages each. */
#define LEAT_IMAGES_HEADER_BYTES LEAT_PAGE_BYTES

/* ---- What the JSON says ------------------------------------------------------------------- */

/* An image. `name`: relative to the folder or zip that was read, parts separated by "/", UTF-8. */
typedef struct leat_image_entry {
    const char *name;
    int32_t width, height; /* of the original, upright */
    uint64_t decoded;      /* XXH3-64 of its RGB bytes, upright, at full size */
} leat_image_entry;

/* An entry as it is kept: names are in one block. */
typedef struct leat_image_kept {
    int64_t name_at;
    int32_t width, height;
    uint64_t decoded;
} leat_image_kept;

/* {0} is the empty one. */
typedef struct leat_image_set {
    int64_t count;            /* N */
    int32_t size;             /* S */
    char fingerprint[65];     /* SHA-256 of the tensor's bytes, in hexadecimal digits */
    char decoded_sha256[65];  /* of the entries' hashes, 8 bytes little-endian each */
    char sorted_sha256[65];   /* of the same hashes in ascending order, so of the images whatever
                                 their names; "" if images.json, of an older leat, lacks it */
    int64_t rejected;         /* files in rejected.csv */
    int64_t texts;            /* files that were skipped because they are texts */
    char background[8];       /* "#rrggbb" under transparent pixels; "": alpha was dropped */
    int64_t file_bytes;       /* of images.safetensors */
    uint64_t pages_hash;      /* XXH3-64 of images.pages */
    leat_image_kept *entries; /* [count]; these and the names are the set's own */
    int64_t entry_capacity;
    leat_buf names;
} leat_image_set;

void leat_image_set_free(leat_image_set *set);
/* Entry 0 <= index < count; the name belongs to the set, until an entry is added. */
leat_image_entry leat_image_set_entry(const leat_image_set *set, int64_t index);
/* Adds an entry, whose name must come after those before, by bytes. LEAT_ERR_INPUT says which rule
 * it breaks: two equal names, one that is empty, too long or not UTF-8, a size out of range. */
LEAT_MUST_CHECK leat_code leat_image_set_add(leat_image_set *set, const leat_image_entry *entry,
                                             leat_error *err);
/* S S 3. */
int64_t leat_image_bytes(int32_t size);
/* Where an image begins in the file; of count: the size of the file. */
int64_t leat_image_place(int32_t size, int64_t index);
/* The SHA-256 of the entries' hashes. */
void leat_image_set_decoded_sha256(const leat_image_set *set, char digest[65]);
/* The same of the hashes in ascending order. LEAT_ERR_MEMORY. */
LEAT_MUST_CHECK leat_code leat_image_set_sorted_sha256(const leat_image_set *set, char digest[65],
                                                       leat_error *err);
/* How many images have the size and pixels of one before them, and the numbers of the first such
 * pair; -1 if there is none. LEAT_ERR_MEMORY. */
LEAT_MUST_CHECK leat_code leat_image_set_duplicates(const leat_image_set *set, int64_t *count,
                                                    int64_t *first, int64_t *second,
                                                    leat_error *err);
/*
 * In what the images of `mine` differ from those of `wanted`, for the owner of `mine`, in words
 * that follow a colon; *same and "" if they do not: "the same pictures in another order", "12
 * missing: a.jpg, b.jpg, c.jpg and 9 more", "2 decoded differently: ...", or several of these; "the
 * same pictures at 32 x 32 instead of 64 x 64".
 * LEAT_ERR_MEMORY.
 */
#define LEAT_IMAGES_DIFFERENCE_BYTES 1024
LEAT_MUST_CHECK leat_code leat_image_set_difference(const leat_image_set *wanted,
                                                    const leat_image_set *mine, bool *same,
                                                    char words[LEAT_IMAGES_DIFFERENCE_BYTES],
                                                    leat_error *err);
/* Its size and page hashes as images.json has them. */
leat_tensor_file leat_image_set_file(const leat_image_set *set);

/* The only header that the file of a data set of this count and size has. */
LEAT_MUST_CHECK leat_code leat_image_set_header(int64_t count, int32_t size,
                                                uint8_t header[LEAT_IMAGES_HEADER_BYTES],
                                                leat_error *err);

/*
 * Reads images.json of a folder. LEAT_ERR_NOT_FOUND: no complete data set; LEAT_ERR_CORRUPT: not
 * what was written; LEAT_ERR_UNSUPPORTED: of another version. `set` need not be set before; free it
 * after success.
 */
LEAT_MUST_CHECK leat_code leat_image_set_load(leat_image_set *set, const char *dir,
                                              leat_error *err);
/* Checks the other files: that they exist and have the sizes in images.json; with `pages` also the
 * hashes of all pages, with up to `threads` threads, under the ticker's stage "verifying".
 * LEAT_ERR_CORRUPT names the first file that is damaged or missing. */
LEAT_MUST_CHECK leat_code leat_image_set_files_check(const leat_image_set *set, const char *dir,
                                                     bool pages, int threads, leat_ticker *ticker,
                                                     leat_error *err);

/* ---- images.json -------------------------------------------------------------------------- */

extern const leat_documents leat_image_documents; /* images.json alone */

/* Writes the text in pieces: a line an image, no newline at the end. A set that the reader would
 * refuse is LEAT_ERR_INPUT. */
LEAT_MUST_CHECK leat_code leat_image_set_write(const leat_image_set *set, leat_json_out_fn out,
                                               void *context, leat_error *err);
/* `what` names the document; *set is empty on failure. */
LEAT_MUST_CHECK leat_code leat_image_set_parse(leat_image_set *set, leat_json_span text,
                                               const char *what, leat_error *err);

/* ---- Writing ------------------------------------------------------------------------------ */

/*
 * Writes a data set into a folder, image after image, in bounded memory: 256 KiB, and an entry and
 * its name for each image. Until leat_image_writer_finish the folder holds no data set, only the
 * files images.safetensors and images.pages as they grow; the caller removes them, or resumes.
 */
typedef struct leat_image_writer leat_image_writer;

/* Begins files for images of `size`; `resume`: continues those of an interrupted run, if they
 * exist. */
LEAT_MUST_CHECK leat_code leat_image_writer_create(leat_image_writer **out, const char *dir,
                                                   int32_t size, bool resume, leat_error *err);
void leat_image_writer_destroy(leat_image_writer *writer);

/* XXH3-64 of an image's S S 3 bytes: for the notes of a run that may be resumed. */
uint64_t leat_image_hash(const uint8_t *pixels, int32_t size);
/* The next image of an interrupted run, before any is appended: reads it from the file and hashes
 * it again. *kept is false if the file does not have an image of this hash there, as after a kill;
 * then it is to be appended. */
LEAT_MUST_CHECK leat_code leat_image_writer_keep(leat_image_writer *writer,
                                                 const leat_image_entry *entry, uint64_t hash,
                                                 bool *kept, leat_error *err);
/* Adds an image [S, S, 3]. Codes of leat_image_set_add. */
LEAT_MUST_CHECK leat_code leat_image_writer_append(leat_image_writer *writer,
                                                   const leat_image_entry *entry,
                                                   const uint8_t *pixels, leat_error *err);
/* Hands all images to the system, so that a kill of the process does not lose them. */
LEAT_MUST_CHECK leat_code leat_image_writer_flush(leat_image_writer *writer, leat_error *err);
/* What the metadata also say; by default no texts and no background. */
void leat_image_writer_describe(leat_image_writer *writer, int64_t texts, const char *background);
/* Ends the files, and writes images.json and .complete, all synced. The set belongs to the writer.
 * LEAT_ERR_INPUT if there is no image. */
LEAT_MUST_CHECK leat_code leat_image_writer_finish(leat_image_writer *writer, int64_t rejected,
                                                   const leat_image_set **set, leat_error *err);

#endif
