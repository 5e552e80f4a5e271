/*
 * A directed graph. Its nodes are on a circle, so that names never overlap and no edge runs through
 * a node, whatever the graph; edges bend inwards, each to its own right, so that the two directions
 * of a pair are apart. Edges and nodes are drawn in a fixed number of steps each.
 */
#include <math.h>
#include <string.h>

#include "page/page.h"

enum { CENTER = LEAT_PLOT_WIDTH / 2, NAME = 12 };
#define PI 3.14159265358979323846
#define CHAR_WIDTH 6.8 /* of a name's 11 px type, on the wide side */
#define LARGEST 10.0   /* radius of a node */
#define WIDEST 7.0     /* width of an edge */
#define GAP 4.0        /* between a node and its name, and at the edge */

typedef struct point {
    double x, y;
} point;

typedef struct place {
    point at, out; /* out: away from the center, of length 1 */
    double radius;
} place;

static point moved(point from, double length, point direction) {
    return (point){from.x + length * direction.x, from.y + length * direction.y};
}

/* The direction from one point to another, of length 1. */
static point towards(point from, point to) {
    double dx = to.x - from.x, dy = to.y - from.y, length = sqrt(dx * dx + dy * dy);
    return length > 0 ? (point){dx / length, dy / length} : (point){0, 0};
}

/* The name as far as there is space for it. */
static void show_name(char text[NAME + 8], const char *name) {
    size_t size = strlen(name);
    leat_text_show(text, NAME + (size <= NAME), name, (int64_t)size);
    if (size > NAME) memcpy(text + strlen(text), "\xe2\x80\xa6", 4);
}

static double longest_name(const leat_network *network) {
    size_t longest = 0;
    for (int i = 0; i < network->node_count; i++) {
        size_t size = strlen(network->nodes[i].name);
        if (size > longest) longest = size < NAME ? size : NAME;
    }
    return (double)longest * CHAR_WIDTH;
}

/* Clockwise from the top; a single node is in the middle. Returns the radius of the names. */
static double find_places(const leat_network *network, place places[LEAT_NETWORK_NODES]) {
    int count = network->node_count;
    double ring = count > 1 ? CENTER - longest_name(network) - LARGEST - 2 * GAP : 0;
    double largest = count > 1 ? fmin(LARGEST, 0.84 * PI * ring / count) : LARGEST;
    int64_t most = 1;
    for (int i = 0; i < count; i++)
        if (network->nodes[i].size > most) most = network->nodes[i].size;
    for (int i = 0; i < count; i++) {
        double angle = 2 * PI * (count > 1 ? (double)i / count : 0.25);
        places[i].out = (point){sin(angle), -cos(angle)};
        places[i].at = moved((point){CENTER, CENTER}, ring, places[i].out);
        places[i].radius = fmax(2, largest * sqrt(leat_ratio(network->nodes[i].size, most)));
    }
    return ring + largest + GAP;
}

static void put_head(leat_textbuf *out, point tip, point direction, double length) {
    point base = moved(tip, -length, direction), side = {-direction.y, direction.x};
    point left = moved(base, length * 0.42, side), right = moved(base, -length * 0.42, side);
    leat_textbuf_printf(out, "<path class=\"head\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fz\"/></g>\n",
                        tip.x, tip.y, left.x, left.y, right.x, right.y);
}

/* An edge to its own node: a loop towards the center. */
static void put_loop(leat_textbuf *out, const place *of, double width, double head) {
    point in = {-of->out.x, -of->out.y}, side = {-in.y, in.x};
    double reach = of->radius + 1, far = of->radius + 30 + 4 * width;
    point from = moved(moved(of->at, 0.8 * reach, in), 0.6 * reach, side);
    point tip = moved(moved(of->at, 0.8 * reach, in), -0.6 * reach, side);
    point bend1 = moved(moved(of->at, far, in), 0.8 * far, side);
    point bend2 = moved(moved(of->at, far, in), -0.8 * far, side);
    point direction = towards(bend2, tip), end = moved(tip, -0.8 * head, direction);
    leat_textbuf_printf(
        out, "<path d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\" stroke-width=\"%.2f\"/>", from.x,
        from.y, bend1.x, bend1.y, bend2.x, bend2.y, end.x, end.y, width);
    put_head(out, tip, direction, head);
}

static void put_curve(leat_textbuf *out, const place *a, const place *b, double width,
                      double head) {
    double dx = b->at.x - a->at.x, dy = b->at.y - a->at.y;
    point bend = {CENTER + 0.6 * ((a->at.x + b->at.x) / 2 - CENTER) - 0.08 * dy,
                  CENTER + 0.6 * ((a->at.y + b->at.y) / 2 - CENTER) + 0.08 * dx};
    point direction = towards(bend, b->at);
    point from = moved(a->at, a->radius, towards(a->at, bend));
    point tip = moved(b->at, -b->radius - 1, direction), end = moved(tip, -0.8 * head, direction);
    leat_textbuf_printf(out, "<path d=\"M%.1f %.1fQ%.1f %.1f %.1f %.1f\" stroke-width=\"%.2f\"/>",
                        from.x, from.y, bend.x, bend.y, end.x, end.y, width);
    put_head(out, tip, direction, head);
}

static void put_edge(const leat_network *network, const place *places,
                     const leat_network_edge *edge) {
    leat_textbuf *out = network->page->svg;
    char words[LEAT_WORDS_BYTES];
    double width = fmin(WIDEST, 0.8 * sqrt((double)edge->count)), head = 4 + 1.6 * width;
    leat_textbuf_put(out, "<g class=\"edge\"><title>");
    leat_html_text(out, network->nodes[edge->source].name);
    leat_textbuf_put(out, " to ");
    leat_html_text(out, network->nodes[edge->target].name);
    leat_textbuf_printf(out, ": %s</title>", leat_things(words, edge->count, network->counts));
    if (edge->source == edge->target) put_loop(out, &places[edge->source], width, head);
    else put_curve(out, &places[edge->source], &places[edge->target], width, head);
}

static void put_node(const leat_network *network, const place *at, int index, double ring) {
    leat_textbuf *out = network->page->svg;
    const leat_network_node *node = &network->nodes[index];
    char words[LEAT_WORDS_BYTES], name[NAME + 8];
    bool left = at->out.x < -1e-9;
    double angle = atan2(at->out.y, at->out.x) * 180 / PI;
    point label = moved((point){CENTER, CENTER}, ring, at->out);
    if (left) angle += angle > 0 ? -180 : 180; /* upright */
    leat_textbuf_printf(out, "<circle class=\"%s%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"><title>",
                        node->hollow ? "ring" : "bar", node->class_name, at->at.x, at->at.y,
                        at->radius);
    leat_html_text(out, node->name);
    leat_textbuf_printf(out, ": %s</title></circle>",
                        leat_things(words, node->size, network->sizes));
    leat_textbuf_printf(out,
                        "<text transform=\"translate(%.1f %.1f)rotate(%.1f)\" y=\"3.8\" "
                        "class=\"name%s\">",
                        label.x, label.y, angle, left ? " end" : "");
    show_name(name, node->name);
    leat_html_text(out, name);
    leat_textbuf_put(out, "</text>\n");
}

void leat_network_draw(const leat_network *network) {
    place places[LEAT_NETWORK_NODES];
    leat_figure_draw(network->page, LEAT_PLOT_WIDTH, LEAT_PLOT_WIDTH);
    double ring = find_places(network, places);
    for (int i = 0; i < network->edge_count; i++) put_edge(network, places, &network->edges[i]);
    for (int i = 0; i < network->node_count; i++) put_node(network, &places[i], i, ring);
}
