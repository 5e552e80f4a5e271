"""Addresses of services in place of paths: refused wherever a path is taken, and no folder "s3:" is
made.

Runs the command named by LEAT (default: build/leat).
"""
import os
import unittest

import folder
from command import leat


class RemotePaths(folder.Folder):
    def setUp(self):
        super().setUp()
        here = self.top
        leat("synth", "probes", "-n", 500, "-o", "p.csv", cwd=here, status=0)
        leat("ingest", "probes", "p.csv", "-o", "d", cwd=here, status=0)

    def test_refused_everywhere(self):
        before = sorted(os.listdir(self.top))
        for words in ("ingest probes p.csv -o s3://b/x", "ingest probes s3://b/x.parquet -o y",
                      "ingest probes gs://b/*.parquet -o y", "ingest probes p.csv s3a+x://b -o y",
                      "ingest probes p.csv -o y --temp hdfs://b/t", "ingest can s3://b/x -o y",
                      "ingest images s3://b/x.zip -o y", "synth probes -n 5 -o s3://b/x.csv",
                      "synth can --frames 2000 -o s3://b/x", "inspect https://b/x",
                      "inspect d --html s3://b/x.html", "inspect d --figures s3://b/x",
                      "cat s3://b/x", "batches s3://b/x",
                      "batches d --steps 1 --save-state s3://b/x",
                      "batches d --steps 1 --report s3://b/x.html", "export d -o s3://b/x",
                      "import s3://b/x -o y", "sample s3://b/x -o y", "train dcgan s3://b/x -o y",
                      "dash s3://b/x", "doctor S3://b/x"):
            done = leat(*words.split(), cwd=self.top)
            said = done.stdout + done.stderr
            self.assertNotEqual(done.returncode, 0, words)
            self.assertRegex(said, r'"\w[\w+]*://[^"]*" is not a path: only local files', words)
            self.assertEqual(sorted(os.listdir(self.top)), before, words)

    def test_refused_by_lent_machines(self):
        """Before anything is connected to, which may take for ever."""
        leat("synth", "images", "-n", 8, "-o", "jpeg", cwd=self.top, status=0)
        leat("ingest", "images", "jpeg", "-o", "images", cwd=self.top, status=0)
        os.mkdir(os.path.join(self.top, "home"))
        env = {**os.environ, "HOME": os.path.join(self.top, "home")}  # for the machine's key
        before = sorted(os.listdir(self.top))
        url = "postgresql://u@localhost:1/x"
        for words in (f"work {url} --data s3://b/x", f"work {url} --key s3://b/x",
                      f"coordinate s3://b/x --db {url} --data images --steps 1",
                      f"coordinate r --db {url} --data s3://b/x --steps 1"):
            done = leat(*words.split(), cwd=self.top, env=env)
            self.assertNotEqual(done.returncode, 0, words)
            if "without libpq" in done.stderr:
                self.skipTest("libpq is missing")
            self.assertRegex(done.stderr, r'"s3://b[^"]*" is not a path: only local fi', words)
            self.assertEqual(sorted(os.listdir(self.top)), before, words)
        with open(os.path.join(self.top, "notes"), "w", encoding="ascii") as file:
            file.write("of the user")
        done = leat("coordinate", ".", "--db", url, "--data", "images", "--steps", "1",
                    cwd=self.top, status=1)
        self.assertRegex(done.stderr, "is not empty .* and does not hold a run; use another folder")
        for words in ("work s3://b/x", "coordinate r --db s3://b/x --data d --steps 1"):
            self.assertIn("a database is named as postgresql://",
                          leat(*words.split(), cwd=self.top).stderr)

    def test_files_are_told_from_them(self):
        done = leat("ingest", "probes", f"file://{self.top}/p.csv", "-o", "y",
                    cwd=self.top, status=2)
        self.assertIn('omit "file://"', done.stderr)
        for name in ("a:", "2b:", ":", "s3"):  # valid names, none of them a scheme
            os.mkdir(self.at(name))
            path = f"./{name}//data" if name in ("a:",) else f"{name}//data"
            leat("ingest", "probes", "p.csv", "-o", path, cwd=self.top, status=0)


if __name__ == "__main__":
    unittest.main()
