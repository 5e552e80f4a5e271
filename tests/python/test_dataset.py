"""leat.ProbeDataset: rows, measurements, facts, errors, threads, pickles."""
import concurrent.futures
import hashlib
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import support

support.need("numpy", "leat")
import numpy as np  # noqa: E402

import leat  # noqa: E402
import leat.errors  # noqa: E402

GOLDEN = os.path.join(support.ROOT, "..", "shared", "golden", "latency", "rows")


class Dataset(unittest.TestCase):
    def setUp(self):
        self.path = support.dataset()

    def test_every_measurement_is_what_cat_says(self):
        wanted = support.cat(self.path)
        at = 0
        with leat.ProbeDataset(self.path) as data:
            self.assertEqual(data.measurement_count, len(wanted))
            for row in data:
                arrays = row.measurements()
                self.assertEqual({key: (value.shape, value.dtype.kind)
                                  for key, value in arrays.items()},
                                 {"event_time": ((len(row),), "M"),
                                  "src_addr": ((len(row),), "U"), "dst_addr": ((len(row),), "U"),
                                  "ip_version": ((len(row),), "i"), "rtt": ((len(row),), "f"),
                                  "failed": ((len(row),), "b")})
                self.assertEqual(arrays["failed"].tolist(), (arrays["rtt"] == -1).tolist())
                for i in range(len(row)):
                    said = wanted[at]
                    found = {key: value[i] for key, value in arrays.items()}
                    self.assertEqual((str(found["event_time"]) + "Z", found["src_addr"],
                                      found["dst_addr"], found["ip_version"],
                                      found["rtt"]),
                                     (said["event_time"], said["src_addr"], said["dst_addr"],
                                      said["ip_version"], np.float32(said["rtt"])))
                    at += 1
        self.assertEqual(at, len(wanted))

    def test_dicts_are_the_arrays(self):
        data = leat.ProbeDataset(self.path)
        row = data[7]
        arrays = row.measurements()
        for i, one in enumerate(row):
            self.assertEqual(one["event_time"].tzinfo.utcoffset(None).seconds, 0)
            self.assertEqual(np.datetime64(one["event_time"].replace(tzinfo=None), "us"),
                             arrays["event_time"][i])
            for key in ("src_addr", "dst_addr", "ip_version", "rtt"):
                self.assertEqual(one[key], arrays[key][i], key)
        self.assertEqual(row[-1], row[len(row) - 1])
        self.assertEqual(row[1:4], [row[1], row[2], row[3]])
        self.assertRaises(IndexError, lambda: row[len(row)])

    def test_facts(self):
        data = leat.ProbeDataset(self.path)
        for row in data[::17]:
            times = row.measurements()["event_time"].astype(np.int64)
            self.assertEqual((row.first_us, row.last_us), (times.min(), times.max()))
            self.assertEqual(row.src_id, int(hashlib.md5(
                row[0]["src_addr"].encode()).hexdigest()[:15], 16))
            versions = set(row.measurements()["ip_version"].tolist())
            self.assertEqual({row.ip_version}, versions if len(versions) == 1 else {0})
            shard = data.shards[row.shard]
            self.assertEqual(row.number, shard.first_row + row.record_index)
            self.assertEqual(len(row.record()), row.record_bytes)
        self.assertEqual(sum(len(row) for row in data), data.measurement_count)
        self.assertEqual(data.indexed, True)
        self.assertEqual(len(data.fingerprint), 64)

    def test_probes_by_name(self):
        self.assertIsNone(leat.ProbeDataset(self.path).probe)
        with tempfile.TemporaryDirectory() as folder:
            text, out = os.path.join(folder, "a.csv"), os.path.join(folder, "data")
            with open(text, "w", encoding="utf-8") as file:
                file.write("event_time,src_addr,dst_addr,rtt,prb_id\n"
                           "1600000000,192.0.2.1,198.51.100.1,5,17\n"
                           "1600000001,2001:db8::1,2001:db8::2,6,17\n")
            support.run("ingest", "probes", text, "-o", out, "--probe", "prb_id")
            data = leat.ProbeDataset(out)
            self.assertEqual((data.probe, len(data)), ("prb_id", 1))
            row = data[0]
            self.assertEqual(row.src_id, int(hashlib.md5(b"17").hexdigest()[:15], 16))
            self.assertEqual(row.ip_version, 0)
            self.assertEqual(row.measurements()["src_addr"].tolist(),
                             ["192.0.2.1", "2001:db8::1"])
            self.assertEqual([one["src_addr"] for one in row], ["192.0.2.1", "2001:db8::1"])

    def test_splits(self):
        data = leat.ProbeDataset(self.path)
        train, test = data.rows("train"), data.rows("test")
        self.assertEqual([*train, *test], list(range(len(data))))
        self.assertGreater(len(train), len(test))
        self.assertGreater(len(test), 0)
        for row in (*train, *test):
            split = data.shards[data[row].shard].split
            self.assertEqual(split, "train" if row in train else "test")
        self.assertRaisesRegex(ValueError, "valid", data.rows, "valid")

    def test_compression_changes_nothing(self):
        packed = leat.ProbeDataset(support.dataset("--compression=zstd"), cache_bytes=1 << 20)
        plain = leat.ProbeDataset(self.path)
        self.assertTrue(packed.compressed)
        self.assertEqual(packed.fingerprint, plain.fingerprint)
        for one, other in zip(packed, plain):
            self.assertEqual(one.record(), other.record())

    def test_sequence(self):
        data = leat.ProbeDataset(self.path)
        self.assertEqual(data[-1].number, len(data) - 1)
        self.assertEqual([row.number for row in data[3:9:2]], [3, 5, 7])
        self.assertEqual(sum(1 for _ in data), len(data))
        with self.assertRaisesRegex(IndexError, f"row {len(data)}: the data set has"):
            data[len(data)]

    def test_closed(self):
        data = leat.ProbeDataset(self.path)
        row = data[0]
        data.close()
        data.close()
        self.assertTrue(data.closed)
        self.assertRaisesRegex(ValueError, "closed", lambda: data[0])
        self.assertEqual(len(row.measurements()["rtt"]), len(row))  # what was made stays usable

    def test_pickle(self):
        data = leat.ProbeDataset(self.path)
        again = pickle.loads(pickle.dumps(data))
        self.assertEqual((again.fingerprint, len(again), repr(again)),
                         (data.fingerprint, len(data), repr(data)))
        rows = pickle.loads(pickle.dumps(data[3:5]))
        self.assertEqual([(row.number, row.src_id, row[0]) for row in rows],
                         [(row.number, row.src_id, row[0]) for row in data[3:5]])
        self.assertIs(rows[0]._handle, rows[1]._handle)  # opened once

    def test_threads(self):
        data = leat.ProbeDataset(support.dataset("--compression=zstd"), cache_bytes=1 << 16)
        wanted = [row.measurements()["rtt"].tobytes() for row in data]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda i: data[i % len(data)].measurements()["rtt"].tobytes(),
                                  range(3 * len(data))))
        self.assertEqual(found, wanted * 3)

    def test_fork(self):
        data = leat.ProbeDataset(self.path)
        wanted = data[5].record()
        child = os.fork()
        if child == 0:
            os._exit(0 if data[5].record() == wanted else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_fork_while_others_read(self):
        """A child finds locks free that a thread of its parent had: with records decoded all the
        time somebody has one."""
        data = leat.ProbeDataset(support.dataset("--compression=zstd"), cache_bytes=1 << 16)
        wanted = [row.record() for row in data]
        row = data[7]
        stop = threading.Event()

        def read(number):
            while not stop.is_set():
                number = (number + 1) % len(data)
                data[number].record()
        threads = [threading.Thread(target=read, args=(k,)) for k in range(3)]
        with leat.Loader(data, threads=2, batch=32) as loader:
            for thread in threads:
                thread.start()
            for k in range(150):
                next(loader)
                child = os.fork()
                if child == 0:
                    signal.alarm(support.LIMIT)
                    good = data[k].record() == wanted[k] and row.record() == wanted[7]
                    os._exit(0 if good else 1)
                self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0, k)
            stop.set()
            for thread in threads:
                thread.join()

    def test_arrays_are_the_callers(self):
        data = leat.ProbeDataset(self.path)
        arrays = data[0].measurements()
        before = arrays["rtt"].copy()
        del data
        for value in arrays.values():
            self.assertTrue(value.flags.owndata and value.flags.writeable)
        self.assertTrue((arrays["rtt"] == before).all())

    def test_nothing_stays_open(self):
        def mapped():
            with open("/proc/self/maps", encoding="ascii", errors="replace") as file:
                return sum(self.path in line for line in file)
        before = mapped()
        data = leat.ProbeDataset(self.path)
        data[3].measurements()
        self.assertGreater(mapped(), before)
        del data
        self.assertEqual(mapped(), before)


class Errors(unittest.TestCase):
    def test_what_c_would_cut_short(self):
        path = support.dataset()
        for size in (2 ** 64 + 5, 2 ** 63, -2 ** 63 - 1):
            self.assertRaisesRegex(leat.errors.OptionError, "cache_bytes", leat.ProbeDataset, path,
                                   cache_bytes=size)
        self.assertRaises(TypeError, leat.ProbeDataset, path, cache_bytes=1e6)
        for words in (path + "\0x", [path + "\0"]):
            self.assertRaisesRegex(ValueError, "null", leat.ProbeDataset, words)
        self.assertRaisesRegex(ValueError, "null", leat.ProbeDataset, path, addresses="a\0b")

    def test_messages_are_the_librarys(self):
        nowhere = os.path.join(support.folder(), "nowhere")
        with self.assertRaises(leat.LeatError) as caught:
            leat.ProbeDataset(nowhere)
        self.assertIsInstance(caught.exception, FileNotFoundError)
        self.assertIsInstance(caught.exception, leat.errors.NotFoundError)
        self.assertIn(nowhere, str(caught.exception))
        with self.assertRaises(leat.errors.CorruptError) as caught:
            leat.ProbeDataset(__file__)
        self.assertIn("ArrayRecord", str(caught.exception))

    def test_damage_is_named(self):
        path = os.path.join(support.folder(), "damaged")
        shutil.copytree(support.dataset(), path)
        data = leat.ProbeDataset(path)
        shard = os.path.join(path, data.shards[0].name)
        data.close()
        with open(shard, "r+b") as file:
            file.seek(70000)
            byte = file.read(1)
            file.seek(70000)
            file.write(bytes([byte[0] ^ 1]))
        failed = []
        for row in leat.ProbeDataset(path):
            try:
                row.measurements()
            except leat.errors.CorruptError as problem:
                failed.append(str(problem))
        self.assertGreater(len(failed), 0)
        for text in failed:
            self.assertIn(os.path.basename(shard), text)

    def test_every_code_has_a_class(self):
        # pylint: disable=protected-access
        self.assertEqual(sorted(leat.errors.BY_CODE), list(range(1, len(leat.errors.BY_CODE) + 1)))
        from leat import _abi
        self.assertEqual(set(leat.errors.BY_CODE), set(range(1, len(_abi.ENUMS["CODE"]))))


@unittest.skipUnless(os.path.isdir(GOLDEN), "skipped: no golden files here")
class FilesOfOthers(unittest.TestCase):
    def test_rows_of_the_python_system(self):
        data = leat.ProbeDataset([os.path.join(GOLDEN, "train.arrayrecord"),
                                  os.path.join(GOLDEN, "test.arrayrecord")])
        self.assertFalse(data.indexed)
        self.assertIsNone(data.measurement_count)
        self.assertEqual([shard.split for shard in data.shards], ["train", "test"])
        self.assertEqual(len(data.rows("train")) + len(data.rows("test")), len(data))
        self.assertEqual(len(data.fingerprint), 64)
        for row in data:
            arrays = row.measurements()
            self.assertEqual(len(arrays["rtt"]), len(row))
            self.assertEqual(row.src_id, int(hashlib.md5(
                row[0]["src_addr"].encode()).hexdigest()[:15], 16))


class Package(unittest.TestCase):
    def test_version_and_types(self):
        with open(os.path.join(support.ROOT, "include/leat/base.h"), encoding="utf-8") as file:
            numbers = re.findall(r"^#define LEAT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", file.read(),
                                 re.M)
        self.assertEqual(leat.__version__, ".".join(numbers))
        self.assertTrue(os.path.exists(os.path.join(os.path.dirname(leat.__file__), "py.typed")))

    def test_mypy(self):
        done = subprocess.run([sys.executable, "-m", "mypy", "--config-file",
                               os.path.join(support.ROOT, "python", "pyproject.toml"),
                               "--cache-dir", os.path.join(support.BUILD, "mypy"), "-p", "leat"],
                              cwd=os.path.join(support.ROOT, "python"), capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
