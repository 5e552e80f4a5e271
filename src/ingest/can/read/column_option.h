/* --column, which says what the columns of a csv mean. */
#ifndef LEAT_INGEST_CAN_READ_COLUMN_OPTION_H
#define LEAT_INGEST_CAN_READ_COLUMN_OPTION_H

#include "format/can_cache/can_cache.h"
#include "ingest/can/read/layout.h"

/* What a column can be mapped to, by its name in the option. */
#define LEAT_CAN_ROLES(X)                                                                          \
    X(LEAT_CAN_ROLE_TIME, "time")                                                                  \
    X(LEAT_CAN_ROLE_ID, "id")                                                                      \
    X(LEAT_CAN_ROLE_BUS, "bus")                                                                    \
    X(LEAT_CAN_ROLE_DLC, "dlc")                                                                    \
    X(LEAT_CAN_ROLE_DATA, "data")                                                                  \
    X(LEAT_CAN_ROLE_LABEL, "label")                                                                \
    X(LEAT_CAN_ROLE_ATTACK, "attack")                                                              \
    X(LEAT_CAN_ROLE_EXTENDED, "extended")                                                          \
    X(LEAT_CAN_ROLE_REMOTE, "remote")                                                              \
    X(LEAT_CAN_ROLE_ERROR, "error")
#define LEAT_CAN_ROLE_ENUM(name, text) name,
typedef enum leat_can_role { LEAT_CAN_ROLES(LEAT_CAN_ROLE_ENUM) LEAT_CAN_ROLE_COUNT } leat_can_role;
#undef LEAT_CAN_ROLE_ENUM
extern const char *const leat_can_role_names[LEAT_CAN_ROLE_COUNT];

#define LEAT_CAN_COLUMN_NAME_BYTES 64
typedef struct leat_can_mapped {
    char name[LEAT_CAN_COLUMN_NAME_BYTES]; /* or number, from 1; "": found by its usual names */
    char last[LEAT_CAN_COLUMN_NAME_BYTES]; /* data only: the last of several; or "" */
    leat_can_unit unit;
} leat_can_mapped;
/* label=DoS+Fuzzy: the names of several columns of labels, the first of which is also that of its
 * role; and all of it, which may be one name. */
#define LEAT_CAN_LABEL_COLUMNS_MAX 16
typedef struct leat_can_mapping {
    leat_can_mapped roles[LEAT_CAN_ROLE_COUNT];
    char label[LEAT_CAN_SETTING_BYTES];
    char labels[LEAT_CAN_LABEL_COLUMNS_MAX][LEAT_CAN_COLUMN_NAME_BYTES];
    int label_count;
} leat_can_mapping;

/* Reads "time=T:us,id=IntID1:dec,data=DATA0..DATA7". LEAT_ERR_OPTION: what is not accepted. */
LEAT_MUST_CHECK leat_code leat_can_mapping_parse(leat_can_mapping *mapping, const char *text,
                                                 leat_error *err);

/* That of the settings; {0} if they have none. LEAT_ERR_OPTION: it is not accepted. */
LEAT_MUST_CHECK leat_code leat_can_mapping_read(leat_can_mapping *mapping,
                                                const leat_can_settings *settings, leat_error *err);
/* How the settings say that lines are read; `mapping` must outlive the options. */
leat_can_line_options leat_can_lines_of(const leat_can_settings *settings,
                                        const leat_can_mapping *mapping);

#endif
