/* A run as a folder that other programs read, and what a session needs to write one. */
#ifndef LEAT_TRAIN_EXPORT_H
#define LEAT_TRAIN_EXPORT_H

#include "train/trainer.h"

#define LEAT_EXPORT_G "generator.safetensors"
#define LEAT_EXPORT_D "discriminator.safetensors"

/* Whether exports of a run (its hash) may be written to a folder. LEAT_ERR_EXISTS: it has such
 * files, which are not of an export of this run, and `replace` is not set; or it is not a folder.
 */
LEAT_MUST_CHECK leat_code leat_export_check(const char *dir, const char run[65], bool replace,
                                            leat_error *err);
/* Exports the state of a trainer, of which the folder `run` has a checkpoint; what `dir` has of an
 * earlier export is replaced. LEAT_ERR_EXISTS: as above. */
LEAT_MUST_CHECK leat_code leat_export_state(const char *run, leat_trainer *trainer, const char *dir,
                                            bool replace, leat_error *err);

#endif
