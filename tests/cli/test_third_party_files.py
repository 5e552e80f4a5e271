"""Files that leat did not write: no command removes, replaces or reads them as its own.

Runs the command named by LEAT (default: build/leat).
"""
import json
import os
import shutil
import subprocess
import unittest

import command
from command import LEAT
from folder import Folder
from held import Held


def leat(*words, status=0):
    return command.leat(*words, status=status)


def write(path, text="precious"):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def tree(folder):
    """Every path below a folder with what it is and holds, links not followed."""
    found = {}
    for place, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(place, name)
            if os.path.islink(path):
                found[path] = ("link", os.readlink(path))
            elif os.path.isfile(path):
                with open(path, "rb") as file:
                    found[path] = ("file", file.read())
            else:
                found[path] = ("folder", b"")
    return found


def measurements(path, first=0, rows=3000):
    """A csv of pings; another `first` gives other values with the same shape."""
    with open(path, "w", encoding="utf-8") as file:
        file.write("event_time,src_addr,dst_addr,ip_version,rtt\n")
        for i in range(rows):
            file.write(f"{1600000000 + i * 7},10.0.{i % 40 % 8}.{i % 40 + 100},8.8.8.{i % 9 + 1},4,"
                       f"{(first + i * 13) % 900 + 100}.5\n")


class Probes(Folder):
    def setUp(self):
        super().setUp()
        self.csv = self.at("pings.csv")
        measurements(self.csv)

    def ingest(self, *flags, status=0, shard="5"):
        return leat("ingest", "probes", self.csv, "-o", self.at("data"), "--probes-per-shard",
                    shard, *flags, status=status)

    def interrupt(self, *flags, csv=None):
        """A run that was killed after its scan."""
        with Held(["ingest", "probes", csv or self.csv, "-o", self.at("data"),
                   "--probes-per-shard", "1", "--threads", "1", "--spill", "always", *flags],
                  self.at("data", ".leat", "state.json")) as process:
            process.kill()

    def test_a_link_in_place_of_the_work_folder(self):
        write(self.at("scratch", "results", "thesis.txt"))
        for complete in (False, True):
            if complete:
                self.ingest()
            os.makedirs(self.at("data"), exist_ok=True)
            os.symlink(self.at("scratch"), self.at("data", ".leat"))
            before = tree(self.top)
            for flags in ((), ("--resume",), ("--replace",)):
                done = self.ingest(*flags, status=1)
                self.assertIn(".leat", done.stderr)
                self.assertIn("link", done.stderr)
                self.assertEqual(tree(self.top), before)
            os.unlink(self.at("data", ".leat"))

    def test_a_folder_of_the_users_with_that_name(self):
        for complete in (False, True):
            if complete:
                self.ingest()
            for name in ("notes.txt", "out/model.bin", "state.json", "temp/spill_000_00"):
                write(self.at("data", ".leat", name))
                before = tree(self.top)
                for flags in ((), ("--resume",), ("--replace",)):
                    done = self.ingest(*flags, status=1)
                    self.assertIn("does not have leat's mark", done.stderr)
                    self.assertEqual(tree(self.top), before)
                shutil.rmtree(self.at("data", ".leat"))

    def test_a_users_file_in_the_work_folder(self):
        self.interrupt()
        write(self.at("data", ".leat", "out", "mine.txt"))
        for flag in ("--resume", "--replace"):
            done = self.ingest(flag, shard="1", status=1)
            self.assertIn("mine.txt", done.stderr)
        self.assertTrue(os.path.exists(self.at("data", ".leat", "out", "mine.txt")))
        os.unlink(self.at("data", ".leat", "out", "mine.txt"))
        self.ingest("--resume", shard="1")
        leat("inspect", self.at("data"), "--verify")

    def test_a_split_that_is_a_link_to_another_disk(self):
        self.ingest()
        os.rename(self.at("data", "train"), self.at("disk"))
        os.symlink(self.at("disk"), self.at("data", "train"))
        leat("inspect", self.at("data"), "--verify")
        before = tree(self.top)
        done = self.ingest("--replace", "--seed", "3", status=1)
        self.assertIn("is a link", done.stderr)
        self.assertEqual(tree(self.top), before)
        leat("inspect", self.at("data"), "--verify")

    def test_other_files_in_the_folder_stay(self):
        self.ingest()
        write(self.at("data", "README"))
        write(self.at("data", "checkpoints", "1", "weights"))
        self.ingest("--replace", "--seed", "3")
        self.assertTrue(os.path.exists(self.at("data", "README")))
        self.assertTrue(os.path.exists(self.at("data", "checkpoints", "1", "weights")))
        leat("inspect", self.at("data"), "--verify")

    def test_a_data_set_that_came_after_the_interrupted_run(self):
        """--resume replaces what the interrupted run was told to replace, and nothing else."""
        self.interrupt()
        leat("ingest", "probes", self.csv, "-o", self.at("other"), "--seed", "9")
        for name in os.listdir(self.at("other")):
            shutil.move(self.at("other", name), self.at("data", name))
        before = {path: what for path, what in tree(self.at("data")).items() if ".leat" not in path}
        done = self.ingest("--resume", shard="1", status=1)
        self.assertIn("was not there when it began", done.stderr)
        after = {path: what for path, what in tree(self.at("data")).items() if ".leat" not in path}
        self.assertEqual(after, before)
        self.ingest("--replace", shard="1")
        leat("inspect", self.at("data"), "--verify")

    def test_a_rejected_csv_of_the_users(self):
        self.ingest()
        self.assertFalse(os.path.exists(self.at("data", "rejected.csv")))
        write(self.at("data", "rejected.csv"), "applicant,grade\n")
        for seed in ("1", "2"):
            done = self.ingest("--replace", "--seed", seed, status=1)
            self.assertIn("rejected.csv", done.stderr)
            with open(self.csv, "a", encoding="utf-8") as file:
                file.write("no,row,at,all,here\n")  # the second data set has rejected rows
        with open(self.at("data", "rejected.csv"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "applicant,grade\n")
        os.unlink(self.at("data", "rejected.csv"))
        self.ingest("--replace")
        self.assertTrue(os.path.exists(self.at("data", "rejected.csv")))
        measurements(self.csv)
        self.ingest("--replace")
        self.assertFalse(os.path.exists(self.at("data", "rejected.csv")))

    def test_the_spill_of_another_run(self):
        """Temporary files of another run, of the same shape, are not taken for this one's."""
        other = self.at("other.csv")
        measurements(other, first=7)
        for temp in (False, True):
            flags = ("--temp", self.at("temp")) if temp else ()
            shutil.rmtree(self.at("data"), ignore_errors=True)
            os.makedirs(self.at("temp"), exist_ok=True)
            self.interrupt(*flags, csv=other)
            kept = self.at("kept")
            shutil.move(self.at("temp") if temp else self.at("data", ".leat", "temp"), kept)
            shutil.rmtree(self.at("data"))
            os.makedirs(self.at("temp"), exist_ok=True)
            self.interrupt(*flags)
            if temp:
                (mine,), (theirs,) = os.listdir(self.at("temp")), os.listdir(kept)
                target, source = self.at("temp", mine), os.path.join(kept, theirs)
            else:
                target, source = self.at("data", ".leat", "temp"), kept
            spills = [name for name in os.listdir(target) if name.startswith("spill_")]
            self.assertNotEqual(spills, [])
            for name in spills:
                shutil.copy(os.path.join(source, name), os.path.join(target, name))
            done = self.ingest("--resume", *flags, shard="1", status=1)
            self.assertIn("--replace", done.stderr)
            self.assertFalse(os.path.exists(self.at("data", "manifest.json")))
            shutil.rmtree(kept)

    def test_a_reader_finds_a_data_set_at_every_moment(self):
        """While one data set replaces another, over and over, every opening succeeds. A shard that
        is first touched after its data set was replaced is an error that says so; while the new
        one is being moved into place, it may be reported by its hash or size."""
        def fingerprint(status=0):
            done = leat("inspect", self.at("data"), "--json", status=status)
            if done.returncode == 0:
                return json.loads(done.stdout)["fingerprint"]
            self.assertRegex(done.stderr, r"shard_\d+\.arrayrecord\".* "
                             r"(was replaced after it was opened|mismatch|bytes)")
            return None
        wanted = []
        for seed in ("1", "0"):
            self.ingest("--replace", "--seed", seed, shard="1")
            wanted.append(fingerprint())
        self.assertNotEqual(*wanted)
        for turn in range(12):
            with subprocess.Popen(
                    [LEAT, "ingest", "probes", self.csv, "-o", self.at("data"), "--replace",
                     "--probes-per-shard", "1", "--seed", str((turn + 1) % 2)],
                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as writer:
                while writer.poll() is None:
                    self.assertIn(fingerprint(status=None), [*wanted, None])
                self.assertEqual(writer.returncode, 0, writer.stderr.read())
            self.assertEqual(fingerprint(), wanted[turn % 2])

    def test_what_could_not_be_cleaned_up(self):
        """The data set is made, a warning says what is left, and the next run removes it."""
        # a folder of the user's that appears in --temp's folder of the run, while it runs
        temp = self.at("temp")
        os.mkdir(temp)
        with Held(["ingest", "probes", self.csv, "-o", self.at("data"), "--temp", temp,
                   "--probes-per-shard", "1"], os.path.join(temp, "*")) as process:
            mine = os.path.join(temp, os.listdir(temp)[0], "mine")
            os.mkdir(mine)
            stderr = process.rest()[1]
        self.assertEqual(process.returncode, 0, stderr)
        self.assertIn("warning", stderr)
        self.assertIn("mine", stderr)
        leat("inspect", self.at("data"), "--verify")
        self.assertTrue(os.path.isdir(mine))
        os.rmdir(mine)
        self.ingest(status=1)  # it is complete: nothing to do, but the rest is removed
        self.assertEqual(os.listdir(temp), [])
        self.assertFalse(os.path.exists(self.at("data", ".leat")))

    def test_a_folder_of_caches_is_not_a_place_for_a_data_set(self):
        leat("synth", "can", "--frames", "20000", "-o", self.at("logs"))
        leat("ingest", "can", self.at("logs"), "-o", self.at("data"))
        before = tree(self.top)
        (cache,) = os.listdir(self.at("data"))
        for out in (self.at("data"), self.at("data", cache)):
            for flags in ((), ("--resume",), ("--replace",)):
                done = leat("ingest", "probes", self.csv, "-o", out, *flags, status=1)
                self.assertIn("holds the output of `leat ingest can`", done.stderr)
                self.assertIn("another folder", done.stderr)
                self.assertEqual(tree(self.top), before)

    def test_a_missing_temp_is_not_made(self):
        """It may be a disk that is not mounted."""
        for at in (self.at("missing"), self.csv):
            before = tree(self.top)
            done = self.ingest("--temp", at, status=1)
            self.assertIn(at, done.stderr)
            self.assertIn("--temp", done.stderr)
            self.assertEqual(tree(self.top), before)

    def test_an_unmarked_work_folder_is_not_advised_on(self):
        write(self.at("data", ".leat", "notes.txt"))
        done = leat("inspect", self.at("data"), status=1)
        self.assertNotIn("--resume", done.stderr)
        done = leat("inspect", "--verify", self.at("data"), status=1)
        self.assertNotIn("--resume", done.stdout + done.stderr)
        done = leat("doctor", self.at("data"), status=1)
        self.assertNotIn("--resume", done.stdout)


class Caches(Folder):
    def setUp(self):
        super().setUp()
        leat("synth", "can", "--frames", "20000", "-o", self.at("logs"))

    def ingest(self, *flags, status=0):
        return leat("ingest", "can", self.at("logs"), "-o", self.at("caches"), *flags,
                    status=status)

    def cache(self):
        (name,) = [name for name in os.listdir(self.at("caches")) if not name.startswith(".")]
        return self.at("caches", name)

    def test_a_data_set_is_not_a_place_for_caches(self):
        """A cache would hide it: every command would take the folder for the caches'."""
        measurements(self.at("pings.csv"), rows=200_000)
        leat("ingest", "probes", self.at("pings.csv"), "-o", self.at("caches"))
        before = tree(self.top)
        for flags in ((), ("--resume",), ("--replace",), ("--verify",)):
            done = self.ingest(*flags, status=1)
            self.assertIn("holds a data set of `leat ingest probes`", done.stderr)
            self.assertIn("another folder", done.stderr)
            self.assertEqual(tree(self.top), before)
        shutil.rmtree(self.at("caches"))
        write(self.at("caches", ".leat", "leat-work.json"))
        self.assertIn("unfinished data set", self.ingest(status=1).stderr)
        shutil.rmtree(self.at("caches"))
        write(self.at("caches", "manifest.json"))  # not leat's: it is nothing that could be hidden
        self.ingest()

    def test_a_run_that_fails_leaves_nothing(self):
        """Neither the folder for caches, if it made it, nor a --temp that was not there."""
        short = ("--memory", "16M", "--window", "4096", "--stride", "1")  # a refusal after the scan
        for flags in (("--temp", self.at("missing")), ("--temp", self.at("logs", "attacks.csv")),
                      short):
            before = tree(self.top)
            self.assertEqual(leat("ingest", "can", self.at("logs"), "-o", self.at("caches"),
                                  *flags, status=None).returncode, 1, flags)
            self.assertEqual(tree(self.top), before, flags)
        os.mkdir(self.at("caches"))  # what was there stays
        self.assertIn("use --memory", self.ingest(*short, status=1).stderr)
        self.assertEqual(os.listdir(self.at("caches")), [])

    def test_a_folder_with_an_interrupted_ingest(self):
        self.ingest()
        digest = self.cache().rsplit("-", 1)[1]
        shutil.rmtree(self.cache())
        work = ".leat-" + digest
        write(self.at("caches", work, "leat-work.json"))
        for command in ("inspect", "cat", "batches"):
            done = leat(command, self.at("caches"), status=1)
            for word in ("interrupted", work, "leat ingest can", "--resume"):
                self.assertIn(word, done.stderr)
        done = leat("doctor", self.at("caches"), status=1)
        self.assertIn("interrupted", done.stdout)
        os.unlink(self.at("caches", work, "leat-work.json"))
        write(self.at("caches", work, "notes"))  # a third party's
        self.assertNotIn("--resume", leat("inspect", self.at("caches"), status=1).stderr)
        self.assertNotIn(work, leat("doctor", self.at("caches"), status=None).stdout)

    def test_a_folder_without_complete_is_refused(self):
        self.ingest()
        cache = self.cache()
        whole = tree(cache)
        write(os.path.join(cache, "checkpoints", "1", "weights"))
        write(os.path.join(cache, "mine.txt"))
        os.unlink(os.path.join(cache, ".complete"))  # as `cp -r cache/*` loses it
        before = tree(self.top)
        for flags in ((), ("--resume",), ("--verify",)):
            done = self.ingest(*flags, status=1)
            self.assertIn("checkpoints", done.stderr)
            self.assertIn("--replace", done.stderr)
            self.assertEqual(tree(self.top), before)
        self.ingest("--replace")
        after = tree(cache)
        self.assertEqual({path: after[path] for path in whole}, whole)
        self.assertIn(os.path.join(cache, "checkpoints", "1", "weights"), after)
        self.assertIn(os.path.join(cache, "mine.txt"), after)
        leat("inspect", cache, "--verify")

    def test_replace_mends_a_damaged_cache(self):
        self.ingest()
        cache = self.cache()
        whole = tree(cache)
        path = os.path.join(cache, "train.safetensors")
        with open(path, "r+b") as file:
            file.seek(5000)
            file.write(b"\xff\xfe")
        write(os.path.join(cache, "test_99_gone.pages"))  # of a split that is no more
        done = leat("cat", cache, "--graph", "0", status=None)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--replace", done.stderr)
        self.ingest("--replace")
        self.assertEqual(tree(cache), whole)
        done = self.ingest("--replace", "--resume", status=None)
        self.assertIn("exclude each other", done.stderr)

    def test_a_users_folder_with_the_name_of_the_cache(self):
        self.ingest()
        cache = self.cache()
        shutil.rmtree(cache)
        write(os.path.join(cache, "thesis.txt"))
        os.mkdir(os.path.join(cache, "train.safetensors"))
        self.assertIn("thesis.txt", self.ingest(status=1).stderr)
        done = self.ingest("--replace", status=1)
        self.assertIn("train.safetensors", done.stderr)
        self.assertTrue(os.path.exists(os.path.join(cache, "thesis.txt")))
        os.rmdir(os.path.join(cache, "train.safetensors"))
        self.ingest("--replace")
        self.assertTrue(os.path.exists(os.path.join(cache, "thesis.txt")))
        shutil.rmtree(cache)
        write(self.at("elsewhere", "thesis.txt"))
        os.symlink(self.at("elsewhere"), cache)
        for flags in ((), ("--replace",)):
            self.assertIn("link", self.ingest(*flags, status=1).stderr)
        self.assertEqual(os.listdir(self.at("elsewhere")), ["thesis.txt"])

    def test_work_folders_and_locks_of_that_name(self):
        self.ingest()
        digest = self.cache().rsplit("-", 1)[1]
        shutil.rmtree(self.cache())
        work = self.at("caches", ".leat-" + digest)
        for name in ("out/train.safetensors", "scan.state", "notes"):
            write(os.path.join(work, name))
            before = tree(self.top)
            for flags in ((), ("--resume",), ("--replace",)):
                self.assertIn("does not have leat's mark", self.ingest(*flags, status=1).stderr)
                self.assertEqual(tree(self.top), before)
            shutil.rmtree(work)
        write(self.at("scratch", "thesis.txt"))
        os.symlink(self.at("scratch"), work)
        self.assertIn("link", self.ingest(status=1).stderr)
        self.assertEqual(os.listdir(self.at("scratch")), ["thesis.txt"])
        os.unlink(work)
        write(work + ".lock")
        self.assertIn("not a lock file", self.ingest(status=1).stderr)
        self.assertTrue(os.path.exists(work + ".lock"))


if __name__ == "__main__":
    unittest.main()
