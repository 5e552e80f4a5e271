"""leat doctor --kernels: every variant that runs here has the pinned hash; speeds are told; a
variant can be chosen. Runs the command named by LEAT (default: build/leat)."""
import json
import os
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
LEAT = os.environ.get("LEAT", os.path.join(HERE, "../../build/leat"))
SANITIZED = os.environ.get("LEAT_SANITIZE", "") != ""


def leat(*words):
    return subprocess.run([LEAT, *words], capture_output=True, text=True, timeout=500, check=False)


def pinned(suite=""):
    with open(os.path.join(HERE, f"../nn/test_suite{suite}.c"), encoding="utf-8") as file:
        return re.search(r"SUITE_HASH UINT64_C\(0x([0-9a-f]{16})\)", file.read()).group(1)


OTHERS = ("rows", "segments", "tokens")


def hashes(between):
    """Of all suites: that of the first one, which has no name here, then names and hashes."""
    return between.join([pinned(), *(f"{name} {pinned('_' + name)}" for name in OTHERS)])


class Kernels(unittest.TestCase):
    def test_hash(self):
        done = leat("doctor", "--hash")
        self.assertEqual((done.returncode, done.stdout), (0, hashes("\n") + "\n"), done.stderr)
        done = leat("doctor", "--hash", "--kernels=scalar")
        self.assertEqual((done.returncode, done.stdout), (0, hashes("\n") + "\n"), done.stderr)

    @unittest.skipIf(SANITIZED, "speeds of a sanitizer's build say nothing")
    def test_report(self):
        done = leat("doctor", "--kernels", "--json")
        self.assertEqual(done.stderr, "")
        found = json.loads(done.stdout)["findings"]
        problems = [item["what"] for item in found if item["verdict"] == "problem"]
        self.assertEqual(done.returncode, 1 if problems else 0)
        self.assertTrue(all("Parquet" in what for what in problems), problems)  # not the kernels'
        found = [item["what"] for item in found if item["what"].startswith("kernels ")]
        tested = [what for what in found if "self-test passed, hash " + hashes(", ") in what]
        self.assertIn("kernels scalar (1 lane)", tested[0])
        self.assertEqual(sum("these are used" in what for what in tested), 1)
        told = "\n".join(found)
        peak, = map(float, re.findall(r"(?m)peak of one thread ([\d.]+) GFLOP/s$", told))
        speeds = [(float(speed), int(share)) for speed, share in
                  re.findall(r"(?m): ([\d.]+) GFLOP/s, (\d+) % of the peak$", told)]
        self.assertEqual(len(speeds), 6)
        # how fast it was depends on what else the machine did; that the shares are of the peak does
        # not: all are rounded, the speeds to tenths and the shares to percent
        self.assertGreater(peak, 0)
        for speed, share in speeds:
            self.assertGreater(speed, 0)
            low, high = (speed - 0.05) / (peak + 0.05), (speed + 0.05) / max(peak - 0.05, 1e-9)
            self.assertTrue(100 * low - 0.5 <= share <= 100 * high + 0.5, (speed, share, peak))
        print(f"\n    peak {peak} GFLOP/s; {', '.join(f'{share} %' for _, share in speeds)}")

    def test_hash_is_no_document(self):
        done = leat("doctor", "--hash", "--json")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("--hash prints only hashes: omit --json", done.stderr)

    def test_unknown(self):
        done = leat("doctor", "--hash", "--kernels=sse9")
        self.assertEqual(done.returncode, 2)
        self.assertIn('there are no kernels "sse9"; `leat doctor --kernels` lists them',
                      done.stderr)
        done = leat("doctor", "--kernels=sse9")
        self.assertEqual(done.returncode, 1)
        self.assertIn('problem  there are no kernels "sse9"', done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
