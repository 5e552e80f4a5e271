/*
 * The style sheet of all pages, and of figures that are saved alone. Two colours for data, blue and
 * orange, and vermilion for failures; probes of sequences have pink, yellow and black (p1 to p6),
 * kinds of attacks all others as well (k21 to k47: seven colours, plain, striped and barred): from
 * the palette of Okabe and Ito, distinguishable with any kind of colour blindness; lighter on dark.
 * Shades of blue (k11 to k15) are shares; the tint of vermilion is behind what an attack is in.
 */
#include <string.h>

#include "page/page.h"

static const struct {
    const char *name, *light, *dark;
} palette[] = {
    {"page", "#f6f7f9", "#11161c"},   {"card", "#fff", "#1a2129"},
    {"ink", "#1b2430", "#e4e9ef"},    {"soft", "#5b6675", "#9aa7b5"},
    {"rule", "#dde2e8", "#2d3742"},   {"grid", "#e9edf1", "#27303a"},
    {"one", "#0072b2", "#56b4e9"},    {"two", "#e08a00", "#f0a93a"},
    {"bad", "#d55e00", "#f0743a"},    {"good", "#00805e", "#2fbf94"},
    {"quiet", "#9aa5b1", "#66717e"},  {"pink", "#cc79a7", "#e09cc2"},
    {"yellow", "#d9c800", "#f0e442"}, {"sky", "#56b4e9", "#2f7fb5"},
    {"r1", "#c3e1f4", "#1d4561"},     {"r2", "#8ac4e8", "#2a6d99"},
    {"r3", "#4aa3d9", "#4a9bd0"},     {"r4", "#0072b2", "#8cc8ee"},
    {"r5", "#003f63", "#d9effc"},     {"tint", "#fbe0cd", "#4d2c1a"},
};
enum { COLOURS = sizeof palette / sizeof palette[0] };

/* What drawings are made of. */
static const char figure_rules[] =
    "svg text{fill:var(--soft)}svg .mid{text-anchor:middle}svg .end{text-anchor:end}\n"
    "svg .marked{fill:var(--ink);font-weight:600}\n"
    ".grid{stroke:var(--grid);fill:none}.base{stroke:var(--quiet);fill:none}\n"
    ".bar{fill:var(--one)}.bar.zero{fill:var(--quiet)}.bar.second{fill:var(--two)}"
    ".bar.third{fill:var(--good)}.bar.bad{fill:var(--bad)}.bar.range{fill:var(--r2)}\n"
    ".line{fill:none;stroke-width:2;stroke-linejoin:round}.l1{stroke:var(--one)}"
    ".l2{stroke:var(--two);stroke-dasharray:5 3}"
    ".l3{stroke:var(--good);stroke-dasharray:2 3}\n"
    ".line.red{stroke:var(--bad)}.line.green{stroke:var(--good);stroke-dasharray:5 3}"
    ".line.blue{stroke:var(--one);stroke-dasharray:2 3}\n"
    ".k0{fill:var(--quiet)}.k1{fill:var(--one)}.k2{fill:var(--two)}.k3{fill:var(--bad)}"
    ".k4{fill:var(--sky)}.k11{fill:var(--r1)}.k12{fill:var(--r2)}.k13{fill:var(--r3)}"
    ".k14{fill:var(--r4)}.k15{fill:var(--r5)}.k21{fill:var(--bad)}.k22{fill:var(--two)}"
    ".k23{fill:var(--sky)}.k24{fill:var(--good)}.k25{fill:var(--pink)}"
    ".k26{fill:var(--yellow)}.k27{fill:var(--ink)}.k31,.k41{stroke:var(--bad)}"
    ".k32,.k42{stroke:var(--two)}.k33,.k43{stroke:var(--sky)}.k34,.k44{stroke:var(--good)}"
    ".k35,.k45{stroke:var(--pink)}.k36,.k46{stroke:var(--yellow)}"
    ".k37,.k47{stroke:var(--ink)}\n"
    ".line.probe{stroke-width:12}.p0{stroke:var(--rule)}.p1,.p4{stroke:var(--pink)}"
    ".p2,.p5{stroke:var(--yellow)}.p3,.p6{stroke:var(--ink)}"
    ".p4,.p5,.p6{stroke-dasharray:4 2}\n"
    ".mark{stroke:var(--ink);stroke-dasharray:2 3;fill:none}\n"
    ".edge{stroke:var(--quiet);fill:none}.edge .head{stroke:none;fill:var(--quiet)}"
    ".ring{fill:var(--card);stroke:var(--one);stroke-width:1.5}.ring.bad{stroke:var(--bad)}"
    ".ring.zero{stroke:var(--quiet)}svg .name{fill:var(--ink)}\n"
    ".tint{fill:var(--tint)}\n";

static const char page_rules[] =
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,"
    "-apple-system,\"Segoe UI\",Roboto,\"Liberation Sans\",sans-serif;"
    "font-variant-numeric:tabular-nums;-webkit-text-size-adjust:100%}\n"
    "main{max-width:1280px;margin:0 auto;padding:28px 20px 40px}\n"
    "h1{font-size:26px;line-height:1.2;margin:0 0 4px;overflow-wrap:anywhere;"
    "letter-spacing:-.01em}\n"
    "h2{font-size:18px;margin:36px 0 12px}\n"
    "h3{font-size:14px;margin:0}\n"
    "p{margin:0 0 8px}\n"
    ".sub,.note{color:var(--soft)}.lost{color:var(--bad);font-weight:600}\n"
    ".note{font-size:13px;max-width:110ch}\n"
    ".cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(160px,1fr));gap:12px;"
    "margin:20px 0 12px}\n"
    ".card,figure,.panel{background:var(--card);border:1px solid var(--rule);"
    "border-radius:8px}\n"
    ".card{padding:12px 16px}\n"
    ".card span{display:block;color:var(--soft);font-size:13px}\n"
    ".card b{display:block;font-size:22px;line-height:1.3;font-weight:600;"
    "white-space:nowrap}\n"
    ".panel{padding:14px 16px;margin:0 0 12px}\n"
    ".two{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr));"
    "gap:12px}\n"
    ".two>.panel{min-width:0;margin:0}.two>figure svg{max-width:400px}\n"
    ".verdict{border-left:5px solid var(--good)}.verdict.bad{border-left-color:var(--bad)}"
    "\n"
    ".verdict p{margin:0}.verdict ul{margin:8px 0 0;padding-left:20px}"
    ".verdict li{overflow-wrap:anywhere}\n"
    ".figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,340px),"
    "1fr));gap:12px}\n"
    "figure{margin:0;padding:12px 14px 8px;min-width:0}\n"
    "figcaption p{color:var(--soft);font-size:13px;margin:0 0 4px}\n"
    "figcaption b{color:var(--ink);font-weight:600}\n"
    ".none{color:var(--soft);text-align:center;padding:70px 0}\n"
    "svg{display:block;width:100%;height:auto;font-size:11px}\n"
    ".key.l1{background:var(--one)}.key.l2{background:var(--two)}"
    ".key.l3{background:var(--good)}.key.red{background:var(--bad)}"
    ".key.green{background:var(--good)}.key.blue{background:var(--one)}"
    ".key.bar{background:var(--one)}.key.second{background:var(--two)}"
    ".key.third{background:var(--good)}.key.bad{background:var(--bad)}"
    ".key.range{background:var(--r2)}.bar:hover,.probe:hover{opacity:.7}\n"
    ".key.p0{background:var(--rule)}.key.p1{background:var(--pink)}"
    ".key.p2{background:var(--yellow)}.key.p3{background:var(--ink)}"
    ".key.p4,.key.p5,.key.p6{background:repeating-linear-gradient(90deg,var(--k) 0 4px,"
    "var(--card) 4px 6px)}.key.p4{--k:var(--pink)}.key.p5{--k:var(--yellow)}"
    ".key.p6{--k:var(--ink)}\n"
    ".edge:hover{stroke:var(--ink)}.edge:hover .head{fill:var(--ink)}"
    ".key.ring{background:none;border:2px solid var(--one)}.key.ring.bad{border-color:var(--bad)}"
    ".key.ring.zero{border-color:var(--quiet)}.key.tint{background:var(--tint)}"
    ".key.k11{background:var(--r1)}.key.k12{background:var(--r2)}.key.k13{background:var(--r3)}"
    ".key.k14{background:var(--r4)}.key.k15{background:var(--r5)}\n"
    ".save{text-align:right;font-size:12px;margin:2px 0 0}"
    ".save a{color:var(--soft);margin-left:10px}\n"
    ".picture{display:block;max-width:100%;height:auto;border-radius:4px}"
    ".picture.large{width:320px;image-rendering:pixelated}\n"
    ".key{display:inline-block;width:11px;height:11px;border-radius:2px;margin-right:5px}"
    ".item{white-space:nowrap;margin-right:8px}table+.note{margin:10px 0 0}\n"
    /* a shadow where a table continues, covered at its ends by what scrolls with it */
    ".scroll{overflow-x:auto;background:"
    "linear-gradient(90deg,var(--card) 24px,transparent) 0/48px 100% no-repeat local,"
    "linear-gradient(270deg,var(--card) 24px,transparent) 100%/48px 100% no-repeat local,"
    "linear-gradient(90deg,var(--quiet),transparent) 0/14px 100% no-repeat,"
    "linear-gradient(270deg,var(--quiet),transparent) 100%/14px 100% no-repeat var(--card)}\n"
    "table{border-collapse:collapse;width:100%;font-size:14px}\n"
    "th,td{padding:5px 10px;text-align:right;border-bottom:1px solid var(--grid);"
    "white-space:nowrap}\n"
    "th{color:var(--soft);font-weight:500;font-size:13px}\n"
    "th:first-child,td:first-child,.text{text-align:left}"
    ".wide{white-space:normal;min-width:240px;overflow-wrap:anywhere}\n"
    "tr:last-child td{border-bottom:0}tr.sum td{font-weight:600}\n"
    "code,.mono{font-family:ui-monospace,\"DejaVu Sans Mono\",Menlo,Consolas,monospace;"
    "font-size:.92em}\n"
    "code{overflow-wrap:anywhere}\n"
    "ol.rows{margin:0;padding:0;list-style:none;display:grid;gap:12px}\n"
    "ol.rows>li{margin:0;padding:12px 16px;overflow-wrap:anywhere}\n"
    "ol.rows ul{margin:4px 0 0;padding-left:18px;font-size:14px}\n"
    "details summary{cursor:pointer;color:var(--soft);font-size:14px;padding:4px 0}\n"
    "footer{margin-top:36px;padding-top:12px;border-top:1px solid var(--rule);"
    "color:var(--soft);font-size:13px}\n"
    "@media(max-width:520px){main{padding:18px 12px 28px}"
    ".cards{grid-template-columns:1fr 1fr}.card{padding:10px 12px}.card b{font-size:18px}"
    "h1{font-size:22px}th,td{padding:5px 8px}}\n"
    "@media print{body{background:#fff}.scroll{overflow:visible;background:none}"
    "th,td{white-space:normal;overflow-wrap:anywhere;padding:3px 5px}"
    "figure,.panel,.card{break-inside:avoid}}\n";

static void put_colours(leat_textbuf *out, bool dark) {
    for (int i = 0; i < COLOURS; i++)
        leat_textbuf_printf(out, ";--%s:%s", palette[i].name,
                            dark ? palette[i].dark : palette[i].light);
}

void leat_style_page(leat_textbuf *out) {
    leat_textbuf_put(out, ":root{color-scheme:light dark");
    put_colours(out, false);
    leat_textbuf_put(out, "}\n@media(prefers-color-scheme:dark){:root{color-scheme:light dark");
    put_colours(out, true);
    leat_textbuf_put(out, "}}\n");
    leat_textbuf_put(out, page_rules);
    leat_textbuf_put(out, figure_rules);
}

/* "var(--NAME)" becomes the colour of that name: many programs that draw SVG know no variables. */
static void put_resolved(leat_textbuf *out, const char *rules) {
    static const char begin[] = "var(--";
    for (const char *at = NULL; (at = strstr(rules, begin)) != NULL;) {
        const char *name = at + strlen(begin), *end = strchr(name, ')');
        leat_textbuf_append(out, rules, at - rules);
        for (int i = 0; i < COLOURS; i++)
            if (strlen(palette[i].name) == (size_t)(end - name) &&
                strncmp(palette[i].name, name, (size_t)(end - name)) == 0)
                leat_textbuf_put(out, palette[i].light);
        rules = end + 1;
    }
    leat_textbuf_put(out, rules);
}

void leat_style_figure(leat_textbuf *out) {
    leat_textbuf_put(out, "svg{font:11px system-ui,\"Liberation Sans\",Arial,sans-serif}\n");
    put_resolved(out, figure_rules);
    put_resolved(out, ".paper{fill:var(--card)}svg .heading{fill:var(--ink);font-size:14px;"
                      "font-weight:600}\n");
}
