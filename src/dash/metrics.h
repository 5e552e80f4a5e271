/* The facts in Prometheus's text format
 * (https://prometheus.io/docs/instrumenting/exposition_formats), version 0.0.4. */
#ifndef LEAT_DASH_METRICS_H
#define LEAT_DASH_METRICS_H

#include "base/mem.h"
#include "dash/facts.h"

#define LEAT_DASH_METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Appends them. What is not known is left out. */
LEAT_MUST_CHECK leat_code leat_dash_metrics(const leat_dash_facts *facts, leat_buf *out,
                                            leat_error *err);

#endif
