#!/usr/bin/env python3
"""Training over lent machines through PostgreSQL, compared with the way people do it today.

Sides, in turn, each on a PostgreSQL server of its own that is started for the sample (fsync on) and
reached through proxies that count bytes, with the same data, units, images and steps:
leat          leat coordinate and --workers x leat work, with their defaults (bf16 both ways)
leat_f32      the same with f32 both ways, the rival's precision
python        bench/rivals/psycopg_crowd.py: PyTorch, psycopg2, tensors pickled into bytea rows,
              with the pauses of GANNs-with-friends (2 s and 5 s)
python_eager  the same with pauses of a twentieth
Each sample is also added to WORK/crowd-samples.jsonl as soon as it is taken.
Neither side evaluates or samples. All processes run on this machine, one thread each for a worker
and for the coordinator; there is no network, so the bytes cost next to nothing here.

seconds a step  between the commits of two steps, by the server's clock
bytes           of all workers' connections, for each unit that counts: a step has --units of them
growth          of the database from the first commit to the last, and of the write-ahead log
useful share    (units that count x seconds of a unit computed alone) / (workers x time); computed
                alone: by one thread, in the same round, without a database (for leat in `leat
                train`, with a unit's part of the optimizer's step)
"""
import json
import os
import statistics
import subprocess
import sys
import time

import measure
from measure import Missing, Report, parse, parser, program, ratio, rounds, spread

sys.path += [os.path.join(measure.HOME, "tests", "crowd")]

from server import Proxy, Server, find_server  # pylint: disable=wrong-import-position

SIZES = {
    "steps": (8, 3, "steps of a training"),
    "workers": (2, 2, "that compute units"),
    "units": (3, 2, "a step waits for"),
    "unit_size": (320, 16, "images a unit"),
    "micro_batch": (32, 8, "images that are normalised together"),
    "width": (64, 4, "of the networks"),
    "images": (5_000, 200, "synthetic images"),
    "alone": (2, 1, "steps that are computed alone"),
    "runs": (3, 1, "counted rounds"),
    "warmup": (0, 0, "rounds before them"),
}
TORCH = os.path.join(measure.HOME, ".deps", "venv-torch", "bin", "python3")
LEAT_SIDES = {"leat": [], "leat_f32": ["--codec-up", "f32", "--codec-down", "f32"]}
PYTHON_SIDES = {"python": 1.0, "python_eager": 0.05}
NAMES = {"leat": "leat", "leat_f32": "leat, f32", "python": "Python",
         "python_eager": "Python, short pauses"}
TIMES = {"leat": "select extract(epoch from committed_at) from leat.step order by step",
         "python": "select extract(epoch from created_at) from loss_history order by iteration"}
READY = {"leat": ("leat.run", "select exists (select from leat.run where step >= 0)"),
         "python": ("training_state", "select exists (select from training_state)")}
LOOK_S = 0.5
LINES_SHOWN = 20  # of the server's log, if a side fails


class Counter(Proxy):
    """Counts bytes, and closes a connection that has ended: a side makes thousands of them."""

    def __init__(self, port):
        self.half_open = set()
        super().__init__(port)

    def pump(self, of, to, up):
        super().pump(of, to, up)
        pair = frozenset((of, to))
        with self.lock:
            if pair not in self.half_open:
                self.half_open.add(pair)
                return
            self.half_open.remove(pair)
            for each in pair:
                self.open.remove(each)
                each.close()


class Processes:
    """Of one sample: killed at its end if they still run; the messages of each are in a file."""

    def __init__(self, folder):
        self.folder, self.all = folder, []

    def start(self, name, words):
        with open(os.path.join(self.folder, name + ".log"), "wb") as log:
            self.all.append(subprocess.Popen(  # pylint: disable=consider-using-with
                list(map(str, words)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=log, text=True))
        self.all[-1].name = name
        return self.all[-1]

    def end(self, process):
        """What it printed, once it has ended well."""
        out, _ = process.communicate()
        if process.returncode != 0:
            with open(os.path.join(self.folder, process.name + ".log"), encoding="utf-8") as file:
                raise RuntimeError(f"{process.name}: status {process.returncode}: {file.read()}")
        return json.loads(out)

    def kill(self):
        for process in self.all:
            process.kill()
            process.wait()
            process.stdout.close()


class Sample:
    """One training of one side."""

    def __init__(self, options, server, kind, folder):
        self.options, self.server, self.kind = options, server, kind
        self.database, self.processes = server.database(), Processes(folder)
        self.to_coordinator, self.to_workers = Counter(server.port), Counter(server.port)
        self.sizes = []  # (server's clock, bytes of the database, bytes of log so far)

    def ask(self, sql):
        return self.server.sql(sql, database=self.database)

    def until_ready(self, coordinator):
        table, sql = READY[self.kind]
        while coordinator.poll() is None:
            if self.ask(f"select to_regclass('{table}') is not null") == "t" and \
                    self.ask(sql) == "t":
                return
            time.sleep(0.05)
        self.processes.end(coordinator)

    def look(self):
        row = self.ask("select extract(epoch from clock_timestamp()), pg_database_size("
                       "current_database()), pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')")
        self.sizes.append(tuple(float(value) for value in row.split("|")))

    def take(self, coordinate, work):
        """coordinate: words of a command; work: words by the number of the worker."""
        try:
            coordinator = self.processes.start("coordinator", coordinate)
            self.until_ready(coordinator)
            workers = [self.processes.start(f"worker-{i}", work(i))
                       for i in range(self.options.workers)]
            while coordinator.poll() is None:
                self.look()
                time.sleep(LOOK_S)
            self.look()
            led = self.processes.end(coordinator)
            return self.result(led, [self.processes.end(worker) for worker in workers])
        finally:
            self.processes.kill()
            self.to_coordinator.stop()
            self.to_workers.stop()

    def result(self, led, workers):
        times = [float(line) for line in self.ask(TIMES[self.kind]).split("\n")]
        steps, units = len(times), len(times) * self.options.units
        first = next(i for i, look in enumerate(self.sizes) if look[0] >= times[0])
        begun, ended = self.sizes[first], self.sizes[-1]
        return {"commits": times, "step_seconds": statistics.median(
                    after - before for before, after in zip(times, times[1:], strict=False)),
                "seconds": times[-1] - times[0],
                "up": self.to_workers.up / units, "down": self.to_workers.down / units,
                "coordinator_bytes": (self.to_coordinator.up + self.to_coordinator.down) / steps,
                "connections": self.to_workers.connections / units,
                "database_bytes": ended[1], "growth": (ended[1] - begun[1]) / (steps - 1),
                "log_growth": (ended[2] - begun[2]) / (steps - 1), "coordinator": led,
                "computed": sum(worker.get("computed", 0) or worker["accepted"] + worker["lost"]
                                for worker in workers) / units,
                "workers": workers}


class Sides:
    def __init__(self, options):
        self.options, self.leat = options, program(options, "leat")
        self.has_python = os.access(TORCH, os.X_OK) and subprocess.run(
            [TORCH, "-c", "import psycopg2"], check=False, capture_output=True).returncode == 0
        photos = os.path.join(options.work, f"images-{options.images}.zip")
        measure.made_once(photos, lambda part: measure.quiet(
            [self.leat, "synth", "images", "-n", str(options.images), "-o", part]))
        self.data = measure.made_once(
            os.path.join(options.work, f"crowd-data-{options.images}"),
            lambda part: measure.quiet([self.leat, "ingest", "images", photos, "-o", part]))
        self.pixels = os.path.join(self.data, "images.safetensors")

    def fresh(self):
        out = os.path.join(self.options.work, "crowd-out")
        measure.remove(out)
        os.makedirs(out)
        measure.read_through(self.data)
        return out

    def units_of_leat(self):
        given = self.options
        return ["--units", str(given.units), "--unit-size", str(given.unit_size), "--micro-batch",
                str(given.micro_batch), "--width", str(given.width), "--sample-every", "0",
                "--threads", "1", "--json"]

    def on_server(self, kind, commands):
        """commands: function of a Sample and its folder that returns what Sample.take needs."""
        out = self.fresh()
        server = Server("fsync=on", "shared_buffers=128MB")
        try:
            sample = Sample(self.options, server, kind, out)
            return sample.take(*commands(sample, out))
        except (RuntimeError, AssertionError) as failed:
            raise RuntimeError(f"{failed}\nthe server's last lines:\n"
                               + "".join(server.lines[-LINES_SHOWN:])) from failed
        finally:
            server.stop()

    def take_leat(self, codecs):
        def commands(sample, out):
            return ([self.leat, "coordinate", f"{out}/run", "--db",
                     sample.to_coordinator.url(sample.database), "--data", self.data, "--steps",
                     self.options.steps, *self.units_of_leat(), *codecs],
                    lambda i: [self.leat, "work", sample.to_workers.url(sample.database, "ann"),
                               "--data", self.data, "--key", f"{out}/{i}.key", "--threads", "1",
                               "--on-battery", "work", "--json"])
        result = self.on_server("leat", commands)
        result["alone"] = self.leat_alone(codecs)
        return self.with_share(result)

    def take_python(self, pauses):
        given, script = self.options, os.path.join(measure.RIVALS, "psycopg_crowd.py")
        sizes = [given.unit_size, given.micro_batch]

        def commands(sample, _):
            words = lambda proxy, role: [TORCH, script, role, proxy.url(sample.database),
                                         self.pixels, given.width, 1]
            return ([*words(sample.to_coordinator, "coordinator"), given.units, *sizes,
                     given.steps, pauses],
                    lambda _: [*words(sample.to_workers, "worker"), *sizes, pauses])
        result = self.on_server("python", commands)
        told = measure.run([TORCH, script, "alone", self.pixels, str(given.width), "1",
                            *map(str, sizes), str(given.alone * given.units)])
        result["alone"] = statistics.median(told["unit_seconds"])
        return self.with_share(result)

    def leat_alone(self, codecs):
        """Seconds of a unit in a step of leat train."""
        run = os.path.join(self.fresh(), "run")
        codecs = codecs or ["--codec-up", "bf16", "--codec-down", "bf16"]
        measure.run([self.leat, "train", "dcgan", self.data, "-o", run, "--steps",
                     str(self.options.alone), *self.units_of_leat(), *codecs])
        with open(os.path.join(run, "metrics.jsonl"), encoding="utf-8") as file:
            steps = [json.loads(line) for line in file]
        return statistics.median(step["seconds"] for step in steps
                                 if "seconds" in step) / self.options.units

    def with_share(self, result):
        given = self.options
        result["share"] = ((given.steps - 1) * given.units * result["alone"]
                           / (given.workers * result["seconds"]))
        return result


def table(samples):
    """A report with a column for each side."""
    class Crowd(Report):
        COLUMNS = ("what", *(NAMES[side] for side in samples))
    return Crowd


ROWS = (("seconds a step", "step_seconds", 1, " s", 2),
        ("megabytes up for each unit that counts", "up", 1e-6, " MB", 2),
        ("megabytes down for each unit that counts", "down", 1e-6, " MB", 2),
        ("connections of workers for each unit that counts", "connections", 1, "", 2),
        ("units computed for each that counts", "computed", 1, "", 2),
        ("megabytes of the coordinator, both ways, a step", "coordinator_bytes", 1e-6, " MB", 1),
        ("size of the database after the last step", "database_bytes", 1e-6, " MB", 0),
        ("growth of the database a step", "growth", 1e-6, " MB", 1),
        ("write-ahead log a step", "log_growth", 1e-6, " MB", 1),
        ("seconds of a unit computed alone", "alone", 1, " s", 2),
        ("useful share of the workers' time", "share", 100, " %", 0))


def body():
    made = parser(__doc__, SIZES)
    options = parse(made, SIZES)
    if options.steps < 2:
        made.error("--steps: at least 2")
    if find_server() is None:
        raise Missing("no PostgreSQL server: run scripts/install.sh --crowd")
    sides = Sides(options)
    takes = {side: lambda _, c=codecs: sides.take_leat(c) for side, codecs in LEAT_SIDES.items()}
    if sides.has_python:
        takes |= {side: lambda _, p=pauses: sides.take_python(p)
                  for side, pauses in PYTHON_SIDES.items()}
    report = table(takes)("crowd", options)
    report.samples = samples = rounds(list(takes.items()), options.runs, options.warmup,
                                      os.path.join(options.work, "crowd-samples.jsonl"))
    measure.remove(os.path.join(options.work, "crowd-out"))
    server = subprocess.run([os.path.join(find_server(), "postgres"), "--version"],
                            capture_output=True, text=True, check=True).stdout.split()
    report.versions["PostgreSQL"] = server[2]
    if sides.has_python:
        report.versions |= {name: samples["python"][0]["coordinator"][name]
                            for name in ("torch", "psycopg2")}
    else:
        report.note("left out: Python; no psycopg2 in .deps/venv-torch (scripts/python-env.sh "
                    "torch)")
    for what, key, scale, unit, digits in ROWS:
        report.rows.append((what, *(spread(samples[side], key, scale).text(unit, digits)
                                    for side in takes)))
    ours = spread(samples["leat"], "step_seconds")
    report.rows.append(("seconds a step, compared with leat", *(
        ratio(spread(samples[side], "step_seconds"), ours).text("x") for side in takes)))
    report.note(f"{options.workers} workers; {options.steps} steps of {options.units} units of "
                f"{options.unit_size} images; width {options.width}; {options.images} images")
    report.print()
    report.save()


if __name__ == "__main__":
    measure.main(body)
