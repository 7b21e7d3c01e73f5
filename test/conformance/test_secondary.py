# SPDX-License-Identifier: BSD-3-Clause
"""A pool that a primary process made and a secondary uses."""

import contextlib
import glob
import os
import shutil
import subprocess
import tempfile
import unittest

# EAL refuses plugins below a directory that everybody may write to; the clone may lie in one.
FOLDER = tempfile.TemporaryDirectory(dir="/run", prefix="pagewheel-")
PLUGIN = shutil.copy(os.environ["PAGEWHEEL_PLUGIN"], FOLDER.name)
PROGRAM = os.environ["PAGEWHEEL_POOL_PROCESS"]
PREFIX = f"pw-secondary-{os.getpid()}"
STRATEGIES = ("order0", "order3", "cached", "reuse", "reuse:0", "flip", "page_pool")
MBUFS = 4000
OTHERS = sorted(path for name in ("ring", "stack") for path in
                glob.glob(f"/usr/lib/*/dpdk/pmds-*/librte_mempool_{name}.so"))


@contextlib.contextmanager
def hugetlbfs():
    """A hugetlbfs of our own, and EAL's arguments to use it."""
    with tempfile.TemporaryDirectory() as mount:
        subprocess.run(["mount", "-t", "hugetlbfs", "-o", "pagesize=2M,size=256M", "none", mount],
                       check=True)
        try:
            yield ["--no-pci", "--log-level=4", "--no-telemetry", f"--huge-dir={mount}",
                   f"--file-prefix={PREFIX}"]
        finally:
            subprocess.run(["umount", mount], check=True)
            shutil.rmtree(f"/var/run/dpdk/{PREFIX}", ignore_errors=True)


class Process:
    """A pool_process, which answers each line."""

    def __init__(self, *options, **environment):
        self.process = subprocess.Popen(
            [PROGRAM, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def end(self):
        """Its exit code, and what it said."""
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out + err

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


class Secondary(unittest.TestCase):
    def assert_done(self, process, *lines):
        for line in lines:
            self.assertEqual(process.ask(line), "yes", line)

    @contextlib.contextmanager
    def primary(self, strategy, **environment):
        with hugetlbfs() as eal, Process(
                "-l", "0", *eal, "-d", PLUGIN, "--mbuf-pool-ops-name=pagewheel",
                PAGEWHEEL_STRATEGY=strategy, **environment) as primary:
            self.assert_done(primary, f"create {MBUFS}", f"count {MBUFS}")
            yield eal, primary

    def secondary(self, eal, lcores="1", plugin=PLUGIN):
        return Process("-l", lcores, *eal, "--proc-type=secondary", "-d", plugin)

    def test_a_secondary_gets_and_puts(self):
        """Lcores that the primary has or has not, and plain threads; then all are there again."""
        for strategy in STRATEGIES:
            for lcores in ("0", "1", "0,1"):
                with self.subTest(strategy=strategy, lcores=lcores), \
                        self.primary(strategy) as (eal, primary):
                    with self.secondary(eal, lcores) as secondary:
                        self.assert_done(secondary, "find", f"count {MBUFS}", "work 300",
                                         f"count {MBUFS}")
                        self.assertEqual(secondary.end(), (0, ""))
                    self.assert_done(primary, f"count {MBUFS}", f"take {MBUFS}", "count 0",
                                     f"give {MBUFS}", f"count {MBUFS}")
                    self.assertEqual(primary.end(), (0, ""))

    def test_what_one_holds_the_other_does_not_get(self):
        for strategy in STRATEGIES:
            with self.subTest(strategy=strategy), self.primary(strategy) as (eal, primary), \
                    self.secondary(eal) as secondary:
                self.assert_done(secondary, "find", "take 1000", "count 3000")
                self.assert_done(primary, "count 3000", "work 100", "take 3000", "count 0")
                self.assertEqual(secondary.ask("take 1"), "no")
                self.assert_done(secondary, "give 1000", "count 1000")
                self.assert_done(primary, "take 1000", "give 4000")
                self.assert_done(secondary, "work 100", "take 3999", "give 3999")
                self.assertEqual(secondary.end(), (0, ""))
                self.assert_done(primary, f"count {MBUFS}")
                self.assertEqual(primary.end(), (0, ""))

    def test_both_work_at_once(self):
        for strategy in STRATEGIES:
            with self.subTest(strategy=strategy), self.primary(strategy) as (eal, primary), \
                    self.secondary(eal) as secondary:
                self.assert_done(secondary, "find")
                for process in (primary, secondary):
                    process.process.stdin.write("work 2000\n")
                    process.process.stdin.flush()
                for process in (primary, secondary):
                    self.assertEqual(process.process.stdout.readline().strip(), "yes")
                self.assert_done(secondary, f"count {MBUFS}")
                self.assert_done(primary, f"count {MBUFS}")

    def test_checked_pools_are_shared_too(self):
        with self.primary("reuse", PAGEWHEEL_CHECK="stop") as (eal, primary):
            with self.secondary(eal) as secondary:
                self.assert_done(secondary, "find", "take 1000", "work 100", "give 500",
                                 "count 3500", "give 500")
                self.assertEqual(secondary.end(), (0, ""))
            self.assert_done(primary, f"take {MBUFS}", f"give {MBUFS}", f"count {MBUFS}")
            self.assertEqual(primary.end(), (0, ""))

    def test_another_handler_in_its_place_gets_nothing(self):
        """Without the plugin DPDK takes another handler: it finds the pool empty, and no room."""
        self.assertNotEqual(OTHERS, [])
        for other in OTHERS:
            with self.subTest(other=other), self.primary("reuse") as (eal, primary):
                self.assert_done(primary, "take 1000", "give 500")
                with self.secondary(eal, plugin=other) as secondary:
                    for line in ("find", "count 0"):
                        self.assertEqual(secondary.ask(line), "yes")
                    for line in ("take 1", "take 100", "work 10"):
                        self.assertEqual(secondary.ask(line), "no")
                    self.assertEqual(secondary.end(), (0, ""))
                self.assert_done(primary, "count 3500", "give 500", f"take {MBUFS}",
                                 f"give {MBUFS}", f"count {MBUFS}")


if __name__ == "__main__":
    unittest.main()
