"""leat batches as a user runs it: hashes, hosts, states in fresh processes, words, damage, threads.

Runs the command named by LEAT (default: build/leat).
"""
# TSan: a loader in the command, with states and damage.
import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

import golden_files
import pings
from command import LEAT, LIMIT, ROOT, leat as run, wait_for_output

SLOW = bool(os.environ.get("LEAT_SANITIZE"))  # a process takes ten times as long

DATA = None


def batches(*words, path="set"):
    done = run("batches", os.path.join(DATA, path), "--length", 128, *words)
    assert (done.returncode, done.stderr) == (0, ""), (words, done.stderr)
    return done.stdout


def setUpModule():
    global DATA
    DATA = tempfile.mkdtemp(prefix="leat-batches-")
    os.environ["TMPDIR"] = os.path.join(DATA, "temporary")
    os.mkdir(os.environ["TMPDIR"])
    source = os.path.join(DATA, "pings.csv")
    pings.write_csv(source)
    for name, more in (("set", ()), ("packed", ("--compression", "zstd"))):
        done = run("ingest", "probes", source, "-o", os.path.join(DATA, name),
                   "--probes-per-shard", 30, "--max-row-size", "16K", *more)
        assert done.returncode == 0, done.stderr


def tearDownModule():
    shutil.rmtree(DATA)


def copied(name):
    to = os.path.join(DATA, name)
    shutil.copytree(os.path.join(DATA, "set"), to)
    return to


def by_row(lines):
    return sorted(lines.splitlines(), key=lambda line: [int(word) for word in line.split()[:2]])


class Hashes(unittest.TestCase):
    STEPS = ("--batch", 120, "--steps", "0:3")

    def test_hash_is_that_of_the_lines(self):
        lines = batches(*self.STEPS, "--hash=rows")
        for number, line in enumerate(lines.splitlines()):
            self.assertRegex(line, rf"\A{number // 120} {number % 120} [0-9a-f]{{64}}\Z")
        self.assertEqual(number, 359)
        self.assertEqual(len(set(lines.splitlines())), 360)
        self.assertEqual(batches(*self.STEPS, "--hash"),
                         hashlib.sha256(lines.encode()).hexdigest() + "\n")

    def test_whatever_makes_them(self):
        want = batches(*self.STEPS, "--hash")
        for path in ("set", "packed"):
            for more in (("--threads", 1), ("--threads", 2), ("--threads", 3), ("--threads", 16),
                         ("--prefetch", 0), ("--prefetch", 1), ("--prefetch", 8),
                         ("--io", "pread"), ("--on-corrupt", "mask"), ("--memory", "64M")):
                with self.subTest(path=path, more=more):
                    self.assertEqual(batches(*self.STEPS, "--hash", *more, path=path), want)
        self.assertNotEqual(batches(*self.STEPS, "--hash", "--seed", 1), want)

    def test_hosts_share(self):
        want = batches(*self.STEPS, "--hash=rows")
        for hosts in (2, 3, 4, 5, 8):
            lines = "".join(batches(*self.STEPS, "--hash=rows", "--hosts", hosts, "--host", host)
                            for host in range(hosts))
            self.assertEqual(by_row(lines), want.splitlines())

    def test_explicit_rows(self):
        want = batches(*self.STEPS, "--hash=rows").splitlines()
        got = batches(*self.STEPS, "--hash=rows", "--rows", "7,119,0").splitlines()
        self.assertEqual(got, [want[120 * step + row] for step in range(3) for row in (7, 119, 0)])

    def test_json_says_the_same(self):
        lines = batches(*self.STEPS, "--hash=rows")
        told = json.loads(batches(*self.STEPS, "--hash=rows", "--json", "--time"))
        self.assertEqual(told["text"], lines)
        self.assertEqual(told["hash"], hashlib.sha256(lines.encode()).hexdigest())
        self.assertEqual(told["steps"], [0, 3])
        counters = told["counters"]
        self.assertEqual(counters["sequences"], 360)
        self.assertEqual(counters["tokens"] + counters["padding"], 360 * 128)
        self.assertEqual((counters["padding"], counters["masked"], told["quarantine"]), (0, 0, []))
        self.assertGreater(told["time"]["tokens_per_second"], 0)
        self.assertEqual(json.loads(told["state"])["step"], 3)


class Windowed(unittest.TestCase):
    """--order windowed: one order, whoever makes it."""
    RANGE = ("--batch", 120, "--steps", "0:3")
    STEPS = (*RANGE, "--order", "windowed:1M")

    def test_whatever_makes_them(self):
        want = batches(*self.STEPS, "--hash")
        for path in ("set", "packed"):
            for more in (("--threads", 1), ("--threads", 3), ("--prefetch", 0), ("--prefetch", 8),
                         ("--io", "pread"), ("--on-corrupt", "mask"), ("--memory", "128M")):
                with self.subTest(path=path, more=more):
                    self.assertEqual(batches(*self.STEPS, "--hash", *more, path=path), want)
        others = {batches(*self.RANGE, "--hash", *more)
                  for more in ((), ("--order", "global"),
                               ("--order", "windowed:1M", "--seed", 1))}
        self.assertEqual(len(others), 2)
        self.assertNotIn(want, others)

    def test_hosts_share(self):
        want = batches(*self.STEPS, "--hash=rows").splitlines()
        for hosts in (3, 5, 8):
            lines = "".join(batches(*self.STEPS, "--hash=rows", "--hosts", hosts, "--host", host)
                            for host in range(hosts))
            self.assertEqual(by_row(lines), want)

    def test_resumed(self):
        state = os.path.join(DATA, "windowed.json")
        self.addCleanup(os.unlink, state)
        words = ("--batch", 120, "--order", "windowed:1M", "--hash=rows")
        first = batches(*words, "--steps", "0:1", "--save-state", state)
        rest = batches(*words, "--resume", state, "--steps", ":3", "--threads", 3)
        self.assertEqual(first + rest, batches(*self.STEPS, "--hash=rows"))
        done = run("batches", os.path.join(DATA, "set"), "--length", 128, "--batch", 120,
                   "--resume", state)
        self.assertEqual(done.returncode, 1)
        self.assertIn('order', done.stderr)

    def test_summary(self):
        out = batches("--order", "windowed", "--steps", "0:9", "--time")
        self.assertRegex(out, r"\Awindows    up to [\d.]+ [KM]iB of the page cache, each block of "
                              r"rows read once an epoch\nsteps")
        self.assertRegex(out, r"\nreading    threads waited for data [\d.]+ % of their time\n")
        shards = os.path.join(DATA, "set", "train")
        size = sum(os.path.getsize(os.path.join(shards, name)) for name in os.listdir(shards))
        told = json.loads(batches("--order", "windowed", "--steps", "0:1", "--json"))["counters"]
        self.assertLessEqual(told["window_bytes"], size)  # mapped: not more than there is
        out = batches("--order", "windowed", "--steps", "0:9", "--io", "pread")
        self.assertRegex(out, r"\Awindows    up to [\d.]+ [KM]iB of [\d.]+ MiB of memory, each ")
        self.assertNotIn("reading", out)
        self.assertNotIn("windows", batches("--steps", "0:9", "--time"))

    def test_memory_is_said_before_the_steps(self):
        words = ("batches", os.path.join(DATA, "set"), "--order", "windowed", "--steps",
                 "0:1000000000")
        with subprocess.Popen([LEAT, *words], stdout=subprocess.PIPE) as process:
            try:
                wait_for_output(process)
                self.assertRegex(process.stdout.readline(), rb"\Awindows    up to ")
            finally:
                process.kill()

    def test_a_hash_comes_first(self):
        out = batches("--order", "windowed", "--steps", "0:9", "--hash", "--time")
        self.assertRegex(out, r"\A[0-9a-f]{64}\nsteps [^\0]*\nwindows    up to")
        self.assertNotIn("windows", batches("--order", "windowed", "--steps", "0:9", "--hash"))

    def test_memory_is_that_of_the_data(self):
        """Windows of 128 MiB are asked for, but the data has less."""
        for path in ("set", "packed"):
            told = json.loads(batches("--order", "windowed", "--io", "pread", "--memory", "64M",
                                      "--json", path=path))["counters"]
            self.assertGreater(told["window_bytes"], 0)
            self.assertLess(told["window_bytes"], 16 << 20)
            self.assertLess(told["memory_bytes"], 64 << 20)


class Windows(unittest.TestCase):
    def test_strides_in_words(self):
        """What --explain prints holds of the measurements that it lists, and reads as English."""
        seen = set()
        for step in range(60):
            out = batches("--sampler", "plan2", "--explain", step, step % 8)
            for first, last, every, listed in re.findall(
                    r"drawn from measurements (\d+) to (\d+) of \d+(?:, every (\d+\w\w))?; "
                    r"\d+ measurements?:\n  (.*)\n", out):
                seen.add(every)
                at = [int(one) for one in re.findall(r"\d+", listed)]
                stride = int(every[:-2] or 1)
                self.assertEqual(at, list(range(int(first), int(last) + 1, stride))[:len(at)])
                self.assertEqual(at[-1], int(last) if every else at[-1], out)
        proper = {"", "2nd", "4th", "8th", "16th", "32nd", "64th", "128th", "256th", "512th"}
        self.assertLessEqual(seen, proper)
        self.assertLessEqual({"2nd", "4th", "32nd"}, seen)


class States(unittest.TestCase):
    def state(self, name="state.json"):
        path = os.path.join(DATA, name)
        self.addCleanup(lambda: os.path.exists(path) and os.unlink(path))
        return path

    def test_every_step_in_a_fresh_process_twice(self):
        steps = 20 if SLOW else 200
        want = batches("--steps", f"0:{steps + 1}", "--hash=rows").splitlines()
        state, again = self.state(), self.state("again.json")
        batches("--steps", "0:0", "--save-state", state)  # before the first batch
        for step in range(steps):
            one = batches("--resume", state, "--steps", f":{step + 1}", "--hash=rows",
                          "--save-state", again, "--threads", 1 + step % 3).splitlines()
            self.assertEqual(one, want[8 * step:8 * step + 8])
            # the same place resumed a second time, two steps long
            two = batches("--resume", state, "--steps", f":{step + 2}", "--hash=rows").splitlines()
            self.assertEqual(two, want[8 * step:8 * step + 16])
            os.replace(again, state)
        with open(state, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["step"], steps)

    def test_other_hosts_in_the_middle(self):
        want = by_row(batches("--batch", 120, "--steps", "0:9", "--hash=rows"))
        got, state = "", None
        for hosts, end in ((8, 2), (3, 5), (5, 9)):
            after = self.state(f"{hosts}.json")
            for host in range(hosts):
                more = ("--resume", state) if state else ()
                got += batches("--batch", 120, "--steps", f":{end}", "--hash=rows", "--hosts",
                               hosts, "--host", host, "--save-state", after, *more)
            state = after
        self.assertEqual(by_row(got), want)

    def test_step_alone(self):
        want = batches("--steps", "1000000:1000002", "--hash")
        state = self.state()
        batches("--steps", "1000000:1000000", "--save-state", state)
        self.assertEqual(batches("--resume", state, "--steps", ":1000002", "--hash"), want)
        with open(state, encoding="utf-8") as file:
            text = file.read()
        short = json.loads(text)
        del short["in_words"]
        short = json.dumps(short, separators=(",", ":"))
        self.assertLessEqual(len(short), 256)
        with open(state, "w", encoding="utf-8") as file:
            file.write(short)  # the short form is accepted as well
        self.assertEqual(batches("--resume", state, "--steps", ":1000002", "--hash"), want)

    def test_refusals_name_what_differs(self):
        state = self.state()
        batches("--steps", "0:4", "--save-state", state, "--seed", 3)
        base = ("batches", os.path.join(DATA, "set"), "--resume", state)
        same = ("--seed", 3, "--length", 128)
        for more, words in (
                (("--length", 128), "seed: the state was saved with seed 3, .*; use seed 3$"),
                (("--seed", 3, "--length", 256), "length was 128 .* is 256 now; use the options"),
                ((*same, "--batch", 9), "batch was 8 .* is 9"),
                ((*same, "--split", "test"), "split was train")):
            done = run(*base, *more)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertRegex(done.stderr, f"cannot resume: .*{words}")
        other = os.path.join(DATA, "other")
        source = os.path.join(DATA, "other.csv")
        with open(source, "w", encoding="utf-8") as out:
            out.write("event_time,src_addr,dst_addr,ip_version,rtt\n"
                      "1556136000,192.0.2.1,192.0.2.2,4,5\n")
        self.assertEqual(run("ingest", "probes", source, "-o", other).returncode, 0)
        done = run("batches", other, "--resume", state, "--seed", 3, "--length", 128,
                   "--batch", 8, "--split", "train")
        self.assertEqual(done.returncode in (1, 2), True)
        done = run("batches", os.path.join(DATA, "packed"), "--resume", state, "--seed", 3,
                   "--length", 128, "--steps", ":5")
        self.assertEqual(done.returncode, 0)  # the same data, compressed

    def test_no_step_is_left(self):
        """The hash of nothing must not pass for that of steps."""
        state = self.state()
        batches("--steps", "0:4", "--save-state", state)
        for end in (0, 3, 4):
            for more in ((), ("--hash",), ("--hash=rows",), ("--json",), ("--epochs", 1)):
                done = run("batches", os.path.join(DATA, "set"), "--length", 128, "--resume",
                           state, "--steps", f":{end}", *more)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(f"--steps ends at {end}, but the state of --resume is already at "
                              "step 4, ", done.stderr)
        nothing = hashlib.sha256().hexdigest() + "\n"
        count = json.loads(batches("--epochs", 1, "--json"))["steps"][1]
        batches("--epochs", 1, "--save-state", state)  # at its end
        for more in (("--resume", state), ("--resume", state, "--steps", ":"),
                     ("--resume", state, "--steps", f":{count + 1}"), ("--steps", "3:3")):
            done = run("batches", os.path.join(DATA, "set"), "--length", 128, "--epochs", 1,
                       "--hash", *more)
            self.assertEqual((done.returncode, done.stdout), (0, nothing))
            self.assertEqual(done.stderr, "leat: the hash is that of no batches, because none was "
                                          "built\n")

    @staticmethod
    def files_of_ours():
        """What a run could leave: where its files are, and in the folder that it has for temporary
        ones. /tmp and /dev/shm are everybody's; test_files_of_a_run looks at these."""
        return {os.path.join(folder, name) for folder, _, files in os.walk(DATA) for name in files}

    def test_killed_and_stopped(self):
        """kill -9 leaves nothing behind; SIGTERM ends with the state of where it was."""
        state = self.state()
        before = self.files_of_ours()
        command = [LEAT, "batches", os.path.join(DATA, "set"), "--length", "128", "--steps",
                   "0:1000000000", "--save-state", state, "--words", "--time"]
        for number in (signal.SIGKILL, signal.SIGTERM):
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as made:
                wait_for_output(made)  # the first batches are made
                made.send_signal(number)
                out, err = made.communicate(timeout=LIMIT)
            self.assertEqual(os.path.exists(state), number == signal.SIGTERM)
        self.assertEqual(made.returncode, 1)  # not all steps that were asked for
        self.assertIn(b"steps      0:", out)
        self.assertRegex(err.decode(), r"\Aleat: stopped before step \d+ of 0:1000000000; "
                                       rf"use --resume to continue from the state in {state}\n\Z")
        with open(state, encoding="utf-8") as file:
            step = json.load(file)["step"]
        self.assertGreater(step, 0)
        self.assertEqual(batches("--resume", state, "--steps", f":{step + 1}", "--hash"),
                         batches("--steps", f"{step}:{step + 1}", "--hash"))
        done = run("batches", os.path.join(DATA, "set"), "--length", 128, "--resume", state,
                   "--steps", f"{step + 1}:{step + 2}")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr,
                         rf"starts at {step + 1}, but the state of --resume is at {step};")
        self.assertEqual(self.files_of_ours() - before, {state})

    def test_files_of_a_run(self):
        """A run has files of its data open and mapped, and none of its own anywhere."""
        command = [LEAT, "batches", os.path.join(DATA, "set"), "--length", "128", "--steps",
                   "0:1000000000", "--words"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as made:
            wait_for_output(made)  # and it goes no further than the pipe has room
            process = f"/proc/{made.pid}"
            with open(f"{process}/maps", encoding="ascii", errors="replace") as maps:
                names = {line.rstrip("\n").split(maxsplit=5)[-1] for line in maps if "/" in line}
            for number in os.listdir(f"{process}/fd"):
                with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                    names.add(os.readlink(f"{process}/fd/{number}"))
            made.kill()
            made.communicate(timeout=LIMIT)
        inside = {name for name in names if name.startswith(os.path.join(DATA, "set") + "/")}
        self.assertNotEqual(inside, set())
        code = {name for name in names if name.startswith(ROOT + "/") or ".so" in name or
                "/tsan.rodata." in name}  # the thread sanitizer's own
        self.assertEqual({name for name in names - inside - code if
                          name.startswith(("/tmp/", "/var/tmp/", "/dev/shm/", DATA))}, set())


class Words(unittest.TestCase):
    def test_summary(self):
        text = batches("--epochs", 1)
        self.assertRegex(text, r"\Asteps +0:\d+, [\d,]+ sequences of 128 tokens "
                               r"\(an epoch has [\d,]+\)\n")
        self.assertIn("padding    0 %", text)
        text = batches("--epochs", 1, "--packing", "none", "--time")
        self.assertRegex(text, r"padding    [1-9]")
        self.assertRegex(text, r"time +[\d.]+ s, [\d.]+ [kMG] tokens/s")

    def test_epochs_end(self):
        told = json.loads(batches("--epochs", 2, "--batch", 7, "--json"))
        self.assertEqual(told["counters"]["sequences"], 2 * told["epoch_sequences"])
        self.assertEqual(told["step_count"], -(-2 * told["epoch_sequences"] // 7))
        lines = batches("--epochs", 1, "--batch", 7, "--hash=rows").splitlines()
        zeros = hashlib.sha256(bytes(6 * 128 * 4)).hexdigest()
        anchors = told["epoch_sequences"]
        self.assertEqual([line.endswith(zeros) for line in lines],
                         [number >= anchors for number in range(len(lines))])

    def test_steps_without_epochs_end_too(self):
        last = 2 ** 40 - 1
        for words in ((), ("--by", "client", "--batch", 2)):
            lines = batches("--hash=rows", "--steps", f"{last}:{last + 3}", *words).splitlines()
            self.assertEqual({line.split()[0] for line in lines}, {str(last)})
            told = json.loads(batches("--steps", f"{last + 1}:{last + 3}", "--json", *words))
            self.assertEqual(told["counters"]["batches"], 0)

    def test_words_and_explain_agree(self):
        words = batches("--words", "--batch", 3, "--steps", "5:6")
        parts = re.split(r"(?m)^step 5 row \d+\n", words)[1:]
        self.assertEqual(len(parts), 3)
        for row, part in enumerate(parts):
            self.assertGreater(part.count("segment "), 2)
            told = batches("--batch", 3, "--explain", 5, row)
            self.assertTrue(told.startswith(f"step 5 row {row}: sequence {15 + row}, epoch 0, "))
            self.assertTrue(told.endswith("in words:\n" + part))
            data = json.loads(batches("--batch", 3, "--explain", 5, row, "--json"))
            self.assertEqual(len(data["inputs"]), 128)
            self.assertEqual(sum(s["token_count"] for s in data["segments"]), 128)
            count = sum(len(s["measurements"]) for s in data["segments"])
            self.assertEqual(len(part.splitlines()), count)

    def test_by_client(self):
        one = batches("--by", "client", "--hash")
        self.assertEqual(one, batches("--by", "client", "--hash", "--threads", 3))
        self.assertNotEqual(one, batches("--hash"))
        weights = os.path.join(DATA, "weights.csv")
        probes = set()
        for row in range(8):
            told = json.loads(batches("--by", "client", "--explain", 0, row, "--json"))
            self.assertEqual(len({s["src_id"] for s in told["segments"]}), 1)
            probes.add(told["segments"][0]["src_id"])
        self.assertEqual(len(probes), 8)
        with open(weights, "w", encoding="utf-8") as out:
            out.write("src_id,weight\n" + "".join(f"{probe},1\n" for probe in sorted(probes)[:4]))
        few = ("--by", "client", "--client-weights", weights, "--batch", 4)
        told = [json.loads(batches(*few, "--explain", step, row, "--json"))
                for step in range(3) for row in range(4)]
        drawn = {one["segments"][0]["src_id"] for one in told}
        self.assertEqual(drawn, set(sorted(probes)[:4]))
        done = run("batches", os.path.join(DATA, "set"), *few[:-1], 5)
        self.assertEqual(done.returncode, 2)
        self.assertIn("5 are requested, but only 4 can be drawn", done.stderr)

    def test_files_that_cannot_be_written_are_told_before_the_work(self):
        for option in ("--save-state", "--report"):
            for path in (DATA, os.path.join(DATA, "no", "such", "file")):
                done = run("batches", os.path.join(DATA, "set"), "--steps", "0:1000000000", option,
                           path)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(path, done.stderr)

    def test_paths_that_are_values_of_options(self):
        done = run("batches", os.path.join(DATA, "set"), "--hash", "rows")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn('cannot open "rows": no such file or folder', done.stderr)
        done = run("batches", os.path.join(DATA, "set"), os.path.join(DATA, "packed"))
        self.assertIn("is a separate data set and cannot be combined", done.stderr)

    def test_no_training_rows(self):
        """Test probes are not trained on because train is empty."""
        path = os.path.join(DATA, "tests only")
        done = run("ingest", "probes", os.path.join(DATA, "pings.csv"), "-o", path,
                   "--train-ratio", "0")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run("batches", path)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"no rows in the split train \(0 in train, \d+ in test, "
                                      r"0 in neither\); choose a split that has rows")
        for split in ("test", "all"):
            self.assertIn("padding", batches("--split", split, path="tests only"))

    def test_refused(self):
        for line, words in (("--hosts 3", "3 hosts cannot share a batch of 8 rows"),
                            ("--host 1", "host is 1; it must be 0 to 0"),
                            ("--rows 1,8", "8 is not a row of a batch of 8"),
                            ("--rows 1,,2", '--rows: "1,,2" is not accepted'),
                            ("--rows 1 --hosts 2", "give only one of them"),
                            ("--memory 100K", "memory_bytes is 102400, but [0-9]+ are required"),
                            ("--steps 5", '--steps: "5" is not accepted'),
                            ("--steps 5:", "has no end"),
                            ("--steps 5:3", "5:3\" ends before it starts"),
                            ("--timestamp-modes 1,2,3", "timestamp-modes"),
                            ("--explain 5 8", "no row 8 of step 5"),
                            ("--clients-per-round 3", "is for --by client"),
                            ("--by client --epochs 1", "epochs is 1, but sampling by client")):
            with self.subTest(line):
                done = run("batches", os.path.join(DATA, "set"), *line.split())
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr, r"\Aleat: .*" + words)
                self.assertEqual(done.stderr.count("\n"), 1)


class Damage(unittest.TestCase):
    def test_fail_and_mask(self):
        path = copied("damaged")
        shard = os.path.join("train", "train_shard_00001.arrayrecord")
        pings.flip(os.path.join(path, shard), 5000)
        words = ("batches", path, "--length", 128, "--epochs", 1)
        done = run(*words)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"step \d+, row \d+: shard \"train/train_shard_00001.*"
                                      r"page at byte 4096: hash mismatch")
        clean = batches("--epochs", 1, "--hash=rows").splitlines()
        hashes = set()
        for more in (("--threads", 1), ("--threads", 3), ("--io", "pread")):
            done = run(*words, "--on-corrupt", "mask", "--hash=rows", *more)
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stderr, r"masked: shard train/train_shard_00001.arrayrecord, "
                                          r"record \d+, byte 4096: ")
            hashes.add(done.stdout)
        self.assertEqual(len(hashes), 1)
        zeros = hashlib.sha256(bytes(6 * 128 * 4)).hexdigest()
        masked = done.stdout.splitlines()
        self.assertEqual(len(masked), len(clean))
        for was, now in zip(clean, masked):
            self.assertTrue(now == was or now == " ".join(was.split()[:2] + [zeros]), (was, now))
        told = json.loads(run(*words, "--on-corrupt", "mask", "--json").stdout)
        count = sum(was != now for was, now in zip(clean, masked))
        self.assertGreater(count, 0)
        self.assertEqual(told["counters"]["masked"], count)
        self.assertEqual({item["shard"] for item in told["quarantine"]}, {shard})
        first = next(line.split() for was, line in zip(clean, masked) if was != line)
        told = run(*words, "--on-corrupt", "mask", "--explain", *first[:2]).stdout
        self.assertIn("zeros: ", told)


class Others(unittest.TestCase):
    """Rows that PyArrow and array_record wrote, in every compression: one and the same batches."""

    def rows(self, name):
        return golden_files.path(f"golden/latency/rows/{name}.arrayrecord")

    def test_rows_of_others(self):
        hashes = {run("batches", self.rows(name), "--hash").stdout
                  for name in ("g1_none", "g1_zstd", "g1_brotli6", "g1_snappy", "g4_none",
                               "g4_zstd", "g4_brotli6", "g4_snappy")}
        self.assertEqual(len(hashes), 1)
        self.assertRegex(hashes.pop(), r"\A[0-9a-f]{64}\n\Z")
        both = run("batches", self.rows("train"), self.rows("test"), "--split", "test",
                   "--hash").stdout
        one = run("batches", self.rows("test"), "--hash").stdout
        self.assertEqual(both, one)


if __name__ == "__main__":
    unittest.main()
