"""What the commands leat synth KIND share: options, summary, JSON; of every kind alike.

Runs the command named by LEAT (default: build/leat).
"""
import hashlib
import json
import os
import re
import sys
import tempfile
import unittest

from command import LEAT, leat

# words of the command, its output, what the summary begins with and counts, members of the kind
KINDS = (
    (("probes", "-n", 60, "-p", 3), "x.csv", r"wrote 60 measurements of 3 probes \(.*\)\nto ",
     "measurements", ["measurements", "probes", "largest_probe", "files"]),
    (("can", "-n", 2000), "x", r"wrote 2,000 frames of 1 vehicle, .* intervals\nto ",
     "frames", ["frames", "attack_frames", "vehicles", "held_out", "files", "intervals"]),
    (("images", "-n", 2), "x.zip", "wrote 2 images to ", "images", ["images"]),
)


def digest(path):
    """Of a file, or of the names and contents of a folder."""
    whole = hashlib.sha256()
    files = [path] if os.path.isfile(path) else sorted(
        os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
    for name in files:
        with open(name, "rb") as file:
            whole.update(os.path.relpath(name, path).encode() + b"\0" + file.read())
    return whole.hexdigest()


class Synth(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="leat-synth-")
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def each(self):
        for words, name, begins, things, members in KINDS:
            out = os.path.join(self.folder, name)
            yield ("synth", *words, "-o", out), out, begins, things, members

    def test_seed_and_replace(self):
        for words, out, *_ in self.each():
            digests = []
            for more in (("--threads", 1), ("--seed", 0, "--threads", 3), ("--seed", 1)):
                leat(*words, *more, "--replace", status=0)
                digests.append(digest(out))
            self.assertEqual(digests[0], digests[1], words)
            self.assertNotEqual(digests[1], digests[2], words)
            done = leat(*words, "--seed", 2, status=1)
            self.assertIn("use --replace to replace it", done.stderr)
            self.assertEqual(digest(out), digests[2], words)

    def test_summary(self):
        for words, out, begins, things, _ in self.each():
            done = leat(*words, status=0)
            self.assertEqual(done.stderr, "")
            self.assertRegex(done.stdout, rf"\A{begins}{re.escape(out)}: (.+, )?[\d.]+ \w+\nin .+: "
                                          rf"[\d.]+( k| M)? {things}/s, peak memory .+\n\Z")

    def test_json(self):
        for words, out, _, things, members in self.each():
            facts = json.loads(leat(*words, "--json", status=0).stdout)
            self.assertEqual(list(facts), ["out", *members, "bytes_written", "memory_peak_bytes",
                                           "seconds"])
            self.assertEqual((facts["out"], facts[things]), (out, words[3]))
            if os.path.isfile(out):
                self.assertEqual(facts["bytes_written"], os.path.getsize(out))
            self.assertGreater(facts["memory_peak_bytes"], 1 << 20)
            self.assertGreater(facts["seconds"], 0)

    def test_wrong_usage(self):
        for words, out, *_ in self.each():
            for more in (("--threads", 0), ("--threads", 257), ("--seed", -1), ("x",),
                         ("--replace=yes",)):
                leat(*words, *more, status=2)
            self.assertFalse(os.path.exists(out))


if __name__ == "__main__":
    if not os.access(LEAT, os.X_OK):
        print(f"skipped: {LEAT} is not built")
        sys.exit(77)
    unittest.main()
