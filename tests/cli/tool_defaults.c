/* Prints the library's default of each option of the command, from the structs of the functions
 * leat_*_options_default: command, option and value on a line, "-" if it is not set. */
#include <inttypes.h>
#include <stdio.h>

#include "base/thread.h"
#include "leat/crowd.h"
#include "leat/dash.h"
#include "leat/detect_run.h"
#include "leat/ingest.h"
#include "leat/load_can.h"
#include "leat/load_images.h"
#include "leat/synth.h"
#include "leat/train.h"
#include "leat/train_eval.h"

static void say(const char *command, const char *name, const char *value) {
    printf("%s\t%s\t%s\n", command, name, value == NULL ? "-" : value);
}

static void number(const char *command, const char *name, int64_t value) {
    printf("%s\t%s\t%" PRId64 "\n", command, name, value);
}

static void table(const char *command, const leat_setting_table *rows, const void *options) {
    char text[LEAT_SETTING_BYTES];
    for (const leat_setting *row = rows->rows; row->name != NULL; row++)
        say(command, row->name, leat_setting_get(row, options, text));
}

/* Some rows of a table. */
static void some(const char *command, const leat_setting_table *rows, const void *options,
                 const char *const *names) {
    char text[LEAT_SETTING_BYTES];
    for (; *names != NULL; names++)
        say(command, *names, leat_settings_get(rows, options, *names, text));
}

static void ingests(void) {
    leat_probes_ingest_options probes = leat_probes_ingest_options_default();
    leat_can_ingest_options can = leat_can_ingest_options_default();
    leat_images_ingest_options images = leat_images_ingest_options_default();
    table("ingest probes", leat_probes_ingest_options_table(), &probes);
    table("ingest can", leat_can_ingest_options_table(), &can);
    table("ingest can", leat_can_settings_table(), &can.settings);
    table("ingest images", leat_images_ingest_options_table(), &images);
}

static void batches(void) {
    leat_loader_options probes = leat_loader_options_default();
    leat_graph_loader_options can = leat_graph_loader_options_default();
    leat_image_loader_options images = leat_image_loader_options_default();
    bool plain = can.batches.curriculum == LEAT_CURRICULUM_NONE;
    table("batches", leat_loader_options_table(), &probes);
    table("batches", leat_sampler_options_table(), &probes.sample);
    table("batches", leat_graph_loader_options_table(), &can);
    table("batches", leat_graph_batch_options_table(), &can.batches);
    table("batches", leat_image_loader_options_table(), &images);
    say("batches", "split", can.split);
    say("batches", "curriculum", plain ? "none" : "random");
    say("cat", "split", can.split);
}

static void readers(void) {
    leat_dataset_options dataset = leat_dataset_options_default();
    leat_summary_options probes = leat_summary_options_default();
    leat_can_summary_options can = leat_can_summary_options_default();
    leat_images_summary_options images = leat_images_summary_options_default();
    leat_verify_options verify = leat_verify_options_default();
    number("cat", "memory", dataset.memory_bytes);
    number("inspect", "memory", dataset.memory_bytes);
    number("inspect", "memory", verify.memory_bytes);
    number("inspect", "read", probes.read_bytes_max);
    number("inspect", "read", can.read_bytes_max);
    number("inspect", "read", images.read_bytes_max);
    number("inspect", "rows", probes.row_count);
    number("inspect", "threads", probes.threads);
    number("inspect", "threads", can.threads);
    number("inspect", "threads", images.threads);
    number("inspect", "threads", verify.threads);
}

static void synth(void) {
    leat_synth_probes_options probes = leat_synth_probes_options_default();
    leat_synth_can_options can = leat_synth_can_options_default();
    leat_synth_images_options images = leat_synth_images_options_default();
    number("synth probes", "probes", probes.probes);
    number("synth probes", "seed", (int64_t)probes.seed);
    number("synth probes", "threads", probes.threads);
    number("synth probes", "memory", probes.memory_bytes);
    number("synth probes", "rows-per-file", probes.rows_per_file);
    number("synth can", "vehicles", can.vehicles);
    number("synth can", "seed", (int64_t)can.seed);
    number("synth can", "threads", can.threads);
    number("synth images", "seed", (int64_t)images.seed);
    number("synth images", "threads", images.threads);
    printf("synth can\tattacks\t");
    const char *comma = "";
    for (int i = 0; leat_synth_can_attack_name(i) != NULL; i++) {
        if ((can.attacks & 1U << i) == 0) continue;
        printf("%s%s", comma, leat_synth_can_attack_name(i));
        comma = ",";
    }
    printf("\n");
}

/* Of a model whose settings are in no public struct, as memory has them. */
static void model(const char *command, const char *name) {
    leat_setting_memory memory;
    const leat_setting_table *own = leat_train_settings_table(name);
    own->set_defaults(&memory);
    table(command, own, &memory);
}

static void runs_of_graphs(const char *name) {
    char command[40];
    leat_train_options train = leat_train_options_default();
    leat_train_options_suit(&train, name);
    snprintf(command, sizeof command, "train %s", name);
    table(command, leat_train_options_table(), &train);
    model(command, name);
}

static void training(void) {
    const leat_train_options train = leat_train_options_default();
    const leat_run_sample_options sample = leat_run_sample_options_default();
    const leat_dcgan_settings dcgan = leat_dcgan_settings_default();
    table("train dcgan", leat_train_options_table(), &train);
    table("train dcgan", leat_dcgan_settings_table(), &dcgan);
    runs_of_graphs("vgae");
    runs_of_graphs("gat");
    number("sample", "count", sample.count);
    number("sample", "threads", sample.threads);
}

static void watching(void) {
    static const char *const reading[] = {"format", "column", "times", "no-time", NULL};
    static const char *const judging[] = {"threshold", "target-fpr", "score",
                                          "step",      "kernels",    NULL};
    const leat_watch_options watch = leat_watch_options_default();
    const leat_can_frames_options frames = leat_can_frames_options_default();
    table("detect", leat_watch_options_table(), &watch);
    some("detect", leat_can_settings_table(), &frames.settings, reading);
    some("detect", leat_evaluation_options_table(), &watch.detector, judging);
}

static void crowd(void) {
    const leat_coordinate_options coordinator = leat_coordinate_options_default();
    const leat_work_options worker = leat_work_options_default();
    const leat_crowd_plan_options plan = leat_crowd_plan_options_default();
    table("coordinate", leat_coordinate_options_table(), &coordinator);
    table("coordinate", leat_crowd_plan_options_table(), &plan);
    const leat_dcgan_settings dcgan = leat_dcgan_settings_default();
    table("coordinate", leat_coordinate_train_table(), &coordinator.train);
    table("coordinate", leat_dcgan_settings_table(), &dcgan);
    model("coordinate", "vgae");
    model("coordinate", "gat");
    number("work", "threads", worker.threads);
    number("work", "memory", worker.memory_bytes);
    say("work", "kernels", worker.kernels);
    say("dash", "listen", leat_dash_options_default().listen);
    number("work", "poll-ms", worker.poll_ms);
    say("work", "on-battery", worker.pause_on_battery ? "pause" : "work");
}

static void evaluation(void) {
    const leat_evaluation_options options = leat_evaluation_options_default();
    table("eval", leat_evaluation_options_table(), &options);
}

int main(void) {
    number("", "processors", leat_cpu_count());
    ingests();
    batches();
    readers();
    synth();
    training();
    watching();
    crowd();
    evaluation();
    return 0;
}
