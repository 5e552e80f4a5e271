"""Runs of the DCGAN in eight configurations, and what a user sees of them: hashes, results of
units, metrics, weights and printed numbers, as tests/golden/train/dcgan.json has them. They are the
command's (LEAT, default: build/leat); nothing of its insides is called.

    scripts/oracle-python.sh tests/train/dcgan_runs.py --record

writes that file from the command as it is: tests/golden/train/README.md says when.
"""
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
import unittest

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path += [os.path.join(TESTS, "cli"), os.path.join(TESTS, "crowd")]
import image_set  # pylint: disable=wrong-import-position
import pages  # pylint: disable=wrong-import-position
from command import leat  # pylint: disable=wrong-import-position
from runs import Command  # pylint: disable=wrong-import-position
from server import Server, find_server  # pylint: disable=wrong-import-position

RECORD = os.path.join(TESTS, "golden", "train", "dcgan.json")
STEPS = (1, 7, 50)  # a run ends at each of them, and is resumed; the gate ends at LISTED
LISTED = 7  # until this step, lines and numbers are in the record; those of all steps by their hash
PAYLOAD_STEPS = 2
IMAGES = 64

COMMON = {"seed": 0, "schedule": "simultaneous", "units": 1, "codec-up": "f32", "codec-down": "f32",
          "learning-rate": 0.0002, "beta1": 0.5, "beta2": 0.999, "checkpoint-every": 0,
          "checkpoint-minutes": 0, "keep": 3, "sample-every": 0}
RUNS = {
    "plain": {"width": 8, "latent": 16, "unit-size": 16, "micro-batch": 8, "threads": 1,
              "sample-every": 50},
    "wide": {"width": 16, "latent": 100, "unit-size": 8, "micro-batch": 8, "threads": 3},
    "alternating": {"width": 4, "latent": 8, "unit-size": 12, "micro-batch": 4, "threads": 2,
                    "schedule": "alternating", "units": 2, "codec-up": "bf16", "beta1": 0.4},
    "bf16": {"width": 4, "latent": 16, "unit-size": 8, "micro-batch": 8, "threads": 2, "units": 3,
             "codec-up": "bf16", "codec-down": "bf16"},
    "int8": {"width": 8, "latent": 16, "unit-size": 8, "micro-batch": 4, "threads": 3, "units": 2,
             "codec-up": "int8", "seed": 7, "learning-rate": 0.001},
    "rewind": {"width": 4, "latent": 8, "unit-size": 10, "micro-batch": 5, "threads": 1, "units": 2,
               "codec-down": "bf16", "beta2": 0.99},
    "init": {"width": 8, "latent": 16, "unit-size": 8, "micro-batch": 8, "threads": 2, "seed": 3,
             "codec-up": "bf16", "init": f"plain/checkpoints/step-{LISTED:09d}.safetensors"},
    "crowd": {"width": 4, "latent": 16, "unit-size": 8, "micro-batch": 4, "threads": 1, "units": 3,
              "codec-up": "int8", "codec-down": "bf16"},
}
AFTER = {"init": "plain"}  # a run that needs another
# What depends on the machine, the moment or the version, in documents and in lines of metrics.
VARIES = {"leat", "leat_version", "seconds", "step_seconds", "images_per_second", "connections",
          "memory_peak_bytes", "database_bytes", "units_counted", "units_computed_here",
          "coordinated", "coordinator", "workers", "events", "ledger"}
IN_LINES = re.compile(r',"(?:seconds|memory_peak_bytes)":[^,}]*')


def digest(data):
    return hashlib.sha256(data).hexdigest()


def read(*names):
    with open(os.path.join(*names), "rb") as file:
        return file.read()


def lasting(document):
    """A JSON document without what varies."""
    if isinstance(document, dict):
        return {name: lasting(value) for name, value in document.items() if name not in VARIES}
    return [lasting(value) for value in document] if isinstance(document, list) else document


def picture(path):
    """The hash of a PNG's lines as they were before compression, which is zlib's."""
    data, at, packed = read(path), 8, b""
    while at < len(data):
        size = int.from_bytes(data[at:at + 4], "big")
        packed += data[at + 8:at + 8 + size] if data[at + 4:at + 8] == b"IDAT" else b""
        at += size + 12
    return digest(pages.zlib.decompress(packed))


def report(run):
    """The numbers of a run's page: all words of it that have a digit, and what its figures show;
    not who computed how much of it, which the run does not decide."""
    text = read(run, "report.html").decode()
    tables = {name: data.decode().splitlines() for name, data in pages.files(text).items()
              if name.endswith(".csv") and name != "time.csv"}
    text = re.sub(r"<style>.*?</style>|<svg.*?</svg>|<h2>Who computed it</h2>.*?</div>", "", text,
                  flags=re.S)
    words = [" ".join(of.split()) for of in pages.Page(pages.PICTURE.sub("", text)).texts]
    words = [of for of in words if of]
    return {"words": [of for before, of in zip(["", *words], words) if re.search(r"\d", of)
                      and not before.startswith("seconds per step") and not of.startswith("leat ")],
            "tables": tables}


def tree(folder):
    return sorted(os.path.relpath(os.path.join(at, name), folder)
                  for at, _, names in os.walk(folder) for name in names)


def differences(want, got, at):
    """Where two documents differ, in words."""
    if isinstance(want, dict) and isinstance(got, dict):
        return [of for key in {**want, **got} for of in differences(
            want.get(key, "nothing"), got.get(key, "nothing"), f"{at}.{key}")]
    if isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        return [of for i, (one, other) in enumerate(zip(want, got))
                for of in differences(one, other, f"{at}[{i}]")]
    return [] if want == got else [f"{at}: {got!r}, recorded: {want!r}"]


class Lab:
    """The runs in a folder, each made when it is first asked for, and a database server."""

    def __init__(self, steps):
        self.steps, self.made, self.server = steps, {}, None
        self.top, self.here = os.path.realpath(tempfile.mkdtemp(prefix="leat-")), os.getcwd()
        os.chdir(self.top)  # so that names of files are the same wherever it runs
        image_set.make("faces", IMAGES, 64)

    def close(self):
        if self.server:
            self.server.stop()
        os.chdir(self.here)
        shutil.rmtree(self.top)

    @staticmethod
    def has_server():
        built = "built without libpq" not in leat("doctor", "--db", "postgresql://x@127.0.0.1:1/x"
                                                  ).stderr
        return built and find_server() is not None

    def database(self):
        self.server = self.server or Server()
        return self.server.database()

    def facts(self, name):
        """What is recorded of a run."""
        if name not in self.made:
            if name in AFTER:
                self.facts(AFTER[name])
            facts = self.crowd(name) if name == "crowd" else self.train(name)
            self.made[name] = json.loads(json.dumps(facts).replace(self.top, "TOP"))
        return self.made[name]

    @staticmethod
    def words(name, **more):
        return [str(word) for option, value in {**COMMON, **RUNS[name], **more}.items()
                for word in (f"--{option}", value)]

    def train(self, name):
        facts = {}
        for step in self.steps:
            words = self.words(name) if step == STEPS[0] else ["--resume"]
            done = leat("train", "dcgan", "faces", "-o", name, "--steps", step, *words, "--json",
                        status=0)
            if name == "rewind" and step == LISTED:
                done = leat("train", "dcgan", "faces", "-o", name, "--resume", "--rewind", STEPS[0],
                            "--json", status=0)
                facts["rewound"] = tree(f"{name}/rewound-{STEPS[0]}")
            self.measure(facts, name, step, json.loads(done.stdout))
        return facts

    def crowd(self, name):
        facts, database = {}, self.database()
        for step in self.steps:
            more = [] if step == STEPS[0] else ["--resume"]
            words = ["--steps", step, *self.words(name), *more]
            self.measure(facts, name, step, self.together(name, database, 2, *words))
            status = leat("status", "--db", self.server.url(database), "--json", status=0).stdout
            if step == LISTED:
                facts["status"] = lasting(json.loads(status))
        return facts

    def together(self, run, database, machines, *words):
        """A run's steps by a coordinator and workers; what the first prints."""
        url = self.server.url(database)
        with Command("coordinate", run, "--db", url, "--data", "faces", "--poll-ms", "5", "--json",
                     *words) as coordinator:
            coordinator.until("is open at step ")
            workers = [Command("work", self.server.url(database, "ann"), "--data", "faces", "--key",
                               f"{number}.key", "--threads", "1", "--poll-ms", "20",
                               "--on-battery", "work") for number in range(machines)]
            try:
                return json.loads(coordinator.end())
            finally:
                for worker in workers:
                    worker.kill()

    @staticmethod
    def measure(facts, run, step, printed):
        """Adds to the facts of a run what is there after a step."""
        lines = [IN_LINES.sub("", line) for line in
                 read(run, "metrics.jsonl").decode().splitlines(True)]
        page = report(run)
        after = facts.setdefault("after", {})[str(step)] = {
            "state": printed["state"],
            "checkpoint": digest(read(run, "checkpoints", f"step-{step:09d}.safetensors")),
            "metrics": digest("".join(lines).encode()),
            "page": digest(json.dumps(page).encode()),
        }
        grid = f"{run}/samples/step-{step:09d}.png"
        if os.path.exists(grid):
            after["grid"] = picture(grid)
        if step < LISTED:
            return
        leat("export", run, "-o", f"{run}-{step}", status=0)
        after.update({"generator": digest(read(f"{run}-{step}", "generator.safetensors")),
                      "discriminator": digest(read(f"{run}-{step}", "discriminator.safetensors")),
                      "samples": picture(f"{run}-{step}/samples.png")})
        if step == LISTED:
            inspected = lasting(json.loads(leat("inspect", run, "--json", status=0).stdout))
            facts.update({"run": printed["run_hash"], "printed": lasting(printed), "lines": lines,
                          "page": page, "inspected": inspected,
                          "training": lasting(json.loads(read(run, "training.json"))),
                          "config": read(run, "config.yaml").decode().splitlines(),
                          "exported": lasting(json.loads(read(f"{run}-{step}", "config.json")))})

    def payloads(self, name):
        """[step, unit, hash] of the results from which a run's first steps were made, as a ledger
        has them; none where many machines cannot train so."""
        run = f"{name}-payloads"
        words = ["--steps", PAYLOAD_STEPS, *self.words(name, **{"sample-every": 0})]
        if RUNS[name].get("schedule") == "alternating":
            done = leat("coordinate", run, "--db", self.server.url(self.database()), "--data",
                        "faces", *words, status=2)
            assert "--schedule simultaneous" in done.stderr, done.stderr
            return []
        self.facts(name)
        if name != "crowd":
            self.together(run, self.database(), 1, *words)
        lines = [json.loads(line) for line in read(name if name == "crowd" else run, "ledger.jsonl"
                                                   ).splitlines()]
        states = [line["state"] for line in lines if line["kind"] == "step"]
        assert states[0] == self.facts(name)["after"]["1"]["state"], name
        return [[line["step"], line["unit"], line["hash"]] for line in lines
                if line["kind"] == "unit" and line["step"] <= PAYLOAD_STEPS]

    def everything(self, name):
        return {"words": " ".join(self.words(name)), **self.facts(name),
                "payloads": self.payloads(name)}


class Golden(unittest.TestCase):
    """Runs to the last of `steps` are those of the record; for a test program of its own."""
    steps, lab, wanted = STEPS, None, None

    @classmethod
    def setUpClass(cls):
        cls.lab, cls.wanted = Lab(cls.steps), json.loads(read(RECORD))
        cls.addClassCleanup(cls.lab.close)

    def compare(self, wanted, facts, name):
        found = differences(wanted, facts, name)
        if found:
            self.fail("\n".join([f"{len(found)} differences", *found[:40]]))

    def expect(self, name, facts):
        """These facts of a run are those of the record."""
        self.compare({key: self.wanted[name].get(key, "nothing") for key in facts}, facts, name)

    def check_run(self, name):
        facts, wanted = self.lab.facts(name), self.wanted[name]
        self.assertEqual(" ".join(self.lab.words(name)), wanted["words"])
        self.assertEqual({"words", "payloads", *facts}, set(wanted))
        self.assertEqual(list(facts["after"]), [str(step) for step in self.steps])
        self.compare({step: wanted["after"][step] for step in facts["after"]}, facts["after"],
                     f"{name}.after")
        self.expect(name, {key: value for key, value in facts.items() if key != "after"})


def record():
    lab = Lab(STEPS)
    try:
        document = {name: lab.everything(name) for name in RUNS}
    finally:
        lab.close()
    with open(RECORD, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    if sys.argv[1:] != ["--record"]:
        sys.exit(__doc__)
    record()
