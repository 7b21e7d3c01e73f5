# SPDX-License-Identifier: BSD-3-Clause
"""Peers as they come: many, slow, rude, old, hostile, and behind narrow links.

Linux's TCP is the peer, over a veth pair and a TAP interface, by IPv4 and where pagewheel has it by
IPv6.
"""

import collections
import functools
import json
import os
import random
import re
import subprocess
import tempfile
import time
import unittest

import pwlab

BINARY = os.environ["PAGEWHEEL"]
ECHO, DISCARD = 7, 9
Family = collections.namedtuple("Family", "name flag dut peer far prefix options")
IPV4 = Family("IPv4", "-4", pwlab.DUT_IP, pwlab.PEER_IP, "198.18.0.129", "198.18.0.0/24", ())
IPV6 = Family("IPv6", "-6", pwlab.DUT_IP6, pwlab.PEER_IP6, "2001:db8::129", "2001:db8::/64",
              (f"--ip={pwlab.DUT_IP6}/64",))


@functools.cache
def has_ipv6():
    with pwlab.Lab(name="probe", ipv6=True) as lab:
        try:
            with pwlab.Pagewheel(lab, BINARY, *IPV6.options, stderr=subprocess.DEVNULL) as wheel:
                wheel.stop()
                return True
        except pwlab.LabError:
            return False


class WithPeer(unittest.TestCase):
    """Each test has namespaces of its own. Of the classes below there is one for each family."""

    family = IPV4
    lab_kind = pwlab.Lab

    def setUp(self):
        if self.family is IPV6 and not has_ipv6():
            self.skipTest("this pagewheel has no IPv6")
        self.lab = self.enterContext(self.lab_kind(ipv6=self.family is IPV6))
        self.files = self.enterContext(tempfile.TemporaryDirectory())

    def start(self, *options):
        wheel = self.enterContext(pwlab.Pagewheel(
            self.lab, BINARY, *self.family.options, *options, vdev=self.lab.vdev))
        self.lab.plug()
        return wheel

    def in_peer(self, *args, timeout=60, **kwargs):
        return subprocess.run(self.lab.in_peer(*args), check=True, timeout=timeout, **kwargs)

    def change_route(self, *settings):
        """Of the peer's way to us. IPv6 has the kernel's own route too, of metric 256."""
        change = ("add", "metric", "10") if self.family is IPV6 else ("change",)
        self.in_peer("ip", self.family.flag, "route", *change, self.family.prefix, "dev",
                     pwlab.PEER_DEV, *settings)

    def popen(self, *args, **kwargs):
        """A process of the peer's, which does not outlive the test."""
        return self._popen(self.lab.in_peer(*args), **kwargs)

    def _popen(self, command, **kwargs):
        process = subprocess.Popen(command, **kwargs)

        def end():
            process.kill()
            process.communicate()

        self.addCleanup(end)
        return process

    def begin(self, *options, port=ECHO, command=None):
        """A client that pwlab.peer is; in another namespace with another command."""
        return self._popen(
            [*(command or self.lab.in_peer)("python3", "-m", "pwlab.peer", self.family.dut,
                                            str(port), *options)],
            stdout=subprocess.PIPE, text=True)

    def result(self, client):
        return json.loads(client.communicate(timeout=90)[0])

    def talk(self, *options, connections=1, **kwargs):
        """All connections get right what is theirs; what the client tells of it."""
        said = self.result(self.begin(f"--connections={connections}", *options, **kwargs))
        self.assertEqual((said["right"], said["wrong"]), (connections, {}), said)
        return said

    def assert_at_rest(self, wheel, timeout=5):
        """No connection, no buffer that is not in the pool. net_tap keeps some while it runs: that
        all are back is in the exit code."""
        self.assertIsNotNone(
            wheel.wait_for("tcp", lambda tcp: tcp["curr_conns"] == 0, timeout),
            f"connections are left: {wheel.stats('tcp')}")
        self.assertEqual(wheel.stats("tcp")["held_mbufs"], 0)
        if self.lab_kind is pwlab.Lab:
            self.assertIsNotNone(
                wheel.wait_for("pool", lambda pool: pool["free"] == pool["objects"]),
                f"buffers are missing: {wheel.stats('pool')}")

    def assert_ends_well(self, wheel, timeout=5):
        self.assert_at_rest(wheel, timeout)
        self.assertEqual(wheel.stop(), 0, wheel.log)


class Many(WithPeer):
    def test_1000_connections_at_once(self):
        wheel = self.start()
        self.talk("--bytes=50000", "--timeout=40", connections=1000)
        tcp = wheel.stats("tcp")
        self.assertEqual((tcp["passive_opens"], tcp["estab_resets"]), (1000, 0))
        self.assert_ends_well(wheel)

    def test_half_close(self):
        """printf x | nc -N: the FIN comes with the request, or right behind it."""
        wheel = self.start()
        for size in (1, 10_000_000):
            with self.subTest(bytes=size):
                data = random.Random(size).randbytes(size)
                back = self.in_peer("nc", "-N", self.family.dut, str(ECHO), input=data,
                                    capture_output=True)
                self.assertTrue(back.stdout == data)
        self.assert_ends_well(wheel)


class Many6(Many):
    family = IPV6


class ManyOnTap(Many):
    lab_kind = pwlab.TapLab


class Many6OnTap(Many6):
    lab_kind = pwlab.TapLab


class Gone(WithPeer):
    """Peers that do not say goodbye."""

    def kill(self, *options, port):
        wheel = self.start()
        # One of several megabytes, so that both sides hold data when it dies.
        client = self.begin("--bytes=200000000", *options, port=port)
        self.assertIsNotNone(
            wheel.wait_for("tcp", lambda tcp: tcp["in_bytes"] > 300_000, 10))
        self.assertEqual(wheel.stats("tcp")["curr_estab"], 1)
        return wheel, client

    def test_killed_while_it_sends(self):
        wheel, client = self.kill("--take-only", port=DISCARD)
        client.kill()
        self.assert_ends_well(wheel, 10)

    def test_killed_while_it_does_not_read(self):
        """What it had not read makes its kernel send a RST."""
        wheel, client = self.kill("--read-every=60", "--rcvbuf=100000", port=ECHO)
        client.kill()
        self.assertIsNotNone(wheel.wait_for("tcp", lambda tcp: tcp["estab_resets"] == 1, 10))
        self.assert_ends_well(wheel, 10)

    def test_killed_without_a_link(self):
        """Nothing was heard of its end: we find out when we send to it again."""
        wheel, client = self.kill("--read-every=0.002", port=ECHO)
        self.in_peer("ip", "link", "set", pwlab.PEER_DEV, "down")
        client.kill()
        client.wait()
        # No RST for lack of a route, but a connection that its kernel knows nothing of.
        self.in_peer("ss", "-K", "dport", "=", str(ECHO), capture_output=True)
        time.sleep(0.5)
        self.in_peer("ip", "link", "set", pwlab.PEER_DEV, "up")
        if self.family is IPV6:
            self.in_peer("ip", "addr", "replace", f"{self.family.peer}/64", "dev",
                         pwlab.PEER_DEV, "nodad")
        self.assert_ends_well(wheel, 20)


class Gone6(Gone):
    family = IPV6


class Kinds(WithPeer):
    """An echo for peers of all kinds. The settings are those of its namespace."""

    SETTINGS = (
        {"tcp_timestamps": 0},
        {"tcp_sack": 0},
        {"tcp_window_scaling": 0},
        {"tcp_timestamps": 0, "tcp_sack": 0, "tcp_window_scaling": 0},
        {"tcp_ecn": 1},
    )

    def sysctl(self, **settings):
        for name, value in settings.items():
            self.in_peer("sysctl", "-qw", f"net.ipv4.{name}={value}")

    def read_sysctl(self, names):
        return {name: self.in_peer("sysctl", "-n", f"net.ipv4.{name}", capture_output=True,
                                   text=True).stdout.strip() for name in names}

    def test_options_that_a_peer_lacks(self):
        wheel = self.start()
        for settings in self.SETTINGS:
            with self.subTest(**settings):
                before = self.read_sysctl(settings)
                self.sysctl(**settings)
                try:
                    self.talk("--bytes=3000000")
                finally:
                    self.sysctl(**before)
        self.assert_ends_well(wheel)

    def test_congestion_controls_of_linux(self):
        wheel = self.start()
        for name in ("reno", "cubic"):
            with self.subTest(congestion=name):
                self.talk(f"--congestion={name}", "--bytes=3000000")
        self.assert_ends_well(wheel)

    def test_small_segments(self):
        """An MSS of 88, by the route and by the socket: the least that Linux allows."""
        wheel = self.start()
        self.talk("--mss=88", "--bytes=500000")
        self.change_route("advmss", "88")
        self.talk("--bytes=500000")
        # 76 bytes or 88 of data a segment went out, never more.
        self.assertGreater(wheel.stats("tcp")["out_segs"], 1_000_000 // 88)
        self.assert_ends_well(wheel)

    def test_odd_segments(self):
        """So that packets are put together from pieces of odd lengths."""
        wheel = self.start()
        self.talk("--mss=1001", "--bytes=1000001", "--timeout=10")
        self.assert_ends_well(wheel)

    def test_tiny_window(self):
        wheel = self.start()
        self.talk("--rcvbuf=2048", "--bytes=300000")
        self.assert_ends_well(wheel)


class Kinds6(Kinds):
    family = IPV6


class KindsOnTap(Kinds):
    lab_kind = pwlab.TapLab


class Waits(WithPeer):
    """Peers that take their time."""

    def test_slow_reader(self):
        """Two hundred reads a second: our window closes, its window closes, nothing is lost."""
        wheel = self.start()
        self.talk("--rcvbuf=16384", "--read-bytes=16384", "--read-every=0.005",
                  "--bytes=8000000")
        self.assertGreater(wheel.stats("tcp")["zero_windows"], 0)
        self.assert_ends_well(wheel)

    def test_idle_peer_that_probes(self):
        """Its kernel gives the connection up when two probes are not answered."""
        wheel = self.start()
        before = wheel.stats("tcp")["out_segs"]
        said = self.talk("--keepalive", "--idle=4.5", "--bytes=20000")
        self.assertGreater(said["seconds"], 4)
        # Handshake, data and end take less than twenty; each second a probe was answered.
        self.assertGreater(wheel.stats("tcp")["out_segs"] - before, 3)
        self.assert_ends_well(wheel)

    def test_we_probe_an_idle_peer(self):
        if not pwlab.knows(BINARY, "--keepalive="):
            self.skipTest("this pagewheel has no --keepalive")
        wheel = self.start("--keepalive=1")
        client = self.begin("--idle=4.5", "--bytes=20000")
        self.assertIsNotNone(wheel.wait_for("tcp", lambda tcp: tcp["keepalives"] >= 2, 10))
        self.assertEqual(self.result(client)["right"], 1)
        # A peer that is gone: its kernel says nothing any more.
        client = self.begin("--idle=60", "--bytes=20000", "--timeout=60")
        self.assertIsNotNone(wheel.wait_for("tcp", lambda tcp: tcp["curr_estab"] == 1, 10))
        self.in_peer("ip", "link", "set", pwlab.PEER_DEV, "down")
        self.assert_ends_well(wheel, 30)


class WithClients(WithPeer):
    """Something hostile, and real clients meanwhile."""

    CLIENT_S = 3.0

    def real_client(self):
        said = self.talk("--bytes=20000", "--timeout=10")
        self.assertLess(said["seconds"], self.CLIENT_S)


class Scans(WithClients):
    def test_port_scan(self):
        wheel = self.start()
        scan = self.popen("nmap", self.family.flag, "-n", "-Pn", "-p-", "-T5", self.family.dut,
                          stdout=subprocess.PIPE, text=True)
        while scan.poll() is None:
            self.real_client()
            time.sleep(0.2)
        said = scan.communicate(timeout=5)[0]
        for port in (ECHO, DISCARD):
            self.assertRegex(said, rf"(?m)^{port}/tcp +open")
        self.real_client()
        self.assert_ends_well(wheel)


class Scans6(Scans):
    family = IPV6


class Floods(WithClients):
    """By IPv4 only: hping3 has no IPv6."""

    SECONDS = 5

    def flood(self, wheel, *sources):
        """SYNs as fast as they come, on the CPU that pagewheel does not poll on."""
        cpu = min(os.sched_getaffinity(0))
        before = wheel.stats("tcp")["in_segs"]
        hping = self.popen("taskset", "-c", str(cpu), "timeout", "-s", "INT", str(self.SECONDS),
                           "hping3", "--quiet", "--flood", "--syn", "-p", str(ECHO), *sources,
                           self.family.dut, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        served = 0
        while hping.poll() is None:
            self.real_client()
            served += 1
        self.assertGreater(served, 0)
        self.assertGreater(wheel.stats("tcp")["in_segs"] - before, 100_000)
        self.real_client()

    def assert_flooded_well(self, wheel):
        """More came than it remembers. What is half open may stay for a minute (RFC 9293 3.8.3)."""
        tcp = wheel.stats("tcp")
        self.assertGreater(tcp["syncookies_sent"], 0)
        self.assertLessEqual(tcp["curr_half_open"], 512)
        self.assertEqual(tcp["curr_estab"], 0)
        # That all buffers are back is in the exit code.
        self.assertEqual(wheel.stop(), 0, wheel.log)

    def options(self):
        """Where there is a gateway, SYN-ACKs go out to it, and end there: it has no route."""
        return (f"--gateway={pwlab.PEER_IP}",) if pwlab.knows(BINARY, "--gateway=") else ()

    def test_syn_floods(self):
        wheel = self.start(*self.options())
        for name, sources in {
                "any source": ("--rand-source",),
                "a neighbour that is not there": ("-a", "198.18.0.77")}.items():
            with self.subTest(sources=name):
                self.flood(wheel, *sources)
        self.assert_flooded_well(wheel)


class NarrowPath(WithPeer):
    """A router between, whose routes take smaller packets than the links at both ends.

    The far host has an address of pagewheel's own network: the router answers for it, so that
    pagewheel needs no gateway.
    """

    MTU_BYTES = 1000

    def setUp(self):
        super().setUp()
        self.far = f"pw-peer-far-{os.getpid()}"
        self.ip("netns", "add", self.far)
        self.addCleanup(self.ip, "netns", "del", self.far)
        self.ip("-n", self.lab.peer, "link", "add", "far0", "type", "veth", "peer", "name", "far1",
                "netns", self.far)
        for name, device in ((self.lab.peer, "far0"), (self.far, "far1")):
            self.ip("netns", "exec", name, "ethtool", "-K", device, "tx", "off", "tso", "off",
                    "gso", "off")
            self.ip("netns", "exec", name, "sysctl", "-qw",
                    f"net.ipv6.conf.{device}.disable_ipv6=0")
            self.ip("-n", name, "link", "set", device, "up")
        self.ip("-n", self.far, "link", "set", "lo", "up")
        self.add_routes()

    @staticmethod
    def ip(*args):
        subprocess.run(["ip", *args], check=True, capture_output=True)

    def add_routes(self):
        """The far host sends all to the router; the router knows that the way is narrow."""
        family, mtu = self.family, str(self.MTU_BYTES)
        bits = "128" if family is IPV6 else "32"
        nodad = ("nodad",) if family is IPV6 else ()
        router, via = self.lab.peer, "fe80::1" if family is IPV6 else family.peer
        self.in_peer("sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv4.conf.all.proxy_arp=1",
                     "net.ipv4.conf.all.send_redirects=0", "net.ipv6.conf.all.forwarding=1",
                     "net.ipv6.conf.all.proxy_ndp=1")
        self.ip("-n", self.far, "addr", "add", f"{family.far}/{bits}", "dev", "far1", *nodad)
        if family is IPV6:
            self.ip("-n", router, "addr", "add", "fe80::1/64", "dev", "far0", "nodad")
            for device in ("far0", pwlab.PEER_DEV):
                self.in_peer("sysctl", "-qw", f"net.ipv6.conf.{device}.forwarding=1",
                             f"net.ipv6.conf.{device}.proxy_ndp=1")
            self.ip("-6", "-n", router, "neigh", "add", "proxy", family.far, "dev",
                    pwlab.PEER_DEV)
        self.ip(family.flag, "-n", self.far, "route", "add", "default", "via", via, "dev", "far1",
                *(() if family is IPV6 else ("onlink",)))
        self.ip(family.flag, "-n", router, "route", "add", f"{family.far}/{bits}", "dev", "far0",
                "mtu", mtu)
        self.change_route("mtu", mtu)

    def in_far(self, *args):
        return ["ip", "netns", "exec", self.far, *args]

    def make_black_hole(self):
        """All that the router itself says goes nowhere, its ICMP errors too. ARP needs no route."""
        self.in_peer("ip", self.family.flag, "rule", "add", "iif", "lo", "prio", "1", "blackhole")
        # Linux is told to begin with small packets: how long we take is measured, not it.
        subprocess.run(self.in_far("sysctl", "-qw", "net.ipv4.tcp_mtu_probing=2",
                                   "net.ipv4.tcp_base_mss=512"), check=True)

    def router_icmp(self):
        """How often the router said that a packet was too big."""
        said = self.in_peer("nstat", "-asz", "Icmp6OutPktTooBigs", "IcmpMsgOutType3",
                            capture_output=True, text=True).stdout
        return sum(int(count) for count in re.findall(r"^Icmp\S+ +(\d+)", said, re.M))

    def test_the_router_says_so(self):
        wheel = self.start()
        self.talk("--bytes=2000000", command=self.in_far)
        self.assertGreaterEqual(self.router_icmp(), 2)
        self.assertGreater(wheel.stats("tcp")["pmtu_reductions"], 0)
        self.talk("--bytes=2000000", "--take-only", port=DISCARD, command=self.in_far)
        self.assert_ends_well(wheel)

    def test_black_hole(self):
        """Nobody says why large packets do not arrive: we find out by ourselves (RFC 4821)."""
        wheel = self.start()
        self.make_black_hole()
        self.talk("--bytes=300000", "--timeout=40", command=self.in_far)
        self.assert_ends_well(wheel)


class NarrowPath6(NarrowPath):
    family = IPV6
    MTU_BYTES = 1300


if __name__ == "__main__":
    unittest.main()
