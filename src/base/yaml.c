/*
 * Settings in YAML through libyaml's events: see yaml.h. A file is a list of events; a small
 * machine with three states (before the document, in it, in a section) accepts those that settings
 * are made of.
 */
#include "base/yaml.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#if LEAT_HAVE_YAML
#include <yaml.h>
#endif

#include "base/file.h"
#include "base/mem.h"

typedef struct entry {
    char *section, *key, *value;
    int64_t line, column;
} entry;

struct leat_yaml {
    char *name;
    entry *entries;
    int64_t count, capacity;
};

const char *leat_yaml_name(const leat_yaml *yaml) { return yaml->name; }

void leat_yaml_destroy(leat_yaml *yaml) {
    if (yaml == NULL) return;
    for (int64_t i = 0; i < yaml->count; i++) {
        leat_free(yaml->entries[i].section);
        leat_free(yaml->entries[i].key);
        leat_free(yaml->entries[i].value);
    }
    leat_free(yaml->entries);
    leat_free(yaml->name);
    leat_free(yaml);
}

bool leat_yaml_at(const leat_yaml *yaml, int64_t index, leat_yaml_item *item) {
    *item = (leat_yaml_item){0};
    if (index < 0 || index >= yaml->count) return false;
    const entry *of = &yaml->entries[index];
    *item = (leat_yaml_item){of->section, of->key, of->value, of->line, of->column};
    return true;
}

bool leat_yaml_is_plain(const char *text) {
    static const char *const words[] = {"null", "true", "false", "yes", "no",
                                        "on",   "off",  "y",     "n",   NULL};
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    size_t size = strlen(text);
    bool good = size > 0 && strchr("./-+0123456789", text[0]) == NULL;
    if (strspn(text, letters) == 0 || strspn(text, "0123456789") == size) good = false;
    for (const char *at = text; good && *at != 0; at++)
        good = strchr(letters, *at) != NULL || strchr("0123456789-_./", *at) != NULL;
    for (int i = 0; good && words[i] != NULL; i++) good = strcasecmp(text, words[i]) != 0;
    return good;
}

#if LEAT_HAVE_YAML

/* Each key is compared with those before it. */
enum { KEYS_MAX = 4096 };

/* ---- Accepting events ---------------------------------------------------------------------- */

typedef struct reader {
    leat_yaml *yaml;
    yaml_parser_t parser;
    char *section; /* being read; NULL: none */
    char *key;     /* whose value comes next; NULL: a key comes next */
    int64_t line, column;
    int depth; /* of mappings: 0 before the document's */
    bool had_document, done;
} reader;

static leat_code fail_at(const reader *self, const yaml_mark_t *mark, leat_error *err,
                         const char *what) {
    return leat_fail(err, LEAT_ERR_INPUT, "\"%s\", line %lld, column %lld: %s", self->yaml->name,
                     (long long)mark->line + 1, (long long)mark->column + 1, what);
}

static leat_code fail_twice(const reader *self, const yaml_mark_t *mark, const char *key,
                            leat_error *err) {
    char what[200];
    snprintf(what, sizeof what, "\"%.100s\" appears twice; remove one of them", key);
    return fail_at(self, mark, err, what);
}

static bool is_null(const yaml_event_t *event) {
    const char *text = (const char *)event->data.scalar.value;
    return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (text[0] == 0 || strcmp(text, "~") == 0 || strcasecmp(text, "null") == 0);
}

static leat_code add(reader *self, const char *value, leat_error *err) {
    leat_yaml *yaml = self->yaml;
    LEAT_TRY(LEAT_GROW(&yaml->entries, &yaml->capacity, yaml->count + 1, err));
    entry *to = &yaml->entries[yaml->count];
    *to = (entry){.line = self->line, .column = self->column};
    yaml->count++; /* what it has so far is freed with the file */
    to->key = self->key;
    self->key = NULL;
    LEAT_TRY(leat_strdup(&to->section, self->section != NULL ? self->section : "", err));
    return value != NULL ? leat_strdup(&to->value, value, err) : LEAT_OK;
}

static leat_code take_key(reader *self, const yaml_event_t *event, leat_error *err) {
    const char *key = (const char *)event->data.scalar.value;
    const char *section = self->section != NULL ? self->section : "";
    if (key[0] == 0) return fail_at(self, &event->start_mark, err, "an empty key");
    if (self->yaml->count == KEYS_MAX)
        return fail_at(self, &event->start_mark, err, "more keys than any settings have");
    for (int64_t i = 0; i < self->yaml->count; i++) {
        const entry *other = &self->yaml->entries[i];
        bool same = strcmp(other->section, section) == 0 && strcmp(other->key, key) == 0;
        bool is_section = self->section == NULL && strcmp(other->section, key) == 0;
        if (same || is_section) return fail_twice(self, &event->start_mark, key, err);
    }
    self->line = (int64_t)event->start_mark.line + 1;
    self->column = (int64_t)event->start_mark.column + 1;
    return leat_strdup(&self->key, key, err);
}

static leat_code take_scalar(reader *self, const yaml_event_t *event, leat_error *err) {
    const yaml_mark_t *mark = &event->start_mark;
    const char *text = (const char *)event->data.scalar.value;
    if (event->data.scalar.anchor != NULL) return fail_at(self, mark, err, "an anchor");
    if (event->data.scalar.tag != NULL) return fail_at(self, mark, err, "a tag");
    if (strlen(text) != event->data.scalar.length)
        return fail_at(self, mark, err, "a character with the code 0");
    if (self->depth == 0)
        return is_null(event) ? LEAT_OK : fail_at(self, mark, err, "expected \"key: value\"");
    if (self->key == NULL) return take_key(self, event, err);
    return add(self, is_null(event) ? NULL : text, err);
}

static leat_code take_mapping(reader *self, const yaml_event_t *event, leat_error *err) {
    const yaml_mark_t *mark = &event->start_mark;
    if (event->data.mapping_start.anchor != NULL) return fail_at(self, mark, err, "an anchor");
    if (event->data.mapping_start.tag != NULL) return fail_at(self, mark, err, "a tag");
    if (self->depth == 2)
        return fail_at(self, mark, err, "nested too deeply: a section holds \"key: value\" only");
    if (self->depth == 1 && self->key == NULL)
        return fail_at(self, mark, err, "a key that is not a text");
    if (self->depth++ == 0) return LEAT_OK;
    self->section = self->key;
    self->key = NULL;
    return LEAT_OK;
}

static leat_code take(reader *self, const yaml_event_t *event, leat_error *err) {
    switch (event->type) {
    case YAML_STREAM_END_EVENT: self->done = true; return LEAT_OK;
    case YAML_DOCUMENT_START_EVENT:
        if (self->had_document)
            return fail_at(self, &event->start_mark, err, "a second document; only one is read");
        self->had_document = true;
        return LEAT_OK;
    case YAML_SCALAR_EVENT: return take_scalar(self, event, err);
    case YAML_MAPPING_START_EVENT: return take_mapping(self, event, err);
    case YAML_MAPPING_END_EVENT:
        self->depth--;
        leat_free(self->section);
        self->section = NULL;
        return LEAT_OK;
    case YAML_ALIAS_EVENT: return fail_at(self, &event->start_mark, err, "an alias");
    case YAML_SEQUENCE_START_EVENT:
        return fail_at(self, &event->start_mark, err, "a list; a setting has one value");
    default: return LEAT_OK;
    }
}

static leat_code fail_syntax(const reader *self, leat_error *err) {
    const yaml_parser_t *parser = &self->parser;
    if (parser->error == YAML_MEMORY_ERROR)
        return leat_fail(err, LEAT_ERR_MEMORY, "\"%s\": out of memory", self->yaml->name);
    if (parser->error == YAML_READER_ERROR)
        return leat_fail(err, LEAT_ERR_INPUT, "\"%s\", byte %lld: %s", self->yaml->name,
                         (long long)parser->problem_offset, parser->problem);
    char what[200];
    snprintf(what, sizeof what, "%s%s%s", parser->context != NULL ? parser->context : "",
             parser->context != NULL ? ": " : "", parser->problem);
    return fail_at(self, &parser->problem_mark, err, what);
}

static leat_code read_events(reader *self, leat_error *err) {
    while (!self->done) {
        yaml_event_t event;
        if (!yaml_parser_parse(&self->parser, &event)) return fail_syntax(self, err);
        leat_code code = take(self, &event, err);
        yaml_event_delete(&event);
        LEAT_TRY(code);
    }
    return LEAT_OK;
}

static leat_code fill(leat_yaml *yaml, const char *text, int64_t size_bytes, const char *name,
                      leat_error *err) {
    reader self = {.yaml = yaml};
    LEAT_TRY(leat_strdup(&yaml->name, name, err));
    if (size_bytes > LEAT_YAML_BYTES_MAX)
        return leat_fail(err, LEAT_ERR_LIMIT, "\"%s\" has %lld bytes; settings have at most %lld",
                         name, (long long)size_bytes, (long long)LEAT_YAML_BYTES_MAX);
    if (!yaml_parser_initialize(&self.parser))
        return leat_fail(err, LEAT_ERR_MEMORY, "\"%s\": out of memory", name);
    yaml_parser_set_encoding(&self.parser, YAML_UTF8_ENCODING);
    const bool mark = size_bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
    if (mark) { /* libyaml would count it as a column */
        text += 3;
        size_bytes -= 3;
    }
    yaml_parser_set_input_string(&self.parser, (const unsigned char *)text, (size_t)size_bytes);
    leat_code code = read_events(&self, err);
    yaml_parser_delete(&self.parser);
    leat_free(self.section);
    leat_free(self.key);
    return code;
}

leat_code leat_yaml_parse(leat_yaml **out, const char *text, int64_t size_bytes, const char *name,
                          leat_error *err) {
    leat_yaml *yaml = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&yaml, 1, err));
    leat_code code = fill(yaml, text, size_bytes, name, err);
    if (code != LEAT_OK) {
        leat_yaml_destroy(yaml);
        return code;
    }
    *out = yaml;
    return LEAT_OK;
}

#else

leat_code leat_yaml_parse(leat_yaml **out, const char *text, int64_t size_bytes, const char *name,
                          leat_error *err) {
    (void)text;
    (void)size_bytes;
    *out = NULL;
    return leat_fail(
        err, LEAT_ERR_UNSUPPORTED,
        "\"%s\": this leat was built without libyaml; pass the settings as options, or "
        "install libyaml-dev and build leat again",
        name);
}

#endif

leat_code leat_yaml_load(leat_yaml **out, const char *path, leat_error *err) {
    uint8_t *text = NULL;
    int64_t size_bytes = 0;
    *out = NULL;
    LEAT_TRY(leat_file_load(path, LEAT_YAML_BYTES_MAX, &text, &size_bytes, err));
    leat_code code = leat_yaml_parse(out, (const char *)text, size_bytes, path, err);
    leat_free(text);
    return code;
}
