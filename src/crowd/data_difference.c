/* See data_difference.h. */
#include "crowd/data_difference.h"

/* The text, what is parsed of it, whose blocks double as they grow, and hashes of both sides. */
enum { TIMES_LIST = 6 };

static leat_code check_memory(const leat_database_run *run, const leat_feed *feed,
                              int64_t memory_bytes, leat_error *err) {
    const int64_t rss = leat_rss_bytes() > 0 ? leat_rss_bytes() : 0;
    if (run->list_bytes <= 0 || run->list_bytes > LEAT_DATABASE_LIST_BYTES_MAX ||
        feed->class->difference == NULL)
        return leat_fail(err, LEAT_ERR_NOT_FOUND, "the database has no list of the run's %s",
                         feed->class->many);
    if (memory_bytes == 0 || rss + TIMES_LIST * run->list_bytes <= memory_bytes) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_LIMIT,
                     "comparing the lists of %s takes more than --memory %lldM", feed->class->many,
                     (long long)(memory_bytes >> 20));
}

leat_code leat_data_difference(leat_pg *pg, const leat_database_run *run, const leat_feed *feed,
                               int64_t memory_bytes, char words[LEAT_FEED_WORDS_BYTES],
                               leat_error *err) {
    uint8_t *list = NULL;
    words[0] = 0;
    LEAT_TRY(check_memory(run, feed, memory_bytes, err));
    LEAT_TRY(leat_block_alloc((void **)&list, run->list_bytes, err));
    leat_code code = leat_database_list(pg, run, list, err);
    if (code == LEAT_OK) code = feed->class->difference(feed, list, run->list_bytes, words, err);
    leat_block_free(list, run->list_bytes);
    return code;
}
