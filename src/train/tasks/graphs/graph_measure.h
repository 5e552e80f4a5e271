/*
 * What is measured of a detector while it is trained, on the split "val" of the cache that it is
 * trained on: the same bits for any number of threads.
 *
 * A VGAE: "val_loss", lower is better: of benign graphs, the mean over graphs of the mean squared
 * error of the nodes that the first mask (graph_masks.h) hides. No label of an attack is read.
 *
 * A GAT: "val_auroc", higher is better: of labelled graphs, by the probability of an attack; and
 * "val_loss", lower is better: the mean over them of the loss that it is trained with. Where they
 * are of one class, AUROC is not defined, and is NaN after every step: then val_loss decides what
 * is best. So the rule of a row with several saved measures is: the first of them that was measured
 * decides, and a run measures the same ones after every step.
 *
 * A split without such graphs is measured as NaN, with a note.
 */
#ifndef LEAT_TRAIN_TASKS_GRAPHS_GRAPH_MEASURE_H
#define LEAT_TRAIN_TASKS_GRAPHS_GRAPH_MEASURE_H

#include "train/run/task.h"

/* For the rows: leat_task.measures, .saved_measures (1 and 2) and .measure. options->settings begin
 * with leat_vgae_settings, leat_gat_settings, whose vocabulary the data have settled. */
extern const leat_value leat_vgae_measures[], leat_gat_measures[];
enum { LEAT_VGAE_SAVED_MEASURES = 1, LEAT_GAT_SAVED_MEASURES = 2 };
extern const leat_measure_class leat_vgae_measure, leat_gat_measure;

#endif
