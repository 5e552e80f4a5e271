"""Training over lent machines as people do it: PyTorch, psycopg2, tensors pickled into bytea rows.

psycopg_crowd.py coordinator URL IMAGES WIDTH THREADS UNITS UNIT_SIZE BATCH STEPS POLL
psycopg_crowd.py worker URL IMAGES WIDTH THREADS UNIT_SIZE BATCH POLL
psycopg_crowd.py alone IMAGES WIDTH THREADS UNIT_SIZE BATCH COUNT

IMAGES is the images.safetensors of a data set, held in memory; POLL scales the pauses below.
`alone` computes COUNT units without a database and prints the seconds of each.

Taken from GANNs-with-friends: the tables and who writes what when; a connection for each
transaction (its pool is off); torch.save of dictionaries by parameter name, f32, a row for each
network; all weights fetched for each unit; optimizer states stored after each step; units that
cover the whole data set created at each step, of which UNITS are waited for and the rest cancelled;
the coordinator counts results by fetching the units with their indices and G's gradients, every
2 s; a worker without a unit waits 5 s; heartbeats every 30 s; leases of 300 s by the worker's
clock. What a unit computes is torch_nn.as_source, with the statistics of BatchNorm left on the
worker.
Left out, and so not counted against it: ORM, image files (its data loader has 4 processes), the
evaluation and the samples of each step, the upload of checkpoints.
"""
import contextlib
import datetime
import io
import json
import os
import random
import socket
import sys
import time

import psycopg2
import torch
from safetensors.torch import load_file

import torch_nn
from common import answer, peak_bytes

COORDINATOR_POLL_S, WORKER_POLL_S, HEARTBEAT_S, LEASE_S = 2, 5, 30, 300
ACTIVE_S, LIST_S = 120, 10
SCHEMA = """
create table model_weights (id serial primary key, model_type varchar(50) not null,
  iteration int not null, weights_blob bytea not null, created_at timestamp);
create index on model_weights (iteration);
create table optimizer_state (id serial primary key, model_type varchar(50), iteration int,
  state_blob bytea, created_at timestamp);
create index on optimizer_state (iteration);
create table workers (id serial primary key, worker_id varchar(100) unique, hostname varchar(255),
  cpu_cores int, status varchar(20) default 'active', total_work_units int default 0,
  total_batches int default 0, total_images int default 0, last_heartbeat timestamp,
  created_at timestamp);
create table work_units (id serial primary key, iteration int, image_indices json,
  status varchar(20) default 'pending', worker_id varchar(100) references workers (worker_id),
  claimed_at timestamp, completed_at timestamp, timeout_at timestamp, num_batches int);
create index on work_units (iteration);
create index on work_units (status);
create table gradients (id serial primary key,
  worker_id varchar(100) references workers (worker_id), model_type varchar(50), iteration int,
  gradients_blob bytea, work_unit_id int references work_units (id), num_samples int,
  created_at timestamp);
create index on gradients (worker_id);
create index on gradients (iteration);
create table training_state (id int primary key, current_iteration int, training_active bool,
  updated_at timestamp);
create table loss_history (id serial primary key, iteration int unique, num_workers int,
  created_at timestamptz default clock_timestamp());
"""


def now():
    return datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)


def after(seconds):
    return now() + datetime.timedelta(seconds=seconds)


class Database:
    def __init__(self, url):
        self.url = url

    @contextlib.contextmanager
    def transaction(self):
        connection = psycopg2.connect(self.url)
        try:
            with connection, connection.cursor() as cursor:
                yield cursor
        finally:
            connection.close()

    def run(self, *statement):
        with self.transaction() as cursor:
            cursor.execute(*statement)
            return cursor.fetchall() if cursor.description else []


def packed(values):
    """A dictionary of tensors, or of an optimizer's state, as a parameter of a statement."""
    file = io.BytesIO()
    torch.save(values, file)
    return psycopg2.Binary(file.getvalue())


def unpacked(blob):
    return torch.load(io.BytesIO(bytes(blob)))


class Networks:
    def __init__(self, width, threads):
        torch.set_num_threads(int(threads))
        torch_nn.WIDTH = int(width)
        self.models = {"generator": torch_nn.generator().apply(torch_nn.first_values),
                       "discriminator": torch_nn.discriminator().apply(torch_nn.first_values)}

    def compute(self, images, indices, batch):
        """A unit: the gradients of both networks, averaged over its micro-batches."""
        g, d = self.models.values()
        for model in (g, d):
            model.zero_grad(set_to_none=False)
        order = random.sample(indices, len(indices))
        count = len(order) // batch
        for i in range(count):
            chosen = images[order[i * batch:(i + 1) * batch]]
            real = (chosen.permute(0, 3, 1, 2).float() / 255 - 0.5) / 0.5
            torch_nn.as_source(g, d, real, torch.randn(batch, torch_nn.LATENT, 1, 1))
        return {kind: {name: p.grad / count for name, p in model.named_parameters()}
                for kind, model in self.models.items()}, count


# ---- worker ---------------------------------------------------------------------------------

class Worker:
    def __init__(self, url, images, width, threads, unit_size, batch, poll):
        self.database, self.networks = Database(url), Networks(width, threads)
        self.images, self.batch = load_file(images)["images"], int(batch)
        self.unit_size, self.poll = int(unit_size), float(poll)
        self.name = f"{socket.gethostname()}_{os.urandom(4).hex()}"
        self.seen, self.computed, self.seconds = time.monotonic(), 0, 0.0

    def register(self):
        self.database.run("insert into workers (worker_id, hostname, cpu_cores, last_heartbeat, "
                          "created_at) values (%s, %s, %s, %s, %s)",
                          (self.name, socket.gethostname(), os.cpu_count(), now(), now()))

    def beat(self):
        if time.monotonic() - self.seen < HEARTBEAT_S:
            return
        with self.database.transaction() as cursor:
            cursor.execute("select * from workers where worker_id = %s", (self.name,))
            cursor.execute("update workers set last_heartbeat = %s, status = 'active' "
                           "where worker_id = %s", (now(), self.name))
        self.seen = time.monotonic()

    def claim(self):
        """(unit, iteration, indices), or None."""
        with self.database.transaction() as cursor:
            cursor.execute("select id, iteration, image_indices from work_units where status = "
                           "'pending' or (status = 'claimed' and timeout_at < %s) limit 1 "
                           "for update skip locked", (now(),))
            found = cursor.fetchone()
            if found:
                cursor.execute("update work_units set status = 'claimed', worker_id = %s, "
                               "claimed_at = %s, timeout_at = %s where id = %s",
                               (self.name, now(), after(LEASE_S), found[0]))
        return found

    def unit(self, unit, iteration, indices):
        for kind, model in self.networks.models.items():
            rows = self.database.run("select weights_blob from model_weights where model_type = %s "
                                     "and iteration = %s limit 1", (kind, iteration))
            model.load_state_dict(unpacked(rows[0][0]))
        begin = time.perf_counter()
        gradients, count = self.networks.compute(self.images, indices, self.batch)
        self.seconds += time.perf_counter() - begin
        for kind, values in gradients.items():
            self.database.run("insert into gradients (worker_id, model_type, iteration, "
                              "gradients_blob, work_unit_id, num_samples, created_at) "
                              "values (%s, %s, %s, %s, %s, %s, %s)",
                              (self.name, kind, iteration, packed(values), unit,
                               count * self.batch, now()))
        with self.database.transaction() as cursor:
            cursor.execute("select * from work_units where id = %s", (unit,))
            cursor.execute("update work_units set status = 'completed', completed_at = %s "
                           "where id = %s", (now(), unit))
        with self.database.transaction() as cursor:
            cursor.execute("select * from workers where worker_id = %s", (self.name,))
            cursor.execute("update workers set total_work_units = total_work_units + 1, "
                           "total_batches = total_batches + %s, total_images = total_images + %s "
                           "where worker_id = %s", (count, count * self.batch, self.name))
        self.computed += 1

    def loop(self):
        self.register()
        while True:
            self.beat()
            state = self.database.run("select * from training_state where id = 1")
            if not state[0][2]:
                break
            found = self.claim()
            if found:
                self.unit(*found)
            else:
                time.sleep(WORKER_POLL_S * self.poll)
        answer(computed=self.computed, compute_seconds=self.seconds, peak_bytes=peak_bytes())


# ---- coordinator ----------------------------------------------------------------------------

class Coordinator:
    def __init__(self, url, images, width, threads, units, unit_size, batch, steps, poll):
        self.database, self.networks = Database(url), Networks(width, threads)
        self.count = len(load_file(images)["images"])
        self.units, self.unit_size, self.batch = int(units), int(unit_size), int(batch)
        self.steps, self.poll = int(steps), float(poll)
        self.optimizers = {kind: torch.optim.Adam(model.parameters(), lr=2e-4, betas=(0.5, 0.999))
                           for kind, model in self.networks.models.items()}
        self.listed = time.monotonic()

    def save(self, iteration):
        for kind, model in self.networks.models.items():
            self.database.run("insert into model_weights (model_type, iteration, weights_blob, "
                              "created_at) values (%s, %s, %s, %s)",
                              (kind, iteration, packed(model.state_dict()), now()))
            self.database.run("insert into optimizer_state (model_type, iteration, state_blob, "
                              "created_at) values (%s, %s, %s, %s)",
                              (kind, iteration, packed(self.optimizers[kind].state_dict()), now()))

    def create_units(self, iteration):
        with self.database.transaction() as cursor:
            for first in range(0, self.count - self.unit_size + 1, self.unit_size):
                indices = list(range(first, first + self.unit_size))
                cursor.execute("insert into work_units (iteration, image_indices, status, "
                               "num_batches) values (%s, %s, 'pending', %s) returning id",
                               (iteration, json.dumps(indices), self.unit_size // self.batch))

    def active_workers(self):
        return self.database.run("select * from workers where last_heartbeat > %s",
                                 (after(-ACTIVE_S),))

    def wait(self, iteration):
        while True:
            units = self.database.run("select * from work_units where iteration = %s", (iteration,))
            results = self.database.run("select * from gradients where iteration = %s and "
                                        "model_type = 'generator'", (iteration,))
            if len(results) >= self.units or all(unit[3] == "completed" for unit in units):
                return
            if time.monotonic() - self.listed >= LIST_S:
                self.active_workers()
                self.listed = time.monotonic()
            time.sleep(COORDINATOR_POLL_S * self.poll)

    def step(self, iteration):
        """Sums what there is. A unit's two gradients are two transactions: the second may be late,
        and is then missing or, if there is no other, that network does not step."""
        for kind, model in self.networks.models.items():
            rows = self.database.run("select gradients_blob, num_samples from gradients where "
                                     "iteration = %s and model_type = %s", (iteration, kind))
            total = sum(samples for _, samples in rows)
            results = [(unpacked(blob), samples / total) for blob, samples in rows]
            if results:
                for name, parameter in model.named_parameters():
                    parameter.grad = sum(values[name] * share for values, share in results)
                self.optimizers[kind].step()

    def finish(self, iteration):
        self.save(iteration + 1)
        self.database.run("delete from gradients where iteration = %s", (iteration,))
        self.database.run("update work_units set status = 'cancelled' where iteration = %s and "
                          "status in ('pending', 'claimed')", (iteration,))
        self.database.run("insert into loss_history (iteration, num_workers) values (%s, %s)",
                          (iteration, len(self.active_workers())))
        self.database.run("update training_state set current_iteration = %s, updated_at = %s "
                          "where id = 1", (iteration + 1, now()))
        self.active_workers()

    def loop(self):
        self.database.run(SCHEMA)
        self.save(0)
        self.database.run("insert into training_state values (1, 0, true, %s)", (now(),))
        for iteration in range(self.steps):
            self.create_units(iteration)
            self.wait(iteration)
            self.step(iteration)
            self.finish(iteration)
        self.database.run("update training_state set training_active = false")
        answer(peak_bytes=peak_bytes(), torch=torch.__version__,
               psycopg2=psycopg2.__version__.split()[0])


def alone(images, width, threads, unit_size, batch, count):
    networks, pixels, took = Networks(width, threads), load_file(images)["images"], []
    indices = list(range(int(unit_size)))
    networks.compute(pixels, indices[:int(batch)], int(batch))  # not counted
    for _ in range(int(count)):
        begin = time.perf_counter()
        networks.compute(pixels, indices, int(batch))
        took.append(time.perf_counter() - begin)
    answer(unit_seconds=took)


if __name__ == "__main__":
    if sys.argv[1] == "alone":
        alone(*sys.argv[2:])
    else:
        {"coordinator": Coordinator, "worker": Worker}[sys.argv[1]](*sys.argv[2:]).loop()
