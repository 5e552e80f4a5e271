/*
 * One capture of a running bus, or all buses mixed: its last frames, and the graphs of its windows.
 * Frames go into arrays of twice the window, at whose end the rest is moved to the front.
 */
#ifndef LEAT_DETECT_LANE_H
#define LEAT_DETECT_LANE_H

#include "detect/names.h"

/* What all lanes share: how windows are made, and space for one. */
typedef struct leat_lane_scratch {
    const leat_detect_context *context;
    int64_t stride;
    leat_graph_workspace *workspace;
    uint32_t *id;           /* [W] numbers of the window's frames */
    uint32_t *unknown;      /* [W] its frames of unknown identifiers, in order of those */
    int32_t *node_id;       /* [N] */
    const char **node_name; /* [N] */
} leat_lane_scratch;

LEAT_MUST_CHECK leat_code leat_lane_scratch_make(leat_lane_scratch *scratch,
                                                 const leat_detect_context *context,
                                                 leat_error *err);
void leat_lane_scratch_free(leat_lane_scratch *scratch);

typedef struct leat_lane {
    int32_t bus;        /* -1: mixed */
    int64_t frames;     /* of the capture so far */
    int64_t next_start; /* of the window that is being filled, or the next one */
    int64_t begin, end; /* of what is kept in the arrays: frames from next_start on */
    double *time;       /* [2 W], as all arrays */
    uint32_t *id;       /* index of a known identifier, or LEAT_NAME_UNKNOWN */
    int16_t (*bytes)[LEAT_CAN_BYTES];
    char (*text)[LEAT_CAN_FRAME_ID_BYTES]; /* of unknown ones */
    int8_t *label;
    int64_t *line;
    double before_s;
} leat_lane;

LEAT_MUST_CHECK leat_code leat_lane_make(leat_lane *lane, int32_t bus, int64_t window,
                                         leat_error *err);
void leat_lane_free(leat_lane *lane);
int64_t leat_lane_bytes(int64_t window);
/* A new capture, whose windows begin with frame `from`. */
void leat_lane_restart(leat_lane *lane, int64_t from);
/* Takes a frame. True: a window ends with it, which `out` is then, except for recording and
 * elapsed_s; its arrays are the scratch's. */
bool leat_lane_add(leat_lane *lane, leat_lane_scratch *scratch, const leat_can_frame *frame,
                   uint32_t index, leat_live_window *out);

#endif
