"""Poolers between leat and a server, with a real pgbouncer: a session pooler gives the weights of
leat train; a transaction or statement pooler is refused by name, by leat coordinate, before it
makes a folder, and by leat work.
"""
import json
import os
import unittest

from server import Pooler, require
from runs import Command, OnServer
from command import leat

require("pgbouncer")

SMALL = ["--width", "2", "--latent", "4", "--unit-size", "4", "--micro-batch", "4", "--units", "2",
         "--steps", "3", "--sample-every", "0"]
REFUSED = {"transaction": "a transaction pooler is between leat and the server",
           "statement": "a statement pooler is between leat and the server"}


class Poolers(OnServer):
    images, settings = 16, ()

    def at(self, *parts):
        return os.path.join(self.data, *parts)

    def pooler(self, mode, *settings):
        pooler = Pooler(self.server, mode, ["owner", "ann"], *settings)
        self.addCleanup(pooler.stop)
        return pooler

    def test_session(self):
        """A coordinator and a worker, both through the pooler."""
        pooler, name = self.pooler("session"), self.server.database()
        with Command("coordinate", self.at("run"), "--db", pooler.url(name), "--data", self.faces,
                     "--json", "--poll-ms", "20", *SMALL) as coordinator:
            # the worker asks for a run until there is one: each time it ends with that message
            while True:
                done = leat("work", pooler.url(name, "ann"), "--data", self.faces, "--key",
                            self.at("ann.key"), "--poll-ms", "20", "--threads", "1",
                            "--on-battery", "work")
                if done.returncode == 0 or not coordinator.alive():
                    break
                self.assertRegex(done.stderr, "no open run|does not exist|no schema")
            out = coordinator.end()
        self.assertEqual(done.returncode, 0, done.stderr)
        alone = leat("train", "dcgan", self.faces, "-o", self.at("alone"), "--json",
                     "--codec-up", "bf16", "--codec-down", "bf16", *SMALL, status=0)
        self.assertEqual(json.loads(out)["state"], json.loads(alone.stdout)["state"])

    def refused(self, mode, *settings):
        pooler, name = self.pooler(mode, *settings), self.server.database()
        run = self.at(f"run-{mode}-{len(settings)}")
        done = leat("coordinate", run, "--db", pooler.url(name), "--data", self.faces, *SMALL,
                    status=1)
        self.assertIn(REFUSED[mode], done.stderr)
        self.assertIn("session pooling", done.stderr)
        self.assertFalse(os.path.exists(run))
        done = leat("work", pooler.url(name, "ann"), "--data", self.faces, "--key",
                    self.at("ann.key"), status=1)
        self.assertIn(REFUSED[mode], done.stderr)

    def test_transaction(self):
        self.refused("transaction")

    def test_transaction_with_one_connection(self):
        """The second connection gets the only backend; the first one would wait for it for ever."""
        self.refused("transaction", "default_pool_size = 1")

    def test_statement(self):
        self.refused("statement")


if __name__ == "__main__":
    unittest.main()
