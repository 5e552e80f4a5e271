/*
 * A model of graphs that no file of src knows, and rows that train it on CAN caches: the mean of
 * the features of a graph's nodes, and of a number of each node's identifier, go through one linear
 * layer, whose result should be the graph's label. "pooled" trains on labelled graphs and weighs
 * graphs; "pooled-benign" trains on benign ones and weighs nodes.
 */
#ifndef TESTS_TRAIN_GRAPH_TENANT_H
#define TESTS_TRAIN_GRAPH_TENANT_H

#include "train/run/task.h"
#include "train/tasks/graphs/graph_feed.h"

typedef struct pooled_settings {
    int32_t vocabulary;
    int64_t max_nodes, max_edges;
    double learning_rate;
} pooled_settings;

typedef struct pooled_row {
    pooled_settings model;
    leat_graph_settings graphs;
} pooled_row;

const leat_setting_table *pooled_table(void);
extern const leat_task pooled_task, pooled_benign_task;
extern const leat_graph_feed pooled_feed, pooled_benign_feed;

#endif
