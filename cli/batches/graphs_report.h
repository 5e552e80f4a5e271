/* What the files of `leat batches CACHE --report` share. */
#ifndef LEAT_CLI_BATCHES_GRAPHS_REPORT_H
#define LEAT_CLI_BATCHES_GRAPHS_REPORT_H

#include "batches/graphs.h"
#include "page/page.h"

#define GRAPHS_COLUMNS 128
#define GRAPHS_EPOCHS 60

/* Sums over consecutive batches. */
typedef struct graphs_sums {
    int64_t batches, graphs, nodes, edges, attacks, unlabelled;
    double attacks_least, attacks_most; /* smallest and largest share of a batch */
} graphs_sums;

typedef struct graphs_report {
    const graphs_job *job;
    graphs_place first, last;     /* batches counted, of all hosts */
    int64_t max_nodes, max_edges; /* of a batch; 0: no limit */
    graphs_sums all;
    leat_distribution graphs, nodes, edges; /* of a batch */
    leat_distribution graph_nodes;          /* of a graph */
    /* The batches in order; each column holds enough of them that all columns fit. */
    graphs_sums column[GRAPHS_COLUMNS];
    int64_t column_batches;
    int column_count;
    /* With a curriculum: epochs from the first to the last. */
    leat_graph_epoch_facts epoch[GRAPHS_EPOCHS];
    int64_t epoch_number[GRAPHS_EPOCHS];
    int epoch_count;
    leat_graph_loader_facts facts;
} graphs_report;

/* ---- graphs_words.c ---- */
/* Share of the nodes or edges that the given number of batches may have; 0 if unlimited. */
double graphs_fill(int64_t count, int64_t batches, int64_t limit);

/* ---- graphs_page.c ---- */
/* `user` is a graphs_report. */
void graphs_report_page(leat_page *page, const void *user);
/* The page of all splits: its beginning, the part of each split, its end. */
void graphs_report_begin(leat_textbuf *out, const graphs_job *job);
void graphs_report_split(leat_page *page, const graphs_report *report);
void graphs_report_no_batches(leat_textbuf *out, const graphs_job *job, const char *why);
void graphs_report_end(leat_textbuf *out);

#endif
