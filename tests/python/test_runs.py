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
import time
import unittest

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
