"""leat ingest can: identifiers of a csv that may be hexadecimal or decimal are refused, with the
option that decides; and what a warning says of times of 0."""
import json
import os
import re
import shlex
import subprocess
import unittest

from command import LEAT, leat
from test_ingest_can import Case

IDS = [61 + 47 * i for i in range(16)]  # 61, 108, ..., 766: no digit beyond 9


class Identifiers(Case):
    def log(self, name="x.csv", column="can_id", ids=IDS, write=str, line="{time},{id},{data}\n"):
        path = self.path("a folder", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as file:
            if column:
                file.write(line.format(time="timestamp", id=column, data="data"))
            for i in range(600):
                file.write(line.format(time=f"{i * 0.001:.3f}", id=write(ids[i % len(ids)]),
                                       data=f"0A{i % 256:02X}"))
        return path

    def run_can(self, *words, status=0):
        return leat("ingest", "can", *words, "-o", self.path("cache"), "--val-fraction", "0",
                    status=status)

    def vocabulary(self):
        cache, = (entry for entry in os.listdir(self.path("cache")) if entry[0] != ".")
        with open(self.path("cache", cache, "vocab.json"), encoding="utf-8") as file:
            return set(json.load(file)["entries"])

    def commands(self, *words):
        """The two options of a refusal, as a shell reads them."""
        says = self.run_can(*words, status=1).stderr
        self.assertEqual(len(says.splitlines()), 1)
        found = re.search(r"108 is either 0x108 or 0x6C; use (--column .*), or if they are decimal "
                          r"(--column .*)\n$", says)
        self.assertIsNotNone(found, says)
        return found.groups()

    def test_refused_with_both_readings(self):
        """Whatever the column is called; both commands work as they are printed."""
        for column in ("arbitration_id", "can_id", "CAN ID", "identifier", "Message ID", "id",
                       '"arb_id"'):
            log = self.log(column=column)
            for option, base in zip(self.commands(log), (16, 10)):
                command = f"{shlex.quote(LEAT)} ingest can {shlex.quote(log)} -o cache {option}"
                subprocess.run(["sh", "-c", command], cwd=self.folder, check=True,
                               capture_output=True)
                wanted = {f"{int(str(value), base):03X}" for value in IDS}
                self.assertLessEqual(wanted, self.vocabulary())
                subprocess.run(["rm", "-r", self.path("cache")], check=True)

    def test_what_is_given_stays(self):
        log = self.log("x.csv", "what", line="{data},{id},{time}\n")
        given = "time=timestamp,id=what,data=1"
        hexadecimal, decimal = self.commands(log, "--column", given)
        self.assertEqual(hexadecimal, "--column time=timestamp,id=what:hex,data=1")
        self.run_can(log, *shlex.split(decimal))
        hexadecimal, _ = self.commands(self.log(column=""), "--column", "time=1,id=2,data=3")
        self.assertEqual(hexadecimal, "--column time=1,id=2:hex,data=3")
        hexadecimal, _ = self.commands(self.log(), "--column", "data=data")
        self.assertEqual(hexadecimal, "--column data=data,id=can_id:hex")

    def test_names_that_a_shell_reads(self):
        for name in "it's", 'the "id"', "$HOME", "`id`", "a\\b":
            quoted = name.replace('"', '""')
            log = self.log(column=f'"{quoted}"')
            for option in self.commands(log, "--column", f"id={name}"):
                self.assertIn(shlex.split(option)[1], (f"id={name}:hex", f"id={name}:dec"))
                self.run_can(log, *shlex.split(option), "--replace")

    def test_more_than_a_message_holds(self):
        names = ["T" * 63, "I" * 63, "D" * 63]
        log = self.log(column=names[1], line="{time},{id},{data}\n")
        with open(log, encoding="ascii") as file:
            lines = file.readlines()
        with open(log, "w", encoding="ascii") as file:
            file.writelines([",".join(names) + "\n"] + lines[1:])
        says = self.run_can(log, "--column", "time={},id={},data={}".format(*names),
                            status=1).stderr
        self.assertIn(f"; use id={names[1]}:hex in --column, or if they are decimal "
                      f"id={names[1]}:dec in --column\n", says)

    def test_formats_without_a_header(self):
        """Their columns have numbers; what is advised reads all of them."""
        def save(line, write):
            with open(self.path("x.txt"), "w", encoding="ascii") as file:
                for i in range(600):
                    row = line if i or line[-1] != "R" else "{time},{id},8" + ",1F" * 8 + ",R"
                    file.write(row.format(time=f"{i * 0.001:.6f}", data=f"{i % 256:02X}",
                                          id=write.format(IDS[i % len(IDS)])) + "\n")
            return self.path("x.txt")

        for line in ("{time},{id},2,0A,{data},R", "{time},{id},2,0A {data}",
                     "{time} {id} 000 2 0A {data}"):
            self.run_can(save(line, "{:04d}"), "--replace")
            log = save(line, "{:d}")
            for option, base in zip(self.commands(log), (16, 10)):
                subprocess.run(["rm", "-r", self.path("cache")], check=True)
                result = json.loads(self.run_can(log, "--json", *shlex.split(option)).stdout)
                self.assertEqual((result["frames"], result["rejected"]), (600, 0))
                self.assertLessEqual({f"{int(str(value), base):03X}" for value in IDS},
                                     self.vocabulary())

    def test_text_of_hcrl(self):
        """Identifiers that are not filled up with zeros may be decimal."""
        def save(write, ids):
            with open(self.path("x.txt"), "w", encoding="ascii") as file:
                for i in range(600):
                    file.write(f"Timestamp: {i * 0.001:.6f}        ID: {write(ids[i % len(ids)])}"
                               f"    000    DLC: 2    0a {i % 256:02x}\n")
            return self.path("x.txt")

        said = "identifiers are read as hexadecimal, but all of them could be decimal; if they " \
               "are, write them as hexadecimal numbers"
        self.assertIn(said, self.run_can(save(str, [64, 310, 799])).stderr)
        for write, ids in (("{:04x}".format, [64, 310, 799]), (str, [64, 3100, 799]),
                           ("{:04d}".format, [64, 310, 799]), ("{:x}".format, [64, 0x1AB])):
            self.assertNotIn(said, self.run_can(save(write, ids), "--replace").stderr)

    def test_what_shows_it(self):
        """In any file of the data set."""
        log = self.log()
        for shown in (dict(ids=IDS[:15]), dict(ids=IDS + [0x1AB], write="{:X}".format),
                      dict(write="{:04d}".format), dict(write="0x{}".format),
                      dict(ids=list(range(10, 26)))):
            self.run_can(self.log(**shown))
        self.log("other.csv", write="{:04d}".format)
        self.log("x.csv")
        self.run_can(self.path("a folder"))
        os.remove(self.path("a folder", "other.csv"))
        self.run_can(log, "--identifiers", "written")
        self.run_can(self.log("x.log", "", line="({time}) can0 {id}#{data}\n",
                              ids=[value for value in IDS if value > 99]))

    def test_files_together(self):
        """Identifiers of all files count, and a run that resumes refuses, too."""
        self.log("x.csv", ids=IDS[:8])
        self.log("y.csv", ids=IDS[8:])
        folder = self.path("a folder")
        says = self.run_can(folder, status=1).stderr
        self.assertIn('x.csv" and 1 other file: no identifier', says)
        self.assertIn('x.csv" and 1 other file: no identifier',
                      self.run_can(folder, "--resume", status=1).stderr)
        self.log("z.log", "", line="({time}) can0 {id}#{data}\n", ids=[0x1AB], write="{:X}".format)
        says = self.run_can(folder, status=1).stderr
        self.assertIn("begin them with 0x if they are hexadecimal, or write them as hexadecimal",
                      says)

    def test_times_of_0(self):
        log = self.path("x.log")
        with open(log, "w", encoding="ascii") as file:
            for i in range(600):
                file.write(f"({0 if i % 50 == 7 else 1.6e9 + i * 0.001:.6f}) can0 1AB#0A T\n")
        result = self.ingest(log, "--val-fraction", "0")
        self.assertEqual((result["frames"], result["rejected"], result["clock_steps"]["count"]),
                         (588, 12, 0))
        warning, = result["warnings"]
        self.assertTrue(warning.endswith(
            'x.log": rejected 12 frames with the time 0, which loggers write where they do not '
            "have a time"), warning)


if __name__ == "__main__":
    unittest.main()
