"""leat dash RUN: the page follows a run that grows, is resumed and rewound; who may see it. Runs
the command named by LEAT (default: build/leat).
"""
# TSan: the page is served by a thread beside the one that looks at the run.
import http.client
import os
import re
import shutil
import socket
import unittest

from command import ROOT, leat
from dashed import Dash
from training import DATA, Training, setUpModule, tearDownModule  # noqa: F401

SMALL = ["--width", "2", "--latent", "4", "--unit-size", "8", "--micro-batch", "8", "--threads",
         "1", "--sample-every", "0", "--checkpoint-every", "2"]
PNG = b"\x89PNG\r\n\x1a\n"  # begins each


@unittest.skipUnless("libmicrohttpd present" in " ".join(leat("version").stdout.split()),
                     "skipped: built without libmicrohttpd")
class DashRun(Training):
    def trained(self, run, *words):
        self.good("train", "dcgan", f"{DATA}/faces", "-o", run, *words)

    def sampled(self, run, *steps):
        """Puts files where samples are: drawing them takes longer than all the rest."""
        for step in steps:
            with open(f"{run}/samples/step-{step:09d}.png", "wb") as file:
                file.write(PNG + b"samples of %d" % step)

    def begin(self):
        """A run of 4 steps."""
        run = self.at("run")
        if not os.path.exists(f"{DATA}/run"):
            self.trained(f"{DATA}/run", "--steps", "4", *SMALL)
            self.sampled(f"{DATA}/run", 0, 2, 4)
        shutil.copytree(f"{DATA}/run", run)
        return run

    def test_follows_a_run(self):
        run = self.begin()
        with Dash(run) as dash:
            facts = dash.json("/facts.json")
            self.assertEqual((facts["name"], facts["model"], facts["step"], facts["steps"]),
                             ("run", "dcgan", 4, 4))
            self.assertEqual([of["label"] for of in facts["numbers"]], ["D loss", "G loss"])
            self.assertEqual(facts["folder"]["samples"], [0, 2, 4])
            self.assertEqual(facts["folder"]["checkpoint_step"], 4)
            losses = dash.json("/curves.json")["figures"][0]
            self.assertEqual((losses["title"], losses["steps"]), ("Losses", [1, 2, 3, 4]))
            self.assertEqual([line["label"] for line in losses["lines"]],
                             ["D, real", "D, generated", "G"])
            # it is trained further while a stream is open, which has the news
            events = dash.events()
            first = {name: content for name, _, content in (next(events), next(events))}
            self.assertEqual(first["facts"]["step"], 4)
            self.trained(run, "--resume", "--steps", "8")
            self.sampled(run, 6, 8)
            for name, _, content in events:
                if name == "facts" and content["folder"]["samples"] == [0, 2, 4, 6, 8]:
                    break
            self.assertEqual(content["step"], 8)
            # and goes back: lines and samples that were taken away are gone, others come
            self.trained(run, "--resume", "--rewind", "4", "--steps", "6")
            content = dash.until("facts", lambda of: of["step"] == 6)
            self.assertEqual(content["folder"]["samples"], [0, 2, 4])
            # what comes again under the same name is another picture
            version = content["folder"]["samples_version"]
            self.sampled(run, 6)
            dash.until("facts", lambda of: of["folder"]["samples_version"] != version)
            self.assertEqual(dash.json("/curves.json")["figures"][0]["steps"], [1, 2, 3, 4, 5, 6])
            self.assertIn("Ctrl-C", dash.end())

    def test_a_run_that_is_gone(self):
        run = self.begin()
        with Dash(run) as dash:
            os.rename(run, run + ".away")
            content = dash.until("facts", lambda of: "problem" in of["folder"])
            self.assertEqual(content["step"], 4)
            self.assertNotIn(self.at(""), str(content))
            os.rename(run + ".away", run)
            dash.until("facts", lambda of: "problem" not in of["folder"])
            self.assertIn(run, dash.end())

    def test_what_is_no_file(self):
        """A pipe that nobody writes to, and a file without an end, are not waited for."""
        run = self.begin()
        metrics = f"{run}/metrics.jsonl"
        with Dash(run) as dash:
            os.rename(metrics, metrics + ".away")
            content = dash.until("facts", lambda of: of["step"] == 0)
            self.assertEqual(content["folder"]["quiet_seconds"], 0)
            os.mkfifo(metrics)
            dash.until("facts", lambda of: "problem" in of["folder"])
            os.remove(metrics)
            os.rename(metrics + ".away", metrics)
            dash.until("facts", lambda of: "problem" not in of["folder"] and of["step"] == 4)
            os.rename(f"{run}/training.json", f"{run}/away")
            os.mkfifo(f"{run}/training.json")
            dash.until("facts", lambda of: "problem" in of["folder"])
            os.remove(f"{run}/training.json")
            os.rename(f"{run}/away", f"{run}/training.json")
            dash.until("facts", lambda of: "problem" not in of["folder"])
            os.remove(f"{run}/training.json")
            os.symlink("training.json", f"{run}/training.json")  # leads to itself
            dash.until("facts", lambda of: "problem" in of["folder"])
            said = dash.end()
            self.assertEqual(said.count("not a regular file"), 1, said)
        os.remove(f"{run}/training.json")
        os.mkfifo(f"{run}/training.json")
        self.bad(leat("dash", run), 1, "training.json")

    def test_a_file_without_an_end(self):
        run = self.begin()
        with Dash(run) as dash:
            os.truncate(f"{run}/metrics.jsonl", 1 << 42)
            self.assertEqual(dash.json("/facts.json")["step"], 4)
            dash.end()

    def test_quiet(self):
        """Of a run that takes no steps, nothing is said of the time that is left."""
        run = self.begin()
        path = f"{run}/training.json"
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertIn('"steps": "4"', text)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace('"steps": "4"', '"steps": "9"'))
        with Dash(run) as dash:
            facts = dash.until("facts", lambda of: "seconds_left" in of)
            self.assertEqual((facts["finished"], facts["folder"]["quiet_seconds"]), (False, 0))
            os.utime(f"{run}/metrics.jsonl", (1e9, 1e9))
            facts = dash.until("facts", lambda of: "seconds_left" not in of)
            self.assertGreater(facts["folder"]["quiet_seconds"], 1e8)

    def test_samples(self):
        run = self.begin()
        with Dash(run) as dash:
            status, headers, body = dash.get("/samples/2.png")
            self.assertEqual((status, headers["Content-Type"]), (200, "image/png"))
            with open(f"{run}/samples/step-000000002.png", "rb") as file:
                self.assertEqual(body, file.read())
            self.assertEqual(dash.get("/samples/2.png?v=1")[2], body)
            self.assertEqual(dash.get("/samples/2.png", "HEAD")[2], b"")
            for path in ("/samples/3.png", "/samples/", "/samples/2", "/samples/2.pngx",
                         "/samples/+2.png", "/samples/-2.png", "/samples/../config.yaml",
                         "/samples/%2e%2e/config.yaml", "/samples/99999999999999999999.png",
                         "/config.yaml", "//", "/samples/2.png/"):
                self.assertEqual(dash.get(path)[0], 404, path)
            # what is not a file is not read, nor what is not a picture, nor where a link leads to
            moved = self.at("moved.png")
            path = f"{run}/samples/step-000000002.png"
            os.rename(path, moved)
            os.mkfifo(path)
            self.assertEqual(dash.get("/samples/2.png")[0], 404)
            os.remove(path)
            os.symlink(moved, path)
            self.assertEqual(dash.get("/samples/2.png")[0], 404)
            os.remove(path)
            for secret in (b"secret", PNG[:-1], b""):
                with open(path, "wb") as file:
                    file.write(secret)
                self.assertEqual(dash.get("/samples/2.png")[0], 404)
            os.replace(moved, path)
            self.assertEqual(dash.get("/samples/2.png")[0], 200)
            os.rename(f"{run}/samples", self.at("elsewhere"))
            os.symlink(self.at("elsewhere"), f"{run}/samples")
            self.assertEqual(dash.get("/samples/2.png")[0], 404)
            dash.until("facts", lambda of: of["folder"]["samples"] == [])

    def test_the_page(self):
        with Dash(self.begin()) as dash:
            status, headers, page = dash.get("/")
            self.assertEqual(status, 200)
            policy = headers["Content-Security-Policy"]
            self.assertNotIn("unsafe", policy)
            self.assertIn("default-src 'none'", policy)
            # all that the page names is there, and nothing is written in it that would not run
            for path in re.findall(r'(?:src|href)="([^"]*)"', page.decode()):
                status, headers, body = dash.get(path)
                self.assertEqual(status, 200, path)
                self.assertTrue(body, path)
            self.assertNotRegex(page.decode(), r"(?i)<style|style=|\son\w+=|<script>")
            self.assertEqual(dash.get("/page.js")[1]["Content-Type"],
                             "text/javascript; charset=utf-8")
            self.assertIn(b"prefers-color-scheme:dark", dash.get("/colours.css")[2])
            self.assertEqual(dash.get("/", "POST")[0], 405)

    def test_names_of_this_machine(self):
        with Dash(self.begin()) as dash:
            for host, status in (("evil.example.org", 421), (f"localhost:{dash.port}", 200),
                                 ("localhost:1", 200), ("[::1]", 200)):
                self.assertEqual(dash.get("/facts.json", Host=host)[0], status, host)
            self.assertEqual(dash.get("/facts.json", Sec_Fetch_Site="cross-site")[0], 403)

    def test_beyond_this_machine(self):
        with Dash(self.begin(), listen="0.0.0.0:0") as dash:
            address, _, token = dash.url.partition("?token=")
            self.assertEqual(address, f"http://0.0.0.0:{dash.port}/")
            self.assertEqual(len(token), 32)
            for path in ("/", "/facts.json", "/events", "/samples/2.png", "/page.js",
                         "/?token=" + "0" * 32, f"/facts.json?token={token}"):
                status, _, body = dash.get(path)
                self.assertEqual(status, 401, path)
                self.assertNotIn(b"run", body.replace(b"printed", b""))
            status, headers, _ = dash.get(f"/?token={token}")
            self.assertEqual((status, headers["Location"]), (303, "/"))
            cookie, *rules = headers["Set-Cookie"].split("; ")
            self.assertEqual(rules, ["Path=/", "HttpOnly", "SameSite=Strict"])
            self.assertNotIn(token, cookie)
            self.assertEqual(dash.json("/facts.json", Cookie=cookie)["step"], 4)
            said = dash.end()
            self.assertNotIn(token, said)
            self.assertIn("in place of 0.0.0.0", said)

    def test_refused(self):
        run = self.begin()
        self.bad(leat("dash"), 2, "name the folder of a run", "--db")
        self.bad(leat("dash", self.at("none")), 1, self.at("none"))
        self.bad(leat("dash", self.at("")), 1, "is not the folder of a run")
        self.bad(leat("dash", run, "--listen", "example.org:80"), 2, "--listen", "0.0.0.0:8501")
        self.bad(leat("dash", "--db", "nonsense"), 2, "postgresql://USER")
        with socket.create_server(("127.0.0.1", 0)) as taken:
            where = f"127.0.0.1:{taken.getsockname()[1]}"
            self.bad(leat("dash", run, "--listen", where), 2, where, "another program listens")

    def test_a_database_that_does_not_answer(self):
        """The page of the folder is there, and has what is new in it; and all of it ends."""
        run = self.begin()
        with socket.create_server(("127.0.0.1", 0)) as silent:
            url = f"postgresql://ann@127.0.0.1:{silent.getsockname()[1]}/x?sslmode=disable"
            with Dash(run, "--db", url) as dash:
                self.assertEqual(dash.json("/facts.json")["step"], 4)
                self.sampled(run, 6)
                dash.until("facts", lambda of: of["folder"]["samples"][-1] == 6)
                dash.end()

    def test_metrics(self):
        run = self.begin()
        with Dash(run) as dash:
            self.assertEqual(dash.get("/metrics")[0], 404)
        with Dash(run, "--metrics") as dash:
            status, headers, body = dash.get("/metrics")
            self.assertEqual((status, headers["Content-Type"]),
                             (200, "text/plain; version=0.0.4; charset=utf-8"))
            self.assertIn(b"\nleat_step 4\n", body)
            for line in body.decode().splitlines():
                self.assertRegex(line, r'^(# (HELP|TYPE) leat_\w+ .+|'
                                       r'leat_\w+(\{\w+="[^"]*"\})? [-+.\de]+)$')

    def test_ends_with_streams_open(self):
        with Dash(self.begin()) as dash:
            streams = [dash.events() for _ in range(3)]
            for stream in streams:
                next(stream)
            dash.end()
            for stream in streams:
                try:
                    self.assertLess(len(list(stream)), 3)
                except (http.client.IncompleteRead, ConnectionError):
                    pass


class Files(unittest.TestCase):
    def test_no_markup_of_strings(self):
        """What volunteers say becomes text: the script has nothing that makes markup of it."""
        with open(os.path.join(ROOT, "src", "dash", "page.js"), encoding="utf-8") as file:
            script = file.read()
        self.assertNotRegex(script, r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|"
                                    r"\beval\b|new Function|DOMParser|createContextualFragment|"
                                    r"https?://(?!www\.w3\.org/2000/svg)")


if __name__ == "__main__":
    unittest.main()
