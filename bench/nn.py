#!/usr/bin/env python3
"""Matrix products, convolutions and the DCGAN's unit, compared with PyTorch, oneDNN, OpenBLAS.

Two parts (--part; default: both). Sides, each a fresh process, in turn:
kernels  leat       bench/nn.c, one thread: products, the DCGAN's convolutions, the FMA peak
         torch      PyTorch's, the faster of contiguous and channels_last tensors
         onednn     Debian's oneDNN (libdnnl-dev), tensors in the formats that it chooses
         openblas   Debian's OpenBLAS (libopenblas-dev): products alone
         openblas_core  the same with OPENBLAS_CORETYPE set, if it does not recognise the processor
         loops      fmaf in plain loops over ascending k, as RepDL has them: a call of libm
         loops_fma  the same with the instruction
unit     leat_N     a unit of the DCGAN with 1 and with --threads threads
         source_N   PyTorch, the unit as the workers of GANNs-with-friends compute it
         fair_N     PyTorch without redundant work, contiguous: D(fake) is computed once, and no
                    gradient of D's weights in the generator's pass
         fair_last_N    the same, channels_last
GFLOP/s are nominal for every side: 2 x weights x pixels of the narrow side x images.
bench/rivals/nn_rivals.c is compiled with cc once for each library that is installed.
"""
import os
import subprocess

import measure
from measure import MIB, Report, parse, parser, program, ratio, rounds, run, spread

SIZES = {
    "milliseconds": (200, 1, "shortest measurement of a figure"),
    "images": (32, 4, "of a micro-batch"),
    "batches": (10, 1, "micro-batches of the unit"),
    "threads": (2, 2, "of the unit, besides 1"),
    "runs": (5, 1, "counted rounds"),
    "warmup": (1, 0, "rounds before them"),
}
PARTS = ("kernels", "unit")
SIDES = ("torch", "onednn", "openblas", "openblas_core", "loops", "loops_fma", "source", "fair",
         "fair_last")
LABELS = {"torch": "PyTorch", "onednn": "oneDNN", "openblas": "OpenBLAS",
          "loops": "fmaf loops, libm", "loops_fma": "fmaf loops, FMA"}
# rows, columns, depth; channels of the narrow and the wide side, size of the wide side: D1 to D4,
# and read in the other direction G5 to G2
PRODUCTS = ((1024, 1024, 1024), (256, 256, 256), (64, 1000, 333), (128, 267, 1000))
CONVS = ((64, 3, 64), (128, 64, 32), (256, 128, 16), (512, 256, 8))
LARGE = {PRODUCTS[0], *CONVS[1:]}
SLOW = PRODUCTS[0]  # for the loops
LOOPS_CONV = CONVS[1]
# leat's name of each way, for the two kinds of layer
WAYS = {"conv": {"forward": "down", "input": "up", "weights": "weights"},
        "transposed": {"forward": "up", "input": "down", "weights": "weights"}}
WORDS = {"forward": "forward", "input": "gradient of the input",
         "weights": "gradient of the weights"}
BUILDS = {"onednn": ("-DRIVAL_ONEDNN", "-ldnnl"), "openblas": ("-DRIVAL_OPENBLAS", "-lopenblas"),
          "loops": ("-DRIVAL_LOOPS", "-lm"), "loops_fma": ("-DRIVAL_LOOPS", "-DRIVAL_FMA", "-lm")}
PACKAGES = {"onednn": "libdnnl-dev", "openblas": "libopenblas-dev"}
# what would make a rival slower, or give it other kernels than its own choice
SETTINGS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA",
            "ATEN_CPU_CAPABILITY")
CORES = {"SkylakeX": {"avx512f", "avx512dq", "avx512bw", "avx512vl"}, "Haswell": {"avx2", "fma"}}
KNOWN_CORES = ("Haswell", "Zen", "SkylakeX", "Cooperlake", "SapphireRapids")
UNIT_FLOPS = 2_066_989_056  # of an image, without redundant work
GOAL_BEST, GOAL_PEAK, GOAL_UNIT, GOAL_UNIT_PEAK = 0.9, 0.80, 1.5, 0.75


def options_of_command_line():
    made = parser(__doc__, SIZES)
    made.add_argument("--kernels", help="leat's variant (default: the widest that runs here)")
    made.add_argument("--part", action="append", default=[], choices=PARTS,
                      help="a part to measure; may be repeated (default: both)")
    made.add_argument("--skip", action="append", default=[], choices=SIDES,
                      help="a side to leave out; may be repeated")
    return parse(made, SIZES)


def figure(kind, shape):
    return ":".join((kind, *map(str, shape)))


def all_figures():
    return [*(figure("product", shape) for shape in PRODUCTS),
            *(figure("conv", shape) for shape in CONVS)]


class KernelReport(Report):
    """A report with a second table: a column for every side."""

    def __init__(self, name, options):
        super().__init__(name, options)
        self.columns, self.shapes, self.table = (), [], []

    def print(self):
        super().print()
        if self.shapes:
            lines = ["| " + " | ".join(self.columns) + " |", "|" + "---|" * len(self.columns)]
            lines += ["| " + " | ".join(row) + " |" for row in self.shapes]
            print("GFLOP/s of one thread:\n\n" + "\n".join(lines) + "\n", flush=True)


# ---- rivals -----------------------------------------------------------------------------------

def torch_python(report):
    path = os.path.join(measure.HOME, ".deps", "venv-torch", "bin", "python3")
    if os.access(path, os.X_OK):
        return path
    missing = "left out: PyTorch; no .deps/venv-torch (scripts/python-env.sh torch)"
    if missing not in report.notes:
        report.note(missing)
    return None


def compiled(options, report, name):
    """Compiles bench/rivals/nn_rivals.c for a rival; None, with a note, if that is not possible."""
    source = os.path.join(measure.RIVALS, "nn_rivals.c")
    path = os.path.join(options.work, f"nn-{name}")
    first, *rest = BUILDS[name]
    defines = [first, *(each for each in rest if each.startswith("-D"))]
    libraries = [each for each in rest if each.startswith("-l")]
    try:
        done = subprocess.run(["cc", "-O2", "-std=gnu17", "-ffp-contract=off", *defines, source,
                               "-o", path, *libraries], capture_output=True, text=True,
                              check=False)
    except FileNotFoundError:
        report.note(f"left out: {LABELS[name]}; there is no cc")
        return None
    if done.returncode == 0:
        return path
    why = next((line for line in done.stderr.splitlines() if "error" in line or "cannot" in line),
               "cc fails")
    package = f" (Debian: {PACKAGES[name]})" if name in PACKAGES else ""
    report.note(f"left out: {LABELS[name]}{package}; {why.strip().split('error: ')[-1]}")
    return None


def cpu_flags():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("flags"):
                return set(line.split(":", 1)[1].split())
    return set()


def openblas_sides(options, report, command):
    """OpenBLAS by its own choice of kernels and, if it takes the processor for one without FMA,
    with the right ones as well: an old OpenBLAS does not know new processors."""
    sides = {"openblas": command}
    version = run([*command[:1], "1", "1", "product:1:1:1"])["version"]
    core = version.split()[-2]
    report.note(f"OpenBLAS: {version.split(' NO_')[0]}, takes this processor for {core}")
    better = next((name for name, needs in CORES.items() if needs <= cpu_flags()), None)
    if better and core not in KNOWN_CORES and "openblas_core" not in options.skip:
        LABELS["openblas_core"] = f"OpenBLAS as {better}"
        sides["openblas_core"] = ["env", f"OPENBLAS_CORETYPE={better}", *command]
    return sides


def clean_environment(report):
    dropped = [name for name in SETTINGS if os.environ.pop(name, None) is not None]
    if dropped:
        report.note("unset for all sides: " + ", ".join(dropped))
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"


# ---- kernels ----------------------------------------------------------------------------------

def leat_command(options, threads, *figures):
    kernels = ["--kernels", options.kernels] if options.kernels else []
    return [program(options, "bench_nn"), *kernels, "--threads", str(threads), "--milliseconds",
            str(options.milliseconds), "--images", str(options.images), "--batches",
            str(options.batches), *figures]


def rival_commands(options, report):
    common = [str(options.milliseconds), str(options.images)]
    products = [figure("product", shape) for shape in PRODUCTS]
    loops = [*(each for shape, each in zip(PRODUCTS, products, strict=True)
               if shape != SLOW or not options.quick), figure("conv", LOOPS_CONV)]
    wanted = {"onednn": all_figures(), "openblas": products, "loops": loops, "loops_fma": loops}
    commands = {}
    python = None if "torch" in options.skip else torch_python(report)
    if python:
        script = os.path.join(measure.RIVALS, "torch_nn.py")
        commands["torch"] = [python, script, "figures", *common, *all_figures()]
    for name, figures in wanted.items():
        path = None if name in options.skip else compiled(options, report, name)
        if path is None:
            continue
        command = [path, *common, *figures]
        commands.update(openblas_sides(options, report, command) if name == "openblas"
                        else {name: command})
    return commands


def check_bits(report, samples):
    """leat's products must have the bits of the plain loops."""
    for name in ("loops", "loops_fma"):
        if name not in samples:
            continue
        mine, theirs = samples["leat"][0], samples[name][0]
        keys = [key for key in theirs if key.endswith("/bits")]
        if any(mine[key] != theirs[key] for key in keys):
            raise RuntimeError(f"products of leat and of the {LABELS[name]} differ")
        report.note(f"{len(keys)} products of leat have the same bits as those of the "
                    f"{LABELS[name]}")


def largest_peak(report):
    """The largest peak of the run. Another process can only make a sample too small, and every
    share of the peak too large."""
    return max(sample["peak"] for part in report.samples.values() for name, taken in part.items()
               if name.startswith("leat") for sample in taken)


def shape_row(report, samples, peak, words, keys, large):
    """keys: the name of the figure, leat's and the rivals'."""
    mine = spread(samples["leat"], keys[0])
    theirs = {name: spread(samples[name], keys[1]) for name in samples
              if name != "leat" and keys[1] in samples[name][0]}
    share = spread(samples["leat"], keys[0], 1 / peak)
    cells = [words, mine.text("", 1), f"{100 * share.median:.0f} %"]
    cells += [theirs[name].text("", 1) if name in theirs else "" for name in samples
              if name != "leat"]
    goal, met, times = f">= {GOAL_BEST}x the best", None, ""
    if large:
        goal += f", >= {100 * GOAL_PEAK:.0f} % of the peak"
    if theirs:
        best = max(theirs, key=lambda name: theirs[name].median)
        against = ratio(mine, theirs[best])
        times = f"{against.text('x')} {LABELS[best]}"
        met = against.median >= GOAL_BEST and (not large or share.median >= GOAL_PEAK)
    judged = met is not None and not report.options.quick
    report.shapes.append((*cells, times, goal, ("yes" if met else "**no**") if judged else ""))


def report_shapes(report, samples, peak):
    report.columns = ("shape", "leat", "of the peak",
                      *(LABELS[name] for name in samples if name != "leat"),
                      "leat compared with the best", "goal", "met?")
    for shape in PRODUCTS:
        name = figure("product", shape)
        shape_row(report, samples, peak, "product " + " x ".join(map(str, shape)), (name, name),
                  shape in LARGE)
    for kind, ways in WAYS.items():
        for shape in CONVS:
            narrow, wide, size = shape
            name = figure("conv", shape)
            words = (f"convolution {wide} to {narrow} channels, {size} x {size}" if kind == "conv"
                     else f"transposed convolution {narrow} to {wide} channels, "
                          f"{size // 2} x {size // 2}")
            for way, leats in ways.items():
                shape_row(report, samples, peak, f"{words}: {WORDS[way]}",
                          (f"{name}/{leats}", f"{name}/{kind}/{way}"), shape in LARGE)
    report.table = [dict(zip(report.columns, row, strict=True)) for row in report.shapes]


def measure_kernels(options, report):
    commands = {"leat": leat_command(options, 1, "peak", *all_figures()),
                **rival_commands(options, report)}
    samples = rounds([(name, lambda _, command=command: run(command))
                      for name, command in commands.items()], options.runs, options.warmup)
    report.samples["kernels"] = samples
    one = samples["leat"][0]
    report.note(f"kernels: leat's variant {one['kernels']}; {options.images} images; one thread; "
                f"at least {options.milliseconds} ms a figure, its median")
    if "torch" in samples:
        seen = samples["torch"][0]
        report.note(f"torch {seen['torch']}, {seen['instructions']}")
    if "onednn" in samples:
        report.note(f"oneDNN {samples['onednn'][0]['version']}")
    check_bits(report, samples)
    report.row("the FMA peak of one thread: multiply-adds between registers",
               spread(samples["leat"], "peak").text(" GFLOP/s", 1))
    report_shapes(report, samples, largest_peak(report))


# ---- the unit ---------------------------------------------------------------------------------

def unit_sides(options, report):
    python = torch_python(report)
    script = os.path.join(measure.RIVALS, "torch_nn.py")
    rivals = {"source": ("source", "contiguous"), "fair": ("fair", "contiguous"),
              "fair_last": ("fair", "channels_last")}
    commands = {}
    for threads in sorted({1, options.threads}):
        commands[f"leat_{threads}"] = leat_command(options, threads, "peak", "unit")
        for name, variant in rivals.items():
            if python and name not in options.skip:
                commands[f"{name}_{threads}"] = [python, script, "unit", *variant, str(threads),
                                                 str(options.images), str(options.batches)]
    return [(name, lambda _, command=command: run(command)) for name, command in commands.items()]


def report_unit(report, samples, threads):
    def rates(name):
        return spread(samples[f"{name}_{threads}"], "images_per_s")

    def memory(name):
        return spread(samples[f"{name}_{threads}"], "peak_bytes", 1 / MIB)

    words = f"unit, {threads} thread{'s' if threads > 1 else ''}"
    mine = rates("leat")
    share = spread(samples[f"leat_{threads}"], "images_per_s",
                   UNIT_FLOPS * 1e-9 / (threads * largest_peak(report)))
    judged = {"goal": f">= {GOAL_UNIT}x the speed, or >= {100 * GOAL_UNIT_PEAK:.0f} % of the peak",
              "met": share.median >= GOAL_UNIT_PEAK}
    if f"source_{threads}" in samples:
        theirs = rates("source")
        times = ratio(mine, theirs)
        judged["met"] = judged["met"] or times.median >= GOAL_UNIT
        report.row(f"{words}: images/s, compared with PyTorch computing the unit of "
                   "GANNs-with-friends",
                   mine.text("", 1), theirs.text("", 1), times.text("x the speed"), **judged)
        judged = {}
    fair = [name for name in ("fair", "fair_last") if f"{name}_{threads}" in samples]
    if fair:
        best = max(fair, key=lambda name: rates(name).median)
        order = "channels_last" if best == "fair_last" else "contiguous"
        report.row(f"{words}: images/s, compared with PyTorch without redundant work, {order}",
                   mine.text("", 1), rates(best).text("", 1),
                   ratio(mine, rates(best)).text("x the speed"))
    report.row(f"{words}: {UNIT_FLOPS * 1e-9:.2f} GFLOP an image, share of the FMA peak"
               f"{f' of {threads} threads' if threads > 1 else ''}",
               f"{100 * share.median:.0f} % ({100 * share.low:.0f} to {100 * share.high:.0f})",
               **judged)
    if f"source_{threads}" in samples:
        report.row(f"{words}: peak memory, compared with PyTorch computing the unit of "
                   "GANNs-with-friends",
                   memory("leat").text(" MiB", 0), memory("source").text(" MiB", 0))
    else:
        report.row(f"{words}: peak memory", memory("leat").text(" MiB", 0))


def measure_unit(options, report):
    samples = rounds(unit_sides(options, report), options.runs, options.warmup)
    report.samples["unit"] = samples
    one = samples["leat_1"][0]
    report.note(f"unit: width 64, {options.batches} micro-batches of {options.images}; leat's "
                f"variant {one['kernels']}")
    if "kernels" not in report.samples:
        report.row("the FMA peak of one thread: multiply-adds between registers",
                   spread(samples["leat_1"], "peak").text(" GFLOP/s", 1))
    for threads in sorted({1, options.threads}):
        report_unit(report, samples, threads)


MEASURES = {"kernels": measure_kernels, "unit": measure_unit}


def body():
    options = options_of_command_line()
    report = KernelReport("nn", options)
    clean_environment(report)
    for part in PARTS:
        if not options.part or part in options.part:
            MEASURES[part](options, report)
    if options.skip:
        report.note("left out: " + ", ".join(sorted(options.skip)))
    report.print()
    report.samples["shapes"] = report.table
    report.save()


if __name__ == "__main__":
    measure.main(body)
