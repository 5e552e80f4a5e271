"""leat train dcgan, sample, export and import: what they print, refuse, and leave; a run that is
stopped or killed at any call and resumed. Runs the command named by LEAT (default: build/leat).
"""
import glob
import hashlib
import json
import os
import random
import re
import shlex
import shutil
import signal
import struct
import subprocess
import time
import unittest
import zlib

import image_set
from command import LEAT, LIMIT, leat
from held import Held
from training import DATA, Training, setUpModule, tearDownModule, train  # noqa: F401

SMALL = ["--width", "4", "--latent", "8", "--unit-size", "8", "--micro-batch", "8",
         "--sample-every", "0"]


# folder to mount it at, folder for a copy of the run, the command
SMALL_DISK = """mount -t tmpfs -o size=3m tmpfs "$1" 2>/dev/null || exec echo no small disk >&2
cd "$1"; copy=$2; shift 2
"$@"; status=$?
cp -a run "$copy"
exit $status
"""


def kill_often(run, kills, most, *words):
    """Kills a training before a drawn call into the file system, one of the first `most`, and
    resumes it, so often."""
    luck = random.Random(5)
    for _ in range(kills):
        resumed = ["--resume"] if os.path.exists(f"{run}/training.json") else []
        with Held(["train", "dcgan", f"{DATA}/faces", "-o", run, *words, *resumed], run,
                  luck.randrange(1, most)) as process:
            process.kill()


def state_of(test, run):
    """The hash of the last checkpoint."""
    return json.loads(test.good("inspect", run, "--verify", "--json").stdout)["checkpoints"][-1][
        "state"]


def tree(path):
    """Names and hashes of all files."""
    found = {}
    for name in sorted(glob.glob("**", root_dir=path, recursive=True, include_hidden=True)):
        if os.path.isfile(f"{path}/{name}"):
            with open(f"{path}/{name}", "rb") as file:
                found[name] = hashlib.sha256(file.read()).hexdigest()
    return found


def picture(path):
    """(width, height, rows of bytes) of a PNG of 8-bit RGB, decoded here."""
    with open(path, "rb") as file:
        data = file.read()
    at, body, size = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        part = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            size = struct.unpack(">IIBBBBB", part)
        elif kind == b"IDAT":
            body += part
        at += 12 + length
    width, height, stride = size[0], size[1], 3 * size[0]
    raw, before, rows = zlib.decompress(body), bytes(stride), []
    for y in range(height):
        kind = raw[y * (stride + 1)]
        line = bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for x in range(stride):
            a, b = line[x - 3] if x >= 3 else 0, before[x]
            c = before[x - 3] if x >= 3 else 0
            if kind == 4:
                p = a + b - c
                near = sorted(((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c)))[0][2]
            else:
                near = (0, a, b, (a + b) // 2)[kind]
            line[x] = (line[x] + near) % 256
        before = bytes(line)
        rows.append(before)
    return width, height, rows


def begin(run):
    """A long run that waits once it has its first checkpoint."""
    return Held(["train", "dcgan", f"{DATA}/faces", "-o", run, "--steps", "100000",
                 "--checkpoint-every", "5", "--threads", "1", *SMALL],
                f"{run}/checkpoints/step-*.sha256")


def round_weights(path, kind, written):
    """Rewrites a file of F32: its values rounded to `kind`, written as `written`."""
    with open(path, "rb") as file:
        data = file.read()
    begin = 8 + struct.unpack("<Q", data[:8])[0]
    header, values = json.loads(data[8:begin]), data[begin:]
    body = b""
    for entry in header.values():
        if "dtype" not in entry:  # the metadata
            continue
        first, end = entry["data_offsets"]
        floats = struct.unpack(f"<{(end - first) // 4}f", values[first:end])
        if kind == "F16":
            items = [struct.pack("<e", value) for value in floats]
            wide = [struct.pack("<f", struct.unpack("<e", item)[0]) for item in items]
        else:
            items = [struct.pack("<f", value)[2:] for value in floats]
            wide = [b"\0\0" + item for item in items]
        piece = b"".join(items if written == kind else wide)
        entry.update(dtype=written, data_offsets=[len(body), len(body) + len(piece)])
        body += piece
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + body)


class Train(Training):
    def state(self, run):
        return json.loads(self.good("train", "dcgan", f"{DATA}/faces", "-o", run, "--resume",
                                    "--json").stdout)["state"]

    def test_a_run(self):
        run = self.at("run")
        said = self.good("train", "dcgan", f"{DATA}/faces", "-o", run, "--steps", "6",
                         *SMALL[:-1], "3")
        self.assertEqual(said.stderr, "leat: the data set has 40 images, too few for the score to "
                                      "mean anything\n")
        for line in (r"steps   1 to 6, [\d.]+ images/s", r"score   [\d.]+; untrained ",
                     r"state   [0-9a-f]{64}\n", r"time    .*, peak memory "):
            self.assertRegex(said.stdout, line)
        with open(f"{run}/training.json", encoding="utf-8") as file:
            training = json.load(file)
        self.assertEqual((training["model"], training["images"]), ("dcgan", 40))
        with open(f"{run}/metrics.jsonl", encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual([line["step"] for line in lines if "loss_g" in line], list(range(1, 7)))
        self.assertEqual([line["step"] for line in lines if "score" in line], [0, 3, 6])
        for name in glob.glob(f"{run}/checkpoints/*.safetensors"):
            with open(name, "rb") as file:
                digest = hashlib.sha256(file.read()).hexdigest()
            with open(name.replace(".safetensors", ".sha256"), encoding="ascii") as file:
                self.assertIn(f"{digest}  {os.path.basename(name)}", file.read())
        width, height, rows = picture(f"{run}/samples/step-000000006.png")
        self.assertGreater(len(set(rows[10])), 1)
        self.assertEqual((width % 66, height % 66, len(rows)), (width % 66, height % 66, height))
        with open(f"{run}/report.html", encoding="utf-8") as file:
            page = file.read()
        self.assertNotRegex(page, r'(?:src|href)="(?!data:|#)')
        self.assertIn("data:image/png;base64,", page)
        self.assertIn(training["run"][:16], page)
        figures = [(text.split("<")[0], re.findall(r'"key line[^>]*></span>([^<]*\w)', text))
                   for text in re.split("<h3>(?!step)", page.split("<h2>")[0])[1:]]
        self.assertEqual(figures, [
            ("Losses", ["D, real", "D, generated", "G"]),
            ("Score over time", ["generated images, now", "half of the images against the other "
                                 "half"]),
            ("Spread between samples over time", ["samples", "images of the data set"]),
            ("Gradients", ["D", "G"]), ("Time", ["seconds per step"])])
        cards = dict(re.findall(r'"card"><span>([^<]*)</span><b>([^<]*)</b>', page))
        last = [line for line in lines if "loss_g" in line][-1]
        self.assertAlmostEqual(float(cards["D loss"]), last["loss_d_images"] + last["loss_d_fakes"],
                               places=3)
        self.assertAlmostEqual(float(cards["G loss"]), last["loss_g"], places=3)

    def test_threads_kernels_and_configuration_change_nothing(self):
        states = set()
        for number, words in enumerate((["--threads", "1"], ["--threads", "2"], ["--threads", "3"],
                                        ["--threads", "8"], ["--kernels", "scalar"])):
            done = train(self.at(f"run-{number}"), "--steps", "4", "--units", "2", "--codec-up",
                         "int8", "--codec-down", "bf16", "--json", *SMALL[:6], "--micro-batch", "4",
                         "--sample-every", "0", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            states.add(json.loads(done.stdout)["state"])
        done = train(self.at("again"), "--config", self.at("run-0", "config.yaml"), "--json")
        states.add(json.loads(done.stdout)["state"])
        self.assertEqual(len(states), 1)
        weights = {tree(self.at(name))["checkpoints/step-000000004.safetensors"]
                   for name in os.listdir(self.top)}
        self.assertEqual(len(weights), 1)

    def test_dry_run(self):
        done = self.good("train", "dcgan", f"{DATA}/faces", "--epochs", "2", "--dry-run", *SMALL)
        self.assertRegex(done.stdout, r"model   [\d,]+ parameters: ")
        self.assertIn("steps   10 of 8 images, 2.00 epochs\n", done.stdout)
        self.assertRegex(done.stdout, "memory  at most .*\n")
        found = json.loads(self.good("train", "dcgan", f"{DATA}/faces", "--epochs", "3",
                                     "--dry-run", "--json", *SMALL).stdout)
        self.assertEqual((found["steps"], found["step_images"], found["images"]), (15, 8, 40))
        self.assertEqual(found["parameters"],
                         found["generator_parameters"] + found["discriminator_parameters"])
        self.assertEqual(os.listdir(self.top), [])

    def test_memory_that_is_not_enough(self):
        done = train(self.at("run"), "--steps", "2", "--memory", "1M", *SMALL)
        self.bad(done, 1, "--memory 1M", "use --memory ")
        self.assertEqual(os.listdir(self.top), [])

    def test_options_are_refused(self):
        run = self.at("run")
        for words, texts in (
                ([], ["--epochs"]),
                (["--steps", "2", "--epochs", "2"], ["steps and epochs"]),
                (["--steps", "2", "--unit-size", "10", "--micro-batch", "4"], ["unit-size 10"]),
                (["--steps", "2", "--codec-down", "int8"], ["codec-down"]),
                (["--steps", "2", "--learning-rate", "0"], ["learning-rate"]),
                (["--steps", "2", "--widht", "4"], ["--widht", "--width"]),
                (["--stesp", "2", "--width", "4"], ["--stesp", "--steps"]),
                (["--steps", "2", "--kernels", "mmx"], ["mmx"]),
                (["--steps", "2", "--threads", "0"], ["threads"]),
                (["--steps", "99999999999999999999"], ["steps"])):
            with self.subTest(words):
                self.bad(train(run, *words), 2, *texts)
                self.assertFalse(os.path.exists(run))
        self.bad(leat("train", "dcgan", f"{DATA}/faces", "--steps", "2"), 2, "-o RUN")
        self.bad(train(run, "--steps", "2", data=self.at("nowhere")), 1, "nowhere")
        image_set.make(self.at("smaller"), 3, 16)
        self.bad(train(run, "--steps", "2", data=self.at("smaller")), 2, "--size 64")

    def test_folders_are_respected(self):
        with open(self.at("precious"), "w", encoding="ascii") as file:
            file.write("gold")
        before = tree(self.top)
        self.bad(train(self.top, "--steps", "2", *SMALL), 1, self.top)
        self.bad(train(self.at("precious"), "--steps", "2", *SMALL), 1, "precious")
        self.assertEqual(tree(self.top), before)
        run = self.at("run")
        self.good("train", "dcgan", f"{DATA}/faces", "-o", run, "--steps", "2", *SMALL)
        before = tree(run)
        self.bad(train(run, "--steps", "2", *SMALL), 1, "--resume")
        self.bad(train(run, "--resume", "--steps", "4", "--width", "8"), 2, "width is 8", "4")
        image_set.make(self.at("others"), 41, 64)
        self.bad(train(run, "--resume", "--steps", "4", data=self.at("others")), 2, "data",
                 "; give that data set, or begin another run, with --init RUN, in another folder")
        self.assertEqual(tree(run), before)
        self.assertEqual(train(self.at("next"), "--init", run, "--steps", "1", *SMALL,
                               data=self.at("others")).returncode, 0)
        self.good("train", "dcgan", f"{DATA}/faces", "-o", run, "--resume", "--steps", "3")
        os.rename(self.at("run", "checkpoints", "step-000000003.safetensors"), self.at("moved"))

    def test_one_process_at_a_time(self):
        run = self.at("run")
        with begin(run) as process:
            self.bad(train(run, "--resume"), 1, run)
            self.good("sample", run, "-o", self.at("g.png"), "--count", "4")
            process.kill()

    def test_interrupts_save(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            run = self.at(f"run-{number}")
            with begin(run) as process:
                process.stop(number)
                out, err = process.rest()
            self.assertEqual((process.returncode, out), (1, ""))
            self.assertIn("--resume", err)
            with open(f"{run}/metrics.jsonl", encoding="utf-8") as file:
                steps = [json.loads(line)["step"] for line in file]
            with open(f"{run}/report.html", encoding="utf-8") as file:
                self.assertRegex(file.read(), f"<span>steps</span><b>(<[^>]*>)?{steps[-1]:,}<")
            last = max(glob.glob(f"{run}/checkpoints/step-*.safetensors"))
            self.assertEqual(int(re.search(r"step-(\d+)", last)[1]), steps[-1])
            done = train(run, "--resume", "--steps", steps[-1] + 3, "--json")
            whole = train(self.at(f"whole-{number}"), "--steps", steps[-1] + 3, "--json",
                          *SMALL)
            self.assertEqual(json.loads(done.stdout)["state"], json.loads(whole.stdout)["state"])

    def test_kills_change_nothing(self):
        words = ["--steps", "70", "--json", "--checkpoint-every", "2", *SMALL]
        run, whole = self.at("run"), train(self.at("whole"), *words)
        kill_often(run, 6, 700, *words)
        self.assertTrue(glob.glob(f"{run}/checkpoints/step-*.sha256"))  # some came to one
        done = train(run, *words, "--resume")
        self.assertEqual(json.loads(done.stdout)["state"], json.loads(whole.stdout)["state"])
        first, second = tree(self.at("whole")), tree(run)
        for name in ("checkpoints/step-000000070.safetensors", "training.json", "config.yaml"):
            self.assertEqual(first[name], second[name])
        self.assertEqual(sorted(first), sorted(second))

    @unittest.skipUnless(shutil.which("unshare"), "unshare is not installed")
    def test_full_disk(self):
        """It says what is kept and what to do; the same bits follow once there is space."""
        words = ["train", "dcgan", f"{DATA}/faces", "-o", "run", *SMALL]
        keeping = ["--steps", "40", "--checkpoint-every", "1", "--keep", "100"]
        os.mkdir(self.at("small"))
        done = subprocess.run(["unshare", "-rm", "sh", "-c", SMALL_DISK, "sh", self.at("small"),
                               self.at("run"), LEAT, *words, *keeping], text=True, timeout=LIMIT,
                              capture_output=True, check=False)
        if "no small disk" in done.stderr or "unshare:" in done.stderr:
            self.skipTest("this user may not mount a file system")
        self.bad(done, 1, "No space left on device", "free some space, and continue with --resume")
        resumed = self.good("train", "dcgan", f"{DATA}/faces", "-o", self.at("run"), "--resume",
                            "--json")
        self.assertGreater(json.loads(resumed.stdout)["first_step"], 0)
        alone = train(self.at("alone"), *SMALL, "--steps", 40, "--json")
        self.assertEqual(*[json.loads(each.stdout)["state"] for each in (resumed, alone)])

    def test_samples(self):
        run = self.at("run")
        self.good("train", "dcgan", f"{DATA}/faces", "-o", run, "--steps", "8",
                  "--checkpoint-every", "4", *SMALL[:-1], "8")
        said = self.good("sample", run, "-o", self.at("a.png"))
        self.assertRegex(said.stdout, r"64 images of step 8, deviation 0\.\d+: .*a\.png\n")
        self.assertEqual(picture(self.at("a.png")), picture(f"{run}/samples/step-000000008.png"))
        self.good("sample", run, "-o", self.at("b.png"), "--seed", "9", "--threads", "3")
        self.good("sample", run, "-o", self.at("c.png"), "--seed", "9", "--threads", "1")
        self.good("sample", run, "-o", self.at("d.png"), "--seed", "9", "--step", "4")
        self.assertEqual(tree(self.top)["b.png"], tree(self.top)["c.png"])
        self.assertNotEqual(tree(self.top)["b.png"], tree(self.top)["d.png"])
        self.assertNotEqual(tree(self.top)["b.png"], tree(self.top)["a.png"])
        found = json.loads(self.good("sample", run, "-o", self.at("e.png"), "--count", "3",
                                     "--json").stdout)
        self.assertEqual((found["step"], found["count"]), (8, 3))
        self.bad(leat("sample", run, "-o", self.at("f.png"), "--step", "3"), 2, "4, 8")
        self.bad(leat("sample", DATA, "-o", self.at("f.png")), 1, DATA)
        self.assertFalse(os.path.exists(self.at("f.png")))

    def test_grey_images_are_refused(self):
        run, model, grey = self.at("run"), self.at("model"), self.at("grey")
        self.good("train", "dcgan", f"{DATA}/faces", "-o", run, "--steps", "1", *SMALL)
        self.good("export", run, "-o", model)
        with open(f"{model}/generator.safetensors", "r+b") as file:
            size = struct.unpack("<Q", file.read(8))[0]
            first, last = json.loads(file.read(size))["main.12.weight"]["data_offsets"]
            file.seek(8 + size + first)
            file.write(bytes(last - first))
        self.good("import", model, "-o", grey)
        self.bad(leat("sample", grey, "-o", self.at("g.png")), 1, "0.02")
        self.assertFalse(os.path.exists(self.at("g.png")))

    def test_damaged_checkpoints_are_named(self):
        run = self.at("run")
        self.good("train", "dcgan", f"{DATA}/faces", "-o", run, "--steps", "1", *SMALL)
        for kind in ("safetensors", "json", "sha256"):
            with self.subTest(kind):
                path = f"{run}/checkpoints/step-000000001.{kind}"
                with open(path, "r+b") as file:
                    whole = file.read()
                    file.seek(len(whole) // 2)
                    file.write(bytes([whole[len(whole) // 2] ^ 1]))
                self.bad(leat("sample", run, "-o", self.at("g.png")), 1, "step-000000001",
                         "damaged")
                with open(path, "wb") as file:
                    file.write(whole)
        self.good("sample", run, "-o", self.at("g.png"))

    def test_nothing_of_the_users_is_touched(self):
        """A project's own folders of checkpoints and settings are not a run that began."""
        project = self.at("project")
        os.makedirs(f"{project}/checkpoints")
        for name in ("checkpoints/step-000000500.safetensors", "config.yaml"):
            with open(f"{project}/{name}", "w", encoding="utf-8") as file:
                file.write("precious")
        before = tree(project)
        self.bad(leat("import", self.at("missing.safetensors"), "-o", project), 1, "not empty")
        self.bad(train(project, "--steps", "1", *SMALL), 1, "not empty")
        self.bad(train(project, "--steps", "1", "--resume", *SMALL), 1, "not empty")
        self.assertEqual(tree(project), before)
        self.bad(leat("import", self.at("missing.safetensors"), "-o", self.at("new")), 1, "missing")
        self.assertFalse(os.path.exists(self.at("new")))

    def test_links_are_not_followed(self):
        run, victim = self.at("run"), self.at("victim")
        self.good("train", "dcgan", f"{DATA}/faces", "-o", run, "--steps", "1", *SMALL)
        with open(victim, "w", encoding="utf-8") as file:
            file.write("precious")
        for name in ("config.yaml", "report.html", "metrics.jsonl", "samples/step-000000002.png"):
            with self.subTest(name):
                shutil.copytree(run, self.at("linked"))
                if os.path.exists(self.at("linked", name)):
                    os.remove(self.at("linked", name))
                os.symlink(victim, self.at("linked", name))
                self.bad(train(self.at("linked"), "--resume", "--steps", "2"), 1, name, "link")
                shutil.rmtree(self.at("linked"))
        shutil.copytree(run, self.at("linked"))
        os.rename(self.at("linked", "checkpoints"), self.at("elsewhere"))
        os.symlink(self.at("elsewhere"), self.at("linked", "checkpoints"))
        self.bad(train(self.at("linked"), "--resume", "--steps", "2"), 1, "checkpoints", "link")
        with open(victim, encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious")

    def test_the_last_whole_checkpoint_survives(self):
        """A run that continues before damaged checkpoints keeps what it writes, whatever --keep."""
        run = self.at("run")
        self.good("train", "dcgan", f"{DATA}/faces", "-o", run, "--steps", "6", "--keep", "2",
                  "--checkpoint-every", "3", *SMALL)
        with open(f"{run}/checkpoints/step-000000006.safetensors", "r+b") as file:
            file.seek(5000)
            file.write(b"damaged")
        self.good("train", "dcgan", f"{DATA}/faces", "-o", self.at("same"), "--steps", "9", *SMALL)
        # killed when the fifth is written, when the fourth is removed, and while the sixth is made
        for call in (1, 22, 45):
            killed = self.at(f"run-{call}")
            shutil.copytree(run, killed)
            with Held(["train", "dcgan", f"{DATA}/faces", "-o", killed, "--resume", "--keep", "1",
                       "--checkpoint-every", "1", "--steps", "100000"],
                      f"{killed}/checkpoints/step-000000005.sha256", call) as process:
                process.kill()
            self.assertTrue(os.path.exists(f"{killed}/checkpoints/step-000000005.sha256"))
            self.assertEqual(os.path.exists(f"{killed}/checkpoints/step-000000004.sha256"),
                             call == 1)
            self.good("train", "dcgan", f"{DATA}/faces", "-o", killed, "--resume", "--steps", "9")
            self.assertEqual(state_of(self, killed), state_of(self, self.at("same")))

    def test_damaged_documents_are_not_forgotten(self):
        run = self.at("run")
        self.good("train", "dcgan", f"{DATA}/faces", "-o", run, "--steps", "3",
                  "--checkpoint-every", "1", *SMALL)
        want = state_of(self, run)
        before = {name: hashed for name, hashed in tree(run).items() if "checkpoints" not in name}
        for step in (3, 2, 1):
            with open(f"{run}/checkpoints/step-{step:09}.json", "r+", encoding="utf-8") as file:
                text = file.read().replace("position", "positioN")
                file.seek(0)
                file.write(text)
            done = train(run, "--resume", "--dry-run")
            self.assertEqual(done.returncode, 0, done.stderr)
            if step == 3:
                shutil.copytree(run, self.at("copy"))
                done = train(self.at("copy"), "--resume")
                self.assertIn("checkpoint 3 is damaged", done.stderr)
                self.assertEqual(state_of(self, self.at("copy")), want)
        self.bad(train(run, "--resume"), 1, "every checkpoint is damaged")
        after = {name: hashed for name, hashed in tree(run).items() if "checkpoints" not in name}
        self.assertEqual(after["metrics.jsonl"], before["metrics.jsonl"])

    def test_checkpoints_of_another_run(self):
        a, b = self.at("a"), self.at("b")
        self.good("train", "dcgan", f"{DATA}/faces", "-o", a, "--steps", "4", "--seed", "9", *SMALL)
        self.good("train", "dcgan", f"{DATA}/faces", "-o", b, "--steps", "2", *SMALL)
        for path in glob.glob(f"{a}/checkpoints/step-000000004.*"):
            shutil.copy(path, f"{b}/checkpoints")
        self.bad(leat("inspect", b, "--verify"), 1, "another run")
        done = train(b, "--resume", "--steps", "5")
        self.assertIn("another run", done.stderr)
        self.good("train", "dcgan", f"{DATA}/faces", "-o", self.at("c"), "--steps", "5", *SMALL)
        found = json.loads(self.good("inspect", b, "--json").stdout)["checkpoints"][-1]
        self.assertEqual((found["step"], found["state"]), (5, state_of(self, self.at("c"))))

    def test_a_new_run_says_so(self):
        """--resume without a run or a checkpoint begins at the first step, and says so."""
        run = self.at("run")
        self.bad(train(run, "--resume"), 2, "no run to resume")
        done = train(run, "--resume", "--steps", "2", *SMALL)
        self.assertIn("nothing to resume", done.stderr)
        for name in glob.glob(f"{run}/checkpoints/*"):
            os.remove(name)
        done = train(run, "--resume")
        self.assertIn("first step again", done.stderr)
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("resume", train(run, "--resume").stderr)

    def test_initial_weights_are_part_of_the_settings(self):
        """A run's config.yaml gives the run again, from the same initial weights."""
        first, a, b = self.at("it's first"), self.at("a"), self.at("b")
        self.good("train", "dcgan", f"{DATA}/faces", "-o", first, "--steps", "1", *SMALL)
        self.good("train", "dcgan", f"{DATA}/faces", "-o", a, "--steps", "2", "--init", first,
                  *SMALL)
        self.good("train", "dcgan", f"{DATA}/faces", "-o", b, "--config", f"{a}/config.yaml")
        self.assertEqual(state_of(self, a), state_of(self, b))
        self.assertIn("init         weights with hash", self.good("inspect", a).stdout)
        self.bad(train(a, "--resume", "--steps", "3", "--init", b), 2, "initial weights",
                 "; leave out --init: the run has its weights")
        self.good("train", "dcgan", f"{DATA}/faces", "-o", a, "--steps", "3", "--resume")
        with open(f"{a}/config.yaml", encoding="utf-8") as file:
            self.assertIn("it''s first'", file.read())
        wanted = state_of(self, a)
        shutil.rmtree(f"{a}/checkpoints")
        done = train(a, "--resume")
        self.bad(done, 2, "no checkpoint yet; pass --init ")
        init = re.search("pass (--init .*) again", done.stderr)[1]
        again = [LEAT, "train", "dcgan", f"{DATA}/faces", "-o", a, "--resume"]
        subprocess.run(["sh", "-c", f"exec {shlex.join(again)} {init}"], check=True,
                       timeout=LIMIT, capture_output=True)
        self.assertEqual(state_of(self, a), wanted)

    def test_few_images(self):
        image_set.make(self.at("few"), 5, 64)
        done = train(self.at("run"), "--steps", "1", "--width", "4", data=self.at("few"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("has 5 images", done.stderr)
        self.assertIn("too few for the score", done.stderr)

    def test_files_that_are_not_pictures_stay(self):
        run = self.at("run")
        self.good("train", "dcgan", f"{DATA}/faces", "-o", run, "--steps", "1", *SMALL)
        weights = f"{run}/checkpoints/step-000000001.safetensors"
        before = tree(run)
        self.bad(leat("sample", run, "-o", weights), 1,
                 "not recognised as a PNG")
        self.assertEqual(tree(run), before)
        for _ in range(2):  # one of its own is replaced
            self.good("sample", run, "-o", self.at("grid.png"), "--count", "4")

    def test_pickles_are_named(self):
        for begin in (b"PK\3\4" + bytes(60), b"\x80\x02}q\x00" + bytes(60)):
            with open(self.at("model.pt"), "wb") as file:
                file.write(begin)
            self.bad(leat("import", self.at("model.pt"), "-o", self.at("run")), 1,
                     "safetensors.torch.save_file, as docs/detect.md shows")

    def test_metrics_that_others_have_edited(self):
        """Lines that do not parse stay, and so do CRLF; an unfinished end is removed."""
        run, path = self.at("run"), self.at("run", "metrics.jsonl")
        self.good("train", "dcgan", f"{DATA}/faces", "-o", run, "--steps", "10", *SMALL)
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")[:-1]
        lines[4] = lines[4].replace("step", "sTep")
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write("\r\n".join(lines) + '\r\n{"step":10')
        self.good("train", "dcgan", f"{DATA}/faces", "-o", run, "--resume", "--steps", "11")
        with open(path, encoding="utf-8", newline="") as file:
            found = file.read()
        self.assertTrue(found.startswith("\r\n".join(lines) + "\r\n"))
        last = [json.loads(line) for line in found[len("\r\n".join(lines)) + 2:].splitlines()]
        self.assertEqual([line["step"] for line in last if "epoch" not in line], [11])

    def test_weights_that_are_not_finite(self):
        run, model = self.at("run"), self.at("model")
        self.good("train", "dcgan", f"{DATA}/faces", "-o", run, "--steps", "1", *SMALL)
        self.good("export", run, "-o", model)
        with open(f"{model}/discriminator.safetensors", "r+b") as file:
            size = struct.unpack("<Q", file.read(8))[0]
            first = json.loads(file.read(size))["main.3.running_mean"]["data_offsets"][0]
            file.seek(8 + size + first)
            file.write(struct.pack("<f", float("nan")))
        self.bad(train(self.at("next"), "--init", model, "--steps", "1", *SMALL), 1,
                 "main.3.running_mean is nan")
        self.bad(leat("import", model, "-o", self.at("next")), 1, "main.3.running_mean is nan")

    def test_weights_of_16_bits(self):
        run, model = self.at("run"), self.at("model")
        self.good("train", "dcgan", f"{DATA}/faces", "-o", run, "--steps", "1", *SMALL)
        self.good("export", run, "-o", model)
        states = {}
        for kind in ("F16", "BF16"):
            for written in (kind, "F32"):  # as such, and as the floats that these are
                there = self.at(f"{kind}-{written}")
                shutil.copytree(model, there)
                for name in ("generator", "discriminator"):
                    round_weights(f"{there}/{name}.safetensors", kind, written)
                self.good("import", there, "-o", f"{there}.run")
                with open(f"{there}.run/checkpoints/step-000000000.json", "rb") as file:
                    states[kind, written] = json.load(file)["state"]
            self.assertEqual(states[kind, kind], states[kind, "F32"])
        self.assertNotEqual(states["F16", "F16"], states["BF16", "BF16"])
        with open(self.at("F16-F16", "generator.safetensors"), "r+b") as file:
            size = struct.unpack("<Q", file.read(8))[0]
            file.seek(8 + size)
            file.write(struct.pack("<H", 0x7C00))
        self.bad(leat("import", self.at("F16-F16"), "-o", self.at("next")), 1, " is inf")

    def test_one_network_without_its_prefix(self):
        run, model = self.at("run"), self.at("model")
        self.good("train", "dcgan", f"{DATA}/faces", "-o", run, "--steps", "1", *SMALL)
        self.good("export", run, "-o", model)
        self.bad(leat("import", f"{model}/generator.safetensors", "-o", self.at("next")), 1,
                 '"G." of the generator and "D." of the discriminator')
        self.assertFalse(os.path.exists(self.at("next")))

    def test_an_export_keeps_what_is_there(self):
        run, repo = self.at("run"), self.at("repo")
        self.good("train", "dcgan", f"{DATA}/faces", "-o", run, "--steps", "2",
                  "--checkpoint-every", "1", *SMALL)
        os.makedirs(f"{repo}/.git")
        with open(f"{repo}/README.md", "w", encoding="utf-8") as file:
            file.write("# my project")
        before = tree(repo)
        self.bad(leat("export", run, "-o", repo), 1, "README.md", "--replace")
        self.assertEqual(tree(repo), before)
        os.rename(f"{repo}/README.md", f"{repo}/notes.md")
        self.good("export", run, "-o", repo, "--step", "1")
        one = tree(repo)
        self.assertEqual(len(one), 6)
        self.bad(leat("export", run, "-o", repo), 1, "--replace")
        self.good("export", run, "-o", repo, "--replace")
        two = tree(repo)
        self.assertEqual(sorted(two), sorted(one))
        self.assertEqual(two["notes.md"], one["notes.md"])
        self.assertNotEqual(two["generator.safetensors"], one["generator.safetensors"])
        os.remove(f"{repo}/config.json")
        os.mkdir(f"{repo}/config.json")
        before = tree(repo)
        self.bad(leat("export", run, "-o", repo, "--replace"), 1, "config.json")
        self.assertEqual(tree(repo), before)
        self.assertEqual([name for name in os.listdir(self.top) if ".tmp" in name], [])

    def test_an_export_with_each_checkpoint(self):
        run, repo, again = self.at("run"), self.at("repo"), self.at("again")
        words = ["--checkpoint-every", "1", *SMALL]
        done = self.good("train", "dcgan", f"{DATA}/faces", "-o", run, "--steps", "1", "--export",
                         repo, *words)
        self.assertIn("hf upload REPO DIR --every 10", done.stderr)
        self.good("export", run, "-o", again)
        self.assertEqual(tree(repo), tree(again))
        with open(f"{repo}/notes.md", "w", encoding="utf-8") as file:
            file.write("# mine")
        self.good("train", "dcgan", f"{DATA}/faces", "-o", run, "--steps", "2", "--resume",
                  "--export", repo)
        self.good("export", run, "-o", again, "--replace")
        os.rename(f"{repo}/notes.md", f"{again}/notes.md")
        self.assertEqual(tree(repo), {name: hash for name, hash in tree(again).items()
                                      if name != "notes.md"})
        # another run's export, or somebody's files: before anything is written
        self.bad(train(self.at("next"), "--export", repo, "--steps", "1", "--seed", "9", *SMALL), 1,
                 "not an export of this run")
        os.makedirs(self.at("theirs"))
        with open(self.at("theirs", "config.json"), "w", encoding="utf-8") as file:
            file.write("not JSON")
        before = tree(self.at("theirs"))
        self.bad(train(self.at("next"), "--export", self.at("theirs"), "--steps", "1", *SMALL), 1,
                 "not an export of this run")
        self.assertEqual(tree(self.at("theirs")), before)
        self.assertFalse(os.path.exists(self.at("next")))

    def test_an_export_that_fails(self):
        run, repo = self.at("run"), self.at("repo")
        os.makedirs(f"{repo}/samples.png")
        self.bad(train(run, "--export", repo, "--steps", "1", *SMALL), 1, "samples.png")
        with open(f"{DATA}/file", "w", encoding="utf-8"):
            pass
        self.bad(train(run, "--export", f"{DATA}/file", "--steps", "1", *SMALL), 1, "not a folder")
        done = self.good("train", "dcgan", f"{DATA}/faces", "-o", run, "--steps", "1", "--export",
                         f"{DATA}/file/repo", *SMALL)
        self.assertIn("step 1 was not exported", done.stderr)
        self.good("inspect", run, "--verify")

    def test_a_changed_reference_is_measured_again(self):
        run = self.at("run")
        words = [word for word in SMALL if word not in ("--sample-every", "0")]
        self.good("train", "dcgan", f"{DATA}/faces", "-o", run, "--steps", "1", "--sample-every",
                  "1", *words)
        with open(f"{run}/reference.json", encoding="utf-8") as file:
            whole = file.read()
        number = re.search(r'"sum":\[([-0-9.e]+),', whole)[1]
        with open(f"{run}/reference.json", "w", encoding="utf-8") as file:
            file.write(whole.replace(number, "7.25", 1))
        self.good("train", "dcgan", f"{DATA}/faces", "-o", run, "--resume", "--steps", "2")
        with open(f"{run}/reference.json", encoding="utf-8") as file:
            self.assertEqual(file.read(), whole)

    def test_an_end_in_the_file_replaces_the_runs(self):
        run, path = self.at("run"), self.at("more.yaml")
        self.good("train", "dcgan", f"{DATA}/faces", "-o", run, "--epochs", "1", *SMALL)
        for text, last in (("steps: 7\n", 7), ("keep: 2\n", 7), ("steps: 7\nepochs: 2\n", 0)):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            done = train(run, "--resume", "--config", path, "--json")
            if last:
                self.assertEqual(json.loads(done.stdout)["last_step"], last)
            else:
                self.bad(done, 2, "both set")

    def test_readers_while_it_is_trained(self):
        run = self.at("run")
        with Held(["train", "dcgan", f"{DATA}/faces", "-o", run, "--steps", "100000", "--keep",
                   "1", "--checkpoint-every", "1", *SMALL],
                  f"{run}/training.json") as process:
            process.close(gate=True)
            steps, until = set(), time.monotonic() + LIMIT
            while len(steps) < 5:
                read = json.loads(self.good("inspect", run, "--json").stdout)
                steps.update(one["step"] for one in read["checkpoints"])
                self.assertLess(time.monotonic(), until, f"5 checkpoints, not {steps}")
            self.assertIsNone(process.poll())
            process.kill()

    def test_a_run_as_data(self):
        run = self.at("run")
        self.good("train", "dcgan", f"{DATA}/faces", "-o", run, "--steps", "4",
                  "--checkpoint-every", "2", *SMALL)
        shown = self.good("inspect", run).stdout
        self.assertIn("40 images of 64 x 64", shown)
        self.assertIn("2 checkpoints", shown)
        found = json.loads(self.good("inspect", run, "--verify", "--json").stdout)
        self.assertEqual([of["step"] for of in found["checkpoints"]], [2, 4])
        self.assertEqual((found["last_step"], found["verification"]), (4, {"ok": True}))
        self.assertEqual(found["settings"]["width"], "4")
        self.assertIn("2 checkpoints, all with their hashes", leat("doctor", run).stdout)
        self.bad(leat("cat", run), 2, "metrics.jsonl")
        self.bad(leat("batches", run), 2, "no batches")
        self.bad(leat("inspect", run, "--html", self.at("x.html")), 2, "report.html")
        with open(f"{run}/checkpoints/step-000000002.safetensors", "r+b") as file:
            file.seek(5000)
            file.write(b"damaged")
        self.good("inspect", run)
        self.bad(leat("inspect", run, "--verify"), 1, "step-000000002")
        checked = leat("doctor", run)
        self.assertEqual(checked.returncode, 1)
        self.assertIn("step-000000002", checked.stdout)

    def test_export_and_import(self):
        run, model, back = self.at("run"), self.at("model"), self.at("back")
        self.good("train", "dcgan", f"{DATA}/faces", "-o", run, "--steps", "5", "--seed", "4",
                  *SMALL)
        self.good("export", run, "-o", model)
        self.assertEqual(sorted(os.listdir(model)), [
            "README.md", "config.json", "discriminator.safetensors", "generator.safetensors",
            "samples.png"])
        with open(f"{model}/README.md", encoding="utf-8") as file:
            card = file.read()
        self.assertIn("- dcgan\n", card)
        self.assertNotIn(DATA, card)
        with open(f"{model}/config.json", encoding="utf-8") as file:
            receipt = json.load(file)["training"]
        for name in ("generator", "discriminator"):
            with open(f"{model}/{name}.safetensors", "rb") as file:
                self.assertEqual(receipt[f"{name}_sha256"], hashlib.sha256(file.read()).hexdigest())
        self.good("export", run, "-o", self.at("again"), "--step", "5")
        self.assertEqual(tree(self.at("again")), tree(model))
        self.good("import", model, "-o", back)
        for path, out in ((run, "one.png"), (back, "two.png")):
            self.good("sample", path, "-o", self.at(out), "--seed", "3", "--count", "8")
        self.assertEqual(tree(self.top)["one.png"], tree(self.top)["two.png"])
        self.good("import", f"{run}/checkpoints/step-000000005.safetensors", "-o",
                  self.at("weights"))
        self.good("train", "dcgan", f"{DATA}/faces", "-o", self.at("further"), "--init", model,
                  "--steps", "2", *SMALL)
        self.bad(train(self.at("wrong"), "--init", model, "--steps", "2"), 1, "width")
        self.bad(leat("import", f"{DATA}/faces", "-o", self.at("wrong")), 1, "faces")
        self.bad(leat("import", model, "-o", back), 1, back)
        with open(self.at("evil.pt"), "wb") as file:
            file.write(b"\x80\x04cos\nsystem\n(S'touch owned'\ntR.")
        self.bad(leat("import", self.at("evil.pt"), "-o", self.at("wrong")), 1, "evil.pt")
        self.assertFalse(os.path.exists(self.at("wrong")))

    def test_settings_of_the_reference_system(self):
        with open(self.at("config.yaml"), "w", encoding="ascii") as file:
            file.write("database:\n  host: db.example.org\n  password: s3cret\n"
                       "training:\n  images_per_work_unit: 16\n  num_workunits_per_update: 3\n"
                       "  learning_rate: 0.001\nworker:\n  batch_size: 8\n"
                       "huggingface:\n  token: hf_abc\n")
        done = train(self.at("run"), "--config", self.at("config.yaml"), "--steps", "2", "--width",
                     "4", "--sample-every", "0")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.at("run", "config.yaml"), encoding="ascii") as file:
            saved = file.read()
        for line in ("units: 3\n", "unit-size: 16\n", "micro-batch: 8\n", "learning-rate: 0.001\n"):
            self.assertIn(line, saved)
        for name in glob.glob(self.at("run", "**"), recursive=True):
            if os.path.isfile(name):
                with open(name, "rb") as file:
                    text = file.read()
                self.assertNotIn(b"s3cret", text, name)
                self.assertNotIn(b"hf_abc", text, name)
        self.assertNotIn("s3cret", done.stdout + done.stderr)

    def test_settings_that_are_not_understood(self):
        for text, wanted in (("widht: 4\n", ["widht", "width"]), ("width: [4]\n", ["line 1"]),
                             ("stesp: 4\n", ["stesp", "steps"]),
                             ("width: &a 4\n", ["line 1"]), ("width: !!int 4\n", ["line 1"]),
                             ("width: 4\nwidth: 5\n", ["line 2"]), ("width: four\n", ["four"]),
                             ("\twidth: 4\n", ["line 1"])):
            with self.subTest(text):
                with open(self.at("c.yaml"), "w", encoding="ascii") as file:
                    file.write(text)
                self.bad(train(self.at("run"), "--config", self.at("c.yaml"), "--steps", "2"), 2,
                         *wanted)
        self.assertEqual(os.listdir(self.top), ["c.yaml"])


if __name__ == "__main__":
    unittest.main()
