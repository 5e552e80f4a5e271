"""leat ingest can: tables that other tools export. Runs the command named by LEAT."""
import os
import unittest

from test_can_third_party import SMALL, Third
from test_ingest_can import read_tensors


class Tools(Third):
    def frames(self, log, *words):
        """Time, identifier and payload of each frame, and the result."""
        result, times, names = self.read(log, *words)
        tensors = read_tensors(os.path.join(result["cache"], "train.safetensors"))
        data = bytes(tensors["frame_bytes"][1])
        return sorted((time, name, data[8 * i:8 * i + 8].hex())
                      for i, (time, name) in enumerate(zip(times, names))), result


class Asammdf(Tools):
    """As asammdf 8.8.28 exports a group of frames, with and without mdf.can_logging_db = True."""
    FRAMES = [(0x123, 0, "0524436281a0bfde"), (0x456, 0, "16355473"), (0x7FF, 0, ""),
              (0x18FF1234, 1, "385776b4d3f20011"), (0x10, 0, "4968"), (0x10, 1, "6400"),
              (0x100, 0, "00"), (0x101, 0, "0000000000000001")]

    def wanted(self):
        return [(i * 0.01, f"{ident:08X}" if wide else f"{ident:03X}", data.ljust(16, "0"))
                for i, (ident, wide, data) in enumerate(self.FRAMES)]

    def table(self, arrays, prefix="CAN_DataFrame.", room=8, frames=None, drop=()):
        """Arrays as numpy shows them, or hexadecimal bytes; both as long as the longest one."""
        names = ["BusChannel", "ID", "IDE", "DLC", "DataLength", "DataBytes", "Dir"]
        if not arrays:
            late = ["ID", "DataBytes"]
            names = [name for name in names if name not in late] + late
        names = [name for name in names if name not in drop]
        lines = [",".join(["timestamps", *(f"{prefix}CAN_DataFrame.{name}" for name in names)])]
        for i, (ident, wide, data) in enumerate(frames or self.FRAMES):
            raw = bytes.fromhex(data)
            full = raw + bytes(room - len(raw))
            width = max(len(str(byte)) for byte in full)
            shown = "[" + " ".join(f"{byte:{width}}" for byte in full) + "]"
            cells = {"BusChannel": 1, "ID": ident if arrays else f"{ident:X}", "IDE": wide,
                     "DLC": min(len(raw), 9), "DataLength": len(raw), "Dir": 0,
                     "DataBytes": shown if arrays else " ".join(f"{byte:02X}" for byte in full)}
            lines.append(",".join([str(i * 0.01), *(str(cells[name]) for name in names)]))
        return lines

    def test_both_notations(self):
        for arrays in True, False:
            for prefix in "CAN_DataFrame.", "", "CAN1.":
                log = self.save("bus.csv", self.table(arrays, prefix))
                frames, result = self.frames(log)
                self.assertEqual(frames, self.wanted(), (arrays, prefix))
                self.assertEqual(result["warnings"], [])
                self.assertEqual((result["rejected"], result["captures"]), (0, 1))

    def test_identifiers_without_a_letter(self):
        """291 is 0x123 in arrays, and 0x291 beside hexadecimal bytes."""
        frames = [(ident, 0, "11") for ident in (0x123, 0x291, 0x100, 0x291)]
        for arrays in True, False:
            found, result = self.frames(self.save("bus.csv", self.table(arrays, frames=frames)))
            self.assertEqual([name for _, name, _ in found], ["123", "291", "100", "291"])
            self.assertEqual(result["warnings"], [])

    def test_can_fd(self):
        frames = [*self.FRAMES[:7], (0x101, 0, "11" * 12)]
        found, result = self.frames(self.save("bus.csv", self.table(False, room=64, frames=frames)))
        self.assertEqual(found[:7], self.wanted()[:7])
        self.assertEqual((found[7][2], result["frames_cut"]), ("11" * 8, 1))

    def test_arrays_in_several_lines(self):
        lines = self.table(True)
        lines[1:] = ['0.0,1,291,0,15,64,"[  5  36   0   0',
                     '   0   0   0   0]",0'] * 4
        error = self.ingest(self.save("bus.csv", lines), *SMALL, status=1)
        self.assertIn("mdf.can_logging_db = True before mdf.export()", error)

    def test_bytes_beyond_the_length_are_not_dropped(self):
        for arrays in True, False:
            lines = self.table(arrays)
            lines[2] = lines[2].replace("115   0", "115   7").replace("73 00", "73 07")
            result = self.read(self.save("bus.csv", lines * 1))[0]
            self.assertEqual((result["rejected"], result["frames"]), (1, 7))
            with open(os.path.join(result["cache"], "rejected.csv"), encoding="utf-8") as file:
                self.assertIn(",3,malformed_line,", file.read())

    def test_without_lengths(self):
        """Padding cannot be told from data."""
        for arrays in True, False:
            log = self.save("bus.csv", self.table(arrays, drop=("DataLength",)))
            self.assertIn("there is no column CAN_DataFrame.DataLength",
                          self.ingest(log, *SMALL, status=1))

    def test_decoded_signals(self):
        log = self.save("signals.csv", ["timestamps,CAN1.MSG.S", "0.0,5", "0.05,90"])
        self.assertIn("without extract_bus_logging()", self.ingest(log, *SMALL, status=1))

    def test_dates(self):
        lines = [line.replace("0.0", "2026-11-27 08:46:35.453707933+00:00", 1) if i else line
                 for i, line in enumerate(self.table(True))]
        log = self.save("dates.csv", lines)
        self.assertIn("dates are not read", self.ingest(log, *SMALL, status=1))


class VehicleSpy(Tools):
    HEADER = ("Line,Abs Time(Sec),Rel Time (Sec),Status,Er,Tx,Description,Network,Node,Arb ID,"
              "Remote,Xtd,B1,B2,B3,B4,B5,B6,B7,B8,Value,Trigger,Signals")

    def rows(self, ident, data):
        return [f"{i + 1},{2 + i / 4},0.25,0,F,F,x,HS CAN,,{ident},F,F,{data},,," for i in range(4)]

    def test_decimal_notation(self):
        """It is refused, and the message says how to read it."""
        log = self.save("spy.csv", ["Save Date,6/30/2018", "", self.HEADER,
                                    *self.rows("716", "89,0,255,,,,,")])
        error = self.ingest(log, *SMALL, status=1)
        self.assertIn("its identifiers or bytes seem to be decimal", error)
        option = error.split('--column "')[1].split('"')[0]
        log = self.save("cut.csv", [self.HEADER, *self.rows("716", "89,0,255,,,,,")])
        self.assertIn("seem to be decimal", self.ingest(log, *SMALL, status=1))
        found, _ = self.frames(log, "--column", option)
        self.assertEqual(found, [(2 + i / 4, "2CC", "5900ff0000000000") for i in range(4)])


class Hcrl(Tools):
    def test_empty_cells_behind_the_flag(self):
        """Rows of a table without a header."""
        rows = [f"{i * 0.25},0316,8,05,21,68,09,21,21,00,{i % 256:02x},R" for i in range(300)]
        plain = self.save("plain.csv", rows)
        self.assertEqual(self.read(plain)[0]["rejected"], 0)
        rows[3] = "0.75,043f,2,45,60,T,,,,,,"
        log = self.save("x.csv", rows)
        found, result = self.frames(log)
        self.assertEqual((found[3], len(found)), ((0.75, "43F", "4560000000000000"), 300))
        self.assertEqual((result["splits"]["train"]["attacks"], result["rejected"]), (1, 0))


class OpenXc(Tools):
    RAW = '{"timestamp": %s, "bus": 1, "id": 642, "data": "0x5000987fff000000"}'

    def write(self, name, text):
        with open(self.path("logs", name), "w", encoding="utf-8") as file:
            file.write(text)

    def test_traces_of_a_folder(self):
        """Other JSON stays what it was: not read."""
        self.make("logs")
        spoken = '{"timestamp": 1.5, "name": "vehicle_speed", "value": 45}'
        trace = "\n".join([spoken] * 100 + [self.RAW % (2 + i / 4) for i in range(8)])
        self.write("trace.json", trace)
        for name, text in (("spoken.json", spoken), ("empty.json", ""), ("list.json", "[1, 2]"),
                           ("package.json", '{\n "timestamp": 1,\n "id": 2, "data": "00"\n}'),
                           ("half.json", self.RAW[:-1] % 1), ("text.json", "0.1,2,3\n"),
                           ("words.json", '{"timestamp": 1, "id": "x", "data": "00"}'),
                           ("numbers.json", '{"timestamp": 1, "id": 2, "data": 3}'),
                           ("timeless.json", '{"id": 2, "data": "00"}'),
                           ("late.json", (spoken + "\n") * 2000 + self.RAW % 2)):
            self.write(name, text)
        result, times, names = self.read(self.path("logs"))
        self.assertEqual(times, [2 + i / 4 for i in range(8)])
        self.assertEqual(set(names), {"282"})
        self.assertEqual((result["files"], result["not_read"]["count"]), (1, 10))
        os.remove(self.path("logs", "trace.json"))
        self.assertIn("does not contain any", self.ingest(self.path("logs"), *SMALL, status=1))


if __name__ == "__main__":
    unittest.main()
