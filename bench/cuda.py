#!/usr/bin/env python3
"""Training a graph attention network on a CUDA device: how much of the device each loader uses.

Sides, each a fresh process of bench/rivals/cuda_gat.py, in turn, on the same graphs:
bound    batches that are on the device already: what the device can do
leat     leat.torch.graph_loader(device="cuda")
host     leat.torch.graph_loader without a device, batches copied by the loop
pyg      PyTorch Geometric's DataLoader, graphs in memory, without worker processes
workers  the same with --workers processes
Needs a CUDA device and --python, an interpreter that has torch for CUDA, torch_geometric,
safetensors and NumPy; leat's package is taken from the build.
"""
import os
import subprocess
import sys

import measure
from can import make_cache
from measure import Missing, Report, parse, parser, ratio, rounds, run, spread

SIZES = {
    "frames": (4_000_000, 60_000, "of the logs"),
    "max_nodes": (65_536, 1_024, "of a batch"),
    "workers": (8, 2, "processes of side `workers`"),
    "seconds": (8, 1, "that a side trains for"),
    "runs": (3, 1, "counted rounds"),
    "warmup": (0, 0, "rounds before them"),
}
SIDES = ("bound", "leat", "host", "pyg", "workers")
WORDS = {"leat": "copied ahead by the loader", "host": "copied by the loop"}


def options_of_command_line():
    made = parser(__doc__, SIZES)
    made.add_argument("--python", default=sys.executable,
                      help="the interpreter (default: the one that runs this)")
    made.add_argument("--skip", action="append", default=[], choices=SIDES[2:],
                      help="a side to leave out; may be repeated")
    return parse(made, SIZES)


def sides_of(options, caches):
    def side(name):
        words = [options.python, os.path.join(measure.RIVALS, "cuda_gat.py"),
                 "pyg" if name == "workers" else name, caches, str(options.max_nodes),
                 str(options.seconds), str(options.workers if name == "workers" else 0)]
        return name, lambda _: run(words)
    return [side(name) for name in SIDES if name not in options.skip]


def check(options):
    """Says what is missing before minutes are spent."""
    code = "import leat.torch, safetensors, torch; assert torch.cuda.is_available(), 'no device'"
    done = subprocess.run([options.python, "-c", code], check=False, capture_output=True, text=True)
    if done.returncode:
        raise Missing(f"{options.python}: {done.stderr.strip().splitlines()[-1]}")


def body():
    options = options_of_command_line()
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [os.path.join(options.build, "python"), os.environ.get("PYTHONPATH", "")])
    check(options)
    caches, _ = make_cache(options, "cuda", options.frames)
    report = Report("cuda", options)
    report.samples = samples = rounds(sides_of(options, caches), options.runs, options.warmup,
                                      kept=os.path.join(options.work, "cuda-samples.jsonl"))
    one = samples["bound"][0]
    report.note(f"{one['device']}, PyTorch {one['torch']}, PyTorch Geometric "
                f"{one['torch_geometric']}; batches of {one['nodes']:,.0f} nodes on average")
    rates = {name: spread(found, "graphs_per_s", 1e-3) for name, found in samples.items()}
    unit = " k graphs/s"
    report.row("batches on the device already", rates["bound"].text(unit, 1))
    for name, words in WORDS.items():
        if name not in rates:
            continue
        report.row(f"leat's loader, {words}: share of that rate", rates[name].text(unit, 1),
                   ratio_=ratio(rates[name], rates["bound"]).text("x"))
        for rival, many in (("pyg", 0), ("workers", options.workers)):
            if rival in rates:
                report.row(f"leat's loader, {words}, compared with PyTorch Geometric's, "
                           f"{many} workers", rates[name].text(unit, 1), rates[rival].text(unit, 1),
                           ratio(rates[name], rates[rival]).text("x the speed", 1))
    report.print()
    report.save()


if __name__ == "__main__":
    measure.main(body)
