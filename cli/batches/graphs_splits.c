/*
 * leat batches CACHE --split all: the splits one after the other, each with a loader of its own.
 * The words of a split follow those of the one before; as JSON they are the items of one document,
 * on a page its sections.
 */
#include <string.h>

#include "batches/graphs_report.h"

/* What belongs to one split. */
static int refuse_single(leat_cli *cli) {
    static const char *const single[] = {"explain", "resume", "save-state"};
    const char *curriculum = leat_cli_text(cli, "curriculum"), *hash = leat_cli_text(cli, "hash");
    for (int i = 0; i < 3; i++)
        if (leat_cli_given(cli, single[i]))
            return leat_cli_usage(cli, "--%s is for a single split, not for --split all; name one",
                                  single[i]);
    if (curriculum != NULL && strcmp(curriculum, "none") != 0 && strcmp(curriculum, "random") != 0)
        return leat_cli_usage(cli, "--curriculum: a file has the scores of a single split; "
                                   "--split all takes none or random");
    if (hash != NULL && strcmp(hash, "rows") == 0)
        return leat_cli_usage(cli, "--hash=rows does not name the split of its lines; give a "
                                   "single split, or --hash for one hash per split");
    return 0;
}

/* ---- Splits without batches --------------------------------------------------------------- */

/* Why a split has no graph to load; NULL if it has one. */
static const char *reason_of(const graphs_job *job, const leat_can_classes *classes) {
    if (job->split.graph_count == 0) return "the split has no graphs";
    leat_graph_filter filter = job->options.batches.graphs;
    if (filter == LEAT_FILTER_BENIGN && classes->graphs[0] == 0)
        return "--graphs benign leaves out all of its graphs";
    if (filter == LEAT_FILTER_ATTACK && classes->graphs[1] == 0)
        return "--graphs attack leaves out all of its graphs";
    if (filter == LEAT_FILTER_LABELLED && classes->graphs[0] + classes->graphs[1] == 0)
        return "--graphs labelled leaves out all of its graphs";
    return NULL;
}

typedef struct without_batches {
    const graphs_job *job;
    const char *why;
} without_batches;

static void put_without(leat_json *json, const void *of) {
    const without_batches *it = of;
    leat_json_member_string(json, "cache", it->job->facts.path);
    graphs_json_options(json, it->job);
    leat_json_member_int(json, "split_graphs", it->job->split.graph_count);
    leat_json_member_int(json, "left_out", it->job->split.graph_count);
    leat_json_member_string(json, "no_batches", it->why);
}

static int write_without(graphs_job *job, const char *why) {
    leat_cli *cli = job->run.cli;
    const without_batches it = {job, why};
    if (job->page != NULL) graphs_report_no_batches(job->page->out, job, why);
    if (job->json != NULL) return graphs_out_object(job, put_without, &it);
    if (leat_cli_given(cli, "hash")) return 0;
    graphs_write_split(job);
    leat_out(cli, "batches    none: %s\n", why);
    return 0;
}

/* ---- Each split --------------------------------------------------------------------------- */

static int do_split(graphs_job *job, int (*one)(graphs_job *job)) {
    leat_can_classes classes;
    leat_error err = {0};
    leat_cli *cli = job->run.cli;
    job->options = leat_graph_loader_options_default();
    job->options.split = job->split.name;
    int status = leat_cli_set(cli, leat_graph_batch_options_table(), &job->options.batches);
    if (status == 0) status = leat_cli_set(cli, leat_graph_loader_options_table(), &job->options);
    if (status != 0) return status;
    if (leat_can_cache_get_classes(job->cache, job->split.name, &classes, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    const char *why = reason_of(job, &classes);
    return why == NULL ? one(job) : write_without(job, why);
}

static int do_splits(const graphs_job *job, int (*one)(graphs_job *job)) {
    leat_cli *cli = job->run.cli;
    bool spaced = job->json == NULL && !leat_cli_given(cli, "hash");
    leat_error err = {0};
    if (spaced && job->page == NULL) graphs_write_staged(job);
    for (int i = 0; i < job->facts.split_count; i++) {
        graphs_job its = *job;
        if (leat_can_cache_get_split(job->cache, i, &its.split, &err) != LEAT_OK)
            return leat_cli_fail(cli, &err);
        if (spaced && i > 0) leat_out(cli, "\n");
        int status = do_split(&its, one);
        if (status != 0) return status;
    }
    return 0;
}

/* ---- The whole of it ---------------------------------------------------------------------- */

/* Lines, JSON and the page of each split. */
static int with_outputs(graphs_job *job, int (*one)(graphs_job *job)) {
    if (job->json != NULL) {
        leat_json_begin_object(job->json);
        leat_json_key(job->json, "splits");
        leat_json_begin_array(job->json);
    }
    int status = do_splits(job, one);
    if (status != 0 || job->json == NULL) return status;
    leat_json_end_array(job->json);
    leat_json_end_object(job->json);
    return 0;
}

typedef struct all_splits {
    graphs_job *job;
    int (*one)(graphs_job *job);
    int *status;
} all_splits;

static void put_page(leat_page *page, const void *user) {
    const all_splits *all = user;
    all->job->page = page;
    graphs_report_begin(page->out, all->job);
    *all->status = with_outputs(all->job, all->one);
    graphs_report_end(page->out);
    all->job->page = NULL;
}

/* With --report: what fails is reported once. */
static int with_page(graphs_job *job, int (*one)(graphs_job *job)) {
    leat_cli *cli = job->run.cli;
    const leat_page_places places = leat_page_asked(cli, "report");
    leat_text_folder *folder = NULL;
    leat_textbuf *text = NULL;
    leat_error err = {0};
    int status = 0;
    const all_splits all = {job, one, &status};
    leat_code code = leat_page_folder(&folder, &places, &err);
    if (code == LEAT_OK) code = leat_page_render(&text, folder, put_page, &all, &err);
    if (code == LEAT_OK && status == 0) code = leat_page_write(text, folder, &places, &err);
    leat_textbuf_destroy(text);
    leat_text_folder_destroy(folder);
    if (status != 0) return status;
    if (code != LEAT_OK) return leat_cli_fail(cli, &err);
    if (job->json == NULL) {
        leat_out(cli, "\n");
        batches_write_page_names(cli);
    }
    return 0;
}

int graphs_all_splits(const graphs_job *job, int (*one)(graphs_job *job)) {
    leat_cli *cli = job->run.cli;
    graphs_job all = *job;
    leat_error err = {0};
    int status = refuse_single(cli);
    if (status != 0) return status;
    all.all = true;
    if (leat_cli_flag(cli, "json") && leat_json_create(&all.json, false, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    status = leat_cli_given(cli, "report") ? with_page(&all, one) : with_outputs(&all, one);
    if (status == 0 && all.json != NULL) status = leat_out_json(cli, all.json);
    leat_json_destroy(all.json);
    return status;
}
