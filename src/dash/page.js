/*
 * leat dash: follows a run by server-sent events, and draws it.
 *
 * What comes from volunteers (names, hardware, reasons) becomes text nodes and nothing else: no
 * markup is made from strings anywhere in this file.
 */
"use strict";

const LINES = 6; // colours
const FIRST = 2; // curves at the top
const RETRY_MS = 10000; // after a refusal: as many pages as possible are open
const SVG = document.createElementNS.bind(document, "http://www.w3.org/2000/svg");
const $ = (id) => document.getElementById(id);
let facts = null, curves = null, picked = -1;
let pointed = null; // the figure under the pointer, and where, from 0 to 1

// ---- Words -----------------------------------------------------------------------------------

const count = (n) => n.toLocaleString("en-US");
const plural = (n, one, many) => count(n) + " " + (n === 1 ? one : many);

function number(value) {
    if (value === undefined || value === null) return "-";
    const size = Math.abs(value);
    if (size !== 0 && (size < 0.001 || size >= 1e6)) return value.toExponential(2);
    return size >= 100 ? count(Math.round(value)) : String(Number(value.toPrecision(3)));
}

function bytes(n) {
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let at = 0;
    for (; n >= 1024 && at < units.length - 1; at++) n /= 1024;
    return (at > 0 && n < 100 ? n.toPrecision(3) : Math.round(n)) + " " + units[at];
}

function time(seconds) {
    if (seconds < 1) return Math.round(seconds * 1000) + " ms";
    if (seconds < 10) return Number(seconds.toPrecision(2)) + " s";
    if (seconds < 90) return Math.round(seconds) + " s";
    const minutes = Math.round(seconds / 60), hours = Math.floor(minutes / 60);
    if (minutes < 90) return minutes + " min";
    if (hours < 48) return hours + " h " + minutes % 60 + " min";
    return Math.floor(hours / 24) + " d " + hours % 24 + " h";
}

// ---- Elements --------------------------------------------------------------------------------

function element(name, className, ...content) {
    const made = document.createElement(name);
    if (className) made.className = className;
    made.append(...content.map((item) => item instanceof Node ? item : String(item)));
    return made;
}

function drawn(name, attributes, text) {
    const made = SVG(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
}

const drawn_parts = {};

/** Draws a part of the page again only if it has changed: what somebody points at, or has marked,
 * stays. */
function if_changed(name, part, draw) {
    const text = JSON.stringify(part);
    if (drawn_parts[name] === text) return;
    drawn_parts[name] = text;
    draw();
}

// ---- Curves ----------------------------------------------------------------------------------

function round_up(value) {
    const base = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 2.5, 5, 10].map((n) => n * base).find((n) => n >= value * 0.999999) || value;
}

/** Values on an axis, at most as many as `most` and one more. */
function ticks(low, high, most) {
    if (!(high > low)) return [low];
    const step = round_up((high - low) / most), out = [];
    for (let at = Math.ceil(low / step - 1e-9); at * step <= high * (1 + 1e-9) + 1e-12; at++)
        out.push(Number((at * step).toPrecision(12)));
    return out;
}

/** The range of y, and whether its axis is logarithmic: where values span more than a hundred. */
function scale_of(figure) {
    const all = figure.lines.flatMap((line) => line.ys).filter((y) => y !== null);
    const low = Math.min(...all), high = Math.max(...all);
    if (!all.length) return {low: 0, high: 1, log: false, ticks: [0, 1]};
    if (low > 0 && high / low > 100) {
        const from = Math.floor(Math.log10(low)), to = Math.ceil(Math.log10(high));
        const every = Math.ceil((to - from) / 6), marks = [];
        for (let at = from; at <= to; at += every) marks.push(10 ** at);
        return {low: 10 ** from, high: 10 ** to, log: true, ticks: marks};
    }
    const top = high > 0 ? high : 0, bottom = low < 0 ? low : 0;
    const span = top - bottom || 1, marks = ticks(bottom, bottom + span * 1.04, 4);
    return {low: bottom, high: Math.max(bottom + span * 1.04, marks[marks.length - 1]), log: false,
            ticks: marks};
}

function draw_axes(svg, box, scale, last) {
    for (const mark of scale.ticks) {
        const y = box.y(mark);
        svg.append(drawn("line", {class: "grid", x1: box.left, x2: box.right, y1: y, y2: y}),
                   drawn("text", {x: box.left - 6, y: y + 4, "text-anchor": "end"}, number(mark)));
    }
    svg.append(drawn("line", {class: "axis", x1: box.left, x2: box.right, y1: box.bottom,
                              y2: box.bottom}));
    for (const mark of ticks(0, last, box.right > 500 ? 6 : 3))
        if (Number.isInteger(mark))
            svg.append(drawn("text", {x: box.x(mark), y: box.bottom + 17, "text-anchor":
                                      mark === last ? "end" : "middle"}, count(mark)));
}

const is_hidden = (box, value) => value === null || box.log && !(value > 0);

function draw_line(svg, box, figure, line, className) {
    let path = "", moved = false;
    line.ys.forEach((value, i) => {
        if (is_hidden(box, value)) { moved = false; return; }
        path += (moved ? "L" : "M") + box.x(figure.steps[i]).toFixed(1) + " " +
            box.y(value).toFixed(1);
        moved = true;
    });
    svg.append(drawn("path", {class: "line " + className, d: path}));
    if (figure.steps.length < 60) // few are points, too: one alone has no line
        line.ys.forEach((value, i) => {
            if (!is_hidden(box, value))
                svg.append(drawn("circle", {class: className, r: 2.5, cx: box.x(figure.steps[i]),
                                            cy: box.y(value)}));
        });
}

function nearest(figure, step) {
    let best = 0;
    figure.steps.forEach((at, i) => {
        if (Math.abs(at - step) < Math.abs(figure.steps[best] - step)) best = i;
    });
    return best;
}

/** The values at a point, in the legend. */
function show_values(figure, texts, head, index) {
    head.textContent = index === figure.steps.length - 1 ? figure.axis
        : figure.axis + " at step " + count(figure.steps[index]);
    figure.lines.forEach((line, k) => { texts[k].textContent = number(line.ys[index]); });
}

/** Legend and plot. */
function draw_figure(figure, width) {
    const caption = element("figcaption"), scale = scale_of(figure);
    const height = width > 700 ? 220 : Math.round(Math.min(280, Math.max(190, width * 0.5)));
    const last = figure.steps[figure.steps.length - 1] || 1;
    const box = {left: width > 600 ? 64 : 56, right: width - 10, top: 10, bottom: height - 26,
                 log: scale.log};
    const part = (y) => scale.log ? Math.log(y / scale.low) / Math.log(scale.high / scale.low)
        : (y - scale.low) / (scale.high - scale.low);
    box.x = (step) => box.left + (box.right - box.left) * step / last;
    box.y = (y) => box.bottom - (box.bottom - box.top) * part(y);
    const svg = drawn("svg", {viewBox: "0 0 " + width + " " + height, role: "img",
                              "aria-label": figure.title + " over steps"});
    const head = element("span", "soft"), texts = figure.lines.map(() => element("b"));
    caption.append(element("h2", "", figure.title), head);
    draw_axes(svg, box, scale, last);
    figure.lines.slice(0, LINES).forEach((line, k) => {
        draw_line(svg, box, figure, line, "l" + (k + 1));
        caption.append(element("span", "number", element("span", "key l" + (k + 1)),
                               line.label + " ", texts[k]));
    });
    const at = drawn("line", {class: "at", y1: box.top, y2: box.bottom, visibility: "hidden"});
    svg.append(at);
    const newest = () => {
        at.setAttribute("visibility", "hidden");
        show_values(figure, texts, head, figure.steps.length - 1);
    };
    const show = (part) => {
        const index = nearest(figure, (part * width - box.left) / (box.right - box.left) * last);
        at.setAttribute("x1", box.x(figure.steps[index]));
        at.setAttribute("x2", box.x(figure.steps[index]));
        at.setAttribute("visibility", "visible");
        show_values(figure, texts, head, index);
    };
    svg.addEventListener("pointermove", (event) => {
        const frame = svg.getBoundingClientRect();
        pointed = {title: figure.title, part: (event.clientX - frame.left) / frame.width};
        show(pointed.part);
    });
    svg.addEventListener("pointerleave", () => {
        if (!svg.isConnected) return; // it was drawn again under the pointer
        pointed = null;
        newest();
    });
    newest();
    if (pointed && pointed.title === figure.title) show(pointed.part);
    return [caption, svg];
}

/** Each as wide as its frame, which is as wide as the others leave it. */
function draw_figures(place, figures) {
    const frames = figures.map(() => element("figure"));
    place.hidden = figures.length === 0;
    place.replaceChildren(...frames);
    frames.forEach((frame, i) => {
        const width = Math.max(260, Math.floor(frame.clientWidth) - 28);
        frame.append(...draw_figure(figures[i], width));
    });
}

/** The first ones are at the top, the others at the end of the page. */
function draw_curves() {
    if (!curves) return;
    draw_figures($("figures"), curves.figures.slice(0, FIRST));
    draw_figures($("further"), curves.figures.slice(FIRST));
}

// ---- Now -------------------------------------------------------------------------------------

function cards() {
    const of = facts.database, out = [];
    for (const item of facts.numbers)
        out.push([item.label, item.value === undefined ? "not finite" : number(item.value)]);
    if (facts.step_seconds !== undefined) out.push(["a step", time(facts.step_seconds)]);
    if (facts.samples_per_second !== undefined)
        out.push([facts.many + " per second", number(facts.samples_per_second)]);
    if (of && of.all) {
        out.push(["machines connected", count(of.all.active) + " of " + count(of.all.machines)]);
        out.push(["units accepted", count(of.all.units)]);
        out.push(["database", bytes(of.bytes)]);
    }
    const folder = facts.folder;
    if (folder && folder.best_step !== undefined)
        out.push(["best " + folder.measure + ", step " + count(folder.best_step),
                  number(folder.best)]);
    if (folder && folder.checkpoint_step !== undefined)
        out.push(["newest checkpoint", "step " + count(folder.checkpoint_step)]);
    if_changed("cards", out, () => $("cards").replaceChildren(...out.map(([label, value]) =>
        element("div", "card", element("span", "", label), element("b", "", value)))));
}

/** What is said under the name. */
function about() {
    const of = facts.database, words = [];
    if (facts.model) words.push(facts.model);
    if (of && of.state) {
        words.push(of.state + (of.reason ? ": " + of.reason : ""));
        if (of.state === "open" && !of.coordinated) words.push("no coordinator runs");
        if (of.state === "open" && of.coordinated && of.all.active === 0)
            words.push("no machine works on it now");
    } else if (facts.finished) words.push("finished");
    else if (facts.folder && facts.folder.quiet_seconds > 0)
        words.push("no step for " + time(facts.folder.quiet_seconds));
    return words.join(", ");
}

/** How far it is, by steps, or by epochs where the number of steps is not known. */
function head() {
    const by_epochs = facts.epochs > 0, all = by_epochs ? facts.epochs : facts.steps || 0;
    const left = facts.finished ? undefined : facts.seconds_left;
    document.title = (facts.name || "leat dash") + " - step " + count(facts.step);
    $("name").textContent = facts.name || "leat dash";
    $("about").textContent = about();
    $("steps").textContent = "step " + count(facts.step) + (by_epochs
        ? ", " + count(facts.epoch) + " of " + plural(all, "epoch", "epochs")
        : all > 0 ? " of " + count(all) : "");
    $("left").textContent = left === undefined ? ""
        : left < 1 ? "less than 1 s left"
        : (facts.at_most ? "at most " : "") + time(left) + " left";
    $("progress").hidden = all === 0;
    $("progress").max = facts.finished ? 1 : all || 1;
    $("progress").value = facts.finished ? 1 : by_epochs ? facts.epoch : facts.step;
}

function problems() {
    const words = [];
    for (const source of [facts.folder, facts.database])
        if (source && source.problem) words.push(source.problem);
    for (const line of facts.folder ? facts.folder.warnings : []) words.push("Warning: " + line);
    $("problems").replaceChildren(...words.map((line) => element("p", "problem", line)));
}

// ---- Samples ---------------------------------------------------------------------------------

/** The step that is shown: the one that was picked, if it is still there, or the newest. */
function show_samples() {
    const steps = facts.folder ? facts.folder.samples : [];
    $("sampled").hidden = steps.length === 0;
    $("no_samples").hidden = facts.folder !== undefined;
    const main = document.querySelector("main"), was = main.classList.contains("pictured");
    main.classList.toggle("pictured", steps.length > 0);
    if (was !== steps.length > 0) draw_curves(); // their columns have another width
    if (steps.length === 0) return;
    let index = picked < 0 ? steps.length - 1 : steps.indexOf(picked);
    if (index < 0) index = steps.length - 1;
    const step = steps[index], newest = index === steps.length - 1;
    $("pick").max = steps.length - 1;
    $("pick").value = index;
    $("earlier").disabled = index === 0;
    $("later").disabled = newest;
    $("picked").textContent = "step " + count(step) + (newest ? ", the newest" : "");
    // a run that went back takes the same steps again, with other pictures
    const source = "/samples/" + step + ".png?v=" + facts.folder.samples_version;
    if ($("picture").getAttribute("src") !== source) $("picture").setAttribute("src", source);
}

function pick(index) {
    const steps = facts && facts.folder ? facts.folder.samples : [];
    if (index < 0 || index >= steps.length) return;
    picked = index === steps.length - 1 ? -1 : steps[index];
    show_samples();
}

// ---- Who works -------------------------------------------------------------------------------

function table(place, heads, rows) {
    const top = element("tr", "", ...heads.map(([name, isText]) =>
        element("th", isText ? "text" : "", name)));
    place.replaceChildren(element("thead", "", top), element("tbody", "", ...rows));
}

/** A row; the columns that are text have their whole text as a title, too. */
function row(className, heads, cells) {
    return element("tr", className, ...cells.map((cell, i) => {
        const made = element("td", heads[i][1] ? "text" : "", cell);
        if (heads[i][1]) made.title = made.textContent;
        return made;
    }));
}

const ago = (seconds) => seconds < 20 ? "now" : time(seconds) + " ago";
const refused = (n) => n > 0 ? element("span", "lost", count(n)) : "0";

function named(isActive, name) {
    return element("span", "", element("span", isActive ? "dot on" : "dot"), name || "-");
}

function accounts(of) {
    const heads = [["account", true], ["machines"], ["units"], ["share"], ["refused"], ["sent"]];
    const all = of.all.units || 1;
    table($("accounts"), heads, of.accounts.map((item) =>
        row(item.active ? "" : "idle", heads, [named(item.active > 0, item.account),
            count(item.active) + " of " + count(item.machines), count(item.units),
            (100 * item.units / all).toFixed(1) + " %", refused(item.refused),
            bytes(item.bytes)])));
    $("accounts_count").textContent = counted(of.accounts.length, of.all.accounts);
}

const counted = (shown, all) => shown < all ? shown + " of " + count(all) : count(all);

function machines(of) {
    const heads = [["machine", true], ["account", true], ["units"], ["refused"], ["computes"],
                   ["seen"], ["hardware", true]];
    table($("machines"), heads, of.machines.map((item) =>
        row(item.active ? "" : "idle", heads, [named(item.active, item.name), item.account,
            count(item.units), refused(item.refused),
            item.unit === undefined ? "" : "unit " + item.unit,
            ago(item.ago),
            item.hardware])));
    $("machines_count").textContent = counted(of.machines.length, of.all.machines);
}

function units(of) {
    const all = of.ready + of.out + of.done, svg = drawn("svg", {
        viewBox: "0 0 1000 26", preserveAspectRatio: "none", role: "img",
        "aria-label": "units of this step"});
    let x = 0;
    for (const kind of ["done", "out", "ready"]) {
        const width = all > 0 ? 1000 * of[kind] / all : 0;
        svg.append(drawn("rect", {class: kind, x, y: 4, height: 18, width}));
        x += width;
    }
    $("units").replaceChildren(...all > 0 ? [svg] : []);
    $("units_words").textContent = all === 0 ? "No step is open."
        : of.done + " done, " + of.out + " out, " + of.ready + " ready" +
        (of.unit_size > 0 ? ", of " + plural(of.unit_size, facts.many, facts.many) + " each" : "") +
        "; " + bytes(of.payload_bytes) + " up a unit, " + bytes(of.weights_bytes) + " down a step";
}

function one_more(of) {
    const more = of.one_more, how = $("more_how");
    how.parentNode.hidden = more.rounds === undefined;
    if (more.rounds === undefined) {
        const measured = more.step_seconds > 0 && more.unit_seconds > 0;
        $("more").textContent = of.state === "finished" ? "Nothing: the run is finished."
            : of.state !== "open" ? "Not known while the run is " + of.state + "."
            : !of.coordinated ? "Not known while no coordinator runs."
            : of.all.active === 0 ? "Steps are taken as soon as a machine works."
            : measured ? "Not known: by the median time of a unit a step would take longer than " +
              "it does, so machines are not alike, or some have come or gone."
            : "Not known before steps are taken and units are finished.";
        return;
    }
    const gain = more.step_seconds / more.step_then - 1;
    $("more").textContent = more.machines >= more.units
        ? "Nothing but copies of late units: each of the " + more.units + " units of a step has " +
          "a machine. More machines help with a run that has more units (--units)."
        : gain < 0.005 ? "Nothing: the busiest machine would still compute " +
          plural(more.rounds, "unit", "units") + " a step."
        : "Steps of " + time(more.step_then) + " instead of " + time(more.step_seconds) + ": " +
          Math.round(100 * gain) + " % faster.";
    how.textContent = "A step has " + more.units + " units, and those of the last steps were " +
        "computed by " + plural(more.machines, "machine", "machines") + ": the busiest computes " +
        more.rounds + " of them one after the other, and with one more machine " +
        more.rounds_then + ". A unit takes " + time(more.unit_seconds) +
        " (the median of finished ones), a step " + time(more.step_seconds) +
        " (the median of the last ones). The difference is taken off the step, as if all " +
        "machines were alike and their links fast enough.";
}

function events(of) {
    $("no_events").hidden = of.events.length > 0;
    $("events").replaceChildren(...of.events.map((item) =>
        element("li", "", element("span", "soft", ago(item.ago) + ", "),
            element("b", "", item.kind), " ", item.name ? item.name + " of " : "",
            item.account ? item.account + ": " : "", item.words)));
}

function crowd() {
    const of = facts.database;
    $("crowd").hidden = !of || !of.all;
    if (!of || !of.all) return;
    const of_units = [of.ready, of.out, of.done, of.unit_size, of.payload_bytes, of.weights_bytes];
    if_changed("units", of_units, () => units(of));
    one_more(of);
    if_changed("accounts", [of.accounts, of.all], () => accounts(of));
    if_changed("machines", [of.machines, of.all.machines], () => machines(of));
    if_changed("events", of.events, () => events(of));
}

// ---- The stream ------------------------------------------------------------------------------

function show_facts() {
    head();
    problems();
    cards();
    show_samples();
    crowd();
}

/**
 * A stream was refused: as many as possible are open, or the server was started again and has
 * another token. Which of the two, a file of the page tells, which only who has the token gets.
 */
function after_refusal() {
    const probe = document.createElement("link");
    const end = (next, words) => {
        probe.remove();
        if (words) $("state").textContent = words;
        setTimeout(next, RETRY_MS);
    };
    probe.rel = "stylesheet";
    probe.href = "/page.css?again";
    probe.addEventListener("load", () => end(follow));
    probe.addEventListener("error", () => end(after_refusal, "Not connected: if leat dash was " +
        "started again, it has printed a new link. Open that."));
    document.head.append(probe);
}

function follow() {
    const stream = new EventSource("/events");
    stream.addEventListener("facts", (event) => {
        facts = JSON.parse(event.data);
        show_facts();
    });
    stream.addEventListener("curves", (event) => {
        curves = JSON.parse(event.data);
        draw_curves();
    });
    stream.onopen = () => { $("state").textContent = "Live."; };
    stream.onerror = () => {
        $("state").textContent = "Not connected; this page tries again.";
        if (stream.readyState === EventSource.CLOSED) after_refusal();
    };
}

$("pick").addEventListener("input", () => pick(Number($("pick").value)));
$("earlier").addEventListener("click", () => pick(Number($("pick").value) - 1));
$("later").addEventListener("click", () => pick(Number($("pick").value) + 1));
addEventListener("resize", draw_curves);
follow();
