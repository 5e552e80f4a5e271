"""Logs that python-can writes, read by leat; and a log of can-utils read by both.

Needs scripts/python-env.sh; skipped, with a line that says so, where it could not be made.
"""
import decimal
import importlib.util
import json
import logging
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import unittest

try:
    import can
except ImportError as error:
    print(f"skipped: {error} (scripts/python-env.sh makes the environment)")
    sys.exit(77)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "tests", "cli"))
import golden_files  # noqa: E402
from command import LIMIT, leat  # noqa: E402

WINDOW = 50
FORMATS = {"F64": "d", "U32": "I", "I16": "h", "I32": "i"}


def read_frames(result, split):
    """(time, identifier, bytes) of each frame in the windows of a split, in their order."""
    with open(os.path.join(result["cache"], "vocab.json"), encoding="ascii") as file:
        entries = json.load(file)["entries"]
    names = sorted(entries, key=entries.get)
    with open(os.path.join(result["cache"], f"{split}.safetensors"), "rb") as file:
        data = file.read()
    size, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + size])
    flat = {}
    for name in ("window_start", "frame_time", "frame_id", "frame_bytes"):
        first, last = (8 + size + at for at in header[name]["data_offsets"])
        letter = "q" if header[name]["dtype"] == "I64" else FORMATS[header[name]["dtype"]]
        flat[name] = struct.unpack(f"<{(last - first) // struct.calcsize(letter)}{letter}",
                                   data[first:last])
    frames = {}
    for g, start in enumerate(flat["window_start"]):
        for k in range(WINDOW):
            i = g * WINDOW + k
            frames[start + k] = (flat["frame_time"][i], names[flat["frame_id"][i]],
                                 bytes(flat["frame_bytes"][8 * i:8 * i + 8]))
    return [frames[i] for i in sorted(frames)]


def expected(message, digits):
    """A message as leat stores it."""
    name = f"{message.arbitration_id:08X}" if message.is_extended_id else \
        f"{message.arbitration_id:03X}"
    return (float(f"{message.timestamp:.{digits}f}") if digits else message.timestamp, name,
            bytes(message.data[:8]).ljust(8, b"\0"))


class PythonCan(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def ingest(self, path, *words):
        done = leat("ingest", "can", path, "-o", self.path("cache"), "--json", "--store", "frames",
                    "--window", WINDOW, "--stride", WINDOW, "--val-fraction", "0", *words, status=0)
        return json.loads(done.stdout)

    def messages(self, seed, count):
        """Of every kind; the data frames are as many as fill windows."""
        draw, out, time, frames = random.Random(seed), [], 1.7e9, 0
        while frames < count:
            time += draw.random() * 1e-2
            kind = draw.choice(["data"] * 8 + ["fd"] * 2 + ["remote", "error"])
            extended = draw.random() < 0.4
            size = draw.choice((8, 12, 16, 64)) if kind == "fd" else draw.randrange(9)
            number = draw.randrange(1 << draw.choice((8, 11, 29 if extended else 11)))
            frames += kind in ("data", "fd")
            out.append(can.Message(
                timestamp=time, arbitration_id=number, is_extended_id=extended, dlc=size,
                is_fd=kind == "fd", is_remote_frame=kind == "remote",
                is_error_frame=kind == "error", is_rx=draw.random() < 0.5,
                bitrate_switch=kind == "fd" and draw.random() < 0.5,
                data=None if kind == "remote" else draw.randbytes(size),
                channel=f"can{draw.randrange(3)}"))
        return out

    def check(self, suffix, digits):
        for seed in range(5):
            sent, path = self.messages(seed, 20 * WINDOW), self.path(f"{seed}{suffix}")
            with can.Logger(path) as writer:
                for message in sent:
                    writer.on_message_received(message)
            wanted = [expected(each, digits) for each in sent
                      if not each.is_remote_frame and not each.is_error_frame]
            result = self.ingest(path, "--bus", "merge")
            self.assertEqual((result["frames"], result["rejected"]),
                             (len(wanted), len(sent) - len(wanted)))
            self.assertEqual(read_frames(result, "train"), wanted)
            with open(os.path.join(result["cache"], "rejected.csv"), encoding="ascii") as file:
                reasons = [line.split(",")[2] for line in file.read().splitlines()[1:]]
            self.assertEqual(reasons, ["error_frame" if each.is_error_frame else "remote_frame"
                                       for each in sent
                                       if each.is_error_frame or each.is_remote_frame])
            yield sent, path

    def test_csv(self):
        """No channel, and data as base64."""
        for _ in self.check(".csv", None):
            pass

    def test_candump(self):
        for sent, path in self.check(".log", 6):
            result = self.ingest(path)  # a bus is a capture
            with open(os.path.join(result["cache"], "cache_metadata.json"),
                      encoding="utf-8") as file:
                captures = json.load(file)["captures"]
            counts = {bus: sum(each.channel == f"can{bus}" and not each.is_error_frame and
                               not each.is_remote_frame for each in sent) for bus in range(3)}
            self.assertEqual({each["bus"]: each["frames"] for each in captures}, counts)

    def test_the_command_that_converts(self):
        """What the refusal of a binary log names makes a log that is read. MDF needs asammdf, 200
        MB with what it requires, which scripts/python-env.sh therefore does not install."""
        has_asammdf = importlib.util.find_spec("asammdf") is not None
        for suffix in ("blf", "db", "mf4") if has_asammdf else ("blf", "db"):
            path, log = self.path(f"a.{suffix}"), self.path(f"{suffix}.log")
            sent = [each for each in self.messages(1, 4 * WINDOW)
                    if not each.is_fd and not each.is_error_frame and not each.is_remote_frame]
            with can.Logger(path) as writer:
                for message in sent:
                    writer.on_message_received(message)
            with can.LogReader(path) as reader:
                wanted = [expected(each, 6) for each in reader]
            says = leat("ingest", "can", path, "-o", self.path("cache"), status=1).stderr
            words = re.search(r"convert it: python3 (.*) \(python-can\)", says).group(1).split()
            names = {f"FILE.{suffix}": path, "FILE.log": log}
            subprocess.run([sys.executable, *(names.get(word, word) for word in words)],
                           check=True, timeout=LIMIT, stdout=subprocess.DEVNULL)
            result = self.ingest(log, "--bus", "merge")
            frames = read_frames(result, "train")
            self.assertGreater(len(frames), 0)
            self.assertEqual((result["frames"], result["rejected"]), (len(wanted), 0))
            self.assertEqual(frames, wanted[:len(frames)])

    def test_asc(self):
        """As python-can writes it, read by both; and what Vector's programs write, read by leat."""
        for seed in range(4):
            path = self.path(f"{seed}.asc")
            with can.Logger(path) as writer:
                for message in self.messages(seed, 20 * WINDOW):
                    writer.on_message_received(message)
            with can.LogReader(path) as reader:
                read = [each for each in reader if not each.is_error_frame]
            frames = [each for each in read if not each.is_remote_frame]
            wanted = [expected(each, 6) for each in frames]
            result = self.ingest(path, "--bus", "merge")
            self.assertEqual(read_frames(result, "train"), wanted)
            self.assertEqual(result["frames"], len(wanted))
            again = self.path(f"again{seed}.asc")
            for decimal, relative in ((False, False), (True, False), (False, True), (True, True)):
                sums = self.write_asc(again, read, decimal, relative)
                result = self.ingest(again, "--bus", "merge")
                times = [each for each in sums if each is not None] if relative else \
                    [time for time, _, _ in wanted]
                self.assertEqual(read_frames(result, "train"),
                                 [(time, name, data) for time, (_, name, data)
                                  in zip(times, wanted)])

    @staticmethod
    def write_asc(path, messages, decimal, relative):
        """With events between the frames; the times of the data frames as sums of whole
        microseconds, None for remote ones."""
        number = (lambda value, width: f"{value:>{width}}") if decimal else \
            (lambda value, width: f"{value:0{width}X}")
        last, times = 0, []
        with open(path, "w", encoding="latin-1") as file:
            file.write("date Fr M\xe4r 29 16:20:30.951 2019\n"
                       f"base {'dec' if decimal else 'hex'}  timestamps "
                       f"{'relative' if relative else 'absolute'}\nno internal events logged\n"
                       "// version 13.0.0\nBegin Triggerblock Fr M\xe4r 29 16:20:30.951 2019\n")

            def put(micros, text):
                nonlocal last
                shown = micros - last if relative else micros
                last = micros
                file.write(f"{shown // 10**6:>4}.{shown % 10**6:06} {text}\n")

            put(0, "Start der Messung")
            for i, each in enumerate(messages):
                micros = round(each.timestamp * 1e6)
                name = number(each.arbitration_id, 1) + ("x" if each.is_extended_id else "")
                data = " ".join(number(byte, 2) for byte in each.data)
                way = "Rx" if each.is_rx else "Tx"
                if i % 7 == 0:
                    put(micros, "1  Statistic: D 3 R 0 XD 1 XR 0 E 0 O 0 B 1.62%")
                if i % 11 == 0:
                    put(micros, f"1  {name:<15} TxRq d 1 01")
                if each.is_remote_frame:
                    put(micros, f"1  {name:<15} {way}   r")
                elif each.is_fd:
                    label = "EngineData" if i % 2 else ""
                    put(micros, f"CANFD   2 {way:<4} {name:>9} {label:>33} 1 0 "
                                f"{can.util.len2dlc(each.dlc):x} {each.dlc:>2} {data} 0 0 1000 0 0")
                else:
                    put(micros, f"1  {name:<15} {way}   d {each.dlc} {data}  Length = 239910 "
                                "BitCount = 124 ID = 901")
                times.append(None if each.is_remote_frame else micros / 1e6)
            file.write("End TriggerBlock\n")
        return times

    def test_trc(self):
        """As python-can writes it, which is classic data frames only; and as PEAK's programs write
        each version, read by both."""
        logging.getLogger("can.io.trc").setLevel(logging.ERROR)  # warns of what it does not write
        for seed in range(3):
            sent = [each for each in self.messages(seed, 20 * WINDOW) if not each.is_error_frame]
            path = self.path(f"{seed}.trc")
            with can.Logger(path) as writer:
                for message in sent:
                    writer.on_message_received(message)
            self.check_trc(path, [each for each in sent
                                  if not each.is_fd and not each.is_remote_frame])
            for name, form in self.TRC.items():
                path = self.path(f"{name}-{seed}.trc")
                some = [each for each in sent if name >= "2" or not each.is_fd]
                self.write_trc(path, name, form, some)
                self.check_trc(path, [each for each in some if not each.is_remote_frame])

    TRC = {
        "1.0": "{n:>6}) {ms:>9.0f} {id:>9} {length:>2}  {data}",
        "1.1": "{n:>6}) {ms:>11.1f}  {way} {id:>12}  {length}  {data} ",
        "1.3": "{n:>6}) {ms:>13.3f} {bus}  {way} {id:>11} -  {length}    {data} ",
        "2.0": "{n:>7} {ms:>13.3f} {type} {id:>8} {way} {length:<2} {data} ",
        "2.1": "{n:>7} {ms:>13.3f} {type} {bus} {id:>9} {way} -  {dlc:<4} {data} ",
    }

    @staticmethod
    def write_trc(path, name, form, messages):
        columns = {"2.0": "N,O,T,I,d,l,D", "2.1": "N,O,T,B,I,d,R,L,D"}
        with open(path, "w", encoding="ascii", newline="\r\n") as file:
            if name != "1.0":
                file.write(f";$FILEVERSION={name} \n;$STARTTIME=45248.7383051968 \n")
            if name in columns:
                file.write(f";$COLUMNS={columns[name]} \n")
            file.write(";\n;   Message Number\n;---+--   ----+----\n")
            for i, each in enumerate(messages):
                remote = each.is_remote_frame
                data = "RTR" if name < "2" else ""
                file.write(form.format(
                    n=i + 1, ms=(each.timestamp - messages[0].timestamp) * 1e3,
                    type="RR" if remote else "DT" if not each.is_fd else
                    "FB" if each.bitrate_switch else "FD",
                    way="Rx" if each.is_rx else "Tx", bus=1 + int(each.channel[-1]),
                    id=f"{each.arbitration_id:0{8 if each.is_extended_id else 4}X}",
                    length=each.dlc, dlc=can.util.len2dlc(each.dlc),
                    data=data if remote else each.data.hex(" ").upper()).rstrip(" ") + " \n")

    def check_trc(self, path, sent):
        """What was sent, and what python-can reads, with the times of the file's text."""
        with open(path, encoding="ascii") as file:
            words = [line.split() for line in file if not line.startswith(";")]
        times = [float(decimal.Decimal(line[1]).scaleb(-3)) for line in words
                 if "RR" not in line and "RTR" not in line]
        with can.LogReader(path) as reader:
            read = [each for each in reader if not each.is_remote_frame]
        wanted = [(time, *expected(each, 6)[1:]) for time, each in zip(times, sent, strict=True)]
        self.assertEqual([expected(each, 6)[1:] for each in read], [each[1:] for each in wanted])
        result = self.ingest(path, "--bus", "merge")
        self.assertEqual((result["frames"], result["rejected"]),
                         (len(wanted), len(words) - len(wanted)))
        self.assertEqual(read_frames(result, "train"), wanted[:len(wanted) // WINDOW * WINDOW])

    def test_a_log_of_can_utils(self):
        truck = golden_files.path("data/can/candump/truck_15s.log")
        with can.LogReader(truck) as reader:
            wanted = [expected(each, 6) for each in reader]
        result = self.ingest(truck, "--bus", "merge")
        self.assertEqual((result["frames"], result["rejected"]), (len(wanted), 0))
        found = read_frames(result, "train")
        self.assertEqual(found, wanted[:len(found)])
        self.assertLess(len(wanted) - len(found), WINDOW)


if __name__ == "__main__":
    unittest.main()
