#!/usr/bin/env python3
"""Limits of one PostgreSQL server: units claimed and handed in, bytes stored and read.

A server of its own (fsync on), reached over the loopback interface without TLS, and the functions
of the schema, called by pgbench. The workers share a login, compute nothing, and wait for nothing
but the server; pgbench and the server share the processors.

units        a worker claims a unit, stores a result of --small bytes and submits it; --units of a
             step, in --rounds steps, one after the other
with ...     the same while another session holds a snapshot, as a backup does: the rows of earlier
             leases and units stay, and have to be stepped over
bytes        the same with results of --large bytes in parts of 1 MiB, which are made by the server
             (the network's part is not in it), hashed as submit does, and read by one connection
             as the coordinator reads them
"""
import hashlib
import os
import re
import subprocess
import sys
import time

import measure
from measure import Missing, Report, parse, parser, rounds, spread

sys.path += [os.path.join(measure.HOME, "tests", "crowd")]

from server import Server, find_server  # pylint: disable=wrong-import-position

SIZES = {
    "workers": (8, 2, "that ask at the same time"),
    "units": (1_000, 40, "of a step"),
    "rounds": (5, 2, "steps"),
    "small": (1_000, 1_000, "bytes of a result"),
    "large": (12_930_000, 1 << 20, "bytes of a large result"),
    "large_units": (40, 4, "with a large result"),
    "runs": (3, 1, "counted rounds"),
    "warmup": (0, 0, "rounds before them"),
}
PART = 1 << 20
HASH = "0" * 64
SCHEMA = ("schema.sql", "schema_limits.sql", "schema_owner.sql")
MACHINE = "lpad(:client_id::text, 32, '0')"
# One unit a transaction; the first one of a client registers its machine.
SCRIPT = """\\if :begun = 0
select from leat.register('', {machine}, 'secret', 'bench', '');
\\set begun 1
\\endif
select lease, epoch from leat.claim({run}, {machine}, 0) \\gset
{parts}
select 1 / (why is null)::integer from leat.submit(:lease, :epoch, '{digest}');
"""


def part_sizes(size):
    return [min(PART, size - first) for first in range(0, size, PART)]


class Run:
    """A run in a database of its own, of which only the units matter."""

    def __init__(self, server, units, size):
        self.server, self.units, self.size, self.id = server, units, size, 1
        self.database = server.database()
        folder = os.path.join(measure.HOME, "src", "crowd")
        script = "".join(open(os.path.join(folder, name), encoding="utf-8").read()
                         for name in SCHEMA)
        subprocess.run([f"{server.bin}/psql", "-Xq1", "-v", "ON_ERROR_STOP=1", "-o", os.devnull,
                        "-f", "-", server.url(self.database)], input=script, text=True, check=True)
        self.ask(f"select leat.create_run('bench', '{HASH}', '', 'none', '', '', '', 1, '', '', "
                 f"{units}, 1, 1, {size}, 1, 1, {PART}, 1, 300000, 10000, 30000, 3600000, 0, 'x')")
        self.hold = self.ask("select fence || ', ' || epoch from leat.hold(1, 'bench', 0, 0)")

    def ask(self, *sql):
        return self.server.sql(*sql, database=self.database)

    def open_step(self):
        """All units are ready, and nobody has one; results of the step before are gone."""
        self.ask(f"select leat.open_step(1, {self.hold}, 0, 0, '{HASH}', {self.units})",
                 "truncate leat.part_1_0")

    def compute(self, workers, folder):
        """Every unit is claimed and handed in; seconds."""
        path = os.path.join(folder, "crowd-limits.sql")
        puts = "\n".join(
            f"select 1 / (why is null)::integer from leat.put(:lease, :epoch, {part}, "
            f"convert_to(repeat('x', {size}), 'UTF8'));"
            for part, size in enumerate(part_sizes(self.size)))
        with open(path, "w", encoding="ascii") as file:
            file.write(SCRIPT.format(machine=MACHINE, run=self.id, parts=puts,
                                     digest=hashlib.sha256(b"x" * self.size).hexdigest()))
        begun = time.monotonic()
        done = subprocess.run(
            [f"{self.server.bin}/pgbench", "-n", "-M", "prepared", "-c", str(workers), "-t",
             str(self.units // workers), "-D", "begun=0", "-f", path,
             self.server.url(self.database)], check=False, text=True, capture_output=True)
        seconds = time.monotonic() - begun
        counted = int(self.ask("select count(*) from leat.unit where state = 'done'"))
        if done.returncode != 0 or counted != self.units:
            raise RuntimeError(f"{counted} of {self.units} units: {done.stderr[-1000:]}")
        return float(re.search(r"tps = ([0-9.]+) \(without", done.stdout)[1]), seconds

    def read(self):
        """All results, as the coordinator reads them; seconds."""
        parts = len(part_sizes(self.size))
        begun = time.monotonic()
        copied = subprocess.run(
            [f"{self.server.bin}/psql", "-XAtq", "-c",
             f"copy (select leat.read_part(1, 0, u.lease, p) from leat.unit u, "
             f"generate_series(0, {parts - 1}) p order by u.unit, p) to stdout (format binary)",
             self.server.url(self.database)], check=True, stdout=subprocess.PIPE)
        seconds = time.monotonic() - begun
        if len(copied.stdout) < self.units * self.size:
            raise RuntimeError(f"{len(copied.stdout)} bytes were read")
        return seconds

    def dead_rows(self):
        return int(self.ask("select coalesce(sum(n_dead_tup), 0) from pg_stat_all_tables where "
                            "schemaname = 'leat' and relname in ('unit', 'lease', 'machine')"))


class Sides:
    def __init__(self, options):
        self.options = options
        self.units = options.units // options.workers * options.workers
        self.large_units = -(-options.large_units // options.workers) * options.workers

    def on_server(self, units, size, take):
        server = Server("fsync=on", "shared_buffers=128MB")
        try:
            return take(Run(server, units, size))
        finally:
            server.stop()

    def take_units(self, held):
        def take(run):
            holder = None
            if held:
                holder = run.server.session(run.database)
                holder.stdin.write("begin isolation level repeatable read;\nselect 1;\n")
                holder.stdin.flush()
                holder.stdout.readline()
            rates = []
            for _ in range(self.options.rounds):
                run.open_step()
                rates.append(run.compute(self.options.workers, self.options.work)[0])
            time.sleep(1)  # until the server's statistics have it
            dead = run.dead_rows()
            if holder:
                holder.communicate()
            return {"first": rates[0], "last": rates[-1], "dead": dead, "rates": rates}
        return self.on_server(self.units, self.options.small, take)

    def take_bytes(self):
        def take(run):
            run.open_step()
            _, seconds = run.compute(self.options.workers, self.options.work)
            size = self.large_units * self.options.large
            return {"stored": size / seconds, "read": size / run.read()}
        return self.on_server(self.large_units, self.options.large, take)


class Limits(Report):
    COLUMNS = ("what", "PostgreSQL")


def body():
    made = parser(__doc__, SIZES)
    options = parse(made, SIZES)
    if options.units < options.workers:
        made.error("--units: at least as many as --workers")
    if find_server() is None:
        raise Missing("no PostgreSQL server: run scripts/install.sh --crowd")
    sides = Sides(options)
    report = Limits("crowd_limits", options)
    report.samples = samples = rounds(
        [("units", lambda _: sides.take_units(False)),
         ("units_held", lambda _: sides.take_units(True)),
         ("bytes", lambda _: sides.take_bytes())], options.runs, options.warmup)
    version = subprocess.run([os.path.join(find_server(), "postgres"), "--version"],
                             capture_output=True, text=True, check=True).stdout.split()
    report.versions["PostgreSQL"] = version[2]
    rows = (("units a second, in the first step", "units", "first", 1, "", 0),
            ("the same in the last step", "units", "last", 1, "", 0),
            ("dead rows after it", "units", "dead", 1, "", 0),
            ("units a second, with a snapshot held, in the first step", "units_held", "first", 1,
             "", 0),
            ("the same in the last step", "units_held", "last", 1, "", 0),
            ("dead rows after it", "units_held", "dead", 1, "", 0),
            ("megabytes a second stored and hashed", "bytes", "stored", 1e-6, " MB", 1),
            ("megabytes a second read by one connection", "bytes", "read", 1e-6, " MB", 1))
    for what, side, key, scale, unit, digits in rows:
        report.rows.append((what, spread(samples[side], key, scale).text(unit, digits)))
    report.note(f"{options.workers} workers; {options.rounds} steps of {sides.units} units with "
                f"{options.small} bytes each, and {sides.large_units} units with "
                f"{options.large} bytes each")
    report.print()
    report.save()


if __name__ == "__main__":
    measure.main(body)
