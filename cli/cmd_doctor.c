/* leat doctor: what is missing on this machine, or wrong with a data set, and what to do about it.
 */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "leat/ingest.h"
#include "leat/load.h"
#include "leat/load_can.h"

typedef enum verdict { VERDICT_OK, VERDICT_NOTE, VERDICT_PROBLEM } verdict;

typedef struct doctor {
    leat_cli *cli;
    leat_json *json; /* NULL: words */
    int64_t counts[3];
} doctor;

static const char *const verdict_words[] = {"ok", "note", "problem"};

/* One line: what, and what to do ("" if nothing). */
static void tell(doctor *doc, verdict how, const char *what, const char *todo) {
    doc->counts[how]++;
    if (doc->json == NULL) {
        leat_out(doc->cli, "%-8s %s%s%s\n", verdict_words[how], what, todo[0] != 0 ? "; " : "",
                 todo);
        return;
    }
    leat_json_begin_object(doc->json);
    leat_json_member_string(doc->json, "verdict", verdict_words[how]);
    leat_json_member_string(doc->json, "what", what);
    if (todo[0] != 0) leat_json_member_string(doc->json, "do", todo);
    leat_json_end_object(doc->json);
}

/* ---- The machine -------------------------------------------------------------------------- */

static void tell_build(doctor *doc) {
    leat_build_item item;
    char what[256];
    for (int i = 0; leat_build_info(i, &item); i++) {
        bool left_out = strcmp(item.value, "left out") == 0;
        snprintf(what, sizeof what, "%s %s: %s", item.group, item.name, item.value);
        tell(doc, left_out ? VERDICT_NOTE : VERDICT_OK, what,
             left_out ? "install its -dev package and build leat again, if you need it" : "");
    }
}

static void tell_duckdb(doctor *doc) {
    char version[64], path[512], what[640];
    leat_error err = {0};
    if (leat_duckdb_probe(version, sizeof version, path, sizeof path, &err) == LEAT_OK) {
        snprintf(what, sizeof what, "DuckDB %s reads Parquet (%s)", version, path);
        tell(doc, VERDICT_OK, what, "");
        return;
    }
    snprintf(what, sizeof what, "Parquet cannot be read: %s", err.message);
    tell(doc, VERDICT_PROBLEM, what,
         "run scripts/install.sh, or install DuckDB's library; CSV and NDJSON work without it");
}

static void tell_memory(doctor *doc, const leat_machine *machine) {
    char all[LEAT_WORDS_BYTES], free_bytes[LEAT_WORDS_BYTES], what[160];
    if (machine->memory_bytes < 0 || machine->available_bytes < 0) {
        tell(doc, VERDICT_NOTE, "memory: not known on this machine",
             "pass --memory to ingest what it may use");
        return;
    }
    snprintf(what, sizeof what, "memory: %s, of which %s available",
             leat_words_bytes(all, machine->memory_bytes),
             leat_words_bytes(free_bytes, machine->available_bytes));
    int64_t wanted = leat_probes_ingest_options_default().memory_bytes;
    bool enough = machine->available_bytes >= wanted;
    tell(doc, enough ? VERDICT_OK : VERDICT_NOTE, what,
         enough ? "" : "pass a smaller --memory to ingest, whose default is 512M");
}

/* An ingest would find out when it begins. */
static void tell_writing(doctor *doc, const char *path) {
    leat_error err = {0};
    leat_code code = leat_folder_can_write(path, &err);
    if (code == LEAT_OK || code == LEAT_ERR_NOT_FOUND)
        return; /* what is not there an ingest makes */
    tell(doc, leat_cli_given(doc->cli, "temp") ? VERDICT_PROBLEM : VERDICT_NOTE, err.message,
         "pass --temp and -o folders that can be written");
}

static void tell_disk(doctor *doc, const char *path, const leat_machine *machine) {
    char words[LEAT_WORDS_BYTES], what[512];
    if (machine->disk_free_bytes < 0) {
        snprintf(what, sizeof what, "disk at \"%.300s\": free space not known", path);
        tell(doc, VERDICT_NOTE, what, "is there a folder of that name? pass another one as --temp");
        return;
    }
    snprintf(what, sizeof what, "disk at \"%.300s\": %s free", path,
             leat_words_bytes(words, machine->disk_free_bytes));
    bool enough = machine->disk_free_bytes >= INT64_C(10) << 30;
    tell(doc, enough ? VERDICT_OK : VERDICT_NOTE, what,
         enough ? ""
                : "an ingest needs about 120 bytes a measurement there, half of it until it is "
                  "done: pass --temp and -o folders with room");
}

static void tell_machine(doctor *doc, const char *path) {
    leat_machine machine;
    char what[160];
    leat_machine_look(path, &machine);
    snprintf(what, sizeof what, "processors: %d", machine.cpus);
    tell(doc, VERDICT_OK, what, "");
    tell_memory(doc, &machine);
    tell_disk(doc, path, &machine);
    tell_writing(doc, path);
    snprintf(what, sizeof what, "open files: at most %lld", (long long)machine.open_files_max);
    bool enough = machine.open_files_max < 0 || machine.open_files_max >= 1024;
    tell(doc, enough ? VERDICT_OK : VERDICT_NOTE, what,
         enough ? "" : "large data sets want 1024: raise it with ulimit -n");
    if (machine.python[0] != 0) {
        snprintf(what, sizeof what, "python: %s", machine.python);
        tell(doc, VERDICT_OK, what, "");
    } else {
        tell(doc, VERDICT_NOTE, "python: no python3 in the usual places",
             "only the Python package needs it");
    }
}

/* ---- A data set --------------------------------------------------------------------------- */

static void tell_findings(doctor *doc, const leat_verify_report *report) {
    char what[LEAT_MESSAGE_BYTES + 300], words[LEAT_WORDS_BYTES];
    for (int64_t i = 0; i < report->finding_count; i++) {
        const leat_verify_finding *finding = &report->findings[i];
        snprintf(what, sizeof what, "%s: %s", finding->file, finding->reason);
        tell(doc, finding->note ? VERDICT_NOTE : VERDICT_PROBLEM, what, "");
    }
    int64_t more = report->problem_count + report->note_count - report->finding_count;
    if (more > 0) {
        snprintf(what, sizeof what, "and %s more of the kind", leat_words_count(words, more));
        tell(doc, VERDICT_PROBLEM, what, "");
    }
}

static void tell_first_row(doctor *doc, const char *path) {
    char what[LEAT_MESSAGE_BYTES + 64], rows[LEAT_WORDS_BYTES], bytes[LEAT_WORDS_BYTES];
    leat_dataset *dataset = NULL;
    leat_dataset_facts facts;
    leat_row_facts row;
    leat_error err = {0};
    leat_code code = leat_dataset_open(&dataset, &path, 1, NULL, &err);
    if (code == LEAT_OK) {
        leat_dataset_get_facts(dataset, &facts);
        if (facts.row_count > 0) code = leat_dataset_row(dataset, 0, &row, &err);
    }
    if (code != LEAT_OK) {
        snprintf(what, sizeof what, "it cannot be used: %s", err.message);
        tell(doc, VERDICT_PROBLEM, what, "");
    } else {
        snprintf(what, sizeof what, "data set \"%.200s\" opens: %s rows in %lld shards, %s", path,
                 leat_words_count(rows, facts.row_count), (long long)facts.shard_count,
                 leat_words_bytes(bytes, facts.file_bytes));
        tell(doc, VERDICT_OK, what, "");
    }
    leat_dataset_close(dataset);
}

static void tell_rows(doctor *doc, const char *path) {
    leat_verify_options options = leat_verify_options_default();
    leat_verify_report *report = NULL;
    leat_error err = {0};
    options.quick = true;
    options.finding_max = 100;
    if (leat_verify(&path, 1, &options, &report, &err) != LEAT_OK) {
        tell(doc, VERDICT_PROBLEM, err.message, "");
        return;
    }
    tell_findings(doc, report);
    if (report->shards > 0) tell_first_row(doc, path);
    if (report->shards > 0 && report->problem_count == 0)
        tell(doc, VERDICT_NOTE,
             "files are there with the sizes that they should have; no byte of "
             "a shard was read",
             "leat inspect --verify reads all");
    leat_verify_report_destroy(report);
}

/* ---- A CAN cache -------------------------------------------------------------------------- */

static void tell_leftovers(doctor *doc, const char *path) {
    char names[160], what[256], words[LEAT_WORDS_BYTES];
    leat_error err = {0};
    int64_t count = 0;
    if (leat_can_leftovers(path, names, sizeof names, &count, &err) != LEAT_OK || count == 0)
        return; /* a folder that cannot be read is told of when it is opened */
    snprintf(what, sizeof what, "%s of an ingest or a staging, at work or killed: %s",
             leat_things(words, count, "leftover"), names);
    tell(doc, VERDICT_NOTE, what,
         "run it again, which goes on or clears up, or remove them if none is at work");
}

/* Every split opens: its file is there, of the size that it should have. */
static leat_code open_splits(const leat_can_cache *cache, int count, int64_t *graphs,
                             leat_error *err) {
    for (int i = 0; i < count; i++) {
        leat_can_split split;
        leat_can_reader *reader = NULL;
        leat_code code = leat_can_cache_get_split(cache, i, &split, err);
        if (code == LEAT_OK)
            code = leat_can_reader_create(&reader, cache, split.name, LEAT_SCALE_NONE, err);
        if (code != LEAT_OK) return code;
        *graphs += split.graph_count;
        leat_can_reader_destroy(reader);
    }
    return LEAT_OK;
}

static void tell_cache(doctor *doc, const char *path) {
    char what[640], a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    leat_can_cache *cache = NULL;
    leat_can_facts facts = {0};
    leat_error err = {0};
    int64_t graphs = 0;
    leat_code code = leat_can_cache_open(&cache, path, &err);
    if (code == LEAT_OK) {
        leat_can_cache_get_facts(cache, &facts);
        code = open_splits(cache, facts.split_count, &graphs, &err);
    }
    if (code != LEAT_OK) {
        tell(doc, VERDICT_PROBLEM, err.message, "");
    } else {
        snprintf(what, sizeof what,
                 "CAN cache \"%.300s\" opens: %s in %s, window %lld, stride %lld", facts.path,
                 leat_things(a, graphs, "graph"), leat_things(b, facts.split_count, "split"),
                 (long long)facts.window, (long long)facts.stride);
        tell(doc, VERDICT_OK, what, "");
        tell(doc, VERDICT_NOTE, "files are there, no graph was read",
             "leat inspect --verify reads all");
    }
    leat_can_cache_close(cache);
}

static void tell_data(doctor *doc, const char *path) {
    if (leat_can_cache_is_at(path)) tell_cache(doc, path);
    else tell_rows(doc, path);
    tell_leftovers(doc, path);
}

/* ---- The command -------------------------------------------------------------------------- */

static int run_doctor(leat_cli *cli) {
    doctor doc = {.cli = cli};
    leat_error err = {0};
    bool has_data = leat_cli_argument_count(cli) > 0;
    if (leat_cli_flag(cli, "json")) {
        if (leat_json_create(&doc.json, false, &err) != LEAT_OK) return leat_cli_fail(cli, &err);
        leat_json_begin_object(doc.json);
        leat_json_key(doc.json, "findings");
        leat_json_begin_array(doc.json);
    }
    tell_build(&doc);
    tell_duckdb(&doc);
    tell_machine(&doc, leat_cli_text(cli, "temp"));
    for (int i = 0; has_data && i < leat_cli_argument_count(cli); i++)
        tell_data(&doc, leat_cli_argument(cli, i));
    int status = doc.counts[VERDICT_PROBLEM] > 0 ? 1 : 0;
    if (doc.json == NULL) {
        leat_out(cli, "%lld ok, %lld to note, %lld problem%s\n", (long long)doc.counts[VERDICT_OK],
                 (long long)doc.counts[VERDICT_NOTE], (long long)doc.counts[VERDICT_PROBLEM],
                 doc.counts[VERDICT_PROBLEM] == 1 ? "" : "s");
        return status;
    }
    leat_json_end_array(doc.json);
    leat_json_member_int(doc.json, "problems", doc.counts[VERDICT_PROBLEM]);
    leat_json_end_object(doc.json);
    int written = leat_out_json(cli, doc.json);
    leat_json_destroy(doc.json);
    return written != 0 ? written : status;
}

static const leat_cli_option options[] = {
    LEAT_CLI_OPTION_JSON,
    {.name = "temp",
     .kind = LEAT_CLI_TEXT,
     .value = "DIR",
     .help =
         "the folder whose free disk space matters, and which must be open to writing: where an "
         "ingest would write",
     .preset = "."},
    {0},
};

static const leat_cli_example examples[] = {
    {"leat doctor", "has this machine what leat needs?"},
    {"leat doctor data", "and is the data set or CAN cache complete, or half written?"},
    {0},
};

const leat_cli_command leat_cmd_doctor = {
    .words = "doctor",
    .purpose = "what is wrong here, or with a data set, and what to do about it",
    .usage = "[DATA...] [options]",
    .about =
        "Looks at the machine (processor, memory, disk, limits, libraries) and at data sets and "
        "CAN "
        "caches: leftovers of an interrupted ingest, files missing or of the wrong size, manifest "
        "and index against each other. Each line says ok, note or problem, what it is, and what to "
        "do. Exit status 1 if there is a problem.\n\n"
        "It changes nothing and reads no shard: leat inspect --verify does that.",
    .argument = "DATA",
    .max_arguments = -1,
    .options = options,
    .examples = examples,
    .run = run_doctor,
};
