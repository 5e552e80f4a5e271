/*
 * Rtts that are lists or objects: see shapes.h. The lines keep lost pings: null and rtts without a
 * number stay null, an empty list becomes one null; jq fails at a unit that it does not know.
 */
#include "ingest/probes/shapes.h"

#include <stdio.h>
#include <string.h>

#include "base/escape.h"

static const char *const units[] = {"s", "ms", "us", "\u00b5s", "ns"};
#define UNITS "{s:1e-3,ms:1,us:1e3,\"\u00b5s\":1e3,ns:1e6}"

static bool is_unit(const leat_json_slice *value) {
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (leat_json_is_text(value, units[i])) return true;
    return false;
}

/* Keeps the name of a member in `kept`, unless it is long or there is one already. */
static void keep(char kept[LEAT_SHAPE_NAME_BYTES], const leat_json_slice *key, int *count) {
    kept[0] = 0;
    if (++*count > 1) return;
    const int64_t size = leat_json_read_text(key, kept, LEAT_SHAPE_NAME_BYTES - 1);
    kept[size > 0 ? size : 0] = 0;
    if (memchr(kept, 0, (size_t)(size > 0 ? size : 0)) != NULL) kept[0] = 0;
}

void leat_shape_take(leat_shape *shape, const leat_json_slice *value) {
    leat_json_items items = leat_json_items_of(value);
    leat_json_slice key, item;
    int values = 0, texts = 0, found = 0;
    shape->list = value->kind == LEAT_JSON_ARRAY;
    shape->names[0] = shape->value[0] = shape->unit[0] = 0;
    while (!shape->list && leat_json_items_next(&items, &key, &item)) {
        char name[LEAT_SHAPE_NAME_BYTES];
        const size_t used = strlen(shape->names), left = sizeof shape->names - used;
        const int64_t size = leat_json_read_text(&key, name, sizeof name);
        snprintf(shape->names + used, left, "%s%.*s", used > 0 ? ", " : "",
                 (int)(size < 0 ? 0 : size), name);
        const bool number = item.kind == LEAT_JSON_INTEGER || item.kind == LEAT_JSON_REAL ||
                            item.kind == LEAT_JSON_NULL;
        if (number) keep(shape->value, &key, &values);
        else if (is_unit(&item)) keep(shape->unit, &key, &found);
        texts += !number;
    }
    /* another text may be a unit that is not known */
    if (texts > found) shape->unit[0] = shape->value[0] = 0;
}

/* ".name" of jq, ".[\"a name\"]" of another than letters and digits; false: it cannot be shown. */
static bool add_access(char *out, size_t out_bytes, const char *name) {
    const size_t used = strlen(out);
    bool plain = name[0] < '0' || name[0] > '9';
    for (const char *at = name; *at != 0; at++) {
        const char small = (char)(*at | 0x20);
        plain =
            plain && ((small >= 'a' && small <= 'z') || (*at >= '0' && *at <= '9') || *at == '_');
        if (strchr("\"\\", *at) != NULL) return false;
    }
    return snprintf(out + used, out_bytes - used, plain ? ".%s" : ".[\"%s\"]", name) <
           (int)(out_bytes - used);
}

/* The filter of a row; false if a name in it cannot be shown. */
static bool write_filter(const leat_shape *shape, const char *rtt, char *out, size_t out_bytes) {
    char member[80] = "", value[80] = "", unit[80] = "";
    bool good = add_access(member, sizeof member, rtt);
    if (shape->list) {
        snprintf(out, out_bytes, "(%s|if .==[] then [null] else arrays//[.] end)[] as $r|%s=$r",
                 member, member);
        return good;
    }
    good = good && (shape->value[0] == 0 || add_access(value, sizeof value, shape->value)) &&
           (shape->unit[0] == 0 || add_access(unit, sizeof unit, shape->unit));
    if (shape->value[0] == 0) snprintf(out, out_bytes, "%s|=.NAME", member);
    else if (shape->unit[0] == 0) snprintf(out, out_bytes, "%s|=%s", member, value);
    else
        snprintf(out, out_bytes, "%s|=if %s==null then null else %s/" UNITS "[%s] end", member,
                 value, value, unit);
    return good;
}

void leat_shape_remedy(const leat_shape *shape, const leat_input *input, const char *rtt,
                       char out[LEAT_SHAPE_BYTES]) {
    char filter[240], all[300], word[340], path[160] = "";
    char names[LEAT_SHAPE_NAMES_BYTES];
    leat_text_show(names, sizeof names, shape->names, (int64_t)strlen(shape->names));
    const int used = snprintf(
        out, LEAT_SHAPE_BYTES, "%s%s",
        shape->list            ? "a list; write a row for each of its numbers"
        : shape->value[0] == 0 ? "an object; write one of its numbers in its place, NAME of "
        : shape->unit[0] == 0  ? "an object; write its number in its place"
                               : "an object; write its number of ms in its place",
        shape->list || shape->value[0] != 0 ? "" : names);
    if (!write_filter(shape, rtt, filter, sizeof filter)) return;
    snprintf(all, sizeof all, "%s%s", shape->elements ? "(arrays//.data//.results)[]|" : "",
             filter);
    if (!leat_shell_word(word, sizeof word, all)) return;
    const bool plain = input->coding == LEAT_CODING_NONE && !input->zip &&
                       leat_shell_word(path, sizeof path, input->path);
    const int left = LEAT_SHAPE_BYTES - used;
    if (snprintf(out + used, (size_t)left, ": jq -c %s %s > %s", word, plain ? path : "FILE",
                 plain ? "rows.ndjson" : "NEW") >= left)
        snprintf(out + used, (size_t)left, ": jq -c %s FILE > NEW", word);
}
