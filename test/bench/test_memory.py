# SPDX-License-Identifier: BSD-3-Clause
"""Experiments whose wire is memory, in short form: what they count, and what they refuse."""

import unittest

from rig import Report, run, said

STRATEGIES = ["order0", "order3", "cached", "reuse", "flip", "page_pool"]


class Memory(unittest.TestCase):
    def measure(self, *arguments):
        done = run(*arguments, "--quick", "--rounds=2", "--json", timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = Report(done.stdout)
        self.assertFalse(report.json["failed"])
        for cell in report.cells:
            first = report.sections[0]["metrics"][0]["key"]
            self.assertEqual(cell["reason"], "")
            self.assertGreaterEqual(cell["metrics"][first]["n"], 1)
        return report

    def refused(self, *arguments):
        done = run(*arguments)
        self.assertNotEqual(done.returncode, 0)
        lines = said(done)
        self.assertEqual(len(lines), 1, done.stderr)
        return lines[0]


class UdpStream(Memory):
    def test_quick(self):
        report = self.measure("udp_stream", "--no-profile")
        [section] = report.sections
        self.assertEqual(section["columns"], STRATEGIES)
        self.assertEqual(section["rows"], ["65507 bytes, fresh", "65507 bytes, fragmented"])
        fresh, fragmented = section["rows"]
        # What keeps no pages must fall back where there are no large ones; what keeps them need not.
        for column, falls_back in (("order0", False), ("order3", True), ("cached", False),
                                   ("reuse", True)):
            self.assertEqual(set(report.samples("fallbacks", column, fresh)), {0})
            self.assertEqual(min(report.samples("fallbacks", column, fragmented)) > 0, falls_back)
        self.assertEqual(set(report.samples("cache_hits", "order3")), {0})
        self.assertGreater(min(report.samples("cache_hits", "cached")), 0)
        self.assertEqual(set(report.samples("messages")), {256})

    def test_odd_messages(self):
        """One byte, less than a frame, just one frame, just more, and fragments of all numbers."""
        report = self.measure("udp_stream", "--no-profile", "--strategies=order0,reuse",
                              "--messages=1,2,1472,16408,16409,32816,49231,65507")
        self.assertEqual(len(report.cells), 32)

    def test_text_and_profiles(self):
        done = run("udp_stream", "--quick", "--strategies=order3,cached", timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        # netperf's own form, for both sides.
        self.assertEqual(done.stdout.count("Size    Size     Time         Okay Errors   Throughput"), 4)
        for row in ("fresh", "fragmented"):
            for strategy in ("order3", "cached"):
                self.assertIn(f"{strategy}, 65507 bytes, {row}, by stage", done.stdout)
        for stage in ("copy by the wire", "rte_ipv4_frag_reassemble_packet", "freeing"):
            self.assertEqual(done.stdout.count(f"cycles a message  {stage}"), 4)

    def test_refused(self):
        self.assertIn("1 to 65507", self.refused("udp_stream", "--messages=65508"))
        self.assertIn("at most 8", self.refused("udp_stream", "--messages=1,2,3,4,5,6,7,8,9"))
        self.assertIn("page_pool", self.refused("udp_stream", "--strategies=nosuch"))
        self.assertIn("each once", self.refused("udp_stream", "--strategies=flip,flip"))


class Sizes(Memory):
    def test_quick(self):
        report = self.measure("sizes")
        [section] = report.sections
        self.assertEqual((section["rows"], section["columns"]), (["64", "2048", "16384"], STRATEGIES))
        for column in STRATEGIES:
            in_place = report.samples("in_place", column)
            self.assertEqual(min(in_place) > 0, column in ("reuse", "flip"))

    def test_odd_sizes(self):
        self.measure("sizes", "--sizes=1,1447,1449,65536", "--strategies=reuse")

    def test_layout(self):
        """As in 2009: a line a size, value and percent, the half-width beneath."""
        done = run("sizes", "--quick", "--sizes=64,128,256,1024,2048,4096",
                   "--strategies=order0,reuse", timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"message bytes +order0 +reuse \n64 +\d+[* ] +\d+ +[+-][\d.]+ %")
        self.assertRegex(done.stdout, r"\n +±[\d.]+ % +±[\d.]+ % \n128 ")

    def test_refused(self):
        self.assertIn("1 to 65536", self.refused("sizes", "--sizes=0"))
        self.assertIn("page_pool", self.refused("sizes", "--strategies=reuse:10"))


class Split(Memory):
    def test_quick(self):
        report = self.measure("split", "--buffers=4096,8192",
                              "--handlers=ring_mp_mc,stack,bucket,pagewheel:order0,pagewheel:reuse")
        [section] = report.sections
        self.assertEqual(section["columns"][-1], "floor")
        # A train of eight frames is one.
        for merged in report.samples("merged"):
            self.assertAlmostEqual(merged, 87.5, delta=0.2)
        self.assertEqual(set(report.samples("in_place", "pagewheel:order0")), {0})
        self.assertGreater(min(report.samples("in_place", "pagewheel:reuse")), 0)
        self.assertEqual(report.samples("in_place", "stack"), [])

    def test_other_rings(self):
        self.measure("split", "--ring=32", "--cache=0", "--handlers=pagewheel:reuse")

    def test_refused(self):
        self.assertIn("4096 to", self.refused("split", "--buffers=100"))
        self.assertIn("ring_mp_mc", self.refused("split", "--handlers=nosuch"))
        self.assertIn("floor is there always", self.refused("split", "--handlers=floor"))
        self.assertIn("two lcores", self.refused("split", "--", "--lcores=0@0"))


if __name__ == "__main__":
    unittest.main()
