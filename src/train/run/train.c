/* `leat train` as a function: a session whose steps this machine computes alone. */
#include <string.h>

#include "base/thread.h"
#include "train/run/session.h"

static leat_code take_steps(leat_session *session, leat_error *err) {
    LEAT_TRY(leat_session_start(session, err));
    while (leat_session_goes_on(session)) {
        const int64_t begin_ns = leat_clock_ns();
        leat_step_numbers numbers;
        LEAT_TRY(leat_trainer_step(session->trainer, &numbers, err));
        const double seconds = (double)(leat_clock_ns() - begin_ns) * 1e-9;
        LEAT_TRY(leat_session_stepped(session, &numbers, seconds, err));
    }
    return leat_session_finish(session, err);
}

leat_code leat_train(const char *model, const char *data, const char *run,
                     const leat_train_options *options, leat_train_result *result,
                     leat_error *err) {
    leat_session session;
    leat_code code = leat_session_begin(&session, model, data, options, result, err);
    session.may_rewind = true;
    if (code == LEAT_OK) code = leat_session_open(&session, run, err);
    if (code == LEAT_OK) code = take_steps(&session, err);
    leat_session_close(&session);
    if (code != LEAT_OK && code != LEAT_ERR_CANCELLED) {
        leat_train_result failed = {0}; /* but what was noted says why */
        memcpy(failed.note, result->note, sizeof failed.note);
        *result = failed;
    }
    return code;
}
