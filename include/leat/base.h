/*
 * leat/base.h: what every part of the library shares: result codes, errors, progress, versions.
 *
 * Conventions of the whole library:
 *  - What can fail returns a leat_code and takes a `leat_error *err` last (NULL allowed). On
 *    failure out-parameters are zeroed and no files or memory remain.
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

/*
 * The version of these headers. Everything else that needs it (CMake, the Python package, leat.pc)
 * reads it from here; leat_version() is that of the running library. Before 1.0 a new minor version
 * may change structs, so the soname has both numbers: libleat.so.0.1.
 */
#define LEAT_VERSION_MAJOR 0
#define LEAT_VERSION_MINOR 1
#define LEAT_VERSION_PATCH 0
/* For comparisons: 0.1.0 is 100, 1.2.3 is 10203. */
#define LEAT_VERSION_NUMBER                                                                        \
    (LEAT_VERSION_MAJOR * 10000 + LEAT_VERSION_MINOR * 100 + LEAT_VERSION_PATCH)
#define LEAT_VERSION_TEXT_(major, minor, patch) #major "." #minor "." #patch
#define LEAT_VERSION_JOIN_(major, minor, patch) LEAT_VERSION_TEXT_(major, minor, patch)
/* "0.1.0" */
#define LEAT_VERSION LEAT_VERSION_JOIN_(LEAT_VERSION_MAJOR, LEAT_VERSION_MINOR, LEAT_VERSION_PATCH)

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
    X(LEAT_ERR_BUSY, 12, "in use")                                                                 \
    X(LEAT_ERR_CONNECTION, 13, "no connection")

#define LEAT_CODE_ENUM(name, number, text) name = (number),
typedef enum leat_code { LEAT_CODES(LEAT_CODE_ENUM) } leat_code;
#undef LEAT_CODE_ENUM

#define LEAT_MESSAGE_BYTES 512

/* Filled on failure only: what was being done, to what, with which value, where, and what to do. */
typedef struct leat_error {
    leat_code code;
    char message[LEAT_MESSAGE_BYTES];
} leat_error;

/* The text of a code, for example "damaged data"; "unknown code" for any other number. */
LEAT_API const char *leat_code_text(leat_code code);

/* One report of a long job. `total` is -1 if it is not known; `unit` is, for example, "rows". Texts
 * are constants. */
typedef struct leat_progress {
    const char *stage;
    const char *unit;
    int64_t done;
    int64_t total;
} leat_progress;

/*
 * Called occasionally, from any thread of the job but never from two at once. If it returns false,
 * the job stops with LEAT_ERR_CANCELLED.
 */
typedef bool (*leat_progress_fn)(void *user, const leat_progress *progress);

/* The version of the running library, as "0.1.0": LEAT_VERSION of the headers it was built with. */
LEAT_API const char *leat_version(void);

/*
 * How the library was built: from which commit, as what kind of build, by which compiler, the
 * instruction sets compiled in and in use, and libraries with the versions found at run time. One
 * call per item, until it returns false.
 */
typedef struct leat_build_item {
    const char *group; /* "build", "compiler", "cpu" or "library" */
    const char *name;
    char value[96];
} leat_build_item;
LEAT_API bool leat_build_info(int index, leat_build_item *item);

/*
 * Writes one JSON document, indented by two spaces, members in the order of the calls (compact: on
 * one line). After the first failure, later calls do nothing and leat_json_finish reports it. Bytes
 * that are not UTF-8 are written as U+FFFD.
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
/* The fewest digits that read back as the value, always with a point: 30.0, 0.0003, 1.0e-08;
 * not-a-number and infinities are null. */
LEAT_API void leat_json_double(leat_json *json, double value);
LEAT_API void leat_json_float(leat_json *json, float value);
LEAT_API void leat_json_bool(leat_json *json, bool value);
LEAT_API void leat_json_null(leat_json *json);
/* Key and value in one. */
LEAT_API void leat_json_member_string(leat_json *json, const char *key, const char *text);
LEAT_API void leat_json_member_int(leat_json *json, const char *key, int64_t value);
LEAT_API void leat_json_member_double(leat_json *json, const char *key, double value);
/* Nothing if the value is NaN: not known. */
LEAT_API void leat_json_member_known(leat_json *json, const char *key, double value);
LEAT_API void leat_json_member_bool(leat_json *json, const char *key, bool value);
/* Ends the document with a newline; *text (NUL-terminated) belongs to `json` until it is destroyed.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_json_finish(leat_json *json, const char **text,
                                                    int64_t *size_bytes, leat_error *err);

/*
 * Text of any size, built by many calls. After the first failure, later calls do nothing and
 * leat_textbuf_finish reports it.
 */
typedef struct leat_textbuf leat_textbuf;
LEAT_API LEAT_MUST_CHECK leat_code leat_textbuf_create(leat_textbuf **out, leat_error *err);
LEAT_API void leat_textbuf_destroy(leat_textbuf *text);
LEAT_API void leat_textbuf_append(leat_textbuf *text, const char *bytes, int64_t size_bytes);
/* Empties it; a failure stays. */
LEAT_API void leat_textbuf_clear(leat_textbuf *text);
/* Text that ends with a NUL. */
LEAT_API void leat_textbuf_put(leat_textbuf *text, const char *words);
LEAT_API void leat_textbuf_printf(leat_textbuf *text, const char *format, ...) LEAT_PRINTF(2, 3);
/* The bytes as base64 (RFC 4648, with = at its end), as in a data: URL. */
LEAT_API void leat_textbuf_base64(leat_textbuf *text, const void *bytes, int64_t size_bytes);
/* *words (NUL-terminated) belongs to `text` until it is destroyed or added to. */
LEAT_API LEAT_MUST_CHECK leat_code leat_textbuf_finish(leat_textbuf *text, const char **words,
                                                       int64_t *size_bytes, leat_error *err);
/* SHA-256 of a text, in hexadecimal digits. */
LEAT_API void leat_text_sha256(const char *text, int64_t size_bytes, char hex[65]);

/*
 * Files that a user names: an existing one is replaced only if leat wrote it, as a file of the same
 * kind, or if the user says so (`replace`). leat recognises its files by how they begin: who
 * writes one begins it so.
 */
typedef enum leat_mark {
    LEAT_MARK_NONE,    /* of a kind that leat does not recognise: never replaced */
    LEAT_MARK_PAGE,    /* HTML */
    LEAT_MARK_FIGURE,  /* SVG, which continues with the SHA-256 of its table and FIGURE_CONTINUES */
    LEAT_MARK_NUMBERS, /* the table of a figure, NAME.csv: NAME.svg beside it has its SHA-256 */
    LEAT_MARK_PNG,     /* written by leat_png_save: a chunk tEXt after the first */
    LEAT_MARK_STATE,   /* of a loader: JSON */
    LEAT_MARK_CARD,    /* README.md of an export */
} leat_mark;
#define LEAT_MARK_PAGE_BEGINS "<!DOCTYPE html>\n<!-- Written by leat. -->\n"
#define LEAT_MARK_FIGURE_BEGINS "<!-- Written by leat. SHA-256 of the table: "
#define LEAT_MARK_FIGURE_CONTINUES " -->\n"
#define LEAT_MARK_PNG_SOFTWARE "leat"
#define LEAT_MARK_STATE_BEGINS "{\"format\":\"leat.state\","
#define LEAT_MARK_CARD_BEGINS "---\n# Written by leat.\n"

/* Writes the file completely or not at all: to a new file in the same folder, then fsync and
 * rename. A replaced file keeps its permissions, and a symbolic link stays one. LEAT_ERR_EXISTS: a
 * file of that name may not be replaced; it is unchanged, even if it appeared meanwhile. */
LEAT_API LEAT_MUST_CHECK leat_code leat_text_save(const char *path, const char *text,
                                                  int64_t size_bytes, leat_mark mark, bool replace,
                                                  leat_error *err);
/* Whether leat_text_save, or another function that writes a file of this kind, can write there: to
 * be checked before the work whose result is to be saved. Changes nothing. */
LEAT_API LEAT_MUST_CHECK leat_code leat_text_can_save(const char *path, leat_mark mark,
                                                      bool replace, leat_error *err);
/* Whether this process may create files in a folder; changes nothing. LEAT_ERR_NOT_FOUND: no such
 * folder. */
LEAT_API LEAT_MUST_CHECK leat_code leat_folder_can_write(const char *path, leat_error *err);

/*
 * A folder of text files, written completely or not at all: to a new folder next to `path`, which
 * leat_text_folder_publish renames, or whose files it moves if `path` is a folder. Without
 * `replace`, that folder holds only figures that leat wrote (LEAT_MARK_FIGURE, LEAT_MARK_NUMBERS);
 * with it, any files. Files of the same names are replaced, and others are kept.
 */
typedef struct leat_text_folder leat_text_folder;
/* Checks the place and changes nothing. LEAT_ERR_EXISTS: it is taken. */
LEAT_API LEAT_MUST_CHECK leat_code leat_text_folder_create(leat_text_folder **out, const char *path,
                                                           bool replace, leat_error *err);
/* A file of this name, which replaces an earlier one. */
LEAT_API LEAT_MUST_CHECK leat_code leat_text_folder_add(leat_text_folder *folder, const char *name,
                                                        const char *text, int64_t size_bytes,
                                                        leat_error *err);
LEAT_API LEAT_MUST_CHECK leat_code leat_text_folder_publish(leat_text_folder *folder,
                                                            leat_error *err);
/* Removes what was not published. */
LEAT_API void leat_text_folder_destroy(leat_text_folder *folder);

/*
 * Untrusted text, made safe to display. Characters that move a terminal's cursor, begin a command
 * to it, or change the direction of the text around them are written as escapes: control characters
 * ("\x1b", and of U+0080 to U+009F "\u009b"), the bidirectional marks ("\u202e"), line and
 * paragraph separators ("\u2028"), and bytes that are not UTF-8 ("\xff"). All other text is
 * unchanged, backslashes too: the result is for reading, and escaping it again changes nothing.
 * Messages of leat_error are escaped.
 */
typedef enum leat_escape {
    LEAT_ESCAPE_WORDS, /* "\x1b", "\u202e" */
    LEAT_ESCAPE_JSON,  /* "\u001b", "\u202e" as JSON has it; a byte that is not UTF-8: "\ufffd" */
} leat_escape;
#define LEAT_ESCAPE_BYTES 8
/* The number of bytes at the beginning of a text that need no escape. */
LEAT_API int64_t leat_text_clean(const char *text, int64_t size_bytes);
/* Writes the escape of the first character, which must need one; returns how many bytes of the text
 * it replaces. */
LEAT_API int leat_text_escape(const char *text, int64_t size_bytes, leat_escape style,
                              char escape[LEAT_ESCAPE_BYTES]);
/* The escaped text, NUL-terminated; truncated after a complete character if it does not fit.
 * Returns how many bytes of the text are shown. */
LEAT_API int64_t leat_text_show(char *out, int64_t out_bytes, const char *text, int64_t size_bytes);
/* A text as a word of a shell, as in a command that a message prints: in single quotes, unless it
 * has nothing but letters, digits and ./_-=,:+. False, and "", if it does not fit or has a control
 * character; out_bytes: at least 1. */
LEAT_API bool leat_shell_word(char *out, int64_t out_bytes, const char *text);

/*
 * One ping measurement, as rows hold it and as tokens encode it. The function that fills it says
 * how long the texts live. An empty text means the zero address of ip_version.
 */
typedef struct leat_measurement {
    int64_t time_us;       /* microseconds since 1970 UTC */
    const char *src, *dst; /* addresses as stored */
    int32_t src_size, dst_size;
    int ip_version;                       /* 4 or 6 */
    float rtt;                            /* milliseconds; -1: the measurement failed */
    uint8_t src_bytes[16], dst_bytes[16]; /* network order; IPv4 uses the first 4 */
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
 * returns the length; 0 and an empty text for NaN. */
#define LEAT_FLOAT_TEXT_BYTES 32
LEAT_API int leat_float_format(float value, char text[LEAT_FLOAT_TEXT_BYTES]);

/*
 * The options of a job as a table. A row is an option: its name, kind, offset in the options
 * struct, accepted values and help text. The command line, --help, manual pages, saved states and
 * Python read and write options only through these rows; the default is the struct's initial value.
 */
typedef enum leat_setting_kind {
    LEAT_SETTING_FLAG,   /* bool: true or false */
    LEAT_SETTING_CHOICE, /* an enum (as wide as int): one of `choices` */
    LEAT_SETTING_INT,    /* int64_t, or uint64_t below 2^63: a whole number in [min, max] */
    LEAT_SETTING_INT32,  /* int32_t: the same */
    LEAT_SETTING_SEED,   /* uint64_t: any whole number */
    LEAT_SETTING_SIZE,   /* int64_t: bytes in [min, max], also as 64K, 512M, 4G, 1T (of 1024) */
    LEAT_SETTING_REAL,   /* double in [low, high]; either end may be open */
    LEAT_SETTING_TEXT,   /* const char *: not empty, not copied; NULL: not set */
    LEAT_SETTING_PATH,   /* const char *: the same, of a file or folder that is read */
    LEAT_SETTING_OUTPUT, /* const char *: the same, of a file or folder that is written */
    LEAT_SETTING_OTHER,  /* what `type` reads and writes */
} leat_setting_kind;

#define LEAT_SETTING_BYTES 32

/* A custom kind. `member` points into the struct; failures are LEAT_ERR_OPTION without the name,
 * and leave *member unchanged. */
typedef struct leat_setting_type {
    leat_code (*parse)(const char *text, void *member, leat_error *err);
    leat_code (*check)(const void *member, leat_error *err);
    void (*format)(const void *member, char text[LEAT_SETTING_BYTES]);
} leat_setting_type;

typedef struct leat_setting {
    const char *name; /* "max-nodes" */
    leat_setting_kind kind;
    size_t place; /* offset in the struct */
    /* "this|that": for a choice, in the order of the enum; for a whole number or size, words for
     * the values word_value, word_value - 1, ..., which may be out of range */
    const char *choices;
    int64_t word_value;
    int64_t min, max; /* max INT64_MAX: no upper bound */
    double low, high;
    bool low_open, high_open;
    const leat_setting_type *type;
    bool neutral;        /* does not affect the result: threads, memory, folders for spilling */
    const char *value;   /* placeholder of the value in help; NULL: by the kind, "N", "SIZE", ... */
    const char *usually; /* the default in words, where the struct cannot express it; or NULL */
    const char *help;    /* imperative or noun phrase, no full stop, without range and default */
} leat_setting;

typedef struct leat_setting_table {
    const char *owner;        /* "a sampler", for messages */
    const leat_setting *rows; /* the last one has no name */
    size_t size_bytes;        /* of the struct, at most LEAT_SETTING_STRUCT_BYTES */
    void (*set_defaults)(void *options);
} leat_setting_table;

#define LEAT_SETTING_STRUCT_BYTES 512
/* Memory for the struct of any table. */
typedef union leat_setting_memory {
    char bytes[LEAT_SETTING_STRUCT_BYTES];
    int64_t whole;
    double real;
    const void *address;
} leat_setting_memory;

/* The row of this name; NULL if there is none. */
LEAT_API const leat_setting *leat_setting_find(const leat_setting_table *table, const char *name);
/* LEAT_ERR_OPTION: `name: "text" is not accepted; it takes ...`; *options is then unchanged. */
LEAT_API LEAT_MUST_CHECK leat_code leat_setting_set(const leat_setting *setting, void *options,
                                                    const char *text, leat_error *err);
/* The value as leat_setting_set reads it: `text`, or for a text or path the member itself; NULL if
 * it is not set. */
LEAT_API const char *leat_setting_get(const leat_setting *setting, const void *options,
                                      char text[LEAT_SETTING_BYTES]);
/* The same by name. Set: LEAT_ERR_OPTION also if the table has no such row; get: NULL then. */
LEAT_API const char *leat_settings_get(const leat_setting_table *table, const void *options,
                                       const char *name, char text[LEAT_SETTING_BYTES]);
LEAT_API LEAT_MUST_CHECK leat_code leat_settings_set(const leat_setting_table *table, void *options,
                                                     const char *name, const char *text,
                                                     leat_error *err);
/* LEAT_ERR_OPTION names the first setting whose value is not in its range. */
LEAT_API LEAT_MUST_CHECK leat_code leat_settings_check(const leat_setting_table *table,
                                                       const void *options, leat_error *err);
/* The default as shown in help: `text` or a constant; NULL if there is none to show. */
LEAT_API const char *leat_setting_default(const leat_setting_table *table,
                                          const leat_setting *setting,
                                          char text[LEAT_SETTING_BYTES]);
/* What it accepts, "a whole number from 1 to 256", and its range in help, "1 to 256", empty if
 * every number is accepted. Truncated to text_bytes. */
LEAT_API void leat_setting_accepts(const leat_setting *setting, char *text, size_t text_bytes);
LEAT_API void leat_setting_range(const leat_setting *setting, char *text, size_t text_bytes);
/* The placeholder of the value in help: "N", "this|that"; NULL for a flag. */
LEAT_API const char *leat_setting_value(const leat_setting *setting);

/*
 * The name that was meant by a word: begin with the word, add all names, and `best` is the nearest
 * one, or NULL if none is near. Letters that are missing, superfluous, wrong or swapped count, up
 * to a third of the word's; a word of two letters or more is near to the names that it begins. Only
 * the first 60 bytes are compared. Texts are the caller's.
 */
typedef struct leat_nearest {
    const char *word;
    const char *best;
    int best_distance;
} leat_nearest;
LEAT_API leat_nearest leat_nearest_start(const char *word);
LEAT_API void leat_nearest_add(leat_nearest *nearest, const char *name);

/*
 * A distribution of non-negative whole numbers on a fixed logarithmic grid: 64 bins an octave,
 * exact below 64. Count, minimum, maximum and sum are exact; a quantile is at most 1.6 % off in
 * value and exact in rank. Merging distributions is commutative, so a result does not depend on
 * threads.
 */
#define LEAT_DISTRIBUTION_BINS 3712
typedef struct leat_distribution {
    int64_t count;
    int64_t min, max; /* 0 if count is 0 */
    uint64_t sum[2];  /* low and high half of the exact sum */
    int64_t bins[LEAT_DISTRIBUTION_BINS];
} leat_distribution;

/* Counts `value` (negative ones as 0) `times` times. */
LEAT_API void leat_distribution_add(leat_distribution *dist, int64_t value, int64_t times);
LEAT_API void leat_distribution_merge(leat_distribution *to, const leat_distribution *from);
/* The bin of a value, and the smallest value of a bin; of LEAT_DISTRIBUTION_BINS: INT64_MAX. */
LEAT_API int leat_distribution_bin(int64_t value);
LEAT_API int64_t leat_distribution_bin_low(int bin);
/* The value of rank ceil(share * count), share in [0, 1]; 0 if there is none. */
LEAT_API double leat_distribution_quantile(const leat_distribution *dist, double share);
LEAT_API double leat_distribution_mean(const leat_distribution *dist);
/* How many values lie in [low, high); bins that straddle an end count in proportion. */
LEAT_API double leat_distribution_between(const leat_distribution *dist, double low, double high);

/* The median of the values that are not NaN: of two in the middle, their mean; NaN: of none. Sorts
 * the values. */
LEAT_API double leat_median(double *values, int64_t count);

/*
 * Counts over time on a grid whose step is the smallest of 1 s, 5 s, 10 s, 30 s, 1 min, 5 min, 10
 * min, 30 min, 1 h, 3 h, 6 h, 12 h, 1 d, 1 w, 4 w, 1 y (52 w), 10 y, ... that needs at most
 * LEAT_TIMELINE_BINS bins, and so is a pure function of the set of times added.
 */
#define LEAT_TIMELINE_BINS 256
typedef struct leat_timeline {
    int64_t step_us;  /* 0: nothing was added */
    int64_t begin_us; /* of bin 0, a multiple of step_us */
    int32_t bins;     /* in use */
    int64_t measurements[LEAT_TIMELINE_BINS];
    int64_t failures[LEAT_TIMELINE_BINS];
} leat_timeline;
LEAT_API void leat_timeline_add(leat_timeline *line, int64_t time_us, int64_t measurements,
                                int64_t failures);
LEAT_API void leat_timeline_merge(leat_timeline *to, const leat_timeline *from);

/* The resources of this machine. -1: not known. */
typedef struct leat_machine {
    int cpus;                /* that this process may use */
    int64_t memory_bytes;    /* of the machine, or of the container if that allows less */
    int64_t available_bytes; /* without swapping */
    int64_t open_files_max;  /* of this process */
    int64_t disk_free_bytes; /* of the file system that holds `path` */
    char python[64];         /* path of a python3; "": in none of the usual places */
} leat_machine;
LEAT_API void leat_machine_look(const char *path, leat_machine *out);
/* Whether data of this size is larger than the memory of this machine: its random order then waits
 * for the disk. False if the memory is not known. */
LEAT_API bool leat_data_exceeds_memory(int64_t size_bytes, int64_t *memory_bytes);

#ifdef __cplusplus
}
#endif
#endif
