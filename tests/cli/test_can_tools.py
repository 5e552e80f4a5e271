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
        return [(time, name, data[8 * i:8 * i + 8].hex())
                for i, (time, name) in enumerate(zip(times, names))], result


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
            names = [name for name in names if name not in ("ID", "DataBytes")] + ["ID", "DataBytes"]
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
        self.assertIn("dates are not read", self.ingest(self.save("d.csv", lines), *SMALL, status=1))


if __name__ == "__main__":
    unittest.main()
