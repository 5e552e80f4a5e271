"""leat.maxtext without MaxText: the configuration keys, the rows of each device, the page."""
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import support

support.need("numpy", "jax", "leat")
import jax  # noqa: E402
import numpy as np  # noqa: E402

import leat  # noqa: E402
import leat.maxtext  # noqa: E402
from leat.maxtext.report import write_report  # noqa: E402
from leat.maxtext.rows import device_rows  # noqa: E402
from leat.maxtext.settings import Settings, take_out  # noqa: E402


class Keys(unittest.TestCase):
    def test_taken_out(self):
        values, rest = take_out([
            "run_name=r", "network_train_files=a,b", "network_eval_files=c",
            "dataset_type=network", "grain_debug_mode=True", "steps=3",
            'network_loader_options={"sampler": "plan2", "timestamp_modes": [10, 20, 70]}',
            "grain_visualization_dir=d", "network_data_format=probe_chunks", "a==b"])
        self.assertEqual(rest, ["run_name=r", "steps=3", "a==b"])
        self.assertEqual(Settings.of(values), Settings(
            train_files="a,b", eval_files="c", debug_mode=True, visualization_dir="d",
            loader_options={"sampler": "plan2", "timestamp_modes": [10, 20, 70]}))

    def test_the_last_one_wins(self):
        self.assertEqual(take_out(["network_train_files=a", "network_train_files=b"])[0],
                         {"network_train_files": "b"})

    def test_refused(self):
        for word, said in (("network_data_format=images", "probe_chunks"),
                           ("grain_debug_mode=perhaps", "perhaps"),
                           ('network_loader_options={"seed":3}', "data_shuffle_seed"),
                           ("network_loader_options={", "network_loader_options={"),
                           ("dataset_type=tfds", "dataset_type=tfds")):
            with self.assertRaisesRegex(ValueError, said):
                Settings.of(take_out([word])[0])

    def test_the_launcher_says_so(self):
        for words, said in ((["steps=3"], "network_train_files is not set"),
                            (["network_data_format=x"], "probe_chunks")):
            done = subprocess.run([sys.executable, "-m", "leat.maxtext", *words],
                                  capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertRegex(done.stderr, f"^leat.maxtext: .*{said}")

    def test_data_sets(self):
        path = support.dataset()
        data, split = Settings(train_files=path, eval_files=path).dataset("test")
        self.assertEqual((split, len(data)), ("test", len(leat.ProbeDataset(path))))
        shard = os.path.join(path, data.shards[0].name)
        found, split = Settings(train_files=f"{os.path.dirname(shard)}/*.arrayrecord").dataset(
            "train")
        self.assertEqual(split, "train")
        self.assertEqual(len(found), len(data.rows("train")))
        copy = os.path.join(support.folder(), "plain.arrayrecord")
        os.link(shard, copy)
        self.assertIsNone(Settings(eval_files=copy).dataset("test")[1])
        for settings, said in ((Settings(), "network_eval_files is not set"),
                               (Settings(eval_files=os.path.dirname(shard)), "no test rows"),
                               (Settings(eval_files=f"{path}/*.none"), "no file matches")):
            with self.assertRaisesRegex(ValueError, said):
                settings.dataset("test")


class WithoutMaxText(unittest.TestCase):
    """Where MaxText or what it needs is not installed, words say what to install."""
    WORDS = (r"MaxText cannot be imported \(.*maxtext.*\); install it with Python 3.12 or newer: "
             r"pip install \"maxtext\[cuda12\]\" \(docs/maxtext.md\)")
    HIDDEN = "import sys; sys.modules['maxtext'] = None; "

    def test_the_launcher(self):
        program = (self.HIDDEN + "import leat.maxtext.launch; leat.maxtext.launch.main("
                   f"['network_train_files={support.dataset()}'])")
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, "^leat.maxtext: MaxText cannot be imported .*; install it "
                         r"with .*: pip install \"maxtext\[cuda12\]\" \(docs/maxtext.md\)\n$")

    def test_the_iterators(self):
        with unittest.mock.patch.dict(sys.modules, {"maxtext": None}):
            for make in (leat.maxtext.make_network_train_iterator,
                         leat.maxtext.make_network_eval_iterator):
                with self.assertRaisesRegex(ImportError, self.WORDS):
                    make(None, None, settings=Settings())


class Rows(unittest.TestCase):
    def test_any_mesh_gets_the_global_batch(self):
        """As MaxText does it: a process's rows in equal parts, one a device of its; here one and
        two processes, the second with the devices of odd numbers."""
        devices = np.array(jax.devices())
        self.assertEqual(len(devices), 8)
        for order in (range(8), [3, 1, 7, 0, 2, 6, 5, 4]):
            for shape, names in (((8,), ("data",)), ((2, 4), ("data", "fsdp")),
                                 ((4, 2, 1), ("stage", "tensor", "data"))):
                mesh = jax.sharding.Mesh(devices[list(order)].reshape(shape), names)
                sharding = jax.sharding.NamedSharding(mesh,
                                                      jax.sharding.PartitionSpec(mesh.axis_names))
                self.assertEqual(device_rows(mesh, 24, 5),
                                 device_rows(mesh, 24, 5, mesh.local_devices))
                for processes in (1, 2):
                    parts = []
                    for process in range(processes):
                        own = [one for one in mesh.local_devices if one.id % processes == process]
                        rows = np.array(device_rows(mesh, 24, 5, own), np.int32)
                        local = rows[:, None] + np.zeros((1, 5), np.int32)
                        parts += [jax.device_put(part, device) for part, device in
                                  zip(np.split(local, len(own)), own)]
                    whole = jax.make_array_from_single_device_arrays((24, 5), sharding, parts)
                    self.assertEqual(np.asarray(whole)[:, 0].tolist(), list(range(24)))


class Page(unittest.TestCase):
    def test_it_shows_the_first_batches(self):
        with tempfile.TemporaryDirectory() as folder:
            loader = leat.Loader(support.dataset(), batch=4, length=128)
            new = os.path.join(folder, "new")
            write_report(new, "train", loader)
            self.assertEqual(loader.step, 0)
            with open(os.path.join(new, "train-rows.html"), encoding="utf-8") as file:
                page = file.read()
            with open(os.path.join(new, "train.html"), encoding="utf-8") as file:
                self.assertIn("<svg", file.read())
            self.assertEqual(sorted(os.listdir(new)), ["train-rows.html", "train.html"])
            loader.command.append("--length=3")
            with self.assertRaisesRegex(leat.LeatError, "report of the train batches.*--length"):
                write_report(new, "train", loader)
        for step in range(4):
            for row in range(4):
                self.assertIn(f"step {step} row {row}: sequence {4 * step + row}", page)
        address = loader.data[loader.explain(0, 0).segments[0].row][0]["src_addr"]
        self.assertIn(address, page)


if __name__ == "__main__":
    unittest.main()
