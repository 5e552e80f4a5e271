/* What the tests of CAN caches and graph loaders share: caches in a folder, and the batches that
 * must come out, put together the simplest way. */
#ifndef TESTS_LOAD_GRAPH_SUPPORT_H
#define TESTS_LOAD_GRAPH_SUPPORT_H

#include "loader_support.h"
#include "make_graphs.h"

/* Two caches of the same graphs, of stored features and of stored frames: graphs_setup makes them,
 * loader_teardown removes them. */
extern char graphs_stored[256], graphs_framed[256];
int graphs_setup(void **state);

/* Makes a cache in the test's folder, and gives its path. */
void graphs_make(const char *name, const make_cache *options, char dir[256]);
leat_can_cache *graphs_open(const char *dir);

/* Small batches, 2 threads, 3 epochs. */
leat_graph_loader_options graphs_options(void);
leat_graph_loader *graphs_create(const leat_can_cache *cache,
                                 const leat_graph_loader_options *options);
const leat_graph_batch *graphs_next(leat_graph_loader *loader);

/* f32(value - center) / scale, or the value. */
float graphs_scaled(float value, double center, double scale, leat_scale how);
/* Fails the test unless the batch is what its graphs make: `made` are those of its split. */
void graphs_expect(const made_graphs *made, leat_scale how, const leat_graph_batch *batch);

/* The hash of a run from where the loader is to its end, and of each of its batches a line; the
 * loaders are those of all hosts. *lines is to be freed. */
void graphs_hash(leat_graph_loader **loaders, int hosts, char text[65], char **lines);
/* The hash of a complete run of up to 8 hosts, whose loaders it creates and destroys. */
void graphs_hash_run(const leat_can_cache *cache, leat_graph_loader_options options, int hosts,
                     char text[65]);

#endif
