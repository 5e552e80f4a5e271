"""Writes what this folder has of a version of the schema `leat`: a database in the middle of a run,
and the run's folder. With the leat of that version, in a checkout of it:

    scripts/oracle-python.sh tests/golden/crowd/make.py

The coordinator runs under a host name that says nothing (unshare --uts), the worker likewise.
"""
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(os.path.dirname(HERE))
sys.path += [os.path.join(TESTS, "cli"), os.path.join(TESTS, "crowd")]
import image_set  # pylint: disable=wrong-import-position
from command import LEAT, leat  # pylint: disable=wrong-import-position
from server import Server  # pylint: disable=wrong-import-position

IMAGES, STEPS, UNITS, AT = 24, 6, 3, 4  # steps of the run, units of a step, step of the database
SETTINGS = ["--width", "1", "--latent", "4", "--units", str(UNITS), "--unit-size", "4",
            "--micro-batch", "2", "--sample-every", "0", "--codec-up", "bf16", "--codec-down",
            "bf16", "--keep", "1", "--checkpoint-every", "0", "--steps", str(STEPS)]
NAMELESS = "hostname somewhere && exec \"$@\""  # in a namespace of its own


def until(server, database, statement):
    while server.sql(statement, database=database) != "t":
        pass


def dump(server, database):
    """The database as SQL, without what differs from one dump to the next."""
    text = subprocess.run([f"{server.bin}/pg_dump", "--schema", "leat", server.url(database)],
                          check=True, stdout=subprocess.PIPE, text=True).stdout
    text = re.sub(r"(?m)^(--.*|\\(un)?restrict .*)?\n", "", text)
    return text


def main():
    server, top = Server(), tempfile.mkdtemp()
    os.chdir(top)
    try:
        image_set.make("faces", IMAGES, 64)
        state = json.loads(leat("train", "dcgan", "faces", "-o", "alone", *SETTINGS, "--json",
                                status=0).stdout)["state"]
        database = server.database()
        words = [LEAT, "coordinate", "run", "--db", server.url(database), "--data", "faces",
                 *SETTINGS, "--poll-ms", "5", "--state-ms", "86400000"]
        with subprocess.Popen(["unshare", "-ru", "sh", "-c", NAMELESS, "sh", *words],
                              stderr=subprocess.PIPE, text=True) as coordinator:
            while "is open at step" not in coordinator.stderr.readline():
                pass
            for number in range(UNITS * AT + 1):
                step = number // UNITS
                until(server, database, f"select step = {step} from leat.run")
                leat("work", server.url(database, "ann"), "--data", "faces", "--key", "ann.key",
                     "--name", "a machine", "--threads", "1", "--poll-ms", "5", "--on-battery",
                     "work", "--once", status=0)
            until(server, database, "select count(*) = 1 from leat.unit where state = 'confirmed'"
                                    f" and step = {AT}")
            coordinator.send_signal(signal.SIGINT)
            coordinator.stderr.read()
        server.sql("update leat.machine set hardware = '2 processors, 4.0 GiB'", database=database)
        version = server.sql("select version from leat.version", database=database)
        unit = server.sql("select unit || ' ' || hash from leat.unit where state = 'confirmed' and "
                          f"step = {AT}", database=database).split(" ")
        to = f"{HERE}/version{version}"
        shutil.rmtree(to, ignore_errors=True)
        shutil.copytree("run", f"{to}/run", ignore=shutil.ignore_patterns("report.html", ".*"))
        with open(f"{to}/database.sql.gz", "wb") as file:
            file.write(gzip.compress(dump(server, database).encode(), mtime=0))
        with open(f"{to}/expected.json", "w", encoding="utf-8") as file:
            json.dump({"images": IMAGES, "step": AT, "steps": STEPS, "state": state,
                       "unit": int(unit[0]), "hash": unit[1]}, file, indent=1)
            file.write("\n")
    finally:
        server.stop()
        shutil.rmtree(top)


if __name__ == "__main__":
    main()
