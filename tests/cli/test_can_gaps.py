"""leat ingest can: times that are gaps from one frame to the next."""
import gzip
import os
import re
import shlex
import unittest

from test_can_third_party import Third


class Gaps(Third):
    def gaps(self, count):
        return [0] + [(i * i * 7919 % 997 + 3) / 1e6 for i in range(1, count)]

    def times(self, gaps):
        micros = 0
        for gap in gaps:
            micros += round(gap * 1e6)
            yield micros / 1e6

    def candump(self, gaps):
        return [f"({gap:010.6f}) can0 {0x100 + i % 7:03X}#{i % 256:02X}"
                for i, gap in enumerate(gaps)]

    def test_candump_deltas_are_refused(self):
        log = self.save("delta.log", self.candump(self.gaps(400)))
        for words in ((), ("--clock-steps", "sort"), ("--captures", "merged"), ("--bus", "merge"),
                      ("--preset", "reference")):
            says = self.ingest(log, *words, status=1)
            self.assertRegex(says, "delta.log\": [12][0-9]{2} of its 400 times are earlier", words)
            self.assertIn("use --times gap to add them up", says)
            self.assertNotIn("--val-fraction", says)
        self.assertFalse(os.path.exists(self.path("cache")))
        self.assertEqual(self.settings(self.read(log, "--times", "clock")[0])["times"], "clock")

    def test_candump_deltas_are_added_up(self):
        gaps = self.gaps(30_000)  # some blocks
        lines = self.candump(gaps)
        lines[100] = lines[100].split("#", maxsplit=1)[0] + "#R"  # time passes in all of these
        lines[20_000] = lines[20_000].replace(" 1", " 2000011", 1)
        lines[20_001] = lines[20_001].replace("#", "#X")
        wanted = [time for i, time in enumerate(self.times(gaps))
                  if i not in (100, 20_000, 20_001)][:29_996]
        log = self.save("delta.log", lines)
        packed = self.path("packed.log.gz")
        with open(log, "rb") as file, gzip.open(packed, "wb") as other:
            other.write(file.read())
        for path in (log, packed):
            for threads in ("1", "3"):
                result, times, _ = self.read(path, "--times", "gap", "--threads", threads)
                self.assertEqual(times, wanted)
                self.assertEqual(result["frames_stepped_back"], 0)
        self.assertEqual(self.settings(result)["times"], "gap")

    def test_a_relative_column(self):
        gaps = self.gaps(200)
        log = self.save("trip.csv", ["Line,Rel Time (Sec),Arb ID,D1"] + [
            f"{i},{gap:.6f},{0x1A0 + i % 9:X},{i % 256:02X}" for i, gap in enumerate(gaps)])
        column = "time=Rel Time (Sec),id=Arb ID"
        says = self.ingest(log, "--column", column, status=1)
        advised = re.search(r"use (--column .*) to add them up", says)[1]
        self.assertEqual(advised, "--column 'time=Rel Time (Sec):gap,id=Arb ID'")
        self.assertEqual(self.read(log, *shlex.split(advised))[1], list(self.times(gaps)))
        # a unit is given beside it
        log = self.save("ms.csv", ["time_ms,id,data"] + [
            f"{gap * 1e3:.3f},{0x1A0 + i % 9:X},{i % 256:02X}" for i, gap in enumerate(gaps)])
        self.assertIn("--column time=time_ms:gap", self.ingest(log, status=1))
        for words in (("--column", "time=time_ms:gap"), ("--times", "gap"),
                      ("--column", "time=time_ms:ms", "--times", "gap")):
            self.assertEqual(self.read(log, *words)[1], list(self.times(gaps)), words)

    def test_a_gap_below_zero(self):
        gaps = self.gaps(200)
        lines = self.candump(gaps)
        lines[50] = lines[50].replace("(", "(-")
        result, times, _ = self.read(self.save("back.log", lines), "--times", "gap")
        self.assertEqual((result["frames"], result["rejected"]), (199, 1))
        gaps[50] = 0
        wanted = list(self.times(gaps))
        self.assertEqual(times, (wanted[:50] + wanted[51:])[:196])

    def test_marks_beside_gaps(self):
        gaps = self.gaps(400)
        log = self.save("trip.csv", ["time,id,data,IDE,RTR,Network"] + [
            f"{gap:.6f},{0x1A0 + i % 10:X},{i % 256:02X},{int(i % 20 == 10)},{int(i % 20 == 5)},"
            f"{1 + i % 2}" for i, gap in enumerate(gaps)])
        for words in (("--times", "gap"), ("--column", "time=time:gap")):
            result, _, ids = self.read(log, *words)
            self.assertEqual((result["frames"], result["captures"]), (380, 2))
            self.assertIn("1:000001A0", ids)

    def test_gaps_of_malformed_lines(self):
        gaps = self.gaps(200)
        wanted = [time for i, time in enumerate(self.times(gaps)) if i != 50][:196]
        lines = self.candump(gaps)
        lines[50] = lines[50].replace(" can0 ", " ")  # no interface
        logs = [(self.save("short.log", lines), ("--times", "gap"))]
        for name, cell in (("cells", "00,1"), ("quotes", '"00'), ("none", "")):
            lines = [f"{gap:.6f},{0x1A0 + i % 9:X},{i % 256:02X},{int(i % 5 == 0)}"
                     for i, gap in enumerate(gaps)]
            lines[50] = f"{gaps[50]:.6f},1A0,{cell}" + (",0" if cell else "")
            for header in ("time,id,data,remote", "timestamp,arbitration_id,data_field,attack"):
                if "remote" in header:
                    rows = [line[:-1] + "0" for line in lines]
                else:
                    rows = lines
                path = self.save(f"{name}{len(header)}.csv", [header] + rows)
                logs.append((path, ("--times", "gap")))
        lines = [f"{gap:.6f},{0x1A0 + i % 9:X},{i % 256:02X},{'?' if i == 50 else 0}"
                 for i, gap in enumerate(gaps)]
        logs.append((self.save("mark.csv", ["time,id,data,remote"] + lines), ("--times", "gap")))
        for log, words in logs:
            result, times, _ = self.read(log, *words)
            self.assertEqual((result["frames"], result["rejected"]), (199, 1), log)
            self.assertEqual(times, wanted, log)

    def test_gaps_of_a_steady_bus(self):
        """None of them is near 0, where the first one of a log would be."""
        steady = [0.1 + (i * 7919 % 400 - 200) * 1e-5 for i in range(399)]
        log = self.save("tail.log", self.candump(steady))
        self.assertIn("seem to be gaps", self.ingest(log, status=1))
        self.assertEqual(self.read(log, "--times", "gap")[1], list(self.times(steady))[:396])
        # of a clock of milliseconds, of which most steps go nowhere
        coarse = [0.001 * (i % 5 == 0) for i in range(400)]
        self.assertIn("seem to be gaps",
                      self.ingest(self.save("coarse.log", self.candump(coarse)), status=1))

    def test_logs_of_a_clock(self):
        """A tenth of small steps is a logger's; times far from 0 are no gaps, however mixed."""
        near = [i * 1e-3 - (0.002 if i % 10 == 9 else 0) for i in range(400)]
        self.assertEqual(self.read(self.save("near.log", self.candump(near)))[1],
                         sorted(round(time, 6) for time in near))
        far = [1.6e9 + (i ^ 1) * 1e-3 for i in range(400)]
        times = self.read(self.save("far.log", self.candump(far)))[1]
        self.assertEqual(times, sorted(float(f"{time:.6f}") for time in far))
        for first, wanted in ((70, 0), (50, 1)):  # a minute is longer than any gap
            log = self.save("some.log", self.candump([first + time - 1.6e9 for time in far]))
            self.assertEqual("seem to be gaps" in self.ingest(log, status=wanted), wanted == 1)
            self.assertEqual(self.read(log, "--clock-steps", "sort")[0]["frames"], 400)
        few = self.save("few.log", self.candump(self.gaps(15)))
        self.assertEqual(self.read(few)[0]["frames"], 15)


if __name__ == "__main__":
    unittest.main()
