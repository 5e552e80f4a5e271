#!/usr/bin/env python3
"""Detectors of CAN attacks: what they find beside plain tables, how fast they train and watch.

detect.py [quality|speed|live]; without any, the first two.
quality  leat's VGAE and GAT, trained with several seeds by the command and with its default
         settings, and beside them on the same cache:
           the plain scores of leat eval, which need no training
           isolation forest and gradient boosting with labels of scikit-learn, on mean, largest and
           smallest value and deviation of each feature of nodes and edges in a window
         Each has a threshold of its own for a share of benign validation windows. No label of a
         test decides anything. Trained runs are kept in WORK/detect, by build, cache and epochs.
--leaking     also what many publications do, for boosting and the GAT: windows of all splits, of
              which random ones are the tests. Its table is marked as leaking
--matrix      instead of one cache: trained on the logs of each set, tested on those of every other.
              Sets are two synthetic vehicles and the folders of --sets
speed    a training step of the VGAE, with 60 and 2,000 identifiers, and of the GAT, in turn; a
         graph has 33 nodes and 98 edges; with the share of the peak of multiply-adds:
           leat     bench/detect_step.c, the batches of a step of leat train
           pyg      PyTorch Geometric, the same batches
           pyg_one  PyTorch Geometric, all graphs of the step in one batch
live     leat detect: the delay from the last frame of a window to its line, of a log that goes
         through a pipe at the speed of its bus (--pace times that), and frames/s of a core
"""
import os

import detect_live as live
import detect_quality as quality
import measure
from measure import Report, parse, parser, program, ratio, rounds, run, spread

SIZES = {
    "epochs": (40, 1, "of a training"),
    "seeds": (3, 1, "trainings of each detector, seeds 0, 1, ..."),
    "frames": (220_000, 30_000, "of a synthetic vehicle"),
    "folds": (5, 2, "of --leaking"),
    "live_frames": (20_000, 700, "of the bus of live"),
    "live_repeats": (20, 2, "of that bus, one after the other, in the file of live"),
    "graphs": (16, 4, "of a batch"),
    "batches": (4, 2, "of a step"),
    "milliseconds": (3000, 1, "that steps are taken for, at least"),
    "threads": (1, 1, "of each side"),
    "runs": (5, 1, "counted rounds of speed and live"),
    "warmup": (1, 0, "rounds before them"),
}
SHARED = os.environ.get("LEAT_SHARED", os.path.join(measure.HOME, "..", "shared"))
# model, identifiers, how much faster than PyTorch Geometric or else which share of the peak
STEPS = (("vgae", 60, 3.0, 0.45), ("vgae", 2000, 9.0, 0.45), ("gat", 60, 2.3, 0.60))


def options_of_command_line():
    made = parser(__doc__, SIZES)
    made.add_argument("what", nargs="?", choices=("quality", "speed", "live"))
    made.add_argument("--logs", help="logs of the quality (default: V40 of LEAT_SHARED; with "
                      "--quick a synthetic vehicle)")
    made.add_argument("--cache", help="a cache of such logs instead")
    made.add_argument("--target-fpr", type=float, default=0.01, metavar="F",
                      help="share of benign validation windows that may alarm (default: 0.01)")
    made.add_argument("--leaking", action="store_true", help="also random folds")
    made.add_argument("--matrix", action="store_true", help="each set on every other")
    made.add_argument("--sets", metavar="DIR", help="folder whose folders are the logs of sets")
    made.add_argument("--pace", type=float, default=1.0, metavar="X",
                      help="speed of the bus of live (default: 1, its own)")
    options = parse(made, SIZES)
    if options.matrix and options.what in ("speed", "live"):
        made.error("--matrix belongs to the quality")
    if not options.pace > 0:
        made.error("--pace: above 0")
    if not 0 <= options.target_fpr < 1:
        made.error("--target-fpr: from 0 to below 1")
    if options.json and options.what is None and not options.matrix:
        made.error("--json is the file of one part: add quality or speed")
    options.v40 = os.path.join(SHARED, "data", "can", "v40")
    return options


# ---- speed ------------------------------------------------------------------------------------

def torch_python():
    path = os.path.join(measure.HOME, ".deps", "venv-torch", "bin", "python3")
    return path if os.access(path, os.X_OK) else None


def leat_step(options, model, identifiers):
    sample = run([program(options, "bench_detect_step"), "--threads", str(options.threads),
                  "--ids", str(identifiers), "--graphs", str(options.graphs),
                  "--batches", str(options.batches), "--milliseconds", str(options.milliseconds),
                  model])
    sample.update(sample.pop(model))
    sample["graphs_per_processor_s"] = \
        sample["gflops_per_thread"] * 1e3 / sample["mflop_per_graph"]
    return sample


def pyg_step(options, model, identifiers, batches):
    graphs = options.graphs * options.batches // batches
    return run([torch_python(), os.path.join(measure.RIVALS, "pyg_detect.py"), model,
                *map(str, (identifiers, graphs, batches, options.milliseconds,
                           options.threads))])


def sides_of(options, model, identifiers):
    """name -> function of the round; the rival's sides only if it is there."""
    sides = {"leat": lambda _: leat_step(options, model, identifiers)}
    if torch_python():
        sides["pyg"] = lambda _: pyg_step(options, model, identifiers, options.batches)
        sides["pyg_one"] = lambda _: pyg_step(options, model, identifiers, 1)
    return sides


def row_of(report, options, step, samples):
    """With one thread by the processor's seconds, which other processes disturb little."""
    model, identifiers, goal, share = step
    key = "graphs_per_processor_s" if options.threads == 1 else "graphs_per_s"
    ours = samples["leat"]
    fast, reached = spread(ours, key), spread(ours, "share_of_peak", 100)
    words = f"{model.upper()}, {identifiers:,} identifiers: graphs/s; share of the peak"
    said = f"{fast.text(digits=0)}; {reached.text(' %', 0)}"
    wanted = f">= {goal:g}x the speed, or {100 * share:.0f} %"
    if len(samples) == 1:
        report.row(words, said, goal=wanted, met=reached.median >= 100 * share)
        return
    name = max(("pyg", "pyg_one"), key=lambda side: spread(samples[side], key).median)
    theirs = samples[name]
    if {sample["parameters"] for sample in theirs} != {ours[0]["parameters"]}:
        raise RuntimeError(f"{model}: {ours[0]['parameters']} and {theirs[0]['parameters']} "
                           "parameters: not the same network")
    other = spread(theirs, key)
    gflops = other.median * ours[0]["mflop_per_graph"] / 1e3 / options.threads
    times = ratio(fast, other)
    report.row(words, said, f"{other.text(digits=0)}; "
               f"{100 * gflops / spread(ours, 'peak').median:.0f} % ({name})",
               times.text("x the speed"), wanted,
               times.median >= goal or reached.median >= 100 * share)


def measure_speed(options):
    report = Report("detect-speed", options)
    sides = [((side, *step[:2]), take) for step in STEPS
             for side, take in sides_of(options, *step[:2]).items()]
    samples = rounds([("-".join(map(str, name)), take) for name, take in sides], options.runs,
                     options.warmup)
    for step in STEPS:
        row_of(report, options, step,
               {name[0]: samples["-".join(map(str, name))] for name, _ in sides
                if name[1:] == step[:2]})
    one = {name: taken[0] for name, taken in samples.items()}
    report.note(f"{options.threads} thread(s); {options.batches} batches of {options.graphs} "
                f"graphs a step; the peak of a thread is {one['leat-vgae-60']['peak']:.1f} "
                "GFLOP/s; shares are of the arithmetic that is needed, with logits only where the "
                "loss has a term")
    report.note("rates are those of the best step, by " + (
        "seconds of the processor" if options.threads == 1 else "the clock"))
    if torch_python():
        rival = one["pyg-vgae-60"]
        report.note(f"rival: the faster of pyg and pyg_one; torch {rival['torch']}, "
                    f"torch_geometric {rival['torch_geometric']}")
    else:
        report.note("left out: PyTorch Geometric; no .deps/venv-torch (scripts/python-env.sh "
                    "torch)")
    report.samples = samples
    report.print()
    report.save()


def main():
    options = options_of_command_line()
    if options.matrix:
        quality.measure_matrix(options)
    elif options.what == "live":
        live.measure_live(options)
    elif options.what != "speed":
        quality.measure_quality(options)
    if options.what == "speed" or (options.what is None and not options.matrix):
        measure_speed(options)


if __name__ == "__main__":
    measure.main(main)
