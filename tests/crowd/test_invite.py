"""leat invite and leat revoke, on a server that asks volunteers for their passwords: what the login
may do, names that are SQL, and whoever is revoked in the middle of a run."""
import base64
import ctypes
import re
import signal
import socket
import struct
import threading
import unittest

import server
from listening import own_address
from runs import Runs

from command import leat

server.require()

ADDRESS = own_address()
# Only "owner" is let in without a password.
HBA = (f"host all owner 127.0.0.1/32 trust\nhost all owner {ADDRESS}/32 trust\n"
       "host all all 127.0.0.1/32 scram-sha-256\n")

# A unit is out, for the only machine; as leat.claim gives it to whoever has the machine's session.
CLAIM = ("update leat.unit set state = 'out' where state = 'ready'",
         "insert into leat.lease (run, step, unit, account, machine, epoch, kind, granted_at, "
         "renewed_at, until) select u.run, u.step, min(u.unit), m.account, m.id, 1, 'work', "
         "leat.clock(), leat.clock(), leat.clock() + interval '9 minutes' from leat.unit u, "
         "leat.machine m where u.state = 'out' group by u.run, u.step, m.account, m.id",
         "update leat.unit u set state = 'ready' where state = 'out' and not exists (select from "
         "leat.lease l where l.unit = u.unit and l.state = 'live')")


LIMIT_OF_ANN = "select rolconnlimit from pg_roles where rolname = 'ann'"


class Invite(Runs):
    settings = ("max_connections=100", "log_statement=all",
                f"listen_addresses=127.0.0.1,{ADDRESS}")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.database()
        cls.server.sql("drop role ann", "drop role bob")
        with open(f"{cls.server.data}/pg_hba.conf", "w", encoding="ascii") as file:
            file.write(HBA)
        cls.server.process.send_signal(signal.SIGHUP)
        cls.server.sql("select pg_reload_conf()")

    def invite(self, login, *words, status=0, url=None):
        return leat("invite", login, "--db", url or self.url(), *words, status=status)

    def ticket(self, login, *words):
        """Of a volunteer, who is removed at the end."""
        done = self.invite(login, *words)
        self.addCleanup(leat, "revoke", login, "--db", self.url())
        line = re.fullmatch(r"leat-worker (leat1:[A-Za-z0-9_-]+)( --data DIR)?\n", done.stdout)
        self.assertTrue(line, done.stdout)
        self.assertIn("send it to nobody else", done.stderr)
        self.assertNotIn("from this machine", done.stderr)
        return line[1]

    def password(self, ticket):
        word = ticket.removeprefix("leat1:")
        record = base64.urlsafe_b64decode(word + "=" * (-len(word) % 4))
        return re.search(rb"ann ([0-9a-f]{32})", record)[1].decode()

    def hold(self, ticket):
        """A session of ann with a transaction that keeps her login from being changed."""
        session = self.server.session(self.database, f"ann:{self.password(ticket)}")
        self.addCleanup(session.communicate)
        session.stdin.write("set idle_in_transaction_session_timeout = 0; begin; alter role ann "
                            "password 'y'; select 1;\n")
        session.stdin.flush()
        self.assertEqual(session.stdout.readline(), "1\n")

    def revoke(self, login, status=0):
        return leat("revoke", login, "--db", self.url(), status=status)

    def test_works(self):
        """The only thing that a volunteer has is the ticket; then it is good for nothing."""
        steps = 4
        coordinator = self.coordinate(steps, "--name", "night")
        self.until_open(coordinator)
        self.assertIn('the database has no open run "none"',
                      self.invite("eve", "--run", "none", status=1).stderr)
        ticket = self.ticket("ann", "--run", "night")
        worker = self.work(url=f"leat-worker {ticket}")  # the line, in quotes
        worker.until('works on "night"')
        self.expect(coordinator, steps)
        self.assertEqual(self.ask("select distinct account from leat.workers"), "ann")
        worker.end()
        done = self.revoke("ann")
        self.assertIn("removed   ann\n", done.stdout)
        self.assertIn("results   0 of the open step discarded, 0 of it already counted\n",
                      done.stdout)
        worker = self.work(url=ticket)
        worker.end(2)
        self.assertIn('password authentication failed for user "ann"', worker.said)

    def test_rights(self):
        """A login that may connect, with limits; the server has no password, and no log has one."""
        password = self.password(self.ticket("ann", "--machines", "2"))
        said = self.ask("select rolsuper, rolcreatedb, rolcreaterole, rolreplication, "
                        "rolbypassrls, rolconnlimit, rolcanlogin from pg_roles where rolname = "
                        "'ann'")
        self.assertEqual(said, "f|f|f|f|f|3|t")
        self.assertRegex(self.ask("select rolpassword from pg_authid where rolname = 'ann'"),
                         r"^SCRAM-SHA-256\$")
        said = self.ask("select array_to_string(setconfig, ' ') from pg_db_role_setting where "
                        "setrole = 'ann'::regrole")
        for setting in ("statement_timeout=60s", "lock_timeout=30s", "temp_file_limit=64MB",
                        "idle_in_transaction_session_timeout=60s"):
            self.assertIn(setting, said)
        self.assertTrue(any("SCRAM-SHA-256$" in line for line in self.server.lines))
        self.assertFalse(any(password in line for line in self.server.lines))

    def test_names(self):
        """Names are data: quotes, formats, SQL, blanks, letters of other alphabets."""
        for name in ("Ann O'Hara", 'a"b', "%s%1$I%%", "\\", "x; drop role owner", "Zoë Ž",
                     "a" * 63):
            with self.subTest(name):
                self.ticket(name)
                self.assertEqual(self.ask("select count(*) from pg_roles where rolname = "
                                          f"$x${name}$x$"), "1")
                self.assertEqual(self.revoke(name).stdout.splitlines()[0], f"removed   {name}")
        self.assertEqual(self.ask("select count(*) from pg_roles where rolname = 'owner'"), "1")

    def test_refused(self):
        ticket = self.ticket("ann")
        self.server.sql("create role carol login", "create role peter login password 'x'")
        self.addCleanup(self.server.sql, "drop role carol", "drop role peter")
        for words, status, said in (
                (["ann"], 1, '"ann" was invited already: use --new-password'),
                (["carol", "--new-password"], 1, "that leat invite did not create"),
                (["owner"], 1, "that leat invite did not create"),
                (["pg_x"], 2, 'role name "pg_x" is reserved'), ([""], 2, "1 to 63 bytes"),
                (["a" * 64], 2, "1 to 63 bytes"), (["a\n"], 2, "1 to 63 bytes"),
                (["zoe", "--new-password"], 1, 'nobody was invited as "zoe"'),
                (["ann", "--machines", "2", "--run", "x"], 1, "--machines alone"),
                (["eve", "--run", "r" * 65], 2, "is not the name of a run"),
                (["eve", "--run", "a run"], 2, "is not the name of a run"),
                (["eve", "--machines", "0"], 2, "--machines"),
                (["eve", "--machines", "65"], 2, "--machines")):
            with self.subTest(words):
                self.assertIn(said, self.invite(*words, status=status).stderr)
        for word in ("invite", "revoke"):
            self.assertIn("--db @RUN/database/invite.url",
                          leat(word, "ann", "--db", "local", status=2).stderr)
            done = leat(word, "ann", "--db", ticket, status=2)
            self.assertIn("--db is a volunteer's ticket; use the URL of the owner", done.stderr)
        carol = "not created by leat invite, so leat does not remove it; remove it with REVOKE " \
                f'CONNECT ON DATABASE {self.database} FROM carol; DROP ROLE carol;'
        for word, said in (("carol", carol), ("none", "no login"),
                           ("owner", "not created by leat invite")):
            self.assertIn(said, leat("revoke", word, "--db", self.url()).stderr)
        self.assertEqual(self.ask("select count(*) from pg_roles where rolname = 'eve'"), "0")
        ann = self.server.url(self.database, "peter").replace("peter@", "peter:x@")
        self.assertIn("use the URL of a superuser", self.invite("eve", url=ann, status=2).stderr)

    def test_not_verified(self):
        """A ticket for other machines says how the server is verified, or there is none."""
        if ADDRESS.startswith("127."):
            self.skipTest("this machine has no other address")
        url = f"postgresql://owner@{ADDRESS}:{self.server.port}/{self.database}"
        for more in ("", "?sslmode=disable"):
            done = self.invite("eve", url=url + more, status=2)
            self.assertIn("the connection to the server is not encrypted, so a ticket could not "
                          "say how the server is verified; add sslmode=verify-full", done.stderr)
        self.assertEqual(self.ask("select count(*) from pg_roles where rolname = 'eve'"), "0")

    def test_who_is_there(self):
        """A worker that waits: its session is ended, and it tries in vain to come back, because a
        login may be restored, too."""
        coordinator = self.coordinate(1)
        self.until_open(coordinator)
        ticket = self.ticket("ann")
        self.ask("update leat.run set state = 'paused'")
        said = leat("doctor", "--db", ticket, status=0).stdout
        self.assertIn("rights: ann may work, but not coordinate", said)
        self.assertNotIn("for a coordinator", said)
        worker = self.work(url=ticket)
        worker.until("works on")
        self.assertIn("ended     1 session, 0 leases\n", self.revoke("ann").stdout)
        worker.until("trying again until it succeeds")
        self.assertRegex(worker.said, r'FATAL: .*"ann"')

    def test_new_password(self):
        first = self.ticket("ann")
        second = self.invite("ann", "--new-password", "--machines", "1")
        self.assertIn("its earlier ticket no longer works: its sessions were ended", second.stderr)
        self.assertIn("the ticket works only on this machine", second.stderr)
        self.assertEqual(leat("status", "--db", first).returncode, 2)
        second = second.stdout.split()[1]
        self.assertIn("no run was coordinated", leat("status", "--db", second).stderr)
        self.assertEqual(self.ask(LIMIT_OF_ANN), "2")
        self.invite("ann", "--new-password")
        self.assertEqual(self.ask(LIMIT_OF_ANN), "2")

    def test_more_machines(self):
        """The ticket stays good, so that none is printed."""
        ticket = self.ticket("ann")
        self.assertEqual(self.ask(LIMIT_OF_ANN), "5")
        done = self.invite("ann", "--machines", "8")
        self.assertEqual(done.stdout, "")
        self.assertIn('"ann" may work with 8 machines at a time from now on', done.stderr)
        self.assertEqual(self.ask(LIMIT_OF_ANN), "9")
        self.assertIn("no run was coordinated", leat("status", "--db", ticket).stderr)

    def test_new_password_ends_sessions(self):
        """Whoever has the earlier ticket is put out at once, also who waits: a machine more than
        asked for does not take the connection for checks."""
        coordinator = self.coordinate(1)
        self.until_open(coordinator)
        ticket = self.ticket("ann", "--machines", "1")
        self.ask("update leat.run set state = 'paused'")
        workers = [self.work(url=ticket).until("works on"), self.work(url=ticket)]
        workers[1].until('1 machine works with the login "ann" already, as many as it is for;')
        self.until("select count(*) = 1 from pg_stat_activity where usename = 'ann'", coordinator)
        # the machine that waits has the connection for checks for a moment, whenever it asks again
        self.assertTrue(any(leat("status", "--db", ticket).returncode == 0 for _ in range(50)))
        # when the first one ends, it is next; nothing is said of poolers
        workers[0].end(1, signal.SIGINT)
        workers[1].until("works on")
        self.assertNotIn("pooler", workers[1].said)
        workers[0] = self.work(url=ticket).until("works with the login")
        self.invite("ann", "--new-password")
        self.until("select count(*) = 0 from pg_stat_activity where usename = 'ann'", coordinator)
        for worker in workers:
            worker.until('password authentication failed for user "ann"')

    def test_who_holds_the_login(self):
        """A transaction in which a login changes itself keeps nobody from changing it."""
        self.hold(self.ticket("ann"))
        second = self.invite("ann", "--new-password", status=0).stdout.split()[1]
        self.hold(second)
        self.assertIn("ended     1 session, 0 leases\n", self.revoke("ann").stdout)

    def test_what_a_login_gives_itself(self):
        """Without any right; it keeps nobody from removing the login."""
        login = f"ann:{self.password(self.ticket('ann'))}"
        self.server.sql("alter default privileges grant select on tables to public",
                        "select lo_create(0)", database=self.database, login=login)
        self.revoke("ann")
        self.assertEqual(self.ask("select count(*) from pg_roles where rolname = 'ann'"), "0")

    def test_who_owns_something(self):
        """It is let in no more, and stays until that is gone."""
        self.ticket("ann")
        self.server.sql("create table public.kept ()", "alter table public.kept owner to ann",
                        database=self.database)
        done = self.revoke("ann", 1)
        self.assertIn("it owns or has rights on: table public.kept", done.stderr)
        self.assertEqual(self.ask("select rolcanlogin from pg_roles where rolname = 'ann'"), "f")
        self.server.sql("drop table public.kept", database=self.database)
        self.revoke("ann")

    def test_in_the_middle(self):
        """One result of the step is not judged yet, and a unit is out: both are another machine's
        at once, and the weights are those of one machine."""
        steps = 2
        self.times = ["--hold-ms", "1000", "--poll-ms", "5"]
        coordinator = self.coordinate(steps)
        self.until_open(coordinator)
        ann, bob = self.ticket("ann"), self.ticket("bob <i>2</i>")
        coordinator.process.send_signal(signal.SIGSTOP)
        self.addCleanup(coordinator.process.send_signal, signal.SIGCONT)
        self.work("--once", url=ann).end()
        self.server.sql(*CLAIM, database=self.database)
        self.assertEqual(self.ask("select count(*) from leat.unit where state = 'done'"), "1")
        done = self.revoke("ann")
        self.assertIn("ended     0 sessions, 1 lease\n", done.stdout)
        self.assertIn("results   1 of the open step discarded, 0 of it already", done.stdout)
        self.assertEqual(self.ask("select count(*) from leat.unit where state = 'done'"), "0")
        coordinator.process.send_signal(signal.SIGCONT)
        self.work(url=bob)
        self.expect(coordinator, steps)
        with open(f"{self.folder}/report.html", encoding="utf-8") as file:
            page = file.read()
        self.assertIn('<td class="text">bob &lt;i&gt;2&lt;/i&gt;</td><td>6</td><td>100.0 %</td>'
                      '<td>0</td>', page)
        self.assertNotIn("127.0.0.1", page)


class Squatter(unittest.TestCase):
    """Another program on the port of a server that has ended."""

    def test_gets_no_password(self):
        if ctypes.CDLL("libpq.so.5").PQlibVersion() < 160000:
            self.skipTest("libpq before 16 sends its password to whoever asks")
        heard = []

        def serve(listener):
            with listener.accept()[0] as client:
                client.recv(4096)
                client.sendall(b"R" + struct.pack("!ii", 8, 3))  # AuthenticationCleartextPassword
                heard.append(client.recv(4096))

        with socket.create_server(("127.0.0.1", 0)) as listener:
            thread = threading.Thread(target=serve, args=[listener], daemon=True)
            thread.start()
            port = listener.getsockname()[1]
            done = leat("status", "--db", f"postgresql://admin:s3cret@127.0.0.1:{port}/leat"
                        "?sslmode=disable&require_auth=scram-sha-256")
            thread.join(60)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(heard, [b""])


if __name__ == "__main__":
    unittest.main()
