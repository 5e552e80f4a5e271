/*
 * The files of this folder that pages and saved figures are made of, which the build embeds
 * (cmake/rooms.cmake): page.html and saved.svg, with places for values, and style sheets, of which
 * colours.css says what each colour is for. A place is "{{NAME}}": a value of the caller; or the
 * style sheet of that name; or, "{{light NAME}}", that with light colours instead of variables.
 */
#include <string.h>

#include "page/page.h"

static const char colours[] = {
#include "page/colours.css.h"
    0};
static const char page_rules[] = {
#include "page/page.css.h"
    0};
static const char figure_rules[] = {
#include "page/figure.css.h"
    0};
static const char saved_rules[] = {
#include "page/saved.css.h"
    0};
static const char page[] = {
#include "page/page.html.h"
    0};
static const char saved[] = {
#include "page/saved.svg.h"
    0};

static const struct {
    const char *name, *text;
} files[] = {{"page.html", page},          {"saved.svg", saved},     {"colours.css", colours},
             {"figure.css", figure_rules}, {"page.css", page_rules}, {"saved.css", saved_rules}};

/* The file of a name that need not end there. */
static const char *find_file(const char *name, size_t size) {
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (strlen(files[i].name) == size && strncmp(files[i].name, name, size) == 0)
            return files[i].text;
    return NULL;
}

const char *leat_template(const char *name) { return find_file(name, strlen(name)); }

/* ---- Style sheets ------------------------------------------------------------------------- */

/* The light colour of a name, which is the first in the file: "--NAME:COLOUR". */
static void put_colour(leat_textbuf *out, const char *name, size_t size) {
    for (const char *at = strstr(colours, "--"); at != NULL; at = strstr(at + 2, "--")) {
        if (strncmp(at + 2, name, size) != 0 || at[2 + size] != ':') continue;
        const char *value = at + size + 3;
        leat_textbuf_append(out, value, (int64_t)strcspn(value, ";}"));
        return;
    }
}

/* "var(--NAME)" becomes the colour of that name: many programs that draw SVG know no variables. */
static void put_light(leat_textbuf *out, const char *rules) {
    static const char begin[] = "var(--";
    for (const char *at = NULL; (at = strstr(rules, begin)) != NULL;) {
        const char *name = at + strlen(begin), *end = strchr(name, ')');
        leat_textbuf_append(out, rules, at - rules);
        put_colour(out, name, (size_t)(end - name));
        rules = end + 1;
    }
    leat_textbuf_put(out, rules);
}

/* ---- Places ------------------------------------------------------------------------------- */

static const leat_template_place *find_place(const leat_template_place *places, const char *name,
                                             size_t size) {
    for (; places->name != NULL; places++)
        if (strlen(places->name) == size && strncmp(places->name, name, size) == 0) return places;
    return NULL;
}

/* Whether there is something to put in the place of this name. */
static bool put_place(leat_textbuf *out, const char *name, size_t size,
                      const leat_template_place *places) {
    static const char light[] = "light ";
    const size_t skipped = strncmp(name, light, strlen(light)) == 0 ? strlen(light) : 0;
    const leat_template_place *place = find_place(places, name, size);
    const char *rules = find_file(name + skipped, size - skipped);
    if (place != NULL && place->markup) leat_textbuf_put(out, place->value);
    else if (place != NULL) leat_html_text(out, place->value);
    else if (rules != NULL && skipped > 0) put_light(out, rules);
    else if (rules != NULL) leat_textbuf_put(out, rules);
    return place != NULL || rules != NULL;
}

const char *leat_template_put(leat_textbuf *out, const char *text,
                              const leat_template_place *places) {
    for (const char *at = NULL; (at = strstr(text, "{{")) != NULL;) {
        const char *name = at + 2, *end = strstr(name, "}}");
        leat_textbuf_append(out, text, at - text);
        text = end + 2;
        if (!put_place(out, name, (size_t)(end - name), places)) return text;
    }
    leat_textbuf_put(out, text);
    return text + strlen(text);
}
