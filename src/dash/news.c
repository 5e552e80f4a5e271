/* See news.h. */
#include "dash/news.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

static const char *const names[LEAT_HTTP_DOCUMENTS] = {"facts", "curves"};

leat_code leat_news_create(leat_news *news, leat_error *err) {
    *news = (leat_news){0};
    LEAT_TRY(leat_random_u64(&news->start, err));
    pthread_mutex_init(&news->lock, NULL);
    return LEAT_OK;
}

void leat_news_destroy(leat_news *news) {
    pthread_mutex_destroy(&news->lock);
    for (int i = 0; i < LEAT_HTTP_DOCUMENTS; i++) leat_buf_free(&news->documents[i].text);
}

leat_code leat_news_publish(leat_news *news, int document, const char *text, int64_t size_bytes,
                            leat_error *err) {
    leat_code code = LEAT_OK;
    leat_buf *of = &news->documents[document].text;
    if (size_bytes > 0 && text[size_bytes - 1] == '\n') size_bytes--;
    /* both fit into what is written for a stream at once: lists and texts have a size */
    LEAT_ASSERT(size_bytes >= 0 && size_bytes < LEAT_HTTP_PIECE_MAX / LEAT_HTTP_DOCUMENTS - 256);
    const bool is_line = memchr(text, '\n', (size_t)size_bytes) == NULL;
    LEAT_ASSERT(is_line);
    pthread_mutex_lock(&news->lock);
    if (of->size != size_bytes || size_bytes == 0 ||
        memcmp(of->data, text, (size_t)size_bytes) != 0) {
        leat_buf fresh = {0};
        code = leat_buf_append(&fresh, text, size_bytes, err);
        if (code == LEAT_OK) {
            leat_buf_free(of);
            *of = fresh;
            news->documents[document].number++;
        }
    }
    pthread_mutex_unlock(&news->lock);
    return code;
}

leat_code leat_news_copy(leat_news *news, int document, leat_buf *out, leat_error *err) {
    pthread_mutex_lock(&news->lock);
    const leat_buf *of = &news->documents[document].text;
    const leat_code code = of->size > 0 ? leat_buf_append(out, of->data, of->size, err) : LEAT_OK;
    pthread_mutex_unlock(&news->lock);
    return code;
}

static leat_code put_event(leat_news *news, int document, const leat_http_cursor *cursor,
                           leat_buf *out, leat_error *err) {
    const leat_buf *text = &news->documents[document].text;
    LEAT_TRY(leat_buf_printf(out, err, "event: %s\nid: %016llx-%lld-%lld\ndata: ", names[document],
                             (unsigned long long)news->start, (long long)cursor->seen[0],
                             (long long)cursor->seen[1]));
    LEAT_TRY(leat_buf_append(out, text->data, text->size, err));
    return leat_buf_append(out, "\n\n", 2, err);
}

leat_code leat_news_next(leat_news *news, leat_http_cursor *cursor, leat_buf *out,
                         leat_error *err) {
    leat_code code = LEAT_OK;
    pthread_mutex_lock(&news->lock);
    for (int i = 0; code == LEAT_OK && i < LEAT_HTTP_DOCUMENTS; i++) {
        if (cursor->seen[i] >= news->documents[i].number) continue;
        cursor->seen[i] = news->documents[i].number;
        code = put_event(news, i, cursor, out, err);
    }
    pthread_mutex_unlock(&news->lock);
    return code;
}

/* A number of digits alone that ends with this character; false: anything else. */
static bool parse_number(const char **text, char end, int64_t *value) {
    char *after;
    if (**text < '0' || **text > '9' || strlen(*text) > 64) return false;
    *value = strtoll(*text, &after, 10);
    *text = after + (end != 0);
    return *after == end;
}

leat_http_cursor leat_news_parse(leat_news *news, const char *id) {
    leat_http_cursor cursor = {0};
    char start[18];
    const int size = snprintf(start, sizeof start, "%016llx-", (unsigned long long)news->start);
    if (id == NULL || strncmp(id, start, (size_t)size) != 0) return cursor;
    id += size;
    if (!parse_number(&id, '-', &cursor.seen[0]) || !parse_number(&id, 0, &cursor.seen[1]))
        return (leat_http_cursor){0};
    /* of numbers that no text has had yet, nothing would ever be news */
    bool known = true;
    pthread_mutex_lock(&news->lock);
    for (int i = 0; i < LEAT_HTTP_DOCUMENTS; i++)
        known = known && cursor.seen[i] <= news->documents[i].number;
    pthread_mutex_unlock(&news->lock);
    return known ? cursor : (leat_http_cursor){0};
}
