"""--verify, --resume and --replace of the ingest commands: what an existing result is compared by,
and what is reported of it.

Runs the command named by LEAT (default: build/leat).
"""
import json
import os
import shutil
import subprocess
import unittest

from command import leat
from folder import Folder
from held import Held


def pings(path, rows=400):
    with open(path, "w", encoding="utf-8") as file:
        file.write("event_time,src_addr,dst_addr,ip_version,rtt\n")
        for i in range(rows):
            file.write(f"{1600000000 + i * 7},10.0.0.{i % 40 + 1},8.8.8.8,4,{i % 900 + 100}.5\n")


def edit_in_place(path):
    """Other contents, with the same size and modification time."""
    times = os.stat(path)
    with open(path, "r+b") as file:
        data = file.read()
        file.seek(data.rindex(b".5\n"))
        file.write(b".6\n")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


class Probes(Folder):
    def setUp(self):
        super().setUp()
        self.inputs = [self.at("a.csv"), self.at("b.csv")]
        for path in self.inputs:
            pings(path)

    def ingest(self, *flags, status=0):
        return leat("ingest", "probes", *self.inputs, "-o", self.at("data"), *flags, status=status)

    def hashes(self):
        with open(self.at("data", "run.json"), encoding="utf-8") as file:
            return [item.get("sha256") for item in json.load(file)["inputs"]]

    def interrupt(self, *flags):
        """A run that was killed after its scan."""
        with Held(["ingest", "probes", *self.inputs, "-o", self.at("data"), "--probes-per-shard",
                   "1", "--threads", "1", "--spill", "always", *flags],
                  self.at("data", ".leat", "state.json")) as process:
            process.kill()

    def test_the_hashes_are_those_of_the_inputs(self):
        self.ingest("--verify")
        sums = subprocess.run(["sha256sum", *self.inputs], capture_output=True, text=True,
                              check=True).stdout.splitlines()
        self.assertEqual(self.hashes(), [line.split()[0] for line in sums])

    def test_the_data_set_does_not_depend_on_it(self):
        manifests = []
        for flags in ((), ("--verify",)):
            self.ingest("--replace", *flags)
            with open(self.at("data", "manifest.json"), "rb") as file:
                manifests.append(file.read())
            self.assertEqual([text is not None for text in self.hashes()], [bool(flags)] * 2)
        self.assertEqual(manifests[0], manifests[1])

    def test_a_complete_data_set(self):
        self.ingest("--verify")
        done = self.ingest("--resume")
        self.assertIn("same sizes and modification times; --verify compares", done.stdout)
        done = self.ingest("--resume", "--verify")
        self.assertIn("(same contents)", done.stdout)
        found = json.loads(self.ingest("--resume", "--verify", "--json").stdout)
        self.assertEqual((found["was_complete"], found["verified"]), (True, True))
        edit_in_place(self.inputs[1])
        found = json.loads(self.ingest("--resume", "--json").stdout)
        self.assertEqual((found["was_complete"], found["verified"]), (True, False))
        done = self.ingest("--resume", "--verify", status=1)
        self.assertIn(self.inputs[1], done.stderr)
        self.assertIn("--replace", done.stderr)
        self.ingest("--replace", "--verify")
        self.ingest("--resume", "--verify")

    def test_a_data_set_made_without_it(self):
        self.ingest()
        done = self.ingest("--resume", "--verify", status=1)
        self.assertIn("written without --verify", done.stderr)
        self.assertIn("--replace", done.stderr)
        self.ingest("--resume")

    def test_an_interrupted_ingest(self):
        self.interrupt("--verify")
        shutil.copytree(self.at("data"), self.at("kept"))
        edit_in_place(self.inputs[1])
        done = self.ingest("--probes-per-shard", "1", "--resume", "--verify", status=1)
        self.assertIn(self.inputs[1], done.stderr)
        self.assertTrue(os.path.exists(self.at("data", ".leat", "state.json")))
        done = self.ingest("--probes-per-shard", "1", "--resume")
        self.assertIn("resumed the scan", done.stdout)
        # what was scanned is what the hashes are of, whatever the file holds by now
        self.assertTrue(all(self.hashes()))
        self.ingest("--probes-per-shard", "1", "--resume", "--verify", status=1)

    def test_an_interrupted_ingest_that_has_not_changed(self):
        self.interrupt("--verify")
        done = self.ingest("--probes-per-shard", "1", "--resume", "--verify")
        self.assertRegex(done.stdout, r"resumed the scan .*same contents")
        self.assertTrue(all(self.hashes()))

    def test_an_interrupted_ingest_without_it(self):
        self.interrupt()
        done = self.ingest("--probes-per-shard", "1", "--resume", "--verify", status=1)
        self.assertIn("written without --verify", done.stderr)
        self.ingest("--probes-per-shard", "1", "--resume")

    def test_nothing_to_resume(self):
        done = self.ingest("--resume", "--json")
        self.assertIn("nothing to resume", done.stderr)
        self.assertEqual(json.loads(done.stdout)["resumed"], False)
        self.assertEqual(self.ingest("--resume").stderr, "")
        self.assertEqual(self.ingest("--replace").stderr, "")


class Caches(Folder):
    def setUp(self):
        super().setUp()
        leat("synth", "can", "--frames", "20000", "-o", self.at("logs"), status=0)

    def ingest(self, *flags, status=0):
        return leat("ingest", "can", self.at("logs"), "--vocab", "benign", "-o", self.at("caches"),
                    *flags, status=status)

    def test_a_complete_cache(self):
        done = self.ingest("--resume", "--json")
        self.assertIn("nothing to resume", done.stderr)
        made = json.loads(done.stdout)
        self.assertEqual((made["found"], made["resumed"], made["verified"]), (False,) * 3)
        done = self.ingest("--resume")
        self.assertIn("same sizes and modification times; --verify compares", done.stdout)
        self.assertEqual(done.stderr, "")
        self.assertIn("(same contents)", self.ingest("--verify").stdout)
        found = json.loads(self.ingest("--verify", "--json").stdout)
        self.assertEqual((found["found"], found["verified"]), (True, True))


if __name__ == "__main__":
    unittest.main()
