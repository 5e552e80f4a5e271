#!/usr/bin/env python3
"""What rounding costs: the same training with gradients and weights rounded by each codec.

Data: `leat synth images`, ingested. Sides, each a fresh process of `leat train dcgan`, in turn, for
each seed 0 ... --runs - 1:
f32      nothing is rounded
bf16     gradients and weights are rounded to bf16
int8     gradients to int8, with a scale for every 256 of them; weights to bf16
Otherwise the runs are the same: initial weights, order of images, latent vectors. Results do not
depend on the load of the machine.

Prints the loss of both networks in the last tenth of the steps, and the score (docs/dcgan.md) of
the last quarter of the scored steps. --svg also draws the curves into a file. Such curves differ by
chance as soon as a bit differs, so the rounding itself is measured as well: the weights that the
first f32 training ends with get one step of the default units of distributed training with each
codec, for --gradients sets of images; printed is the variance that rounding adds to the gradient,
as a share of the variance that it has because these sets differ.
"""
import array
import html
import json
import math
import os
import statistics
import struct
import sys
from concurrent.futures import ThreadPoolExecutor

import measure
from measure import Report, Spread, parse, parser, program, run

SIZES = {
    "steps": (600, 8, "steps of a training"),
    "score_every": (50, 4, "steps between scores"),
    "images": (5_000, 200, "synthetic images"),
    "units": (3, 2, "units a step"),
    "unit_size": (16, 8, "images a unit, which are normalised together"),
    "width": (16, 4, "of the networks"),
    "gradients": (4, 2, "sets of images that gradients are computed of"),
    "threads": (2, 2, "of a training; the results do not depend on it"),
    "jobs": (1, 1, "trainings at a time; the results do not depend on it"),
    "runs": (3, 1, "seeds"),
    "warmup": (0, 0, "rounds before them"),
}
CODECS = {"f32": ("f32", "f32"), "bf16": ("bf16", "bf16"), "int8": ("int8", "bf16")}
COLOURS = {"f32": "#444444", "bf16": "#0072b2", "int8": "#d55e00"}
LEARNING_RATE = 0.001  # that of make demo-images: short runs of narrow networks need a high one
DEFAULT_UNITS = ["--units", "3", "--unit-size", "320", "--micro-batch", "32"]


class Codecs(Report):
    COLUMNS = ("what", *CODECS)

    def row_of(self, what, text_of):
        """A column is empty if its codec was left out."""
        skip = self.options.skip
        self.rows.append((what, *("" if codec in skip else text_of(codec) for codec in CODECS)))


def options_of_command_line():
    made = parser(__doc__, SIZES)
    made.add_argument("--skip", action="append", default=[], choices=[*CODECS][1:],
                      help="a codec to leave out; may be repeated")
    made.add_argument("--learning-rate", type=float, default=LEARNING_RATE, metavar="RATE",
                      help=f"of the trainings (default: {LEARNING_RATE})")
    made.add_argument("--svg", metavar="FILE", help="draw the curves into FILE")
    options = parse(made, SIZES)
    if options.gradients < 2:
        made.error("--gradients: at least 2")
    return options


def data_set(options):
    leat = program(options, "leat")
    photos = os.path.join(options.work, f"images-{options.images}.zip")
    measure.made_once(photos, lambda part: measure.quiet(
        [leat, "synth", "images", "-n", str(options.images), "-o", part]))
    return measure.made_once(os.path.join(options.work, f"codecs-data-{options.images}"),
                             lambda part: measure.quiet([leat, "ingest", "images", photos, "-o",
                                                         part]))


def codec_words(codec):
    up, down = CODECS[codec]
    return ["--codec-up", up, "--codec-down", down]


def trainings(options, data):
    """name -> samples, as measure.rounds; several at a time, since nothing here is a time."""
    tasks = [(codec, seed) for seed in range(options.runs) for codec in CODECS
             if codec not in options.skip]

    def take(task):
        print("  {}: seed {}".format(*task), file=sys.stderr, flush=True)
        return train(options, data, *task)
    with ThreadPoolExecutor(options.jobs) as pool:
        taken = dict(zip(tasks, pool.map(take, tasks), strict=True))
    return {codec: [taken[codec, seed] for seed in range(options.runs)] for codec in CODECS
            if codec not in options.skip}


def train(options, data, codec, seed):
    """A training from its beginning, and its metrics. The first one of f32 stays there."""
    out = os.path.join(options.work, f"codecs-{codec}-{seed}")
    measure.remove(out)
    sample = run([program(options, "leat"), "train", "dcgan", data, "-o", out, "--json",
                  "--steps", str(options.steps), "--width", str(options.width),
                  "--units", str(options.units), "--unit-size", str(options.unit_size),
                  "--micro-batch", str(options.unit_size),
                  "--learning-rate", str(options.learning_rate), "--sample-every",
                  str(options.score_every), "--threads", str(options.threads),
                  "--seed", str(seed), *codec_words(codec)])
    with open(os.path.join(out, "metrics.jsonl"), encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    steps = [line for line in lines if "loss_g" in line]
    sample["loss_d"] = [line["loss_d_images"] + line["loss_d_fakes"] for line in steps]
    sample["loss_g"] = [line["loss_g"] for line in steps]
    sample["scores"] = [(line["step"], line["score"]) for line in lines if "score" in line]
    if (codec, seed) != ("f32", 0):
        measure.remove(out)
    return sample


def gradient(options, data, codec, seed):
    """The gradient of one step from the trained weights: Adam's first moment, times a constant."""
    out = os.path.join(options.work, "codecs-step")
    measure.remove(out)
    measure.quiet([program(options, "leat"), "train", "dcgan", data, "-o", out, "--steps", "1",
                   "--init", os.path.join(options.work, "codecs-f32-0"), "--sample-every", "0",
                   "--width", str(options.width), *DEFAULT_UNITS, "--seed", str(seed),
                   "--codec-up", CODECS[codec][0]])
    path = os.path.join(out, "checkpoints", "step-000000001.safetensors")
    values = array.array("f")
    with open(path, "rb") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        tensors = json.loads(file.read(length))
        for name in sorted(name for name in tensors if name.startswith("adam_m/")):
            begin, end = tensors[name]["data_offsets"]
            file.seek(8 + length + begin)
            values.frombytes(file.read(end - begin))
    measure.remove(out)
    return values


def added_variance(options, data):
    """By codec: variance of the rounding / variance between sets of images, summed over values."""
    seeds = range(1, options.gradients + 1)
    exact = [gradient(options, data, "f32", seed) for seed in seeds]
    means = [sum(values) / len(values) for values in zip(*exact, strict=True)]
    sampling = sum(sum((a - b) ** 2 for a, b in zip(of, means, strict=True))
                   for of in exact) / (len(exact) - 1)
    added = {"f32": 0.0}
    for codec in CODECS:
        if codec != "f32" and codec not in options.skip:
            errors = (sum((a - b) ** 2 for a, b in
                          zip(gradient(options, data, codec, seed), of, strict=True))
                      for seed, of in zip(seeds, exact, strict=True))
            added[codec] = sum(errors) / len(exact) / sampling
    return added


def payload_bytes(options, data, codec):
    """Of a unit at full width, up and down."""
    command = [program(options, "leat"), "train", "dcgan", data, "--steps", "1", "--dry-run",
               "--json", *DEFAULT_UNITS, *codec_words(codec)]
    told = run(command)
    return told["payload_bytes"], told["weights_bytes"]


# ---- numbers --------------------------------------------------------------------------------

def last_tenth(values):
    return statistics.fmean(values[-max(1, len(values) // 10):])


def last_scores(sample):
    scores = [score for _, score in sample["scores"]]
    return statistics.fmean(scores[-max(1, len(scores) // 4):])


def tell(report, samples, options, data):
    sizes = {codec: payload_bytes(options, data, codec) for codec in CODECS}
    report.row_of("a unit's result at full width", lambda c: f"{sizes[c][0] / 1e6:.2f} MB")
    report.row_of("the weights of a step at full width", lambda c: f"{sizes[c][1] / 1e6:.2f} MB")
    for key, words in (("loss_d", "loss of D"), ("loss_g", "loss of G")):
        report.row_of(f"{words}, last tenth of the steps",
                      lambda c, k=key: Spread(last_tenth(s[k]) for s in samples[c]).text("", 3))
    for seed in range(options.runs):
        report.row_of(f"score of seed {seed}, mean of the last quarter of the scored steps",
                      lambda c, i=seed: f"{last_scores(samples[c][i]):.3f}")
    report.row_of("score, all seeds",
                  lambda c: Spread(last_scores(s) for s in samples[c]).text("", 3))
    report.row_of("score, compared with f32 of the same seed", lambda c: Spread(
        last_scores(s) / last_scores(f) for s, f in zip(samples[c], samples["f32"],
                                                         strict=True)).text("x"))
    added = added_variance(options, data)
    report.row_of("variance that rounding adds to a gradient, as a share of its own",
                  lambda c: f"{added[c] * 100:.3g} %")
    report.samples["added_variance"] = added


# ---- the picture ----------------------------------------------------------------------------

PANEL_WIDTH, PANEL_HEIGHT, LEFT, TOP, GAP = 290, 190, 42, 46, 24


def smooth(values, window):
    """(step, mean of the window that ends there), a few hundred of them."""
    stride = max(1, len(values) // 100)
    return [(end, statistics.fmean(values[max(0, end - window):end]))
            for end in range(stride, len(values) + 1, stride)]


class Panel:
    """A plot of several lines; `log`: of values above 0, by decades."""

    def __init__(self, index, title, lines, log=False):
        self.x0, self.title, self.lines = LEFT + index * (PANEL_WIDTH + GAP + LEFT), title, lines
        self.of = math.log10 if log else float
        points = [point for _, line, _ in lines for point in line]
        self.steps = max(step for step, _ in points)
        self.low = self.of(min(value for _, value in points))
        self.high = self.of(max(value for _, value in points))
        self.ticks = self.marks(log)

    def marks(self, log):
        if log:
            every = [digit * 10.0 ** power for power in range(math.floor(self.low),
                                                              math.ceil(self.high) + 1)
                     for digit in (1, 2, 5)]
            return [value for value in every if self.low <= math.log10(value) <= self.high]
        unit = 10.0 ** math.floor(math.log10(max(self.high - self.low, 1e-9)))
        unit = next(unit * part for part in (0.1, 0.2, 0.5, 1, 2, 5)
                    if (self.high - self.low) / (unit * part) <= 6)
        first = math.ceil(self.low / unit)
        return [i * unit for i in range(first, math.floor(self.high / unit) + 1)]

    def at(self, step, value):
        share = (self.of(value) - self.low) / max(self.high - self.low, 1e-9)
        return (f"{self.x0 + PANEL_WIDTH * step / self.steps:.1f},"
                f"{TOP + PANEL_HEIGHT * (1 - share):.1f}")

    def draw(self):
        yield (f'<rect x="{self.x0}" y="{TOP}" width="{PANEL_WIDTH}" height="{PANEL_HEIGHT}" '
               'fill="none" stroke="#999"/>')
        yield (f'<text x="{self.x0}" y="{TOP - 8}" font-weight="600">'
               f'{html.escape(self.title)}</text>')
        for value in self.ticks:
            y = self.at(0, value).split(",")[1]
            yield (f'<path d="M{self.x0} {y}h{PANEL_WIDTH}" stroke="#e4e4e4"/>'
                   f'<text x="{self.x0 - 5}" y="{y}" dy="4" text-anchor="end">{value:.3g}</text>')
        for step in (0, self.steps // 2, self.steps):
            x = self.at(step, 10 ** self.low if self.of is math.log10 else self.low).split(",")[0]
            yield (f'<text x="{x}" y="{TOP + PANEL_HEIGHT + 16}" text-anchor="middle">'
                   f'{step}</text>')
        for colour, line, style in self.lines:
            path = "L".join(self.at(*point) for point in line)
            yield f'<path d="M{path}" fill="none" stroke="{colour}" {style}/>'


def draw(samples, path):
    """Each seed as a thin line, and the geometric mean of a codec's seeds as a thick one."""
    def lines(points_of):
        thin, thick = [], []
        for codec, each in samples.items():
            every = [points_of(sample) for sample in each]
            thin += [(COLOURS[codec], line, 'stroke-width="0.8" stroke-opacity="0.35"')
                     for line in every]
            mean = [(points[0][0], statistics.geometric_mean(value for _, value in points))
                    for points in zip(*every, strict=True)]
            thick.append((COLOURS[codec], mean, 'stroke-width="2"'))
        return thin + thick
    window = max(1, len(samples["f32"][0]["loss_d"]) // 20)
    panels = [Panel(0, "loss of D", lines(lambda s: smooth(s["loss_d"], window))),
              Panel(1, "loss of G", lines(lambda s: smooth(s["loss_g"], window))),
              Panel(2, "score (lower is better)", lines(lambda s: s["scores"]), log=True)]
    width, height = panels[-1].x0 + PANEL_WIDTH + GAP, TOP + PANEL_HEIGHT + 28
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
             'font-family="sans-serif" font-size="11" fill="#222">',
             '<rect width="100%" height="100%" fill="#fff"/>']
    for i, codec in enumerate(samples):
        x = LEFT + 90 * i
        parts.append(f'<path d="M{x} 14h22" stroke="{COLOURS[codec]}" stroke-width="3"/>'
                     f'<text x="{x + 28}" y="18">{codec}</text>')
    for panel in panels:
        parts += panel.draw()
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([*parts, "</svg>", ""]))


def body():
    options = options_of_command_line()
    report, data = Codecs("codecs", options), data_set(options)
    samples = trainings(options, data)
    report.samples = dict(samples)
    tell(report, samples, options, data)
    measure.remove(os.path.join(options.work, "codecs-f32-0"))
    if options.svg:
        draw(samples, options.svg)
    report.print()
    report.save()


if __name__ == "__main__":
    measure.main(body)
