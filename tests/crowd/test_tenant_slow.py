"""A run of a second model (tenant_runs.py): on one machine killed in each of its units, and of a
crowd, workers and coordinators killed in each of its steps, always with the same weights.
"""
import os
import signal
import unittest

from server import require

from tenant_runs import END, STEPS, TenantRuns, position, units_of


class Kills(TenantRuns):
    def test_train(self):
        wanted = self.train("whole")["state"]
        at = position(0)
        for number in range(sum(map(units_of, range(STEPS)))):
            self.train(number, status=-signal.SIGKILL, ends_at=at)
            self.assertEqual(self.train(number, "--resume")["state"], wanted, number)
            at += 5 + number % 3

    def test_crowd(self):
        for step in range(STEPS):
            self.begin()
            coordinator = self.coordinate(STEPS)
            coordinator.until(f"is open at step 0 of {STEPS}")
            worker = self.work(env={**os.environ, END: str(position(step))})
            worker.end(-signal.SIGKILL)
            coordinator.kill()
            coordinator = self.coordinate(STEPS, "--resume")
            self.work()
            self.expect(coordinator, STEPS)


if __name__ == "__main__":
    require()
    unittest.main()
