/* How many features nodes and edges have: those of leat/graph.h, whose room this one does not see.
 */
#ifndef LEAT_BATCH_GRAPHS_FEATURES_H
#define LEAT_BATCH_GRAPHS_FEATURES_H

enum { LEAT_BATCH_NODE_FEATURES = 35, LEAT_BATCH_EDGE_FEATURES = 11 };

#endif
