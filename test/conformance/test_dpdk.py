# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's own programs, unchanged, on the mempool handler."""

import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

# EAL refuses plugins below a directory that everybody may write to; the clone may lie in one.
FOLDER = tempfile.TemporaryDirectory(dir="/run", prefix="pagewheel-")
PLUGIN = shutil.copy(os.environ["PAGEWHEEL_PLUGIN"], FOLDER.name)
STRATEGIES = ("order0", "order0:1", "order3", "cached", "reuse", "reuse:9", "flip", "page_pool")
PREFIX = f"pw-dpdk-{os.getpid()}"
EAL = ["-l", "0,1", "--no-pci", "--in-memory", "-d", PLUGIN, "--mbuf-pool-ops-name=pagewheel"]


def environment(strategy, check=""):
    return {**os.environ, "PAGEWHEEL_STRATEGY": strategy, "PAGEWHEEL_CHECK": check}


def telemetry(command):
    """The answer, or None while nobody answers."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as sock:
            sock.settimeout(5)
            sock.connect(f"/var/run/dpdk/{PREFIX}/dpdk_telemetry.v2")
            sock.recv(1024)
            sock.send(command.encode())
            return json.loads(sock.recv(65536))[command.split(",")[0]]
    except (FileNotFoundError, ConnectionRefusedError):
        return None


class Autotests(unittest.TestCase):
    def run_suite(self, name):
        for i, strategy in enumerate(STRATEGIES):
            with self.subTest(strategy=strategy):
                # With checks that stop at anything wrong, for every second strategy.
                done = subprocess.run(["dpdk-test", *EAL, name],
                                      env=environment(strategy, ("", "stop")[i % 2]),
                                      stdin=subprocess.DEVNULL, capture_output=True,
                                      timeout=120, check=False)
                out = done.stdout.decode(errors="replace")
                self.assertIn("Test OK", out, out[-2000:] + done.stderr.decode()[-2000:])
                self.assertNotIn("Test Failed", out)

    def test_mempool(self):
        self.run_suite("mempool_autotest")

    def test_mbuf(self):
        self.run_suite("mbuf_autotest")


class Testpmd(unittest.TestCase):
    def run_testpmd(self, strategy, *options, seconds=3):
        """Forward for a while, stop, and dump the pool."""
        process = subprocess.Popen(
            ["dpdk-testpmd", *EAL, "--vdev=net_null0", "--vdev=net_null1", "--", "-i", *options],
            env=environment(strategy), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace")
        process.stdin.write("start\n")
        process.stdin.flush()
        time.sleep(seconds)
        try:
            out, _ = process.communicate("stop\ndump_mempool mb_pool_0\nquit\n", timeout=30)
        finally:
            process.kill()
        return process.returncode, out

    def test_no_buffer_is_missing(self):
        for strategy in ("order0", "reuse", "flip", "page_pool"):
            for cache in ("--mbcache=0", "--mbcache=250"):
                with self.subTest(strategy=strategy, cache=cache):
                    code, out = self.run_testpmd(strategy, cache, "--total-num-mbufs=8192")
                    self.assertEqual(code, 0, out)
                    self.assertGreater(int(re.findall(r"RX-total: (\d+)", out)[-1]), 1000)
                    counts = dict(re.findall(r"^ *(size|common_pool_count|total_cache_count)=(\d+)",
                                             out, re.MULTILINE))
                    free = int(counts["common_pool_count"]) + int(
                        counts.get("total_cache_count", 0))
                    self.assertEqual(free, int(counts["size"]), out)

    def test_pools_answer_by_telemetry(self):
        process = subprocess.Popen(
            ["dpdk-testpmd", *EAL, f"--file-prefix={PREFIX}", "--vdev=net_null0",
             "--vdev=net_null1", "--", "-i", "--mbcache=0", "--total-num-mbufs=8192"],
            env=environment("page_pool", "count"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace")
        try:
            end = time.monotonic() + 20
            pool = {}
            while pool.get("objects") != 8192 and time.monotonic() < end:
                time.sleep(0.1)  # it answers while the pool is being made, too
                pool = telemetry("/pagewheel/pool,mb_pool_0") or {}
            self.assertEqual(telemetry("/pagewheel/pool"), ["mb_pool_0"])
            self.assertEqual((pool["strategy"], pool["objects"]), ("page_pool", 8192))
            for counter in ("free", "gets", "puts", "reuses", "remote_frees", "double_puts",
                            "foreign_puts", "pinned_pages", "ring_hits", "pages_touched",
                            "pages_held_max"):
                self.assertGreaterEqual(pool[counter], 0)
            self.assertIsNone(telemetry("/pagewheel/pool,nosuch"))
            process.communicate("quit\n", timeout=30)
            self.assertEqual(process.returncode, 0)
        finally:
            process.kill()
            process.communicate()
            shutil.rmtree(f"/var/run/dpdk/{PREFIX}", ignore_errors=True)

    def test_unknown_strategy_is_refused_with_the_list(self):
        code, out = self.run_testpmd("nosuch", seconds=0)
        self.assertNotEqual(code, 0)
        self.assertIn("unknown strategy 'nosuch'", out)
        self.assertIn("order0, order3", out)

    def test_too_large_a_buffer_is_refused_with_both_numbers(self):
        code, out = self.run_testpmd("order0", "--mbuf-size=9216", "--total-num-mbufs=2048",
                                     seconds=0)
        self.assertNotEqual(code, 0)
        self.assertRegex(out, r"9344 bytes .* does not fit the 4096 bytes")


if __name__ == "__main__":
    unittest.main()
