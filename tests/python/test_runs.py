"""leat.train and leat.Run: as the command, with arrays."""
import json
import os
import pickle
import select
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
import unittest
import warnings
from unittest import mock

import support

support.need("numpy")

import numpy as np  # noqa: E402

import leat  # noqa: E402

SETTINGS = {"width": 4, "latent": 8, "unit_size": 8, "micro_batch": 8, "checkpoint_every": 4,
            "sample_every": 5}


def data():
    return support.image_data(count=40, size=64)


def place(name):
    path = os.path.join(support.folder(), name)
    shutil.rmtree(path, ignore_errors=True)
    return path


class Names(unittest.TestCase):
    def test_measures_are_not_hidden(self):
        """A model's row is refused if one of its numbers has the name of another attribute
        (src/train/run/task.c)."""
        with open(os.path.join(support.ROOT, "src", "train", "run", "task.c"),
                  encoding="utf-8") as file:
            text = file.read()
        refused = {word for name in ("fixed", "attributes")
                   for word in text.partition(f"{name}[] =")[2].partition(";")[0].replace(
                       '"', "").split()}
        for tuple_of in (leat.Checkpoint, leat.Metrics):
            public = {name for name in dir(tuple_of) if not name.startswith("_")}
            self.assertLessEqual(public, refused)


class Train(unittest.TestCase):
    def test_equals_the_command(self):
        run = leat.train(leat.ImageDataset(data()), place("a"), steps=6, seed=3, **SETTINGS)
        words = [f"--{name.replace('_', '-')}={value}" for name, value in SETTINGS.items()]
        answer = json.loads(support.run("train", "dcgan", data(), "-o", place("b"), "--json",
                                        "--steps", "6", "--seed", "3", *words))
        last = run.checkpoints[-1]
        self.assertEqual(last.state, answer["state"])
        self.assertEqual((last.score, last.deviation), (answer["score"], answer["deviation"]))
        self.assertEqual(list(last.measures), list(run.metrics().measures))
        with self.assertRaisesRegex(AttributeError, "no measure 'loss'; there are score, dev"):
            last.loss  # pylint: disable=pointless-statement
        self.assertEqual(run.run, answer["run_hash"])
        self.assertTrue(os.path.exists(os.path.join(run.path, "report.html")))

    def test_a_detector(self):
        cache = support.can_cache("--val-split=random", frames=20000, vehicles=1)
        run = leat.train(leat.CanDataset(cache), place("d"), model="gat", steps=3)
        answer = json.loads(support.run("train", "gat", cache, "-o", place("e"), "--json",
                                        "--steps", "3"))
        last = run.checkpoints[-1]
        self.assertEqual((last.state, last.val_auroc), (answer["state"], answer["val_auroc"]))
        self.assertEqual(list(run.metrics().measures), ["val_auroc", "val_loss"])

    def test_options_by_name(self):
        with self.assertRaisesRegex(leat.errors.OptionError, "--widht"):
            leat.train(data(), place("c"), steps=2, widht=4)
        with self.assertRaisesRegex(leat.errors.OptionError, "beta1.*from 0 to below 1"):
            leat.train(data(), place("c"), steps=2, beta1=1.0)
        with self.assertRaisesRegex(leat.errors.OptionError, "micro-batch"):
            leat.train(data(), place("c"), steps=2, width=4, unit_size=10, micro_batch=8)
        with self.assertRaisesRegex(leat.LeatError, "no/such"):
            leat.train("no/such", place("c"), steps=2)
        self.assertFalse(os.path.exists(os.path.join(support.folder(), "c")))

    def test_resume_needs_to_be_asked_for(self):
        path = place("d")
        leat.train(data(), path, steps=3, **SETTINGS)
        with self.assertRaisesRegex(leat.LeatError, "resume"):
            leat.train(data(), path, steps=5, **SETTINGS)
        with self.assertRaisesRegex(leat.errors.OptionError, "--replace is for --export"):
            leat.train(data(), path, steps=5, resume=True, replace=True)
        run = leat.train(data(), path, steps=5, resume=True, replace=False)
        self.assertEqual(run.checkpoints[-1].step, 5)
        whole = leat.train(data(), place("e"), steps=5, **SETTINGS)
        self.assertEqual(run.checkpoints[-1].state, whole.checkpoints[-1].state)

    def test_interrupt_saves(self):
        path = place("f")
        code = textwrap.dedent(f"""
            import leat
            leat.train({data()!r}, {path!r}, steps=1000000, progress=True, **{SETTINGS!r})
        """)
        # a shell ignores it for what runs in the background, and so would the program
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE) as process:
            until, shown = time.monotonic() + 120, b""
            while b"D loss" not in shown:  # of the progress line: it has taken a step
                said = select.select([process.stderr], [], [],
                                     max(0, until - time.monotonic()))[0] and \
                    os.read(process.stderr.fileno(), 4096)
                if not said:
                    process.kill()
                    self.fail(f"it ended, or 120 s passed, before its progress line: {shown}")
                shown += said
            process.send_signal(signal.SIGINT)
            _, more = process.communicate(timeout=120)
        self.assertIn(b"KeyboardInterrupt", shown + more)
        run = leat.Run(path)
        self.assertEqual(run.checkpoints[-1].step, run.metrics().step[-1])


class Scores(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cache = support.can_cache("--val-split=random", frames=20000, vehicles=1)
        cls.runs = {model: leat.train(cls.cache, place(model), model=model, steps=2)
                    for model in ("vgae", "gat")}

    def scored(self, model, *words, **options):
        with warnings.catch_warnings():  # of few validation windows
            warnings.simplefilter("ignore")
            return self.runs[model].score(*(words or (self.cache,)), **options)

    def commands(self, model, *words):
        """{split: what leat eval says of the run}."""
        answer = json.loads(support.run("eval", self.runs[model].path, self.cache, "--json",
                                        "--replicates=0", *words))
        return {each["split"]: each["results"][0] for each in answer["splits"]}

    def check_threshold(self, found, result):
        self.assertEqual(
            (found.threshold.value, found.threshold.rule, found.threshold.split,
             found.threshold.benign, found.threshold.attacks, found.threshold.exceeding),
            tuple(result["threshold" + name] for name in (
                "", "_rule", "_split", "_benign_windows", "_attack_windows", "_exceeding")))
        self.assertEqual(found.alarms.sum(), result["true_positives"] + result["false_positives"])
        self.assertEqual(found.alarms[found.label == 0].sum(), result["false_positives"])
        self.assertEqual(found.score_name, result["score"])

    def test_equal_those_of_the_command(self):
        for model, split, score in (("vgae", "test_01_dos", "residual"),
                                            ("vgae", "train", "difficulty"),
                                            ("gat", "test_03_replay", "residual")):
            found = self.scored(model, leat.CanDataset(self.cache), split, score=score)[split]
            path = os.path.join(support.folder(), f"{model}-{split}.json")
            support.run("eval", self.runs[model].path, self.cache, "--split", split, "--score",
                        score, "--scores", path)
            with open(path, encoding="utf-8") as file:
                written = json.load(file)
            for name in ("score", "capture", "window_start"):
                self.assertEqual(getattr(found, name).tolist(), written[name])
            self.assertEqual([found.score_name, found.step, found.state],
                             [written[name] for name in ("score_name", "step", "state")])
            self.assertEqual([graph.facts.y for graph in leat.CanDataset(self.cache)[split]],
                             found.label.tolist())
            self.check_threshold(found, self.commands(model, "--split", split, "--score",
                                                      score)[split])

    def test_all_tests_and_any_threads(self):
        results = self.commands("vgae", "--threshold=f1")
        found = [self.scored("vgae", threshold="f1", threads=threads) for threads in (1, 3)]
        self.assertEqual([list(each) for each in found], [list(results)] * 2)
        self.assertGreater(len(results), 1)
        for split, result in results.items():
            one, other = (each[split] for each in found)
            self.assertEqual(one.score.tobytes(), other.score.tobytes())
            self.assertEqual((one.score.dtype, one.label.dtype, one.capture.dtype,
                              one.window_start.dtype),
                             (np.float64, np.int32, np.int32, np.int64))
            self.check_threshold(one, result)
            self.assertEqual(one.threshold.f1, other.threshold.f1)
            self.assertTrue(np.isnan(one.threshold.target_fpr))

    def test_refused(self):
        for model, words, kind, text in (
                ("vgae", {"split": "test_9"}, leat.errors.OptionError, "test_01_dos"),
                ("vgae", {"split": ""}, leat.errors.OptionError, "split"),
                ("vgae", {"score": "best"}, leat.errors.OptionError, "residual, reference"),
                ("vgae", {"threads": 0}, leat.errors.OptionError, "threads"),
                ("vgae", {"target_fpr": 1}, leat.errors.OptionError, "target-fpr"),
                ("vgae", {"step": 1 << 64}, leat.errors.OptionError, "step"),
                ("vgae", {"step": 7}, leat.errors.OptionError, "step"),
                ("gat", {"score": "difficulty"}, leat.errors.OptionError, "of a GAT")):
            with self.subTest(**words), self.assertRaisesRegex(kind, text):
                self.scored(model, **words)
        with self.assertRaises(TypeError):
            self.scored("vgae", 7)
        with self.assertRaisesRegex(leat.errors.NotFoundError, "nothing"):
            self.scored("vgae", place("nothing"))

    def test_a_note_is_a_warning(self):
        with self.assertWarnsRegex(UserWarning, "less than one window") as found:
            scores = self.runs["vgae"].score(self.cache, "test_01_dos")
        self.assertEqual(found.filename, __file__)
        self.assertEqual(scores["test_01_dos"].threshold.allowed, 0)
        with self.assertWarnsRegex(UserWarning, "train is no test: detectors were") as found:
            scores = self.runs["vgae"].score(self.cache, "train", target_fpr=0.5)
        self.assertEqual(found.filename, __file__)
        self.assertNotIn("less than", "".join(str(each.message) for each in found.warnings))
        self.assertGreater(scores["train"].threshold.allowed, 0)

    def test_the_highest_score_may_be_the_threshold(self):
        """It does not alarm then."""
        found = self.scored("vgae", self.cache, "val")["val"]
        self.assertEqual(found.score[found.label == 0].max(), found.threshold.value)
        self.assertEqual(found.alarms[found.label == 0].sum(), 0)

    def test_an_interrupt_stops_it(self):
        """One that comes with the first progress, before which the library waits to be stopped."""
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        made, calls = leat.scores._abi.ProgressFn, []

        def interrupting(goes_on):
            def progress(*words):
                if not calls:
                    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
                calls.append(support.wait_until(lambda: not goes_on(*words)))
                return goes_on(*words)
            return made(progress)

        with mock.patch.object(leat.scores._abi, "ProgressFn", interrupting), \
                self.assertRaises(KeyboardInterrupt):
            self.scored("vgae")
        self.assertEqual(calls, [True])


class OpenedRun(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_of = leat.train(data(), place("opened"), steps=10, keep=9, **SETTINGS)

    def test_facts(self):
        found = self.run_of
        self.assertEqual((found.model, found.images, found.image_size), ("dcgan", 40, 64))
        self.assertEqual(found.data, leat.ImageDataset(data()).fingerprint)
        self.assertEqual(found.config["width"], 4)
        self.assertEqual(found.config["learning-rate"], 2e-4)
        self.assertEqual(found.config["schedule"], "simultaneous")
        self.assertIn("step 10", repr(found))
        self.assertEqual(pickle.loads(pickle.dumps(found)).run, found.run)

    def test_metrics(self):
        with open(os.path.join(self.run_of.path, "metrics.jsonl"), encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        steps = [line for line in lines if "loss_g" in line]
        found = self.run_of.metrics()
        self.assertEqual(found.step.tolist(), list(range(1, 11)))
        for name in ("loss_d_images", "loss_d_fakes", "loss_g", "norm_d", "norm_g"):
            self.assertEqual(getattr(found, name).tolist(), [line[name] for line in steps])
            self.assertIs(getattr(found, name), found.values[name])
            self.assertIn(name, dir(found))
        self.assertEqual(list(found.values), ["loss_d_images", "loss_d_fakes", "loss_g", "norm_d",
                                              "norm_g"])
        self.assertEqual(found.seconds.tolist(), [line["seconds"] for line in steps])
        with self.assertRaisesRegex(AttributeError, "no metric 'loss'; there are loss_d_images, "):
            found.loss
        again = pickle.loads(pickle.dumps(found))
        self.assertEqual(again.loss_g.tolist(), found.loss_g.tolist())
        self.assertEqual(found.score_step.tolist(), [0, 5, 10])
        self.assertTrue(np.isfinite(found.score).all())
        for name in ("score", "deviation", "spread", "spread_data"):
            self.assertEqual(getattr(found, name).tolist(),
                             [line[name] for line in lines if "score" in line])
            self.assertIs(getattr(found, name), found.measures[name])
            self.assertIn(name, dir(found))
        self.assertEqual(list(found.measures), ["score", "deviation", "spread", "spread_data"])
        self.assertGreater(found.spread_data.min(), 0.1)
        self.assertEqual(found.warnings, ())
        few = self.run_of.metrics(most=4)
        self.assertLessEqual(len(few.step), 4)
        self.assertEqual(few.step[-1], 10)

    def test_warnings(self):
        path = place("warned")
        shutil.copytree(self.run_of.path, path)
        with open(os.path.join(path, "metrics.jsonl"), "a", encoding="utf-8") as file:
            for step in range(11, 320):
                losses = {"loss_d_images": 1e-5, "loss_d_fakes": 0.0, "loss_g": 9}
                file.write(json.dumps({"step": step, **losses}) + "\n")
        warnings = leat.Run(path).metrics(most=2).warnings
        self.assertEqual(len(warnings), 1)
        self.assertIn("the discriminator has won at step 210", warnings[0])

    def test_checkpoints_and_samples(self):
        found = self.run_of.checkpoints
        self.assertEqual([one.step for one in found], [4, 8, 10])
        self.assertEqual(sum(one.best for one in found), 1)
        images = self.run_of.sample(5, seed=7)
        self.assertEqual((images.shape, images.dtype), ((5, 64, 64, 3), np.uint8))
        again = self.run_of.sample(3, seed=7, first=2, threads=1)
        self.assertTrue((images[2:] == again).all())
        self.assertFalse((self.run_of.sample(1) == images[:1]).all())
        self.assertFalse((self.run_of.sample(1, seed=7, step=4) == images[:1]).all())
        with self.assertRaisesRegex(leat.errors.OptionError, "4, 8, 10"):
            self.run_of.sample(1, step=3)
        with self.assertRaises(leat.errors.OptionError):
            self.run_of.sample(0)

    def test_it_does_not_score(self):
        with self.assertRaisesRegex(leat.errors.UnsupportedError, "dcgan"):
            self.run_of.score(support.can_cache("--val-split=random", frames=20000, vehicles=1))

    def test_export(self):
        path = place("exported")
        self.run_of.export(path, step=8)
        with self.assertRaises(FileExistsError):
            self.run_of.export(path, step=8)
        self.run_of.export(path, step=8, replace=True)
        self.assertEqual(sorted(os.listdir(path)),
                         ["README.md", "config.json", "discriminator.safetensors",
                          "generator.safetensors", "samples.png"])

    def test_not_a_run(self):
        with self.assertRaises(leat.LeatError):
            leat.Run(support.folder())
        with self.assertRaises(TypeError):
            leat.Run(7)


if __name__ == "__main__":
    unittest.main()
