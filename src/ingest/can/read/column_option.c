/* --column time=NAME,id=NAME:dec,...: see column_option.h. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ingest/can/read/column_option.h"

#define ROLE_NAME(role, text) [role] = (text),
const char *const leat_can_role_names[LEAT_CAN_ROLE_COUNT] = {LEAT_CAN_ROLES(ROLE_NAME)};
#undef ROLE_NAME

static const struct {
    const char *word;
    leat_can_unit unit;
    unsigned roles; /* that take it */
} units[] = {
    {"hex", LEAT_CAN_UNIT_HEX, 1u << LEAT_CAN_ROLE_ID | 1u << LEAT_CAN_ROLE_DATA},
    {"dec", LEAT_CAN_UNIT_DEC, 1u << LEAT_CAN_ROLE_ID | 1u << LEAT_CAN_ROLE_DATA},
    {"bits", LEAT_CAN_UNIT_BITS, 1u << LEAT_CAN_ROLE_DLC | 1u << LEAT_CAN_ROLE_DATA},
    {"bytes", LEAT_CAN_UNIT_BYTES, 1u << LEAT_CAN_ROLE_DLC},
    {"base64", LEAT_CAN_UNIT_BASE64, 1u << LEAT_CAN_ROLE_DATA},
    {"s", LEAT_CAN_UNIT_S, 1u << LEAT_CAN_ROLE_TIME},
    {"ms", LEAT_CAN_UNIT_MS, 1u << LEAT_CAN_ROLE_TIME},
    {"us", LEAT_CAN_UNIT_US, 1u << LEAT_CAN_ROLE_TIME},
    {"ns", LEAT_CAN_UNIT_NS, 1u << LEAT_CAN_ROLE_TIME},
    {"gap", LEAT_CAN_UNIT_GAP, 1u << LEAT_CAN_ROLE_TIME},
};

static bool is_same(const char *text, size_t size, const char *word) {
    return strlen(word) == size && memcmp(word, text, size) == 0;
}

/* Whether the text after a colon is a unit of any role; if this one does not take it, that is an
 * error and not a name with a colon. */
static leat_code read_unit(int role, const char *text, size_t size, leat_can_unit *unit,
                           leat_error *err) {
    *unit = LEAT_CAN_UNIT_NONE;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!is_same(text, size, units[i].word)) continue;
        *unit = units[i].unit;
        if ((units[i].roles >> role & 1u) != 0) return LEAT_OK;
        return leat_fail(
            err, LEAT_ERR_OPTION,
            "--column: %s does not take :%s; time takes s, ms, us, ns or gap, id hex or "
            "dec, dlc bytes or bits, data hex, dec, bits or base64, and the others "
            "nothing",
            leat_can_role_names[role], units[i].word);
    }
    return LEAT_OK;
}

static leat_code take_name(char out[LEAT_CAN_COLUMN_NAME_BYTES], int role, const char *text,
                           size_t size, leat_error *err) {
    if (size == 0 || size >= LEAT_CAN_COLUMN_NAME_BYTES) {
        return leat_fail(
            err, LEAT_ERR_OPTION,
            "--column: the name for %s must have 1 to %d characters; a column can also "
            "be given by its number",
            leat_can_role_names[role], LEAT_CAN_COLUMN_NAME_BYTES - 1);
    }
    memcpy(out, text, size);
    out[size] = 0;
    return LEAT_OK;
}

/* NAME[+NAME...]; with nothing before or after a +, it belongs to the name. */
static leat_code read_labels(leat_can_mapping *mapping, const char *text, size_t size,
                             leat_error *err) {
    const int role = LEAT_CAN_ROLE_LABEL;
    const char *at = text, *end = text + size;
    bool several =
        size > 0 && text[0] != '+' && end[-1] != '+' && memmem(text, size, "++", 2) == NULL;
    snprintf(mapping->label, sizeof mapping->label, "%.*s", (int)size, text);
    while (mapping->label_count < LEAT_CAN_LABEL_COLUMNS_MAX) {
        const char *plus = several ? memchr(at, '+', (size_t)(end - at)) : NULL;
        const char *stop = plus != NULL ? plus : end;
        LEAT_TRY(
            take_name(mapping->labels[mapping->label_count++], role, at, (size_t)(stop - at), err));
        if (plus == NULL)
            return take_name(mapping->roles[role].name, role, mapping->labels[0],
                             strlen(mapping->labels[0]), err);
        at = plus + 1;
    }
    return leat_fail(err, LEAT_ERR_OPTION, "--column: label takes up to %d columns",
                     LEAT_CAN_LABEL_COLUMNS_MAX);
}

/* ROLE=NAME[..NAME][:UNIT] */
static leat_code read_item(leat_can_mapping *mapping, const char *text, size_t size,
                           leat_error *err) {
    const char *equals = memchr(text, '=', size);
    int role = 0;
    while (equals != NULL && role < (int)LEAT_CAN_ROLE_COUNT &&
           !is_same(text, (size_t)(equals - text), leat_can_role_names[role])) {
        role++;
    }
    if (equals == NULL || role == (int)LEAT_CAN_ROLE_COUNT) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "--column: \"%.*s\" is not accepted; it takes WHAT=NAME, separated by "
                         "commas, where WHAT is time, id, bus, dlc, data, label or attack, "
                         "or one of the marks extended, remote and error",
                         (int)(size < 60 ? size : 60), text);
    }
    leat_can_mapped *to = &mapping->roles[role];
    if (to->name[0] != 0)
        return leat_fail(err, LEAT_ERR_OPTION, "--column: %s is given twice; give it once",
                         leat_can_role_names[role]);
    const char *name = equals + 1, *end = text + size;
    const char *colon = memrchr(name, ':', (size_t)(end - name));
    if (colon != NULL) {
        LEAT_TRY(read_unit(role, colon + 1, (size_t)(end - colon - 1), &to->unit, err));
        if (to->unit != LEAT_CAN_UNIT_NONE) end = colon;
    }
    const char *dots = memmem(name, (size_t)(end - name), "..", 2);
    if (dots != NULL && role == (int)LEAT_CAN_ROLE_DATA) {
        LEAT_TRY(take_name(to->last, role, dots + 2, (size_t)(end - dots - 2), err));
        end = dots;
    }
    if (role == LEAT_CAN_ROLE_LABEL) return read_labels(mapping, name, (size_t)(end - name), err);
    return take_name(to->name, role, name, (size_t)(end - name), err);
}

leat_code leat_can_mapping_parse(leat_can_mapping *mapping, const char *text, leat_error *err) {
    *mapping = (leat_can_mapping){0};
    for (const char *at = text;;) {
        size_t size = strcspn(at, ",");
        LEAT_TRY(read_item(mapping, at, size, err));
        if (at[size] == 0) return LEAT_OK;
        at += size + 1;
    }
}

leat_code leat_can_mapping_read(leat_can_mapping *mapping, const leat_can_settings *settings,
                                leat_error *err) {
    if (settings->column == NULL) return LEAT_OK;
    if (settings->format != LEAT_CAN_AUTO && settings->format != LEAT_CAN_CSV)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "--column describes a csv, but --format is %s; use one of them",
                         leat_can_format_name(settings->format));
    if (strlen(settings->column) >= LEAT_CAN_SETTING_BYTES)
        return leat_fail(err, LEAT_ERR_OPTION, "--column: more than %d characters",
                         LEAT_CAN_SETTING_BYTES - 1);
    return leat_can_mapping_parse(mapping, settings->column, err);
}

leat_can_line_options leat_can_lines_of(const leat_can_settings *settings,
                                        const leat_can_mapping *mapping) {
    return (leat_can_line_options){.canonical = settings->identifiers == LEAT_IDS_CANONICAL,
                                   .strict = settings->payload == LEAT_PAYLOAD_STRICT,
                                   .fd_refuse = settings->fd == LEAT_CAN_FD_REFUSE,
                                   .columns = settings->column != NULL ? mapping : NULL,
                                   .column = settings->column,
                                   .no_time = settings->no_time,
                                   .times = settings->times,
                                   .longer = settings->attack_codes == LEAT_CODES_LONG,
                                   .sparse = settings->unlabelled == LEAT_UNLABELLED_BENIGN_LINES,
                                   .any_order = settings->clock_steps == LEAT_CLOCK_STEPS_SORT};
}
