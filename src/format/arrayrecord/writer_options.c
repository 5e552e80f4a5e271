/* Options of writers: their text on a command line, their ranges, their text in a footer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/arrayrecord/internal.h"

typedef struct codec_facts {
    const char *name;
    leat_compression compression;
    bool has_level;
    int level_min, level_max, level_default;
} codec_facts;

static const codec_facts codecs[] = {
    {"none", LEAT_COMPRESSION_NONE, false, 0, 0, 0},
    {"zstd", LEAT_COMPRESSION_ZSTD, true, -131072, 22, 3},
    {"brotli", LEAT_COMPRESSION_BROTLI, true, 0, 11, 6},
    {"snappy", LEAT_COMPRESSION_SNAPPY, false, 0, 0, 0},
};
#define CODEC_COUNT (sizeof codecs / sizeof *codecs)

leat_ar_options leat_ar_options_default(void) {
    return (leat_ar_options){.compression = LEAT_COMPRESSION_NONE,
                             .level = LEAT_LEVEL_DEFAULT,
                             .group_size = 1,
                             .pad_to_block_boundary = false};
}

static const codec_facts *facts_of(leat_compression compression) {
    for (size_t i = 0; i < CODEC_COUNT; i++) {
        if (codecs[i].compression == compression) return &codecs[i];
    }
    return NULL;
}

leat_code leat_ar_options_check(const leat_ar_options *options, leat_ar_options *checked,
                                leat_error *err) {
    *checked = *options;
    const codec_facts *facts = facts_of(options->compression);
    if (facts == NULL) {
        return leat_fail(err, LEAT_ERR_OPTION, "compression number %d is unknown",
                         (int)options->compression);
    }
    if (options->group_size < 1) {
        return leat_fail(err, LEAT_ERR_OPTION, "group_size is %d; it must be at least 1",
                         (int)options->group_size);
    }
    /* zstd calls its default level 0 as well */
    bool zero = options->compression == LEAT_COMPRESSION_ZSTD && options->level == 0;
    if (!facts->has_level) checked->level = 0;
    else if (options->level == LEAT_LEVEL_DEFAULT || zero) checked->level = facts->level_default;
    if (checked->level < facts->level_min || checked->level > facts->level_max) {
        return leat_fail(err, LEAT_ERR_OPTION, "level %d of %s is not in %d..%d", checked->level,
                         facts->name, facts->level_min, facts->level_max);
    }
    return LEAT_OK;
}

static leat_code bad_text(leat_error *err, const char *text) {
    return leat_fail(err, LEAT_ERR_OPTION,
                     "compression \"%.64s\" is not accepted; it must be none, zstd[:-131072..22], "
                     "brotli[:0..11] or snappy",
                     text);
}

leat_code leat_ar_options_parse(const char *text, leat_ar_options *options, leat_error *err) {
    const char *colon = strchr(text, ':');
    size_t name_bytes = colon != NULL ? (size_t)(colon - text) : strlen(text);
    for (size_t i = 0; i < CODEC_COUNT; i++) {
        const codec_facts *facts = &codecs[i];
        if (strlen(facts->name) != name_bytes || memcmp(facts->name, text, name_bytes) != 0) {
            continue;
        }
        long level = LEAT_LEVEL_DEFAULT;
        if (colon != NULL) {
            const char *digits = colon[1] == '-' ? colon + 2 : colon + 1;
            size_t digit_count = strspn(digits, "0123456789");
            if (!facts->has_level || digit_count == 0 || digit_count > 9 || digits[digit_count]) {
                return bad_text(err, text);
            }
            level = strtol(colon + 1, NULL, 10);
            if (level < facts->level_min || level > facts->level_max) return bad_text(err, text);
        }
        options->compression = facts->compression;
        options->level = (int)level;
        return LEAT_OK;
    }
    return bad_text(err, text);
}

int leat_ar_options_text(const leat_ar_options *options, char text[LEAT_AR_OPTIONS_TEXT_BYTES]) {
    static const char *const forms[] = {
        [LEAT_COMPRESSION_NONE] = "uncompressed",
        [LEAT_COMPRESSION_ZSTD] = "zstd:%d,window_log:20",
        [LEAT_COMPRESSION_BROTLI] = "brotli:%d",
        [LEAT_COMPRESSION_SNAPPY] = "snappy",
    };
    char codec[48];
    const char *form = forms[options->compression];
    const char *level = strstr(form, "%d");
    if (level == NULL) {
        snprintf(codec, sizeof codec, "%s", form);
    } else {
        snprintf(codec, sizeof codec, "%.*s%d%s", (int)(level - form), form, options->level,
                 level + 2);
    }
    int size = snprintf(text, LEAT_AR_OPTIONS_TEXT_BYTES,
                        "group_size:%d,transpose:false,pad_to_block_boundary:%s,%s,"
                        "max_parallelism:1",
                        (int)options->group_size, options->pad_to_block_boundary ? "true" : "false",
                        codec);
    LEAT_ASSERT(size > 0 && size < LEAT_AR_OPTIONS_TEXT_BYTES);
    return size;
}

leat_code leat_ar_compression_text(const leat_ar_options *options,
                                   char text[LEAT_AR_COMPRESSION_TEXT_BYTES], leat_error *err) {
    leat_ar_options checked;
    LEAT_TRY(leat_ar_options_check(options, &checked, err));
    const codec_facts *facts = facts_of(checked.compression);
    if (facts->has_level) {
        snprintf(text, LEAT_AR_COMPRESSION_TEXT_BYTES, "%s:%d", facts->name, checked.level);
    } else {
        snprintf(text, LEAT_AR_COMPRESSION_TEXT_BYTES, "%s", facts->name);
    }
    return LEAT_OK;
}
