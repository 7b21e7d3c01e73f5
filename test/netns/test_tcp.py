# SPDX-License-Identifier: BSD-3-Clause
"""pagewheel and Linux's own TCP, over a veth pair."""

import hashlib
import os
import random
import re
import subprocess
import tempfile
import time
import unittest

import pwlab

BINARY = os.environ["PAGEWHEEL"]
STRATEGIES = ("order0", "order3", "cached", "reuse", "reuse:0", "flip", "page_pool")
HERE = os.path.dirname(os.path.realpath(__file__))


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class WithLab(unittest.TestCase):
    """Each test has namespaces of its own."""

    def setUp(self):
        self.lab = self.enterContext(pwlab.Lab())
        self.files = self.enterContext(tempfile.TemporaryDirectory())

    def start(self, *options):
        return self.enterContext(pwlab.Pagewheel(self.lab, BINARY, *options))

    def random_file(self, size, name="data"):
        path = os.path.join(self.files, name)
        data = random.Random(size).randbytes(size)
        with open(path, "wb") as file:
            file.write(data)
        return path, data

    def popen(self, *args, **kwargs):
        """A process of the peer's, which does not outlive the test."""
        process = subprocess.Popen(self.lab.in_peer(*args), text=False, **kwargs)

        def end():
            process.kill()
            process.communicate()

        self.addCleanup(end)
        return process

    def nc(self, port, path, **kwargs):
        with open(path, "rb") as file:
            return self.popen("nc", "-N", pwlab.DUT_IP, str(port), stdin=file, **kwargs)

    def ping(self, size=56, count=2):
        done = subprocess.run(
            self.lab.in_peer("ping", "-c", str(count), "-i", "0.05", "-W", "2", "-s", str(size),
                             "-M", "do", pwlab.DUT_IP),
            capture_output=True, text=True, check=False)
        return f" {count} received" in done.stdout and "wrong data" not in done.stdout

    def assert_ends_well(self, wheel):
        """Connections are gone, no buffer is missing, the exit code is 0."""
        self.assertIsNotNone(wheel.wait_for("tcp", lambda tcp: tcp["curr_estab"] == 0))
        self.assertIsNotNone(
            wheel.wait_for("pool", lambda pool: pool["free"] == pool["objects"]))
        self.assertEqual(wheel.stop(), 0, wheel.log)
        self.assertEqual(wheel.log.count("Accumulated forward statistics"), 1)


class Transfer(WithLab):
    def test_100_mb_arrive_with_their_sha256(self):
        path, data = self.random_file(100_000_000)
        for strategy in STRATEGIES:
            with self.subTest(strategy=strategy):
                with pwlab.Pagewheel(self.lab, BINARY, "--digest",
                                     f"--strategy={strategy}") as wheel:
                    self.assertEqual(self.nc(9, path).wait(timeout=60), 0)
                    self.assert_ends_well(wheel)
                    self.assertRegex(wheel.log, f"100000000 bytes, SHA-256 {sha256(data)}")

    def test_10_mb_come_back(self):
        path, data = self.random_file(10_000_000)
        for strategy in STRATEGIES:
            with self.subTest(strategy=strategy):
                with pwlab.Pagewheel(self.lab, BINARY, f"--strategy={strategy}") as wheel:
                    peer = self.nc(7, path, stdout=subprocess.PIPE)
                    self.assertEqual(sha256(peer.communicate(timeout=60)[0]), sha256(data))
                    self.assert_ends_well(wheel)

    def test_half_close(self):
        wheel = self.start()
        for size in (1, 5, 1448, 1449, 100_000):
            path, data = self.random_file(size)
            peer = self.nc(7, path, stdout=subprocess.PIPE)
            self.assertEqual(peer.communicate(timeout=10)[0], data)
        self.assert_ends_well(wheel)

    def test_50_connections_at_once(self):
        wheel = self.start()
        sent = [self.random_file(100_000 + i, f"data{i}") for i in range(50)]
        peers = [self.nc(7, path, stdout=subprocess.PIPE) for path, _ in sent]
        for peer, (_, data) in zip(peers, sent):
            self.assertEqual(sha256(peer.communicate(timeout=60)[0]), sha256(data))
        self.assertEqual(wheel.stats("tcp")["passive_opens"], 50)
        self.assert_ends_well(wheel)

    def test_peer_that_does_not_read(self):
        """It sends, but takes nothing of the echo for a while: our window closes, then opens."""
        wheel = self.start()
        path, data = self.random_file(30_000_000)
        peer = self.popen("python3", os.path.join(HERE, "slow_reader.py"), pwlab.DUT_IP, "7", path,
                          stdout=subprocess.PIPE)
        self.assertIsNotNone(wheel.wait_for("tcp", lambda tcp: tcp["zero_windows"] > 0))
        self.assertEqual(peer.communicate(timeout=60)[0].decode().strip(), sha256(data))
        self.assert_ends_well(wheel)

    def test_stop_and_start_in_the_middle(self):
        """A stopped pagewheel does not poll; connections live on."""
        wheel = self.start("--digest")
        path, data = self.random_file(100_000_000)
        peer = self.nc(9, path)
        self.assertIsNotNone(wheel.wait_for("tcp", lambda tcp: tcp["in_bytes"] > 1_000_000))
        wheel.command("stop")
        time.sleep(1)
        wheel.command("start")
        self.assertEqual(peer.wait(timeout=60), 0)
        self.assertIsNotNone(wheel.wait_for("tcp", lambda tcp: tcp["curr_estab"] == 0))
        self.assertEqual(wheel.stop(), 0)
        self.assertIn(sha256(data), wheel.log)


class Ends(WithLab):
    def test_quit_with_data_on_its_way(self):
        wheel = self.start()
        path, _ = self.random_file(50_000_000)
        for port in (7, 9, 7):
            self.nc(port, path, stdout=subprocess.DEVNULL)
        self.assertIsNotNone(wheel.wait_for("tcp", lambda tcp: tcp["in_bytes"] > 1_000_000))
        # It counts its buffers at the end, and fails when one is missing.
        self.assertEqual(wheel.stop(), 0, wheel.log)

    def test_killed_peer(self):
        wheel = self.start()
        path, _ = self.random_file(50_000_000)
        peer = self.nc(7, path, stdout=subprocess.DEVNULL)
        self.assertIsNotNone(wheel.wait_for("tcp", lambda tcp: tcp["in_bytes"] > 1_000_000))
        peer.kill()
        peer.wait(timeout=10)
        self.assert_ends_well(wheel)

    def test_closed_port(self):
        wheel = self.start()
        done = subprocess.run(self.lab.in_peer("nc", "-w", "5", pwlab.DUT_IP, "81"),
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(wheel.stats("tcp")["out_rsts"], 1)
        self.assert_ends_well(wheel)


class LinkLevel(WithLab):
    def test_ping(self):
        wheel = self.start()
        for size in (0, 1, 56, 1472):
            self.assertTrue(self.ping(size), f"{size} bytes")
        self.assert_ends_well(wheel)

    def test_unfilled_checksums_name_the_cure(self):
        wheel = self.start()
        subprocess.run(self.lab.in_peer("ethtool", "-K", pwlab.PEER_DEV, "tx", "on"), check=True,
                       capture_output=True)
        path, _ = self.random_file(1000)
        self.nc(9, path)
        self.assertTrue(self.ping())
        # Linux sends its SYN again and again.
        self.assertIsNotNone(
            wheel.wait_for("inet", lambda inet: inet["rx_bad_l4_cksum"] >= 3, timeout=10))
        wheel.command("show inet")
        self.assertEqual(wheel.stop(), 0)
        self.assertIn("ethtool -K DEV tx off", wheel.log)

    def test_rates_are_of_frames_without_crc(self):
        """About 1000 frames of 1500 bytes a second are 12 Mbit/s."""
        wheel = self.start("--stats-period=1")
        sender = ("import socket, time\n"
                  "s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)\n"
                  f"s.bind(('{pwlab.PEER_DEV}', 0))\n"
                  "begin = time.monotonic()\n"
                  "for i in range(4000):\n"
                  "    s.send(bytes(1500))\n"
                  "    time.sleep(max(0, begin + (i + 1) / 1000 - time.monotonic()))\n")
        subprocess.run(self.lab.in_peer("python3", "-c", sender), check=True)
        self.assertEqual(wheel.stop(), 0)
        reports = [(float(a), float(b)) for a, b in re.findall(
            r"port 0: RX (\d+) packets/s, ([\d.]+) Mbit/s", wheel.log)]
        # On a busy machine the rate may be another, but bits and frames belong together.
        full = [(packets, mbit) for packets, mbit in reports if packets > 100]
        self.assertGreaterEqual(len(full), 2, wheel.log)
        for packets, mbit in full:
            self.assertAlmostEqual(mbit, packets * 1500 * 8 / 1e6, delta=0.05)
        self.assertAlmostEqual(sum(packets for packets, _ in reports), 4000, delta=1200)

    def test_malformed_frames(self):
        wheel = self.start()
        self.assertTrue(self.ping())
        mac = re.search(r"lladdr (\S+)", subprocess.run(
            self.lab.in_peer("ip", "neigh", "show", pwlab.DUT_IP), capture_output=True, text=True,
            check=True).stdout).group(1)
        before = wheel.stats("inet")
        count, seed = 50_000, random.randrange(1 << 32)
        with self.subTest(seed=seed):
            subprocess.run(self.lab.in_peer(
                "python3", os.path.join(HERE, "send_frames.py"), pwlab.PEER_DEV, mac,
                pwlab.PEER_IP, pwlab.DUT_IP, str(count), str(seed)), check=True)
            inet = wheel.wait_for(
                "inet", lambda inet: inet["rx_frames"] - before["rx_frames"] >= count * 0.9)
            self.assertIsNotNone(inet)
            went = ("rx_arp", "rx_icmp_echo", "rx_tcp", "rx_short", "rx_other_mac",
                    "rx_unknown_type", "rx_bad_arp", "rx_bad_ip", "rx_bad_length",
                    "rx_bad_ip_cksum", "rx_fragment", "rx_other_ip", "rx_unknown_proto",
                    "rx_bad_l4_cksum")
            self.assertEqual(sum(inet[name] for name in went), inet["rx_frames"])
            self.assertTrue(self.ping())
            self.assert_ends_well(wheel)

    def test_frames_larger_than_a_buffer(self):
        """They are cut on their way into the port: dropped and counted, not processed."""
        with pwlab.Lab(mtu=9000, name="jumbo") as lab:
            self.lab = lab
            with pwlab.Pagewheel(lab, BINARY) as wheel:
                self.assertTrue(self.ping(1472))
                self.assertFalse(self.ping(4000))
                self.assertEqual(wheel.stats("inet")["rx_bad_length"], 2)
                # A peer whose MTU is larger sends what fits our buffers: we told it our MSS.
                path, data = self.random_file(1_000_000)
                peer = self.nc(7, path, stdout=subprocess.PIPE)
                self.assertEqual(sha256(peer.communicate(timeout=30)[0]), sha256(data))
                self.assert_ends_well(wheel)


if __name__ == "__main__":
    unittest.main()
