"""leat ingest can: what other programs write into logs. Marks and buses are found under any name,
decimal identifiers are reported, and files that are not text are named."""
import gzip
import hashlib
import json
import os
import unittest

from command import leat
from test_ingest_can import Case, read_tensors

SMALL = ("--window", "4", "--stride", "4", "--val-fraction", "0", "--store", "frames")
NAMED = ("--column", "time=TimestampEpoch,id=ID,dlc=DataLength,data=DataBytes")


class Third(Case):
    count = 0

    def save(self, name, lines):
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
        return path

    def read(self, log, *words):
        """The cache and its frames: time, identifier."""
        Third.count += 1
        result = self.ingest(log, *SMALL, *words, out=f"cache{Third.count}")
        flat = {key: values for key, (_, values) in read_tensors(
            os.path.join(result["cache"], "train.safetensors")).items()}
        with open(os.path.join(result["cache"], "vocab.json"), encoding="ascii") as file:
            entries = json.load(file)["entries"]
        names = sorted(entries, key=entries.get)
        return result, list(flat["frame_time"]), [names[i] for i in flat["frame_id"]]

    def settings(self, result):
        path = os.path.join(result["cache"], "cache_metadata.json")
        with open(path, encoding="utf-8") as file:
            return json.load(file)["settings"]


class Sparse(Third):
    """Labels on the lines of attacks alone."""

    def log(self, attack, label=" 1", benign=""):
        return self.save("trip.log", [
            f"({1700000000 + i / 1000:.3f}) can0 {0x100 + i % 7:03X}#{i % 256:02X}00"
            f"{label if attack(i) else benign}" for i in range(2000)])

    def attacks(self, result):
        return result["splits"]["train"]["attacks"]

    def test_the_option_decides(self):
        for attack, frames in ((lambda i: 1000 <= i < 1200), 50), ((lambda i: i < 100), 25):
            log = self.log(attack)
            self.assertIn("--unlabelled benign-lines", self.ingest(log, status=1))
            for word in "benign", "by-name", "unknown":
                self.assertIn("--unlabelled benign-lines",
                              self.ingest(log, "--unlabelled", word, status=1))
            result = self.read(log, "--unlabelled", "benign-lines")[0]
            self.assertEqual((result["frames"], result["rejected"]), (2000, 0))
            self.assertEqual(self.attacks(result), frames)
            count = 2000 - 4 * frames
            self.assertEqual(len(result["warnings"]), 1)
            self.assertIn(f'trip.log": {count} of 2000 frames have no label, and count as benign '
                          "(--unlabelled benign-lines)", result["warnings"][0])
            self.assertEqual(result["splits"]["train"]["unlabelled"], 0)

    def test_tables(self):
        for empty in "", "NaN":
            log = self.save("trip.csv", ["timestamp,arbitration_id,data_field,attack"] + [
                f"{i / 1000:.3f},{0x100 + i % 7:03X},{i % 256:02X},{'1' if i < 40 else empty}"
                for i in range(400)])
            self.assertIn("--unlabelled benign-lines", self.ingest(log, status=1))
            result = self.read(log, "--unlabelled", "benign-lines")[0]
            self.assertEqual((result["frames"], self.attacks(result)), (400, 10))


EXTENDED = ("IDE", "Xtd", "Ext", "CAN_DataFrame.IDE", "can.flags.xtd", "extended", "is_extended")
REMOTE = ("RTR", "Remote", "is_rtr", "remote_frame", "CAN_DataFrame.RTR")
ERROR = ("IsError", "is_error_frame", "Error", "can.flags.err")
# that nobody is known to write: such a column is not read, but named
LIKE_MARKS = ("is_ext", "extd", "is_eff", "ExtID", "Extended ID", "isextendedframe", "is_29bit",
              "isxtd", "FrameIDE", "msg_ide", "IsExtId", "Standard", "STD_ID", "frame_type",
              "IsRemote", "remote request", "is_remote_request", "can_rtr", "rtr_flag", "IDE bit",
              "ErrorFrame", "is_err", "Er", "tx_error", "is_tx", "CAN FD")
LIKE_BUSES = ("iface", "can_bus", "CAN channel", "bus_id", "bus_name", "bus number", "BusNo",
              "channelid", "channel_name", "can_network", "networkname", "ifname")


class Marks(Third):
    def table(self, column, value, header="Time;ID;Bytes", ident=None):
        """Ten identifiers; `value` of each frame by its number."""
        ident = ident or (lambda i: f"{0x1A0 + i % 10:X}")
        return self.save("x.csv", [f"{header};{column}"] + [
            f"{i * 0.001:.6f};{ident(i)};{i % 256:02X};{value(i)}" for i in range(400)])

    mapped = ("--column", "time=Time,id=ID,data=Bytes")

    def test_extended(self):
        for name in EXTENDED:
            for values in (("0", "1"), ("false", "true"), ("F", "T")):
                log = self.table(name, lambda i, v=values: v[i % 20 == 10])
                result, _, ids = self.read(log, *self.mapped)
                self.assertEqual((ids.count("1A0"), ids.count("000001A0")), (20, 20), name)
                self.assertEqual((result["identifiers"], result["warnings"]), (11, []), name)

    def test_remote_and_error(self):
        for names, reason in ((REMOTE, "remote_frame"), (ERROR, "error_frame")):
            for name in names:
                for words in ((), ("--preset", "reference")):
                    log = self.table(name, lambda i: int(i % 20 == 10))
                    result, _, ids = self.read(log, *self.mapped, *words)
                    self.assertEqual((result["rejected"], ids.count("1A0")), (20, 20), name)
                    self.assertEqual(result["warnings"], [], name)
                    with open(os.path.join(result["cache"], "rejected.csv"),
                              encoding="ascii") as file:
                        self.assertEqual(file.read().count(f",{reason},"), 20, name)

    def test_by_option(self):
        log = self.table("Q", lambda i: int(i % 20 == 10))
        for role, wanted in (("extended", (400, 11)), ("remote", (380, 10)), ("error", (380, 10))):
            column = f"{self.mapped[1]},{role}=Q"
            result = self.read(log, "--column", column)[0]
            self.assertEqual((result["frames"], result["identifiers"]), wanted, role)

    def test_other_values(self):
        """A name of a mark with values that are none: nothing is read from it, and it is named."""
        log = self.table("Ext", lambda i: ("csv", "txt")[i % 2])
        result = self.read(log, *self.mapped)[0]
        self.assertEqual((result["rejected"], result["identifiers"]), (0, 10))
        self.assertIn('columns of few values are not used: "Ext"; if one is the bus or marks '
                      "frames, name it with --column bus=NAME, extended=NAME",
                      result["warnings"][0])

    def test_words_in_a_column_of_another_name(self):
        """One value alone, or one beside empty cells, may say that leat reads too few bits, or what
        is no data."""
        for name, value in (("Format", lambda i: "EXT"), ("Kind", lambda i: "RTR" * (i % 20 == 10)),
                            ("Type", lambda i: "Error Frame" if i % 20 == 10 else "")):
            result = self.read(self.table(name, value), *self.mapped)[0]
            self.assertIn(f'columns of few values are not used: "{name}"', result["warnings"][0])
        result = self.read(self.table("Format", lambda i: "STD"), *self.mapped)[0]
        self.assertEqual(result["warnings"], [])

    def test_words_in_a_column_that_is_named(self):
        """They are not read as marks, and the message says which column, which role, which word."""
        for name, role, word in (("Format", "extended", "EXT"), ("Kind", "remote", "RTR"),
                                 ("Kind", "error", "ErrorFrame")):
            log = self.table(name, lambda i, w=word: w if i % 2 else "0")
            says = self.ingest(log, *SMALL, "--column", f"{self.mapped[1]},{role}={name}",
                               out="refused", status=1)
            self.assertIn("200 of its 400 lines are rejected as csv: line 3 malformed_line", says)
            self.assertIn(f'column {name} was read as the mark "{role}", which is 0, 1, or a word '
                          f"such as true, and not {word}; write 0 or 1 there, or leave the "
                          "column out of --column", says)

    def test_type(self):
        def wide(i):
            return "18FEF100" if i % 20 == 10 else f"{0x1A0 + i % 10:X}"
        result, _, ids = self.read(self.table("Type", lambda i: int(i % 20 >= 10), ident=wide),
                                   *self.mapped)
        self.assertEqual((ids.count("000001A1"), ids.count("18FEF100")), (20, 20))
        self.assertEqual(result["warnings"], [])
        for value, ident in ((lambda i: int(i % 20 >= 10), None),  # no identifier shows what it is
                             (lambda i: int(i % 20 < 10), wide),   # the wrong ones have a 1
                             (lambda i: "DR"[i % 2], None)):
            result, _, ids = self.read(self.table("Type", value, ident=ident), *self.mapped)
            self.assertNotIn("000001A1", ids)
            warning, = result["warnings"]
            self.assertIn('not used: "Type"; if one is the bus', warning)
            self.assertNotIn("label=", warning)
        # words for attacks are still a label's
        result = self.read(self.table("Type", lambda i: ("Normal", "DoS")[i == 9]), *self.mapped)[0]
        self.assertIn(",label=Type to read it", result["warnings"][0])

    def test_names_like_those_of_marks(self):
        """Not read, but named, also where the first one that is set comes late; never a label."""
        values = (("0", "1"), ("false", "true"), ("no", "yes"))
        for k, name in enumerate(LIKE_MARKS + LIKE_MARKS[:1]):
            chosen = (lambda i: i % 10 == 9, lambda i: i > 300)[k % 2]
            label = ("", ";Label")[k // 2 % 2]  # then other columns are watched by other rules
            log = self.table(name + label, lambda i, v=values[k % 3], c=chosen, n=len(label) // 6:
                             v[c(i)] + n * f";{int(i % 40 == 0)}")
            warning, = self.read(log, *self.mapped)[0]["warnings"]
            self.assertIn(f'columns of few values are not used: "{name}"', warning)
            self.assertNotIn("label=", warning)
        warning, = self.read(self.table("is_ext", lambda i: 1), *self.mapped)[0]["warnings"]
        self.assertIn('columns of few values are not used: "is_ext"', warning)
        for name in ("external_temp", "is_extra", "border"):
            log = self.table(name, lambda i: i % 2)
            self.assertIn(f"label={name}", self.read(log, *self.mapped)[0]["warnings"][0])
        log = self.table("frame_type", lambda i: ("normal", "attack")[i % 2])
        self.assertIn("label=frame_type", self.read(log, *self.mapped)[0]["warnings"][0])

    def test_never_a_label(self):
        for name in EXTENDED + REMOTE + ERROR + ("BRS", "ESI", "EDL", "Dir", "FDF", "Type"):
            log = self.table(name, lambda i: int(i >= 300))
            result = self.read(log, *self.mapped)[0]
            self.assertNotIn("label=", json.dumps(result["warnings"]), name)

    def test_a_late_type(self):
        """Its second value comes after the first lines: it is named all the same."""
        for first in (300, 399):
            log = self.table("Type", lambda i, f=first: int(i >= f))
            warning, = self.read(log, *self.mapped)[0]["warnings"]
            self.assertIn('not used: "Type"; if one is the bus', warning)
        log = self.table("Type;Q", lambda i: f"{int(i >= 300)};{int(i >= 350)}")
        warnings = json.dumps(self.read(log, *self.mapped)[0]["warnings"])
        self.assertIn(",label=Q to read it", warnings)
        log = self.table("Type", lambda i: 0)
        self.assertEqual(self.read(log, *self.mapped)[0]["warnings"], [])

    def frames(self, marks):
        yield "TimestampEpoch;BusChannel;ID;IDE;DLC;DataLength;Dir;EDL;BRS;ESI;RTR;DataBytes"
        for i in range(400):
            bus, ide, rtr = marks(i)
            data = "" if rtr else f"{i % 256:02X}00"
            yield (f"{1689951599 + i * 0.001:.6f};{bus};{0x1A0 + i % 10:X};{ide};8;"
                   f"{len(data) // 2};0;0;0;0;{rtr};{data}")

    def test_canedge(self):
        cases = (((lambda i: (1, int(i % 20 == 0), 0)), 400, 11, 1),
                 ((lambda i: (1, 0, int(i % 20 == 0))), 380, 10, 1),
                 ((lambda i: (1 + i % 2, 0, 0)), 400, 10, 2))
        for marks, frames, ids, captures in cases:
            read = []
            for words in NAMED, ():  # its header is known
                result, *contents = self.read(self.save("CAN.csv", self.frames(marks)), *words)
                read.append(contents)
                self.assertEqual((result["frames"], result["identifiers"], result["captures"]),
                                 (frames, ids, captures))
                self.assertEqual(result["warnings"], [])
            self.assertEqual(read[0], read[1])

    def test_canedge_fd(self):
        """The DLC of a CAN-FD frame is a code; the number of bytes stands beside it."""
        lines = [line.replace(";8;2;", ";13;32;") + "00" * 30 if i > 200 else line
                 for i, line in enumerate(self.frames(lambda i: (1, 0, 0)))]
        result = self.read(self.save("CAN.csv", lines))[0]
        self.assertEqual((result["frames"], result["rejected"], result["frames_cut"]),
                         (400, 0, 200))

    def test_nearly_canedge(self):
        """Another header, though similar, is not taken for it."""
        for old, new in (("TimestampEpoch", "Timestamp_Epoch"), (";ESI", ""), ("DataBytes", "x")):
            lines = list(self.frames(lambda i: (1, 0, 0)))
            lines[0] = lines[0].replace(old, new)
            said = self.ingest(self.save("CAN.csv", lines), out=f"x{len(new)}", status=1)
            self.assertIn("--column", said)

    # ---- caches of development versions ----

    def digest(self, text, log):
        with open(log, "rb") as file:
            content = hashlib.sha256(file.read()).hexdigest()
        parts = ("train", os.path.basename(os.path.dirname(log)), os.path.basename(log), content)
        text += "\0" + "".join(f"{part}\n" for part in parts)
        return hashlib.sha256(text.encode()).hexdigest()

    def older(self, cache, log, reader):
        """Makes of a cache what a development version wrote."""
        texts = {}
        for name in "inputs.json", "cache_metadata.json", ".complete":
            with open(os.path.join(cache, name), encoding="utf-8") as file:
                texts[name] = file.read()
        settings = json.loads(texts["inputs.json"])["settings"]
        self.assertIn("\nreader 7\n", settings)
        now = self.digest(settings, log)
        was = self.digest(settings.replace("reader 7\n", f"reader {reader}\n" * (reader > 1)), log)
        self.assertIn(now, texts["cache_metadata.json"])
        before = hashlib.sha256(texts["cache_metadata.json"].encode()).hexdigest()
        for name in "inputs.json", "cache_metadata.json":
            texts[name] = texts[name].replace(now, was) \
                .replace("reader 7\\n", f"reader {reader}\\n" * (reader > 1)) \
                .replace('    "reader": "7",\n', f'    "reader": "{reader}",\n' * (reader > 1))
        after = hashlib.sha256(texts["cache_metadata.json"].encode()).hexdigest()
        texts[".complete"] = texts[".complete"].replace(before, after)
        for name, text in texts.items():
            with open(os.path.join(cache, name), "w", encoding="utf-8") as file:
                file.write(text)
        path = os.path.join(os.path.dirname(cache), f"CAN-{was[:16]}")
        os.rename(cache, path)
        return path

    def test_an_older_cache(self):
        """It is not reused, but named, and the new one is beside it. Every command reads it."""
        log = self.save("CAN.csv", self.frames(lambda i: (1, int(i % 20 == 0), 0)))
        for reader in 1, 6:
            out = f"cache{reader}"
            result = self.ingest(log, *SMALL, *NAMED, out=out)
            self.assertEqual(self.settings(result)["reader"], "7")
            self.assertNotIn("reading rules", leat("inspect", result["cache"], status=0).stdout)
            older = self.older(result["cache"], log, reader)
            again = self.ingest(log, *SMALL, *NAMED, out=out)
            self.assertEqual((again["found"], again["cache"]), (False, result["cache"]))
            self.assertEqual(again["warnings"], [
                f'"{older}" is a cache of the same logs, written with reading rules {reader} '
                "of a development version; this is a new cache beside it"])
            self.assertTrue(self.ingest(log, *SMALL, *NAMED, out=out)["found"])
            said = f"written with reading rules {reader} of a development version; leat " \
                   "ingest can makes a new cache of its logs"
            found = leat("inspect", older, "--verify", "--html", self.path(f"{reader}.html"),
                         status=0).stdout
            self.assertIn(f"\n  {said}\n", found)
            self.assertNotIn("--reader", found)
            with open(self.path(f"{reader}.html"), encoding="utf-8") as file:
                page = file.read()
            self.assertIn(f"The cache was {said}.", page)
            self.assertNotIn("--reader", page)
            document = json.loads(leat("inspect", older, "--json", status=0).stdout)
            self.assertEqual(document["warnings"], [said])
            self.assertEqual(leat("cat", older, "--graph", "0", status=0).stdout,
                             leat("cat", again["cache"], "--graph", "0", status=0).stdout)
            leat("batches", older, status=0)

    def hcrl(self, short, tail=",,,,"):
        """HCRL's rows as pandas saves them: with 4 bytes the flag is in the cell of the fifth."""
        yield "Timestamp,CAN_ID,DLC,DATA0,DATA1,DATA2,DATA3,DATA4,DATA5,DATA6,DATA7,Flag"
        for i in range(10_000):
            flag = "T" if i % 50 == 7 else "R"
            data = f"4,{i % 256:02x},00,01,02,{flag}{tail}" if short(i) else \
                f"8,{i % 256:02x},00,01,02,03,04,05,ff,{flag}"
            yield f"{1478198376 + i / 1000:.3f},{0x130 + i % 5:04x},{data}"

    def test_shifted_labels(self):
        wanted = None
        for tail in ",,,,", "":
            log = self.save("DoS.csv", self.hcrl(lambda i: i % 20 == 7, tail))
            result = self.ingest(log, *SMALL, out=f"shift{len(tail)}")
            self.assertEqual((result["frames"], result["rejected"], result["warnings"]),
                             (10_000, 0, []))
            self.assertEqual(result["splits"]["train"]["attacks"], 200)
            with open(os.path.join(result["cache"], "train.safetensors"), "rb") as file:
                data = file.read()
            wanted = wanted or data
            self.assertEqual(data, wanted)

    def test_shifted_labels_that_come_late(self):
        """After the first block."""
        log = self.save("late.csv", self.hcrl(lambda i: i == 9_999))
        result = self.ingest(log, *SMALL)
        self.assertEqual((result["frames"], result["rejected"]), (10_000, 0))


class Buses(Third):
    def table(self, column, value):
        return self.save("x.csv", [f"time,id,data,{column}"] + [
            f"{i * 0.001:.6f},{0x1A0 + i % 10:X},{i % 256:02X},{value(i)}" for i in range(400)])

    def test_any_name(self):
        for name in ("BusChannel", "Network", "Interface", "CAN_DataFrame.BusChannel",
                     "frame.interface_name", "Chn", "bus"):
            for names in (("1", "2"), ("HS CAN", "MS CAN"), ("can0", "vcan1")):
                result, _, ids = self.read(self.table(name, lambda i, n=names: n[i % 2]))
                self.assertEqual(result["captures"], 2, name)
                self.assertEqual(len(set(ids)), 10, name)
                self.assertTrue(all(":" in ident for ident in ids), name)
                self.assertEqual(result["warnings"], [], name)

    def test_beside_known_buses(self):
        """One bus in all of a log is not the bus 0 of another log, which has several."""
        def save(name, column, value):
            return self.save(name, [f"time,id,data,{column}"] + [
                f"{i * 0.001:.6f},{0x1A0 + i % 10:X},{i % 256:02X},{value(i)}" for i in range(400)])
        known = save("a.csv", "bus", lambda i: i % 2)
        other = save("b.csv", "Network", lambda i: 1)
        for i, logs in enumerate(((known, other), (other, known))):
            result = self.ingest(*logs, *SMALL, out=f"mixed{i}")
            self.assertEqual(result["captures"], 3)

    def test_unknown_names(self):
        result, _, ids = self.read(self.table("Segment", lambda i: "AB"[i % 2]))
        self.assertEqual((result["captures"], ids[0]), (1, "1A0"))
        self.assertIn('columns of few values are not used: "Segment"', result["warnings"][0])
        for name in ("Port", "Ch", "can"):
            for value in (lambda i: i % 2, lambda i: i // 300):  # the second one comes late
                warning, = self.read(self.table(name, value))[0]["warnings"]
                self.assertIn(f'columns of few values are not used: "{name}"', warning)
        for name in LIKE_BUSES:
            for value in (lambda i: i % 2, lambda i: f"can{i // 300}"):
                warning, = self.read(self.table(name, value))[0]["warnings"]
                self.assertIn(f'columns of few values are not used: "{name}"', warning)
        result = self.read(self.table("Network", lambda i: i % 20))[0]
        self.assertEqual((result["captures"], result["warnings"]), (20, []))
        result = self.read(self.table("Network", lambda i: f"node {i}"))[0]  # too many to be buses
        self.assertEqual((result["captures"], result["warnings"]), (1, []))
        for name, value in (("Dir", lambda i: ("Rx", "Tx")[i % 2]), ("Segment", lambda i: "A"),
                            ("Sum", lambda i: i), ("SubClass", lambda i: "AB"[i % 2])):
            self.assertNotIn("few values", json.dumps(
                self.read(self.table(name, value))[0]["warnings"]), name)


class Decimal(Third):
    def table(self, name, ident):
        return self.save("x.csv", [f"time,{name},data"] + [
            f"{i * 0.001:.6f},{ident(i)},{i % 256:02X}" for i in range(400)])

    def test_below_800(self):
        for name in ("addr", "ID", "IntID"):
            log = self.table(name, lambda i: (104, 288, 399, 773, 790)[i % 5])
            warning, = self.read(log, "--column", f"id={name}")[0]["warnings"]
            self.assertIn("identifiers are read as hexadecimal, but all of them could be decimal; "
                          "use --column id=2:dec", warning)
            for unit in ("dec", "hex"):
                log = self.table(name, lambda i: (104, 288, 399, 773, 790)[i % 5])
                self.assertEqual(
                    self.read(log, "--column", f"id={name}:{unit}")[0]["warnings"], [])

    def test_some_with_29_bits(self):
        for idents in ((16777217, 288, 399, 1201, 99), (16777216, 17301504)):
            log = self.table("ID", lambda i, idents=idents: idents[i % len(idents)])
            self.assertIn("could be decimal", self.read(log)[0]["warnings"][0])
            log = self.table("can_id", lambda i, idents=idents: idents[i % len(idents)])
            self.assertEqual(self.read(log)[0]["warnings"], [])

    def test_with_and_without_prefix(self):
        for ident, said in ((lambda i: ("0x1A0", "416", "2015")[i % 3], True),
                            (lambda i: ("0x1A0", "1A0", "2015")[i % 3], False),
                            (lambda i: ("0x1A0", "2055", "2015")[i % 3], False),
                            (lambda i: ("0x1A0", "0x2015")[i % 2], False)):
            warnings = self.read(self.table("can_id", ident))[0]["warnings"]
            self.assertEqual(["some identifiers begin with 0x" in each for each in warnings],
                             [True] * said)

    def test_lines_that_end_in_cr(self):
        log = self.table("can_id", lambda i: "1A0")
        with open(log, encoding="ascii") as file:
            lines = file.read().splitlines()
        for first in (1, 5, 300):
            with open(log, "w", encoding="ascii", newline="") as file:
                file.write("\n".join(lines[:first]) + "\n" + "\r".join(lines[first:]) + "\r\n")
            self.assertIn("its lines end with CR only", self.ingest(log, status=1))

    def test_hexadecimal(self):
        """A letter, or a 0 at the beginning, in any line."""
        for ident in ("1A0", "043", "0x104"):
            log = self.table("ID", lambda i, x=ident: x if i == 399 else (104, 288, 399)[i % 3])
            self.assertEqual(self.read(log)[0]["warnings"], [], ident)


class Joined(Third):
    """Files that were put together, each part with a header of its own."""
    def lines(self, names, begin=0):
        return [",".join(names)] + [
            ",".join({"timestamp": f"{i * 0.001:.6f}", "id": f"{0x1A0 + i % 10:X}", "dlc": "8",
                      "bus": "0", "attack": str(i % 2), "note": "0",
                      **{f"d{k}": f"{i + k & 255:02X}" for k in range(8)}}[name] for name in names)
            for i in range(begin, begin + 400)]

    def test_a_header_with_other_columns(self):
        bytes_of = [f"d{i}" for i in range(8)]
        first = ["timestamp", "id", "dlc", *bytes_of]
        for head, other in ((first, ["timestamp", "id", "dlc", *bytes_of[::-1]]),
                            (["timestamp", "id", "bus", "dlc", *bytes_of],
                             ["timestamp", "id", "dlc", "bus", *bytes_of]),
                            ([*first, "attack", "note"], [*first, "note", "attack"])):
            log = self.save("x.csv", self.lines(head) + self.lines(other, 400))
            self.assertIn(f"line 402 is a header with other columns than the first one: "
                          f"{','.join(other)[:40]}", self.ingest(log, status=1))
            for words in (), ("--threads", "3"):
                log = self.save("late.csv", self.lines(head) * 60 + self.lines(other, 400))
                self.assertIn("is a header with other columns", self.ingest(log, *words, status=1))
            again = ",".join(head).upper().replace("_", " ")
            log = self.save("same.csv", self.lines(head) + [again] + self.lines(head, 400)[1:])
            result = self.read(log)[0]
            self.assertEqual((result["frames"], result["rejected"]), (800, 1))
        log = self.save("x.csv", self.lines(first))
        with gzip.open(self.path("x.csv.gz"), "wb") as file, open(log, "rb") as part:
            file.write(part.read())
        other = self.save("y.csv", self.lines(["timestamp", "id", "dlc", *bytes_of[::-1]], 400))
        with open(self.path("x.csv.gz"), "ab") as file, open(other, "rb") as part:
            file.write(gzip.compress(part.read()))
        self.assertIn("line 402 is a header", self.ingest(self.path("x.csv.gz"), status=1))
        # a unit is part of the name
        log = self.save("x.csv", ["time,id,data", "0.5,1A0,00", "time_ms,id,data", "1,1A0,00"])
        self.assertIn("line 3 is a header", self.ingest(log, status=1))

    def payloads(self, log, *words):
        result, times, names = self.read(log, *words)
        data = bytes(read_tensors(os.path.join(result["cache"],
                                               "train.safetensors"))["frame_bytes"][1])
        return result, sorted((name.rpartition(":")[2], data[8 * i:8 * i + 8].hex())
                              for i, name in enumerate(names)), times

    def asc(self, decimal, begin, mode="absolute"):
        numbers = [(0x110 + i % 7, [i % 256, 0x11, 0x22, 0x33, 4, 5, 6, 99])
                   for i in range(begin, begin + 200)]
        lines = [f"   {i * 0.01:.6f} 1  {ident if decimal else f'{ident:X}'}  Rx   d 8 " +
                 " ".join(str(byte) if decimal else f"{byte:02X}" for byte in data)
                 for i, (ident, data) in enumerate(numbers)]
        return (["date Mon Dec 31 04:20:30.951 pm 2018",
                 f"base {'dec' if decimal else 'hex'}  timestamps {mode}", *lines],
                [(f"{ident:03X}", bytes(data).hex()) for ident, data in numbers])

    def test_bases_of_asc(self):
        for first in False, True:
            one, wanted = self.asc(first, 0)
            two, more = self.asc(not first, 200)
            for times in 1, 50:
                log = self.save("x.asc", (one + two) * times)
                self.assertEqual(self.payloads(log)[1], sorted((wanted + more) * times))
        one, wanted = self.asc(False, 0)
        two, _ = self.asc(False, 200, "relative")
        three, more = self.asc(False, 400)
        log = self.save("x.asc", one * 3 + two + three)
        result, frames, _ = self.payloads(log, "--max-rejected", "0.5")
        self.assertEqual(frames, sorted(wanted * 3 + more))
        with open(os.path.join(result["cache"], "rejected.csv"), encoding="ascii") as file:
            self.assertEqual(file.read().count("timestamp_unparsable"), 200)

    def test_columns_of_vehicle_spy(self):
        names = "Line,Abs Time(Sec),Rel Time (Sec),Er,Network,Arb ID,Remote,Xtd,"
        bytes_of = [f"B{i + 1}" for i in range(8)]
        def rows(order, begin, names=names):
            return [names + ",".join(bytes_of[k] for k in order) + ",Value"] + [
                f"{i + 1},{i * 0.01:.6f},0.01,F,HS CAN,{0x110 + i % 7:X},F,F," +
                ",".join(f"{i + k & 255:02X}" for k in order) + "," for i in range(begin,
                                                                                  begin + 200)]
        head = ["Network Description,Hardware,Network,Protocol,Baud Rate",
                "HS CAN,neoVI,HS CAN,CAN,500000,"]
        wanted = sorted((f"{0x110 + i % 7:03X}", bytes(i + k & 255 for k in range(8)).hex())
                        for i in range(400))
        log = self.save("x.csv", head + rows(range(8), 0) + rows(range(7, -1, -1), 200))
        self.assertEqual(self.payloads(log)[1], wanted)
        log = self.save("x.csv", head + rows(range(7, -1, -1), 0) + rows(range(7, -1, -1), 200))
        self.assertEqual(self.payloads(log)[1], wanted)
        log = self.save("x.csv", [line.replace("B5,", "X,") for line in head + rows(range(8), 0)])
        self.ingest(log, status=1)
        swapped = names.replace("Remote,Xtd", "Xtd,Remote")
        log = self.save("x.csv", head + rows(range(8), 0) + rows(range(8), 200, swapped))
        self.assertEqual(self.payloads(log)[1], wanted)
        relative = names.replace("Abs Time(Sec)", "When")
        log = self.save("x.csv", head + rows(range(8), 0) * 3 + rows(range(8), 200, relative))
        result = self.payloads(log, "--max-rejected", "0.5")[0]
        self.assertEqual(result["frames"], 600)

    def test_versions_of_trc(self):
        def trace(version, begin):
            line = {"1.1": "{n:6}) {t:10.3f}  Rx     {i:04X}  8  {d}",
                    "1.3": "{n:6}) {t:10.3f} 1  Rx     {i:04X} -  8    {d}",
                    "2.1": "{n:7} {t:13.3f} DT 1 {i:04X} Rx -  8    {d}",
                    "2.0": "{n:7} {t:13.3f} DT {i:04X} Rx 8  {d}"}[version]
            columns = {"2.1": [";$COLUMNS=N,O,T,B,I,d,R,L,D"], "2.0": [";$COLUMNS=N,O,T,I,d,L,D"]}
            return [f";$FILEVERSION={version}", *columns.get(version, []), ";"] + [
                line.format(n=i + 1, t=10 * i, i=0x110 + i % 7,
                            d=" ".join(f"{i + k & 255:02X}" for k in range(8)))
                for i in range(begin, begin + 200)]
        wanted = sorted((f"{0x110 + i % 7:03X}", bytes(i + k & 255 for k in range(8)).hex())
                        for i in range(400))
        for one in "1.1", "1.3", "2.0", "2.1":
            for two in "1.1", "1.3", "2.0", "2.1":
                log = self.save("x.trc", trace(one, 0) + trace(two, 200))
                self.assertEqual(self.payloads(log)[1], wanted, (one, two))

    def test_gvret_of_another_unit(self):
        head = "Time Stamp,ID,Extended,Dir,Bus,LEN,D1,D2"
        for unit, scale in (("s", 1), ("ms", 1000)):
            log = self.save("x.csv", [head] + [
                f"{i * 0.0005 * scale:.6f},00000{0x1A0 + i % 10:X},false,Rx,0,2,00,01,"
                for i in range(400)])
            self.assertIn("it has the header of gvret, whose times are microseconds, but less than "
                          "10 of them lie between its frames; name their unit with --column "
                          "time=1:s (or ms)", self.ingest(log, status=1))
            for line in (head + ",", head):
                log = self.save("x.csv", [line] + [
                    f"{i * 0.0005 * scale:.6f},00000{0x1A0 + i % 10:X},false,Rx,0,2,00,01" +
                    "," * line.endswith(",") for i in range(400)])
                _, times, _ = self.read(log, "--column", f"time=1:{unit}")
                self.assertAlmostEqual(max(times), 399 * 0.0005)

    def test_microseconds(self):
        for name in "Time (µs)", "Time [μs]", "timestamp_µs":
            log = self.save("x.csv", [f"{name},id,data"] + [
                f"{1000 * i + 500}.5,{0x1A0 + i % 10:X},00" for i in range(400)])
            result, times, _ = self.read(log)
            self.assertEqual(sorted(times), [(1000 * i + 500.5) / 1e6 for i in range(400)], name)
            self.assertEqual(result["warnings"], [])
        log = self.save("x.csv", ["Time (µs),id,data"] + ["1000.0,1A0,00"] * 40)
        result, times, _ = self.read(log, "--column", "time=1:gap")
        self.assertEqual(max(times), 0.04)


class Binary(Third):
    def test_what_it_is(self):
        cases = (("x.blf", b"LOGG\x90\0\0\0" + bytes(200), "is a BLF file", "logconvert FILE.blf"),
                 ("x.mf4", b"MDF     4.10    " + bytes(200), "is an MDF", "logconvert FILE.mf4"),
                 ("u.mf4", b"UnFinMF 4.10    " + bytes(200), "unfinished MDF", "can.logconvert"),
                 ("x.db", b"SQLite format 3\0\x10\0" + bytes(200), "SQLite", "logconvert FILE.db"),
                 ("x.pcap", bytes.fromhex("d4c3b2a10200040000000000"), "pcap", "tshark -r FILE"),
                 ("y.pcap", bytes.fromhex("a1b23c4d000200040000"), "pcap", "tshark -r FILE.pcap"),
                 ("x.pcapng", bytes.fromhex("0a0d0d0a1c0000004d3c2b1a"), "pcapng", "tshark -r"),
                 ("x.mdf", b"MDF     3.30\0\0" + bytes(200), "MDF file of version 3", "MDF 4"),
                 ("x.mat", b"MATLAB 5.0 MAT-file, Platform" + bytes(200), "MATLAB", "a csv"),
                 ("v7.mat", b"\x89HDF\r\n\x1a\n" + bytes(200), "an HDF5 file", "a csv"),
                 ("x.npy", b"\x93NUMPY\x01\0" + bytes(200), "NumPy", "a csv"),
                 ("x.feather", b"ARROW1\0\0" + bytes(200), "Feather", "a csv"),
                 ("x.bag", b"#ROSBAG V2.0\nE\0\0\0" + bytes(200), "ROS", "a csv"),
                 ("x.mcap", b"\x89MCAP0\r\n" + bytes(200), "MCAP", "a csv"),
                 ("x.xls", bytes.fromhex("d0cf11e0a1b11ae1") + bytes(200), "Excel", "as csv"),
                 ("x.xlsx", b"PK\3\4\x14\0\6\0" + bytes(22) + b"[Content_Types].xml" + bytes(99),
                  "a workbook of Excel", "save it as csv"),
                 ("x.parquet", b"PAR1" + bytes(200), "a Parquet file", "convert it to CSV"),
                 ("x.dbc", b'VERSION ""\n\nNS_ :\n\nBO_ 100 A: 8 X\n', "DBC", "the log itself"),
                 ("x.bin", b"\x01\0\0\0\x02\0\0\0\0\0" * 20, "is a binary file", "convert it"))
        for name, content, what, how in cases:
            for log in (name, "renamed.log"):
                with open(self.path(log), "wb") as file:
                    file.write(content)
                says = self.ingest(self.path(log), status=1)
                self.assertIn(what, says)
                self.assertIn(how, says)
                self.assertNotIn("UTF-16", says)
        with gzip.open(self.path("x.blf.gz"), "wb") as file:
            file.write(cases[0][1])
        says = self.ingest(self.path("x.blf.gz"), status=1)
        self.assertIn("is a BLF file", says)
        self.assertIn("logconvert FILE.blf", says)


class Labels(Third):
    def test_unknown_words_with_their_counts(self):
        """Up to five, the most frequent first, wherever they are."""
        words = {i: f"w{i % 7}" for i in range(0, 4000, 10)} | {3999: "w6", 3998: "w6", 1: "w5"}
        log = self.save("x.csv", ["time,id,data,label"] + [
            f"{i * 0.001:.6f},{0x1A0 + i % 10:X},00,{words.get(i, 'normal')}" for i in range(4000)])
        says = self.ingest(log, status=1)
        self.assertIn('the labels of 403 of its 4000 lines are not known: "w6" in line 22 (59 '
                      'times), "w0" in line 2 (58 times), "w5" in line 3 (58 times), "w3" in line '
                      '12 (57 times), "w2" in line 32 (57 times), and 2 more; expected', says)


class Vocabulary(Third):
    """Fuzzing in the training logs: 20 identifiers of the car, 100 of attacks, one of both."""
    def logs(self):
        for folder, shift in (("train_a", 0), ("test_b", 500)):
            os.makedirs(self.path("logs", folder))
            with open(self.path("logs", folder, "fuzzing.csv"), "w", encoding="ascii") as file:
                file.write("timestamp,arbitration_id,data_field,attack\n")
                for i in range(4000):
                    attack = i % 10 == 0
                    ident = 0x300 + shift + i // 10 % 100 if attack else 0x100 + i % 20
                    ident = 0x101 if i == 2000 else ident
                    file.write(f"{i * 0.001:.6f},{ident:03X},00,{int(attack)}\n")
        return self.path("logs")

    def vocabulary(self, logs, *words):
        Third.count += 1
        result = self.ingest(logs, "--val-fraction", "0", *words, out=f"cache{Third.count}")
        with open(os.path.join(result["cache"], "vocab.json"), encoding="ascii") as file:
            return result, set(json.load(file)["entries"])

    def test_what_is_numbered(self):
        logs = self.logs()
        car = {f"{0x100 + i:03X}" for i in range(20) if i % 10 != 0}  # those are of attacks
        fuzzed = {f"{0x300 + i:03X}" for i in range(100)}
        test = {f"{0x300 + 500 + i:03X}" for i in range(100)}
        for words, wanted in (((), car | fuzzed), (("--vocab", "train"), car | fuzzed),
                              (("--vocab", "benign"), car),
                              (("--vocab", "all"), car | fuzzed | test),
                              (("--preset", "reference"), car | fuzzed | test)):
            for threads in ("1", "3"):
                result, names = self.vocabulary(logs, *words, "--threads", threads)
                self.assertEqual(result["vocabulary"], len(wanted), words)
                self.assertEqual(names, wanted, words)
            says = ("100 of the 118 identifiers of the vocabulary occur only in attack frames of "
                    "the training logs; use --vocab benign")
            self.assertEqual(says in json.dumps(result["warnings"]), "benign" not in words, words)

    def test_unlabelled_and_few(self):
        """A log without labels is not one of attacks; few identifiers of attacks are no warning."""
        log = self.save("x.csv", ["timestamp,arbitration_id,data_field"] + [
            f"{i * 0.001:.6f},{0x1A0 + i % 10:X},00" for i in range(400)])
        result = self.vocabulary(log, "--vocab", "benign")[0]
        self.assertEqual(result["vocabulary"], 10)
        log = self.save("dos.csv", ["timestamp,arbitration_id,data_field,attack"] + [
            f"{i * 0.001:.6f},{0 if i % 9 == 0 else 0x1A0 + i % 10:03X},00,{int(i % 9 == 0)}"
            for i in range(400)])
        for words, count in (((), 11), (("--vocab", "benign"), 10)):
            result = self.vocabulary(log, *words)[0]
            self.assertEqual((result["vocabulary"], result["warnings"]), (count, []))


if __name__ == "__main__":
    unittest.main()
