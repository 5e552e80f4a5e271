"""leat dash --db: the page of a run on many machines, seen by a login that may only connect."""
# TSan: the page is served by a thread beside the one that looks at the database.
import json
import unittest

import server
from runs import Runs

from command import leat
from dashed import Dash, in_browser

server.require()
SCRIPT = "<script>alert(1)</script>"
BOB = "insert into leat.account (name) values ('bob')"
# machines of a class, as if each had worked
MACHINES = "insert into leat.machine (account, id, name, hardware, run, accepted, seen_at) " \
    "select 'bob', md5(i::text), 'desk ' || i, '8 processors', 1, i, leat.clock() - " \
    "case when i % 2 = 0 then interval '1 hour' else interval '0' end " \
    "from generate_series(1, 1000) i"
EVENT = "insert into leat.event (run, kind, account, words) values (1, 'refused', 'bob', " \
    "'step 1, unit 2: " + SCRIPT + "')"


@unittest.skipUnless("libmicrohttpd present" in " ".join(leat("version").stdout.split()),
                     "skipped: built without libmicrohttpd")
class DashCrowd(Runs):
    def test_a_run(self):
        """From before it begins to its end; what volunteers say is text."""
        steps = 3
        with Dash("--db", self.url("ann")) as dash:
            self.assertIn("problem", dash.json("/facts.json")["database"])
            coordinator = self.coordinate(steps)
            self.until_open(coordinator)
            self.work("--name", SCRIPT)
            self.expect(coordinator, steps)
            facts = dash.until("facts", lambda of: of["step"] == steps)
            of = facts["database"]
            self.assertEqual((facts["steps"], of["state"], of["all"]["units"]),
                             (steps, "finished", 3 * steps))
            self.assertEqual([machine["name"] for machine in of["machines"]], [SCRIPT])
            self.assertEqual([(account["account"], account["units"]) for account in of["accounts"]],
                             [("ann", 3 * steps)])
            self.assertEqual([of["label"] for of in facts["numbers"]], ["D loss", "G loss"])
            losses = dash.json("/curves.json")["figures"][0]
            self.assertEqual((losses["title"], losses["steps"]), ("Losses", [1, 2, 3]))
            with open(f"{self.folder}/metrics.jsonl", encoding="utf-8") as file:
                lines = [line for line in map(json.loads, file) if "loss_g" in line]
            for line, at in zip(losses["lines"], ("loss_d_images", "loss_d_fakes", "loss_g")):
                for shown, row in zip(line["ys"], lines, strict=True):
                    self.assertAlmostEqual(shown, row[at], 5)
            self.many_machines(dash)
            self.look_at_it(dash)
            self.database_away(dash)
        self.both()
        self.one_more()
        self.gone_back()

    def many_machines(self, dash):
        """A page stays small; half of the machines work."""
        self.server.sql(BOB, MACHINES, EVENT, database=self.database)
        of = dash.until("facts", lambda of: of["database"]["all"]["machines"] > 1 and
                        of["database"]["events"])["database"]
        self.assertEqual((of["all"]["machines"], of["all"]["accounts"], len(of["machines"])),
                         (1001, 2, 100))
        self.assertEqual([(item["account"], item["machines"]) for item in of["accounts"]],
                         [("bob", 1000), ("ann", 1)])
        self.assertTrue(all(machine["active"] for machine in of["machines"]))
        self.assertEqual([(item["kind"], item["words"]) for item in of["events"]],
                         [("refused", f"step 1, unit 2: {SCRIPT}")])
        self.assertLess(len(dash.get("/facts.json")[2]), 40000)
        # whatever the number of pages, there is one connection
        for _ in range(5):
            next(dash.events())
        self.assertEqual(self.ask("select count(*) from pg_stat_activity where application_name = "
                                  "'leat dash'"), "1")

    def look_at_it(self, dash):
        """In a browser, where there is one: the names of volunteers are text, and run nothing."""
        shown = SCRIPT.replace("<", "&lt;").replace(">", "&gt;")
        page = in_browser(dash.url, lambda text: f"unit 2: {shown}" in text,
                          f"{self.data}/chromium", width=390)
        if page is None:
            print("skipped: chromium is not installed")
            return
        self.assertNotIn(SCRIPT, page)
        self.assertEqual(page.count("<script"), 1)
        self.assertIn(">100 of 1,001<", page)
        self.assertIn("<svg", page)

    def database_away(self, dash):
        """The page keeps what it had, says so without an address, and goes on."""
        self.server.end()
        of = dash.until("facts", lambda of: "problem" in of["database"])["database"]
        self.assertIn("cannot be reached", of["problem"])
        self.assertEqual(of["all"]["machines"], 1001)
        self.assertNotIn("127.0.0.1", json.dumps(of))
        self.server.begin()
        dash.until("facts", lambda of: "problem" not in of["database"])
        said = dash.end()
        self.assertIn("127.0.0.1", said)  # for whoever runs it

    def gone_back(self):
        """Steps that were taken again with other values, and steps that are no longer there."""
        with Dash("--db", self.url("ann")) as dash:
            losses = dash.json("/curves.json")["figures"][0]
            self.assertEqual(losses["steps"], [1, 2, 3])
            self.server.sql("update leat.step set values = array_fill(7.5::double precision, "
                            "array[cardinality(values)]) where step = 2", database=self.database)
            losses = dash.until("curves", lambda of: of["figures"] and
                                of["figures"][0]["lines"][0]["ys"][-1] == 7.5)["figures"][0]
            self.assertEqual(losses["steps"], [1, 2, 3])
            self.assertNotEqual(losses["lines"][0]["ys"][0], 7.5)
            self.server.sql("delete from leat.step where step > 0; update leat.run set step = 1",
                            database=self.database)
            dash.until("curves", lambda of: of["figures"] and of["figures"][0]["steps"] == [1])

    def both(self):
        with Dash(self.folder, "--db", self.url("ann")) as dash:
            facts = dash.until("facts", lambda of: "all" in of["database"])
            self.assertEqual((facts["step"], facts["database"]["all"]["machines"]), (3, 1001))
            self.assertEqual(facts["folder"]["samples"], [])
        # the database of another run is refused
        change = "update leat.run set samples = samples %s 1"
        self.server.sql(change % "+", database=self.database)
        done = leat("dash", self.folder, "--db", self.url("ann"), "--listen", "127.0.0.1:0",
                    status=2)
        self.assertIn("are different runs", done.stderr)
        self.server.sql(change % "-", database=self.database)
        # and one that says the same of itself, but has other weights: with other data, say
        self.server.sql("update leat.step set state_hash = translate(state_hash, "
                        "'0123456789abcdef', '123456789abcdef0')", database=self.database)
        done = leat("dash", self.folder, "--db", self.url("ann"), "--listen", "127.0.0.1:0",
                    status=2)
        self.assertIn("are different runs", done.stderr)
        self.assertIn("their weights differ after the same step", done.stderr)

    def one_more(self):
        """Of a run that is open, for an hour: of its 1001 machines one has finished units."""
        self.server.sql("update leat.run set state = 'open', hold_ms = 3600000, "
                        "coordinator_until = leat.clock() + interval '59 minutes'",
                        database=self.database)
        with Dash("--db", self.url("ann")) as dash:
            of = dash.until("facts", lambda of: "all" in of["database"])["database"]
            self.assertTrue(of["coordinated"])
            self.assertEqual((of["all"]["machines"], of["one_more"]["machines"]), (1001, 1))

    def test_refused(self):
        done = leat("dash", "--db", self.url("nobody"), status=2)
        self.assertIn("nobody", done.stderr)


if __name__ == "__main__":
    unittest.main()
