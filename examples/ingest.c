/*
 * Ingests measurements with a line of progress; Ctrl-C stops it, and the same command resumes.
 *
 * Build it after make install, and run it:
 *
 *   cc ingest.c $(pkg-config --cflags --libs leat) \
 *      -Wl,-rpath,"$(pkg-config --variable=libdir leat)" -o ingest
 *   ./ingest probes pings.csv more/
 *
 * After make install PREFIX=$HOME/.local, this line comes first:
 *
 *   export PKG_CONFIG_PATH=$HOME/.local/lib/pkgconfig
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <leat/leat.h>
#include <signal.h>
#include <stdio.h>

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) {
    (void)number;
    interrupted = 1;
}

/* Called occasionally, from threads of the library but never from two at once. */
static bool on_progress(void *user, const leat_progress *progress) {
    FILE *out = user;
    fprintf(out, "\r%s: %" PRId64, progress->stage, progress->done);
    if (progress->total >= 0) fprintf(out, " of %" PRId64, progress->total);
    fprintf(out, " %s   ", progress->unit);
    fflush(out);
    return !interrupted; /* false: the ingest stops, with LEAT_ERR_CANCELLED */
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: ingest OUT_DIR INPUT...\n");
        return 2;
    }
    /* The first Ctrl-C asks the ingest to stop; a second one ends the process. */
    struct sigaction action = {.sa_handler = on_interrupt,
                               .sa_flags = (int)(SA_RESTART | SA_RESETHAND)};
    sigaction(SIGINT, &action, NULL);

    leat_probes_ingest_options options = leat_probes_ingest_options_default();
    options.memory_bytes = INT64_C(256) << 20; /* of the whole process */
    options.resume = true;                     /* an interrupted run, if there is one */
    options.progress = on_progress;
    options.progress_user = stderr;

    leat_probes_ingest_result result;
    leat_error err;
    leat_code code = leat_probes_ingest((const char *const *)argv + 2, argc - 2, argv[1], &options,
                                        &result, &err);
    fputc('\n', stderr);
    if (code == LEAT_ERR_CANCELLED) {
        fprintf(stderr, "ingest: interrupted; the same command resumes it\n");
        return 130;
    }
    if (code != LEAT_OK) {
        fprintf(stderr, "ingest: %s\n", err.message);
        return 1;
    }
    printf("%" PRId64 " records read = %" PRId64 " written + %" PRId64 " rejected\n",
           result.rows_read, result.measurements, result.rejected);
    if (result.warning[0] != '\0') fprintf(stderr, "ingest: warning: %s\n", result.warning);
    return 0;
}
