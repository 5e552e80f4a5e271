"""leat doctor --db: what it finds out about a database, each line that it prints to mend something,
and the exit status. The server and what is wrong with it are the test's own.
"""
import contextlib
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

import server
from server import Pooler, Proxy, Server
import image_set
import json_schema
from command import LEAT, LIMIT, ROOT, leat

server.require()

SCHEMA = [os.path.join(ROOT, "src", "crowd", name) for name in ("schema.sql", "schema_limits.sql",
                                                              "schema_owner.sql")]


class Doctor(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="leat-doctor-")
        cls.server = Server("max_prepared_transactions=5", "wal_level=logical",
                            "max_connections=37", "autovacuum=off")  # its workers count
        cls.server.sql("create role boss login createdb", "create role ann login",
                       "create role carl login")
        cls.count = 0
        cls.schemas = json_schema.Schemas()

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        shutil.rmtree(cls.folder)

    def database(self, schema=True):
        """A database of boss, with the schema or not."""
        type(self).count += 1
        name = f"d{self.count}"
        self.server.sql(f"create database {name} owner boss")
        if schema:
            for path in SCHEMA:
                with open(path, encoding="utf-8") as file:
                    self.server.sql(file.read(), database=name, login="boss")
        return name

    def doctor(self, url, status=0, workers=None, **facts):
        """Its findings and facts; those given must be so."""
        words = [] if workers is None else ["--workers", workers]
        done = leat("doctor", "--db", url, "--json", *words, status=status)
        said = self.schemas.check_text("doctor", done.stdout)
        self.assertEqual(said["problems"] > 0, status == 1)
        self.assertEqual({key: said["database"][key] for key in facts}, facts)
        return said

    def at(self, name, login, status=0, **facts):
        return self.doctor(self.server.url(name, login), status, **facts)

    def finding(self, said, begin, verdict):
        found = [f for f in said["findings"] if f["what"].startswith(begin)]
        self.assertTrue(found, f"{begin}: {said}")
        self.assertEqual(found[0]["verdict"], verdict, found)
        return found[0]

    def mend(self, todo, begin, name):
        """Runs the SQL that a finding prints after these words."""
        lines = re.findall(r"(?:GRANT|REVOKE|ALTER|SELECT|ROLLBACK) [^;]*;",
                           todo[todo.index(begin):])
        self.assertTrue(lines, todo)
        self.server.sql(*lines, database=name)

    # ---- reaching it

    def test_not_reached(self):
        name, good = self.database(False), self.server
        for url, failed, says in (
                (good.url(name, "nobody"), "login", 'role "nobody" does not exist'),
                (good.url("nowhere", "ann"), "database", "does not exist"),
                (f"postgresql://ann@127.0.0.1:{server.free_port()}/x", "connection", "refused"),
                ("postgresql://ann@nowhere.invalid/x", "name", "nowhere.invalid")):
            said = self.doctor(url, 1, failed=failed, can_work=False, can_coordinate=False,
                               server_version=0, pooler="unknown", tls="", open_runs=None)
            found = self.finding(said, f"{failed}: ", "problem")
            self.assertIn(says, found["what"])
            self.assertTrue(found["do"])

    def test_only_ipv6(self):
        """An address that a machine without IPv6 does not reach is named as that."""
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as s:
            try:
                s.connect(("2001:db8::1", 9))  # sends nothing
                self.skipTest("this machine has a route for IPv6")
            except OSError:
                pass
        said = self.doctor("postgresql://ann@[2001:db8::1]/x", 1, failed="connection")
        self.assertIn("has only IPv6 addresses, and this machine has no route to them",
                      self.finding(said, "connection: ", "problem")["do"])

    def test_no_right_to_connect(self):
        name = self.database()
        self.server.sql(f"revoke connect on database {name} from public")
        said = self.at(name, "ann", 1, failed="database")
        self.mend(self.finding(said, "database: ", "problem")["do"], "GRANT", name)
        self.at(name, "ann", failed="", can_work=True)

    def test_everybody_may_connect(self):
        """As to a new database; the printed lines end that, and let those in who shall work."""
        name = self.database()
        said = self.at(name, "carl", public_may_connect=True, can_work=True)
        found = self.finding(said, "access: every login of this server", "note")
        self.mend(found["do"].replace("TO LOGIN;", "TO ann;"), "REVOKE", name)
        said = self.at(name, "ann", public_may_connect=False, can_work=True)
        self.finding(said, "access: only logins with a grant", "ok")
        self.at(name, "boss", can_coordinate=True)
        self.at(name, "carl", 1, failed="database")

    def test_what_volunteers_may_do(self):
        """On a server that is not leat's, until its superuser runs what is printed."""
        name = self.database()
        self.server.sql(f"grant connect on database {name} to ann", "grant create on schema public "
                        "to public", database=name)
        self.finding(self.at(name, "owner"), "invitations: owner may create logins", "ok")
        said = self.at(name, "boss")
        self.assertIn("ALTER ROLE boss CREATEROLE;",
                      self.finding(said, "invitations: boss may not", "note")["do"])
        for begin in ("creation: every login may create tables of any kind", "functions: every"):
            self.finding(said, begin, "note")
        self.assertIn("leat coordinate --roles-sql", self.finding(said, "creation: ", "note")["do"])
        self.mend(self.finding(said, "limits: ", "note")["do"], "ALTER", name)
        self.addCleanup(self.server.sql, "revoke pg_signal_backend from boss",
                        "alter role ann connection limit -1")
        sql = leat("coordinate", "--roles-sql", status=0).stdout
        self.server.sql(sql, sql, database=name)
        said = self.at(name, "boss", public_may_connect=False)
        for begin in ("creation: nobody but", "functions: large objects", "sessions: ",
                      "limits: every login"):
            self.finding(said, begin, "ok")
        self.at(name, "carl", 1, failed="database")
        self.finding(self.at(name, "ann", can_work=True), "TLS: none", "ok")

    def test_who_may_connect_without_tls(self):
        """A superuser sees the rules for other machines."""
        name, rules = self.database(), f"{self.server.data}/pg_hba.conf"
        with open(rules, encoding="utf-8") as file:
            before = file.read()
        self.addCleanup(self.rules, before)
        for rule, verdict in (("hostssl all all all scram-sha-256", "ok"),
                              ("host all all 10.0.0.0/8 scram-sha-256", "note"),
                              ("host all all 10.0.0.0/8 reject", "ok")):
            with self.subTest(rule):
                self.rules(f"{before}{rule}\n")
                self.finding(self.at(name, "owner"), "encryption: ", verdict)

    def rules(self, text):
        with open(f"{self.server.data}/pg_hba.conf", "w", encoding="utf-8") as file:
            file.write(text)

    def test_wrong_usage(self):
        self.assertIn("is named as", leat("doctor", "--db", "class", status=2).stderr)
        done = leat("doctor", "--db", self.server.url("x"), "--kernels", status=2)
        self.assertIn("run leat doctor once for each", done.stderr)
        self.assertIn("give --db", leat("doctor", "--workers", 3, status=2).stderr)

    def test_commands_end_when_the_login_is_refused(self):
        """They do not try for ever."""
        done = leat("work", self.server.url("postgres", "nobody"), "--data", self.folder, "--key",
                    f"{self.folder}/key", status=2)
        self.assertIn('role "nobody" does not exist', done.stderr)

    def test_old_server(self):
        """A proxy makes the server say that it is version 12."""
        old = lambda data: re.sub(rb"(server_version\0)\d\d", rb"\g<1>12", data)
        proxy = Proxy(self.server.port, old)
        self.addCleanup(proxy.stop)
        said = self.doctor(proxy.url("postgres"), 1, can_work=False, can_coordinate=False)
        self.assertIn("13 or newer", self.finding(said, "server: PostgreSQL 12", "problem")["do"])

    # ---- poolers

    def pooler(self, mode, *settings):
        if not server.find_pooler():
            self.skipTest("no pgbouncer (scripts/install.sh --gate installs it)")
        pooler = Pooler(self.server, mode, ["owner", "ann"], *settings)
        self.addCleanup(pooler.stop)
        return pooler

    def test_poolers(self):
        name = self.database()
        self.finding(self.at(name, "ann", pooler="none"), "pooler: none", "ok")
        url = self.pooler("session").url(name, "ann")
        said = self.doctor(url, pooler="session", can_work=True)
        self.assertIn("default_pool_size", self.finding(said, "pooler: session", "ok")["do"])
        said = self.doctor(url, workers=30, pooler="session")
        self.assertIn("must have 32 connections", self.finding(said, "pooler: ", "ok")["what"])
        for mode in ("transaction", "statement"):
            url = self.pooler(mode).url(name, "ann")
            said = self.doctor(url, 1, pooler=mode, can_work=False, can_coordinate=False)
            found = self.finding(said, f"pooler: a {mode} pooler", "problem")
            self.assertIn("pool_mode = session", found["do"])

    def test_full_session_pool(self):
        """There is no second connection: not known, which does not keep anybody from working."""
        pooler = self.pooler("session", "default_pool_size = 1", "query_wait_timeout = 1")
        said = self.doctor(pooler.url(self.database(), "ann"), pooler="unknown", can_work=True)
        self.finding(said, "pooler: not known", "note")

    # ---- encryption

    def test_tls(self):
        if not shutil.which("openssl"):
            self.skipTest("no openssl")
        key, certificate = f"{self.folder}/key.pem", f"{self.folder}/certificate.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", certificate,
                        "-days", "3650", "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=DNS:localhost"], check=True, capture_output=True,
                       timeout=LIMIT)
        if self.server.user:
            os.chmod(self.folder, 0o755)
            os.chown(key, self.server.user.pw_uid, self.server.user.pw_gid)
        with_tls = Server("ssl=on", f"ssl_cert_file={certificate}", f"ssl_key_file={key}")
        self.addCleanup(with_tls.stop)
        url = f"postgresql://owner@localhost:{with_tls.port}/postgres?hostaddr=127.0.0.1&sslmode="
        said = self.doctor(f"{url}require", loopback=True, certificate_verified=False)
        self.assertRegex(said["database"]["tls"], r"^TLSv1\.[23]$")
        self.assertIn("verify-full", self.finding(said, "TLS: TLSv1", "note")["do"])
        said = self.doctor(f"{url}verify-full&sslrootcert={certificate}", certificate_verified=True)
        self.finding(said, "TLS: TLSv1", "ok")
        said = self.doctor(f"{url}disable", tls="")
        self.assertIn("nothing leaves", self.finding(said, "TLS: none", "ok")["what"])

    def test_not_encrypted_to_another_host(self):
        """This machine by its own address; only that address and a login without rights may."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            try:
                s.connect(("192.0.2.1", 9))  # sends nothing
            except OSError:
                self.skipTest("no network interface besides the loopback")
            mine = s.getsockname()[0]
        if mine.startswith("127."):
            self.skipTest("no network interface besides the loopback")
        other = Server(f"listen_addresses=127.0.0.1,{mine}")
        self.addCleanup(other.stop)
        other.sql("create role ann login")
        with open(f"{other.folder}/data/pg_hba.conf", "a", encoding="ascii") as file:
            file.write(f"host all ann {mine}/32 trust\n")
        other.sql("select pg_reload_conf()")
        # a connection after the reload, in order: the postmaster reads its signals first
        url = f"postgresql://ann@{mine}:{other.port}/postgres"
        said = self.doctor(url, 1, loopback=False, tls="", failed="")
        found = self.finding(said, "TLS: none", "note")
        self.assertIn("password", found["what"])
        self.assertIn("sslmode=verify-full", found["do"])

    # ---- the schema and rights

    def test_no_schema(self):
        name = self.database(False)
        said = self.at(name, "boss", can_coordinate=True, can_work=False, schema_version=0)
        self.finding(said, "schema: none yet", "ok")
        said = self.at(name, "ann", 1, can_coordinate=False, can_work=False)
        self.mend(self.finding(said, "schema: none yet", "problem")["do"], "for a coordinator",
                  name)
        self.at(name, "ann", can_coordinate=True)

    def test_schema(self):
        name = self.database()
        said = self.at(name, "boss", can_coordinate=True, can_work=True, schema_version=7,
                       open_runs=0)
        self.finding(said, "runs: none is open", "note")
        self.at(name, "ann", can_coordinate=False, can_work=True, schema_version=7)
        for login in ("boss", "ann", "carl"):  # carl's rights are those of all
            text = leat("doctor", "--db", self.server.url(name, login), status=0).stdout
            self.assertRegex(text, r"(?m)^ok +verdict: runs can be")

    def test_rights_of_the_page(self):
        """What docs/crowd.md says of a login without rights, counted."""
        name, numbers = self.database(), {7: "seven", 13: "Thirteen", 15: "fifteen"}
        functions = "from pg_proc where pronamespace = 'leat'::regnamespace and "
        may = "has_function_privilege('carl', oid, 'execute')"
        relations = ("from pg_class where relnamespace = 'leat'::regnamespace and relkind in "
                     "('r', 'v') and has_table_privilege('carl', oid, 'select')")
        ask = lambda sql: self.server.sql(sql, database=name)
        with open(os.path.join(ROOT, "docs", "crowd.md"), encoding="utf-8") as file:
            page = " ".join(file.read().split())
        callable_, owned, views = (numbers[int(ask(f"select count(*) {rest}"))] for rest in (
            functions + may, functions + may + " and prosecdef", relations + " and relkind = 'v'"))
        self.assertIn(f"Workers may call {callable_} functions, read {views} views and the table "
                      "`version`, and have no other right in it. "
                      f"{owned} of the functions run with the owner's rights", page)
        self.assertEqual(ask(f"select relname {relations} and relkind = 'r'"), "version")
        self.assertEqual(ask(f"select string_agg(proname, ' ' order by proname) {functions} {may} "
                             "and not prosecdef"), "clock holds")
        self.assertEqual(ask(f"select count(*) {functions} not {may} and prosecdef"), "0")

    def test_another_version(self):
        name = self.database()
        self.server.sql("update leat.version set version = 8", database=name)
        said = self.at(name, "boss", 1, schema_version=8, can_coordinate=False, can_work=False)
        found = self.finding(said, "schema: version 8", "problem")
        self.assertIn("this leat needs 7", found["what"])
        self.assertIn("version of leat that created it", found["do"])

    def test_incomplete(self):
        """Every table, view and function that is not there is named."""
        name = self.database()
        functions = set(self.server.sql(
            "select distinct proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace "
            "where n.nspname = 'leat'", database=name).split())
        relations = set(self.server.sql(
            "select relname from pg_class c join pg_namespace n on n.oid = c.relnamespace where "
            "n.nspname = 'leat' and relkind in ('r', 'v')", database=name).split())
        self.server.sql("alter schema leat rename to old", "create schema leat", database=name)
        said = self.at(name, "owner", 1, can_coordinate=False, can_work=False)
        found = [f["what"] for f in said["findings"] if f["what"].startswith("schema: incomplete")]
        words = [set(re.sub(r"schema: incomplete: | missing|\(\)", "", text).split(", "))
                 for text in found]
        self.assertEqual(words, [relations, functions])
        self.server.sql("drop schema leat", "alter schema old rename to leat",
                        "drop function leat.submit", database=name)
        said = self.at(name, "ann", 1)
        self.assertEqual(self.finding(said, "schema: incomplete", "problem")["what"],
                         "schema: incomplete: submit() missing")

    def test_dump_that_is_restored(self):
        """What comes last in it is missing: keys, and before them the version."""
        name = self.database()
        self.server.sql("alter table leat.unit drop constraint unit_pkey",
                        "drop index leat.lease_unit", database=name)
        for what in ("the index lease_unit, the key of unit", "its version"):
            found = self.finding(self.at(name, "boss", 1, can_coordinate=False, can_work=False),
                                 "schema: incomplete", "problem")
            self.assertEqual(found["what"], f"schema: incomplete: {what} missing")
            self.assertRegex(found["do"], "^if a dump is being restored, wait for its end; "
                             "otherwise nothing is lost if its owner runs: DROP SCHEMA")
            self.server.sql("delete from leat.version", database=name)

    def test_worker_rights(self):
        name = self.database()
        self.server.sql("revoke usage on schema leat from public",
                        "revoke all on all functions in schema leat from public",
                        "revoke all on all tables in schema leat from public", database=name)
        said = self.at(name, "ann", 1, can_coordinate=False, can_work=False)
        rights, views = (self.finding(said, "rights: ", "problem"),
                         self.finding(said, "schema: version and runs are not known", "note"))
        self.mend(rights["do"].split("for a coordinator")[0], "for a worker", name)
        said = self.at(name, "ann", can_work=True, schema_version=None)
        self.mend(views["do"], "GRANT", name)
        self.at(name, "ann", can_work=True, can_coordinate=False, schema_version=7)
        self.at(name, "carl", 1, can_work=False)

    def test_coordinator_rights(self):
        """Membership in the owner's role is not enough, and after the printed lines a run works."""
        name = self.database()
        self.server.sql("create role dora login", "grant boss to dora")
        said = self.at(name, "dora", can_coordinate=False, can_work=True)
        self.mend(self.finding(said, "rights: dora may work", "ok")["do"], "for a coordinator",
                  name)
        self.at(name, "dora", can_coordinate=True, can_work=True)
        data, run = f"{self.folder}/faces", f"{self.folder}/run"
        image_set.make(data, 8, 64)
        words = [LEAT, "coordinate", run, "--db", self.server.url(name, "dora"), "--data", data,
                 "--width", "2", "--latent", "4", "--unit-size", "4", "--micro-batch", "4",
                 "--units", "1", "--steps", "2", "--sample-every", "0", "--poll-ms", "20"]
        with subprocess.Popen(words, stdout=subprocess.DEVNULL) as coordinator:
            while coordinator.poll() is None:
                done = leat("work", self.server.url(name, "ann"), "--data", data, "--key",
                            f"{self.folder}/ann.key", "--poll-ms", "20", "--threads", "1",
                            "--on-battery", "work")
                if done.returncode == 0:
                    break
                self.assertIn("no open run", done.stderr)
            self.assertEqual(coordinator.wait(LIMIT), 0)
        self.assertEqual(self.server.sql("select state from leat.run", database=name), "finished")

    # ---- what may run out

    def test_numbers(self):
        name = self.database()
        proxy = Proxy(self.server.port)
        self.addCleanup(proxy.stop)
        before = self.server.sql("select count(*) from pg_class", database=name)
        facts = self.doctor(proxy.url(name, "ann"))["database"]
        self.assertEqual(before, self.server.sql("select count(*) from pg_class", database=name))
        self.assertEqual(facts["connections_max"], 37)
        self.assertGreaterEqual(facts["connections"], 1)
        self.assertGreater(facts["database_bytes"], 1000000)
        self.assertIsNone(facts["free_bytes"])  # ann may not know where the files are
        for key in ("round_trip_seconds", "up_bytes_per_second", "down_bytes_per_second"):
            self.assertGreater(facts[key], 0)
        self.assertLess(abs(facts["clock_seconds"]), 3600)  # both clocks are this machine's
        for count in (proxy.up, proxy.down):
            self.assertTrue(64 << 10 < count < 6000000, count)
        self.assertEqual(proxy.connections, 2)  # the second one looks for a pooler
        self.assertGreater(self.at(name, "owner")["database"]["free_bytes"], 0)

    def run_of(self, name, units, payload, weights):
        """An open run of these sizes."""
        self.server.sql(
            f"select leat.create_run('run', '{'0' * 64}', '', 'dcgan', '', '', '', 1000, '', '', "
            f"{units}, 100, 5, {payload}, {weights}, 1, 1048576, 1, 1, 1, 1, 1, 0, '')",
            database=name, login="boss")

    @contextlib.contextmanager
    def counting(self):
        """Waits, when it is called, until there are so many connections besides its own: a
        backend ends a moment after its client."""
        with self.server.session("postgres", "owner") as watch:
            def settle(others=0):
                deadline, count = time.monotonic() + LIMIT, None
                while count != 1 + others:
                    self.assertLess(time.monotonic(), deadline, f"{count} connections")
                    watch.stdin.write("select sum(numbackends) from pg_stat_database;\n")
                    watch.stdin.flush()
                    count = int(watch.stdout.readline())
            yield settle
            watch.stdin.close()
            watch.wait(LIMIT)

    @contextlib.contextmanager
    def connected(self, name, login, application):
        with self.server.session(name, login) as session:
            session.stdin.write(f"set application_name = '{application}'; select 1;\n")
            session.stdin.flush()
            session.stdout.readline()
            yield
            session.stdin.close()
            session.wait(LIMIT)

    def test_how_many_workers(self):
        """What is left, less a coordinator; and a number that is printed is enough."""
        name = self.database()
        reserved, watching = 3, 1  # for superusers; the session that counts
        room = 37 - reserved - watching - 2  # a coordinator
        with self.counting() as settle:
            def at(workers=None, others=0, **facts):
                settle(others)
                return self.at(name, "ann", workers=workers, **facts)

            said = at(workers_fit=room)
            self.assertIn(f"room for {room} more workers (0 are connected)",
                          self.finding(said, "connections: ", "ok")["what"])
            said = at(room, workers_fit=room, workers_missing=0)
            self.finding(said, "connections: ", "ok")
            self.finding(said, "verdict: runs can be worked on", "ok")
            said = at(room + 4, workers_missing=4)
            self.assertEqual(self.finding(said, "verdict: ", "note")["what"],
                             f"verdict: runs can be worked on, but not by {room + 4} workers: "
                             "connections for 4 of them are missing")
            found = self.finding(said, "connections: ", "note")
            self.assertIn("raise max_connections to 41 or more", found["do"])
            # those that are there already
            with self.connected(name, "carl", "leat work"), \
                 self.connected(name, "boss", "leat coordinate"):
                said = at(room, others=2, workers_fit=room - 1)
                self.assertIn(f"(1 are connected, and {room - 1} are to come)",
                              self.finding(said, "connections: ", "ok")["what"])
            # one of leat's own that the server has not ended yet
            with self.connected(name, "ann", "leat (pooler check)"):
                at(others=1, workers_fit=room)

    def test_how_many_workers_of_a_database(self):
        name = self.database()
        self.server.sql(f"alter database {name} connection limit 6")
        with self.counting() as settle:
            def at(workers=None, **facts):
                settle()
                return self.at(name, "ann", workers=workers, **facts)

            at(workers_fit=4)
            found = self.finding(at(9), "connections: ", "note")
            self.mend(found["do"], "its owner", name)
            said = at(9, workers_fit=9)
            self.finding(said, "connections: ", "ok")
            self.assertIn("connections: this database may have 11",
                          [f["what"] for f in said["findings"]])

    def test_what_it_costs(self):
        name = self.database()
        said = self.at(name, "ann", workers=30, step_bytes=None)
        self.assertFalse([f for f in said["findings"] if f["what"].startswith("egress")])
        self.assertIn("does not sleep", self.finding(said, "idle: ", "ok")["what"])
        self.run_of(name, 3, 12700000, 12700000)
        said = self.at(name, "ann", workers=30, step_bytes=419100000)
        self.assertEqual(self.finding(said, "egress: ", "ok")["what"],
                         "egress: 30 workers x 12.7 MB = 381.0 MB a step, and 38.1 MB to the "
                         "coordinator: a 5 GB allowance ends after 11 steps")
        for number in (1, 2):
            self.server.sql(f"select leat.register('run', '{str(number) * 32}', '', '', ''); "
                            f"select leat.claim(1, '{str(number) * 32}', 0)", database=name,
                            login="ann")
        self.assertIn("egress: 2 workers x 12.7 MB = 25.4 MB a step",
                      self.finding(self.at(name, "carl"), "egress: ", "ok")["what"])

    def test_who_ends_sessions(self):
        name = self.database()
        found = self.finding(self.at(name, "boss", may_end_sessions=False), "sessions: ", "note")
        self.mend(found["do"], "as an administrator", name)
        said = self.at(name, "boss", may_end_sessions=True)
        self.assertIn("may end those of other logins",
                      self.finding(said, "sessions: ", "ok")["what"])
        self.server.sql("revoke pg_signal_backend from boss")
        said = self.at(name, "ann")  # who only works
        self.assertFalse([f for f in said["findings"] if f["what"].startswith("sessions")])

    def test_harmful_functions(self):
        """The printed line takes them away, and a run does without them."""
        name = self.database()
        found = self.finding(self.at(name, "boss"), "functions: every login may", "note")
        self.server.sql(re.search(r"as a superuser, in this database: (DO .*;)$",
                                  found["do"]).group(1), database=name)
        self.finding(self.at(name, "boss"), "functions: large objects and advisory locks are for",
                     "ok")
        for call in ("pg_advisory_lock(1)", "lo_create(0)",
                     "pg_logical_emit_message(false, '', '')"):
            with self.assertRaisesRegex(AssertionError, "permission denied for function"):
                self.server.sql(f"select {call}", database=name, login="ann")
        self.run_of(name, 1, 100, 100)
        self.assertFalse([f for f in self.at(name, "ann")["findings"]
                          if f["what"].startswith("functions")])

    def test_limits_of_a_login(self):
        name = self.database()
        self.server.sql("create role few login connection limit 1")
        said = self.at(name, "few", can_work=True, pooler="unknown")
        self.finding(said, "pooler: not known", "note")
        self.assertIn("connections: this login may have 1", [f["what"] for f in said["findings"]])
        self.server.sql("create role crew login connection limit 4")
        said = self.at(name, "crew", workers=3, can_work=True, workers_fit=2)
        found = self.finding(said, "connections: ", "note")
        self.assertIn("ALTER ROLE crew CONNECTION LIMIT 5;", found["do"])
        self.server.sql("alter role crew connection limit 5")
        said = self.at(name, "crew", workers=3, can_work=True, workers_fit=3)
        self.finding(said, "connections: ", "ok")

    # ---- snapshots

    def pass_transactions(self, name):
        self.server.sql("do $$ begin for i in 1 .. 1100 loop perform txid_current(); commit; "
                        "end loop; end $$", database=name)

    def snapshot(self, name, kind, says):
        """Found by a login without rights; the printed line ends it."""
        said = self.at(name, "ann")
        found = self.finding(said, f"snapshots: {kind} ", "note")
        self.assertIn(says, found["what"])
        self.assertGreater(said["database"]["snapshot_age"], 0)
        self.mend(found["do"], "end it", name)
        self.finding(self.at(name, "ann"), "snapshots: nobody", "ok")

    def test_session(self):
        name = self.database()
        with self.server.session(name, "carl") as holder:
            holder.stdin.write("begin isolation level repeatable read; select pg_backend_pid();\n")
            holder.stdin.flush()
            pid = holder.stdout.readline().strip()
            self.finding(self.at(name, "ann"), "snapshots: nobody", "ok")  # it is young
            self.pass_transactions(name)
            self.snapshot(name, "session", pid)
            holder.stdin.close()
            holder.wait(LIMIT)

    def lock(self, name, holder, waiter):
        machine = "c" * 32
        holder.stdin.write(f"begin; select pg_backend_pid(); select leat.register('run', "
                           f"'{machine}', '', '', '') is null; select state from leat.claim(1, "
                           f"'{machine}', 0);\n")
        holder.stdin.flush()
        pid, _, _ = (holder.stdout.readline().strip() for _ in range(3))
        self.finding(self.at(name, "ann"), "locks: no session waits", "ok")
        waiter.stdin.write("select id from leat.run for update;\n")
        waiter.stdin.flush()
        while self.server.sql("select count(*) from pg_locks where not granted") == "0":
            pass
        found = self.finding(self.at(name, "ann"), "locks: ", "note")
        self.assertRegex(found["what"], f"^locks: session {pid} of login carl, psql.* has a "
                         "transaction open for which 1 other waits$")
        self.mend(found["do"], "end it", name)
        self.assertEqual(waiter.stdout.readline(), "1\n")

    def test_lock(self):
        """Whoever has a transaction open for which others wait is named, and the printed line ends
        it."""
        name = self.database()
        self.run_of(name, 1, 100, 100)
        with self.server.session(name, "carl") as holder, \
             self.server.session(name, "owner") as waiter:
            try:
                self.lock(name, holder, waiter)
            finally:
                holder.kill()
                waiter.kill()
        self.finding(self.at(name, "ann"), "locks: no session waits", "ok")

    def test_slot(self):
        name = self.database()
        self.server.sql("select pg_create_logical_replication_slot('old', 'pgoutput')",
                        database=name)
        self.pass_transactions(name)
        self.snapshot(name, "replication slot", "old (nobody reads it)")

    def test_prepared(self):
        name = self.database()
        self.server.sql("begin; create table t (); prepare transaction 'left'", database=name)
        self.snapshot(name, "prepared transaction", "'left' of login owner")


if __name__ == "__main__":
    unittest.main()
