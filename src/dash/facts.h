/*
 * What the page shows, from a run's folder, from a database, or from both: one struct, filled by
 * run_source.h and database_source.h, and written as JSON here. Nothing in it is secret: no URL, no
 * address, no path but the name of the run's folder.
 *
 * Names, hardware and reasons are volunteers' words; in JSON they are texts, and the page shows
 * them as such.
 */
#ifndef LEAT_DASH_FACTS_H
#define LEAT_DASH_FACTS_H

#include "crowd/watch.h"
#include "leat/train.h"

enum {
    LEAT_DASH_POINTS = 240, /* of a curve */
    LEAT_DASH_LINES = 6,    /* of a figure */
    LEAT_DASH_FIGURES = 16,
    LEAT_DASH_SHOWN = 8,    /* numbers of the last step */
    LEAT_DASH_PICKED = 400, /* samples that the page offers */
};

typedef struct leat_dash_number {
    char label[49];
    double value; /* NaN: it is not finite */
} leat_dash_number;

/* What one more machine would bring: see leat_dash_estimate. */
typedef struct leat_dash_more {
    bool known;
    int64_t machines, units;        /* that delivered in the last steps; of a step */
    int64_t rounds, rounds_then;    /* units that the busiest machine computes in a step */
    double unit_seconds;            /* the median of finished units */
    double step_seconds, step_then; /* the median of the last steps; with one more machine */
} leat_dash_more;

typedef struct leat_dash_facts {
    /* The run, as the folder has it, or the database. */
    char name[256], model[65], many[33]; /* its samples in words: "images" */
    int64_t step, steps;                 /* taken; the last one, 0: not known */
    int64_t epoch, epochs;               /* ended; the last one, 0: not known, or steps are */
    bool finished;                       /* its last step was taken, as far as that is known */
    bool at_most;                        /* it may end before that (--patience) */
    int64_t quiet_seconds; /* for longer than steps take the folder has not changed, in whole
                              minutes; 0: it has, or is not known to */
    double step_seconds, samples_per_second, seconds_left; /* NaN: not known */
    leat_dash_number numbers[LEAT_DASH_SHOWN];             /* of the last step */
    int number_count;
    /* The folder. */
    bool has_folder;
    const char *folder_problem; /* NULL: none */
    const int64_t *kept;        /* steps with samples, of the source */
    int64_t kept_count;
    int64_t kept_version;               /* another one when any of them may be another picture */
    int64_t checkpoint_step, best_step; /* the newest one; the best measured; -1: none */
    char measure[49];                   /* what is best at best_step, in words; "": nothing */
    double best;
    char warnings[LEAT_WARNINGS_MAX][LEAT_WARNING_BYTES]; /* "": none */
    /* The database. */
    bool has_database;
    const char *database_problem; /* NULL: none; its numbers are then the last that were read */
    leat_crowd_seen seen;
    leat_dash_more more;
} leat_dash_facts;

/*
 * What a machine more would change, from medians that were measured: with U units a step and M
 * machines that have finished those of the last steps, the busiest computes ceil(U / M) of them one
 * after the other, and with one more ceil(U / (M + 1)). A step becomes shorter by the difference
 * times the median of a unit, as if all machines were alike. Not known before some units are
 * finished and steps taken, nor where the busiest machine's units would take longer than the steps
 * do.
 */
leat_dash_more leat_dash_estimate(const leat_crowd_seen *seen, int64_t units);

/* Numbers of a step by the sums of their list, as far as there is place. NaN: it is not finite.
 * `has`: which there are, and sums are left out where there is not all of them; NULL: all. */
void leat_dash_add_numbers(leat_dash_facts *facts, const leat_value *list, const double *values,
                           const bool *has);

/* One line. */
LEAT_MUST_CHECK leat_code leat_dash_facts_json(const leat_dash_facts *facts, leat_json **out,
                                               const char **text, int64_t *size_bytes,
                                               leat_error *err);

/* Curves over steps, of any source. NaN: not known. */
typedef struct leat_dash_line {
    const leat_value *value;
    const double *ys; /* the first; the next is `stride` doubles further */
} leat_dash_line;
typedef struct leat_dash_figure {
    const char *title, *axis;
    leat_dash_line lines[LEAT_DASH_LINES];
    int line_count;
    const int64_t *steps; /* the first; as ys */
    int64_t count, stride;
} leat_dash_figure;

typedef struct leat_dash_curves {
    leat_dash_figure figures[LEAT_DASH_FIGURES];
    int figure_count;
} leat_dash_curves;
/* Adds the values of a list, those of one figure together, from points that are `stride` doubles
 * apart; those that belong to no figure are left out. */
void leat_dash_add_curves(leat_dash_curves *curves, const leat_value *list,
                          const leat_dash_figure *points, const double *values);
/* Those of steps, by their list, and their seconds. count may be 0. */
void leat_dash_add_points(leat_dash_curves *curves, const leat_value *list,
                          const leat_run_point *points, int64_t count);
void leat_dash_add_seconds(leat_dash_curves *curves, const leat_run_point *points, int64_t count);
LEAT_MUST_CHECK leat_code leat_dash_curves_json(const leat_dash_curves *curves, leat_json **out,
                                                const char **text, int64_t *size_bytes,
                                                leat_error *err);

#endif
