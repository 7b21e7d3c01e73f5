# SPDX-License-Identifier: BSD-3-Clause
"""pagewheel-bench: what it prints, and what it refuses. No figure is judged."""

import json
import re
import subprocess
import unittest

from rig import BINARY, run, said

PATTERNS = ["same", "ring128", "ring1500", "split128/fresh", "split128/disorder",
            "split1500/fresh", "split1500/disorder", "hold"]
PLAIN = ["plain_same", "plain_ring128", "plain_ring1500"]
FRAG_PATTERNS = ["now", "now/write", "window", "window/write", "window/fragmented", "hold", "remote"]
TCP_PATTERNS = {"accept": "connection", "request": "request", "segment": "segment",
                "copied": "segment", "merged": "segment", "send": "segment"}
COUNTERS = ["refills_per_1000", "reuses_per_1000", "cache_hits_per_1000", "ring_hits_per_1000",
            "buddy_hits_per_1000", "splits_per_1000", "merges_per_1000", "fallbacks_per_1000",
            "tail_bytes_per_fragment", "held_bytes"]
REGIMES = ("near", "far", "unprobed")


def rounds(cell):
    return sum(cell[regime]["rounds"] for regime in REGIMES if regime in cell)


class Frame(unittest.TestCase):
    REFUSED = (
        ([], "no experiment named"),
        (["nosuch"], "no experiment 'nosuch': expected one of: stream, udp"),
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
        (["gro", "--flows=0"], "from 1 to 65536"),
        (["gro", "--flows=65537"], "from 1 to 65536"),
        (["gro", "--flows=1,1"], "each once"),
        (["gro", "--order=random"], "robin random1 random4"),
        (["gro", "--order="], "parted by commas"),
        (["gro", "--order=robin,robin"], "each once"),
        (["gro", "--payload=1449"], "from 1 to 1448"),
        (["gro", "--reorder=101"], "from 0 to 100"),
        (["gro", "--headers=warm"], "hot cold"),
        (["gro", "--flush=33"], "from 1 to 32"),
        (["gro", "--cksum=none"], "vouched software"),
        (["gro", "--hash=bad"], "good same"),
        (["gro", "--all=1"], "takes no value"),
        (["tcp", "--idle=1000001"], "from 0 to 1000000"),
        (["tcp", "--idle=-1"], "from 0 to 1000000"),
        (["tcp", "--idle=0,0"], "each once"),
        (["tcp", "--patterns=nosuch"], "accept request segment copied merged send"),
        (["tcp", "--patterns="], "parted by commas"),
        (["tcp", "--flows=1"], "unknown option --flows"),
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
        for word in ("pool", "frag", "gro", "tcp"):
            self.assertIn(word, done.stdout)
        done = run("frag", "--help")
        self.assertEqual(done.returncode, 0)
        for word in ("--allocators=LIST", "--sizes=LIST", "64 to 16384", "--why", "frag:page_pool",
                     "rte_malloc", "mempool:pagewheel", "mixed", *FRAG_PATTERNS):
            self.assertIn(word, done.stdout)
        done = run("gro", "--help")
        self.assertEqual(done.returncode, 0)
        for word in ("--flows=LIST", "1 to 65536", "robin,random1,random4", "--reorder=LIST",
                     "--headers=LIST", "--flush=LIST", "--hash=LIST", "--all", "rte burst", "rte ctx",
                     "rte_ipv4_udptcp_cksum_verify()"):
            self.assertIn(word, done.stdout)
        done = run("tcp", "--help")
        self.assertEqual(done.returncode, 0)
        for word in ("--idle=LIST", "0 to 1000000", "--patterns=LIST", "virtual",
                     *(f"  {name} " for name in TCP_PATTERNS)):
            self.assertIn(word, done.stdout)
        done = run("pool", "--help")
        self.assertEqual(done.returncode, 0)
        for word in ("--handlers=LIST", "--rounds=N", "default 15", "--json", "--lcores=",
                     "lf_stack", "pagewheel:reuse", *PATTERNS, *PLAIN):
            self.assertIn(word, done.stdout)

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            for what in (("pool", "--patterns=same", "--handlers=stack", "--sizes=4096"),
                         ("frag", "--patterns=now", "--allocators=mempool", "--sizes=64"),
                         ("gro", "--quick", "--flows=1", "--headers=hot"),
                         ("tcp", "--idle=0", "--patterns=merged")):
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
        self.assertIn("One lcore", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^same +2 unprobed ")

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
        self.assertRegex(done.stdout, r"(?m)^64 +2 unprobed ")

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


class Gro(Experiment):
    LISTS = ("order", "flush", "headers", "payload", "cksum", "reorder", "hash")

    def run_json(self, *arguments):
        done = run("gro", "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(said(done), [])
        out = json.loads(done.stdout)
        self.assertTrue(out["passed"])
        return out

    def check_groups(self, out, flows):
        """Each contender of each group has merged something, or nothing, and lost nothing."""
        for group in out["groups"]:
            self.assertEqual(tuple(group["settings"]), self.LISTS)
            contenders = ["rte burst", "rte ctx", "pagewheel", "floor"]
            if group["settings"]["flush"] > 1:
                contenders.remove("rte burst")
            self.assertEqual([(c["flows"], c["contender"]) for c in group["cells"]],
                             [(f, c) for f in flows for c in contenders])
            for cell in group["cells"]:
                with self.subTest(**group["settings"], flows=cell["flows"], contender=cell["contender"]):
                    self.check_times(cell, out["short_of_rounds"])
                    self.assertNotIn("reason", cell)
                    if rounds(cell) > 0:
                        self.assertAlmostEqual(cell["merge_ratio"],
                                               cell["packets_in"] / cell["packets_out"], places=4)
                        self.assertGreaterEqual(cell["packets_in"], cell["packets_out"])

    def test_quick(self):
        out = self.run_json("--quick")
        self.assertEqual((out["experiment"], out["unit"]), ("gro", "ns a packet"))
        for word in ("cpu", "kernel", "dpdk", "hugepage_bytes", "tsc_hz"):
            self.assertTrue(out["environment"][word])
        self.assertEqual([(g["settings"]["headers"], g["settings"]["flush"]) for g in out["groups"]],
                         [("hot", 1), ("hot", 4), ("cold", 1), ("cold", 4)])
        self.check_groups(out, [1, 32, 4096])
        self.assertGreater(sum(rounds(c) for g in out["groups"] for c in g["cells"]), 0)

    def test_all_settings(self):
        out = self.run_json("--all", "--flows=1,300", "--rounds=1", "--max-seconds=50")
        self.assertEqual(len(out["groups"]), 3 * 2 * 2 * 2 * 2 * 2 * 2)
        self.assertEqual(len({tuple(g["settings"].values()) for g in out["groups"]}), 192)
        self.check_groups(out, [1, 300])

    def test_odd_settings(self):
        """A window that the packets of a pass are no multiple of; all pairs change places."""
        out = self.run_json("--flows=1,7,65536", "--flush=3,32", "--payload=1,63", "--reorder=100",
                            "--order=robin,random4", "--cksum=software", "--headers=hot,cold",
                            "--rounds=1", "--max-seconds=40")
        self.check_groups(out, [1, 7, 65536])

    def test_what_is_merged(self):
        """Of one flow 45 segments of 1448 bytes fit into 64 KiB; of 32, four bursts have four each."""
        out = self.run_json("--flows=1,32", "--order=robin", "--headers=hot", "--cksum=vouched",
                            "--flush=1,4", "--rounds=1")
        merged = {(g["settings"]["flush"], c["flows"], c["contender"]): c["merge_ratio"]
                  for g in out["groups"] for c in g["cells"]}
        for contender in ("rte ctx", "pagewheel"):
            self.assertEqual(merged[1, 1, contender], 32)
            self.assertEqual(merged[1, 32, contender], 1)
            self.assertAlmostEqual(merged[4, 1, contender], 128 / 3, places=3)
            self.assertEqual(merged[4, 32, contender], 4)
            self.assertEqual(merged[4, 1, "floor"], 1)

    def test_same_seed_same_packets(self):
        what = ("--flows=8", "--order=random1", "--headers=hot", "--cksum=vouched", "--reorder=10",
                "--rounds=2")
        once, again, other = (
            [c["packets_out"] for g in self.run_json(*what, f"--seed={seed}")["groups"] for c in g["cells"]]
            for seed in (3, 3, 4))
        self.assertEqual(once, again)
        self.assertNotEqual(once, other)

    def test_table(self):
        done = run("gro", "--quick", "--rounds=1", "--flows=1,32", "--headers=hot",
                   "--cksum=vouched,software", "--seed=7")
        self.assertEqual(done.returncode, 0, done.stderr)
        for text in ("order robin, flush 4, headers hot, payload 1448, cksum software, reorder 0, hash good",
                     "rte_gro verifies nothing", "seed 7", "One lcore", "DPDK's best",
                     "merged: pagewheel", "time of the floor"):
            self.assertIn(text, done.stdout)
        self.assertRegex(done.stdout, r"flows +rounds +burst +ctx +pagewheel +floor")
        self.assertRegex(done.stdout, r"flows +rounds +ctx +pagewheel +floor")
        self.assertRegex(done.stdout, r"(?m)^32 +1 unprobed ")

    def test_too_little_memory(self):
        done = run("gro", "--quick", "--", "--socket-limit=32")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(len(said(done)), 1)
        self.assertRegex(said(done)[0], r"no memory for a pool of \d+ mbufs: it needs about \d+ "
                         r"hugepages of 2 MiB, \d+ are free; ")

    def test_time_that_is_over(self):
        out = self.run_json("--flows=1,8", "--rounds=1000", "--max-seconds=1", "--headers=hot")
        self.assertTrue(out["short_of_rounds"])


class Tcp(Experiment):
    def run_json(self, *arguments):
        done = run("tcp", "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(said(done), [])
        out = json.loads(done.stdout)
        self.assertTrue(out["passed"])
        return out

    def check_cells(self, out, idle, patterns):
        """Each has a time, and its rate is of that time."""
        (group,) = out["groups"]
        self.assertEqual([(c["idle"], c["pattern"], c["piece"]) for c in group["cells"]],
                         [(i, p, TCP_PATTERNS[p]) for i in idle for p in patterns])
        for cell in group["cells"]:
            with self.subTest(idle=cell["idle"], pattern=cell["pattern"]):
                self.check_times(cell, out["short_of_rounds"])
                self.assertNotIn("reason", cell)
                self.assertEqual(cell["piece_bytes"], 1448 if cell["piece"] == "segment" else 0)
                if rounds(cell) > 0:
                    self.assertAlmostEqual(cell["pieces_per_s"] * cell["unprobed"]["median_ns"] / 1e9,
                                           1, places=4)

    def test_quick(self):
        out = self.run_json("--quick")
        self.assertEqual((out["experiment"], out["unit"]), ("tcp", "ns a piece"))
        self.check_environment(out)
        self.check_cells(out, [0, 1000], list(TCP_PATTERNS))
        self.assertGreater(sum(rounds(c) for c in out["groups"][0]["cells"]), 0)

    def test_memory_of_connections(self):
        """It is what the endpoint takes for all connections, of which a few thousand are not idle."""
        out = self.run_json("--idle=33,50000", "--rounds=1", "--patterns=request,m")
        self.check_cells(out, [33, 50000], ["request", "merged"])
        self.assertEqual([m["idle"] for m in out["memory"]], [33, 50000])
        for memory in out["memory"]:
            self.assertEqual(memory["max_conns"], memory["idle"] + 4096)
            self.assertAlmostEqual(memory["bytes_a_connection"] * memory["max_conns"] / memory["bytes"], 1,
                                   places=4)
            self.assertTrue(100 < memory["bytes_a_connection"] < 2000, memory)

    def test_table(self):
        done = run("tcp", "--quick", "--rounds=1", "--idle=0,100", "--patterns=accept,send")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"idle +rounds +accept +send\n")
        self.assertRegex(done.stdout, r"(?m)^100 +1 unprobed +[\d.]+ ±[\d.]+ +[\d.]+ ±[\d.]+ *$")
        self.assertRegex(done.stdout, r"idle +accept: 1/s +send: Gbit/s +bytes a connection\n")
        self.assertRegex(done.stdout, r"(?m)^100 +\d+ +\d+\.\d +\d+$")
        for text in ("One lcore", "virtual time", "1 rounds wanted"):
            self.assertIn(text, done.stdout)
        self.assertNotIn("DPDK's best", done.stdout)

    def test_too_little_memory(self):
        for limit, what in ((8, "mbufs and fragments"), (64, "an endpoint of 1004096 connections")):
            done = run("tcp", "--idle=1000000", "--", f"--socket-limit={limit}")
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(len(said(done)), 1)
            self.assertRegex(said(done)[0], rf"no memory for {what}: it needs about \d+ hugepages")

    def test_time_that_is_over(self):
        out = self.run_json("--idle=0", "--rounds=1000", "--max-seconds=1", "--patterns=merged")
        self.assertTrue(out["short_of_rounds"])


if __name__ == "__main__":
    unittest.main()
