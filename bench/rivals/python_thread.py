#!/usr/bin/env python3
"""The speed of another Python thread while batches are made, and the cost of a batch that is ready.

python_thread.py DATA SECONDS LEAT beside|inside: the speed of a thread that counts, in the main
thread either waiting for `leat batches` (a separate process with one thread: what the processor
leaves) or iterating over a leat.Loader of the same batches and one thread.
"""
import statistics
import subprocess
import sys
import threading
import time

from common import answer

SIZES = {"batch": 64, "length": 1024}


def counting(seconds, work):
    """The counts per second of a thread while `work` is called repeatedly."""
    count, stop = [0], threading.Event()

    def spin():
        while not stop.is_set():
            count[0] += 1

    spinner = threading.Thread(target=spin)
    spinner.start()
    begun, first = time.monotonic(), count[0]
    while time.monotonic() - begun < seconds:
        work()
    found = (count[0] - first) / (time.monotonic() - begun)
    stop.set()
    spinner.join()
    return found


def beside(data, seconds, leat):
    command = [leat, "batches", data, "--threads", "1", "--prefetch", "0", "--steps", "0:1000000"]
    command += [f"--{key}={value}" for key, value in SIZES.items()]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        time.sleep(0.2)
        found = counting(seconds, lambda: time.sleep(0.01))
        process.kill()
    answer(per_s=found)


def inside(data, seconds):
    import leat
    import leat.loader

    with leat.Loader(data, **SIZES, prefetch=0, threads=1) as loader:
        next(loader)
        found = counting(seconds, lambda: next(loader))
    taken = []
    with leat.Loader(data, **SIZES, threads=1) as loader:
        for _ in range(500):
            while not leat.loader.held.leat_loader_wait(loader._open, 0):
                time.sleep(0.0005)
            begun = time.perf_counter_ns()
            batch = next(loader)
            taken.append((time.perf_counter_ns() - begun) / 1000)
            del batch
    answer(per_s=found, next_us=statistics.median(taken),
           next_late_us=statistics.quantiles(taken, n=10)[-1])


if __name__ == "__main__":
    DATA, SECONDS, LEAT, MODE = sys.argv[1:]
    if MODE == "beside":
        beside(DATA, float(SECONDS), LEAT)
    else:
        inside(DATA, float(SECONDS))
