"""scripts/check as a module, for its tests."""
import importlib.machinery
import importlib.util
import os

HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CHECK = os.path.join(HOME, "scripts", "check")
_loader = importlib.machinery.SourceFileLoader("check", CHECK)
check = importlib.util.module_from_spec(importlib.util.spec_from_loader("check", _loader))
_loader.exec_module(check)


def numbers(tally):
    return (tally.passed, tally.failed, tally.skipped)


def write_suite(folder, suite, before=None):
    """CTestTestfile.cmake with {name: a shell script, or None for a program that is not there}; the
    program `before`, if given, runs each."""
    with open(os.path.join(folder, "CTestTestfile.cmake"), "w", encoding="utf-8") as file:
        for name, script in suite.items():
            program = '"/nowhere/at/all"' if script is None else f"sh -c [[{script}]]"
            program = f"{before} {name} {program}" if before else program
            file.write(f"add_test({name} {program})\nset_tests_properties({name} "
                       "PROPERTIES SKIP_RETURN_CODE 77)\n")
