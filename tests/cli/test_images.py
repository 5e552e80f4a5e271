"""leat inspect, cat, batches and doctor of image data sets made of known pixels: text, JSON, page,
verification, PNG, batches, as a user runs them. Runs the command named by LEAT (default:
build/leat)."""
import hashlib
import json
import os
import shutil
import tempfile
import unittest

import hostile
import image_set
import pages
from command import leat

COUNT, SIZE = 90, 24
REJECTED = [("b/x.gif", "not_an_image", "a GIF image"), ("b/y.jpg", "truncated", "ends early"),
            ("b/<i>.jpg", "truncated", "ends early"), ("c.jpg", "truncated", "ends early"),
            ("d.jpg", "truncated", "ends early"), ("e.png", "damaged", "CRC error")]
NAMES = None  # of the images
TOP = SET = None  # a folder, and the data set in it


def setUpModule():
    global TOP, SET, NAMES
    TOP = tempfile.mkdtemp(prefix="leat-images-")
    SET = os.path.join(TOP, "set")
    NAMES = image_set.make(SET, COUNT, SIZE, REJECTED)


def tearDownModule():
    shutil.rmtree(TOP)


def at(*names):
    return os.path.join(TOP, *names)


def flip(path, place):
    with open(path, "r+b") as file:
        file.seek(place)
        byte = file.read(1)[0]
        file.seek(place)
        file.write(bytes([byte ^ 16]))


class Case(unittest.TestCase):
    def run_leat(self, *words):
        done = leat(*words)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout

    def refuse(self, words, *lines):
        done = leat(*lines)
        self.assertEqual((done.returncode, done.stdout), (2, ""), lines)
        self.assertIn(words, done.stderr)


class Inspect(Case):
    def test_text(self):
        text = self.run_leat("inspect", SET)
        self.assertIn(f"{SET}: an image data set, 90 images of 24 x 24, ", text)
        self.assertRegex(text, r"\n  width +24 +\d+ +\d+ +914")
        self.assertRegex(text, r"\n  height +48 +\d+ +\d+ +137")
        self.assertNotIn("enlarged", text)
        self.assertRegex(text, r"levels, 0 to 255 +mean +deviation   from every image")
        self.assertRegex(text, r"\n  truncated +4   b/y.jpg, b/<i>.jpg, c.jpg, \.\.\.\n")
        self.assertRegex(text, r"\n  not an image +1   b/x.gif\n")
        self.assertRegex(text, (r"\n  fingerprint  [0-9a-f]{64}\n  decoded      [0-9a-f]{64}\n"
                                r"  sorted       [0-9a-f]{64}\n\Z"))

    def test_json(self):
        document = json.loads(self.run_leat("inspect", SET, "--json"))
        everything = b"".join(image_set.pixels(i, SIZE) for i in range(COUNT))
        self.assertEqual(document["kind"], "image data set")
        self.assertEqual((document["images"], document["size"]), (COUNT, SIZE))
        self.assertEqual(document["fingerprint"], hashlib.sha256(everything).hexdigest())
        decoded = b"".join((i * 2654435761 % 2 ** 64).to_bytes(8, "little") for i in range(COUNT))
        self.assertEqual(document["decoded_sha256"], hashlib.sha256(decoded).hexdigest())
        self.assertEqual(document["rejected_files"], 6)
        self.assertEqual({name: one["count"] for name, one in document["rejected"].items()
                          if one["count"]}, {"not_an_image": 1, "truncated": 4, "damaged": 1})
        self.assertEqual(document["rejected"]["truncated"]["first"][1],
                         {"file": "b/<i>.jpg", "what": "ends early"})
        self.assertEqual(document["originals"]["width"]["max"], 914)
        values = document["values"]
        self.assertTrue(values["of_every_image"])
        for place, name in enumerate(("red", "green", "blue")):
            channel = everything[place::3]
            counts = [channel.count(level) for level in range(256)]
            mean = sum(channel) / len(channel)
            self.assertEqual(values[name]["pixels_by_level"], counts)
            self.assertAlmostEqual(values[name]["mean"], mean)
            self.assertAlmostEqual(
                values[name]["deviation"],
                (sum(n * (level - mean) ** 2 for level, n in enumerate(counts)) /
                 len(channel)) ** .5)
        means = [sum(image_set.pixels(i, SIZE)) / (SIZE * SIZE * 3) for i in range(COUNT)]
        self.assertEqual(values["images_by_brightness"],
                         [sum(int(mean + .5) == level for mean in means) for level in range(256)])

    def test_threads_and_samples(self):
        whole = self.run_leat("inspect", SET, "--json", "--threads", "1")
        self.assertEqual(whole, self.run_leat("inspect", SET, "--json", "--threads", "5"))
        text = self.run_leat("inspect", SET, "--read", "40000")
        self.assertRegex(text, r"from a sample: \d+ of 90 images, .* "
                               r"\(--read none removes the limit\)")
        self.assertEqual(text, self.run_leat("inspect", SET, "--read", "40000", "--threads", "3"))
        none = json.loads(self.run_leat("inspect", SET, "--read", "0", "--json"))
        self.assertEqual(none["values"], {"of_every_image": False, "images_read": 0})
        self.assertIn("No image was read", self.page("--read", "0"))

    def page(self, *more):
        path = at("page.html")
        self.run_leat("inspect", SET, "--html", path, *more)
        with open(path, encoding="utf-8") as file:
            return file.read()

    def test_page(self):
        text = self.page("--verify")
        page = pages.check_stands_alone(self, text)
        pages.check_labels(self, text)
        self.assertIn("Verified: no problem found.", "".join(page.texts))
        self.assertIn("b/&lt;i&gt;.jpg", text)
        sheet, mean = pages.pictures(text)
        self.assertEqual(sheet[:3], (8 * (SIZE + 2) - 2, 8 * (SIZE + 2) - 2, 3))
        for number in (0, 1, 7, 8, 63):  # shown evenly spaced, 8 to a row
            image = image_set.pixels(COUNT * number // 64, SIZE)
            x, y = number % 8 * (SIZE + 2), number // 8 * (SIZE + 2)
            for line in range(SIZE):
                begin = ((y + line) * sheet[0] + x) * 3
                self.assertEqual(sheet[3][begin:begin + SIZE * 3],
                                 image[line * SIZE * 3:(line + 1) * SIZE * 3])
        all_pixels = [image_set.pixels(i, SIZE) for i in range(COUNT)]
        self.assertEqual(mean[3], bytes(int(sum(levels) / COUNT + .5)
                                        for levels in zip(*all_pixels)))

    def test_large_images_are_reduced(self):
        """Cells of at most 96 pixels, each the mean of a square."""
        image_set.make(at("large"), 3, 200)
        path = at("large.html")
        self.run_leat("inspect", at("large"), "--html", path)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        sheet, mean = pages.pictures(text)
        self.assertEqual((sheet[:3], mean[:3]), ((3 * 68 - 2, 66, 3), (200, 200, 3)))
        self.assertIn("in the order of their names, reduced", text)
        image = image_set.pixels(1, 200)
        for y in range(66):
            for x in range(66):
                squares = [image[((3 * y + i) * 200 + 3 * x) * 3:][:9] for i in range(3)]
                wanted = [int(sum(sum(line[c::3]) for line in squares) / 9 + .5) for c in range(3)]
                place = (y * sheet[0] + 68 + x) * 3
                self.assertEqual(list(sheet[3][place:place + 3]), wanted)

    def test_browser(self):
        self.page()
        pages.check_in_browser(self, at("page.html"), TOP)

    def test_verify(self):
        self.assertIn("\n  no problem found\n", self.run_leat("inspect", SET, "--verify"))
        for name, words in (("images.safetensors", "damaged, by the hashes of their pages"),
                            ("images.pages", "its XXH3-64 differs"),
                            ("images.json", "its SHA-256 differs"),
                            (".complete", "has changed since it was written")):
            damaged = at("damaged-" + name.strip(".").split(".")[-1])
            shutil.copytree(SET, damaged)
            flip(os.path.join(damaged, name), 60)
            done = leat("inspect", damaged, "--verify")
            self.assertEqual(done.returncode, 1, name)
            self.assertRegex(done.stdout, rf"problem: {name}: .*{words}")
            document = json.loads(leat("inspect", damaged, "--verify", "--json").stdout)
            self.assertFalse(document["verification"]["ok"])
            done = leat("doctor", damaged)
            self.assertEqual(done.returncode, 1, name)
            self.assertRegex(done.stdout, rf"\nproblem .*{name}")
        flip(at("damaged-pages", "images.pages"), 60)  # and back
        os.remove(at("damaged-pages", "rejected.csv"))
        done = leat("inspect", at("damaged-pages"), "--verify")
        self.assertEqual(done.returncode, 1)
        self.assertIn("rejected.csv: lists 0 files, but images.json says 6", done.stdout)

    def test_doctor(self):
        text = self.run_leat("doctor", SET)
        self.assertIn(f'image data set "{SET}" opens: 90 images of 24 x 24', text)
        self.assertIn("6 files rejected", text)
        self.assertNotIn("does not belong", text)
        other = at("doctor")
        shutil.copytree(SET, other)
        os.remove(os.path.join(other, "rejected.csv"))
        for name in (".leat", "mine"):
            os.makedirs(os.path.join(other, name))
        done = leat("doctor", other)
        self.assertEqual(done.returncode, 1)
        for line in ("note     .leat: is the work of an ingest that is running or was interrupted",
                     "note     mine: does not belong to the data set",
                     "problem  rejected.csv: lists 0 files, but images.json says 6"):
            self.assertIn(line + "\n", done.stdout)


class Cat(Case):
    def test_lists(self):
        lines = [json.loads(line) for line in self.run_leat("cat", SET).splitlines()]
        self.assertEqual(lines, [
            {"image": i, "name": NAMES[i], "width": SIZE + 10 * i, "height": 2 * SIZE + i,
             "decoded": f"{i * 2654435761 % 2 ** 64:016x}"} for i in range(COUNT)])
        one = self.run_leat("cat", SET, "--image", "7", "-f", "words")
        self.assertEqual(one, f"image 7: {NAMES[7]}, 94 x 55 pixels, decoded "
                              f"{7 * 2654435761:016x}\n")
        self.assertEqual(one, self.run_leat("cat", SET, "--image", NAMES[7], "-f", "words"))
        self.assertEqual(self.run_leat("cat", SET, "--image", "88:"),
                         "".join(json.dumps(line, separators=(",", ":")) + "\n"
                                 for line in lines[88:]))

    def test_png(self):
        path = at("image.png")
        for image in ("0", "41", NAMES[89]):
            self.run_leat("cat", SET, "--image", image, "-o", path)
            number = NAMES.index(image) if image in NAMES else int(image)
            with open(path, "rb") as file:
                self.assertEqual(pages.png_pixels(file.read()),
                                 (SIZE, SIZE, 3, image_set.pixels(number, SIZE)))

    def test_refused(self):
        self.refuse("no image \"nobody.jpg\"", "cat", SET, "--image", "nobody.jpg")
        self.refuse("there are images 0 to 89", "cat", SET, "--image", "90")
        self.refuse("--output writes one image", "cat", SET, "-o", at("x.png"))
        self.refuse("--output writes one image", "cat", SET, "-o", at("x.png"), "--image", "1:3")
        self.refuse("will be a PNG", "cat", SET, "-o", at("x.jpg"), "--image", "1")
        self.refuse("--format csv is for probe rows", "cat", SET, "-f", "csv")
        self.refuse("--graph is for CAN caches", "cat", SET, "--graph", "1")
        self.refuse("must be the only argument", "cat", SET, SET)
        self.assertFalse(os.path.exists(at("x.png")))

    def test_damage(self):
        damaged = at("damaged-cat")
        shutil.copytree(SET, damaged)
        flip(os.path.join(damaged, "images.safetensors"), 4096 + 5 * SIZE * SIZE * 3 + 3)
        done = leat("cat", damaged, "--image", "5", "-o", at("damaged.png"))
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("images.safetensors\": page at byte", done.stderr)
        self.assertFalse(os.path.exists(at("damaged.png")))

    def test_hostile_names(self):
        names = sorted([hostile.NAME.replace("\n", "") + "0.jpg", "b.jpg"])
        image_set.make(at("hostile"), 2, 8, names=names)
        for words in (["cat", at("hostile"), "-f", "words"],
                      ["batches", at("hostile"), "--explain", "0"], ["inspect", at("hostile")]):
            text = self.run_leat(*words)
            self.assertEqual(hostile.unfit(text), set(), words)
        listed = self.run_leat("cat", at("hostile")).splitlines()
        self.assertEqual([json.loads(line)["name"] for line in listed], names)


class Batches(Case):
    def order(self, steps, batch, *options):
        """The images of steps 0 .. steps - 1, by --explain."""
        out = []
        for step in range(steps):
            rows = json.loads(self.run_leat("batches", SET, "--batch", str(batch), *options,
                                            "--explain", str(step), "--json"))["rows"]
            self.assertEqual([row["row"] for row in rows], list(range(batch)))
            out.append([row["image"] for row in rows])
        return out

    def test_bytes(self):
        """The lines are the SHA-256 of the images that --explain names, and the hash is theirs."""
        order = self.order(8, 30, "--seed", "5")
        self.assertEqual(sorted(sum(order[:3], [])), list(range(COUNT)))
        self.assertNotEqual(order[:3], order[3:6])
        lines = "".join(f"{step} {row} {hashlib.sha256(image_set.pixels(i, SIZE)).hexdigest()}\n"
                        for step, images in enumerate(order) for row, i in enumerate(images))
        words = ("batches", SET, "--batch", "30", "--seed", "5", "--steps", "0:8")
        self.assertEqual(self.run_leat(*words, "--hash=rows"), lines)
        self.assertEqual(self.run_leat(*words, "--hash").strip(),
                         hashlib.sha256(lines.encode()).hexdigest())
        for threads in ("1", "2", "3", "8"):
            self.assertEqual(self.run_leat(*words, "--hash=rows", "--threads", threads), lines)

    def test_hosts(self):
        for form in ("u8", "float"):
            words = ("batches", SET, "--batch", "24", "--as", form, "--steps", "0:5", "--hash=rows")
            whole = self.run_leat(*words)
            for hosts in (2, 4):
                shares = "".join(self.run_leat(*words, "--host", str(host), "--hosts", str(hosts))
                                 for host in range(hosts))
                in_order = sorted(shares.splitlines(), key=lambda line: [
                    int(number) for number in line.split()[:2]])
                self.assertEqual("\n".join(in_order) + "\n", whole)
        self.refuse("cannot share a batch of 24", "batches", SET, "--batch", "24", "--hosts", "5")

    def test_in_windows(self):
        words = ("batches", SET, "--batch", "30", "--order", "windowed:1M")
        order = self.order(6, 30, "--order", "windowed:1M")
        self.assertEqual(sorted(sum(order[:3], [])), list(range(COUNT)))
        self.assertNotEqual(order, self.order(6, 30))
        lines = "".join(f"{step} {row} {hashlib.sha256(image_set.pixels(i, SIZE)).hexdigest()}\n"
                        for step, images in enumerate(order) for row, i in enumerate(images))
        self.assertEqual(self.run_leat(*words, "--steps", "0:6", "--hash=rows"), lines)
        state, words = at("windowed.json"), (*words, "--epochs", "2", "--hash=rows")
        first = self.run_leat(*words, "--steps", ":2", "--save-state", state)
        self.assertEqual(first + self.run_leat(*words, "--resume", state), lines)
        self.assertIn("\nreading    threads waited for data ", self.run_leat(*words[:-1], "--time"))
        done = leat("batches", SET, "--batch", "30", "--epochs", "2", "--resume", state)
        self.assertEqual(done.returncode, 1)
        self.assertIn("order", done.stderr)
        self.refuse("--order: ", "batches", SET, "--order", "windows")

    def test_epochs_and_resume(self):
        words = ("batches", SET, "--batch", "40", "--epochs", "2", "--hash=rows")
        whole = self.run_leat(*words)
        self.assertEqual(whole.count("\n"), 5 * 40)  # 180 positions: every batch is full
        state = at("state.json")
        first = self.run_leat(*words, "--steps", ":2", "--save-state", state)
        self.assertEqual(first + self.run_leat(*words, "--resume", state), whole)
        for end in ("0", "1", "2"):
            self.refuse(f"--steps ends at {end}, but the state of --resume is already at step 2, ",
                        *words, "--resume", state, "--steps", f":{end}")
        done = leat("batches", SET, "--batch", "20", "--resume", state)
        self.assertEqual(done.returncode, 1)
        self.assertIn("batch was 40 when the state was saved and is 20 now", done.stderr)

    def test_words(self):
        text = self.run_leat("batches", SET, "--steps", "0:3", "--time")
        self.assertRegex(text, r"\Asteps      0:3, 192 images of 24 x 24 as levels \(an epoch "
                               r"has 90\)\nread .*\ntime .*images/s.*\nwaiting ")
        line = self.run_leat("batches", SET, "--explain", "2", "7").strip()
        self.assertRegex(line, r"\Astep 2 row 7: epoch 1, position 45, image \d+, a/\d{4}.jpg, "
                               r"original \d+ x \d+\Z")
        document = json.loads(self.run_leat("batches", SET, "--steps", "0:3", "--json", "--hash",
                                            "--as", "float"))
        self.assertEqual(document["options"], {"batch": "64", "as": "float", "seed": "0",
                                               "order": "global"})
        self.assertEqual(document["steps"], [0, 3])
        self.assertEqual(document["counters"]["images"], 192)
        self.assertEqual(len(document["hash"]), 64)

    def test_refused(self):
        for words, *more in (
                ("--split is for probe rows and CAN caches", "--split", "train"),
                ("--report is for probe rows and CAN caches", "--report", at("x.html")),
                ("--length is for probe rows", "--length", "512"),
                ("--max-nodes is for CAN caches", "--max-nodes", "5"),
                ("--words is for probe rows", "--words"),
                ("after the last step, 2,", "--epochs", "2", "--explain", "3"),
                ("no row 64: a batch has rows 0 to 63", "--explain", "3", "64"),
                ("--as: ", "--as", "float16"), ("--steps", "--steps", "0:")):
            with self.subTest(words):
                self.refuse(words, "batches", SET, *more)
        self.assertFalse(os.path.exists(at("x.html")))

    def test_damage(self):
        """The step that needs a damaged image fails, and the state is at it."""
        damaged, state = at("damaged-batches"), at("damaged.json")
        shutil.copytree(SET, damaged)
        image = self.order(3, 30)[2][4]
        flip(os.path.join(damaged, "images.safetensors"), 4096 + image * SIZE * SIZE * 3 + 900)
        done = leat("batches", damaged, "--batch", "30", "--epochs", "1", "--hash=rows",
                    "--save-state", state)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"leat: step \d, row \d+, image \d+: \".*images.safetensors")
        with open(state, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["step"] * 30, done.stdout.count("\n"))


class Kinds(Case):
    """An image data set is not taken for another kind, nor for input."""

    def test_other_ingests_refuse_its_folder(self):
        log = at("x.csv")
        with open(log, "w", encoding="ascii") as file:
            file.write("event_time,src_addr,dst_addr,ip_version,rtt\n"
                       "2019-04-24 00:00:00,192.0.2.1,192.0.2.2,4,1.5\n")
        for work in (False, True):
            place = SET
            if work:
                place = at("unfinished")
                os.makedirs(os.path.join(place, ".leat", "out"))
                for name in ("leat-work.json", "out/images.safetensors"):
                    with open(os.path.join(place, ".leat", name), "w", encoding="ascii"):
                        pass
            done = leat("ingest", "probes", log, "-o", place)
            self.assertEqual(done.returncode, 1)
            self.assertIn("holds the output of `leat ingest images`", done.stderr)
            done = leat("ingest", "can", log, "-o", place)
            self.assertEqual(done.returncode, 1)
            self.assertIn("of `leat ingest images`, which a cache in it would hide", done.stderr)
        done = leat("inspect", at("unfinished"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("run the same `leat ingest images` again with --resume", done.stderr)

    def test_not_an_input(self):
        """rejected.csv in the folder of a data set is not read as measurements."""
        folder = at("inputs")
        os.makedirs(folder)
        shutil.copytree(SET, os.path.join(folder, "set"))
        done = leat("ingest", "probes", folder, "-o", at("probes"))
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("rejected.csv", done.stderr)


if __name__ == "__main__":
    unittest.main()
