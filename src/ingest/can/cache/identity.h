/*
 * Which cache inputs and settings make: a digest of all that decides its contents; and inputs.json,
 * by which they are recognised from paths, sizes and times without being read.
 */
#ifndef LEAT_INGEST_CAN_CACHE_IDENTITY_H
#define LEAT_INGEST_CAN_CACHE_IDENTITY_H

#include "ingest/can/cache/splits.h"

/* Of files by split, folder, name (which decide attack types and vehicles) and contents, of the
 * settings, of the rules by which the inputs are read, and of metadata that labels them. */
LEAT_MUST_CHECK leat_code leat_can_identity_digest(const leat_can_splits *splits,
                                                   const leat_can_settings *settings,
                                                   char digest[65], leat_error *err);
/* Writes inputs.json in `dir`. */
LEAT_MUST_CHECK leat_code leat_can_identity_save(const char *dir, const leat_can_splits *splits,
                                                 const leat_can_settings *settings,
                                                 leat_error *err);
/* Whether inputs.json in `dir` lists these inputs and settings; if so, their hashes are filled in.
 * *reader: the rules that it names; only those of LEAT_CAN_READER make the same cache. */
bool leat_can_identity_matches(const char *dir, leat_can_splits *splits,
                               const leat_can_settings *settings, int64_t *reader);
/* Whether inputs.json in `dir` can be read. LEAT_ERR_NOT_FOUND: there is none. */
LEAT_MUST_CHECK leat_code leat_can_identity_check(const char *dir);

#endif
