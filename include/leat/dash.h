/*
 * leat/dash.h: a run shown as a page in a browser, while it goes on: losses, samples, and of a run
 * on many machines who works and who contributed what.
 *
 * The page is served over HTTP, without encryption, to readers alone: nothing can be changed with
 * it, and it has no password, no address and no path.
 */
#ifndef LEAT_DASH_H
#define LEAT_DASH_H

#include "leat/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct leat_dash_options {
    const char *run; /* the folder of a run; NULL: none */
    const char *db;  /* URL of its database, as leat_crowd_url_read gives it; NULL: none */
    /* "ADDRESS:PORT", where to listen: beyond the loopback interface everybody needs a token, which
     * is drawn at each start. */
    const char *listen;
    bool metrics;        /* also serve /metrics, in Prometheus's text format */
    const char *colours; /* a style sheet that the page has besides its own; NULL: none */
    /* May be NULL. The first asks from time to time whether to go on: false ends. `ready` is called
     * once with the page's address, which has the token if there is one; `say` with a line for the
     * user, such as why the database cannot be reached, when that changes. */
    leat_progress_fn progress;
    void (*ready)(void *user, const char *url);
    void (*say)(void *user, const char *line);
    void *user;
} leat_dash_options;
/* Nothing to show yet; 127.0.0.1:8501. */
LEAT_API leat_dash_options leat_dash_options_default(void);

/*
 * Serves the page until progress returns false, which is LEAT_OK. At least one of run and db must
 * be set; if both are, the curves and samples are the folder's. The folder and the database are
 * looked at once a second, however many look at the page.
 *
 * LEAT_ERR_OPTION: `listen` is not an address of this machine, the port is taken, the URL is not
 * valid, the server refuses the login, or the database's run is not the folder's.
 * LEAT_ERR_NOT_FOUND: the folder is not a run. LEAT_ERR_UNSUPPORTED: libmicrohttpd or libpq is
 * missing, or the database is of another version.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_dash(const leat_dash_options *options, leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
