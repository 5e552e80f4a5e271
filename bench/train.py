#!/usr/bin/env python3
"""A training of the DCGAN, from the data set to the saved weights, compared with PyTorch.

Data: the images of --photos, ingested by leat (64 x 64); width 64, 64 images a step, both networks
step at the same weights. Two parts (--part; default: both). Sides, each a fresh process, in turn:
speed    leat_N     leat train dcgan with 1 and with --threads threads: the whole process, from its
                    start until the checkpoint is on the disk; no samples
         torch_N    PyTorch without redundant work, channels_last (bench/nn.py): from after the
                    imports until the end of the last step; all images are held in memory, so it
                    decodes nothing
quality  leat       --quality-steps steps for each seed 0 ... --seeds - 1: the score, a distance of
                    1,024 generated images from all photographs (docs/dcgan.md), and the pixels'
                    deviation
         torch      the same by PyTorch; its weights are imported and scored by leat
"""
import glob
import json
import os

import measure
from measure import MIB, Missing, Report, parse, parser, program, ratio, rounds, run, spread

SIZES = {
    "steps": (100, 2, "steps of a training that is timed"),
    "quality_steps": (300, 2, "steps of a training that is judged"),
    "seeds": (3, 1, "trainings that are judged, of each side"),
    "threads": (2, 2, "besides 1"),
    "runs": (3, 1, "counted rounds"),
    "warmup": (0, 0, "rounds before them"),
}
PARTS = ("speed", "quality")
SHARED = os.environ.get("LEAT_SHARED", os.path.join(measure.HOME, "..", "shared"))
TORCH = os.path.join(measure.HOME, ".deps", "venv-torch", "bin", "python3")
GOAL_UNTRAINED, GOAL_TORCH = 0.25, 1.5


def options_of_command_line():
    made = parser(__doc__, SIZES)
    made.add_argument("--photos", default=os.path.join(SHARED, "data", "images", "blood_cells"),
                      help="folder of photographs (default: blood cells of LEAT_SHARED)")
    made.add_argument("--part", action="append", choices=PARTS, help="may be repeated")
    made.add_argument("--width", type=int, default=64, help="of leat alone (default: 64)")
    return parse(made, SIZES)


def data_set(options):
    if not os.path.isdir(options.photos):
        raise Missing(f"{options.photos} is not a folder (--photos)")
    path = os.path.join(options.work, "train-data")
    return measure.made_once(path, lambda part: measure.quiet(
        [program(options, "leat"), "ingest", "images", options.photos, "-o", part]))


class Sides:
    def __init__(self, options):
        self.options, self.data = options, data_set(options)
        self.out = os.path.join(options.work, "train-out")
        self.has_torch = os.access(TORCH, os.X_OK)

    def fresh(self, name):
        os.makedirs(self.out, exist_ok=True)
        path = os.path.join(self.out, name)
        measure.remove(path)
        return path

    def leat(self, threads, steps, *words):
        run_folder = self.fresh("run")
        command = [program(self.options, "leat"), "train", "dcgan", self.data, "-o", run_folder,
                   "--steps", str(steps), "--threads", str(threads), "--json", *words]
        if self.options.width != 64:
            command += ["--width", str(self.options.width)]
        measure.read_through(self.data)
        return run(command)

    def torch(self, threads, steps, seed=0, out=None):
        measure.read_through(self.data)
        command = [TORCH, os.path.join(measure.RIVALS, "torch_nn.py"), "train", "fair",
                   "channels_last", str(threads), str(steps), str(seed),
                   os.path.join(self.data, "images.safetensors")]
        return run(command + ([out] if out else []))

    def score(self, weights):
        """(score, deviation) of weights in a safetensors file: those before the first step."""
        imported, scored = self.fresh("imported"), self.fresh("scored")
        command = program(self.options, "leat")
        measure.quiet([command, "import", weights, "-o", imported])
        measure.quiet([command, "train", "dcgan", self.data, "-o", scored, "--init", imported,
                       "--steps", "1", "--sample-every", "1"])
        with open(os.path.join(scored, "metrics.jsonl"), encoding="utf-8") as file:
            first = json.loads(file.readline())
        return first["score"], first["deviation"]


def measure_speed(options, report, sides):
    counts = sorted({1, options.threads})
    words = {f"leat_{n}": lambda _, n=n: sides.leat(n, options.steps, "--sample-every", "0")
             for n in counts}
    if sides.has_torch:
        words.update({f"torch_{n}": lambda _, n=n: sides.torch(n, options.steps) for n in counts})
    samples = rounds(list(words.items()), options.runs, options.warmup)
    report.samples["speed"] = samples
    for n in counts:
        label = f"{options.steps} steps of 64, {n} thread{'s' if n > 1 else ''}"
        leat = spread(samples[f"leat_{n}"], "wall")
        memory = spread(samples[f"leat_{n}"], "rss", 1 / MIB)
        if not sides.has_torch:
            report.row(f"{label}: seconds", leat.text(" s", 1))
            report.row(f"{label}: peak memory", memory.text(" MiB", 0))
            continue
        theirs = spread(samples[f"torch_{n}"], "seconds")
        report.row(f"{label}: seconds", leat.text(" s", 1), theirs.text(" s", 1),
                   ratio(theirs, leat).text("x the speed"))
        theirs = spread(samples[f"torch_{n}"], "rss", 1 / MIB)
        report.row(f"{label}: peak memory", memory.text(" MiB", 0), theirs.text(" MiB", 0),
                   ratio(memory, theirs).text("x the memory"))


def measure_quality(options, report, sides):
    leat, torch = [], []
    for seed in range(options.seeds):
        leat.append(sides.leat(options.threads, options.quality_steps, "--seed", str(seed),
                               "--sample-every", "50"))
        for grid in glob.glob(os.path.join(sides.out, "run", "samples", "*.png")):
            os.replace(grid, os.path.join(options.work, f"seed-{seed}-{os.path.basename(grid)}"))
        if sides.has_torch:
            weights = sides.fresh("torch.safetensors")
            torch.append(sides.torch(options.threads, options.quality_steps, seed, weights))
            torch[-1]["score"], torch[-1]["deviation"] = sides.score(weights)
    report.samples["quality"] = {"leat": leat, "torch": torch}
    label = f"{options.quality_steps} steps of 64, {options.seeds} seeds"
    score, untrained = spread(leat, "score"), spread(leat, "score_untrained")
    share = ratio(score, untrained)
    report.row(f"{label}: score, compared with the untrained generator", score.text("", 3),
               untrained.text("", 3), share.text("x"), f"<= {GOAL_UNTRAINED}x",
               share.median <= GOAL_UNTRAINED)
    report.row("score of one half of the photographs against the other",
               spread(leat, "score_halves").text("", 4))
    ours = spread(leat, "deviation").text("", 3)
    if torch:
        theirs = spread(torch, "score")
        report.row(f"{label}: score, compared with PyTorch; ratio: median of the seeds' ratios",
                   score.text("", 3), theirs.text("", 3), ratio(score, theirs).text("x"),
                   f"<= {GOAL_TORCH}x", score.median <= GOAL_TORCH * theirs.median)
    report.row(f"{label}: deviation of the pixels, -1 to 1", ours,
               spread(torch, "deviation").text("", 3) if torch else "")


def body():
    options = options_of_command_line()
    report, sides = Report("train", options), Sides(options)
    if not sides.has_torch:
        report.note("left out: PyTorch; no .deps/venv-torch (scripts/python-env.sh torch)")
    for part in options.part or PARTS:
        {"speed": measure_speed, "quality": measure_quality}[part](options, report, sides)
    measure.remove(sides.out)
    report.print()
    report.save()


if __name__ == "__main__":
    measure.main(body)
