# SPDX-License-Identifier: BSD-3-Clause
"""pagewheel-bench: what it prints, and what it refuses. No figure is judged."""

import json
import os
import pathlib
import re
import subprocess
import unittest

BINARY = pathlib.Path(os.environ["PAGEWHEEL"]).parents[1] / "bench" / "pagewheel-bench"
PATTERNS = ["same", "ring128", "ring1500", "split128/fresh", "split128/disorder",
            "split1500/fresh", "split1500/disorder", "hold"]
PLAIN = ["plain_same", "plain_ring128", "plain_ring1500"]
REGIMES = ("near", "far", "unprobed")


def run(*arguments, timeout=60, **more):
    return subprocess.run([BINARY, *arguments], stdout=more.pop("stdout", subprocess.PIPE),
                          stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL,
                          timeout=timeout, check=False, **more)


def said(done):
    """Our own lines on standard error, without progress."""
    return [line for line in done.stderr.split("\n") if line.startswith("pagewheel-bench: ")]


def rounds(cell):
    return sum(cell[regime]["rounds"] for regime in REGIMES if regime in cell)


class Frame(unittest.TestCase):
    REFUSED = (
        ([], "no experiment named"),
        (["nosuch"], "no experiment 'nosuch': expected one of: pool"),
        (["pool", "word"], "unknown argument word"),
        (["pool", "--nosuch"], "unknown option --nosuch"),
        (["pool", "-x"], "unknown option -x"),
        (["pool", "--json=1"], "takes no value"),
        (["pool", "--rounds"], "needs a value"),
        (["pool", "--rounds=0"], "from 1 to 1000"),
        (["pool", "--rounds=1x"], "from 1 to 1000"),
        (["pool", "--rounds="], "from 1 to 1000"),
        (["pool", "--max-seconds=-1"], "from 1 to 86400"),
        (["pool", "--seed=4294967296"], "from 0 to 4294967295"),
        (["pool", "--sizes=100"], "from 4096 to 1048576"),
        (["pool", "--sizes=8192,"], "parted by commas"),
        (["pool", "--sizes=8192,8192"], "each once"),
        (["pool", "--cache=513"], "from 0 to 512"),
        (["pool", "--patterns=nosuch"], "split1500/disorder"),
        (["pool", "--handlers=nosuch"], "ring_mp_mc"),
        (["pool", "--handlers=pagewheel:nosuch"], "reuse"),
        (["pool", "--handlers=pagewheel:"], "reuse"),
        (["pool", "--handlers=stack,stack"], "each once"),
        (["pool", "--handlers=floor"], "the floor is there always"),
        (["pool", "--handlers=" + "x" * 100], "a handler that DPDK has loaded"),
        (["pool", "--patterns=split", "--", "--lcores=0@0"], "needs two lcores"),
        (["pool", "--", "--lcores=0@0,1@0"], "share a CPU"),
        (["pool", "--", "--nosuch"], "EAL does not start"),
    )

    def test_refused_in_one_sentence(self):
        for arguments, text in self.REFUSED:
            with self.subTest(arguments=arguments):
                done = run(*arguments)
                self.assertNotEqual(done.returncode, 0)
                lines = [line for line in said(done) if "unrecognized option" not in line]
                self.assertEqual(len(lines), 1, done.stderr)
                self.assertIn(text, lines[0])

    def test_help(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("pool", done.stdout)
        done = run("pool", "--help")
        self.assertEqual(done.returncode, 0)
        for word in ("--handlers=LIST", "--rounds=N", "default 15", "--json", "--lcores=",
                     "lf_stack", "pagewheel:reuse", *PATTERNS, *PLAIN):
            self.assertIn(word, done.stdout)

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            for more in ((), ("--json",)):
                done = run("pool", "--rounds=1", "--patterns=same", "--handlers=stack",
                           "--sizes=4096", *more, stdout=full)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("could not be written", done.stderr)


class Pool(unittest.TestCase):
    def check_samples(self, figures):
        self.assertGreater(figures["rounds"], 0)
        self.assertEqual(figures["rounds"], len(figures["samples_ns"]))
        self.assertGreater(min(figures["samples_ns"]), 0)
        self.assertLessEqual(figures["q1_ns"], figures["median_ns"])
        self.assertLessEqual(figures["median_ns"], figures["q3_ns"])

    def check_cell(self, cell, short_of_rounds):
        for regime in REGIMES:
            if regime in cell:
                self.check_samples(cell[regime])
        if "reason" in cell:
            self.assertEqual(cell["handler"], "bucket")
            return
        self.assertEqual(cell["failed_gets"], 0)
        if not short_of_rounds:
            self.assertGreater(rounds(cell), 0, cell)

    def test_all_patterns_with_all_handlers(self):
        done = run("pool", "--json", "--sizes=8192", "--rounds=1", "--max-seconds=25")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(said(done), [])
        out = json.loads(done.stdout)
        self.assertTrue(out["passed"])
        self.assertEqual(out["unit"], "ns a buffer")
        for word in ("cpu", "kernel", "dpdk", "hugepage_bytes", "tsc_hz", "near_below_ns"):
            self.assertTrue(out["environment"][word])
        self.assertEqual([(g["pool_buffers"], g["cache_buffers"], g["thread"]) for g in out["groups"]],
                         [(8192, 0, "lcore"), (8192, 0, "plain"), (8192, 256, "lcore")])
        strategies = re.findall(r"^  (pagewheel:\w+) ", run("pool", "--help").stdout, re.M)
        handlers = ["ring_mp_mc", "stack", "lf_stack", "bucket", *strategies, "floor"]
        for group in out["groups"]:
            patterns = PLAIN if group["thread"] == "plain" else PATTERNS
            self.assertEqual([(c["pattern"], c["handler"]) for c in group["cells"]],
                             [(p, h) for p in patterns for h in handlers])
            for cell in group["cells"]:
                with self.subTest(group=group["thread"], cell=cell["pattern"],
                                  handler=cell["handler"]):
                    self.check_cell(cell, out["short_of_rounds"])
        self.assertGreater(sum(rounds(c) for g in out["groups"] for c in g["cells"]), 0)

    def test_table(self):
        done = run("pool", "--sizes=4096", "--cache=256", "--rounds=1", "--patterns=same,ring128",
                   "--handlers=stack,pagewheel,pagewheel:reuse:0", "--seed=7")
        self.assertEqual(done.returncode, 0, done.stderr)
        for text in ("4096 buffers, cache 256 [ns a buffer", "seed 7", "A cache line from core to",
                     "DPDK's best", "time of the floor"):
            self.assertIn(text, done.stdout)
        self.assertRegex(done.stdout, r"pattern +rounds +stack +reuse +reuse:0 +floor")
        self.assertRegex(done.stdout, r"(?m)^ring128 +(\d+ (near|far)|none) ")

    def test_handler_that_runs_dry(self):
        """Its cell says why, the others go on, and the pool is made anew."""
        done = run("pool", "--json", "--sizes=8192", "--cache=0", "--rounds=2",
                   "--patterns=same,hold", "--handlers=bucket")
        self.assertEqual(done.returncode, 0, done.stderr)
        cells = {(c["pattern"], c["handler"]): c for c in json.loads(done.stdout)["groups"][0]["cells"]}
        self.assertIn("ran dry", cells["hold", "bucket"]["reason"])
        self.assertEqual(cells["hold", "bucket"]["failed_gets"], 1)
        same = cells["same", "bucket"]
        self.assertNotIn("reason", same)
        self.assertGreaterEqual(rounds(same) + same["mixed_rounds"], 2)

    def test_one_lcore(self):
        done = run("pool", "--sizes=4096", "--rounds=1", "--patterns=same,split",
                   "--handlers=pagewheel", "--", "--lcores=0@0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("4 patterns need a second lcore and were left out", done.stdout)
        self.assertIn("One lcore only", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^same +1 unprobed ")

    def test_too_little_memory(self):
        """A handler of DPDK has its reason; ours is an error too."""
        for handler, error in (("stack", False), ("pagewheel", True)):
            with self.subTest(handler=handler):
                done = run("pool", "--sizes=131072", "--cache=0", "--rounds=1",
                           "--patterns=same", f"--handlers={handler}", "--", "--socket-limit=128")
                self.assertEqual(done.returncode != 0, error, done.stderr)
                self.assertEqual(len(said(done)), error)
                self.assertRegex(done.stdout, rf"- {handler}.*, same: no memory for a pool of 131072 "
                                 r"buffers of 2304 bytes: it needs about \d+ hugepages of 2 MiB, "
                                 r"\d+ are free; ")

    def test_time_that_is_over(self):
        done = run("pool", "--json", "--sizes=4096", "--rounds=1000", "--max-seconds=2",
                   "--patterns=same", "--handlers=stack")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(json.loads(done.stdout)["short_of_rounds"])


if __name__ == "__main__":
    unittest.main()
