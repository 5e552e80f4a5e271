"""The workflows of .github: their actions are pinned by commit, jobs that they wait for exist, they
may no more than they need, and what they run is in the repository. Nothing here asks GitHub.
"""
import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, ".github", "workflows")
try:
    import yaml
except ImportError:
    yaml = None
# What a job may, beside reading the repository: attesting, and publishing without a token.
PERMISSIONS = {"contents": {"read"}, "id-token": {"write"}, "attestations": {"write"}}
OF_JOB = {"runs-on", "container", "timeout-minutes", "permissions", "steps", "needs", "environment"}
OF_STEP = {"name", "uses", "with", "run"}


def workflows():
    for name in sorted(os.listdir(FOLDER)):
        with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
            yield name, file.read()


class Workflows(unittest.TestCase):
    def test_actions(self):
        """A tag can be moved to other code, a commit cannot."""
        for name, text in workflows():
            for line in re.findall(r"uses:.*", text):
                with self.subTest(name, line=line):
                    self.assertRegex(line, r"^uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")

    def test_commands(self):
        """Scripts exist, and make has the targets."""
        with open(os.path.join(ROOT, "Makefile"), encoding="utf-8") as file:
            targets = set(re.findall(r"^([a-z-]+):", file.read(), re.MULTILINE))
        found = []
        for _, text in workflows():
            found += re.findall(r"(?m)^\s*(?:- run: )?(make|[.\w]+/[\w./-]+)(?: ([a-z-]+))?", text)
        self.assertIn(("make", "release"), found)
        self.assertIn((".ci/run", ""), found)
        for command, word in found:
            if command == "make":
                self.assertIn(word, targets)
            else:
                self.assertTrue(os.access(os.path.join(ROOT, command), os.X_OK), command)

    @unittest.skipIf(yaml is None, "needs Python's yaml")
    def test_jobs(self):
        for name, text in workflows():
            parsed = yaml.safe_load(text)
            self.assertEqual(parsed["permissions"], {"contents": "read"}, name)
            for job, fields in parsed["jobs"].items():
                with self.subTest(name, job=job):
                    self.assertLessEqual(set(fields), OF_JOB)
                    needs = fields.get("needs", [])
                    for other in [needs] if isinstance(needs, str) else needs:
                        self.assertIn(other, parsed["jobs"])
                    for thing, right in fields.get("permissions", {}).items():
                        self.assertIn(right, PERMISSIONS[thing])
                    for step in fields["steps"]:
                        self.assertLessEqual(set(step), OF_STEP)
                        self.assertEqual(("uses" in step) + ("run" in step), 1, step)

    @unittest.skipIf(yaml is None, "needs Python's yaml")
    def test_a_person_publishes(self):
        """Only the job that waits for the environment may publish, and only what was built."""
        for name, text in workflows():
            for job, fields in yaml.safe_load(text)["jobs"].items():
                uses = " ".join(step.get("uses", "") for step in fields["steps"])
                if "pypi-publish" in uses:
                    self.assertEqual((fields["environment"], fields["needs"]), ("pypi", "build"))
                    self.assertEqual(fields["permissions"], {"id-token": "write"}, (name, job))
                    self.assertNotIn("checkout", uses)


if __name__ == "__main__":
    unittest.main()
