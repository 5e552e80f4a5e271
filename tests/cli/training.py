"""What tests of training share: a data set of 40 images for all of a program, and checks of what a
command did. A test module imports setUpModule and tearDownModule with the rest.
"""
import shutil
import tempfile

import folder
import image_set
from command import leat

DATA = tempfile.mkdtemp(prefix="leat-train-")  # a folder with `faces`, 40 images


def setUpModule():
    image_set.make(f"{DATA}/faces", 40, 64)


def tearDownModule():
    shutil.rmtree(DATA)


def train(run, *words, data=None):
    return leat("train", "dcgan", data or f"{DATA}/faces", "-o", run, *words)


class Training(folder.Folder):
    def good(self, *words):
        """Runs a command that succeeds."""
        done = leat(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def bad(self, done, status, *texts):
        """A command has failed with these texts in its message, and printed nothing else."""
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        for text in texts:
            self.assertIn(text, done.stderr)
        self.assertEqual(done.stdout, "")
