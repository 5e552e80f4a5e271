/*
 * Documents of elements: any bytes, as a file of JSON. What jansson reads as an array gives its
 * elements, each with the same value; anything else gives elements or an error, without end.
 */
#include <string.h>

#include "base/json.h"
#include "ingest/json_elements.h"

static void compare(const json_t *array, const leat_line *line) {
    json_t *value = NULL;
    const json_t *want = json_array_get(array, (size_t)line->number - 1);
    const leat_json_span text = {line->data, line->size_bytes};
    leat_error err = {0};
    leat_code code = leat_json_parse_value(text, "element", &value, &err);
    LEAT_ASSERT(want != NULL && code == LEAT_OK && json_equal(value, want));
    json_decref(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const leat_lines_options options = {0};
    leat_json_elements elements = {0};
    leat_lines *lines = NULL;
    leat_error err = {0};
    leat_line line;
    bool document = false, found = true;
    const bool nul = size > 0 && memchr(data, 0, size) != NULL;
    json_t *tree = nul ? NULL : json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    leat_code code = leat_lines_open_bytes(&lines, data, (int64_t)size, "text", &options, &err);
    if (code == LEAT_OK) code = leat_json_elements_detect(lines, "event_time", &document, &err);
    LEAT_ASSERT(code == LEAT_OK && (document || !json_is_array(tree)));
    while (document && code == LEAT_OK && found) {
        code = leat_json_elements_next(&elements, lines, &line, &found, &err);
        if (code == LEAT_OK && found && json_is_array(tree)) compare(tree, &line);
    }
    LEAT_ASSERT(code == LEAT_OK || code == LEAT_ERR_CORRUPT);
    if (json_is_array(tree))
        LEAT_ASSERT(code == LEAT_OK && elements.number == (int64_t)json_array_size(tree));
    leat_lines_close(lines);
    json_decref(tree);
    return 0;
}
