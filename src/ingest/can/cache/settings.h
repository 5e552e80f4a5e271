/* The settings of a cache, as text. */
#ifndef LEAT_INGEST_CAN_CACHE_SETTINGS_H
#define LEAT_INGEST_CAN_CACHE_SETTINGS_H

#include "leat/ingest.h"

/* The value of a setting; NULL if it is one that is not set, which metadata and digests
 * then leave out. */
const char *leat_can_setting_text(const leat_setting *row, const leat_can_settings *settings,
                                  char text[LEAT_SETTING_BYTES]);

#endif
