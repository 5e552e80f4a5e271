/*
 * leat/leat.h: all of the library. Each header can be included by itself, too, and names those that
 * it needs; docs/library.md says how to embed leat.
 */
#ifndef LEAT_LEAT_H
#define LEAT_LEAT_H

#include "leat/base.h"
#include "leat/batch.h"
#include "leat/crowd.h"
#include "leat/dash.h"
#include "leat/detect.h"
#include "leat/detect_run.h"
#include "leat/duckdb.h"
#include "leat/format.h"
#include "leat/graph.h"
#include "leat/ingest.h"
#include "leat/load.h"
#include "leat/load_can.h"
#include "leat/load_images.h"
#include "leat/nn.h"
#include "leat/synth.h"
#include "leat/train.h"
#include "leat/train_eval.h"

#endif
