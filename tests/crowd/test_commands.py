"""leat coordinate, work and status over a real server: a run by several machines has the weights of
leat train; what they print and refuse, signals, keys. Runs the command named by LEAT (default:
build/leat).
"""
import hashlib
import json
import os
import re
import shutil
import signal
import tempfile
import time
import unittest

from server import Server, find_server, skip

import folder
import image_set
import json_schema
from command import LIMIT, ROOT, leat
from runs import Command

SMALL = ["--width", "4", "--latent", "8", "--units", "3", "--unit-size", "8", "--micro-batch", "8",
         "--sample-every", "0"]
QUICK = ["--poll-ms", "5", "--part-bytes", "4096"]
SCHEMAS = json_schema.Schemas()

SERVER = None
DATA = None  # a folder with `faces`, 40 images, and `others`


def setUpModule():
    global SERVER, DATA
    SERVER = Server()
    DATA = tempfile.mkdtemp(prefix="leat-crowd-")
    image_set.make(f"{DATA}/faces", 40, 64)
    image_set.make(f"{DATA}/others", 41, 64)


def tearDownModule():
    shutil.rmtree(DATA)
    SERVER.stop()


class Crowd(folder.Folder):
    def setUp(self):
        super().setUp()
        self.database = SERVER.database()

    def coordinate(self, *words, run="run", data="faces", **more):
        return Command("coordinate", self.at(run), "--db", SERVER.url(self.database), "--data",
                       f"{DATA}/{data}", *SMALL, *QUICK, *words, **more)

    def work(self, *words, login="ann", data="faces", more="", **others):
        return Command("work", SERVER.url(self.database, login, more), "--data", f"{DATA}/{data}",
                       "--key", self.at("keys", "machine.key"), "--threads", "1", "--poll-ms", "5",
                       "--on-battery", "work", *words, **others)

    def status(self, *words, status=0):
        done = leat("status", "--db", SERVER.url(self.database), *words, status=status)
        if "--json" in words:
            SCHEMAS.check_text("status", done.stdout)
        return done

    def alone(self, steps):
        """The state that leat train computes."""
        return json.loads(leat("train", "dcgan", f"{DATA}/faces", "-o", self.at("alone"), "--steps",
                               steps, *SMALL, "--codec-up", "bf16", "--codec-down", "bf16",
                               "--json", status=0).stdout)["state"]

    def test_two_machines(self):
        with self.coordinate("--steps", 4, "--export", self.at("repo"), "--json") as coordinator:
            coordinator.until("is open at step 0 of 4")
            status = json.loads(self.status("--json").stdout)
            self.assertEqual((status["run"], status["step"], status["steps"]), ("run", 0, 4))
            self.assertEqual(status["coordinated"], True)
            text = self.status().stdout
            self.assertRegex(text, r"(?m)^run      run: dcgan, open$")
            self.assertRegex(text, "(?m)^units    3 ready, 0 out, 0 done, of 3 with 8 images each$")
            self.assertRegex(text, "(?m)^data     not in the database: workers need --data$")
            self.assertEqual(status["serves_data"], False)
            with self.work("--name", "x\x1b[31m<b>", "--json") as one, \
                 self.work("--json", login="bob") as two:
                reports = [SCHEMAS.check_text("work", each.end()) for each in (one, two)]
            report = SCHEMAS.check_text("coordinate", coordinator.end())
        self.assertEqual(report["state"], self.alone(4))
        self.assertEqual(report["last_step"], 4)
        self.assertEqual(report["units_refused"], 0)
        self.assertEqual(sum(part["accepted"] for part in reports), report["units_counted"])
        self.assertEqual(report["units_counted"] + report["units_computed_here"], 12)
        # two processes, two identities
        self.assertEqual(len({part["machine"] for part in reports}), 2)
        self.assertEqual(sorted(os.listdir(self.at("keys"))), ["machine-2.key", "machine.key"])
        self.assertEqual(os.stat(self.at("keys", "machine.key")).st_mode & 0o77, 0)
        status = json.loads(self.status("--json").stdout)
        self.assertEqual((status["state"], status["step"]), ("finished", 4))
        self.assertLessEqual({"loss_d", "loss_g", "step_seconds"}, status.keys())
        self.assertEqual(sum(worker["accepted"] for worker in status["workers"]),
                         report["units_counted"])
        self.expect_values(status)
        text = self.status().stdout
        self.assertNotIn("\x1b", text)
        self.assertIn("x?[31m<b>", text)
        self.assertIn("held by  nobody", text)
        self.assertNotRegex(text, "left|no machine works")  # it is finished
        # what a run of leat train has
        for name in ("report.html", "config.yaml", "metrics.jsonl", "training.json"):
            self.assertTrue(os.path.exists(self.at("run", name)), name)
        self.expect_ledger(reports, report)

    def expect_values(self, status):
        """The losses are those of the run's metrics; a run of another model has its own names."""
        with open(self.at("run", "metrics.jsonl"), encoding="utf-8") as file:
            last = [line for line in map(json.loads, file) if "loss_g" in line][-1]
        self.assertEqual((status["loss_d"], status["loss_g"]),
                         (last["loss_d_images"] + last["loss_d_fakes"], last["loss_g"]))
        self.assertIn(f"losses   D {status['loss_d']:.4f}, G {status['loss_g']:.4f}\n",
                      self.status().stdout)
        rename = "update leat.run set value_names[3] = '{}'"
        SERVER.sql(rename.format("perplexity"), database=self.database)
        other = json.loads(self.status("--json").stdout)
        values = dict(last, perplexity=last["loss_g"])
        self.assertEqual(list(other["values"].items()), [(name, values[name]) for name in (
            "loss_d_images", "loss_d_fakes", "perplexity", "norm_d", "norm_g")])
        self.assertEqual(other.keys() - status.keys(), {"values"})
        self.assertEqual(status.keys() - other.keys(), {"loss_d", "loss_g"})
        self.assertRegex(self.status().stdout, "(?m)^values   loss_d_images .*, perplexity "
                                               f"{values['perplexity']:.4f}, norm_d")
        SERVER.sql(rename.format("loss_g"), database=self.database)

    def expect_ledger(self, workers, report):
        """It names who computed what, and the export names it."""
        with open(self.at("run", "ledger.jsonl"), encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual([line["step"] for line in lines if line["kind"] == "step"], [1, 2, 3, 4])
        self.assertEqual(lines[-1]["state"], report["state"])
        units = [line for line in lines if line["kind"] == "unit"]
        self.assertEqual([(line["step"], line["unit"]) for line in units],
                         [(step, unit) for step in (1, 2, 3, 4) for unit in (0, 1, 2)])
        for worker in workers:
            self.assertEqual(sum(line.get("machine") == worker["machine"] for line in units),
                             worker["accepted"])
        self.assertLessEqual({line["account"] for line in units}, {"ann", "bob"})
        run = SCHEMAS.check_text("inspect-run", leat("inspect", self.at("run"), "--json",
                                                     status=0).stdout)
        with open(self.at("repo", "config.json"), encoding="utf-8") as file:
            training = json.load(file)["training"]
        self.assertEqual((training["state"], training["ledger"]),
                         (report["state"], run["ledger"]["head"]))
        self.assertIn("its ledger is unbroken: 17 lines",
                      leat("doctor", self.at("run"), status=0).stdout)
        self.take_again(4)
        self.assertRegex(leat("inspect", self.at("run"), status=0).stdout,
                         r"(?m)^  ledger       12 results counted, 3 of them twice; last line ")
        with open(self.at("run", "ledger.jsonl"), "r+b") as file:
            file.seek(-300, os.SEEK_END)
            file.write(b"~")
        self.assertRegex(leat("doctor", self.at("run"), status=1).stdout,
                         "line (20|21) does not follow")
        self.assertIn("does not follow", leat("inspect", self.at("run"), status=1).stderr)

    def take_again(self, count):
        """The last lines of the ledger once more, as after a coordinator that died between them and
        its commit."""
        with open(self.at("run", "ledger.jsonl"), "r+b") as file:
            lines = file.read().splitlines(True)
            for line in lines[-count:]:
                before = hashlib.sha256(lines[-1]).hexdigest().encode()
                lines.append(re.sub(rb'"before":"[0-9a-f]+"', b'"before":"' + before + b'"', line))
                file.write(lines[-1])

    def test_stopped_and_resumed(self):
        """Ctrl-C at the coordinator, the folder lost, another name for the machine."""
        with self.coordinate("--steps", 5) as coordinator:
            coordinator.until("is open at step 0 of 5")
            with self.work("--once") as worker:
                worker.end()
            coordinator.end(1, signal.SIGINT)
        self.assertTrue(os.path.exists(self.at("run", "training.json")))
        shutil.rmtree(self.at("run"))
        with Command("coordinate", self.at("run"), "--db", SERVER.url(self.database), "--data",
                     f"{DATA}/faces", "--resume", *QUICK) as coordinator:
            coordinator.until("is open at step 0 of 5")
            with self.work() as worker:
                worker.end()
            coordinator.end()
        self.assertEqual(json.loads(leat("inspect", self.at("run"), "--verify", "--json",
                                         status=0).stdout)["checkpoints"][-1]["state"],
                         self.alone(5))

    def test_a_worker_that_is_killed(self):
        """leat status shows when it was last seen, and no time that is left while nobody works."""
        with self.coordinate("--steps", 100000) as coordinator:
            coordinator.until("is open")
            self.assertRegex(self.status().stdout,
                             "(?m)^step     0 of 100,000; no machine works on it now$")
            with self.work() as worker:
                deadline = time.monotonic() + LIMIT
                while " left\n" not in (text := self.status().stdout):
                    self.assertLess(time.monotonic(), deadline, text)
                self.assertRegex(text, r"(?m)^step .*; .* s a step, .* left$")
                worker.kill()
            self.assertRegex(self.status().stdout,
                             r"(?m)^  .* units, .*; last seen [\d.]+ m?s ago$")
            SERVER.sql("update leat.machine set seen_at = seen_at - interval '3 minutes', "
                       "name = repeat('n', 20)", database=self.database)
            text = self.status().stdout
            self.assertRegex(text, r"(?m)^step .*; .* s a step; no machine works on it now$")
            self.assertRegex(text, r"(?m)^  n{16} .{12} .{8} units, .*; last seen 3 min "
                                   r"[\d.]+ s ago$")
            coordinator.end(1, signal.SIGTERM)

    def test_worker_stops(self):
        """SIGTERM hands in the unit that is computed, and says so."""
        with self.coordinate("--steps", 100000) as coordinator:
            coordinator.until("is open")
            with self.work() as worker:
                worker.until('works on "run"')
                worker.end(1, signal.SIGTERM)
            with self.work("--once", "--json") as worker:
                self.assertEqual(json.loads(worker.end())["accepted"], 1)
            coordinator.end(1, signal.SIGTERM)
        workers = json.loads(self.status("--json").stdout)["workers"]
        self.assertEqual(["unit" in worker for worker in workers], [False])

    def test_logins_of_the_page(self):
        """The SQL of docs/crowd.md creates one login that coordinates and one that works, which can
        be dropped at any time; another login of the server cannot take part."""
        with open(os.path.join(ROOT, "docs", "crowd.md"), encoding="utf-8") as file:
            page = re.sub(r"\bann\b", "anna", file.read())
        statements = re.findall(r"^(?:CREATE|REVOKE|GRANT) .*;$", page, re.MULTILINE)
        self.assertEqual(len(statements), 5)
        removal, = re.findall(r"created by hand, as above, in psql:\n\n.*\n\n((?:    .*;\n)+)",
                              page)
        SERVER.sql(*statements, "create role eve login")
        self.database = "class"
        with Command("coordinate", self.at("run"), "--db", SERVER.url("class", "me"), "--data",
                     f"{DATA}/faces", "--steps", 100000, *SMALL, *QUICK) as coordinator:
            coordinator.until("is open")
            with self.work("--once", login="anna") as worker:
                worker.end()
            with self.work("--once", login="eve") as worker:
                worker.end(2)
                self.assertIn('permission denied for database "class"', worker.said)
            self.assertEqual(SERVER.sql("select string_agg(account, ' ') from leat.machine",
                                        database="class"), "anna")
            with self.work(login="anna") as worker:
                worker.until("works on")
                SERVER.sql(*removal.splitlines())
                worker.until("trying again until it succeeds")  # its sessions have ended, too
                worker.end(1, signal.SIGINT)
            with self.work(login="anna") as worker:
                worker.end(2)
                self.assertIn('"anna"', worker.said)
            coordinator.end(1, signal.SIGTERM)
        self.assertEqual(SERVER.sql("select count(*) from leat.run", database="class"), "1")

    def test_a_url_with_a_wrong_host(self):
        """Nothing is written before the server is reached, so the right command begins the run."""
        words = ["--data", f"{DATA}/faces", "--steps", 1, *SMALL, *QUICK]
        with Command("coordinate", self.at("run"), "--db", "postgresql://x@nohost.invalid/c",
                     *words) as wrong:
            wrong.until("trying again until it succeeds; leat doctor --db says what is wrong")
            wrong.end(1, signal.SIGINT)
            self.assertIn("nothing was written", wrong.said)
        self.assertFalse(os.path.exists(self.at("run")))
        with self.coordinate("--steps", 1) as coordinator:
            coordinator.until("is open at step 0 of 1")
            coordinator.end(1, signal.SIGTERM)

    def test_a_server_that_is_away(self):
        """A coordinator whose folder is lost waits for it, as every other one does."""
        with self.coordinate("--steps", 2) as coordinator:
            coordinator.until("is open at step 0 of 2")
            coordinator.end(1, signal.SIGTERM)
        shutil.rmtree(self.at("run"))
        words = ["coordinate", self.at("run"), "--db", SERVER.url(self.database), "--data",
                 f"{DATA}/faces", "--resume", *QUICK]
        SERVER.end()
        try:
            with Command(*words) as coordinator:
                coordinator.until("trying again until it succeeds; leat doctor --db says what is "
                                  "wrong\n")
                coordinator.end(1, signal.SIGINT)
                self.assertIn("nothing was written", coordinator.said)
            self.assertFalse(os.path.exists(self.at("run")))
            coordinator = Command(*words)
            self.addCleanup(coordinator.kill)
            coordinator.until("trying again until it succeeds")
        finally:
            SERVER.begin()
        coordinator.until("is open at step 0 of 2")
        coordinator.end(1, signal.SIGTERM)

    def test_machines_that_are_faster(self):
        """A worker that comes second each time names the first unit, and counts the others."""
        with self.coordinate("--steps", 1) as coordinator:
            coordinator.until("is open")
            slower = "another machine was faster"
            SERVER.sql("create or replace function leat.submit(p_lease bigint, p_epoch bigint, "
                       "p_hash text, out why text) language sql security definer as "
                       f"$$ select '{slower}'::text $$", database=self.database)
            with self.work() as worker:
                worker.until(f"{slower} at 10 units so far\n")
                self.assertEqual([line for line in worker.said.splitlines() if slower in line], [
                    f"leat: step 1, unit 0: {slower}; further ones are counted",
                    f"leat: {slower} at 10 units so far"])
            coordinator.end(1, signal.SIGTERM)

    def test_a_login_that_is_removed(self):
        """While a worker is connected: it says so, and ends."""
        SERVER.sql("create role tim login")
        with self.coordinate("--steps", 100000) as coordinator:
            coordinator.until("is open")
            with self.work(login="tim") as worker:
                worker.until('works on "run"')
                SERVER.sql("drop role tim")
                worker.end(2)
                self.assertIn("the login of this machine was removed from the server", worker.said)
            coordinator.end(1, signal.SIGTERM)

    def test_environment(self):
        """A database is what its URL says: libpq's variables do not count."""
        env = {**os.environ, "PGHOST": "192.0.2.1", "PGPORT": "1", "PGUSER": "nobody",
               "PGDATABASE": "none", "PGOPTIONS": "-c statement_timeout=1", "PGSSLMODE": "require",
               "PGSERVICE": "none", "PGCONNECT_TIMEOUT": "1"}
        with self.coordinate("--steps", 1, env=env) as coordinator:
            coordinator.until("is open")
            with self.work(env=env) as worker:
                worker.end()
            coordinator.end()
        self.assertEqual(leat("status", "--db", SERVER.url(self.database), env=env).returncode, 0)

    def test_passwords_are_not_in_the_list_of_processes(self):
        """Not those on the command line, and there are other ways to give a URL."""
        url = SERVER.url(self.database, "owner:secret")
        mine = SERVER.url(self.database, "ann:secret")
        with open(self.at("ticket"), "w", encoding="ascii") as file:
            file.write(f"\n{mine}\nanything\n")
        with Command("coordinate", self.at("run"), "--db", url, "--data", f"{DATA}/faces",
                     "--steps", 2, *SMALL, *QUICK) as coordinator:
            coordinator.until("is open at step 0 of 2")
            with open(f"/proc/{coordinator.process.pid}/cmdline", encoding="utf-8") as file:
                words = file.read().split("\0")
            self.assertEqual(words[words.index("--db") + 1],
                             "postgresql://" + "*" * (len(url) - len("postgresql://")))
            done = leat("status", "--db", "-", input=mine, status=0)
            self.assertIn("run      run: dcgan, open", done.stdout)
            self.assertIn("run: dcgan", leat("status", "--db", "@" + self.at("ticket"),
                                               status=0).stdout)
            leat("work", "@" + self.at("ticket"), "--data", f"{DATA}/faces", "--key",
                 self.at("k"), "--threads", "1", "--poll-ms", "5", "--on-battery", "work", status=0)
            coordinator.end()
        leat("doctor", "--db", "-", input=url, status=0)
        missing = self.at("run", "nothing.jsonl")
        for words, status, text in (
                (["status", "--db", "-"], 2, "does not begin with a line"),
                (["work", "-", "--data", f"{DATA}/faces"], 2, "does not begin with a line"),
                (["status", "--db", "@" + missing], 1, missing)):
            done = leat(*words, input="\n" * 3)
            self.assertEqual(done.returncode, status, (words, done.stderr))
            self.assertIn(text, done.stderr)

    def test_failures_have_reasons(self):
        with self.coordinate("--steps", 1) as coordinator:
            coordinator.until("is open at step 0 of 1")
            machine = "1" * 32
            SERVER.sql(f"select leat.register('', '{machine}', '', 'old', 'tape'); "
                       "select leat.fail(lease, epoch, e'no\\033[31m disk') "
                       f"from leat.claim(1, '{machine}', 0)", database=self.database, login="ann")
            event, = json.loads(self.status("--json").stdout)["events"]
            self.assertEqual((event["kind"], event["account"], event["machine"], event["name"],
                              event["words"]),
                             ("failed", "ann", machine, "old", "step 1, unit 0: no?[31m disk"))
            self.assertRegex(self.status().stdout,
                             r"ago, old of ann, failed: step 1, unit 0: no\?\[31m disk\n")
            with self.work() as worker:
                worker.end()
            coordinator.end()

    def test_what_is_refused(self):
        url = SERVER.url(self.database)
        faces = f"{DATA}/faces"
        for words, status, text in (
                (["coordinate", self.at("run"), "--data", faces, "--steps", 1], 2, "--db"),
                (["coordinate", self.at("run"), "--db", url, "--steps", 1], 2, "--data"),
                (["coordinate", self.at("run"), "--db", url, "--data", faces], 2, "no end"),
                (["coordinate", self.at("run"), "--db", url, "--data", faces, "--steps", 1,
                  "--schedule", "alternating"], 2, "--schedule simultaneous"),
                (["coordinate", self.at("run"), "--db", url, "--data", faces, "--steps", 1,
                  "--name", "a b"], 2, "name: "),
                (["coordinate", self.at("run"), "--db", url, "--data", faces, "--steps", 1,
                  "--part-bytes", "3"], 2, "part-bytes"),
                (["coordinate", self.at("run"), "--db", "any words", "--data", faces, "--steps", 1],
                 2, "postgresql://USER:PASSWORD@HOST:PORT/DATABASE"),
                (["coordinate", self.at("run"), "--db", "host=x user=y", "--data", faces, "--steps",
                  1], 2, "use postgresql://y:PASSWORD@x:5432/DATABASE\n"),
                (["work", "host=db.example.org port=9 dbname='my class' user=a@b password=SECRET "
                  "sslmode=verify-full", "--key", self.at("k")], 2, "use postgresql://a%40b:"
                 "PASSWORD@db.example.org:9/my%20class?sslmode=verify-full\n"),
                (["work", url, "--data", faces, "--key", "/dev/null/x"], 1, "/dev/null"),
                (["work", url, "--data", faces, "--key", self.at("k")], 1,
                 'the database has no schema "leat": no run was coordinated in it yet; start leat '
                 "work again once leat coordinate says that the run is open"),
                (["work", url, "--quiet-hours", "07:00-07:00"], 2, "both begin and end"),
                (["work", url, "--on-battery", "run"], 2, "pause"),
                (["status", "--db", url], 1, "schema"),
                (["status", "--db", "postgresql://a@127.0.0.1:1/x"], 1, "127.0.0.1:1")):
            done = leat(*words)
            self.assertEqual(done.returncode, status, (words, done.stderr))
            self.assertIn(text, done.stderr, words)
            self.assertNotIn("SECRET", done.stderr)
        self.assertFalse(os.path.exists(self.at("run")))

    def test_a_worker_that_is_too_early(self):
        """The schema is there, and the run is not; or it is created, and not open yet."""
        with self.coordinate("--steps", 1) as coordinator:
            coordinator.until("is open")
            coordinator.end(1, signal.SIGTERM)
        SERVER.sql("update leat.run set step = -1", database=self.database)
        with self.work() as worker:
            worker.until('works on "run"')
            worker.end(1, signal.SIGTERM)
        SERVER.sql("select leat.drop_run(id) from leat.run", database=self.database)
        again = "start leat work again once leat coordinate says that the run is open"
        for more, text in (("", "this database has no open run; "),
                           ("&run=mine", 'there is no run "mine"; open are: none; ')):
            with self.work(more=more) as worker:
                worker.end(1)
                self.assertIn(text + again, worker.said)

    def test_other_data(self):
        with self.coordinate("--steps", 3, "--data-note", "download the faces at example.org") as c:
            c.until("is open")
            with self.work(data="others") as worker:
                worker.end(2)
            self.assertIn("its data set (fingerprint) is", worker.said)
            self.assertIn("download the faces at example.org", worker.said)
            self.assertIn("this data set is not the run's: 1 that should not be there: "
                          "a/0040.jpg\n", worker.said)
            with self.work("--memory", "1M", data="others") as worker:
                worker.end(2)
            self.assertIn("is not known: comparing the lists of images takes more than "
                          "--memory 1M\n", worker.said)
            SERVER.sql("update leat.run set list_bytes = 0", database=self.database)
            with self.work(data="others") as worker:
                worker.end(2)
            self.assertIn("is not known: the database has no list of the run's images\n",
                          worker.said)
            with self.work(more="&run=other") as worker:
                worker.end(1)
            self.assertIn('there is no run "other"; open are: run', worker.said)
            self.write_key("not a key\n")
            with self.work() as worker:
                worker.end(1)
            self.assertIn("32 hexadecimal digits", worker.said)
            self.assertEqual(json.loads(self.status("--json").stdout)["workers"], [])
            c.end(1, signal.SIGINT)

    def write_key(self, text):
        with open(self.at("keys", "machine.key"), "w", encoding="utf-8") as file:
            file.write(text)

    def test_two_coordinators(self):
        """The second waits for the first, and goes on when it has ended."""
        with self.coordinate("--steps", 3) as first:
            first.until("is open")
            with self.coordinate("--steps", 3, "--resume", "--name", "run", "--json",
                                 run="other") as second:
                second.until("coordinates the run")
                first.end(1, signal.SIGINT)
                second.until("is open")
                with self.work() as worker:
                    worker.end()
                self.assertEqual(json.loads(second.end())["state"], self.alone(3))

    def test_a_run_of_this_name_with_other_settings(self):
        """What differs from the run in the database is named."""
        with self.coordinate("--steps", 2) as first:
            first.until("is open")
            first.end(1, signal.SIGINT)
        for words, data, text in (
                (["--seed", 7], "faces", "seed is 7 here, but the run began with 0"),
                ([], "others", "the data set (fingerprint) is ")):
            with self.coordinate("--steps", 2, "--resume", "--name", "run", *words, run="other",
                                 data=data) as second:
                second.end(2)
            self.assertIn('the run "run" in the database: cannot resume: ' + text, second.said)
            self.assertIn("another --name", second.said)
        with self.coordinate("--steps", 2) as again:
            again.end(1)
        self.assertIn("holds a run; train with --resume", again.said)

    def test_servers_that_crash(self):
        with self.coordinate("--steps", 20, "--json") as coordinator:
            coordinator.until("is open")
            with self.work() as worker:
                worker.until('works on "run"')
                SERVER.crash()
                SERVER.crash()
                self.assertEqual(json.loads(coordinator.end())["state"], self.alone(20))
                worker.end()

    def test_another_run(self):
        """The database is made anew for another run of this name: its worker does not compute what
        would be refused."""
        with self.coordinate("--steps", 3) as first:
            first.until("is open")
            SERVER.sql("update leat.run set state = 'paused'", database=self.database)
            worker = self.work()  # so it finds nothing to do
            self.addCleanup(worker.__exit__)
            worker.until('works on "run"')
            SERVER.sql(f"drop database {self.database} with (force)")
            first.end(1, signal.SIGTERM)
            SERVER.sql(f"create database {self.database}")
            with self.coordinate("--steps", 3, "--seed", 5, "--name", "run", run="other") as second:
                second.until("is open")
                worker.end(2)
                self.assertIn("is another run now", worker.said)
                second.end(1, signal.SIGTERM)

    def test_passwords_are_not_shown(self):
        for url in ("postgresql://a:SECRET@127.0.0.1:1/x",
                    "postgresql://a@127.0.0.1:1/x?password=SECRET",
                    "postgresql://a:SE?CRET@127.0.0.1:1/x?sslmode=disable&%70assword=SECRET"):
            done = leat("status", "--db", url)
            self.assertEqual(done.returncode, 1)
            self.assertNotIn("SE", done.stderr.replace("SELECT", ""))
            self.assertIn("127.0.0.1:1/x", done.stderr)

    def test_database_dropped(self):
        """The database is lost and made again, empty, while all are there."""
        with self.coordinate("--steps", 3, "--json") as coordinator:
            coordinator.until("is open")
            SERVER.sql("update leat.run set state = 'paused'", database=self.database)
            with self.work() as worker:  # so it finds nothing to do
                worker.until('works on "run"')
                SERVER.sql(f"drop database {self.database} with (force)")
                coordinator.until("trying again")
                SERVER.sql(f"create database {self.database}")
                self.assertEqual(json.loads(coordinator.end())["state"], self.alone(3))
                worker.end()


if __name__ == "__main__":
    if find_server() is None:
        skip("no PostgreSQL server (scripts/install.sh --gate installs it)")
    unittest.main()
