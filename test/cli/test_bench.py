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
FRAG_PATTERNS = ["now", "now/write", "window", "window/write", "window/fragmented", "hold", "remote"]
COUNTERS = ["refills_per_1000", "reuses_per_1000", "cache_hits_per_1000", "ring_hits_per_1000",
            "buddy_hits_per_1000", "splits_per_1000", "merges_per_1000", "fallbacks_per_1000",
            "tail_bytes_per_fragment", "held_bytes"]
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
        (["frag", "--sizes=63"], "from 64 to 16384"),
        (["frag", "--sizes=16385"], "from 64 to 16384"),
        (["frag", "--sizes=64,64"], "each once"),
        (["frag", "--why=1"], "takes no value"),
        (["frag", "--patterns=nosuch"], "window/fragmented"),
        (["frag", "--patterns=window/fragmented", "--sizes=8192"], "up to 4096 bytes"),
        (["frag", "--patterns=remote", "--", "--lcores=0@0"], "needs two lcores"),
        (["frag", "--allocators=nosuch"], "rte_malloc"),
        (["frag", "--allocators=frag:nosuch"], "reuse"),
        (["frag", "--allocators=frag:"], "reuse"),
        (["frag", "--allocators=frag:reuse:10"], "reuse"),
        (["frag", "--allocators=fragment"], "reuse"),
        (["frag", "--allocators=floor"], "the floor is there always"),
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
        for word in ("pool", "frag"):
            self.assertIn(word, done.stdout)
        done = run("frag", "--help")
        self.assertEqual(done.returncode, 0)
        for word in ("--allocators=LIST", "--sizes=LIST", "64 to 16384", "--why", "frag:page_pool",
                     "rte_malloc", "mempool:pagewheel", "mixed", *FRAG_PATTERNS):
            self.assertIn(word, done.stdout)
        done = run("pool", "--help")
        self.assertEqual(done.returncode, 0)
        for word in ("--handlers=LIST", "--rounds=N", "default 15", "--json", "--lcores=",
                     "lf_stack", "pagewheel:reuse", *PATTERNS, *PLAIN):
            self.assertIn(word, done.stdout)

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            for what in (("pool", "--patterns=same", "--handlers=stack", "--sizes=4096"),
                         ("frag", "--patterns=now", "--allocators=mempool", "--sizes=64")):
                for more in ((), ("--json",)):
                    done = run(*what, "--rounds=1", *more, stdout=full)
                    self.assertNotEqual(done.returncode, 0)
                    self.assertIn("could not be written", done.stderr)


class Experiment(unittest.TestCase):
    """What the experiments have in common."""

    def check_environment(self, out):
        for word in ("cpu", "kernel", "dpdk", "hugepage_bytes", "tsc_hz", "near_below_ns"):
            self.assertTrue(out["environment"][word])

    def check_samples(self, figures):
        self.assertGreater(figures["rounds"], 0)
        self.assertEqual(figures["rounds"], len(figures["samples_ns"]))
        self.assertGreater(min(figures["samples_ns"]), 0)
        self.assertLessEqual(figures["q1_ns"], figures["median_ns"])
        self.assertLessEqual(figures["median_ns"], figures["q3_ns"])

    def check_times(self, cell, short_of_rounds):
        for regime in REGIMES:
            if regime in cell:
                self.check_samples(cell[regime])
        if "reason" not in cell and not short_of_rounds:
            self.assertGreater(rounds(cell), 0, cell)


class Pool(Experiment):
    def check_cell(self, cell, short_of_rounds):
        self.check_times(cell, short_of_rounds)
        if "reason" in cell:
            self.assertEqual(cell["handler"], "bucket")
            return
        self.assertEqual(cell["failed_gets"], 0)

    def test_all_patterns_with_all_handlers(self):
        done = run("pool", "--json", "--sizes=8192", "--rounds=1", "--max-seconds=25")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(said(done), [])
        out = json.loads(done.stdout)
        self.assertTrue(out["passed"])
        self.assertEqual(out["unit"], "ns a buffer")
        self.check_environment(out)
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


class Frag(Experiment):
    def run_json(self, *arguments):
        done = run("frag", "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(said(done), [])
        out = json.loads(done.stdout)
        self.assertTrue(out["passed"])
        return out

    def whys(self, out):
        return {(g["max_bytes"], c["pattern"], c["allocator"]): c["why"]
                for g in out["groups"] for c in g["cells"] if "why" in c}

    def check_cell(self, cell, group, out):
        self.check_times(cell, out["short_of_rounds"])
        strategy = cell["allocator"].startswith("frag:")
        if "reason" in cell:
            self.assertTrue(strategy)
            self.assertGreater(group["max_bytes"], 2048)
            self.assertIn("too small", cell["reason"])
        elif strategy:
            self.assertEqual(list(cell["why"]), ["fragments", *COUNTERS])
            self.assertGreater(cell["why"]["fragments"], 0)
        else:
            self.assertNotIn("why", cell)

    def test_all_patterns_with_all_allocators(self):
        out = self.run_json("--sizes=64,1500,4096,16384", "--rounds=1", "--max-seconds=40")
        self.assertEqual(out["unit"], "ns a fragment")
        self.check_environment(out)
        self.assertEqual([(g["min_bytes"], g["max_bytes"]) for g in out["groups"]],
                         [(64, 64), (1500, 1500), (4096, 4096), (16384, 16384), (64, 16384)])
        strategies = re.findall(r"^  (frag:\w+) ", run("frag", "--help").stdout, re.M)
        allocators = [*strategies, "rte_malloc", "mempool", "mempool:pagewheel", "floor"]
        for group in out["groups"]:
            patterns = [p for p in FRAG_PATTERNS if p != "window/fragmented" or group["max_bytes"] <= 4096]
            if group["min_bytes"] != group["max_bytes"]:
                patterns = ["mixed"]
            self.assertEqual([(c["pattern"], c["allocator"]) for c in group["cells"]],
                             [(p, a) for p in patterns for a in allocators])
            for cell in group["cells"]:
                with self.subTest(bytes=group["max_bytes"], cell=cell["pattern"],
                                  allocator=cell["allocator"]):
                    self.check_cell(cell, group, out)
        self.assertEqual([(c["allocator"]) for c in out["groups"][-1]["cells"] if "reason" in c],
                         ["frag:order0", "frag:flip", "frag:page_pool"])

    def test_counters_tell_the_strategies_apart(self):
        """Of 256 bytes 16 fit into 4 KiB, and 128 into 32 KiB."""
        whys = self.whys(self.run_json("--sizes=256", "--rounds=2", "--patterns=now,window,hold,remote"))

        def rate(pattern, strategy, counter):
            return whys[256, pattern, f"frag:{strategy}"][f"{counter}_per_1000"]

        for strategy, refills in (("order0", 1000 / 16), ("order3", 1000 / 128), ("cached", 1000 / 128),
                                  ("page_pool", 1000 / 16), ("reuse", 0), ("flip", 0)):
            with self.subTest(strategy=strategy):
                self.assertAlmostEqual(rate("now", strategy, "refills"), refills, delta=0.1)
        self.assertAlmostEqual(rate("now", "reuse", "reuses"), 1000 / 128, delta=0.1)
        self.assertEqual(rate("now", "flip", "reuses"), 1000)
        self.assertEqual(rate("now", "cached", "buddy_hits"), 0)
        self.assertAlmostEqual(rate("now", "order3", "splits"), rate("now", "order3", "merges"), delta=1)
        self.assertGreater(rate("remote", "page_pool", "ring_hits"), 0)
        for strategy in ("order3", "cached", "reuse", "flip"):
            self.assertGreater(rate("window/fragmented", strategy, "fallbacks"), 0)
            self.assertEqual(rate("window", strategy, "fallbacks"), 0)
            self.assertGreater(whys[256, "hold", f"frag:{strategy}"]["held_bytes"],
                               whys[256, "window", f"frag:{strategy}"]["held_bytes"])
        self.assertEqual(rate("window/fragmented", "order0", "fallbacks"), 0)
        self.assertEqual(whys[256, "now", "frag:flip"]["tail_bytes_per_fragment"], 4096 - 256)

    def test_table(self):
        done = run("frag", "--sizes=1500,2048,8192", "--rounds=1", "--patterns=now,mixed", "--seed=7",
                   "--allocators=frag,frag:order0,frag:cached:2,rte_malloc,mempool")
        self.assertEqual(done.returncode, 0, done.stderr)
        for text in ("now: a fragment is allocated", "seed 7", "A cache line from core to", "now: why",
                     "DPDK's best", "time of the floor", "mixed: why",
                     "- frag:order0, 8192: pages of 4096 bytes are too small"):
            self.assertIn(text, done.stdout)
        self.assertRegex(done.stdout, r"bytes +rounds +reuse +order0 +cached:2 +rte_malloc +mempool +floor")
        self.assertRegex(done.stdout, r"(?m)^8192 +(\d+ (near|far)|none) ")
        self.assertEqual(re.findall(r"(?m)^(\d+) +order0 ", done.stdout), ["2048", "2048"])

    def test_why_of_all_sizes(self):
        done = run("frag", "--sizes=64,256", "--rounds=1", "--patterns=now", "--allocators=frag", "--why")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(re.findall(r"(?m)^(\d+) +reuse ", done.stdout), ["64", "256", "64", "256"])

    def test_one_lcore(self):
        done = run("frag", "--sizes=64", "--rounds=1", "--patterns=now,remote", "--allocators=frag",
                   "--", "--lcores=0@0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 patterns need a second lcore and were left out", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^64 +1 unprobed ")

    def test_too_little_memory(self):
        """A mempool of DPDK has its reason; ours is an error too."""
        for allocator, error in (("mempool", False), ("frag:reuse", True)):
            with self.subTest(allocator=allocator):
                done = run("frag", "--sizes=16384", "--rounds=1", "--patterns=now",
                           f"--allocators={allocator}", "--", "--socket-limit=16")
                self.assertEqual(done.returncode != 0, error, done.stderr)
                self.assertEqual(len(said(done)), error)
                self.assertRegex(done.stdout, rf"- {allocator}, 16384: no memory for .*: it needs about "
                                 r"\d+ hugepages of 2 MiB, \d+ are free; ")

    def test_time_that_is_over(self):
        out = self.run_json("--sizes=64,256", "--rounds=1000", "--max-seconds=2", "--patterns=now")
        self.assertTrue(out["short_of_rounds"])


if __name__ == "__main__":
    unittest.main()
