"""leat.ImageDataset and leat.ImageLoader: images as they were stored, batches of them, the same
ones whatever was in between; lifetimes; processes; errors."""
import copy
import gc
import hashlib
import itertools
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock

import support

support.need("numpy", "leat")
import numpy as np  # noqa: E402

import leat  # noqa: E402
import leat.errors  # noqa: E402
import leat.images  # noqa: E402

COUNT, SIZE = 70, 16
SMALL = {"batch": 24, "seed": 7}


def stored(image):
    pixels = support.image_set.pixels(image, SIZE)
    return np.frombuffer(pixels, np.uint8).reshape(SIZE, SIZE, 3)


def digest(batch):
    return (batch.step, hashlib.sha256(batch.images.tobytes()).hexdigest())


def digests(count, place=None, **options):
    with leat.ImageLoader(support.image_data(), **{**SMALL, **options}) as loader:
        if place is not None:
            loader.seek(place)
        return [digest(batch) for batch in itertools.islice(loader, count)]


class Dataset(unittest.TestCase):
    def setUp(self):
        self.path = support.image_data()
        self.data = leat.ImageDataset(self.path)

    def test_what_it_is(self):
        data = self.data
        self.assertEqual((len(data), data.size, data.shape, data.path, data.rejected),
                         (COUNT, SIZE, (COUNT, SIZE, SIZE, 3), self.path, 0))
        everything = b"".join(stored(i).tobytes() for i in range(COUNT))
        self.assertEqual(data.fingerprint, hashlib.sha256(everything).hexdigest())
        self.assertEqual(data.names, tuple(f"a/{i:04d}.jpg" for i in range(COUNT)))
        self.assertEqual(data.facts(3), ("a/0003.jpg", SIZE + 30, 2 * SIZE + 3, 3 * 2654435761))
        self.assertEqual(data.find("a/0069.jpg"), 69)
        self.assertEqual(repr(data), f"<leat.ImageDataset {self.path}: 70 images of 16 x 16>")

    def test_images_are_those_that_were_stored(self):
        for i, image in enumerate(self.data):
            np.testing.assert_array_equal(image, stored(i))
        self.assertEqual((image.dtype, image.flags.writeable, image.flags.owndata),
                         (np.uint8, True, True))
        np.testing.assert_array_equal(self.data[-1], stored(COUNT - 1))
        np.testing.assert_array_equal(self.data[np.int16(5)], stored(5))
        some = self.data[3:10:3]
        self.assertEqual(len(some), 3)
        np.testing.assert_array_equal(some[1], stored(6))

    def test_errors(self):
        for image in (COUNT, -COUNT - 1, 2 ** 70):
            self.assertRaisesRegex(IndexError, "the data set has 70", lambda at=image:
                                   self.data[at])
            self.assertRaisesRegex(IndexError, "the data set has 70", self.data.facts, image)
        self.assertRaisesRegex(KeyError, "no image 'b'", self.data.find, "b")
        self.assertRaises(leat.errors.NotFoundError, leat.ImageDataset, "/nowhere")
        self.assertRaisesRegex(ValueError, "null", leat.ImageDataset, "a\0b")
        for data in None, ["a"], leat.ProbeDataset(support.dataset()):
            self.assertRaisesRegex(TypeError, "is not a path; give that of the folder of an image "
                                   "data set$", leat.ImageDataset, data)

    def test_other_kinds(self):
        for path, words in (
                (support.dataset(), "`leat ingest probes`, .*leat.ProbeDataset in Python, "
                 r"leat_dataset_open\(\) in C$"),
                (support.can_cache(), "`leat ingest can`, .*leat.CanDataset in Python, "
                 r"leat_can_cache_open\(\) in C$")):
            for kind in leat.ImageDataset, leat.ImageLoader:
                self.assertRaisesRegex(leat.errors.NotFoundError, words, kind, path)
        for kind in leat.ProbeDataset, leat.CanDataset:
            self.assertRaisesRegex(leat.errors.NotFoundError, "`leat ingest images`, .*open it "
                                   "with leat.ImageDataset", kind, self.path)

    def test_closed(self):
        with leat.ImageDataset(self.path) as data:
            loader = leat.ImageLoader(data, **SMALL)
        self.assertTrue(data.closed)
        self.assertRaisesRegex(ValueError, "closed", lambda: data[0])
        self.assertEqual(digest(next(loader)), digests(1)[0])

    def test_threads(self):
        problems = []

        def read():
            try:
                for i in range(COUNT):
                    np.testing.assert_array_equal(self.data[i], stored(i))
            except AssertionError as problem:
                problems.append(problem)
        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(problems, [])

    def test_pickled_and_forked(self):
        self.assertEqual(pickle.loads(pickle.dumps(self.data)).fingerprint, self.data.fingerprint)
        child = os.fork()
        if child == 0:
            signal.alarm(120)  # no hang
            good = False
            try:
                good = (self.data[7] == stored(7)).all() and digest(
                    next(leat.ImageLoader(self.data, **SMALL))) == digests(1)[0]
            finally:
                os._exit(0 if good else 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    def test_damage(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "set")
            shutil.copytree(self.path, path)
            with open(os.path.join(path, "images.safetensors"), "r+b") as opened:
                opened.seek(4096 + 20 * SIZE * SIZE * 3)
                opened.write(b"\x55\xaa\x55")
            data = leat.ImageDataset(path)
            with self.assertRaisesRegex(leat.errors.CorruptError, "images.safetensors"):
                data[20]
            np.testing.assert_array_equal(data[0], stored(0))
            with leat.ImageLoader(data, batch=COUNT) as loader:
                for _ in range(2):
                    self.assertRaisesRegex(leat.errors.CorruptError, r"row \d+, image \d+: ",
                                           next, loader)


class Batches(unittest.TestCase):
    def setUp(self):
        self.path = support.image_data()

    def test_levels(self):
        seen = []
        with leat.ImageLoader(self.path, **SMALL, epochs=2) as loader:
            self.assertEqual(loader.steps, 6)  # 140 positions: every batch is full
            for step, batch in enumerate(loader):
                self.assertEqual((batch.step, batch.first_position, batch.first_row),
                                 (step, 24 * step, 0))
                self.assertEqual((batch.images.dtype, batch.images.shape, batch.indices.dtype),
                                 (np.uint8, (24, SIZE, SIZE, 3), np.int64))
                self.assertEqual((batch.images.flags.writeable, batch.images.ctypes.data % 4096),
                                 (False, 0))
                for image, index in zip(batch.images, batch.indices):
                    np.testing.assert_array_equal(image, stored(index))
                seen.extend(batch.indices)
            self.assertEqual(loader.step, 6)
        self.assertEqual(sorted(seen[:COUNT]), list(range(COUNT)))
        self.assertEqual(sorted(seen[COUNT:2 * COUNT]), list(range(COUNT)))
        self.assertNotEqual(seen[:COUNT], seen[COUNT:2 * COUNT])
        self.assertIn("images=uint8[24, 16, 16, 3]", repr(batch))

    def test_floats(self):
        table = ((np.arange(256, dtype=np.float32) / np.float32(255) - np.float32(.5)) /
                 np.float32(.5))
        with leat.ImageLoader(self.path, **SMALL, as_="float") as floats, \
                leat.ImageLoader(self.path, **SMALL) as levels:
            for _ in range(4):
                batch, plain = next(floats), next(levels)
                self.assertEqual((batch.images.dtype, batch.images.shape),
                                 (np.float32, (24, 3, SIZE, SIZE)))
                np.testing.assert_array_equal(batch.indices, plain.indices)
                np.testing.assert_array_equal(batch.images,
                                              table[plain.images].transpose(0, 3, 1, 2))

    def test_golden_values(self):
        """The table is that of the golden files: torchvision's ToTensor and Normalize."""
        with open(support.golden_files.path("golden/nn/dcgan_small.safetensors"),
                  "rb") as file:
            data = file.read()
        size = int.from_bytes(data[:8], "little")
        begin, end = json.loads(data[8:8 + size])["normalise_table"]["data_offsets"]
        golden = np.frombuffer(data[8 + size + begin:8 + size + end], np.float32)
        self.assertEqual(len(golden), 256)
        with leat.ImageLoader(self.path, as_="float", batch=COUNT) as floats, \
                leat.ImageLoader(self.path, batch=COUNT) as levels:
            np.testing.assert_array_equal(next(floats).images,
                                          golden[next(levels).images].transpose(0, 3, 1, 2))

    def test_the_command_makes_the_same(self):
        for form in "u8", "float":
            lines = support.run("batches", self.path, "--batch", "24", "--seed", "7", "--steps",
                                "0:5", "--as", form, "--hash=rows").splitlines()
            with leat.ImageLoader(self.path, **SMALL, as_=form) as loader:
                self.assertEqual(lines, [
                    f"{batch.step} {row} {hashlib.sha256(image.tobytes()).hexdigest()}"
                    for batch in itertools.islice(loader, 5)
                    for row, image in enumerate(batch.images)])

    def test_what_decides_bytes(self):
        wanted = digests(6)
        for options in ({"threads": 1}, {"threads": 5, "prefetch": 0}, {"prefetch": 3},
                        {"memory": "1M"}, {"epochs": 40}):
            self.assertEqual(digests(6, **options), wanted, options)
        for options in ({"seed": 8}, {"batch": 12}, {"as_": "float"}, {"order": "windowed"}):
            self.assertNotEqual(digests(6, **options), wanted, options)

    def test_in_windows(self):
        lines = support.run("batches", self.path, "--batch", "24", "--seed", "7", "--steps", "0:5",
                            "--order", "windowed:1M", "--hash=rows").splitlines()
        with leat.ImageLoader(self.path, **SMALL, order="windowed:1M") as loader:
            self.assertEqual(lines, [
                f"{batch.step} {row} {hashlib.sha256(image.tobytes()).hexdigest()}"
                for batch in itertools.islice(loader, 5)
                for row, image in enumerate(batch.images)])
            self.assertGreaterEqual(loader.counters()["read_wait_ns"], 0)

    def test_hosts(self):
        whole = leat.ImageLoader(self.path, **SMALL)
        parts = [leat.ImageLoader(self.path, **SMALL, host=host, hosts=4) for host in range(4)]
        for _ in range(5):
            batches = [next(part) for part in parts]
            self.assertEqual([batch.first_row for batch in batches], [0, 6, 12, 18])
            np.testing.assert_array_equal(np.concatenate([batch.images for batch in batches]),
                                          next(whole).images)

    def test_counters(self):
        with leat.ImageLoader(self.path, **SMALL) as loader:
            for _ in range(3):
                next(loader)
            counters = loader.counters()
        self.assertEqual((counters["batches"], counters["images"], counters["prefetch"]),
                         (3, 72, 8))

    def test_options_are_named(self):
        for options, words in (({"batch": 0}, "batch"), ({"as_": "float64"}, "float64"),
                               ({"seed": -1}, "seed"), ({"epochs": -1}, "epochs"),
                               ({"hosts": 0}, "hosts"), ({"host": 1}, "host"),
                               ({"hosts": 5}, "5 hosts cannot share a batch of 24"),
                               ({"order": "windows"}, "windowed:SIZE"),
                               ({"memory": 1000}, "memory"), ({"threads": 2 ** 40}, "threads")):
            with self.subTest(options):
                self.assertRaisesRegex((leat.LeatError, ValueError), words, leat.ImageLoader,
                                       self.path, **{**SMALL, **options})
        for name in "batch", "seed", "epochs", "threads", "host", "hosts", "prefetch":
            self.assertRaisesRegex(TypeError, f"^{name}: '2' is not an integer$", leat.ImageLoader,
                                   self.path, **{name: "2"})


class State(unittest.TestCase):
    def setUp(self):
        self.path, self.wanted = support.image_data(), digests(20)

    def test_every_place(self):
        states = []
        with leat.ImageLoader(self.path, **SMALL) as loader:
            for step in range(20):
                states.append(loader.state())
                self.assertEqual(loader.step, step)
                next(loader)
        for step, state in enumerate(states):
            self.assertEqual(state["step"], step)
            self.assertLessEqual(len(json.dumps(state)), 256)
            for to in (step, np.int32(step), state, json.dumps(state)):
                self.assertEqual(digests(2, to, threads=1), self.wanted[step:step + 2] if step < 19
                                 else [self.wanted[19], digests(21)[20]])

    def test_files(self):
        path = os.path.join(support.folder(), "images.state")
        with leat.ImageLoader(self.path, **SMALL) as loader:
            list(itertools.islice(loader, 5))
            loader.save(path)
        with leat.ImageLoader(self.path, **SMALL, hosts=2, host=1) as loader:
            loader.load(path)
            self.assertEqual((loader.step, next(loader).step), (5, 5))
        with leat.ImageLoader(self.path, **{**SMALL, "batch": 12}) as loader:
            self.assertRaisesRegex(leat.LeatError, "batch was 24", loader.load, path)

    def test_killed(self):
        program = ("import json, leat, os, sys\n"
                   "loader = leat.ImageLoader(sys.argv[1], batch=24, seed=7)\n"
                   "for _ in range(13): next(loader)\n"
                   "print(json.dumps(loader.state()), flush=True)\n"
                   "os.kill(os.getpid(), 9)\n")
        done = subprocess.run([sys.executable, "-c", program, self.path], capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (-9, ""))
        self.assertEqual(digests(4, json.loads(done.stdout)), self.wanted[13:17])

    def test_pickled(self):
        with leat.ImageLoader(self.path, **SMALL) as loader:
            list(itertools.islice(loader, 13))
            for copied in (pickle.loads(pickle.dumps(loader)), copy.deepcopy(loader)):
                with copied:
                    self.assertEqual(copied.state(), loader.state())
                    self.assertEqual([digest(next(copied)) for _ in range(5)], self.wanted[13:18])
        self.assertRaisesRegex(ValueError, "closed", pickle.dumps, loader)

    def test_refused_by_name(self):
        with leat.ImageLoader(self.path, **SMALL) as loader:
            state = loader.state()
        for path, options, word in ((self.path, {"seed": 8}, "seed"),
                                    (support.image_data(30), {}, "data"),
                                    (self.path, {"as_": "float"}, "option")):
            with leat.ImageLoader(path, **{**SMALL, **options}) as loader:
                next(loader)
                self.assertRaisesRegex(leat.LeatError, word, loader.seek, state)
                self.assertEqual(loader.step, 1)  # a refusal changes nothing
        with leat.ImageLoader(self.path, **SMALL) as loader:
            for place in (-1, 2 ** 62, 2 ** 70, "{", {**state, "v": 2}):
                self.assertRaises(leat.LeatError, loader.seek, place)
            self.assertRaisesRegex(TypeError, "step: 1.5 is not", loader.seek, 1.5)
            self.assertEqual(digest(next(loader)), self.wanted[0])


class Lifetimes(unittest.TestCase):
    def setUp(self):
        self.path = support.image_data()

    def test_a_held_batch_never_changes(self):
        with leat.ImageLoader(self.path, **SMALL, prefetch=2) as loader:
            batches = [next(loader) for _ in range(3)]
            before = [digest(batch) for batch in batches]
            views = [batch.images[3:5] for batch in batches]
            copies = [view.copy() for view in views]
            for _ in range(40):
                next(loader)
            self.assertEqual([digest(batch) for batch in batches], before)
            del batches
            for _ in range(40):
                next(loader)
        gc.collect()
        for view, copied in zip(views, copies):  # a view alone holds its batch
            np.testing.assert_array_equal(view, copied)

    def test_the_test_above_sees_a_batch_that_is_not_held(self):
        class NotHeld(leat.images._Held):
            def __init__(self, pointer):
                super().__init__(pointer)
                leat.images.held.leat_image_batch_release(pointer)

            def __del__(self):
                pass
        with unittest.mock.patch.object(leat.images, "_Held", NotHeld):
            with leat.ImageLoader(self.path, **SMALL, prefetch=2) as loader:
                first = next(loader).images
                before = first.copy()
                for _ in range(40):
                    next(loader)
                changed = not (first == before).all()
        self.assertTrue(changed)

    def test_dlpack(self):
        with leat.ImageLoader(self.path, **SMALL, as_="float") as loader:
            images = next(loader).images
            before = images.copy()
            shared = np.from_dlpack(leat.DLPack(images))
            self.assertEqual(shared.ctypes.data, images.ctypes.data)
            del images
            for _ in range(40):
                next(loader)
            np.testing.assert_array_equal(shared, before)

    def test_batches_given_back_are_used_again(self):
        with leat.ImageLoader(self.path, **SMALL, prefetch=2) as loader:
            places = {next(loader).images.ctypes.data for _ in range(100)}
            self.assertLessEqual(len(places), 6)

    def test_closed(self):
        loader = leat.ImageLoader(self.path, **SMALL)
        batch = next(loader)
        before = digest(batch)
        loader.close()
        loader.close()
        self.assertEqual(digest(batch), before)
        for use in (lambda: next(loader), loader.state, lambda: loader.seek(0), loader.counters,
                    lambda: loader.step, lambda: loader.steps, lambda: loader.save("x")):
            self.assertRaisesRegex(ValueError, "closed", use)
        self.assertIn("closed", repr(loader))

    def test_fork(self):
        with leat.ImageLoader(self.path, **SMALL) as loader:
            next(loader)
            child = os.fork()
            if child == 0:
                signal.alarm(120)  # no hang
                try:
                    next(loader)
                except leat.errors.OptionError as problem:
                    loader.close()  # leaves the parent's as it is
                    os._exit(0 if "fork" in str(problem) else 2)
                os._exit(1)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
            self.assertEqual(digest(next(loader)), digests(2)[1])


if __name__ == "__main__":
    unittest.main()
