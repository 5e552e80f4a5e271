"""What leat ingest probes says of inputs that it cannot use, or only a small part of.

Runs the command named by LEAT (default: build/leat).
"""
import gzip
import json
import os
import re
import sys
import unittest

import folder
from command import LEAT, leat
from held import Held

HEADER = "event_time,src_addr,dst_addr,rtt\n"


class Rejects(folder.Folder):
    def setUp(self):
        super().setUp()
        self.out = self.at("data")

    def ingest(self, text, *options):
        path = self.at("x.csv")
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        done = leat("ingest", "probes", path, "-o", self.out, "--replace", *options)
        return done.returncode, done.stdout, done.stderr

    def lines(self, *times, header=HEADER):
        return header + "".join(f"{each},192.0.2.1,198.51.100.1,5\n" for each in times)

    def test_most_rows_rejected_is_a_warning(self):
        bad = ["2020-13-45 10:00:00"] * 30
        status, _, said = self.ingest(self.lines(1600000000, *bad))
        self.assertEqual(status, 0)
        self.assertRegex(said, r"\Aleat: warning: 30 of 31 rows were rejected, 30 of them as "
                               r"malformed_line: lines must have a time in ISO 8601 .*"
                               rf'; see "{self.out}/rejected.csv"\n\Z')
        status, out, said = self.ingest(self.lines(1600000000, *bad), "--json")
        self.assertEqual((status, said.count("\n")), (0, 1))
        self.assertRegex(json.loads(out)["warnings"][0], "^30 of 31 rows were rejected")
        found = leat("ingest", "probes", f"{self.top}/x.csv", "-o", self.out, "--resume",
                     status=0)
        self.assertIn("nothing to do", found.stdout)
        self.assertIn("warning: 30 of 31 rows", found.stderr)

    def test_half_of_them_is_not(self):
        status, out, said = self.ingest(self.lines(1600000000, 1600000001, "x", "y"))
        self.assertEqual((status, said), (0, ""))
        self.assertIn("2 rejected", out)
        self.assertIn("3 of 5 rows", self.ingest(self.lines(1, 2, "x", "y", "z"))[2])

    def test_times_out_of_range(self):
        for scale, word in ((1000, "look like milliseconds, but were read as seconds, as numbers "
                                   "with a fraction are; use --column event_time=NAME:ms"),
                            (10 ** 7, "look like microseconds or nanoseconds, .*NAME:us or NAME:n"),
                            (-1, "times must be from 1970 to the year 9999: in ISO 8601, or")):
            late = [f"{(1600000000 + i) * scale}.5" for i in range(20)]  # seconds, by its point
            status, _, said = self.ingest(self.lines(*late))
            self.assertEqual(status, 1)
            self.assertRegex(said, r"none of 20 rows is a measurement \(event_time_out_of_range: "
                                   rf"20\); .*{word}")
            status, _, said = self.ingest(self.lines(1600000000, *late))
            self.assertEqual(status, 0)
            self.assertRegex(said, rf"warning: 20 of 21 rows .*{word}")
        # the option that is named helps
        late = [f"{(1600000000 + i) * 1000}.5" for i in range(20)]
        self.assertEqual(self.ingest(self.lines(*late), "--column",
                                     "event_time=event_time:ms")[::2], (0, ""))

    def test_another_separator(self):
        for mark, word in ((";", "semicolons"), ("|", "vertical bars")):
            status, _, said = self.ingest(self.lines(1600000000).replace(",", mark))
            self.assertEqual(status, 1)
            self.assertIn(f'x.csv" is separated by {word}, not by commas: "event_time{mark}src_',
                          said)

    def test_tabs(self):
        """Tables that differ in their separator alone give the same data set."""
        head = 'event_time,"note, of any kind",src_addr,dst_addr,rtt\n'
        rows = [(f"{1600000000 + i}", f'"{note}"', "192.0.2.1", "198.51.100.1", rtt)
                for i, (note, rtt) in enumerate((("a ""b", "5"), ("", ""), ("two\nlines", "6.5"),
                                                 ('say ""x""', "7"), ("", "nan")))]
        commas = head + "".join(",".join(row) + "\n" for row in rows)
        tabs = head.replace(",", "\t").replace("\t of", ", of") + "".join(
            "\t".join(row) + "\n" for row in rows)
        want = leat("cat", self.data(commas)).stdout
        self.assertEqual(want.count("\n"), len(rows))
        for text in (tabs, tabs.replace("\n", "\r\n"), "# made by hand\nsep=\t\n" + tabs,
                     tabs + tabs.split("\n", 1)[0] + "\n",
                     tabs.replace("two\n", "two ").replace('"', "").replace("\t", " \t ")):
            self.assertEqual(leat("cat", self.data(text)).stdout, want, text)
        # a comma in a cell is part of it; a tab is a blank where commas separate
        self.assertIn("2 of 3 rows", self.ingest(
            "event_time\tsrc_addr\tdst_addr\trtt\n1\t192.0.2.1\t192.0.2.2\t5\n"
            "2,\t192.0.2.1\t192.0.2.2\t5\n3\t192.0.2.1\t192.0.2.2\n")[2])
        folder = self.at("tables")
        os.mkdir(folder)
        for name, text in (("a.tsv", tabs), ("b.TSV.gz", gzip.compress(tabs.encode()))):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(text if isinstance(text, bytes) else text.encode())
        done = leat("ingest", "probes", folder, "-o", self.out, "--replace", "--json", status=0)
        self.assertEqual(json.loads(done.stdout)["records"], 2 * len(rows))
        self.assertIn('its columns are: ts, src, dst, ms (use --column event_time=NAME',
                      self.ingest("ts\tsrc\tdst\tms\n1\t192.0.2.1\t192.0.2.2\t5\n")[2])

    def test_no_header(self):
        status, _, said = self.ingest(self.lines(1600000000, 1600000001, header=""))
        self.assertEqual(status, 1)
        self.assertIn('x.csv" has no header: its first line is a record, "1600000000, 192.0.2.1',
                      said)
        self.assertIn("add a line with the names of the columns, such as event_time,src_addr", said)
        tabs = self.ingest("1600000000\t192.0.2.1\t192.0.2.2\t5\n")[2]
        self.assertIn("such as event_time, src_addr, dst_addr and rtt with tabs between", tabs)
        self.assertIn('has no column "rtt"; its columns are: event_time, src_addr, dst_addr, delay',
                      self.ingest(self.lines(1, header=HEADER.replace("rtt", "delay")))[2])

    def test_standard_input(self):
        done = leat("ingest", "probes", "-", "-o", self.out, input=HEADER, status=1)
        self.assertIn('standard input ("-") cannot be an input: files are read more than once; '
                      "save it to a file first", done.stderr)

    def test_columns_that_are_missing(self):
        """The option that names them, for all of them; or the unit that does not exist."""
        for header, more, words in (
                ("ts,from,dst_addr,delay\n", (),
                 r'no column "event_time"; its columns are: ts, from, dst_addr, delay \(use '
                 r"--column event_time=NAME,src_addr=NAME,rtt=NAME if they have other names\)"),
                (HEADER.replace("rtt", "delay"), (), r"\(use --column rtt=NAME if it has another"),
                (HEADER, ("--probe", "prb_id"),
                 r'no column "prb_id"; .*\(use --probe NAME if it has another name\)'),
                (HEADER, ("--column", "rtt=rtt:sec"), r'no column "rtt:sec"; .*\("sec" is not a '
                 r"unit: those of rtt are s, ms, us and ns\)"),
                (HEADER, ("--column", "event_time=event_time:min"),
                 r'"min" is not a unit: those of event_time are s, ms, us, ns and excel')):
            status, _, said = self.ingest(self.lines(1, header=header), *more)
            self.assertEqual(status, 1)
            self.assertRegex(said, words)

    def test_the_first_value_is_shown(self):
        """And what it is instead of an address."""
        for value, words in (("17", "numbers are not addresses"), ("192.0.2.0/24", "a prefix is"),
                             ("192.0.2.1:80", "must not have a port"), ("[2001:db8::1]:80", "port"),
                             ("ping.example.org", "host names are not addresses"),
                             ("192.0.2.256", "use --strict"), ("2001:db8::x", "use --strict")):
            for row, reason in ((f"{value},192.0.2.1", "src_addr"),
                                (f"192.0.2.1,{value}", "dst_addr")):
                status, _, said = self.ingest(f"{HEADER}1600000000,{row},5\n1600000001,{row},5\n")
                self.assertEqual(status, 1)
                self.assertIn(f"none of 2 rows is a measurement ({reason}_unparsable: 2); the "
                              f'first is row 2 of "{self.top}/x.csv": "{value}"; ', said)
                self.assertIn(words, said)
        said = self.ingest(f"{HEADER}x,192.0.2.1,192.0.2.2,5\n")[2]
        self.assertIn('none of 1 row is a measurement (malformed_line: 1); the first is row 2 of '
                      f'"{self.top}/x.csv": "x,192.0.2.1,192.0.2.2,5"; lines must have a time in '
                      "ISO 8601 (2019-04-24T20:00:00Z), or a number of seconds, ms", said)
        said = self.ingest(HEADER + "1600000000,192.0.2.1,192.0.2.2,1,5\n" * 3)[2]
        self.assertIn("lines must have as many fields as the header; a field with a comma", said)
        self.assertIn('x.csv": empty; ', self.ingest(f"{HEADER}1600000000,,192.0.2.1,5\n")[2])
        path = self.at("x.ndjson")
        with open(path, "w", encoding="ascii") as file:
            file.write('{"event_time": "no", "src_addr": "192.0.2.1", "dst_addr": "192.0.2.2", '
                       '"rtt": 1}\n')
        said = leat("ingest", "probes", path, "-o", self.out, "--replace", status=1).stderr
        self.assertIn("each must be a JSON object with a valid time", said)
        self.assertNotIn("header", said)
        empty = self.at("a.csv")  # the first row that is shown is not of this file
        for text in HEADER, HEADER + "x\n":
            with open(empty, "w", encoding="ascii") as file:
                file.write(text)
            for paths in (empty, path), (path, empty):
                said = leat("ingest", "probes", *paths, "-o", self.out, "--replace",
                            status=1).stderr
                name = re.search(r'the first is row \d of "[^"]*/([^"/]*)"', said)[1]
                self.assertEqual("as the header" in said, name == "a.csv", said)
        with open(empty, "w", encoding="ascii") as file:
            file.write(self.lines(1600000000))
        with open(path, "a", encoding="ascii") as file:
            file.write("{}x\n" * 5)
        said = leat("ingest", "probes", empty, path, "-o", self.out, "--replace", status=0).stderr
        self.assertRegex(said, "6 of 7 rows were rejected, .*each must be a JSON object")

    def test_before_the_header(self):
        """Comments, a line for spreadsheets and titles are skipped, and counted."""
        records = "1600000000,192.0.2.1,192.0.2.2,5\n1600000001,192.0.2.1,192.0.2.2,6\n"
        plain = leat("cat", self.data(HEADER + records)).stdout
        self.assertEqual(plain.count("\n"), 2)
        for before, count in (("# a, comment\n#\n", 2), ("sep=,\n", 1), ("\nSEP=,\n\n", 1),
                              ('"sep=,"\n', 1), ('"Sep=;"\n# x\n', 2), ('"sep="\n', 1),
                              ("Pings of May\n\n  # x\n", 2), ("#\n" * 99, 99), ("\n\n", 0)):
            text = before + HEADER + records
            self.assertEqual(leat("cat", self.data(text)).stdout, plain, before)
            said = self.ingest(text)[2]
            self.assertEqual("before the header" in said, count > 0, before)
            if count:
                self.assertIn(f'x.csv": {count} line{"s" * (count > 1)} before the header w', said)
        self.assertEqual(leat("cat", self.data("# " + HEADER + records)).stdout, plain)
        for text, words in (("# a\n# b\n", "its columns are: # a "), ("a\nb\n", "columns are: a "),
                            ("#\n" * 100 + HEADER + records, "its columns are: # "),
                            ("sep=;\n" + HEADER.replace(",", ";"), "separated by semicolons"),
                            ("5 May, 2024\n" + HEADER + records, "its columns are: 5 May, 2024 "),
                            ((HEADER + records).replace("\n", "\r"), "tr '\\r' '\\n' < FILE")):
            status, _, said = self.ingest(text)
            self.assertEqual(status, 1, text)
            self.assertIn(words, said)

    def test_blanks(self):
        """Blanks around the names of the header are no part of them, nor of fields."""
        records = "1600000000,192.0.2.1,192.0.2.2,5\n1600000001,192.0.2.1,192.0.2.2,\n"
        plain = leat("cat", self.data(HEADER + records)).stdout
        for comma in (", ", " ,", " \t, "):
            for end in ("", " "):
                spaced = (HEADER + records).replace(",", comma).replace("\n", end + "\n")
                self.assertEqual(leat("cat", self.data(spaced)).stdout, plain, repr(comma))
        quoted = HEADER.replace(",", ", ") + '1600000000, "192.0.2.1", 192.0.2.2, "5"\n'
        self.assertEqual(leat("cat", self.data(quoted)).stdout, plain.splitlines(True)[0])
        again = HEADER.replace(",", ", ")
        stacked = again + records.replace(",", ", ") + again
        self.assertEqual(leat("cat", self.data(stacked)).stdout, plain)
        # a header without blanks: fields are what is between the commas
        said = self.ingest(HEADER + "1600000000, 192.0.2.1,192.0.2.2,5\n")[2]
        self.assertIn("none of 1 row is", said)

    def data(self, text):
        """The data set of a text."""
        status, _, said = self.ingest(text)
        self.assertEqual(status, 0, said)
        return self.out

    def stop(self, wanted):
        """What a run says that is stopped once a file that `wanted` names is there."""
        source = self.at("synthetic.csv")
        if not os.path.exists(source):
            leat("synth", "probes", "-n", 3000, "-o", source, status=0)
        words = ["ingest", "probes", source, "-o", self.out, "--threads", "1", "--spill",
                 "always"]
        with Held([*words, "--replace"], f"{self.out}/.leat/{wanted}") as process:
            process.stop()
            out, said = process.rest()
        self.assertEqual((process.returncode, out), (1, ""), said)
        return said, leat(*words, "--resume", status=0).stderr

    def test_a_stopped_ingest_says_what_resume_does(self):
        said, again = self.stop("temp")
        self.assertEqual(said, "leat: stopped while reading; the scan is not complete, so --resume "
                               "starts from the beginning\n")
        self.assertIn("nothing to resume", again)
        said, again = self.stop("state.json")
        self.assertRegex(said, r"\Aleat: stopped while \w+; use --resume to continue after the "
                               r"scan, or --replace to start over\n\Z")
        self.assertEqual(again, "")


if __name__ == "__main__":
    if not os.access(LEAT, os.X_OK):
        print(f"skipped: {LEAT} is not built")
        sys.exit(77)
    unittest.main()
