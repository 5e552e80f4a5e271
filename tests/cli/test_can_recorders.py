"""leat ingest can: logs of recorders whose times lack the date. Days begin in the middle of a log,
also between the blocks that its threads read."""
import datetime
import os
import sys
import unittest

from test_can_third_party import SMALL, Third
from test_ingest_can import read_tensors

DAY = 86400


class Recorders(Third):
    def times(self, log, *words):
        """The result, and the times of the frames in their order."""
        Third.count += 1
        result = self.ingest(log, *SMALL, *words, out=f"cache{Third.count}")
        path = os.path.join(result["cache"], "train.safetensors")
        flat = {key: values for key, (_, values) in read_tensors(path).items()}
        windows = sorted((start, g) for g, start in enumerate(flat["window_start"]))
        times = list(flat["frame_time"])
        return result, [time for _, g in windows for time in times[4 * g:4 * g + 4]], path

    def check_threads(self, log, wanted, *words):
        """The same bytes with any number of threads."""
        bytes_of = set()
        for threads in "1", "2", "3", "8":
            result, times, path = self.times(log, "--threads", threads, *words)
            self.assertEqual((result["frames"], result["captures"]), (len(wanted), 1))
            self.assertEqual(times, wanted)
            with open(path, "rb") as file:
                bytes_of.add(file.read())
        self.assertEqual(len(bytes_of), 1)
        return result


class Busmaster(Recorders):
    def header(self, base="HEX", mode="SYSTEM"):
        return ["***BUSMASTER Ver 3.2.2***", "***PROTOCOL CAN***",
                "***[START LOGGING SESSION]***",
                "***START DATE AND TIME 31:12:2019 23:59:50:0***", f"***{base}***",
                f"***{mode} MODE***"]

    def clock(self, tenths_ms):
        seconds, rest = divmod(tenths_ms, 10_000)
        return f"{seconds // 3600 % 24:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}:{rest:04d}"

    def test_days(self):
        """30,000 frames, one each 20.01 s: a week, in four blocks."""
        begin = 1577836795  # 2019-12-31 23:59:55
        steps = [i * 200_100 for i in range(30_000)]
        log = self.save("days.log", self.header() + [
            f"{self.clock(begin % DAY * 10_000 + step)} Rx 1 0x{0x100 + i % 7:X} s 1 {i % 256:02X} "
            for i, step in enumerate(steps)])
        result = self.check_threads(log, [(begin * 10_000 + step) / 10_000 for step in steps])
        self.assertEqual((result["rejected"], result["warnings"]), (0, []))

    def test_gaps(self):
        log = self.save("gaps.log", self.header(mode="RELATIVE") + [
            f"0:0:0:{10 + i % 3:04d} Rx 1 {0x100 + i % 7:X} s 0" for i in range(20_000)])
        ticks = 0
        wanted = []
        for i in range(20_000):
            ticks += 10 + i % 3
            wanted.append(ticks / 10_000)
        self.check_threads(log, wanted)

    def test_what_is_rejected(self):
        """A log that is cut, with lines that are not frames, and few that are damaged."""
        rows = [f"{self.clock(i * 10)} Rx {1 + i % 2} 217056256 x 2 {i % 256} 255"
                for i in range(1_000)]
        rows[500] = "0:0:0:5000 Rx 1 217056256 xr 2"
        rows[600] = "0:0:0:6000 Rx 1 0 ERR Stuff error"
        rows[700] = "0:0:0:7000 Rx 1 2170562560 x 0"
        log = self.save("cut.log", self.header(base="DEC") + rows)
        with open(log, "r+b") as file:
            file.truncate(os.path.getsize(log) - 6)  # in the bytes of the last line
        result, _, _ = self.times(log, "--bus", "merge")
        self.assertEqual((result["frames"], result["rejected"]), (996, 4))
        with open(os.path.join(result["cache"], "rejected.csv"), encoding="ascii") as file:
            rejected = [line.split(",")[1:3] for line in file.read().splitlines()[1:]]
        self.assertEqual(rejected, [["507", "remote_frame"], ["607", "error_frame"],
                                    ["707", "identifier_unparsable"], ["1006", "malformed_line"]])

    def test_another_mode_later(self):
        """Most lines are of a session whose times are of another kind."""
        rows = [f"{self.clock(i * 10)} Rx 1 123 s 0" for i in range(1_000)]
        log = self.save("mixed.log", self.header() + rows[:300] +
                        self.header(mode="RELATIVE") + rows)
        self.assertIn("timestamp_unparsable", self.ingest(log, status=1))


class Cl2000(Recorders):
    def preamble(self, time="20200227T120000", form=4):
        return ["# Logger type: CL2000", f"# Time: {time}", '# Value separator: ";"',
                f"# Time format: {form}", "# Cyclic mode: false"]

    def rows(self, form, count=12_000):
        """Four days from 2020-02-27 on, one frame each 30 s, with milliseconds; and their times."""
        begin = datetime.datetime(2020, 2, 27, 12, tzinfo=datetime.timezone.utc)
        rows, times = ["Timestamp;Type;ID;Data"], []
        for i in range(count):
            now = begin + datetime.timedelta(milliseconds=30_001 * i)
            text = f"{now:%Y%m%d}T{now:%H%M%S}{now.microsecond // 1000:03d}"
            rows.append(f"{text[{6: 0, 5: 4, 4: 6, 3: 9}[form]:]};{i % 2};{0x100 + i % 7:x};"
                        f"{i % 256:02x}")
            times.append((round(begin.timestamp()) * 1000 + 30_001 * i) / 1000)
        return rows, times

    def test_forms(self):
        """A leap day, and the month that begins after it."""
        for form in 3, 4, 5, 6:
            rows, times = self.rows(form)
            log = self.save(f"{form}.TXT", self.preamble(form=form) + rows)
            result = self.check_threads(log, times)
            self.assertEqual((result["rejected"], result["warnings"]), (0, []))

    def test_without_a_preamble(self):
        rows, times = self.rows(4, 5_000)  # up to the end of the month
        result, found, _ = self.times(self.save("free.txt", rows))
        base = times[0] - (26 * DAY + DAY // 2)
        self.assertEqual(result["rejected"], 0)
        self.assertEqual(len(found), 5_000)
        for time, wanted in zip(found, times):
            self.assertAlmostEqual(time, wanted - base, places=6)

    def test_without_a_preamble_after_the_month(self):
        rows, _ = self.rows(4)
        log = self.save("free.txt", rows)
        self.assertIn("\"# Time:\" has the month", self.ingest(log, status=1))

    def test_what_is_rejected(self):
        rows, _ = self.rows(4, 1_000)
        rows[500] = rows[500].replace("T", "X")
        rows[600] = rows[600].replace(";1;", ";3;").replace(";0;", ";3;")
        log = self.save("cut.txt", self.preamble() + rows + ["28T", "# end"])
        result, _, _ = self.times(log)
        self.assertEqual((result["frames"], result["rejected"]), (998, 4))
        with open(os.path.join(result["cache"], "rejected.csv"), encoding="ascii") as file:
            rejected = [line.split(",")[1:3] for line in file.read().splitlines()[1:]]
        self.assertEqual(rejected, [["506", "timestamp_unparsable"], ["606", "malformed_line"],
                                    ["1007", "malformed_line"], ["1008", "not_a_frame"]])


class CanKing(Recorders):
    HEADER = "Chn Identifier Flg   DLC  D0...1...2...3...4...5...6..D7       Time     Dir"

    def row(self, i, hexadecimal):
        number, byte = 0x18FEF100 + i % 7 if i % 2 else 0x100 + i % 7, i % 256
        number = f"{number:08X}" if hexadecimal else f"{number:10d}"
        byte = f"{byte:02X}" if hexadecimal else f"{byte:3d}"
        return (f" {i % 3:<4} {number} {'X' if i % 2 else ' '}       1  {byte:<30}"
                f"{395 + i / 1000:13.6f} R")

    def test_both_bases(self):
        frames = []
        for hexadecimal in True, False:
            rows = [self.HEADER] + [self.row(i, hexadecimal) for i in range(20_000)]
            rows[501] = " 0    00000000            ErrorFrame                         395.500000 R"
            rows[601] = f" 0  {'00000100' if hexadecimal else 256}   R   8           395.600000 R"
            rows[701] = rows[701][:30]
            log = self.save(f"{hexadecimal}.txt", rows + ["Logging stopped."])
            result, times, path = self.times(log, "--bus", "merge")
            self.assertEqual((result["frames"], result["rejected"]), (19_997, 4))
            self.assertEqual(times, [round(395_000 + i) / 1000 for i in range(20_000)
                                     if i not in (500, 600, 700)][:19_996])
            with open(os.path.join(result["cache"], "rejected.csv"), encoding="ascii") as file:
                rejected = [line.split(",")[1:3] for line in file.read().splitlines()[1:]]
            self.assertEqual(rejected, [["502", "error_frame"], ["602", "remote_frame"],
                                        ["702", "malformed_line"], ["20002", "not_a_frame"]])
            with open(path, "rb") as file:
                frames.append(file.read())
        self.assertEqual(*frames)

    def test_numbers_of_either_base(self):
        rows = [self.HEADER] + [f" 0 {100 + i % 7} 1 {10 + i % 80} {i / 1000:.6f} R"
                                for i in range(300)]
        self.assertIn("hexadecimal or decimal", self.ingest(self.save("x.txt", rows), status=1))

    def test_an_unknown_version(self):
        log = self.save("x.trc", [";$FILEVERSION=3.0", "1 1 DT 1 0300 Rx - 1 01"])
        self.assertIn("version 3.0 of PEAK's trace files", self.ingest(log, status=1))


if __name__ == "__main__":
    sys.exit(unittest.main())
