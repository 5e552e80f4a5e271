"""leat inspect: failures per destination, rejected rows and duplicates, counted here from what
`leat cat` writes and from run.json.

Runs the command named by LEAT (default: build/leat).
"""
import collections
import csv
import io
import ipaddress
import json
import os
import random
import shutil
import tempfile
import unittest

import pages
from command import leat

DATA = None  # a folder with data sets
HEAD = "event_time,src_addr,dst_addr,ip_version,rtt\n"
CLASSES = {"none": 0, "up to 1 %": 0.01, "1 to 5 %": 0.05, "5 to 20 %": 0.2, "20 to 50 %": 0.5,
           "over 50 %, not all": 0.99999}


def destination(draw, number):
    """An address, and one of its spellings."""
    if number % 3:
        return f"198.51.100.{number}"
    return draw.choice((f"2001:db8:1::{number:x}", f"2001:DB8:1:0::{number:04X}"))


def write_csv(path):
    draw = random.Random(3)
    with open(path, "w", encoding="utf-8") as out:
        out.write(HEAD)
        for number in range(1, 60):
            for i in range(1 + number * number % 83):
                src = f"2001:db8::{i % 7 + 1}" if number % 3 == 0 else f"192.0.2.{i % 11}"
                # some always answer, some never do
                failed = number % 5 == 0 or draw.random() < number % 7 / 12
                line = (f"{1556136000 + 60 * i},{src},{destination(draw, number)},"
                        f"{4 if number % 3 else 6},{-1 if failed else number + i / 8}\n")
                out.write(line)
                if number % 10 == 1 and i % 9 == 4:
                    out.write(2 * line)
        out.write(",192.0.2.1,198.51.100.7,4,3\n" * 5 + "1556136000,house,198.51.100.7,4,3\n" * 3 +
                  "1556136000,192.0.2.1,,4,3\n" * 7 + "1556136000,192.0.2.1\n" * 2)


def ingest(name, *words):
    leat("ingest", "probes", os.path.join(DATA, words[0] if words else "pings.csv"), "-o",
         os.path.join(DATA, name), *words[1:], status=0)


def setUpModule():
    global DATA
    DATA = tempfile.mkdtemp(prefix="leat-losses-")
    write_csv(os.path.join(DATA, "pings.csv"))
    ingest("set")
    ingest("dropped", "pings.csv", "--duplicates", "drop", "--train-ratio", "1")
    with open(os.path.join(DATA, "one.csv"), "w", encoding="utf-8") as out:
        out.write(HEAD + "".join(f"{1556136000 + 60 * i},192.0.2.1,198.51.100.{i % 2 + 1},4,"
                                 f"{-1 if i % 2 else 7}\n" for i in range(60)))
    ingest("one", "one.csv", "--train-ratio", "1")


def tearDownModule():
    shutil.rmtree(DATA)


def inspected(*words, name="set"):
    path = os.path.join(DATA, "page.html")
    document = leat("inspect", os.path.join(DATA, name), "--json", "--html", path, *words,
                    status=0).stdout
    with open(path, encoding="utf-8") as file:
        text = file.read()
    pages.check_stands_alone(TEST, text)
    pages.check_labels(TEST, text)
    return json.loads(document), text


TEST = unittest.TestCase()


def table(data):
    return list(csv.DictReader(io.StringIO(data.decode())))


def counted(name="set"):
    """Measurements and failures by address, from the rows of the data set."""
    found = collections.defaultdict(lambda: [0, 0])
    told = leat("cat", os.path.join(DATA, name), "--format", "csv", status=0).stdout
    for one in csv.DictReader(io.StringIO(told)):
        here = found[str(ipaddress.ip_address(one["dst_addr"]))]
        here[0] += 1
        here[1] += float(one["rtt"]) < 0
    return found


def class_of(measurements, failures):
    return next((name for name, most in CLASSES.items() if failures / measurements <= most), "all")


class Destinations(unittest.TestCase):
    def expect(self, told, found):
        judged = {address: both for address, both in found.items() if both[0] >= 20}
        self.assertEqual((told["count"], told["sample"], told["least_measurements"]),
                         (len(found), 1, 20))
        classes = collections.Counter(class_of(*both) for both in judged.values())
        self.assertEqual({one["failed"]: one["destinations"] for one in told["by_failures"]
                          if one["destinations"]}, classes)
        worst = sorted((address for address, both in judged.items() if both[1]),
                       key=lambda address: (-judged[address][1] / judged[address][0],
                                            -judged[address][0]))[:10]
        self.assertEqual([(one["measurements"], one["failures"]) for one in told["worst"]],
                         [tuple(judged[address]) for address in worst])
        for one in told["worst"]:
            self.assertEqual(judged[one["dst_addr"]], [one["measurements"], one["failures"]])
        return classes

    def test_counted_again(self):
        document, text = inspected()
        told = document["values"]["destinations"]
        classes = self.expect(told, counted())
        self.assertGreater(len(classes), 3)
        self.assertGreater(classes["all"], 1)
        rows = table(pages.files(text)["destinations-by-share-of-failures.csv"])
        self.assertEqual([(row["failed"], int(row["destinations"])) for row in rows],
                         [(one["failed"], one["destinations"]) for one in told["by_failures"]])
        listed = text[text.index("Destinations that fail most"):]
        listed = listed[:listed.index("</table>")]
        self.assertEqual(listed.count('<td class="lost">all</td>'),
                         sum(one["failures"] == one["measurements"] for one in told["worst"]))
        for one in told["worst"]:
            self.assertIn(f'<td class="mono">{one["dst_addr"]}</td>', listed)

    def test_one_probe(self):
        document, _ = inspected(name="one")
        self.assertEqual(self.expect(document["values"]["destinations"], counted("one")),
                         {"none": 1, "all": 1})

    def test_threads_change_nothing(self):
        texts = {leat("inspect", os.path.join(DATA, "set"), "--json", "--threads", n).stdout
                 for n in ("1", "2", "3", "8")}
        self.assertEqual(len(texts), 1)

    def test_nothing_read(self):
        document, text = inspected("--read", "0")
        told = document["values"]["destinations"]
        self.assertEqual((told["count"], told["worst"]), (0, []))
        self.assertNotIn("Destinations that fail most", text)
        figure = pages.figures(text)["Destinations by share of failures"]
        self.assertIn("no values were read", figure)


class Ingest(unittest.TestCase):
    def test_numbers_of_run_json(self):
        for name, dropped in (("set", False), ("dropped", True), ("one", False)):
            document, text = inspected(name=name)
            told = document["ingest"]
            with open(os.path.join(DATA, name, "run.json"), encoding="utf-8") as file:
                run = json.load(file)
            for key in ("rows_read", "duplicates"):
                self.assertEqual(told[key], run[key])
            self.assertEqual(told["rejected_reasons"], run["rejected"])
            self.assertEqual(told["rejected"], sum(run["rejected"].values()))
            self.assertEqual(told["duplicates_dropped"], run["duplicates"] if dropped else 0)
            self.assertEqual(told["rows_read"], told["rejected"] + told["duplicates_dropped"] +
                             document["all"]["measurements"])
            if name == "one":
                self.assertNotIn("Rejected rows by reason", text)
                continue
            self.assertEqual(list(told["rejected_reasons"].items()), [
                ("dst_addr_missing", 7), ("event_time_missing", 5), ("src_addr_unparsable", 3),
                ("malformed_line", 2)])
            self.assertGreater(told["duplicates"], 10)
            rows = table(pages.files(text)["rejected-rows-by-reason.csv"])
            self.assertEqual({row["reason"]: int(row["rows"]) for row in rows}, run["rejected"])
            for row in rows:
                self.assertAlmostEqual(float(row["share_of_the_rejected_rows"]),
                                       int(row["rows"]) / 17, 6)
            self.assertIn(f"it found {told['duplicates']} duplicates" +
                          (", which it dropped." if dropped else "."), text)

    def test_terminal(self):
        """The same numbers as in the JSON, in a few lines."""
        for name in ("set", "one"):
            document, _ = inspected(name=name)
            told, ingest = document["values"]["destinations"], document["ingest"]
            lines = leat("inspect", os.path.join(DATA, name), status=0).stdout.splitlines()
            reasons = ingest["rejected_reasons"].items()
            self.assertIn(f"  rejected     {ingest['rejected']} of {ingest['rows_read']:,} rows "
                          "read by the ingest" + (": " if reasons else "") +
                          ", ".join(f"{count} {reason}" for reason, count in reasons), lines)
            judged = sum(one["destinations"] for one in told["by_failures"])
            lost = sum(one["destinations"] for one in told["by_failures"] if one["failed"] == "all")
            self.assertIn(f"  destinations {told['count']}, {judged} with 20 measurements or more, "
                          f"of which {lost} never answered", lines)
            at = next(i for i, line in enumerate(lines)
                      if line.startswith("  destinations that fail most"))
            for one, line in zip(told["worst"][:5], lines[at + 1:]):
                share = "all" if one["failures"] == one["measurements"] else line.split()[3]
                self.assertEqual(line.split()[:4], [one["dst_addr"], str(one["measurements"]),
                                                    str(one["failures"]), share])
            self.assertEqual(lines[at + 1 + len(told["worst"][:5])], "")

    def test_terminal_of_many_reasons(self):
        with open(os.path.join(DATA, "many.csv"), "w", encoding="utf-8") as out:
            out.write(HEAD + "1556136000,192.0.2.1,198.51.100.7,4,3\n" * 40 +
                      ",192.0.2.1,198.51.100.7,4,3\n" * 9 + "1556136000,x,198.51.100.7,4,3\n" * 8 +
                      "1556136000,192.0.2.1,,4,3\n" * 7 + "1556136000,192.0.2.1\n" * 6 +
                      "1556136000,192.0.2.1,x,4,3\n" * 3 + "1556136000,192.0.2.1,::1,4,3\n" * 2)
        ingest("many", "many.csv", "--train-ratio", "1")
        text = leat("inspect", os.path.join(DATA, "many"), status=0).stdout
        self.assertIn("  rejected     35 of 75 rows read by the ingest: 9 event_time_missing, 8 "
                      "src_addr_unparsable, 7 dst_addr_missing, 6 malformed_line, 5 for other "
                      "reasons\n", text)
        self.assertNotIn("destinations that fail most", text)  # none failed
        text = leat("inspect", os.path.join(DATA, "many"), "--read", "0", status=0).stdout
        self.assertNotIn("  destinations", text)

    def test_data_sets_without_it(self):
        for name, content in (("gone", None), ("odd", "{"), ("other", '{"rows_read": "many"}')):
            path = os.path.join(DATA, name)
            shutil.copytree(os.path.join(DATA, "set"), path)
            if content is None:
                os.remove(os.path.join(path, "run.json"))
            else:
                with open(os.path.join(path, "run.json"), "w", encoding="utf-8") as file:
                    file.write(content)
            document, text = inspected(name=name)
            self.assertNotIn("ingest", document)
            self.assertNotIn("Rejected rows by reason", text)
            self.assertNotIn("The ingest read", text)
            self.assertNotIn("  rejected ", leat("inspect", path, status=0).stdout)

    def test_an_empty_split(self):
        document, _ = inspected(name="dropped")
        self.assertNotIn("test", {shard["split"] for shard in document["shards"] if shard["rows"]})


if __name__ == "__main__":
    unittest.main()
