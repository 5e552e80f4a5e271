/*
 * leat/base.h: what every part of the library shares: result codes, errors, progress, versions.
 *
 * Conventions of the whole library:
 *  - What can fail returns a leat_code and takes a `leat_error *err` last (NULL allowed). On
 * failure out-parameters are zeroed and nothing is left behind.
 *  - Handles are opaque, made by _create/_open and released by _destroy/_close (NULL accepted).
 *  - The library never prints, exits or aborts on input.
 */
#ifndef LEAT_BASE_H
#define LEAT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LEAT_API __attribute__((visibility("default")))
#define LEAT_MUST_CHECK __attribute__((warn_unused_result))
#define LEAT_PRINTF(format_arg, first_arg) __attribute__((format(printf, format_arg, first_arg)))

/* Result codes: name, number (never reused), text. */
#define LEAT_CODES(X)                                                                              \
    X(LEAT_OK, 0, "ok")                                                                            \
    X(LEAT_ERR_MEMORY, 1, "out of memory")                                                         \
    X(LEAT_ERR_IO, 2, "input/output error")                                                        \
    X(LEAT_ERR_NOT_FOUND, 3, "not found")                                                          \
    X(LEAT_ERR_CORRUPT, 4, "damaged data")                                                         \
    X(LEAT_ERR_INPUT, 5, "bad input")                                                              \
    X(LEAT_ERR_OPTION, 6, "bad option")                                                            \
    X(LEAT_ERR_UNSUPPORTED, 7, "unsupported")                                                      \
    X(LEAT_ERR_LIMIT, 8, "limit exceeded")                                                         \
    X(LEAT_ERR_NO_SPACE, 9, "no space left")                                                       \
    X(LEAT_ERR_EXISTS, 10, "exists already")                                                       \
    X(LEAT_ERR_CANCELLED, 11, "cancelled")                                                         \
    X(LEAT_ERR_BUSY, 12, "in use")

#define LEAT_CODE_ENUM(name, number, text) name = (number),
typedef enum leat_code { LEAT_CODES(LEAT_CODE_ENUM) } leat_code;
#undef LEAT_CODE_ENUM

#define LEAT_MESSAGE_BYTES 512

/* Filled on failure only: what was being done, to what, with which value, where, and what to do. */
typedef struct leat_error {
    leat_code code;
    char message[LEAT_MESSAGE_BYTES];
} leat_error;

/* The text of a code, for example "damaged data"; "unknown code" for a number that is none. */
LEAT_API const char *leat_code_text(leat_code code);

/* One report of a long job. `total` is -1 where the end is not known; `unit` as "rows". */
typedef struct leat_progress {
    const char *stage;
    const char *unit;
    int64_t done;
    int64_t total;
} leat_progress;

/*
 * Called now and then, from any thread of the job but never from two at once; returning false asks
 * the job to stop, which then fails with LEAT_ERR_CANCELLED.
 */
typedef bool (*leat_progress_fn)(void *user, const leat_progress *progress);

/* The library's version, as "0.1.0". */
LEAT_API const char *leat_version(void);

/*
 * How the library was built: compiler, instruction sets compiled in and in use, and libraries with
 * the versions found at run time. One call per item until it returns false.
 */
typedef struct leat_build_item {
    const char *group; /* "compiler", "cpu" or "library" */
    const char *name;
    char value[96];
} leat_build_item;
LEAT_API bool leat_build_info(int index, leat_build_item *item);

/*
 * Writing one JSON document, indented by two blanks, members in the order of the calls (compact: on
 * one line). The first failure is kept, makes the later calls do nothing, and is told by
 * leat_json_finish. Text that is no UTF-8 has its bad bytes written as U+FFFD.
 */
typedef struct leat_json leat_json;
LEAT_API LEAT_MUST_CHECK leat_code leat_json_create(leat_json **out, bool compact, leat_error *err);
LEAT_API void leat_json_destroy(leat_json *json);
LEAT_API void leat_json_begin_object(leat_json *json);
LEAT_API void leat_json_end_object(leat_json *json);
LEAT_API void leat_json_begin_array(leat_json *json);
LEAT_API void leat_json_end_array(leat_json *json);
LEAT_API void leat_json_key(leat_json *json, const char *key);
LEAT_API void leat_json_string(leat_json *json, const char *text);
LEAT_API void leat_json_text(leat_json *json, const char *bytes, int64_t size_bytes);
LEAT_API void leat_json_int(leat_json *json, int64_t value);
/* The shortest text that reads back as the same double; not-a-number and infinities are null. */
LEAT_API void leat_json_double(leat_json *json, double value);
LEAT_API void leat_json_bool(leat_json *json, bool value);
LEAT_API void leat_json_null(leat_json *json);
/* Key and value in one. */
LEAT_API void leat_json_member_string(leat_json *json, const char *key, const char *text);
LEAT_API void leat_json_member_int(leat_json *json, const char *key, int64_t value);
LEAT_API void leat_json_member_double(leat_json *json, const char *key, double value);
LEAT_API void leat_json_member_bool(leat_json *json, const char *key, bool value);
/* Ends the document with a newline; *text (NUL-terminated) belongs to `json` until it is destroyed.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_json_finish(leat_json *json, const char **text,
                                                    int64_t *size_bytes, leat_error *err);

/*
 * Text of any size, put together by many calls; the first failure is kept, makes the later calls do
 * nothing, and is told by leat_textbuf_finish.
 */
typedef struct leat_textbuf leat_textbuf;
LEAT_API LEAT_MUST_CHECK leat_code leat_textbuf_create(leat_textbuf **out, leat_error *err);
LEAT_API void leat_textbuf_destroy(leat_textbuf *text);
LEAT_API void leat_textbuf_append(leat_textbuf *text, const char *bytes, int64_t size_bytes);
/* Text that ends with a NUL. */
LEAT_API void leat_textbuf_put(leat_textbuf *text, const char *words);
LEAT_API void leat_textbuf_printf(leat_textbuf *text, const char *format, ...) LEAT_PRINTF(2, 3);
/* *words (NUL-terminated) belongs to `text` until it is destroyed or added to. */
LEAT_API LEAT_MUST_CHECK leat_code leat_textbuf_finish(leat_textbuf *text, const char **words,
                                                       int64_t *size_bytes, leat_error *err);
/* Writes a file whole or not at all: a temporary name, fsync, rename. */
LEAT_API LEAT_MUST_CHECK leat_code leat_text_save(const char *path, const char *text,
                                                  int64_t size_bytes, leat_error *err);
/* Whether leat_text_save could begin: asked before the work whose result it is to save. */
LEAT_API LEAT_MUST_CHECK leat_code leat_text_can_save(const char *path, leat_error *err);
/* Whether this process may make files in a folder; only looks. LEAT_ERR_NOT_FOUND: there is none.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_folder_can_write(const char *path, leat_error *err);

/*
 * One ping measurement, as rows hold it and tokens are made of it. How long the texts live, the
 * function that fills it says. An empty text stands for the zero address of ip_version.
 */
typedef struct leat_measurement {
    int64_t time_us;       /* microseconds since 1970 UTC */
    const char *src, *dst; /* addresses as stored */
    int32_t src_size, dst_size;
    int ip_version;                       /* 4 or 6 */
    float rtt;                            /* milliseconds; -1: the measurement failed */
    uint8_t src_bytes[16], dst_bytes[16]; /* network order; of IPv4 the first 4 */
} leat_measurement;

/*
 * A time as UTC in ISO 8601, "2019-04-24T00:00:00.000000Z", NUL-terminated, for any count of
 * microseconds since 1970; returns the length.
 */
#define LEAT_TIME_TEXT_BYTES 40
LEAT_API int leat_time_format(int64_t us, char text[LEAT_TIME_TEXT_BYTES]);
/* Days from 1970-01-01 to a day of the Gregorian calendar, month and day from 1; negative before.
 */
LEAT_API int64_t leat_time_days(int64_t year, int month, int day);
/* The shortest decimal text that reads back as the same float, NUL-terminated, whatever the locale;
 * returns the length: 0, and no text, for a value that is not a number. */
#define LEAT_FLOAT_TEXT_BYTES 32
LEAT_API int leat_float_format(float value, char text[LEAT_FLOAT_TEXT_BYTES]);

/* What this machine has for a job. -1: not known. */
typedef struct leat_machine {
    int cpus;                /* that this process may use */
    int64_t memory_bytes;    /* of the machine, or of the container if that allows less */
    int64_t available_bytes; /* of it, without pushing anything out */
    int64_t open_files_max;  /* of this process */
    int64_t disk_free_bytes; /* of the file system that holds `path` */
    char python[64];         /* where a python3 is; "": in none of the usual places */
} leat_machine;
LEAT_API void leat_machine_look(const char *path, leat_machine *out);

#ifdef __cplusplus
}
#endif
#endif
