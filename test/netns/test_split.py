# SPDX-License-Identifier: BSD-3-Clause
"""--split: buffers are got by one lcore and freed by another; nothing is lost between them."""

import subprocess
import unittest

import pwlab
from test_tcp import STRATEGIES, WithLab, sha256


class Split(WithLab):
    def start(self, *options):
        return super().start("--split", *options)

    def test_streams_both_ways(self):
        """Byte for byte, under each strategy, with and without copies on the way."""
        path, data = self.random_file(10_000_000)
        for options in (*((f"--strategy={name}",) for name in STRATEGIES), ("--copy-break=256",)):
            with self.subTest(options=options):
                wheel = self.start(*options)
                peer = self.nc(7, path, stdout=subprocess.PIPE)
                self.assertEqual(sha256(peer.communicate(timeout=60)[0]), sha256(data))
                lcores = wheel.stats("lcores")
                self.assertTrue(0 < lcores["receiving_busy_cycles"] < lcores["busy_cycles"])
                self.assertLess(lcores["receiving_cycles"], lcores["cycles"])
                self.assert_ends_well(wheel)

    def test_stopped_in_the_middle(self):
        """What one lcore has received and the other not taken yet is taken at the stop, in order."""
        path, data = self.random_file(50_000_000)
        wheel = self.start("--digest")
        peer = self.nc(9, path)
        for _ in range(10):
            had = wheel.stats("tcp")["in_bytes"]
            if wheel.wait_for("tcp", lambda tcp, had=had: tcp["in_bytes"] > had, 2) is None:
                break
            wheel.command("stop", "Accumulated")
            wheel.command("start", "packet forwarding")
        self.assertEqual(peer.wait(timeout=60), 0)
        self.assertIsNotNone(wheel.wait_for("tcp", lambda tcp: tcp["curr_estab"] == 0))
        self.assertIsNotNone(wheel.wait_for("pool", lambda pool: pool["free"] == pool["objects"]))
        self.assertEqual(wheel.stop(), 0, wheel.log)
        self.assertIn(sha256(data), wheel.log)

    def test_ended_in_the_middle(self):
        """All buffers are back, or the exit code tells."""
        wheel = self.start()
        self.popen("nc", pwlab.DUT_IP, "19", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.assertIsNotNone(wheel.wait_for("tcp", lambda tcp: tcp["out_bytes"] > 1_000_000))
        self.assertEqual(wheel.stop(), 0, wheel.log)

    def test_who_does_what(self):
        wheel = self.start()
        wheel.command("show config fwd", "lcore 2: RX port 0 queue 0 -> TX port 0 queue 0, received by "
                                         "lcore 1")
        self.assertEqual(wheel.stop(), 0)


if __name__ == "__main__":
    unittest.main()
