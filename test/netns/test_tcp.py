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

    def test_merged_over_bursts(self):
        """What is held longer delays data, and loses none; not when forwarding stops either."""
        wheel = self.start("--digest", "--gro-flush=64", "--gro-timeout=1000", "--burst=4")
        path, data = self.random_file(10_000_000)
        peer = self.nc(7, path, stdout=subprocess.PIPE)
        self.assertEqual(sha256(peer.communicate(timeout=60)[0]), sha256(data))
        self.assertGreater(wheel.stats("gro")["merged"], 0)
        wheel.command("stop", "Accumulated")
        self.assertEqual(wheel.stats("gro")["held"], 0)
        wheel.command("start")
        self.assertEqual(self.nc(9, path).wait(timeout=60), 0)
        self.assertIsNotNone(wheel.wait_for("tcp", lambda tcp: tcp["curr_estab"] == 0))
        self.assertEqual(wheel.stop(), 0)
        self.assertIn(sha256(data), wheel.log)

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


class Queues(WithLab):
    """A stack for each RX queue; the kernel spreads flows over the queues of net_af_packet."""

    def start_queues(self, count, *options):
        return self.enterContext(pwlab.Pagewheel(
            self.lab, BINARY, f"--rxq={count}", f"--txq={count}",
            f"--total-num-mbufs={16384 * max(1, count // 2)}", "--digest", *options,
            vdev=f"{pwlab.VETH},qpairs={count}"))

    def talk(self, connections):
        """Echo and discard, all at once; returns what was sent to discard."""
        sent = [self.random_file(2_000_000 + i, f"data{i}") for i in range(connections)]
        echoes = [self.nc(7, path, stdout=subprocess.PIPE) for path, _ in sent]
        discards = [self.nc(9, path) for path, _ in sent]
        for peer, (_, data) in zip(echoes, sent):
            self.assertEqual(sha256(peer.communicate(timeout=60)[0]), sha256(data))
        for peer in discards:
            self.assertEqual(peer.wait(timeout=60), 0)
        return [data for _, data in sent]

    def test_connections_stay_with_their_queue(self):
        for count in (2, 4):
            with self.subTest(queues=count):
                wheel = self.start_queues(count)
                sent = self.talk(8)
                self.assertTrue(self.ping())
                tcp = wheel.wait_for("tcp", lambda tcp: tcp["curr_estab"] == 0)
                self.assertEqual((tcp["passive_opens"], tcp["out_rsts"], tcp["estab_resets"]),
                                 (16, 0, 0))
                self.assertEqual(tcp["in_bytes"], 2 * sum(len(data) for data in sent))
                wheel.command("show port xstats 0")
                self.assert_ends_well(wheel)
                for data in sent:
                    self.assertIn(sha256(data), wheel.log)
                used = re.findall(r"rx_q\d_packets: ([1-9]\d*)", wheel.log)
                self.assertGreater(len(used), 1, "all flows went to one queue")

    def test_every_queue_knows_the_neighbours(self):
        """ARP comes at one queue: no stack has to ask, and all know when the address moves."""
        wheel = self.start_queues(2)
        self.talk(4)
        inet = wheel.stats("inet")
        self.assertEqual((inet["tx_arp_requests"], inet["tx_no_neighbour"]), (0, 0))
        subprocess.run(self.lab.in_peer("ip", "link", "set", pwlab.PEER_DEV, "address",
                                        "02:00:00:00:00:77"), check=True)
        subprocess.run(self.lab.in_peer("ip", "neigh", "flush", "all"), check=True)
        self.talk(4)
        self.assert_ends_well(wheel)

    def test_reset_in_the_middle(self):
        """Connections live on, and what port and stacks count agrees."""
        wheel = self.start_queues(2)
        path, data = self.random_file(60_000_000)
        peers = [self.nc(9, path) for _ in range(2)]
        self.assertIsNotNone(wheel.wait_for("tcp", lambda tcp: tcp["in_bytes"] > 1_000_000))
        for _ in range(5):
            wheel.command("port reset 0")
            time.sleep(0.05)
        for peer in peers:
            self.assertEqual(peer.wait(timeout=60), 0)
        self.assertIsNotNone(wheel.wait_for("tcp", lambda tcp: tcp["curr_estab"] == 0))
        frames = wheel.stats("inet")["tx_frames"]
        wheel.command("show port stats 0")
        self.assert_ends_well(wheel)
        self.assertEqual(wheel.log.count(sha256(data)), 2)
        self.assertEqual(wheel.log.count("Port 0: reset"), 5)
        self.assertIn(f"TX-packets: {frames} ", wheel.log)


class Offloads(WithLab):
    """net_tap checks checksums; those of chains it fills in wrongly. Linux is at its other end."""

    def start_tap(self, *options):
        wheel = self.enterContext(pwlab.Pagewheel(
            self.lab, BINARY, "--digest", *options, vdev="net_tap0,iface=pwtap",
            stderr=subprocess.DEVNULL))
        # The peer is in the namespace of the tap: pagewheel's own.
        for args in (("addr", "add", f"{pwlab.PEER_IP}/24", "dev", "pwtap"),
                     ("link", "set", "pwtap", "up")):
            subprocess.run(["ip", "-n", self.lab.dut, *args], check=True)
        return wheel

    def popen(self, *args, **kwargs):
        process = subprocess.Popen(self.lab.in_dut(*args), text=False, **kwargs)
        self.addCleanup(process.kill)
        return process

    def assert_ends_well(self, wheel):
        """net_tap keeps buffers while it runs; that all are back is in the exit code."""
        self.assertIsNotNone(wheel.wait_for("tcp", lambda tcp: tcp["curr_estab"] == 0))
        self.assertEqual(wheel.stop(), 0, wheel.log)

    def echo(self, data, path):
        peer = self.nc(7, path, stdout=subprocess.PIPE)
        self.assertEqual(sha256(peer.communicate(timeout=60)[0]), sha256(data))

    def test_every_choice_sends_the_same(self):
        path, data = self.random_file(10_000_000)
        for options, names in (
                ((), "RX offloads: IPV4_CKSUM UDP_CKSUM TCP_CKSUM\nTX offloads: MULTI_SEGS"),
                (("--no-rx-cksum",), "RX offloads: none"),
                (("--mbuf-size=1100",), "CKSUM SCATTER\n"),
                (("--strategy=order0",), "TX offloads: MULTI_SEGS")):
            with self.subTest(options=options):
                wheel = self.start_tap(*options)
                self.echo(data, path)
                wheel.command("port reset 0")
                self.echo(data, path)
                self.assertEqual(self.nc(9, path).wait(timeout=60), 0)
                tcp = wheel.wait_for("tcp", lambda tcp: tcp["curr_estab"] == 0)
                self.assertEqual((tcp["in_bytes"], tcp["out_bytes"]), (3 * len(data), 2 * len(data)))
                self.assertEqual(wheel.stats("inet")["rx_bad_l4_cksum"], 0)
                wheel.command("show port info 0")
                self.assert_ends_well(wheel)
                self.assertIn(names, wheel.log)
                self.assertIn(sha256(data), wheel.log)

    def test_the_mode_changes(self):
        """The port gets the offloads that the mode needs, and none in the mode io."""
        path, data = self.random_file(1_000_000)
        wheel = self.start_tap()
        for mode in ("io", "tcp"):
            for command in ("stop", f"set fwd {mode}", "show port info 0"):
                wheel.command(command)
            wheel.command("start", f"{mode} packet forwarding - ports")
        self.echo(data, path)
        self.assertEqual(wheel.stop(), 0)
        self.assertRegex(wheel.log, "(?s)TX offloads: none.*TX offloads: MULTI")

    def test_link_changes_are_said_and_survived(self):
        data = random.Random(0).randbytes(30_000_000)
        wheel = self.start_tap()
        peer = self.popen("nc", "-N", pwlab.DUT_IP, "9", stdin=subprocess.PIPE)
        sent = 0
        # Some of the stream before each change, so that the connection is there; while the link is
        # down no more than the peer's socket takes.
        for state, size in (("down", 10_000_000), ("up", 50_000)) * 2:
            peer.stdin.write(data[sent:sent + size])
            peer.stdin.flush()
            if state == "down":
                self.assertIsNotNone(
                    wheel.wait_for("tcp", lambda tcp, sent=sent: tcp["in_bytes"] > sent))
            subprocess.run(["ip", "-n", self.lab.dut, "link", "set", "pwtap", state], check=True)
            time.sleep(1.3)
            sent += size
        peer.communicate(data[sent:], timeout=60)
        self.assertEqual(peer.returncode, 0)
        wheel.command("show port info 0")
        self.assert_ends_well(wheel)
        self.assertIn(sha256(data), wheel.log)
        self.assertEqual(re.findall(r"Port 0: link (up|down)", wheel.log),
                         ["up", "down", "up", "down", "up"])
        self.assertIn("went down 2 times", wheel.log)


class Stages(WithLab):
    def test_the_stages_are_all_of_it(self):
        """Cycles of the stages, with a reader that copies, against those of busy polls."""
        path, data = self.random_file(30_000_000)
        wheel = self.start("--stage-cycles", "--discard-copy")
        self.assertEqual(self.nc(9, path).wait(timeout=60), 0)
        wheel.command("show stages")
        wheel.command("stop")
        stages, busy = wheel.stats("stages"), wheel.stats("lcores")["busy_cycles"]
        self.assertEqual(stages["rx_bytes"], len(data))
        cycles = {name: value for name, value in stages.items() if not name.startswith("rx_")}
        self.assertNotIn(0, cycles.values())
        self.assertLess(abs(sum(cycles.values()) - busy), busy / 10)
        self.assert_ends_well(wheel)
        self.assertIn(" cycles a byte", wheel.log)


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
                    "rx_bad_ip_cksum", "rx_fragments", "rx_other_ip", "rx_unknown_proto",
                    "rx_bad_l4_cksum", "rx_nd", "rx_icmp_errors", "rx_udp", "rx_vlan",
                    "rx_bad_nd", "rx_bad_icmp", "rx_no_port")
            self.assertEqual(sum(inet[name] for name in went),
                             inet["rx_frames"] + inet["rx_reassembled"])
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
