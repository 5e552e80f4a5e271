"""leat.Loader: the same batches for any hosts and interruption; lifetimes; errors; the GIL."""
import concurrent.futures
import contextlib
import copy
import ctypes
import gc
import hashlib
import inspect
import itertools
import json
import multiprocessing
import os
import pickle
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time
import unittest
import unittest.mock
import warnings

import support

support.need("numpy", "leat")
import numpy as np  # noqa: E402

import leat  # noqa: E402
import leat._ring  # noqa: E402
import leat.errors  # noqa: E402
import leat.loader  # noqa: E402
from leat._library import PATH, lib  # noqa: E402
from support import LIMIT  # noqa: E402

SMALL = {"batch": 12, "length": 256, "seed": 7}


def digest(batch):
    return [hashlib.sha256(b"".join(batch[key][row].tobytes() for key in leat.KEYS)).hexdigest()
            for row in range(len(batch["inputs"]))]


def next_digest(loader):
    return digest(next(loader))


def digests(steps, **options):
    """What a loader makes: one list of row digests a step."""
    with leat.Loader(support.dataset(), **{**SMALL, **options}) as loader:
        return [digest(batch) for batch in itertools.islice(loader, steps)]


class Defaults(unittest.TestCase):
    def test_are_the_librarys(self):
        get = ctypes.CDLL(PATH).leat_settings_get  # the package itself does not use it
        get.restype = ctypes.c_char_p
        for kind, tables, names in (
                (leat.Loader, ((lib.leat_sampler_options_table, "sample"),
                               (lib.leat_loader_options_table, "")), 15),
                (leat.GraphLoader, ((lib.leat_graph_batch_options_table, "batches"),
                                    (lib.leat_graph_loader_options_table, "")), 9)):
            options = (lib.leat_loader_options_default() if kind is leat.Loader else
                       lib.leat_graph_loader_options_default())
            seen = []
            for name, parameter in inspect.signature(kind).parameters.items():
                if parameter.default in (None, inspect.Parameter.empty):
                    continue
                for table, member in tables:
                    of = getattr(options, member) if member else options
                    text = ctypes.create_string_buffer(32)
                    found = get(ctypes.c_void_p(table()), ctypes.byref(of),
                                name.replace("_", "-").encode(), text)
                    if found is None:
                        continue
                    wanted = (",".join(map(str, parameter.default))
                              if isinstance(parameter.default, tuple) else str(parameter.default))
                    if name in ("clients_per_round", "steps_per_round"):
                        self.assertEqual(wanted, "0")  # stands for not given
                    else:
                        self.assertEqual(found.decode(), wanted, name)
                    seen.append(name)
            self.assertGreaterEqual(len(seen), names, seen)


class Batches(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path = support.dataset()
        cls.wanted = digests(20)

    def test_what_a_batch_is(self):
        loader = leat.Loader(self.path, **SMALL)
        self.assertEqual((loader.batch, loader.length, list(loader.rows)),
                         (12, 256, list(range(12))))
        batch = next(loader)
        self.assertEqual(tuple(batch), leat.KEYS)
        self.assertIs(type(batch), dict)  # JAX takes a dict apart, but no class derived from it
        for key, array in batch.items():
            self.assertEqual((array.shape, array.dtype), ((12, 256), np.int32), key)
            self.assertTrue(array.flags.c_contiguous)
            self.assertEqual(array.ctypes.data % 4096, 0)
        inside = batch["inputs_segmentation"] > 0
        self.assertTrue(inside.all())  # packed: no padding
        after = np.roll(batch["inputs"], -1, axis=1)
        counts = batch["targets_segmentation"] != 0
        self.assertTrue((batch["targets"][counts] == after[counts]).all())
        self.assertTrue(0 <= batch["inputs"].min() and batch["inputs"].max() <= 266)

    def test_the_command_makes_the_same(self):
        for options in ({}, {"split": "test", "sampler": "plan2"}, {"sampler": "all"},
                        {"by_client": True, "client_weights": "measurements"},
                        {"by_client": True, "clients_per_round": 20, "steps_per_round": 2},
                        {"timestamp_modes": (10, 20, 70), "tail": "pad", "boundary": "cross",
                         "field_order": "content"}, {"order": "windowed:1M"}):
            with leat.Loader(self.path, **{**SMALL, **options}) as loader:
                lines = support.run(*loader.command, "--steps=0:4", "--hash=rows").splitlines()
            self.assertEqual([line.split()[2] for line in lines],
                             [row for step in digests(4, **options) for row in step], options)

    def test_any_hosts_make_the_same_rows(self):
        for hosts in (1, 2, 3, 4, 6, 12):
            parts = [digests(4, hosts=hosts, host=host) for host in range(hosts)]
            for step in range(4):
                self.assertEqual([row for part in parts for row in part[step]], self.wanted[step])
        rows = [7, 0, 11, 3]
        self.assertEqual(digests(4, rows=rows),
                         [[step[row] for row in rows] for step in self.wanted[:4]])

    def test_threads_prefetch_and_reading_change_nothing(self):
        for options in ({"threads": 1}, {"threads": 5}, {"prefetch": 0}, {"prefetch": 5},
                        {"io": "pread"}):
            self.assertEqual(digests(6, **options), self.wanted[:6], options)

    def test_windowed_is_one_order_too(self):
        wanted = digests(4, order="windowed:1M")
        for options in ({"threads": 1}, {"prefetch": 0}, {"io": "pread"}):
            self.assertEqual(digests(4, order="windowed:1M", **options), wanted, options)
        for hosts in (3, 4):
            parts = [digests(4, order="windowed:1M", hosts=hosts, host=host)
                     for host in range(hosts)]
            for step in range(4):
                self.assertEqual([row for part in parts for row in part[step]], wanted[step])

    def test_memory_of_windows_is_known_before_the_first_batch(self):
        for order in ("global", "windowed:1M"):
            with leat.Loader(self.path, **SMALL, order=order, io="pread") as loader:
                found = loader.counters()
            self.assertEqual(found["window_bytes"] > 0, order != "global")
            self.assertGreater(found["memory_bytes"], found["window_bytes"])

    def test_data_larger_than_memory(self):
        """When that is so is tested in tests/cli/test_memory_notes.py."""
        def exceeds(_loader, data_bytes, memory_bytes):
            data_bytes._obj.value, memory_bytes._obj.value = 3 << 40, 16 << 30
            return True
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always")
            leat.Loader(self.path, **SMALL).close()
            self.assertEqual(noted, [])
            with unittest.mock.patch.object(leat.loader.lib, "leat_loader_exceeds_memory",
                                            exceeds):
                leat.Loader(self.path, **SMALL).close()
        self.assertEqual([each.filename for each in noted], [__file__])
        self.assertRegex(str(noted[0].message),
                         r"\(3,072\.0 GiB\) is larger .*\(16\.0 GiB\), .*use order=\"windowed\"")

    def test_what_decides_bytes(self):
        for options in ({"seed": 8}, {"split": "test"}, {"split": None}, {"sampler": "plan2"},
                        {"timestamp_modes": (100, 0, 0)}, {"field_order": "content"},
                        {"packing": "none"}, {"tail": "pad"}, {"boundary": "cross"},
                        {"sampler": "all"}, {"order": "windowed:1M"}):
            self.assertNotEqual(digests(3, **options), self.wanted[:3], options)

    def test_by_client(self):
        found = digests(3, by_client=True, clients_per_round=12, steps_per_round=2)
        self.assertEqual(found, digests(3, by_client=True, clients_per_round=12,
                                        steps_per_round=2, threads=1))
        self.assertNotEqual(found, self.wanted[:3])
        with leat.Loader(self.path, **SMALL, by_client=True) as loader:
            self.assertEqual((loader.steps, loader.epoch_sequences), (None, None))
            probes = [loader.explain(0, row).segments[0].src_id for row in range(12)]
            self.assertEqual(len(set(probes)), 12)

    def test_epochs_end(self):
        with leat.Loader(self.path, batch=50, length=256, split="test", epochs=1) as loader:
            anchors = loader.epoch_sequences
            self.assertEqual(loader.steps, -(-anchors // 50))
            batches = list(loader)
            self.assertRaises(StopIteration, next, loader)
            self.assertEqual(len(batches), loader.steps)
            full = [(batch["inputs_segmentation"] > 0).any(axis=1) for batch in batches]
            self.assertEqual(sum(int(each.sum()) for each in full), anchors)
            for key in leat.KEYS:
                self.assertTrue((batches[-1][key][~full[-1]] == 0).all())
            loader.seek(0)
            self.assertEqual(digest(next(loader)), digest(batches[0]))

    def test_explain(self):
        with leat.Loader(self.path, **SMALL) as loader:
            batch = next(loader)
            for row in range(12):
                found = loader.explain(0, row)
                self.assertTrue((found.inputs == batch["inputs"][row]).all())
                self.assertTrue((found.segmentation == batch["inputs_segmentation"][row]).all())
                self.assertEqual(sum(one.token_count for one in found.segments), 256)
                first = found.segments[0]
                self.assertEqual(loader.data[first.row].src_id, first.src_id)
                self.assertEqual(loader.data[first.row].n_measurements, first.row_measurements)
                one = first.measurements[0]
                said = loader.data[first.row].measurements()
                self.assertEqual(said["event_time"].astype(np.int64)[one.number], one.time_us)
                text = str(found)
                self.assertIn(said["dst_addr"][one.number], text)
                self.assertIn(first.shard, text)
                self.assertEqual(leat.words(batch["inputs"][row],
                                            batch["inputs_segmentation"][row]),
                                 "\n".join(text.split("\n")[1 + len(found.segments):]))
            self.assertRaises(leat.LeatError, loader.explain, 0, 12)

    def test_counters(self):
        with leat.Loader(self.path, **SMALL) as loader:
            list(itertools.islice(loader, 5))
            found = loader.counters()
        self.assertEqual((found["batches"], found["sequences"], found["tokens"] + found["padding"]),
                         (5, 60, 60 * 256))
        self.assertGreater(found["payload_bytes"], 0)
        self.assertGreater(found["measurements"], 60)


class State(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path = support.dataset()
        cls.wanted = digests(24)

    def test_every_step(self):
        states = []
        with leat.Loader(self.path, **SMALL) as loader:
            for step in range(12):
                states.append(loader.state())
                self.assertEqual((states[-1]["step"], loader.step), (step, step))
                next(loader)
        for step, state in enumerate(states):
            self.assertEqual({key: type(value) for key, value in state.items()},
                             {"v": int, "data": str, "options": str, "seed": int, "step": int})
            self.assertLessEqual(len(json.dumps(state)), 256)
            for place in (state, json.dumps(state), step):
                with leat.Loader(self.path, **SMALL, threads=1) as loader:
                    loader.seek(place)
                    self.assertEqual(loader.state(), state)
                    self.assertEqual(digest(next(loader)), self.wanted[step])
                    self.assertEqual(digest(next(loader)), self.wanted[step + 1])

    def test_killed_twice_in_fresh_processes(self):
        program = ("import json, leat, os, sys, test_loader\n"
                   "path, state, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])\n"
                   "loader = leat.Loader(path, **test_loader.SMALL)\n"
                   "if state: loader.seek(state)\n"
                   "for _ in range(steps):\n"
                   "    step = loader.step\n"
                   "    row = test_loader.digest(next(loader))\n"
                   "    print(step, json.dumps(row), json.dumps(loader.state()), sep='|')\n"
                   "sys.stdout.flush()\n"
                   "os.kill(os.getpid(), 9)\n")
        state, found = "", []
        for steps in (5, 9, 10):
            done = subprocess.run([sys.executable, "-c", program, self.path, state, str(steps)],
                                  capture_output=True, text=True, check=False,
                                  cwd=os.path.dirname(os.path.abspath(__file__)))
            self.assertEqual((done.returncode, done.stderr), (-9, ""))
            for line in done.stdout.splitlines():
                step, row, state = line.split("|")
                self.assertEqual(int(step), len(found))
                found.append(json.loads(row))
        self.assertEqual(found, self.wanted)

    def test_pickled(self):
        """The copy opens the data by its path, and makes the rest of the same batches."""
        rows = np.array([5, 2, 9])
        with leat.Loader(leat.ProbeDataset(self.path), **SMALL, rows=rows) as loader:
            next(loader)
            rows[:] = 0
            for copied in (pickle.loads(pickle.dumps(loader)), copy.copy(loader)):
                with copied:
                    self.assertEqual((copied.state(), list(copied.rows)), (loader.state(),
                                                                           [5, 2, 9]))
                    self.assertEqual(digest(next(copied)),
                                     [self.wanted[1][row] for row in (5, 2, 9)])
            self.assertEqual(loader.step, 1)
        self.assertRaisesRegex(ValueError, "closed", pickle.dumps, loader)
        with leat.Loader(self.path, **SMALL, epochs=1, threads=1) as loader:
            list(loader)
            with pickle.loads(pickle.dumps(loader)) as copied:
                self.assertEqual(list(copied), [])

    def test_pickled_for_another_process(self):
        with leat.Loader(self.path, **SMALL) as loader:
            list(itertools.islice(loader, 7))
            for way in "spawn", "fork":
                with multiprocessing.get_context(way).Pool(1) as pool:
                    self.assertEqual(pool.apply(next_digest, (loader,)), self.wanted[7])

    def test_numbers_of_numpy(self):
        with leat.Loader(self.path, **SMALL) as loader:
            for kind in (np.int64, np.uint8, np.array):
                loader.seek(kind(3))
                self.assertEqual((loader.step, digest(next(loader))), (3, self.wanted[3]))
            loader.seek({**loader.state(), "step": np.int64(2)})
            self.assertEqual(loader.step, 2)
            for place in (1.0, None, (0, 1), [], np.zeros(2, int)):
                self.assertRaisesRegex(TypeError, "^step: .* is not an integer", loader.seek,
                                       place)
            self.assertEqual(loader.step, 2)

    def test_another_number_of_hosts(self):
        with leat.Loader(self.path, **SMALL, hosts=4, host=2) as loader:
            for _ in range(3):
                next(loader)
            state = loader.state()
        with leat.Loader(self.path, **SMALL, hosts=3, host=1) as loader:
            loader.seek(state)
            self.assertEqual(digest(next(loader)), self.wanted[3][4:8])

    def test_refused_by_name(self):
        state = leat.Loader(self.path, **SMALL).state()
        other = support.dataset(count=5000, probes=100, seed=4)
        for path, options, word in ((self.path, {"seed": 8}, "seed"),
                                    (self.path, {"length": 512}, "option"),
                                    (self.path, {"packing": "none"}, "option"),
                                    (other, {}, "data")):
            with leat.Loader(path, **{**SMALL, **options}) as loader:
                with self.assertRaisesRegex(leat.LeatError, word):
                    loader.seek(state)
        for options in ({"length": 512}, {"batch": 24}, {"order": "windowed:1M"}):
            with leat.Loader(self.path, **{**SMALL, **options}) as loader:
                with self.assertRaises(leat.errors.InputError) as refused:
                    loader.seek(state)
            said = str(refused.exception)
            self.assertIn("This state does not list them; a file written by save or --save-state "
                          "does, and load names the one that differs", said)
            covered = said.split("The hash covers ")[1].split(", ")
            self.assertLessEqual({*options, "length", "batch", "order", "split", "by"}, {*covered})
            self.assertNotIn("seed", covered)
        with leat.Loader(self.path, **SMALL) as loader:
            with self.assertRaisesRegex(leat.LeatError, "version"):
                loader.seek({**state, "v": 2})
            self.assertRaises(leat.LeatError, loader.seek, "{")
            self.assertRaises(leat.LeatError, loader.seek, -1)
            self.assertEqual(digest(next(loader)), self.wanted[0])  # a refusal changes nothing


class Lifetimes(unittest.TestCase):
    def setUp(self):
        self.path = support.dataset()

    def test_read_only_for_good(self):
        for array in next(leat.Loader(self.path, **SMALL)).values():
            with self.assertRaises(ValueError):
                array[0, 0] = 1
            with self.assertRaises(ValueError):
                array.setflags(write=True)
            with self.assertRaises(ValueError):
                array.reshape(-1)[1:].setflags(write=True)

    def test_dlpack_keeps_the_flag(self):
        array = next(leat.Loader(self.path, **SMALL))["inputs"]
        for one in (np.from_dlpack(array), np.from_dlpack(leat.DLPack(array))):
            self.assertEqual(one.ctypes.data, array.ctypes.data)
            self.assertFalse(one.flags.writeable)

    def test_a_held_batch_never_changes(self):
        for keep in (lambda batch: batch, lambda batch: {"inputs": batch["inputs"][3:4, 5:]},
                     lambda batch: {"inputs": np.from_dlpack(batch["inputs"])},
                     lambda batch: {"inputs": np.from_dlpack(leat.DLPack(batch["inputs"]))}):
            with leat.Loader(self.path, **SMALL, prefetch=2) as loader:
                kept = [keep(next(loader)) for _ in range(3)]
                before = [{key: array.copy() for key, array in each.items()} for each in kept]
                for _ in range(40):
                    next(loader)
                gc.collect()
            for _ in range(3):  # what the loader gave back is used again
                with leat.Loader(self.path, **SMALL, prefetch=2) as loader:
                    list(itertools.islice(loader, 10))
            for one, other in zip(kept, before):
                for key, array in one.items():
                    self.assertTrue((array == other[key]).all(), key)

    def test_the_test_above_sees_a_batch_that_is_not_held(self):
        class NotHeld(leat.loader._Held):
            def __init__(self, pointer):
                super().__init__(pointer)
                leat.loader.held.leat_batch_release(pointer)

            def __del__(self, release=None):
                pass
        held = leat.loader._Held
        leat.loader._Held = NotHeld
        try:
            with leat.Loader(self.path, **SMALL, prefetch=2) as loader:
                first = next(loader)["inputs"]
                before = first.copy()
                for _ in range(40):
                    next(loader)
                changed = not (first == before).all()
        finally:
            leat.loader._Held = held
        self.assertTrue(changed)

    def test_batches_given_back_are_used_again(self):
        with leat.Loader(self.path, **SMALL, prefetch=2) as loader:
            places = {next(loader)["inputs"].ctypes.data for _ in range(200)}
            self.assertLessEqual(len(places), 6)
            held = [next(loader) for _ in range(20)]
            self.assertEqual(len({batch["inputs"].ctypes.data for batch in held}), 20)

    def test_nothing_is_left_of_a_loader(self):
        def threads():
            return set(os.listdir("/proc/self/task"))

        def shared_memory():
            """What this process has open or mapped there; others may have anything."""
            with open("/proc/self/maps", encoding="ascii", errors="replace") as file:
                names = [line.split(maxsplit=5)[-1] for line in file]
            for fd in os.listdir("/proc/self/fd"):
                with contextlib.suppress(FileNotFoundError):  # of the list itself
                    names.append(os.readlink(f"/proc/self/fd/{fd}"))
            return [name for name in names if name.startswith("/dev/shm/")
                    and not name.startswith(self.path)]
        before, shm = threads(), shared_memory()
        loader = leat.Loader(self.path, **SMALL, threads=4)
        next(loader)
        own = threads() - before
        self.assertGreaterEqual(len(own), 4)
        self.assertEqual(shared_memory(), shm)
        del loader
        gc.collect()
        # a thread that has been joined may be listed for a moment
        self.assertTrue(support.wait_until(lambda: not own & threads()), "threads are left")
        self.assertEqual(shared_memory(), shm)

    def test_a_program_may_end_with_all_of_it_in_use(self):
        program = ("import leat, sys\n"
                   "data = leat.ProbeDataset(sys.argv[1])\n"
                   "loader = leat.Loader(data, batch=4, length=256)\n"
                   "row, held = data[0], [next(loader) for _ in range(9)]\n"
                   "print(row.measurements()['rtt'].size > 0, held[0]['inputs'].shape)\n")
        for _ in range(5):
            done = subprocess.run([sys.executable, "-c", program, self.path], capture_output=True,
                                  text=True, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (0, "True (4, 256)\n", ""))

    def test_closed(self):
        loader = leat.Loader(self.path, **SMALL)
        batch = next(loader)
        before = digest(batch)
        loader.close()
        loader.close()
        self.assertEqual(digest(batch), before)
        for use in (lambda: next(loader), loader.state, lambda: loader.seek(0), loader.counters,
                    lambda: loader.step):
            self.assertRaisesRegex(ValueError, "closed", use)
        self.assertIn("closed", repr(loader))

    def test_the_data_set_may_be_closed(self):
        data = leat.ProbeDataset(self.path)
        loader = leat.Loader(data, **SMALL)
        data.close()
        del data
        self.assertEqual(digest(next(loader)), digests(1)[0])


class Threads(unittest.TestCase):
    def setUp(self):
        self.path = support.dataset()

    def test_each_batch_once(self):
        wanted = digests(60)
        with leat.Loader(self.path, **SMALL) as loader:
            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                found = list(pool.map(lambda _: digest(next(loader)), range(60)))
        self.assertEqual(sorted(found), sorted(wanted))

    def test_state_while_another_waits(self):
        with leat.Loader(self.path, **SMALL, prefetch=0, threads=1) as loader:
            stop = threading.Event()

            def look():
                while not stop.is_set():
                    self.assertEqual(loader.state()["step"], loader.state()["step"] // 1)
                    loader.counters()
                    loader.explain(3, 5)
            looker = threading.Thread(target=look)
            looker.start()
            found = [digest(batch) for batch in itertools.islice(loader, 20)]
            stop.set()
            looker.join()
        self.assertEqual(found, digests(20))

    def test_fork(self):
        with leat.Loader(self.path, **SMALL) as loader:
            next(loader)
            child = os.fork()
            if child == 0:
                try:
                    next(loader)
                except leat.errors.OptionError as problem:
                    own = leat.Loader(self.path, **SMALL)
                    good = "fork" in str(problem) and digest(next(own)) == digests(1)[0]
                    loader.close()  # leaves the parent's as it is
                    os._exit(0 if good else 2)
                os._exit(1)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
            self.assertEqual(digest(next(loader)), digests(2)[1])

    def test_fork_while_another_waits(self):
        """The child may end the use of a loader whose place a thread of the parent was holding."""
        waiting = threading.Event()

        class Never:  # the library, on a disk that does not answer until it is told to
            def __init__(self, done):
                self.done = done

            def __getattr__(self, name):
                return getattr(leat._library.held, name)

            def leat_loader_wait(self, pointer, timeout_ms):
                waiting.set()
                return self.done.wait(timeout_ms / 1000)
        done = threading.Event()
        with leat.Loader(self.path, **SMALL) as loader:
            with unittest.mock.patch.multiple(leat._ring, lib=Never(done), held=Never(done)):
                thread = threading.Thread(target=next, args=(loader,))
                thread.start()
                waiting.wait()
                child = os.fork()
                if child == 0:
                    signal.alarm(LIMIT)
                    try:
                        next(loader)
                    except leat.errors.OptionError:
                        self.assertRaises(leat.errors.OptionError, loader.seek, 3)
                        loader.close()
                        os._exit(0)
                    os._exit(1)
                self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
                done.set()
                thread.join()

    def test_closed_while_another_explains(self):
        loaders = [leat.Loader(self.path, **SMALL) for _ in range(20)]

        def explain(loader, begun):
            try:
                for step in itertools.count():
                    self.assertEqual(loader.explain(step, 0).step, step)
                    begun.set()
            except ValueError as problem:
                self.assertIn("closed", str(problem))
                return True
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for loader in loaders:
                begun = threading.Event()
                explained = pool.submit(explain, loader, begun)
                self.assertTrue(begun.wait(LIMIT), "nothing is explained")
                loader.close()
                self.assertTrue(explained.result(LIMIT))

    def test_ctrl_c_while_waiting(self):
        waiting = threading.Event()

        class Never:  # the library, on a disk that does not answer
            def __getattr__(self, name):
                return getattr(leat._library.held, name)

            def leat_loader_wait(self, _, timeout_ms):
                waiting.set()
                time.sleep(timeout_ms / 1000)
                return False

        def interrupt():
            waiting.wait(LIMIT)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        with leat.Loader(self.path, **SMALL) as loader:
            with unittest.mock.patch.multiple(leat._ring, lib=Never(), held=Never()):
                other = threading.Thread(target=interrupt)
                other.start()
                self.assertRaises(KeyboardInterrupt, next, loader)
                other.join()
            self.assertTrue(waiting.is_set())
            self.assertEqual(digest(next(loader)), digests(1)[0])

    def test_other_python_threads_run_on(self):
        """While next() waits for a batch: no thread takes the GIL from it, so what another thread
        does meanwhile it does because the GIL was released."""
        count, stop = [0], threading.Event()

        def spin():
            while not stop.is_set():
                count[0] += 1
                time.sleep(0)  # which gives the GIL back
        spinner = threading.Thread(target=spin)
        interval = sys.getswitchinterval()
        with leat.Loader(self.path, batch=64, length=1024, prefetch=0, threads=1) as loader:
            def another_ran():
                before = count[0]
                next(loader)
                return count[0] > before
            try:
                sys.setswitchinterval(1000)
                spinner.start()
                self.assertTrue(support.wait_until(another_ran), "no other thread runs")
            finally:
                stop.set()
                sys.setswitchinterval(interval)
                spinner.join()

    def test_time_of_a_ready_batch(self):
        """Printed, and the speed of another thread beside a consumer that only waits; a shared
        machine decides nothing."""
        count, stop = [0], threading.Event()

        def spin():
            while not stop.is_set():
                count[0] += 1

        def rate(seconds, beside):
            begun, first = time.monotonic(), count[0]
            while time.monotonic() - begun < seconds:
                beside()
            return (count[0] - first) / (time.monotonic() - begun)
        spinner = threading.Thread(target=spin)
        spinner.start()
        try:
            alone = rate(0.5, lambda: time.sleep(0.05))
            with leat.Loader(self.path, batch=64, length=1024, prefetch=0, threads=1) as loader:
                waiting = rate(1.0, lambda: next(loader))
        finally:
            stop.set()
            spinner.join()
        taken = []
        with leat.Loader(self.path, batch=8, length=1024) as loader:
            for _ in range(300):
                while not leat.loader.held.leat_loader_wait(loader._open, 0):
                    time.sleep(0.0005)
                begun = time.perf_counter_ns()
                batch = next(loader)
                taken.append((time.perf_counter_ns() - begun) / 1000)
                del batch
        print(f"\n    next() with a batch ready: median {statistics.median(taken):.1f} us, "
              f"9 of 10 below {statistics.quantiles(taken, n=10)[-1]:.1f} us; another thread runs "
              f"at {100 * waiting / max(alone, 1):.0f} % of its speed beside a consumer that waits")


class Errors(unittest.TestCase):
    def test_what_c_would_cut_short(self):
        path = support.dataset()
        for name in ("batch", "epochs", "host", "hosts", "clients_per_round", "steps_per_round",
                     "threads", "prefetch", "memory"):
            for number in (2 ** 64 + 1, -2 ** 64 + 1):
                with self.subTest(name, number=number):
                    self.assertRaisesRegex(leat.errors.OptionError, f"{name}: {number}",
                                           leat.Loader, path, **{name: number})
        self.assertRaisesRegex(leat.errors.OptionError, "threads", leat.Loader, path,
                               threads=2 ** 32 + 1)
        self.assertRaisesRegex(leat.errors.OptionError, "rows", leat.Loader, path,
                               rows=[0, 2 ** 64 + 1])
        for words in ({"sampler": "plan3\0"}, {"client_weights": "a\0b", "by_client": True}):
            self.assertRaisesRegex(ValueError, "null", leat.Loader, path, **words)
        with leat.Loader(path) as loader:
            loader.seek(3)
            for step in (2 ** 64, 2 ** 64 + 5, -2 ** 64):
                self.assertRaisesRegex(leat.errors.OptionError, "step", loader.seek, step)
                self.assertRaisesRegex(leat.errors.OptionError, "step", loader.explain, step, 0)
                self.assertRaisesRegex(leat.errors.OptionError, "row", loader.explain, 0, step)
            self.assertRaisesRegex(ValueError, "null", loader.seek,
                                   json.dumps(loader.state()) + "\0")
            self.assertEqual(loader.step, 3)

    def test_options_are_named(self):
        path = support.dataset()
        for options, words in (({"batch": 0}, "batch"), ({"length": 3}, "length.*3"),
                               ({"sampler": "plan9"}, "plan9"), ({"hosts": 5}, "host"),
                               ({"timestamp_modes": (40, 30, 20)}, "timestamp"),
                               ({"split": "valid"}, "valid"), ({"rows": [99]}, "99"),
                               ({"memory": 1000}, "memory"), ({"threads": 0}, "threads"),
                               ({"io": "aio"}, "aio"), ({"seed": -1}, "seed")):
            with self.assertRaisesRegex(ValueError, words):
                leat.Loader(path, **{**SMALL, **options})
        self.assertRaises(TypeError, leat.Loader, path, unknown=1)

    def test_what_is_no_path(self):
        cache = leat.CanDataset(support.can_cache())
        for kind in leat.Loader, leat.ProbeDataset:
            for data, word in ((None, "None"), (3, "3"), (cache, "<leat.CanDataset .*>"),
                               ([support.dataset(), None], "None")):
                self.assertRaisesRegex(TypeError, f"^{word} is not a path; give that of a data set "
                                       "of probes$", kind, data)
        with leat.Loader(os.fsencode(support.dataset())) as loader:
            self.assertEqual(loader.data.paths, [support.dataset()])

    def test_texts_are_not_taken_letter_by_letter(self):
        path = support.dataset()
        for options in ({"rows": "012"}, {"rows": b"012"}, {"rows": 3},
                        {"timestamp_modes": "abc"}, {"timestamp_modes": "40,30,30"},
                        {"timestamp_modes": 100}):
            (name, value), = options.items()
            self.assertRaisesRegex(TypeError, f"^{name}: {value!r} is not accepted; give numbers, "
                                   "for example ", leat.Loader, path, **options)
        self.assertRaisesRegex(TypeError, "^timestamp_modes: '4' is not an integer", leat.Loader,
                               path, timestamp_modes=["4", "6", "0"])

    def test_texts_are_not_numbers(self):
        path = support.dataset()
        for name in ("batch", "length", "seed", "epochs", "host", "hosts", "threads", "prefetch",
                     "clients_per_round", "steps_per_round"):
            for value in "8", 8.0:
                self.assertRaisesRegex(TypeError, f"^{name}: {value!r} is not an integer$",
                                       leat.Loader, path, **{name: value})
        self.assertRaisesRegex(TypeError, "^by_client: 'no' is not True or False$", leat.Loader,
                               path, by_client="no")
        with leat.Loader(path, batch=np.int32(2), length=np.int64(64), seed=2 ** 63 - 1,
                         by_client=np.bool_(False)) as loader:
            self.assertEqual(next(loader)["inputs"].shape, (2, 64))

    def test_prefetch(self):
        cache = support.can_cache()
        for kind, path in ((leat.Loader, support.dataset()), (leat.GraphLoader, cache)):
            for number in (-1, np.int64(-1), -2):
                self.assertRaisesRegex(leat.errors.OptionError, rf"^prefetch: {number} is not "
                                       "accepted; give a number of batches, or None for as many",
                                       kind, path, prefetch=number)
            with kind(path, prefetch=np.int32(0)) as loader:
                self.assertEqual(loader.counters()["prefetch"], 0)

    def damaged(self):
        path = os.path.join(support.folder(), "damaged-loader")
        if not os.path.exists(path):
            shutil.copytree(support.dataset(), path)
            data = leat.ProbeDataset(path)
            largest = max(data[row].record_bytes for row in data.rows("train"))
            row = next(data[row] for row in data.rows("train")
                       if data[row].record_bytes == largest)
            shard = os.path.join(path, data.shards[row.shard].name)
            where = row.record()
            data.close()
            with open(shard, "r+b") as file:
                at = file.read().find(where[1024:4096])
                self.assertGreater(at, 0)
                file.seek(at + 500)
                byte = file.read(1)
                file.seek(at + 500)
                file.write(bytes([byte[0] ^ 1]))
        return path

    def test_damage_fails_again_until_seek(self):
        with leat.Loader(self.damaged(), **SMALL) as loader:
            with self.assertRaises(leat.errors.CorruptError) as caught:
                for batch in itertools.islice(loader, 1000):
                    digest(batch)
            step = loader.step
            with self.assertRaises(leat.errors.CorruptError) as again:
                next(loader)
            self.assertEqual(str(caught.exception), str(again.exception))
            self.assertIn(".arrayrecord", str(again.exception))
            loader.seek(step + 1)

    def test_damage_is_masked(self):
        wanted = digests(60)
        masked = 0
        with leat.Loader(self.damaged(), **SMALL, on_corrupt="mask") as loader:
            for step, batch in enumerate(itertools.islice(loader, 60)):
                for row, found in enumerate(digest(batch)):
                    if found == wanted[step][row]:
                        continue
                    masked += 1
                    self.assertFalse(any(batch[key][row].any() for key in leat.KEYS))
                    self.assertTrue(loader.explain(step, row).masked)
            self.assertEqual(loader.counters()["masked"], masked)
            listed = loader.quarantine()
        self.assertGreater(masked, 0)
        self.assertIn(len(listed), (1, 2))  # a page may belong to two records
        self.assertEqual(len({one.shard for one in listed}), 1)
        for one in listed:
            self.assertIn(one.shard, one.reason)


if __name__ == "__main__":
    unittest.main()
