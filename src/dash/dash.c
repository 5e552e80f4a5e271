/*
 * leat dash: the caller's thread looks at the sources once a second and publishes what has changed;
 * the server's thread answers. What both use is the news, which have a lock, and the samples of a
 * run, which have another.
 */
#include "leat/dash.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "dash/access.h"
#include "dash/database_source.h"
#include "dash/metrics.h"
#include "dash/news.h"
#include "dash/run_source.h"

enum { LOOK_MS = 1000, WAIT_MS = 100, SAID = 2 };

typedef struct dash {
    const leat_dash_options *options;
    leat_access access;
    leat_news news;
    leat_run_source run;
    leat_database_source database;
    bool has_run, has_database;
    bool differ;      /* the database has another run than the folder */
    bool others;      /* because it has other weights after the same step */
    int64_t compared; /* the run of the database that was compared by a state; 0: none was */
    int64_t drawn;    /* version of the source of the curves; -1: none yet */
    leat_dash_facts *facts;
    pthread_mutex_t lock; /* of `metrics` */
    leat_buf metrics;
    leat_http *http;
    int64_t next_ns; /* when the next look is due, or what of it a look that takes long lets be */
    bool waits;      /* for the database, while the folder can be looked at */
    leat_stop stop;
    char said[SAID][LEAT_MESSAGE_BYTES]; /* the last problem of each source */
} dash;

/* ---- Answers -------------------------------------------------------------------------------- */

static const char page_html[] = {
#include "dash/page.html.h"
    0};
static const char page_css[] = {
#include "dash/page.css.h"
    0};
static const char page_js[] = {
#include "dash/page.js.h"
    0};

typedef struct dash_file {
    const char *path, *type, *body; /* no body: the colours */
} dash_file;

static const dash_file files[] = {
    {"/", "text/html; charset=utf-8", page_html},
    {"/page.css", "text/css; charset=utf-8", page_css},
    {"/page.js", "text/javascript; charset=utf-8", page_js},
    {"/colours.css", "text/css; charset=utf-8", NULL},
};

static bool answer_file(const dash *self, const char *path, leat_http_reply *reply) {
    const char *colours = self->options->colours != NULL ? self->options->colours : "";
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (strcmp(path, files[i].path) != 0) continue;
        reply->status = 200;
        reply->type = files[i].type;
        reply->body = files[i].body != NULL ? files[i].body : colours;
        reply->body_bytes = (int64_t)strlen(reply->body);
        return true;
    }
    return false;
}

static void answer_document(dash *self, int document, leat_http_reply *reply) {
    reply->status = 200;
    reply->type = "application/json";
    if (leat_news_copy(&self->news, document, &reply->kept, NULL) != LEAT_OK) {
        leat_buf_free(&reply->kept);
        *reply = leat_http_words(503, "Not enough memory now.\n");
    }
}

/* "/samples/100.png": a number of digits alone, and nothing else of the path is used. */
static bool answer_samples(dash *self, const char *path, leat_http_reply *reply) {
    static const char begins[] = "/samples/";
    char *end;
    if (strncmp(path, begins, strlen(begins)) != 0) return false;
    path += strlen(begins);
    if (!self->has_run || *path < '0' || *path > '9' || strlen(path) > 30) return false;
    const int64_t step = strtoll(path, &end, 10);
    if (strcmp(end, ".png") != 0) return false;
    if (leat_run_source_open(&self->run, step, &reply->file, &reply->file_bytes, NULL) != LEAT_OK)
        return false;
    reply->status = 200;
    reply->type = "image/png";
    return true;
}

static bool answer_metrics(dash *self, const char *path, leat_http_reply *reply) {
    if (!self->options->metrics || strcmp(path, LEAT_ACCESS_METRICS) != 0) return false;
    reply->status = 200;
    reply->type = LEAT_DASH_METRICS_TYPE;
    pthread_mutex_lock(&self->lock);
    const leat_code code =
        leat_buf_append(&reply->kept, self->metrics.data, self->metrics.size, NULL);
    pthread_mutex_unlock(&self->lock);
    if (code != LEAT_OK) *reply = leat_http_words(503, "Not enough memory now.\n");
    return true;
}

static void answer(void *user, const leat_http_request *request, leat_http_reply *reply) {
    dash *self = user;
    const char *path = request->path;
    if (!leat_access_admit(&self->access, request, reply)) return;
    if (strcmp(path, "/events") == 0) {
        *reply = (leat_http_reply){.status = 200,
                                   .type = "text/event-stream",
                                   .stream = true,
                                   .cursor = leat_news_parse(&self->news, request->last_event)};
        return;
    }
    if (strcmp(path, "/facts.json") == 0) answer_document(self, LEAT_NEWS_FACTS, reply);
    else if (strcmp(path, "/curves.json") == 0) answer_document(self, LEAT_NEWS_CURVES, reply);
    else if (!answer_file(self, path, reply) && !answer_samples(self, path, reply) &&
             !answer_metrics(self, path, reply))
        *reply = leat_http_words(404, "There is nothing of this name.\n");
}

static leat_code on_news(void *user, leat_http_cursor *cursor, leat_buf *out, leat_error *err) {
    return leat_news_next(&((dash *)user)->news, cursor, out, err);
}

static const leat_http_class own = {.answer = answer, .news = on_news};

/* ---- Looking -------------------------------------------------------------------------------- */

static bool goes_on(dash *self) {
    const leat_dash_options *of = self->options;
    const int streams = self->http != NULL ? leat_http_streams(self->http) : 0;
    const leat_progress progress = {"serving", "pages", streams, -1};
    return of->progress == NULL || of->progress(of->user, &progress);
}

/* A problem is said once, until there is another one or none. */
static void say(dash *self, int source, leat_code code, const leat_error *err) {
    char *said = self->said[source];
    const char *message = code == LEAT_OK ? "" : err->message;
    if (code == LEAT_ERR_CANCELLED || strcmp(said, message) == 0) return;
    snprintf(said, LEAT_MESSAGE_BYTES, "%s", message);
    if (self->options->say != NULL && message[0] != 0)
        self->options->say(self->options->user, message);
}

static leat_code publish_metrics(dash *self, leat_error *err) {
    leat_buf fresh = {0}, before;
    const leat_code code = leat_dash_metrics(self->facts, &fresh, err);
    if (code != LEAT_OK) {
        leat_buf_free(&fresh);
        return code;
    }
    pthread_mutex_lock(&self->lock);
    before = self->metrics;
    self->metrics = fresh;
    pthread_mutex_unlock(&self->lock);
    leat_buf_free(&before);
    return LEAT_OK;
}

static leat_code publish_facts(dash *self, leat_error *err) {
    leat_dash_facts *facts = self->facts;
    leat_json *json = NULL;
    const char *text;
    int64_t size;
    /* what a source does not know stays so */
    *facts = (leat_dash_facts){
        .step_seconds = NAN,
        .samples_per_second = NAN,
        .seconds_left = NAN,
        .checkpoint_step = -1,
        .best_step = -1,
        .more = {.unit_seconds = NAN, .step_seconds = NAN, .step_then = NAN},
    };
    if (self->has_run) leat_run_source_fill(&self->run, facts);
    if (self->differ) {
        facts->has_database = true;
        facts->database_problem = "The database has another run than the folder; it is not shown.";
    } else if (self->has_database) {
        leat_database_source_fill(&self->database, !self->has_run, facts);
    }
    leat_code code = leat_dash_facts_json(facts, &json, &text, &size, err);
    if (code == LEAT_OK) code = leat_news_publish(&self->news, LEAT_NEWS_FACTS, text, size, err);
    leat_json_destroy(json);
    if (code == LEAT_OK && self->options->metrics) code = publish_metrics(self, err);
    return code;
}

/* Only when there is another step: most looks find none. */
static leat_code publish_curves(dash *self, leat_error *err) {
    leat_dash_curves curves = {0};
    leat_json *json = NULL;
    const char *text;
    int64_t size;
    const int64_t version = self->has_run ? self->run.version : self->database.version;
    if (version == self->drawn) return LEAT_OK;
    if (self->has_run) leat_run_source_draw(&self->run, &curves);
    else leat_database_source_draw(&self->database, &curves);
    leat_code code = leat_dash_curves_json(&curves, &json, &text, &size, err);
    if (code == LEAT_OK) code = leat_news_publish(&self->news, LEAT_NEWS_CURVES, text, size, err);
    leat_json_destroy(json);
    if (code == LEAT_OK) self->drawn = version;
    return code;
}

static leat_code publish(dash *self, leat_error *err) {
    const leat_code code = publish_facts(self, err);
    return code == LEAT_OK ? publish_curves(self, err) : code;
}

/* Between two tries there is no other news of a source with a problem. */
static void look_at_run(dash *self) {
    leat_error why = {0};
    const leat_code code = leat_run_source_look(&self->run, &why);
    if (code != LEAT_OK || self->run.problem == NULL) say(self, 0, code, &why);
}

/* Two runs that differ in anything which decides the weights have other states from their first
 * step on. The folder may be ahead, or far behind: then what was found before is still true. */
static leat_code compare(dash *self, leat_error *err) {
    const leat_crowd_seen *seen = &self->database.seen;
    const char *here = NULL, *there = NULL;
    int64_t step = 0;
    if (!self->has_run || seen->id == 0) return LEAT_OK;
    if (leat_run_source_state(&self->run, &step, &here))
        there = leat_database_source_state(&self->database, step);
    if (there != NULL) {
        self->others = strcmp(here, there) != 0;
        self->compared = seen->id;
    } else if (self->compared != seen->id) {
        self->others = false;
    }
    self->differ = self->others || !leat_run_source_may_be(&self->run, &seen->run);
    if (!self->differ) return LEAT_OK;
    return leat_fail(
        err, LEAT_ERR_OPTION,
        "the run \"%.64s\" of the database and \"%.300s\" are different runs: %s; show "
        "one of them, or name a folder and a database of the same run",
        seen->run.name, self->options->run,
        self->others ? "their weights differ after the same step"
                     : "their model, data, units or unit size differ");
}

static leat_code look_at_database(dash *self) {
    leat_error why = {0};
    self->waits = self->has_run;
    leat_code code = leat_database_source_look(&self->database, &why);
    self->waits = false;
    if (code == LEAT_OK) code = compare(self, &why);
    if (code != LEAT_OK || self->database.problem == NULL) say(self, 1, code, &why);
    return code;
}

/* What is new in the folder does not wait for a database. */
static leat_code look(dash *self, leat_error *err) {
    if (self->has_run) look_at_run(self);
    if (self->has_run && self->has_database) {
        LEAT_TRY(publish(self, err));
        LEAT_TRY(leat_http_wake(self->http, err));
    }
    if (self->has_database) (void)look_at_database(self);
    LEAT_TRY(publish(self, err));
    return leat_http_wake(self->http, err);
}

/* Asked by a look that takes long. Streams get their comments meanwhile, slow readers are dropped,
 * and a database that does not answer does not keep the news of the folder. What fails here fails
 * again after it, and is seen then. */
static bool is_to_stop(void *user) {
    dash *self = user;
    const int64_t now_ns = leat_clock_ns();
    if (self->http == NULL || now_ns < self->next_ns) return !goes_on(self);
    if (self->waits) {
        self->waits = false; /* the folder's look asks, too */
        look_at_run(self);
        (void)publish(self, NULL);
        self->waits = true;
    }
    self->next_ns = leat_clock_ns() + LOOK_MS * INT64_C(1000000);
    return leat_http_wake(self->http, NULL) != LEAT_OK || !goes_on(self);
}

static leat_code serve(dash *self, leat_error *err) {
    _Atomic uint32_t word = 0;
    self->next_ns = leat_clock_ns() + LOOK_MS * INT64_C(1000000);
    while (goes_on(self)) {
        leat_word_wait(&word, 0, WAIT_MS * INT64_C(1000000));
        if (leat_clock_ns() < self->next_ns) continue;
        LEAT_TRY(look(self, err));
        self->next_ns = leat_clock_ns() + LOOK_MS * INT64_C(1000000);
    }
    return LEAT_OK;
}

/* ---- From the beginning to the end ---------------------------------------------------------- */

static leat_code listen_there(dash *self, leat_error *err) {
    const leat_http_options http = {
        .place = self->access.place, .cookie = self->access.cookie_name, .own = &own, .user = self};
    char url[256];
    int32_t port;
    LEAT_TRY(leat_http_create(&self->http, &http, &port, err));
    snprintf(url, sizeof url, self->access.open ? "http://%s:%d/" : "http://%s:%d/?token=%s",
             self->access.listen, (int)port, self->access.token);
    if (self->options->ready != NULL) self->options->ready(self->options->user, url);
    return LEAT_OK;
}

/* What trying again does not mend ends it. */
static leat_code look_first(dash *self, leat_error *err) {
    if (!self->has_database) return LEAT_OK;
    const leat_code code = look_at_database(self);
    if (code == LEAT_ERR_OPTION || code == LEAT_ERR_UNSUPPORTED)
        return leat_fail(err, code, "%s", self->said[1]);
    return publish(self, err);
}

/* The page of a folder is there at once, whatever its database does. */
static leat_code begin(dash *self, leat_error *err) {
    if (self->has_run) LEAT_TRY(publish(self, err));
    else LEAT_TRY(look_first(self, err));
    if (!goes_on(self)) return LEAT_OK;
    LEAT_TRY(listen_there(self, err));
    if (self->has_run) LEAT_TRY(look_first(self, err));
    return serve(self, err);
}

static leat_code run_all(dash *self, leat_error *err) {
    const leat_dash_options *of = self->options;
    self->stop = (leat_stop){.asked = is_to_stop, .of = self};
    if (of->run != NULL) {
        self->has_run = true;
        LEAT_TRY(leat_run_source_create(&self->run, of->run, &self->stop, err));
    }
    if (of->db != NULL) {
        self->has_database = true;
        LEAT_TRY(leat_database_source_create(&self->database, of->db, &self->stop, err));
    }
    LEAT_TRY(LEAT_NEW(&self->facts, 1, err));
    return begin(self, err);
}

leat_dash_options leat_dash_options_default(void) {
    return (leat_dash_options){.listen = "127.0.0.1:8501"};
}

leat_code leat_dash(const leat_dash_options *options, leat_error *err) {
    dash self = {.options = options, .drawn = -1};
    if (options->run == NULL && options->db == NULL)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "nothing to show: name the folder of a run, its database (--db), or both");
    LEAT_TRY(leat_access_create(&self.access, options->listen, err));
    LEAT_TRY(leat_news_create(&self.news, err));
    pthread_mutex_init(&self.lock, NULL);
    leat_code code = run_all(&self, err);
    if (code == LEAT_ERR_CANCELLED) code = LEAT_OK; /* by the caller, while something was read */
    leat_http_destroy(self.http);
    if (self.has_run) leat_run_source_destroy(&self.run);
    if (self.has_database) leat_database_source_destroy(&self.database);
    leat_free(self.facts);
    leat_buf_free(&self.metrics);
    pthread_mutex_destroy(&self.lock);
    leat_news_destroy(&self.news);
    return code;
}
