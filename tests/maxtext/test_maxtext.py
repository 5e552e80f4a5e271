"""MaxText's own trainer on leat's batches: a tiny decoder trains on probe rows, is killed twice and
goes on with the same batches and the same losses, on one process and on two.

Runs the real MaxText in the environment of scripts/maxtext-env.sh, which makes it if it can; else
all is skipped.
"""
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("LEAT_BUILD", os.path.join(ROOT, "build"))
LEAT = os.environ.get("LEAT", os.path.join(BUILD, "leat"))
ENVIRONMENT = os.path.join(ROOT, "scripts", "maxtext-env.sh")
REAL = os.path.join(ROOT, "..", "shared", "data", "latency", "atlas_builtin_masked.parquet")
EXAMPLE = os.path.join(ROOT, "examples", "python", "train_maxtext.py")
STEPS = 8


def example():
    """The module of the example, whose settings all runs here have."""
    spec = importlib.util.spec_from_file_location("train_maxtext", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TINY, ALONE = example().SETTINGS, example().ONE_PROCESS
assert f"steps={STEPS}" in TINY


def wait_for(processes):
    """Their exit states. Where one fails, another may wait for it for ever: it is ended, once it
    had time to come to its own end. The other limit only ends what hangs."""
    end = time.monotonic() + 1200
    while any(process.poll() is None for process in processes):
        if any(process.poll() for process in processes):
            end = min(end, time.monotonic() + 120)
        if time.monotonic() > end:
            for process in processes:
                process.kill()  # and, with it, all in its namespace
        time.sleep(0.1)
    return [process.returncode for process in processes]


class Run:
    """What one run of the trainer (of one or more processes) did."""

    def __init__(self, folder, name, *settings, die_at=-1, processes=1, devices=1, launcher=None,
                 config=(), program=None):
        if program is None:
            program = ["-m", launcher] if launcher else [f"{folder}/probe.py", str(die_at)]
        out = os.path.join(folder, name)
        os.makedirs(out, exist_ok=True)
        words = [*TINY, f"base_output_directory={out}", f"jax_cache_dir={folder}/jax_cache",
                 f"metrics_file={out}/metrics.jsonl", f"network_train_files={folder}/probes"]
        if processes == 1:
            words += ALONE
        else:
            words += ["skip_jax_distributed_system=False",
                      f"per_device_batch_size={4 // processes}"]
        words += settings
        base = {"DECOUPLE_GCLOUD": "TRUE", "JAX_PLATFORMS": "cpu", "HF_HUB_OFFLINE": "1",
                "PYTHONPATH": f"{folder}/package"}
        if processes > 1:
            base.update({"JOB_INDEX": "0", "PROCESSES_IN_JOB": str(processes),
                         "JAX_PROCESS_COUNT": str(processes),
                         "JAX_COORDINATOR_ADDRESS": "127.0.0.1"})
        started, logs = [], []
        for index in range(processes):
            logs.append(tempfile.TemporaryFile("w+", dir=folder, errors="replace"))
            one = {**base, **({"JOB_COMPLETION_INDEX": str(index)} if processes > 1 else {})}
            extra = [f"XLA_FLAGS=--xla_force_host_platform_device_count={devices}"]
            started.append(subprocess.Popen(
                # a shell in between: the first process of a namespace cannot be killed from inside
                [ENVIRONMENT, "env", *extra, *(f"{key}={one[key]}" for key in one), "sh", "-c",
                 '"$@"; exit $?', "sh", "python", *program, *config, *words], cwd=folder,
                stdout=logs[-1], stderr=subprocess.STDOUT))
        self.status = wait_for(started)
        self.texts = []
        for log in logs:
            with log:
                log.seek(0)
                self.texts.append(log.read())
        self.restored, self.rows = [], {"train": {}, "eval": {}}
        self.eval_rows = []
        for text in self.texts:
            for line in text.splitlines():
                self._read(line.split())
        self.losses = {}
        path = os.path.join(out, "metrics.jsonl")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                for found in map(json.loads, file):
                    if "learning/loss" in found:
                        self.losses[found["step"]] = found["learning/loss"]

    def _read(self, words):
        if words[:2] == ["probe:", "restored"]:
            self.restored.append(int(words[2]))
        elif words[:1] == ["probe:"]:
            kind, step, row, digest = words[1], int(words[2]), int(words[3]), words[4]
            if kind == "eval":
                self.eval_rows.append((step, row, digest))
            assert self.rows[kind].setdefault((step, row), digest) == digest

    def __str__(self):
        return "\n".join("\n".join(text.splitlines()[-30:]) for text in self.texts)


class MaxText(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="leat-maxtext-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        shutil.copytree(os.path.join(BUILD, "python"), os.path.join(cls.folder, "package"))
        shutil.copy(os.path.join(ROOT, "tests", "maxtext", "probe.py"), cls.folder)
        shutil.copy(EXAMPLE, cls.folder)
        source = REAL
        if not os.path.exists(source):
            source = os.path.join(cls.folder, "probes.csv")
            subprocess.run([LEAT, "synth", "probes", "-n", "40000", "-p", "300", "--seed", "1",
                            "-o", source], check=True, capture_output=True)
        subprocess.run([LEAT, "ingest", "probes", source, "-o",
                        os.path.join(cls.folder, "probes")], check=True, capture_output=True)
        cls.whole = Run(cls.folder, "whole")
        cls.losses_one = cls.whole.losses

    def good(self, run, status=0):
        self.assertEqual(run.status, [status] * len(run.status), str(run))
        return run

    def test_batches_are_the_loaders(self):
        """What the trainer is given is what leat.Loader makes of the same settings: in the system's
        Python, by `leat batches`."""
        self.good(self.whole)
        done = subprocess.run([LEAT, "batches", os.path.join(self.folder, "probes"), "--length",
                               "128", "--batch", "4", "--seed", "5", "--steps", f"0:{STEPS}",
                               "--hash=rows"], check=True, capture_output=True, text=True)
        wanted = {(int(step), int(row)): digest for step, row, digest in
                  (line.split() for line in done.stdout.splitlines())}
        self.assertEqual(self.whole.rows["train"], wanted)
        self.assertEqual(sorted(self.whole.losses), list(range(STEPS)))
        self.assertLess(self.whole.losses[STEPS - 1], self.whole.losses[0])

    def test_the_example(self):
        """examples/python/train_maxtext.py by itself: the same losses."""
        words = [f"{self.folder}/{name}" for name in ("train_maxtext.py", "probes", "example")]
        run = self.good(Run(self.folder, "example", program=words))
        self.assertEqual(run.losses, self.whole.losses)

    def test_killed_twice(self):
        cut = [Run(self.folder, "cut", die_at=4), Run(self.folder, "cut", die_at=6),
               Run(self.folder, "cut")]
        self.assertEqual([run.restored for run in cut], [[], [3], [5]], "\n".join(map(str, cut)))
        self.assertEqual([run.status[0] == 0 for run in cut], [False, False, True])
        found = {}
        for run in cut:
            for place, digest in run.rows["train"].items():
                self.assertEqual(found.setdefault(place, digest), digest)
        self.assertEqual(found, self.whole.rows["train"])
        self.assertEqual(cut[-1].losses, self.whole.losses)

    def test_two_processes_and_back_to_one(self):
        """Two processes, killed twice, give what two processes give uninterrupted; and what they
        saved goes on in one process. All with the batches of one process."""
        whole = self.good(Run(self.folder, "two-whole", processes=2))
        self.assertEqual(whole.rows["train"], self.whole.rows["train"])
        cut = [Run(self.folder, "two-cut", processes=2, die_at=4),
               Run(self.folder, "two-cut", processes=2, die_at=6)]
        shutil.copytree(os.path.join(self.folder, "two-cut"), os.path.join(self.folder, "two-one"))
        cut.append(self.good(Run(self.folder, "two-cut", processes=2)))
        self.assertEqual([run.restored for run in cut], [[], [3, 3], [5, 5]])
        self.assertEqual(cut[-1].losses, whole.losses)
        one = self.good(Run(self.folder, "two-one", devices=2, processes=1,
                            *["per_device_batch_size=2"]))
        self.assertEqual(one.restored, [5])
        for run in (*cut, one):
            for place, digest in run.rows["train"].items():
                self.assertEqual(digest, self.whole.rows["train"][place])
        for step, loss in one.losses.items():
            self.assertAlmostEqual(loss, whole.losses[step], places=4)

    def test_evaluation_is_one_finite_epoch(self):
        config = os.path.join(self.folder, "config.yml")
        with open(config, "w", encoding="utf-8") as file:
            file.write("base_config: base.yml\neval_interval: 4\neval_steps: -1\n"
                       "dataset_type: network\ngrain_debug_mode: true\n"
                       f"network_eval_files: {self.folder}/probes\n"
                       f"grain_visualization_dir: {self.folder}/seen\n")
        run = self.good(Run(self.folder, "eval", "steps=5", config=[config]))
        done = subprocess.run([LEAT, "batches", os.path.join(self.folder, "probes"), "--split",
                               "test", "--length", "128", "--batch", "4", "--seed", "5",
                               "--epochs", "1", "--hash=rows"], check=True, capture_output=True,
                              text=True)
        one_pass = [(int(step), int(row), digest) for step, row, digest in
                    (line.split() for line in done.stdout.splitlines())]
        passes, rest = divmod(len(run.eval_rows), len(one_pass))
        self.assertEqual((rest, passes > 0), (0, True))
        self.assertEqual(run.eval_rows, one_pass * passes)
        self.assertEqual(len([line for line in run.texts[0].splitlines()
                              if line.startswith("leat: step ")]), 4 * 5 + len(run.eval_rows))
        for name in ("train", "eval"):
            self.assertTrue(os.path.exists(f"{self.folder}/seen/{name}.html"))
            with open(f"{self.folder}/seen/{name}-rows.html", encoding="utf-8") as file:
                page = file.read()
            self.assertIn("step 0 row 3: sequence 3", page)
            self.assertIn("measurement", page)

    def test_a_loader_that_fails_ends_with_status_1(self):
        path = os.path.join(self.folder, "broken")
        shutil.copytree(os.path.join(self.folder, "probes"), path)
        shard = next(os.path.join(folder, name) for folder, _, names in os.walk(path + "/train")
                     for name in names)
        size = os.path.getsize(shard)
        with open(shard, "r+b") as file:  # all but the first block and the index
            file.seek(4096)
            file.write(b"\xff" * min(60000, size - 3 * 65536))
        run = Run(self.folder, "failed", f"network_train_files={path}", "steps=40")
        self.assertEqual(run.status, [1], str(run))
        self.assertIn("leat.maxtext: training stopped: ", run.texts[0])
        self.assertIn(".arrayrecord", run.texts[0])

    def test_the_patch(self):
        """MaxText with docs/maxtext-network.patch knows the dataset type itself: no launcher."""
        root = os.path.join(ROOT, ".deps", "maxtext", "root", "maxtext", "lib")
        found, = (os.path.join(root, name, "site-packages", "maxtext") for name in os.listdir(root))
        patched = os.path.join(self.folder, "package", "maxtext")
        shutil.copytree(found, patched, ignore=shutil.ignore_patterns("__pycache__"))
        try:
            with open(os.path.join(ROOT, "docs", "maxtext-network.patch"), "rb") as file:
                done = subprocess.run(["patch", "-p2", "-s"], stdin=file, capture_output=True,
                                      text=True, cwd=os.path.dirname(patched), check=False)
            self.assertEqual((done.returncode, done.stdout), (0, ""))
            trainer = "maxtext.trainers.pre_train.train"
            self.good(Run(self.folder, "patched", "steps=4", launcher=trainer))
            again = self.good(Run(self.folder, "patched", launcher=trainer))
        finally:
            shutil.rmtree(patched)
        self.assertEqual(again.losses, self.whole.losses)


if __name__ == "__main__":
    made = subprocess.run([ENVIRONMENT], cwd=ROOT, capture_output=True, text=True, check=False)
    if made.returncode:
        print("skipped:", (made.stdout + made.stderr).strip().split("\n")[-1])
        sys.exit(77 if made.returncode == 77 else 1)
    unittest.main()
