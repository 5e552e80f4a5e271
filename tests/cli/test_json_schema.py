"""What --json writes, by its schemas in docs/schema: commands are run in many cases, and each
document is validated. tests/crowd validates those of coordinate, work and status. Runs the command
named by LEAT (default: build/leat).
"""
import copy
import glob
import hashlib
import json
import os
import re
import shutil
import tempfile
import unittest

import json_schema
import image_set
import pings
from command import ROOT, leat

GOLDEN = os.path.join(ROOT, "tests", "golden")
SMALL = ["--width", "4", "--latent", "8", "--unit-size", "8", "--micro-batch", "8"]

# The schemas of each command with --json.
COMMANDS = {
    "ingest probes": ["ingest-probes"], "ingest can": ["ingest-can"],
    "ingest images": ["ingest-images"], "synth probes": ["synth-probes"],
    "synth can": ["synth-can"], "synth images": ["synth-images"],
    "inspect": ["inspect-probes", "inspect-can", "inspect-images", "inspect-run",
                "inspect-run-graphs"],
    "batches": ["batches-probes", "batches-probes-explain", "batches-probes-report", "batches-can",
                "batches-can-explain", "batches-can-report", "batches-can-splits", "batches-images",
                "batches-images-explain"],
    "train dcgan": ["train-dcgan", "train-dcgan-dry-run"],
    "train vgae": ["train-graphs", "train-graphs-dry-run"],
    "train gat": ["train-graphs", "train-graphs-dry-run"], "eval": ["eval"], "sample": ["sample"],
    "coordinate": ["coordinate", "coordinate-plan"], "work": ["work"], "status": ["status"],
    "doctor": ["doctor"],
    "version": ["version"]}

# The schemas of commands that write lines, each one a document, whatever their options.
LINES = {"detect": ["detect"]}

# Schemas, and members of others, that need what this test does not have: (pattern, reason).
NOT_HERE = [
    (r"eval\.json#", "runs of detectors: tests/cli/test_eval.py"),
    (r"detect\.json#", "a bus: tests/cli/test_detect.py"),
    (r"(coordinate|work|status)\.json#", "a database: tests/crowd/test_commands.py"),
    (r"doctor\.json#/properties/database", "a database: tests/crowd/test_doctor.py"),
    (r"inspect-run(-graphs)?\.json#/properties/ledger",
     "a run of coordinate: tests/crowd/test_commands.py"),
    (r"version\.json#/properties/duckdb/properties/(version|path|reason|other_copy)$",
     "it depends on where DuckDB is installed: tests/cli/test_duckdb_places.py")]

SCHEMAS = json_schema.Schemas()
DOCUMENTS = []  # (name of the schema, the words of the command, the document's text)
TOP = None  # a folder for everything


def at(*names):
    return os.path.join(TOP, *names)


def take(name, *words, status=0):
    """Runs a command, and keeps its document for the tests."""
    done = leat(*words, "--json", status=status)
    DOCUMENTS.append((name, words, done.stdout))
    return json.loads(done.stdout)


def copied(path, name):
    shutil.copytree(path, at(name))
    return at(name)


def write(name, text):
    with open(at(name), "w", encoding="utf-8") as file:
        file.write(text)
    return at(name)


# ---- measurements ------------------------------------------------------------------------------


def ingest_probes():
    pings.write_csv(at("pings.csv"))
    os.mkdir(at("odd"))
    write("odd/pings.csv", "event_time,src_addr,dst_addr,ip_version,rtt\n"
          "1556136000,192.0.2.1,198.51.100.7,4,3\n" * 3 +
          "1556136000,::ffff:192.0.2.2,198.51.100.7,4,3\nx,192.0.2.1,198.51.100.7,4,3\n"
          "1556136000,,198.51.100.7,4,3\n")
    write("odd/words.txt", "not data\n")
    more = ["--probes-per-shard", 30, "--max-row-size", "16K"]
    for words in ([*more, "--verify"], [*more, "--resume"], [*more, "--resume", "--verify"]):
        take("ingest-probes", "ingest", "probes", at("pings.csv"), "-o", at("set"), *words)
    take("ingest-probes", "ingest", "probes", at("odd"), "-o", at("small"), "--duplicates", "drop",
         "--train-ratio", "1")
    # rejected are more than half of the rows
    take("ingest-probes", "ingest", "probes", write("bad.csv", (
        "event_time,src_addr,dst_addr,ip_version,rtt\n1556136000,192.0.2.1,198.51.100.7,4,3\n" +
        "x,192.0.2.1,198.51.100.7,4,3\n" * 9)), "-o", at("bad"))
    take("ingest-probes", "ingest", "probes", write("named.csv", (
        "event_time,src_addr,dst_addr,rtt,prb_id\n1556136000,192.0.2.1,198.51.100.7,3,7\n" +
        "1556136000,192.0.2.1,198.51.100.7,3,\n")), "-o", at("named"), "--probe", "prb_id")


def inspect_probes():
    for words in (["--verify"], ["--rows", 0], ["--read", 0], ["--read", "100K"]):
        take("inspect-probes", "inspect", at("set"), *words)
    take("inspect-probes", "inspect", at("small"))
    take("inspect-probes", "inspect", at("named"))
    shards = sorted(glob.glob(at("set", "*", "*.arrayrecord")))
    for number, shard in enumerate(shards[:2]):
        shutil.copy(shard, at(f"{number}.arrayrecord"))
    take("inspect-probes", "inspect", shards[0], at("1.arrayrecord"), "--verify")
    os.remove(os.path.join(copied(at("set"), "no-index"), "index.bin"))
    take("inspect-probes", "inspect", at("no-index"), "--verify", status=1)
    damaged = copied(at("set"), "damaged")
    pings.flip(os.path.join(damaged, "train", "train_shard_00001.arrayrecord"), 5000)
    take("inspect-probes", "inspect", damaged, "--verify", status=1)


def batches_of_probes():
    run = ["batches", at("set"), "--length", 128]
    take("batches-probes", *run)
    take("batches-probes", *run, "--steps", "0:2", "--hash=rows", "--time")
    take("batches-probes", *run, "--epochs", 1, "--batch", 120, "--hash", "--packing", "none")
    take("batches-probes", *run, "--words", "--steps", "0:1")
    take("batches-probes", *run, "--by", "client", "--steps", "0:0")
    mask = ["batches", at("damaged"), "--length", 128, "--on-corrupt", "mask", "--batch", 1]
    told = take("batches-probes", *mask, "--epochs", 1, "--hash=rows")
    zeros = [line.split()[:2] for line in told["text"].splitlines()]
    masked = next(place for place in zeros if take_explained(mask, *place)["masked"])
    take("batches-probes-explain", *mask, "--explain", *masked)
    take("batches-probes-explain", *run, "--explain", 3, 2)
    take("batches-probes-explain", *run, "--explain", 0, 0, "--by", "client")
    take("batches-probes-explain", *run, "--epochs", 1, "--batch", 500, "--explain", 0, 499)
    report = ["--report", at("page.html"), "--steps", "0:2"]
    for words in ([], ["--packing", "none"], ["--by", "client", "--batch", 2]):
        take("batches-probes-report", *run, *report, *words)


def take_explained(words, step, row):
    return json.loads(leat(*words, "--explain", step, row, "--json", status=0).stdout)


# ---- vehicle logs ------------------------------------------------------------------------------


def log(name, frames, header=True, back=None):
    """A log of five identifiers; without labels if it has no header. Its clock falls back."""
    lines = ["timestamp,arbitration_id,data_field,attack"] if header else []
    for i in range(frames):
        time = 1000 + i * 0.001 - (60 if back is not None and i >= back else 0)
        if header:
            lines.append(f"{time:.6f},{0x100 + i % 5:03X},{i:016X},0")
        else:
            lines.append(f"({time:.6f}) can0 {0x100 + i % 5:03X}#{i:016X}")
    return write(name, "\n".join([*lines, ""]))


def ingest_can():
    """Caches `cache`, `merged` and `small`; the last has a log without labels."""
    take("synth-can", "synth", "can", "--frames", 30000, "--vehicles", 2, "-o", at("logs"))
    made = {}
    for name, words in (("cache", ["--stage", at("staged")]), ("merged", ["--captures", "merged"])):
        made[name] = take("ingest-can", "ingest", "can", at("logs"), "-o", at(name), *words)
    for words in ([], ["--verify", "--stage", at("staged")]):
        take("ingest-can", "ingest", "can", at("logs"), "-o", at("cache"), *words)
    for folder in ("drives", "drives/train_a", "drives/test_b"):
        os.mkdir(at(folder))
    log("drives/train_a/back.csv", 6000, back=3000)
    log("drives/train_a/long.csv", 6000)
    log("drives/test_b/drive.log", 1000, header=False)
    with open(at("drives", "train_a", "long.csv"), "a", encoding="ascii") as file:
        file.write("1007,XYZ,00,0\n")
    write("drives/train_a/_notes.csv", "not data\n")
    for _ in range(2):
        made["small"] = take("ingest-can", "ingest", "can", at("drives"), "-o", at("small-cache"),
                             "--bus", 0, "--stride", 200)
    os.mkdir(at("pauses"))
    log("pauses/back.csv", 6000, back=3000)
    with open(at("pauses", "back.csv"), "a", encoding="ascii") as file:
        file.writelines(f"{2000 + i * 0.001:.6f},100,00,0\n" for i in range(2000))
    take("ingest-can", "ingest", "can", at("pauses"), "-o", at("pauses-cache"), "--clock-steps",
         "split:500")
    os.mkdir(at("road"))
    log("road/speed_attack.log", 1000, header=False)
    write("road/capture_metadata.json", json.dumps({"speed_attack": {
        "injection_interval": [0, 1], "injection_id": None, "injection_data_str": None}}))
    road = take("ingest-can", "ingest", "can", at("road"), "-o", at("road-cache"))
    take("ingest-can", "ingest", "can", at("road"), "-o", at("road-cache"), "--like", road["cache"])
    return {name: told["cache"] for name, told in made.items()}


def inspect_can(caches):
    for name in caches:
        take("inspect-can", "inspect", caches[name], "--verify")
    take("inspect-can", "inspect", at("cache"), "--read", 0)
    damaged = copied(caches["cache"], "damaged-cache")
    pings.flip(os.path.join(damaged, "train.safetensors"), 100_000)
    take("inspect-can", "inspect", damaged, "--verify", status=1)
    missing = copied(caches["cache"], "without-vocabulary")
    os.remove(os.path.join(missing, "vocab.json"))
    take("inspect-can", "inspect", missing, "--verify", status=1)
    take("inspect-can", "inspect", with_fewer_windows(caches["cache"]), "--verify", status=1)


def with_fewer_windows(cache):
    """A cache whose metadata denies two windows, with the hash that says so: findings of graphs."""
    path = os.path.join(copied(cache, "fewer-windows"), "cache_metadata.json")
    with open(path, "rb") as file:
        before = file.read()
    document = json.loads(before)
    document["captures"][2]["windows"] -= 2
    after = json.dumps(document, indent=2).encode()
    with open(path, "wb") as file:
        file.write(after)
    with open(at("fewer-windows", ".complete"), "r+", encoding="ascii") as file:
        text = file.read()
        file.seek(0)
        file.write(text.replace(hashlib.sha256(before).hexdigest(),
                                hashlib.sha256(after).hexdigest()))
    return at("fewer-windows")


def batches_of_graphs(caches):
    run = ["batches", caches["cache"]]
    few = ["--max-nodes", 500, "--max-edges", 2000]
    scores = write_scores(caches["cache"])
    take("batches-can", *run)
    take("batches-can", *run, "--steps", "0:0", "--max-nodes", 40, "--oversize", "alone")
    take("batches-can", *run, *few, "--epochs", 2, "--hash=rows", "--time", "--curriculum", scores)
    take("batches-can", *run, "--device-memory", "16G", "--model", "gat", "--hash", "--steps",
         "0:1", "--stage", at("staged"))
    take("batches-can", "batches", caches["small"], "--split", "test_b")
    take("batches-can-explain", *run, "--explain", 0)
    take("batches-can-explain", "batches", caches["merged"], "--explain", 0)
    take("batches-can-explain", "batches", caches["small"], "--split", "test_b", "--explain", 0)
    report = ["--report", at("page.html")]
    take("batches-can-report", *run, *few, *report, "--curriculum", "random", "--epochs", 3)
    take("batches-can-report", *run, *report, "--device-memory", "16G", "--model", "vgae")
    for words in ([], ["--graphs", "attack"], ["--graphs", "attack", *report]):
        take("batches-can-splits", *run, "--split", "all", *words)


def write_scores(cache):
    """A score for each benign graph of train."""
    lines = leat("cat", cache, "--graph", "0:100000", status=0).stdout.splitlines()
    graphs = [json.loads(line) for line in lines]
    benign = [graph for graph in graphs if graph["y"] == 0]
    told = json.loads(leat("inspect", cache, "--json", status=0).stdout)
    return write("scores.json", json.dumps({
        "fingerprint": told["fingerprint"], "capture": [graph["capture"] for graph in benign],
        "window_start": [graph["window_start"] for graph in benign],
        "score": [number / 7 for number in range(len(benign))]}))


# ---- images and training -----------------------------------------------------------------------


def images():
    """The data set `faces`, and what is read of the golden pictures."""
    take("synth-images", "synth", "images", "-n", 40, "-o", at("photos"))
    take("ingest-images", "ingest", "images", at("photos"), "-o", at("faces"))
    take("ingest-images", "ingest", "images", at("photos"), "-o", at("faces"), "--resume")
    take("ingest-images", "ingest", "images", os.path.join(GOLDEN, "images"), "-o", at("golden"),
         "--exclude", "*.webp", "--max-rejected", "1")
    for words in (["--verify"], ["--read", 0]):
        take("inspect-images", "inspect", at("golden"), *words)
    for name in ("images.safetensors", "images.json"):
        damaged = copied(at("faces"), "damaged-" + name.split(".")[1])
        pings.flip(os.path.join(damaged, name), 60)
        take("inspect-images", "inspect", damaged, "--verify", status=1)
    wrong = copied(at("golden"), "wrong-images")
    with open(os.path.join(wrong, "rejected.csv"), "a", encoding="utf-8") as file:
        file.write("x.jpg,no_such_reason,what\n")
    take("inspect-images", "inspect", wrong, "--verify", status=1)
    run = ["batches", at("faces"), "--batch", 8]
    for words in ([], ["--hash=rows", "--time", "--steps", "0:2"], ["--epochs", 2, "--hash"]):
        take("batches-images", *run, *words)
    for words in ([3], [3, 2]):
        take("batches-images-explain", *run, "--explain", *words)


def training():
    train = ["train", "dcgan", at("faces"), *SMALL, "--checkpoint-every", 2]
    take("train-dcgan-dry-run", *train, "--epochs", 2, "--dry-run")
    take("coordinate-plan", "coordinate", "--plan", 3, "--data", at("faces"), *SMALL)
    for words in (["--steps", 4, "--sample-every", 2], ["--resume"]):
        take("train-dcgan", *train, "-o", at("run"), *words)
    take("sample", "sample", at("run"), "-o", at("grid.png"), "--count", 4)
    leat("export", at("run"), "-o", at("model"), status=0)
    leat("import", at("model"), "-o", at("imported"), status=0)
    take("train-dcgan", *train, "-o", at("further"), "--init", at("model"), "--steps", 1,
         "--sample-every", 0)
    # weights that do not move: the second measurement is not better than the first
    take("train-dcgan", *train, "-o", at("early"), "--steps", 3, "--sample-every", 1,
         "--patience", 1, "--learning-rate", "1e-30")
    take("inspect-run", "inspect", at("run"), "--verify")
    for name in ("imported", "further"):
        take("inspect-run", "inspect", at(name))
    warned = copied(at("run"), "warned")
    with open(os.path.join(warned, "metrics.jsonl"), "w", encoding="ascii") as file:
        for step in range(1, 801):  # the discriminator wins, and loses again
            loss = 1e-5 if step <= 300 else 0.7
            file.write(json.dumps({"step": step, "loss_d_images": loss, "loss_d_fakes": loss,
                                   "loss_g": 9.0, "norm_d": 1.0, "norm_g": 1.0,
                                   "seconds": 0.1}) + "\n")
            if step % 100 == 0:
                file.write(json.dumps({"step": step, "score": 1.0, "deviation": 0.3, "spread": 0.01,
                                       "spread_data": 0.4}) + "\n")
    take("inspect-run", "inspect", warned)


def runs_on_graphs():
    both = take("ingest-can", "ingest", "can", at("logs"), "-o", at("mixed"), "--val-split",
                "random")["cache"]  # attacks among the validation windows, too
    few = ["--max-nodes", 200, "--max-edges", 1000]
    for model in ("vgae", "gat"):
        train = ["train", model, both, *few]
        take("train-graphs", *train, "-o", at(model), "--steps", 3)
        take("train-graphs", *train, "-o", at(f"{model}-early"), "--steps", 99, "--sample-every",
             1, "--unit-size", 40, "--patience", 1, "--learning-rate", "1e-30")
        take("inspect-run-graphs", "inspect", at(model), "--verify")
        leat("export", at(model), "-o", at(f"{model}-model"), status=0)
    take("train-graphs", "train", "gat", both, *few, "-o", at("from"), "--init",
         at("gat-model"), "--steps", 1, "--sample-every", 0)
    take("inspect-run-graphs", "inspect", at("from"))
    take("train-graphs-dry-run", "train", "vgae", both, *few, "--steps", 2, "--dry-run")


def machine():
    take("version", "version")
    take("doctor", "doctor", at("set"), at("cache"), status=doctor_status())
    take("doctor", "doctor", at("no-index"), at("nowhere"), status=1)
    take("synth-probes", "synth", "probes", "-n", 1000, "-p", 30, "-o", at("synthetic.csv"))


def doctor_status():
    """1 if this machine has a problem, such as no DuckDB."""
    return leat("doctor").returncode


def setUpModule():
    global TOP
    TOP = tempfile.mkdtemp(prefix="leat-json-")
    unittest.addModuleCleanup(shutil.rmtree, TOP)
    ingest_probes()
    inspect_probes()
    batches_of_probes()
    caches = ingest_can()
    inspect_can(caches)
    batches_of_graphs(caches)
    runs_on_graphs()
    machine()
    if not image_set.libraries_left_out():
        images()
        training()


def smallest():
    """The shortest valid document of each schema, with its name."""
    texts = {}
    for name, _, text in DOCUMENTS:
        if name not in texts or len(text) < len(texts[name]):
            texts[name] = text
    return [(name, json_schema.read(text)) for name, text in texts.items()]


def objects(value):
    """The objects of a document; of a list, those of its first item."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value[:1]:
        if isinstance(inner, (dict, list)):
            yield from objects(inner)


class Documents(unittest.TestCase):
    def test_documents(self):
        """Each is as its schema says, and nothing else is on stdout."""
        for name, words, text in DOCUMENTS:
            with self.subTest(name, words=words):
                SCHEMAS.check_text(name, text)
                self.assertTrue(text.endswith("}\n"))

    def test_everything_occurs(self):
        """Each schema has a document here, and each member of each occurs in one."""
        if image_set.libraries_left_out():
            self.skipTest("leat was built without a library of images")
        found = json_schema.Schemas()
        for name, _, text in DOCUMENTS:
            found.check_text(name, text)
        elsewhere = {place for place in found.places
                     if any(re.match(pattern, place) for pattern, _ in NOT_HERE)}
        self.assertEqual(found.places - found.seen - elsewhere, set())
        for pattern, reason in NOT_HERE:
            self.assertTrue(any(re.match(pattern, place) for place in found.places), pattern)
            path = re.search(r"tests/\w+/\w+\.py", reason)[0]
            self.assertTrue(os.path.exists(os.path.join(ROOT, path)), path)
        names = {name for name, _, _ in DOCUMENTS}
        self.assertEqual(found.names() - names,
                         {"eval", "coordinate", "work", "status", "detect"})

    def test_every_command_has_schemas(self):
        """The commands with --json are those of the table here and of docs/json.md."""
        lines = leat("--help", status=0).stdout.split("Commands:\n")[1].split("\n\n")[0]
        commands = [re.split(r"  +", line.strip())[0] for line in lines.splitlines()]
        with_json = [words for words in commands
                     if "--json " in leat(*words.split(), "--help", status=0).stdout]
        self.assertEqual(sorted(with_json), sorted(COMMANDS))
        every = {**COMMANDS, **LINES}
        self.assertEqual({name for names in every.values() for name in names}, SCHEMAS.names())
        with open(os.path.join(ROOT, "docs", "json.md"), encoding="utf-8") as file:
            text = file.read()
        for command, names in every.items():
            rows = [line for line in text.splitlines() if line.startswith(f"| `leat {command}`")]
            linked = re.findall(r"\]\(schema/([a-z-]+)\.json\)", "".join(rows))
            self.assertEqual(sorted(linked), sorted(names), command)


class Canaries(unittest.TestCase):
    def refused(self, name, document, what):
        with self.assertRaises(AssertionError, msg=(name, what)):
            SCHEMAS.check(name, document)

    def test_a_member_is_missing(self):
        for name, document in smallest():
            for member in SCHEMAS.files[f"{name}.json"]["required"]:
                without = {key: value for key, value in document.items() if key != member}
                self.refused(name, without, member)

    def test_a_member_is_of_another_type(self):
        for name, document in smallest():
            for member in document:
                self.refused(name, {**document, member: {"no such member": [None]}}, member)
            self.refused(name, [document], "a list")

    def test_a_member_is_not_known(self):
        """In any object, however deep; in a map, a value that is not one of its own."""
        for name, document in smallest():
            count = len(list(objects(document)))
            for number in range(count):
                changed = copy.deepcopy(document)
                list(objects(changed))[number]["no such member"] = [None]
                self.refused(name, changed, number)

    def test_values(self):
        """Ranges, patterns, lists of words and lengths are looked at."""
        name, document = next(pair for pair in smallest() if pair[0] == "ingest-can")
        for member, value in (("files", -1), ("files", 1.0), ("files", True), ("files", "1"),
                              ("files", None), ("digest", "00"), ("scaler", "z"),
                              ("warnings", ["a", "b"]), ("warnings", [1]),
                              ("seconds", -0.5), ("found", 1)):
            SCHEMAS.check(name, document)
            self.refused(name, {**document, member: value}, (member, value))

    def test_text_around_a_document(self):
        for text in ("{} {}", "warning\n{}", '{"a": NaN}', '{"a": 1, "a": 2}', ""):
            with self.assertRaises(ValueError, msg=text):
                json_schema.read(text)

    def test_schemas_that_check_less_than_they_seem_to(self):
        """A misspelt keyword does not go unnoticed, nor what it needs."""
        good = {"type": "object", "additionalProperties": False, "required": ["a"],
                "properties": {"a": {"type": "integer", "description": "A number."}}}
        with tempfile.TemporaryDirectory() as folder:
            def load(schema):
                with open(os.path.join(folder, "x.json"), "w", encoding="utf-8") as file:
                    json.dump(schema, file)
                return json_schema.Schemas(folder)
            load(good).check("x", {"a": 1})
            a = good["properties"]["a"]
            for bad in ({**a, "minimun": 3}, {**a, "minLength": 3}, {**a, "pattern": "x"},
                        {**a, "type": "int"}, {"type": "integer"}, {"description": "Anything."},
                        {"$ref": "#/$defs/b", "description": "Nowhere."},
                        {"$ref": "y.json#/$defs/b", "description": "Nowhere."},
                        {"type": "object", "description": "Open."},
                        {"type": "array", "description": "Of anything."}):
                with self.assertRaises(json_schema.SchemaError, msg=bad):
                    load({**good, "properties": {"a": bad}})
            with self.assertRaises(json_schema.SchemaError):
                load({**good, "required": ["b"]})


if __name__ == "__main__":
    unittest.main()
