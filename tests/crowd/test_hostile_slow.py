"""A login that hands in other numbers than its units give: the run ends with the weights of one
machine, and names the login. What the login uploads is changed on its way into the database.
"""
import contextlib
import itertools
import json
import shutil
import struct
import threading
import time
import unittest

from server import require

from command import LIMIT, leat
from runs import Runs

STEPS, HEADER = 6, 128
# Of the results of bob, from the named steps: bytes overwrite those from a place on, which counts
# from 0, or if it is negative from the end. Before the rest of leat.submit.
CHANGE = """
declare
  changed text;
begin
  select * into l from leat.lease where lease = p_lease;
  changed := format('leat.part_%s_%s', l.run, l.step % 2);
  if session_user = 'bob' and l.step in ({steps}) then
    execute format('update %s set bytes = overlay(bytes placing $1 from case when $2 < 0 then
                    octet_length(bytes) + $2 + 1 else $2 + 1 end) where lease = $3 and part = 0',
                   changed) using decode('{bytes}', 'hex'), {at}, p_lease;
    execute format('select encode(sha256(string_agg(bytes, '''' order by part)), ''hex'')
                    from %s where lease = $1', changed) into p_hash using p_lease;
  end if;
end;
"""


def bf16(value):
    """As the gradient of a result has it."""
    return struct.pack("<f", value)[2:]


LARGE = bf16(1e4) * 8
USUAL = " is usual at most, and the unit gives another result"


class Hostile(Runs):
    times = ["--poll-ms", "5", "--hold-ms", "1000"]

    def change(self, changed, at, steps):
        """bob's results of these steps will be changed; all others are right."""
        submit = self.ask("select pg_get_functiondef('leat.submit'::regproc)")
        change = CHANGE.format(bytes=changed.hex(), at=at, steps=steps)
        self.server.sql(submit.replace("\nbegin\n", "\nbegin\n" + change, 1),
                        database=self.database)

    def finish(self, coordinator, words, refused=1):
        """bob works, and is joined by ann when he was refused: with the right state, and his name.
        """
        bob = self.work(url=self.url("bob"))
        coordinator.until(" of bob is refused: ")
        ann = self.work()
        result = self.expect(coordinator, STEPS)
        for worker in (ann, bob):
            worker.end()
        self.assertIn(words, coordinator.said)
        self.assertNotIn("training has diverged", coordinator.said)
        self.assertGreaterEqual(result["units_refused"], refused)
        self.assertGreaterEqual(result["units_computed_here"], result["units_refused"])
        self.assertEqual(self.ask("select string_agg(distinct account, ' ') from leat.event where "
                                  "kind = 'refused'"), "bob")
        self.assertEqual(self.ask("select name from leat.account where mismatched > 0"), "bob")
        events = json.loads(leat("status", "--db", self.url(), "--json", status=0).stdout)["events"]
        self.assertIn(words, events[0]["words"])

    def run_with(self, changed, at, steps, words, refused=1):
        self.begin()
        coordinator = self.coordinate(STEPS)
        self.until_open(coordinator)
        self.change(changed, at, steps)
        self.finish(coordinator, words, refused)

    def test_squares_that_overflow(self):
        """Adam's second moment would be infinite, and the weights would never change again."""
        for value in (3.3e38, -1e30):
            self.run_with(bf16(value), HEADER + 20, "0, 3",
                          "the gradient is too large to be squared, and the unit gives another "
                          "result")

    def test_larger_than_usual(self):
        """From the first step on, of which the coordinator computes a unit to judge by."""
        self.run_with(LARGE, HEADER + 20, "0", USUAL)
        self.run_with(LARGE, HEADER + 20, "2, 3", USUAL)

    def test_two_that_diverge_together(self):
        """Each sum is finite, and that of both is not: these units alone are computed here, before
        the step is taken."""
        self.run_with(struct.pack("<d", 1.7e308), -24, "1, 2",
                      "loss_d_images is too large to be squared, and the unit gives another result",
                      2)

    def test_what_is_usual_is_not_forgotten(self):
        """By a coordinator that has only RUN, or only the database."""
        for lost in ("database", "folder"):
            with self.subTest(lost):
                self.begin()
                first = self.coordinate(STEPS, "--checkpoint-every", 1, "--state-ms", 0)
                self.until_open(first)
                ann = self.work()
                self.until_step(3, first)
                first.kill()
                ann.kill()
                if lost == "database":
                    self.server.sql(f"drop database {self.database} with (force)",
                                    f"create database {self.database}")
                else:
                    shutil.rmtree(self.folder)
                second = self.coordinate(STEPS, "--resume")
                second.until("is open")
                at = int(self.ask("select step from leat.run"))
                self.assertGreaterEqual(at, 1)
                self.change(LARGE, HEADER + 20, at)
                self.finish(second, USUAL)

    def test_transaction_left_open(self):
        """It blocks every step, and its session ends; the third time its login gets no units. The
        coordinator is no superuser."""
        self.server.sql("create role boss login", "grant pg_signal_backend to boss",
                        f"grant create on database {self.database} to boss")
        coordinator = self.coordinate(STEPS, url=self.url("boss"))
        self.until_open(coordinator)
        self.server.sql("insert into leat.account (name, blocks, blocks_since) values ('bob', 2, "
                        "leat.clock())", database=self.database)
        machine = "b" * 32
        with self.server.session(self.database, "bob") as session:
            session.stdin.write(f"select leat.register('', '{machine}', '', 'b', '') is null; "
                                f"begin; select lease from leat.claim(1, '{machine}', 0);\n")
            session.stdin.flush()
            session.stdout.readline()
            self.assertRegex(session.stdout.readline(), "^1$")
            ann = self.work()
            coordinator.until(' blocked the run for 10 s, and was ended: login "bob", which gets '
                              "no units for an hour; an administrator can keep it out: ALTER ROLE "
                              "bob NOLOGIN;\n")
            session.stdin.close()
            session.wait(LIMIT)
        bob = self.work(url=self.url("bob"))
        bob.until(": it blocked the run three times within an hour\n")
        self.expect(coordinator, STEPS)
        ann.end()
        self.assertEqual(bob.end().count("units 0 handed in"), 1)
        events = json.loads(leat("status", "--db", self.url(), "--json", status=0).stdout)["events"]
        self.assertEqual((events[0]["kind"], events[0]["account"]), ("blocked", "bob"))

    def blocker(self, session, machine):
        """A transaction that has the run locked, in a session of psql."""
        session.stdin.write(f"select leat.register('', '{machine}', '', 'b', '') is null; begin; "
                            f"select 'has', lease from leat.claim(1, '{machine}', 0);\n")
        session.stdin.flush()
        while line := session.stdout.readline():
            if line.startswith("has"):
                return

    def test_transaction_of_a_login_that_is_dropped(self):
        """It was left open before the coordinator began, which finds it nevertheless."""
        self.server.sql("create role carl login")
        first = self.coordinate(STEPS)
        self.until_open(first)
        first.kill()
        with self.server.session(self.database, "carl") as session:
            self.blocker(session, "c" * 32)
            self.server.sql("drop role carl")
            second = self.coordinate(STEPS, "--resume")
            second.until(' blocked the run for 10 s, and was ended: login "dropped role ')
            session.stdin.close()
            session.wait(LIMIT)
        ann = self.work()
        self.expect(second, STEPS)
        ann.end()

    def test_transactions_that_take_turns(self):
        """One begins before the other one ends."""
        machines = ["b" * 32, "c" * 32]
        coordinator = self.coordinate(STEPS)
        self.until_open(coordinator)
        with self.server.session(self.database, "bob") as one, \
                self.server.session(self.database, "bob") as other:
            self.blocker(one, machines[0])
            ann = self.work()
            pairs = itertools.cycle([(one, other, 1), (other, one, 0)])
            with contextlib.suppress(BrokenPipeError):
                for before, after, machine in itertools.islice(pairs, int(LIMIT)):
                    if " blocked the run for 10 s, and was ended" in coordinator.said:
                        break
                    self.blocker(after, machines[machine])
                    before.stdin.write("rollback;\n")
                    before.stdin.flush()
                    time.sleep(1)
            for session in (one, other):
                with contextlib.suppress(BrokenPipeError):
                    session.stdin.close()
                session.wait(LIMIT)
        self.assertIn(' was ended: login "bob"', coordinator.said)
        self.expect(coordinator, STEPS)
        ann.end()

    def go_on(self, number, ended):
        """Opens one session after the other that blocks, as long as the server lets it."""
        machine = str(number) * 32
        self.server.sql(f"select leat.register('', '{machine}', '', 'b', '')",
                        database=self.database, login="bob")
        while not ended.is_set():
            with contextlib.suppress(AssertionError):  # the session is ended
                self.server.sql(f"select leat.register('', '{machine}', '', 'b', ''); begin; "
                                f"select leat.claim(1, '{machine}', 0); select pg_sleep(1.5)",
                                database=self.database, login="bob")

    def test_sessions_without_end(self):
        """New ones begin while those before are ended: the third time their login is kept out, and
        the run goes on."""
        coordinator = self.coordinate(STEPS)
        self.until_open(coordinator)
        ann, ended = self.work(), threading.Event()
        threads = [threading.Thread(target=self.go_on, args=[number, ended])
                   for number in range(1, 5)]
        try:
            for thread in threads:
                thread.start()
            # the run may be over before the third time
            while coordinator.alive() and "no units for an hour" not in coordinator.said:
                time.sleep(0.1)
            self.expect(coordinator, STEPS)
            ann.end()
        finally:
            ended.set()
            for thread in threads:
                thread.join(LIMIT)
            can = self.ask("select rolcanlogin from pg_roles where rolname = 'bob'")
            self.server.sql("alter role bob login")
        self.assertIn(' was ended: login "bob"', coordinator.said)
        self.assertEqual(can, "f")


if __name__ == "__main__":
    require()
    unittest.main()
