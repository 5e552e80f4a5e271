"""The gate turns red for what is wrong, and for nothing else: a test that fails, crashes, hangs or
does not start, a leak, a race, undefined behaviour, a warning; not for a test that passes when it
is run again. What scripts/gate.txt names exists, and scripts/check --since finds what can break."""
import contextlib
import io
import json
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

from check_script import HOME, check, numbers, write_suite

COUNTED = os.path.join(HOME, "scripts", "cpu-seconds.sh")
BUILD = os.environ.get("LEAT_BUILD", os.path.join(HOME, "build"))
ONE = "echo 1..1; echo ok 1 - a"
# Fails if the file is not there, and makes it.
ONCE = "test -e %s && { " + ONE + "; exit; }; touch %s; echo 1..1; echo not ok 1 - too slow; exit 1"

# A program and the sanitizer that must stop it.
WRONG = {
    "leak": ("address", """
int main(void) {
    char *volatile a = malloc(9);
    a = NULL;
    return a != NULL;
}"""),
    "overflow": ("address", """
int main(void) {
    char *volatile a = malloc(9);
    a[9] = 1;
    free(a);
    return 0;
}"""),
    "undefined": ("undefined", """
int main(void) {
    volatile int most = 2147483647;
    return most + 1 == 0;
}"""),
    "race": ("thread", """
static int shared;
static void *add(void *to) {
    for (int i = 0; i < 100000; i++) ++*(volatile int *)to;
    return NULL;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, add, &shared);
    pthread_create(&b, NULL, add, &shared);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}"""),
}


def gate(suite, folder, seconds=60):
    """(tally, run, output) of programs of a gate's stage."""
    write_suite(folder, suite)
    run = check.Run(gate=True)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        tally = numbers(check.run_ctest(run, folder, seconds=seconds))
    return tally, run, out.getvalue()


class Gate(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="leat-gate-")
        self.addCleanup(shutil.rmtree, self.folder)

    def once(self, name):
        path = os.path.join(self.folder, name)
        return ONCE % (path, path)

    def test_what_is_broken_stays_red(self):
        suite = {"good": ONE, "fails": "echo 1..1; echo not ok 1 - a; exit 1",
                 "dies": "echo 1..2; echo ok 1 - a; kill -SEGV $$", "absent": None}
        tally, run, out = gate(suite, self.folder)
        self.assertEqual((tally, run.flaky), ((2, 3, 0), []))
        for name in ("fails", "dies", "absent"):
            self.assertIn(f"{name} failed: once more, alone", out)
        self.assertNotIn("good failed", out)
        self.assertEqual(sorted(run.broken), [f"{name} in {self.folder}"
                                              for name in ("absent", "dies", "fails")])

    def test_what_hangs_is_ended_twice(self):
        tally, run, out = gate({"hangs": "sleep 1000"}, self.folder, seconds=1)
        self.assertEqual((tally, run.flaky), ((0, 1, 0), []))
        self.assertIn("hangs failed: once more, alone", out)

    def test_a_second_run_may_pass(self):
        tally, run, out = gate({"good": ONE, "slow": self.once("slow")}, self.folder)
        self.assertEqual((tally, [name for name, _ in run.flaky]), ((2, 0, 0), ["slow"]))
        self.assertEqual(run.broken, [])
        self.assertIn("not ok 1 - too slow", run.flaky[0][1])
        self.assertIn("slow failed: once more, alone", out)

    def test_only_the_gate_runs_twice(self):
        write_suite(self.folder, {"slow": self.once("slow")})
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(numbers(check.run_ctest(check.Run(), self.folder)), (0, 1, 0))

    def test_processor_seconds(self):
        """What cmake/tests.cmake puts before each test counts it and what it waited for, and passes
        on how it ended."""
        use = "python3 -c 'import time\nwhile time.process_time() < 0.3: pass'"
        suite = {"idle": ONE, "busy": f"{use} && {ONE}", "below": f"sh -c \"{use}; {use}\"; {ONE}",
                 "fails": "exit 3", "dies": "kill -SEGV $$", "skips": "exit 77"}
        write_suite(self.folder, suite, COUNTED)
        run = check.Run()
        run.stage = "tests"
        with contextlib.redirect_stdout(io.StringIO()):
            tally = check.run_ctest(run, self.folder)
        self.assertEqual((numbers(tally), len(run.broken)), ((3, 2, 1), 2))
        self.assertEqual({stage for stage, _, _ in run.costs}, {"tests"})
        costs = {name: took for _, name, took in run.costs}
        self.assertEqual(set(costs), set(suite))
        self.assertGreaterEqual(costs["busy"], 0.29)
        self.assertGreaterEqual(costs["below"], 0.58)
        self.assertLess(costs["idle"], costs["busy"])

    def test_what_hangs_is_ended_with_its_shell(self):
        os.mkfifo(f"{self.folder}/open")
        ends = os.open(f"{self.folder}/open", os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, ends)
        write_suite(self.folder, {"hangs": f"exec 9>{self.folder}/open; sleep 1000; :"}, COUNTED)
        run = check.Run()
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(numbers(check.run_ctest(run, self.folder, seconds=1)), (0, 1, 0))
        self.assertEqual(run.costs, [])
        self.assertTrue(select.select([ends], [], [], 60)[0], "it is still there")
        self.assertEqual(os.read(ends, 1), b"")  # nobody has it open

    def test_both_runs_of_a_test_count(self):
        with open(f"{self.folder}/nn_test_x", "w", encoding="ascii") as file:
            file.write("0m0.010s 0m0.020s\n1m2.500s 0m0.250s\n0m0.0s 0m0.0s\n0m1,25s 0m1s\n")
        self.assertEqual(list(check.read_costs(self.folder)), [("nn_test_x", 65.0)])

    def test_table_of_costs(self):
        run = check.Run(gate=True)
        def stage(name, costs):
            def add(run):
                run.costs += [(run.stage, test, took) for test, took in costs.items()]
                return check.Tally(1)
            return check.Stage(name, 1, add)
        quick = {f"nn_test_{i}": float(i) for i in range(12)}
        stages = [stage("lint", {}), stage("tests", {**quick, "crowd_test_a": 40.26}),
                  stage("asan", {"nn_test_0": 30.0})]
        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.assertEqual(check.run_stages(stages, run), 0)
        lines = [line.split() for line in out.getvalue().splitlines()]
        at = lines.index(["room", "tests", "asan", "all"])
        self.assertEqual(lines[at + 1:at + 4], [["nn", "66.0", "30.0", "96.0"],
                                                ["crowd", "40.3", "0.0", "40.3"],
                                                ["all", "106.3", "30.0", "136.3"]])
        dearest = lines[at + 5:at + 5 + check.DEAREST]
        self.assertEqual(dearest[:3], [["40.3", "crowd_test_a,", "tests"],
                                       ["30.0", "nn_test_0,", "asan"],
                                       ["11.0", "nn_test_11,", "tests"]])
        self.assertEqual(lines[at + 5 + check.DEAREST][:5],
                         ["processor", "seconds", "of", "all", "stages:"])
        self.assertIn(["stage", "share", "took", "cpu", "s", "result", "(minutes)"], lines)

    def test_golden_files(self):
        """A run passes the folder with whole ones on; what the caller has set takes precedence."""
        suite = {"shared": f'echo 1..1; test "$LEAT_SHARED" = {self.folder} && echo ok 1 - a'}
        write_suite(self.folder, suite)
        others = {name: value for name, value in os.environ.items() if name != "LEAT_SHARED"}
        for shared, set_to, passed in ((self.folder, None, 1), (None, None, 0),
                                       ("/nowhere", self.folder, 1), (self.folder, "/nowhere", 0)):
            here = {**others, **({"LEAT_SHARED": set_to} if set_to else {})}
            with self.subTest(shared=shared, set_to=set_to), \
                    contextlib.redirect_stdout(io.StringIO()), \
                    unittest.mock.patch.dict(os.environ, here, clear=True):
                tally = check.run_ctest(check.Run(shared=shared), self.folder)
                self.assertEqual(numbers(tally), (passed, 1 - passed, 0))

    def close(self, names):
        """(exit status, last lines) of a gate with one passed test and tests run twice."""
        run = check.Run(gate=True)
        run.flaky = [(name, "it was late") for name in names]
        with contextlib.redirect_stdout(io.StringIO()) as out:
            status = check.run_stages([check.Stage("one", 1, lambda run: check.Tally(1))], run)
        return status, out.getvalue()

    def test_three_flaky_tests_pass_and_are_named(self):
        status, out = self.close("abc")
        self.assertEqual(status, 0)
        self.assertRegex(out, r"FLAKY a: .*\n +it was late\n")
        self.assertRegex(out, r"\nFLAKY a\nFLAKY b\nFLAKY c\n1 passed, 0 failed\n$")
        status, out = self.close("abcd")
        self.assertEqual(status, 1)
        self.assertRegex(out, r"4 FLAKY tests, more than 3: failed\n")
        self.assertRegex(out, r"\n1 passed, 1 failed\n$")

    def test_a_failed_build_runs_nothing(self):
        built = check.BUILD
        self.addCleanup(setattr, check, "BUILD", built)
        check.BUILD = check.Stage("build", 1, lambda run: check.Tally(failed=1))
        after = check.Stage("after", 1, lambda run: self.fail("this ran"))
        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.assertEqual(check.run_stages([check.BUILD, after], check.Run(gate=True)), 1)
        self.assertRegex(out.getvalue(), r"the rest .* NOT RUN: the build failed\n"
                         r"0 passed, 1 failed\n$")


class Canaries(unittest.TestCase):
    """Real faults, found by the compiler and the sanitizers as the gate calls them."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="leat-canary-")
        self.addCleanup(shutil.rmtree, self.folder)

    def compile(self, text, *flags):
        source, program = (os.path.join(self.folder, name) for name in ("a.c", "a.out"))
        with open(source, "w", encoding="ascii") as file:
            file.write("#include <pthread.h>\n#include <stdlib.h>\n" + text + "\n")
        return program, subprocess.run(["cc", *flags, "-o", program, source], capture_output=True,
                                       text=True, check=False)

    def test_sanitizers(self):
        """The same finding is not forgiven if the program passes the second time."""
        with open(os.path.join(HOME, "CMakePresets.json"), encoding="utf-8") as file:
            presets = {preset["name"]: preset for preset in json.load(file)["configurePresets"]}
        trees = {kind: preset["cacheVariables"]["LEAT_SANITIZE"] for kind, preset in (
            ("address", presets["asan"]), ("undefined", presets["asan"]),
            ("thread", presets["tsan"]))}
        for name, (kind, text) in WRONG.items():
            with self.subTest(name):
                program, done = self.compile(text, "-g", "-O0", f"-fsanitize={trees[kind]}",
                                             "-fno-sanitize-recover=all", "-pthread")
                if done.returncode:
                    self.skipTest("this compiler has no sanitizers")
                mark = os.path.join(self.folder, name)
                script = f"test -e {mark} && {{ {ONE}; exit; }}; touch {mark}; echo 1..1; " \
                         f"{program} && echo ok 1 - a"
                tally, run, out = gate({name: script}, self.folder)
                self.assertEqual((tally[1], run.flaky), (1, []), out)

    def test_a_warning(self):
        """What every source is compiled with refuses a warning where warnings are errors."""
        with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
            command = next(entry["command"] for entry in json.load(file)
                           if entry["file"].endswith("/src/base/mem.c"))
        flags = [word for word in command.split() if re.match(r"-(W|std=|O|f(?!macro))", word)]
        self.assertEqual(self.compile("int main(void) { return 0; }", *flags)[1].returncode, 0)
        done = self.compile("int main(void) { int unused; return 0; }", *flags, "-Werror")[1]
        self.assertIn("unused", done.stderr)
        self.assertNotEqual(done.returncode, 0)
        with open(os.path.join(HOME, "CMakeLists.txt"), encoding="utf-8") as file:
            self.assertIn("$<$<BOOL:${LEAT_WERROR}>:-Werror>", file.read())
        commands = []
        class Faked:
            def run(self, command):
                commands.append(command)
                return 1, "warning"
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(numbers(check.stage_build(Faked())), (0, 1, 0))
        self.assertEqual(commands, [["make", "-s", "all", "WERROR=1"]])


class Lists(unittest.TestCase):
    def names(self):
        done = subprocess.run(["ctest", "--test-dir", BUILD, "--show-only=json-v1"],
                              capture_output=True, text=True, check=True)
        return [test["name"] for test in json.loads(done.stdout)["tests"]]

    def test_every_test_is_counted(self):
        done = subprocess.run(["ctest", "--test-dir", BUILD, "--show-only=json-v1"],
                              capture_output=True, text=True, check=True)
        for test in json.loads(done.stdout)["tests"]:
            words = test.get("command", [])  # none of a program that is not built
            self.assertEqual(words[:2], [COUNTED, test["name"]][:len(words)])

    def test_gate_txt(self):
        names = self.names()
        with open(os.path.join(HOME, "scripts", "gate.txt"), encoding="utf-8") as file:
            lines = [line.split() for line in file if not line.startswith("#")]
        for words in lines:
            with self.subTest(words):
                if words[0] == "seconds":
                    self.assertEqual((len(words), words[2] in names), (3, True))
                    self.assertGreater(int(words[1]), 0)
                else:
                    self.assertIn(words[0], ("address", "thread"))
                    self.assertIn(len(words), (2, 3) if words[1] == "not" else (2,))
                    self.assertTrue(any(re.search(words[-1], name) for name in names))

    def test_since(self):
        """(changed file, tests that it can break, tests that it cannot)."""
        for path, reached, others in (
                ("src/nn/ops/x.c", ["nn_test_conv", "train_test_run", "cli_test_train",
                                    "train_test_golden_dcgan", "fault_test_nn"],
                 ["base_test_core", "load_can_test_loader", "cli_test_ingest_can"]),
                ("src/batch/tokens/x.c", ["batch_tokens_test_plan3_golden", "cli_test_batches",
                                           "load_probes_test_loader"],
                 ["ingest_can_test_scan", "nn_test_conv", "batch_images_test_order"]),
                ("src/base/x.c", ["base_test_core", "nn_test_conv", "cli_test_pipeline"],
                 ["lint_test_gate"]),
                ("src/load/probes/x.c", ["load_probes_test_loader", "cli_test_batches"],
                 ["load_can_test_loader"]),
                ("src/ingest/can/read/x.c", ["ingest_can_test_lines", "cli_test_ingest_can"],
                 ["load_can_test_loader", "ingest_probes_test_bucket"]),
                ("cli/page/x.c", ["cli_test_figures", "cli_test_batches_report"],
                 ["cli_test_synth", "base_test_core"]),
                ("cli/command/x.c", ["cli_test_ingest_can", "cli_test_command"],
                 ["base_test_core"]),
                ("cli/cmd_cat.c", ["cli_test_outputs"], ["base_test_core", "cli_test_memory"]),
                ("cli/cmd_train_graphs.c", ["cli_test_train_graphs"], ["cli_test_ingest_can"]),
                ("docs/can.md", ["cli_test_readme", "lint_test_gate"], ["cli_test_kernels"]),
                ("docs/schema/x.json", ["cli_test_json_schema"], ["cli_test_readme"]),
                ("tests/golden/reference/x", ["nn_test_conv", "cli_test_golden_files"],
                 ["base_test_core"]),
                ("include/leat/train.h", ["lint_test_python_abi", "train_test_run"],
                 ["load_can_test_loader", "lint_test_gate"]),
                ("python/leat/can.py", ["lint_test_abi_script"], ["lint_test_gate"]),
                ("scripts/x", ["lint_test_gate"], ["base_test_core", "cli_test_train"]),
                ("tests/nn/test_conv.c", ["nn_test_conv"], ["nn_test_product"]),
                ("tests/nn/reference.h", ["nn_test_conv", "nn_test_product"], ["train_test_run"])):
            reach = check.affected.Reach(HOME, [path])
            for name in reached + others:
                with self.subTest(path=path, test=name):
                    self.assertIn(name, self.names())
                    self.assertEqual(reach.distance(name) is not None, name in reached)

    def test_since_keeps_its_time(self):
        """The nearest first; what does not fit is named."""
        cost = {"nn_test_conv": 30.0, "nn_test_product": 50.0, "train_test_run": 40.0}
        affected = check.affected
        for name, fake in (("costs", lambda home: cost),
                           ("changed_since", lambda home, revision: ["src/nn/ops/x.c"])):
            self.addCleanup(setattr, affected, name, getattr(affected, name))
            setattr(affected, name, fake)
        every = ["base_test_core", *cost]
        chosen = affected.choose(HOME, "HEAD", every, 100)
        self.assertEqual(chosen.tests, ["nn_test_conv", "nn_test_product"])
        self.assertIn("for lack of time train_test_run", chosen.left_out)
        chosen = affected.choose(HOME, "HEAD", every, 1000)
        self.assertEqual(sorted(chosen.tests), sorted(cost))
        self.assertNotIn("for lack of time", chosen.left_out)


if __name__ == "__main__":
    if shutil.which("ctest") is None or shutil.which("cc") is None:
        print("skipped: no ctest, or no compiler")
        sys.exit(77)
    unittest.main()
