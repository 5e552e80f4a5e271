"""leat ingest can: columns of a csv that are not used although they may be labels, marks or buses,
and the advice for them, which is followed here as it is printed."""
import os
import re
import shlex
import shutil
import struct
import subprocess
import unittest

from test_can_third_party import SMALL, Third

FRAMES = 400


class Columns(Third):
    def table(self, header, cells, name="x.csv"):
        """Time, identifier and data, then what `cells` has of each frame by its number."""
        return self.save(name, ([f"time,id,data,{header}"] if header else []) + [
            f"{i * 0.001:.6f},{0x1A0 + i % 10:X},{i % 256:02X},{cells(i)}" for i in range(FRAMES)])

    def warning(self, log, *words):
        result, _, _ = self.read(log, *words)
        return "; ".join(result["warnings"]), result["splits"]["train"]["attacks"]

    def advised(self, warning):
        """The words of the advice about labels, as a shell splits them."""
        return shlex.split(re.search(r"; use (--column .*?) to read (it|them)", warning)[1])


class Labels(Columns):
    KINDS = ("DoS", "Fuzzy", "Gear", "RPM")

    def one_hot(self, i):
        """Two attacks, of eight windows of four frames each; the others do not occur."""
        return f"{int(40 <= i < 72)},{int(300 <= i < 332)},0,0"

    def test_one_column_for_each_attack(self):
        log = self.table(",".join(self.KINDS), self.one_hot)
        said, attacks = self.warning(log)
        self.assertIn('columns "DoS", "Fuzzy", "Gear", "RPM" look like labels but are not used, so '
                      "the frames have no label; use --column label=DoS+Fuzzy+Gear+RPM to read "
                      "them: a frame is an attack if one of the columns says so; or label=NAME to "
                      "read one of them", said)
        self.assertEqual(attacks, 0)
        self.assertEqual(self.warning(log, *self.advised(said), "--threads", "3"), ("", 16))
        for chosen, others, attacks in (("DoS", '"Fuzzy", "Gear", "RPM"', 8),
                                        ("DoS+Gear+RPM", '"Fuzzy"', 8),
                                        ("4+5", '"Gear", "RPM"', 16)):
            said, found = self.warning(log, "--column", f"label={chosen}")
            self.assertIn(others, said)
            self.assertIn("not used; use --column label=" + chosen, said)
            self.assertEqual(found, attacks)
            self.assertEqual(self.warning(log, *self.advised(said)), ("", 16))

    def test_names_that_a_shell_reads(self):
        for header in ("DoS attack,Fuzzy attack", '"A, x","$HOME"', "DoS's,`zork`", "A+B,A"):
            log = self.table(header, lambda i: f"{int(i < 40)},{int(i >= 360)}")
            said, _ = self.warning(log)
            self.assertEqual(self.warning(log, *self.advised(said)), ("", 20), header)
        log = self.table("the label,B,my attack",
                         lambda i: f"{int(i < 40)},{i % 2},{int(i >= 360)}")
        said, attacks = self.warning(log, "--column", "label=the label")
        self.assertNotIn('"B"', said)  # it is no label by its name
        self.assertEqual((attacks, self.warning(log, *self.advised(said))), (10, ("", 20)))
        log = self.table("the label,DoS", lambda i: f"{int(i < 40)},{int(i >= 360)}")
        said, attacks = self.warning(log, "--column", "label=the label")
        self.assertIn("use --column 'label=the label+DoS' to read it", said)
        self.assertEqual((attacks, self.warning(log, *self.advised(said))), (10, ("", 20)))

    def test_more_than_a_line_holds(self):
        log = self.table(",".join(f"attack_number_{k}" for k in range(20)),
                         lambda i: ",".join("1" * 20 if i < 40 else "0" * 20))
        said, _ = self.warning(log)
        self.assertIn('"attack_number_9", ... look like labels', said)
        self.assertIn("+attack_number_9 to read them", said)
        self.assertEqual(self.warning(log, *self.advised(said))[1], 10)

    def test_by_number(self):
        log = self.table("", lambda i: f"{int(i < 40)},{int(i >= 360)}")
        said, _ = self.warning(log, "--column", "time=1,id=2,data=3:hex")
        self.assertIn('columns "4", "5" look like labels', said)
        self.assertIn("; or bus=N, extended=N, remote=N or error=N if a column is one of these",
                      said)
        self.assertEqual(self.advised(said),
                         ["--column", "time=1,id=2,data=3:hex,label=4+5"])
        self.assertEqual(self.warning(log, *self.advised(said)), ("", 20))

    def test_one_for_benign_frames(self):
        log = self.table("Normal,DoS", lambda i: f"{int(i >= 40)},{int(i < 40)}")
        said, _ = self.warning(log)
        self.assertIn("to read them: a frame is an attack if one of the columns says so, and 1 is "
                      "benign in one that is named for benign frames", said)
        said, attacks = self.warning(log, *self.advised(said))
        self.assertEqual(attacks, 10)
        self.assertIn("it is read inverted", said)

    def test_cells_without_a_label(self):
        """One says attack: it is one. No other label is missing: it is none."""
        log = self.table("A,B", lambda i: ("1,", ",1", "0,0", "0,")[i % 4])
        result = self.read(log, "--column", "label=A+B", "--max-rejected", "0.3")[0]
        self.assertEqual((result["frames"], result["rejected"]), (300, 100))
        with open(os.path.join(result["cache"], "rejected.csv"), encoding="ascii") as file:
            self.assertEqual(file.read().count(",label_missing,"), 100)
        result = self.read(log, "--column", "label=A+B", "--unlabelled", "benign-lines")[0]
        self.assertEqual(result["frames"], 400)
        self.assertIn("100 of 400 frames have no label, and count as benign",
                      result["warnings"][0])

    def test_refused(self):
        log = self.table("A,B", lambda i: f"0,{'odd' if i == 9 else 0}")
        self.assertIn('are not known: "odd" in line 11',
                      self.ingest(log, "--column", "label=A+B", status=1))
        self.assertIn("the name for label must have 1 to 63 characters",
                      self.ingest(log, "--column", "label=" + "A" * 64 + "+B", status=2))
        self.assertIn("label takes up to 16 columns",
                      self.ingest(log, "--column", "label=" + "+".join("ABCDEFGHIJKLMNOPQ"),
                                  status=2))

    def test_columns_that_are_none(self):
        """Beside a label that is found by its name, others of 0 and 1 are not offered."""
        log = self.table("label,brake", lambda i: f"{int(i < 40)},{i % 2}")
        self.assertEqual(self.warning(log), ("", 10))


class Others(Columns):
    def test_flags_are_no_label(self):
        """Kvaser's are bits: 2 for 11 bits, 4 for 29."""
        for values in ("24", "01", "02", ("0", "4")):
            for chosen in (lambda i: i % 2, lambda i: i > 350):
                log = self.table("Flags", lambda i, v=values, c=chosen: v[c(i)])
                said, _ = self.warning(log)
                self.assertNotIn("label", said)
                if values == "01" or chosen(1):
                    self.assertIn('columns of few values are not used: "Flags"', said)

    def test_by_number(self):
        """What is said of a column with a name is said of one with a number."""
        for cells in (lambda i: f"{1 + i % 2}", lambda i: ("HS", "MS")[i % 2], lambda i: "EXT",
                      lambda i: "RTR" * (i % 20 == 10)):
            named = self.table("Segment", cells, "a.csv")
            said, _ = self.warning(self.table("", cells, "b.csv"), "--column", "time=1,id=2,data=3")
            self.assertIn('b.csv": columns of few values are not used: "4"; if one is the bus or '
                          "marks frames, name it with --column bus=NAME", said)
            self.assertEqual(said.replace("b.csv", "a.csv").replace('"4"', '"Segment"'),
                             self.warning(named)[0])
        for cells in (lambda i: i, lambda i: "HS"):
            log = self.table("", cells)
            self.assertEqual(self.warning(log, "--column", "time=1,id=2,data=3")[0], "")
        result = self.read(self.table("", lambda i: 1 + i % 2), "--column",
                           "time=1,id=2,data=3,bus=4")[0]
        self.assertEqual((result["captures"], result["warnings"]), (2, []))


class Notations(Columns):
    """What tools and pandas write, and the advice where it is refused."""
    def refused(self, log, *words):
        """The advice of a refusal, as a shell splits it."""
        says = self.ingest(log, *SMALL, *words, status=1)
        self.assertIn("numbers with a fraction of 0 are decimal, as pandas writes them", says)
        return shlex.split(re.search(r"; use (--column .*?), or write", says)[1])

    def test_floats(self):
        for name in "can_id", "CAN ID", "it's", '"a:b"':
            log = self.save("x.csv", [f"time,{name},data"] + [
                f"{i / 1000:.3f},{300 + i % 20}.0,{i % 256:02X}" for i in range(FRAMES)])
            given = [] if name in ("can_id", "CAN ID") else ["--column", "id=2"]
            result, _, ids = self.read(log, *self.refused(log, *given))
            self.assertEqual((result["frames"], result["rejected"]), (FRAMES, 0))
            self.assertEqual(ids[:2], ["12C", "12D"])

    def test_floats_in_columns(self):
        """Bytes of one digit do not show that they are decimal."""
        for names in ("b0,b1,b2", "a b,it's,z"):
            log = self.save("x.csv", [f"time,id,dlc,{names}"] + [
                f"{i / 1000:.3f},{0x1A0 + i % 10:X},{3 - i % 2}.0,{i % 10}.0,9.0,"
                f"{'' if i % 2 else '8.0'}" for i in range(FRAMES)])
            given = [] if names == "b0,b1,b2" else ["--column", "data=a b..z"]
            result = self.read(log, *self.refused(log, *given), "--threads", "3")[0]
            self.assertEqual((result["frames"], result["rejected"], result["warnings"]),
                             (FRAMES, 0, []))

    def test_marks_show_hexadecimal_identifiers(self):
        for write in "${}", "{}h", "0x{}":
            log = self.save("x.csv", ["time,id,data"] + [
                f"{i / 1000:.3f},{write.format(300 + i % 20)},0A" for i in range(FRAMES)])
            result, _, ids = self.read(log)
            self.assertEqual((ids[0], result["warnings"]), ("300", []))
        log = self.save("x.csv", ["time,id,data"] + [
            f"{i / 1000:.3f},{300 + i % 20}x,0A" for i in range(FRAMES)])
        says = self.ingest(log, *SMALL, status=1)
        options = re.search("use (--column .*), or if they are decimal (--column .*)", says)
        for option, first in zip(options.groups(), ("00000300", "0000012C")):
            self.assertEqual(self.read(log, *shlex.split(option))[2][0], first)

    def test_can_fd_in_columns(self):
        """A frame has up to 64 bytes, and a table other columns besides."""
        sizes = (0, 8, 12, 64)
        log = self.save("x.csv", ["time,id,len," + ",".join(f"b{k}" for k in range(64)) +
                                  ",channel,label"] + [
            f"{i / 1000:.3f},1A{i % 8},{sizes[i % 4]}," +
            ",".join(f"{k:02X}" if k < sizes[i % 4] else "" for k in range(64)) +
            f",{i % 2},{int(i < 40)}" for i in range(FRAMES)])
        result, _, _ = self.read(log)
        self.assertEqual((result["frames"], result["frames_cut"], result["captures"]),
                         (FRAMES, FRAMES // 2, 2))
        self.assertEqual((result["rejected"], result["warnings"]), (0, []))
        self.assertEqual(result["splits"]["train"]["attacks"], 10)
        wide = self.save("y.csv", ["time,id,data," + ",".join(f"x{k}" for k in range(126))])
        self.assertIn("has 129 columns, but at most 128 are read", self.ingest(wide, status=1))


class Placeholders(Columns):
    """Options that are printed with NAME and the like, which the reader replaces."""
    PLAIN = (lambda i: f"{i * 0.001:.6f}", lambda i: f"{0x1A0 + i % 10:X}",
             lambda i: f"{i % 256:02X}")

    def put(self, header, *columns):
        return self.save("x.csv", [header] * bool(header) + [
            ",".join(column(i) for column in columns) for i in range(FRAMES)])

    def test_refusals(self):
        time, ident, data = self.PLAIN
        label, mixed = lambda i: str(int(i < 40)), lambda i: ("normal", "odd")[i % 2]
        gvret = "Time Stamp,ID,Extended,Bus,LEN,D1,D2,D3"
        padded = [lambda i: f"{1000 * i}", ident, lambda i: "false", lambda i: "0",
                  lambda i: "1", data, lambda i: "", lambda i: "", label]
        for header, columns, pattern, filled in (
                ("when,id,data", (time, ident, data), "--column time=NAME", {"NAME": "when"}),
                ("x,id,data", (label, ident, data), "--no-time RATE", {"RATE": "1000"}),
                ("when,who,what", (time, ident, data), "--column time=NAME,id=NAME,data=NAME",
                 {"time=NAME": "time=when", "id=NAME": "id=who", "data=NAME": "data=what"}),
                ("time,who is it,what", (time, ident, data), "--column id=NAME,data=NAME",
                 {"id=NAME": "'id=who is it", "data=NAME": "data=what'"}),
                ("", (time, ident, data), "time=1,id=2,data=3", {"time=1": "--column time=1"}),
                ("time,id,b0,b2", (time, ident, data, data), "--column data=FIRST..LAST",
                 {"FIRST": "b0", "LAST": "b2"}),
                ("time,id,b0,d0,b1", (time, ident, data, label, data),
                 "--column data=FIRST..LAST", {"FIRST..LAST": "b0"}),
                ("timestamp,arb_id,arbitration_id,payload", (time, label, ident, data),
                 "--column", {"--column": "--column id=arbitration_id"}),
                ("time,id,data,attack,attack", (time, ident, data, label, label),
                 "--column label=NAME", {"NAME": "4"}),
                ("time,id,data,label,truth", (time, ident, data, mixed, label),
                 "--column label=NAME", {"NAME": "truth"}),
                (gvret + ",label", padded, "--column time=1:us,label=label", {}),
                (gvret + ",the label's `$HOME`", padded, "--column '?time=1:us,label=[^;]*", {}),
                (gvret + ',"label: a"', padded, "--column time=1:us,label=9", {})):
            with self.subTest(header=header):
                log = self.put(header, *columns)
                said = self.ingest(log, status=1)
                option = re.search(pattern, said.splitlines()[0])[0]
                for word, value in filled.items():
                    option = option.replace(word, value)
                result, times, ids = self.read(log, *shlex.split(option))
                self.assertEqual((result["frames"], result["rejected"]), (FRAMES, 0))
                self.assertEqual(set(ids), {f"{0x1A0 + i:X}" for i in range(10)})
                self.assertAlmostEqual(max(times), 0.399, delta=0.0011)

    def test_warnings(self):
        time, ident, data = self.PLAIN
        for header, column, words, filled, count in (
                ("side", lambda i: "ab"[i % 2], "bus=NAME", "bus=side", 2),
                ("kind", lambda i: "ab"[i % 20 == 3], "bus=NAME", "bus=kind", 2)):
            log = self.put(f"time,id,data,{header}", time, ident, data, column)
            said, _ = self.warning(log)
            option = re.search(f"--column {words}", said)[0].replace(words, filled)
            result = self.read(log, *shlex.split(option))[0]
            self.assertEqual((result["captures"], result["warnings"]), (count, []))
        log = self.put("time,id,d0,d1", time, ident, lambda i: str(i % 99), lambda i: "1")
        said, _ = self.warning(log)
        for unit, option in (("hex", r"--column data=FIRST..LAST:hex"), ("dec", "or :dec")):
            self.assertIn(option, said)
            given = f"--column data=d0..d1:{unit}"
            self.assertEqual(self.warning(log, *given.split())[0], "")


class Tshark(Columns):
    """What the refusal of a pcap prints: data frames of 11 and 29 bits, of no and of 12 bytes,
    remote frames and an error frame."""
    SENT = [(0x100, b"\1\2"), (0x80000100, b"\1\2\3"), (0x98FEF100, bytes(8)), (0x40000123, b""),
            (0xC0000123, b""), (0x20000004, bytes(8)), (0x101, b""), (0x105, bytes(range(12)))]
    SHAPE = ["256,0102,0,0,0", "256,010203,1,0,0", "419361024,0000000000000000,1,0,0",
             "291,,0,1,0", "291,,1,1,0", ",,,,1", "257,,0,0,0",
             "261,000102030405060708090a0b,0,,"]
    IDS = ["100", "00000100", "18FEF100", "101", "105"]

    def pcap(self):
        with open(self.path("x.pcap"), "wb") as file:
            file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 227))
            for i in range(10 * len(self.SENT)):
                ident, data = self.SENT[i % len(self.SENT)]
                text = struct.pack(">IBBBB", ident, len(data), 4 * (len(data) > 8), 0, 0) + \
                    data.ljust(8, b"\0")
                file.write(struct.pack("<IIII", 1700000000, i * 1000, len(text), len(text)) + text)

    def lines(self):
        return [f"1700000000.{i:03}000000,{self.SHAPE[i % len(self.SHAPE)]}"
                for i in range(10 * len(self.SHAPE))]

    def test_the_advice(self):
        self.pcap()
        says = self.ingest(self.path("x.pcap"), status=1)
        command, words = re.search(r"convert it: (tshark .*), and read that with (--column .*)",
                                   says).groups()
        log = self.save("FILE.csv", self.lines())
        if shutil.which("tshark") is not None:
            os.rename(self.path("x.pcap"), self.path("FILE.pcap"))
            subprocess.run(command, shell=True, cwd=os.path.dirname(log), check=True,
                           stderr=subprocess.DEVNULL)
            with open(log, encoding="ascii") as file:
                self.assertEqual(file.read().splitlines(), self.lines())
        result, _, ids = self.read(log, *shlex.split(words))
        self.assertEqual((result["frames"], result["rejected"], result["warnings"]), (50, 30, []))
        self.assertEqual(ids, (self.IDS * 10)[:len(ids)])
        with open(os.path.join(result["cache"], "rejected.csv"), encoding="ascii") as file:
            text = file.read()
        self.assertEqual((text.count("remote_frame"), text.count("error_frame")), (20, 10))


if __name__ == "__main__":
    unittest.main()
