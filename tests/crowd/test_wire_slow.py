"""What a unit costs at the full width of a model: bytes on the wire, calls, connections; and the
time from the start of a worker to its first unit, which is printed.
"""
import collections
import re
import unittest

from server import require

from runs import Runs, Statements

DAY_MS = 86400000


class Wire(Runs):
    """One worker, which computes all units. It may have up to three connections in its life,
    because it looks for a pooler at first."""
    small = ["--width", "64", "--units", "2", "--unit-size", "20", "--micro-batch", "2",
             "--sample-every", "0", "--codec-up", "int8", "--codec-down", "bf16"]
    times = ["--poll-ms", "20"]  # the rest is as usual
    count = 2  # of steps

    def test_wire(self):
        coordinator = self.coordinate(self.count)
        self.until_open(coordinator)
        self.count_units()
        payload, weights = map(int, self.ask("select payload_bytes, weights_bytes from "
                                             "leat.run").split("|"))
        proxy = Statements(self.server.port)
        self.addCleanup(proxy.stop)
        # nothing but a new step lets it ask for units
        worker = self.work("--poll-ms", DAY_MS, url=proxy.url(self.database, "ann"))
        self.expect(coordinator, self.count)
        self.expect_counted(self.count, 2)
        worker.end()
        units = 2 * self.count
        up, down = proxy.up / units / payload, proxy.down / self.count / weights
        joined = next(at for text, _, at in proxy.answered if "leat.submit" in text) - proxy.begun
        calls = collections.Counter(re.sub(r".* leat\.(\w+)\(.*", r"\1", text)
                                    for text, _, _ in proxy.answered if "leat." in text)
        print(f"\na unit: payload {payload} bytes, {up:.5f} times that on the wire; weights "
              f"{weights} bytes, {down:.5f} times that for each step; {proxy.connections} "
              f"connections; from the start to the first unit received {joined:.1f} s; calls "
              f"{dict(calls)}", flush=True)
        # as at 320 images in micro-batches of 32: there are ten of them, too
        self.assertLessEqual(payload, 6700000)
        self.assertLessEqual(weights, 12700000)
        self.assertTrue(1 < up < 1.01, up)
        self.assertTrue(1 < down < 1.01, down)
        self.assertLessEqual(proxy.connections, 3)
        parts = lambda size: -(-size // (1 << 20))
        self.assertEqual(calls["put"], units * parts(payload))
        self.assertEqual(calls["fetch"], self.count * parts(weights))
        # two round trips a unit; when a step has no unit left, it asks once, and once more for each
        # time that it was woken: at the beginning, after each step and at the end
        self.assertEqual(calls["submit"], units)
        self.assertLessEqual(calls["claim"], units + 2 * self.count + 3)
        # and once, when it has connected, which version the database has, how many machines of its
        # login work, and which steps the run has
        asked = []
        for word in ("leat.version", "pg_roles", "leat.training_state"):
            found = [text for text in calls if word in text]
            self.assertLessEqual(sum(calls[text] for text in found), 2, found)
            asked += found
        self.assertEqual(set(calls) - {"put", "fetch", "submit", "claim", "renew", "register",
                                       *asked}, set())


if __name__ == "__main__":
    require()
    unittest.main()
