/*
 * The manifest as a value: options, shards, totals, fingerprint. Its JSON is in manifest_json.c.
 *
 * Totals and fingerprint follow from the shards, so they are computed in one place (seal), written
 * for people and other programs, and compared when a manifest is read.
 */
#include "format/dataset/manifest.h"

#include <stdio.h>
#include <string.h>

void leat_manifest_free(leat_manifest *manifest) {
    leat_free(manifest->options);
    leat_free(manifest->shards);
    *manifest = (leat_manifest){0};
}

const leat_manifest_option *leat_manifest_find(const leat_manifest *manifest, const char *key) {
    for (int64_t i = 0; i < manifest->option_count; i++) {
        if (strcmp(manifest->options[i].key, key) == 0) return &manifest->options[i];
    }
    return NULL;
}

const char *leat_manifest_probe(const leat_manifest *manifest) {
    const leat_manifest_option *option = leat_manifest_find(manifest, "probe");
    return option != NULL && option->type == LEAT_VALUE_TEXT ? option->text : NULL;
}

static bool key_is_good(const char *key) {
    size_t size = strlen(key);
    if (size == 0 || size >= LEAT_MANIFEST_KEY_BYTES) return false;
    return strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789_") == size;
}

/* Appends an option and gives it to the caller to fill. */
static leat_code add_option(leat_manifest *manifest, const char *key, leat_value_type type,
                            leat_manifest_option **out, leat_error *err) {
    *out = NULL;
    if (!key_is_good(key)) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "manifest option \"%.64s\": a key is 1 to 31 of a-z, 0-9 and _", key);
    }
    if (leat_manifest_find(manifest, key) != NULL) {
        return leat_fail(err, LEAT_ERR_OPTION, "manifest option \"%s\" is given twice", key);
    }
    if (manifest->option_count == LEAT_MANIFEST_OPTIONS_MAX) {
        return leat_fail(err, LEAT_ERR_OPTION, "manifest option \"%s\": more than %d options", key,
                         LEAT_MANIFEST_OPTIONS_MAX);
    }
    LEAT_TRY(
        LEAT_GROW(&manifest->options, &manifest->option_capacity, manifest->option_count + 1, err));
    leat_manifest_option *option = &manifest->options[manifest->option_count++];
    *option = (leat_manifest_option){.type = type};
    memcpy(option->key, key, strlen(key));
    *out = option;
    return LEAT_OK;
}

leat_code leat_manifest_add_text(leat_manifest *manifest, const char *key, const char *text,
                                 leat_error *err) {
    leat_manifest_option *option = NULL;
    size_t size = strlen(text);
    if (size >= LEAT_MANIFEST_TEXT_BYTES) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "manifest option \"%.64s\": %zu bytes of text; the limit is %d", key, size,
                         LEAT_MANIFEST_TEXT_BYTES - 1);
    }
    LEAT_TRY(add_option(manifest, key, LEAT_VALUE_TEXT, &option, err));
    memcpy(option->text, text, size);
    return LEAT_OK;
}

leat_code leat_manifest_add_int(leat_manifest *manifest, const char *key, int64_t value,
                                leat_error *err) {
    leat_manifest_option *option = NULL;
    LEAT_TRY(add_option(manifest, key, LEAT_VALUE_INT, &option, err));
    option->integer = value;
    option->real = (double)value;
    return LEAT_OK;
}

leat_code leat_manifest_add_real(leat_manifest *manifest, const char *key, double value,
                                 leat_error *err) {
    leat_manifest_option *option = NULL;
    if (!(value - value == 0)) {
        return leat_fail(err, LEAT_ERR_OPTION, "manifest option \"%.64s\": not a finite number",
                         key);
    }
    LEAT_TRY(add_option(manifest, key, LEAT_VALUE_REAL, &option, err));
    option->real = value + 0.0; /* no negative zero: it would read back as the integer 0 */
    return LEAT_OK;
}

leat_code leat_manifest_add_bool(leat_manifest *manifest, const char *key, bool value,
                                 leat_error *err) {
    leat_manifest_option *option = NULL;
    LEAT_TRY(add_option(manifest, key, LEAT_VALUE_BOOL, &option, err));
    option->integer = value ? 1 : 0;
    return LEAT_OK;
}

/* What must hold of one shard, whoever states it. */
static const char *shard_problem(const leat_shard_info *info) {
    if (info->split != LEAT_SPLIT_TRAIN && info->split != LEAT_SPLIT_TEST) return "no such split";
    if (info->number < 0 || info->number >= LEAT_SHARDS_MAX) return "shard number out of range";
    if (info->row_count < 0 || info->measurement_count < info->row_count) {
        return "fewer measurements than rows";
    }
    if (info->measurement_count > 0 && info->row_count == 0) return "measurements without rows";
    if (info->file_bytes <= 0) return "the file is empty";
    if (info->first_us < 0 || info->first_us > info->last_us) return "first time after last time";
    if (info->row_count == 0 && info->last_us != 0) return "times without measurements";
    return NULL;
}

leat_code leat_manifest_add_shard(leat_manifest *manifest, const leat_shard_info *info,
                                  leat_error *err) {
    const char *problem = shard_problem(info);
    int32_t number = 0;
    leat_split split = LEAT_SPLIT_TRAIN;
    if (manifest->shard_count > 0) {
        const leat_shard_info *last = &manifest->shards[manifest->shard_count - 1];
        split = last->split;
        number = last->number + 1;
    }
    bool next = info->split == split && info->number == number;
    bool first_test =
        split == LEAT_SPLIT_TRAIN && info->split == LEAT_SPLIT_TEST && info->number == 0;
    if (problem == NULL && !next && !first_test) problem = "shards are out of order";
    if (problem != NULL) {
        return leat_fail(err, LEAT_ERR_INPUT, "manifest: %s shard %d: %s",
                         info->split == LEAT_SPLIT_TRAIN ? "train" : "test", (int)info->number,
                         problem);
    }
    LEAT_TRY(
        LEAT_GROW(&manifest->shards, &manifest->shard_capacity, manifest->shard_count + 1, err));
    manifest->shards[manifest->shard_count++] = *info;
    return LEAT_OK;
}

/* Adds a shard's numbers; false on overflow. */
static bool count_shard(leat_manifest_totals *totals, const leat_shard_info *info) {
    if (info->row_count > 0) {
        bool first = totals->row_count == 0;
        if (first || info->first_us < totals->first_us) totals->first_us = info->first_us;
        if (first || info->last_us > totals->last_us) totals->last_us = info->last_us;
    }
    totals->shard_count++;
    return leat_add_size(totals->row_count, info->row_count, &totals->row_count) &&
           leat_add_size(totals->measurement_count, info->measurement_count,
                         &totals->measurement_count) &&
           leat_add_size(totals->file_bytes, info->file_bytes, &totals->file_bytes);
}

leat_code leat_manifest_seal(leat_manifest *manifest, leat_error *err) {
    leat_sha256 sha;
    leat_sha256_init(&sha);
    manifest->total = (leat_manifest_totals){0};
    memset(manifest->split, 0, sizeof(manifest->split));
    for (int64_t i = 0; i < manifest->shard_count; i++) {
        const leat_shard_info *info = &manifest->shards[i];
        if (!count_shard(&manifest->total, info) ||
            !count_shard(&manifest->split[info->split], info)) {
            return leat_fail(err, LEAT_ERR_LIMIT, "manifest: totals reach 2^63 at shard %lld",
                             (long long)i);
        }
        leat_sha256_update(&sha, info->records_sha256, 32);
    }
    leat_sha256_final(&sha, manifest->fingerprint);
    return LEAT_OK;
}
