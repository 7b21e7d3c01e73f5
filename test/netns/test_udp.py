# SPDX-License-Identifier: BSD-3-Clause
"""UDP: the services with Linux as their client, the generator, and the mode mac."""

import json
import os
import random
import select
import socket
import subprocess
import sys
import unittest

import pwlab

BINARY = os.environ["PAGEWHEEL"]
HERE = os.path.dirname(os.path.realpath(__file__))
BOTH_ENDS = (pwlab.VETH, f"net_af_packet1,iface={pwlab.PEER_DEV},framecnt=4096")
SIZES = (0, 1, 2, 3, 100, 1451, 1452, 1471, 1472)
# Of IPv6 only: net_af_packet lets Linux put IPv4 fragments together, which are cut off then. Larger
# ones take more fragments than librte_ip_frag puts together at MTU 1500.
IPV6_SIZES = (1473, 2960, 4000, 8000, 11000)


def echo(host, port, sizes):
    """To be run in the peer's namespace: sizes that did not come back as they were sent."""
    wrong = []
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.connect((host, int(port)))
        for size in json.loads(sizes):
            data = random.Random(size).randbytes(size)
            sock.send(data)
            if not select.select([sock], [], [], 3)[0] or sock.recv(65536) != data:
                wrong.append(size)
    print(json.dumps(wrong))


def send(host, port, source_port, count):
    """To be run there: datagrams from a port; how many came back within half a second."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("", int(source_port)))
        for _ in range(int(count)):
            sock.sendto(b"x" * 100, (host, int(port)))
        back = 0
        while select.select([sock], [], [], 0.5)[0]:
            sock.recv(65536)
            back += 1
    print(back)


def bounce(dev, wanted):
    """To be run there: send frames until one for an address comes; where that one is from."""
    wanted = bytes.fromhex(wanted)
    frame = b"\xff" * 6 + bytes(6) + b"\x88\xb5" + bytes(50)  # for experiments: IEEE 802, 9.2.3
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as sock:
        sock.bind((dev, 0))
        for _ in range(50):
            sock.send(frame)
            while select.select([sock], [], [], 0.1)[0]:
                got = sock.recv(2000)
                if got[:6] == wanted:
                    print(json.dumps(got[6:12].hex(":")))
                    return
    print(json.dumps(None))


def take(host, port, size):
    """To be run there, with all memory a socket may have: how many datagrams come until none does for
    a second, and how many are not so many zeros."""
    taken = wrong = 0
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        sock.bind((host, int(port)))
        while select.select([sock], [], [], 1 if taken else 10)[0]:
            taken += 1
            wrong += sock.recv(65536) != bytes(int(size))
    print(json.dumps([taken, wrong]))


class WithLab(unittest.TestCase):
    def setUp(self):
        self.lab = self.enterContext(pwlab.Lab(name="udp", ipv6=True))

    def start(self, *options, **kwargs):
        return self.enterContext(pwlab.Pagewheel(
            self.lab, BINARY, f"--ip={pwlab.DUT_IP6}/64", *options, **kwargs))

    def spawn_in_peer(self, function, *args):
        """Start a function of this module there, which prints JSON."""
        running = subprocess.Popen(
            self.lab.in_peer(sys.executable, os.path.join(HERE, "test_udp.py"), function.__name__,
                             *map(str, args)),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(pwlab.__file__))})
        self.addCleanup(running.communicate)
        self.addCleanup(running.kill)
        return running

    def result_of(self, running):
        out, err = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 0, err)
        return json.loads(out)

    def in_peer(self, function, *args):
        return self.result_of(self.spawn_in_peer(function, *args))

    def assert_ends_well(self, wheel):
        self.assertIsNotNone(wheel.wait_for("pool", lambda pool: pool["free"] == pool["objects"]))
        self.assertEqual(wheel.stop(), 0, wheel.log)


class Services(WithLab):
    def test_echo(self):
        """Byte for byte, of all lengths, whole and in fragments, over both families."""
        wheel = self.start()
        for host, sizes in ((pwlab.DUT_IP, SIZES), (pwlab.DUT_IP6, SIZES + IPV6_SIZES)):
            self.assertEqual(self.in_peer(echo, host, 7, json.dumps(sizes)), [])
        self.assertEqual(wheel.stats("inet")["rx_udp"], 2 * len(SIZES) + len(IPV6_SIZES))
        self.assert_ends_well(wheel)

    def test_echo_does_not_answer_another_echo(self):
        wheel = self.start("--listen=echo", "--listen=echo:7007")
        self.assertEqual(self.in_peer(send, pwlab.DUT_IP, 7, 7, 10), 0)
        self.assertEqual(self.in_peer(send, pwlab.DUT_IP, 7007, 7, 10), 0)
        self.assertEqual(self.in_peer(send, pwlab.DUT_IP, 7007, 7007, 10), 0)
        self.assertEqual(self.in_peer(send, pwlab.DUT_IP, 7007, 7008, 10), 10)
        self.assert_ends_well(wheel)

    def test_discard(self):
        for more in ((), ("--discard-copy",)):
            wheel = self.start("--listen=discard", *more)
            self.assertEqual(self.in_peer(send, pwlab.DUT_IP, 9, 5000, 100), 0)
            self.assertIsNotNone(wheel.wait_for("inet", lambda inet: inet["rx_udp"] == 100))
            self.assertEqual(wheel.stats("inet")["rx_no_port"], 0)
            self.assert_ends_well(wheel)


class Generator(WithLab):
    """With both ends of the pair in one pagewheel: one port asks, the other answers."""

    def setUp(self):
        super().setUp()
        subprocess.run(["ip", "-n", self.lab.peer, "link", "set", pwlab.PEER_DEV, "netns",
                        self.lab.dut], check=True)
        subprocess.run(["ip", "-n", self.lab.dut, "link", "set", pwlab.PEER_DEV, "up"], check=True)

    def run_client(self, address, app, port, *options):
        wheel = self.start(
            f"--ip={pwlab.PEER_IP}/24", f"--ip={pwlab.PEER_IP6}/64", f"--connect={address}:{port}",
            f"--connect-app={app}", "--duration=1", *options,
            vdev=BOTH_ENDS)
        wheel.wait_said("s are over")
        client = wheel.stats("tcp/client")
        self.assertGreater(client["transactions"], 0)
        self.assertEqual((client["failed"], client["broken"]), (0, 0))
        self.assertTrue(0 < client["latency_min_ns"] <= client["latency_p50_ns"]
                        <= client["latency_p999_ns"] <= client["latency_max_ns"])
        self.assert_ends_well(wheel)
        return client

    def test_udp_rr(self):
        client = self.run_client(pwlab.DUT_IP, "udp_rr", 7, "--connections=8", "--request-bytes=100")
        self.assertEqual(client["in_bytes"], 100 * client["transactions"])

    def test_udp_rr_over_ipv6_in_fragments(self):
        self.run_client(f"[{pwlab.DUT_IP6}]", "udp_rr", 7, "--request-bytes=4000")

    def test_rr(self):
        self.run_client(f"[{pwlab.DUT_IP6}]", "rr", 5000, "--connections=3")

    def test_nobody_answers(self):
        """Each request is given up after 200 ms, and the next one sent."""
        wheel = self.start(
            f"--ip={pwlab.PEER_IP}/24", f"--ip={pwlab.PEER_IP6}/64", "--connect=198.18.0.77:7",
            "--connect-app=udp_rr", "--duration=1",
            vdev=BOTH_ENDS)
        wheel.wait_said("s are over")
        client = wheel.stats("tcp/client")
        self.assertEqual(client["transactions"], 0)
        self.assertGreater(client["timeouts"], 0)
        self.assert_ends_well(wheel)

    def test_own_address(self):
        """There is no port that could connect."""
        with self.assertRaisesRegex(pwlab.LabError, "code 1"):
            self.start("--connect=198.18.0.2:7", "--connect-app=udp_rr")


    def test_messages_of_a_stream(self):
        """They go out whole: the server gets so many times as many bytes."""
        for size in (1, 65536):
            with self.subTest(size=size):
                wheel = self.start(
                    f"--ip={pwlab.PEER_IP}/24", f"--ip={pwlab.PEER_IP6}/64",
                    f"--connect={pwlab.DUT_IP}:9", f"--message-bytes={size}", "--duration=1",
                    "--connections=2", vdev=BOTH_ENDS)
                wheel.wait_said("s are over")
                self.assertIsNotNone(wheel.wait_for("tcp", lambda tcp: tcp["curr_estab"] == 0, 20))
                sent = wheel.stats("tcp/client")
                self.assertEqual(sent["out_bytes"], wheel.stats("tcp")["in_bytes"])
                self.assertGreater(sent["out_bytes"], 0)
                self.assertEqual((sent["out_bytes"] % size, sent["cut_off"]), (0, 0))
                self.assert_ends_well(wheel)

    def test_udp_stream(self):
        """What is sent is received, or lost with a frame."""
        for size in (1, 100, 1452, 11000):
            with self.subTest(size=size):
                wheel = self.start(
                    f"--ip={pwlab.PEER_IP}/24", f"--ip={pwlab.PEER_IP6}/64",
                    f"--connect=[{pwlab.DUT_IP6}]:9", "--connect-app=udp_stream",
                    f"--message-bytes={size}", "--duration=1", vdev=BOTH_ENDS)
                wheel.wait_said("s are over")
                sent = wheel.stats("tcp/client")
                self.assertGreater(sent["transactions"], 10)
                self.assertEqual(sent["out_bytes"], size * sent["transactions"])
                self.assertIsNotNone(wheel.wait_for("inet", lambda inet: (
                    inet["rx_udp"] == sent["transactions"] or inet["rx_frames"] < inet["tx_frames"])))
                self.assert_ends_well(wheel)


class Sender(WithLab):
    """The generator's udp_stream against Linux, which puts any number of fragments together."""

    def run_stream(self, host, size):
        running = self.spawn_in_peer(take, host, 9, size)
        wheel = self.start(f"--connect={f'[{host}]' if ':' in host else host}:9",
                           "--connect-app=udp_stream", f"--message-bytes={size}", "--duration=1")
        wheel.wait_said("s are over")
        taken, wrong = self.result_of(running)
        sent = wheel.stats("tcp/client")
        self.assertEqual((wrong, sent["failed"]), (0, 0))
        self.assertTrue(0 < taken <= sent["transactions"], (taken, sent))
        self.assert_ends_well(wheel)

    def test_to_linux(self):
        for host, size in ((pwlab.PEER_IP, 1), (pwlab.PEER_IP, 1473), (pwlab.PEER_IP, 65507),
                           (pwlab.PEER_IP6, 1452), (pwlab.PEER_IP6, 65507)):
            with self.subTest(host=host, size=size):
                self.run_stream(host, size)

    def test_nobody_is_there(self):
        """Nothing is sent to whom ARP does not find."""
        wheel = self.start("--connect=198.18.0.77:9", "--connect-app=udp_stream", "--duration=1")
        wheel.wait_said("s are over")
        self.assertEqual(wheel.stats("tcp/client")["transactions"], 0)
        self.assert_ends_well(wheel)

    def test_in_small_pieces(self):
        """Without large pages small ones do, also while it goes on."""
        running = self.spawn_in_peer(take, pwlab.PEER_IP, 9, 65507)
        wheel = self.start(f"--connect={pwlab.PEER_IP}:9", "--connect-app=udp_stream",
                           "--strategy=order3", "--duration=2")
        self.assertIsNotNone(wheel.wait_for("tcp/client", lambda c: c["transactions"] > 10))
        wheel.command("fragment pages 0", "are held")
        wheel.wait_said("s are over")
        self.assertGreater(wheel.stats("frags")["page_failures"], 0)
        self.assertEqual(wheel.stats("tcp/client")["failed"], 0)
        self.assertEqual(self.result_of(running)[1], 0)
        self.assert_ends_well(wheel)

    def test_too_large(self):
        with self.assertRaisesRegex(pwlab.LabError, "code 1"):
            self.start(f"--connect={pwlab.PEER_IP}:9", "--connect-app=udp_stream",
                       "--message-bytes=65508")


class Mac(WithLab):
    def test_both_addresses(self):
        """What the mode sends has its port's address, and the one asked for."""
        with self.assertRaisesRegex(pwlab.LabError, "code 1"):
            self.start("--eth-peer=0,02:00", mode="mac")
        wheel = self.start("--eth-peer=0,02:00:00:00:00:77", mode="mac")
        seen = self.in_peer(bounce, pwlab.PEER_DEV, "020000000077")
        address = subprocess.run(
            ["ip", "-n", self.lab.dut, "-j", "link", "show", pwlab.DUT_DEV], capture_output=True,
            text=True, check=True)
        self.assertEqual(seen, json.loads(address.stdout)[0]["address"])
        self.assert_ends_well(wheel)


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] in ("echo", "send", "take", "bounce"):
        globals()[sys.argv[1]](*sys.argv[2:])
    else:
        unittest.main()
