#!/usr/bin/env python3
"""Batches of tokens for a transformer, compared with Python.

Sides, each a fresh process, in turn, files in the page cache, one thread each:
  leat     leat_loader_next, plan3, packed: pages checked at first access, then the same steps again
  large    the same where every row is about 8 MiB, so that each measurement is a cache miss
  sampler  a plain Python sampler, array_record and PyArrow, each row read once
  grain    the same sampler through Grain, in one process
  thread   a Python thread that counts, while leat.Loader or another process runs (two cores)
bench/batches.c is leat's side; it also measures the bounds: a bare loop that stores the same number
of elements in six arrays, and memcpy of them. Tokens are counted, not padding: the sampler, as
designed, fills a third of a sequence.
"""
import os
import shutil
import subprocess
import time

import measure
from measure import Report, parse, parser, program, ratio, rival, rounds, run, spread

SIZES = {
    "measurements": (20_000_000, 200_000, "of the data set"),
    "probes": (85_000, 2_000, "of the data set"),
    "large_probes": (100, 4, "of the same number of measurements in large rows"),
    "steps": (2_000, 20, "made by leat"),
    "batch": (64, 16, "sequences of 1,024 tokens a step"),
    "seconds": (20, 2, "that Python makes batches for"),
    "thread_seconds": (5, 1, "that another Python thread is watched"),
    "runs": (5, 2, "counted rounds"),
    "warmup": (1, 1, "rounds before them"),
}
SIDES = ("leat", "large", "sampler", "grain", "thread")
GOAL_RATE = 50e6
MEMORY = "64M"


def make_dataset(options, probes):
    leat, size = program(options, "leat"), f"{options.measurements}-{probes}"
    raw = measure.made_once(
        os.path.join(options.work, f"probes-{size}.parquet"), lambda part: measure.quiet(
            [leat, "synth", "probes", "--measurements", str(options.measurements), "--probes",
             str(probes), "-o", part]))
    data = measure.made_once(
        os.path.join(options.work, f"rows-{size}"), lambda part: measure.quiet(
            [leat, "ingest", "probes", raw, "-o", part]))
    measure.read_through(data)
    return data


def grain_command(command):
    """The same command with Grain and the rivals' packages; None if Grain is not installed."""
    home = os.path.join(measure.HOME, ".deps")
    python = os.path.join(home, "venv-train", "bin", "python3")
    if not os.access(python, os.X_OK):
        return None
    packages = os.path.join(home, "venv", "lib")
    packages = os.path.join(packages, os.listdir(packages)[0], "site-packages")
    return ["env", f"PYTHONPATH={packages}", python, *command[1:]]


def sides_of(options, data, large):
    def leat(folder):
        return lambda _: run([program(options, "bench_batches"), folder, str(options.steps),
                              str(options.batch)])

    sides = {"leat": leat(data), "large": leat(large)}
    if measure.rival_python():
        plain = {mode: rival("python_batches.py", data, options.batch, options.seconds, mode)
                 for mode in ("sampler", "grain")}
        plain["grain"] = grain_command(plain["grain"])
        sides.update({mode: (lambda _, command=command: run(command))
                      for mode, command in plain.items() if command})
        if "thread" not in options.skip:
            sides.update(thread_sides(options, data))
    return [(name, take) for name, take in sides.items() if name not in options.skip]


def private_bytes(pid):
    """Anonymous and shared memory of a process, without mapped files; 0 if it has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            facts = dict(line.split(":", 1) for line in file)
        return sum(int(facts[key].split()[0]) * 1024 for key in ("RssAnon", "RssShmem"))
    except (KeyError, OSError):
        return 0


def memory_peak(options, data, threads):
    """The peak of that memory in leat batches, sampled every 2 ms."""
    command = [program(options, "leat"), "batches", data, "--threads", str(threads), "--steps",
               f"0:{options.steps}", "--batch", str(options.batch), "--memory", MEMORY, "--hash"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        most = 0
        while process.poll() is None:
            most = max(most, private_bytes(process.pid))
            time.sleep(0.002)
    if process.returncode != 0:
        raise RuntimeError(f"status {process.returncode}: {' '.join(command)}")
    return most


def report_memory(report, options, data):
    limit = int(MEMORY[:-1]) * measure.MIB + 32 * measure.MIB
    for threads in (1, 2, 8):
        most = memory_peak(options, data, threads)
        report.samples[f"memory_{threads}"] = most
        report.row(f"leat batches --memory {MEMORY}, {threads} thread{'s'[:threads > 1]}: peak of "
                   "anonymous and shared memory", f"{most / measure.MIB:.1f} MiB",
                   goal=f"<= {limit // measure.MIB} MiB", met=most <= limit)


def package_home(options):
    return os.path.join(options.work, "python")


def with_package(options, command):
    """The command, with `import leat` finding the package of this tree and the library built."""
    home = package_home(options)
    measure.remove(home)
    shutil.copytree(os.path.join(measure.HOME, "python", "leat"), os.path.join(home, "leat"))
    shutil.copy2(program(options, "libleat.so"), os.path.join(home, "leat"))
    return ["env", f"PYTHONPATH={home}", *command]


def thread_sides(options, data):
    """Another Python thread, while a process or a loader makes batches."""
    sides = []
    for mode in ("beside", "inside"):
        command = with_package(options, rival("python_thread.py", data, options.thread_seconds,
                                              program(options, "leat"), mode))
        sides.append((f"thread_{mode}", lambda _, command=command: run(command)))
    return sides


def report_thread(report, samples):
    kept = ratio(spread(samples["thread_inside"], "per_s"),
                 spread(samples["thread_beside"], "per_s"))
    report.row("speed of another Python thread while leat.Loader makes batches, "
               "compared with its speed "
               "while another process makes them", kept.text("x"), goal=">= 0.95x",
               met=kept.median >= 0.95)
    ready = spread(samples["thread_inside"], "next_us")
    report.row("next() of leat.Loader with a batch ready, which is all that the GIL is held",
               ready.text(" us", 1), goal="<= 20 us", met=ready.median <= 20)
    report.row("9 of 10 such calls are faster than",
               spread(samples["thread_inside"], "next_late_us").text(" us", 1))


def rate(samples, key="tokens_per_s"):
    return spread(samples, key, 1e-6)


def report_leat(report, what, samples, goal):
    mine = rate(samples)
    report.row(f"{what}, pages checked before", mine.text(" M tokens/s", 1),
               goal=f">= {GOAL_RATE / 1e6:.0f} M tokens/s" if goal else "",
               met=mine.median * 1e6 >= GOAL_RATE if goal else None)
    report.row(f"{what}, first access to its pages",
               rate(samples, "fresh_tokens_per_s").text(" M tokens/s", 1))
    for key, words in (("store_tokens_per_s", "a bare loop that stores the six arrays"),
                       ("copy_tokens_per_s", "memcpy of the same number of bytes")):
        bound = rate(samples, key)
        report.row(f"{what}, compared with {words}", mine.text(" M tokens/s", 1),
                   bound.text(" M tokens/s", 0), ratio(mine, bound).text("x the speed"))


def body():
    made = parser(__doc__, SIZES)
    made.add_argument("--skip", action="append", default=[], choices=SIDES[1:],
                      help="a side to leave out; may be repeated")
    options = parse(made, SIZES)
    data = make_dataset(options, options.probes)
    large = make_dataset(options, options.large_probes)
    report = Report("batches", options)
    samples = rounds(sides_of(options, data, large), options.runs, options.warmup)
    measure.remove(package_home(options))
    report.samples = samples
    facts = samples["leat"][0]
    report.note(f"{facts['measurements']:,} measurements in {facts['rows']:,} rows of together "
                f"{facts['file_bytes'] / 1e6:,.0f} MB; batches of {options.batch} sequences of "
                f"1,024 tokens, {options.steps:,} steps, padding {facts['padding']:.3%}; one "
                f"thread, {facts['memory_bytes'] / measure.MIB:.1f} MiB of memory")
    report_leat(report, "packed batches", samples["leat"], goal=True)
    if "large" in samples:
        report_leat(report, "where every row is about 8 MiB", samples["large"], goal=False)
    for name, words in (("sampler", "a plain Python sampler"), ("grain", "the same through Grain")):
        if name in samples:
            mine, theirs = rate(samples["leat"]), rate(samples[name])
            report.row(f"packed batches, compared with {words}", mine.text(" M tokens/s", 1),
                       theirs.text(" M tokens/s"), ratio(mine, theirs).text("x the speed", 0))
            report.row(f"padding, compared with {words}", f"{facts['padding']:.3%}",
                       f"{spread(samples[name], 'padding').median:.1%}")
    far = samples["leat"]
    report.row("the first batch of step 1,000,000 in a fresh process",
               spread(far, "far_ms").text(" ms"))
    report.row("of shards read and checked for it",
               spread(far, "far_payload_bytes", 1 / measure.MIB).text(" MiB"))
    if "thread_inside" in samples:
        report_thread(report, samples)
    report_memory(report, options, data)
    report.print()
    report.save()


if __name__ == "__main__":
    measure.main(body)
