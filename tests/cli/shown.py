"""Pages of documentation, whose blocks scripts/run_pages.py runs as they are printed."""
import collections
import os
import sys
import unittest

import command

sys.path.append(os.path.join(command.ROOT, "scripts"))
import run_pages as pages  # noqa: E402


def read(*names):
    return pages.read_page(command.ROOT, os.path.join(*names))


class Pages(unittest.TestCase):
    limit = command.LIMIT  # of each command, in seconds

    def run_page(self, page, **variables):
        """Runs the blocks of a page, with these variables in the environment: how many were run,
        how many outputs were compared, and how many blocks were not run."""
        results = pages.run_page(page, command.ROOT, command.BUILD, limit=self.limit,
                                 more=variables)
        for result in results:
            with self.subTest(block=f"{page}:{result.block.line}"):
                self.assertNotEqual(result.status, pages.FAILED, result.detail)
        count = collections.Counter(result.status for result in results)
        return (count[pages.PASSED], sum(result.compared for result in results),
                count[pages.SKIPPED])
