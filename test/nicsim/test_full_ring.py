# SPDX-License-Identifier: BSD-3-Clause
"""A TX ring that is full for most of the time: what the port does not take yet has to wait."""

import pwlab
import rig
from pwlab import nicsim


class FullRing(rig.WithCard):
    """Both ends of a cable in one pagewheel, whose generator could send much more than the line."""

    def run_generator(self, *options):
        """Returns pagewheel, which has done what it was asked."""
        card = self.card("--wire=loop=1,rate=200M", "--wire=loop=0,rate=200M", hold=False)
        wheel = self.running.enter_context(nicsim.PagewheelOnCard(
            card, rig.PAGEWHEEL, f"--ip={pwlab.PEER_IP}/24", f"--connect={pwlab.DUT_IP}:9",
            "--duration=2", "--txd=64", *options))
        wheel.wait_said("s are over")
        return wheel

    def assert_nothing_dropped(self, wheel):
        """Neither for the port nor for buffers; all of these are back, as the exit code tells."""
        self.assertEqual(wheel.stop(), 0, wheel.log)
        self.assertEqual(rig.accumulated(wheel.log)["TX-dropped"], 0, wheel.log)

    def test_datagrams(self):
        for size in (18, 11000):
            with self.subTest(size=size):
                wheel = self.run_generator("--connect-app=udp_stream", f"--message-bytes={size}")
                sent = wheel.stats("tcp/client")["transactions"]
                self.assertGreater(sent, 100)
                self.assertIsNotNone(wheel.wait_for("inet", lambda inet: inet["rx_udp"] == sent, 10),
                                     wheel.stats("inet"))
                self.assert_nothing_dropped(wheel)

    def test_streams(self):
        """More than can wait is lost, as in any queue, and sent again."""
        wheel = self.run_generator("--connections=16")
        self.assertIsNotNone(wheel.wait_for("tcp", lambda tcp: tcp["curr_estab"] == 0, 20))
        tcp = wheel.stats("tcp")
        self.assertEqual(tcp["in_bytes"], tcp["out_bytes"])
        self.assertEqual(wheel.stop(), 0, wheel.log)

    def test_stop_with_a_full_ring(self):
        """What waits goes with the stop, and is counted."""
        card = self.card("--wire=loop=1,rate=1M", "--wire=loop=0,rate=1M", hold=False)
        wheel = self.running.enter_context(nicsim.PagewheelOnCard(
            card, rig.PAGEWHEEL, f"--ip={pwlab.PEER_IP}/24", f"--connect={pwlab.DUT_IP}:9",
            "--connect-app=udp_stream", "--message-bytes=1472", "--duration=0", "--txd=64"))
        self.assertIsNotNone(wheel.wait_for("tcp/client", lambda c: c["transactions"] > 100))
        self.assertEqual(wheel.stop(), 0, wheel.log)
        self.assertGreater(rig.accumulated(wheel.log)["TX-dropped"], 0)
