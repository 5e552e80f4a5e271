"""Runs the command, named by LEAT (default: build/leat), and waits for it."""
import os
import select
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("LEAT_BUILD", os.path.join(ROOT, "build"))
LEAT = os.environ.get("LEAT", os.path.join(BUILD, "leat"))
LIMIT = 120  # seconds that a child may take: only so that one that hangs does not hang the test


def leat(*words, status=None, **more):
    """Runs it; with `status`, it must end so."""
    more = {"text": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": LIMIT,
            **more}
    done = subprocess.run([LEAT, *map(str, words)], check=False, **more)
    if status is not None and done.returncode != status:
        raise AssertionError(f"leat {' '.join(map(str, words))}: status {done.returncode}, not "
                             f"{status}\n{done.stdout}{done.stderr}")
    return done


def wait_for_output(process):
    """Returns once something can be read from its stdout."""
    if not select.select([process.stdout], [], [], LIMIT)[0]:
        process.kill()
        raise AssertionError(f"waited {LIMIT} s for its first output: {process.args}")
