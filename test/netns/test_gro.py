# SPDX-License-Identifier: BSD-3-Clause
"""The mode gro between two Linux hosts: their streams arrive, and no buffer stays behind."""

import hashlib
import os
import random
import subprocess
import tempfile
import time
import unittest

import pwlab

BINARY = os.environ["PAGEWHEEL"]
FAR_IP = "198.18.0.3"
FAR_DEV = "pw3"
FAR_VETH = "net_af_packet1,iface=pw2,framecnt=4096"


def run(*args):
    subprocess.run(args, check=True, capture_output=True)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class Between(unittest.TestCase):
    """pagewheel has a port towards each of two hosts, namespaces of their own."""

    def setUp(self):
        self.lab = self.enterContext(pwlab.Lab())
        self.files = self.enterContext(tempfile.TemporaryDirectory())
        self.came = [os.path.join(self.files, f"came{i}") for i in range(2)]
        self.far = f"pw-peer-far-{os.getpid()}"
        self.addCleanup(run, "ip", "netns", "del", self.far)
        run("ip", "netns", "add", self.far)
        run("ip", "netns", "exec", self.far, "sysctl", "-qw",
            "net.ipv6.conf.default.disable_ipv6=1")
        run("ip", "-n", self.lab.dut, "link", "add", "pw2", "type", "veth", "peer", "name", FAR_DEV,
            "netns", self.far)
        run("ip", "netns", "exec", self.far, "ethtool", "-K", FAR_DEV, "tx", "off", "tso", "off",
            "gso", "off")
        run("ip", "-n", self.far, "addr", "add", f"{FAR_IP}/24", "dev", FAR_DEV)
        run("ip", "-n", self.far, "link", "set", FAR_DEV, "up")
        run("ip", "-n", self.lab.dut, "link", "set", "pw2", "up")

    def start(self, *options, near=pwlab.VETH):
        return self.enterContext(pwlab.Pagewheel(
            self.lab, BINARY, *options, mode="gro", vdev=(near, FAR_VETH),
            stderr=subprocess.DEVNULL))

    def popen(self, *args, **kwargs):
        process = subprocess.Popen(args, **kwargs)

        def end():
            process.kill()
            process.communicate()

        self.addCleanup(end)
        return process

    def far_nc(self, port, *options, **kwargs):
        """The far host listens; it is there when this returns."""
        args = ("ip", "netns", "exec", self.far)
        process = self.popen(*args, "nc", *options, "-l", FAR_IP, str(port), **kwargs)
        end = time.monotonic() + 5
        while f":{port} " not in subprocess.run([*args, "ss", "-Htln"], capture_output=True,
                                                text=True, check=True).stdout:
            self.assertLess(time.monotonic(), end, "the far host does not listen")
            time.sleep(0.02)
        return process

    def near_nc(self, within, port, *options, **kwargs):
        return self.popen(*within("nc", *options, FAR_IP, str(port)), **kwargs)

    def random_file(self, size, name):
        path = os.path.join(self.files, name)
        data = random.Random(size).randbytes(size)
        with open(path, "wb") as file:
            file.write(data)
        return path, data

    def exchange(self, size, disturb=None, within=None):
        """Both hosts send at once, and get what the other one sent. A connection for each way: nc
        does not wait for the other one to end."""
        within = within or self.lab.in_peer
        (there, data_there), (back, data_back) = (
            self.random_file(size + i, f"data{i}") for i in range(2))
        with open(there, "rb") as to_far, open(back, "rb") as to_near, \
                open(self.came[0], "wb") as at_far, open(self.came[1], "wb") as at_near:
            ends = [self.far_nc(5001, "-d", stdout=at_far),
                    self.far_nc(5002, "-N", stdin=to_near),
                    self.near_nc(within, 5001, "-N", stdin=to_far),
                    self.near_nc(within, 5002, "-d", stdout=at_near)]
        if disturb is not None:
            disturb()
        for end in ends:
            self.assertEqual(end.wait(timeout=60), 0)
        for path, data in zip(self.came, (data_there, data_back)):
            with open(path, "rb") as file:
                self.assertEqual(sha256(file.read()), sha256(data))

    def assert_ends_well(self, wheel, tap=False):
        """Merged and cut, nothing held, no buffer missing; net_tap alone keeps some while it
        runs."""
        gro = wheel.wait_for("gro", lambda gro: gro["held"] == 0)
        gso = wheel.stats("gso")
        self.assertGreater(gro["merged"], 0)
        self.assertEqual(gro["rx_packets"], gro["tx_packets"] + gro["merged"])
        self.assertGreater(gso["gso_pieces"], gso["gso_packets"])
        self.assertEqual((gso["tso_packets"], gso["dropped"]), (0, 0))
        if not tap:
            self.assertIsNotNone(
                wheel.wait_for("pool", lambda pool: pool["free"] == pool["objects"]))
        self.assertEqual(wheel.stop(), 0, wheel.log)

    def test_streams_arrive(self):
        for options in ((), ("--copy-break=128",), ("--gro-flush=4",), ("--strategy=order0",)):
            with self.subTest(options=options):
                wheel = self.start(*options)
                self.exchange(10_000_000)
                self.assert_ends_well(wheel)

    def test_streams_over_a_tap(self):
        """Its own TSO would refuse segments that fill the MTU."""
        wheel = self.start(near="net_tap0,iface=pwtap")
        for args in (("addr", "add", f"{pwlab.PEER_IP}/24", "dev", "pwtap"),
                     ("link", "set", "pwtap", "up")):
            run("ip", "-n", self.lab.dut, *args)
        self.exchange(3_000_000, within=self.lab.in_dut)
        self.assert_ends_well(wheel, tap=True)

    def test_disturbed_streams_arrive(self):
        """Stopped, reset and set anew in the middle."""
        wheel = self.start("--gro-flush=16", "--gro-timeout=1000")

        def disturb():
            for i in range(3):
                before = wheel.stats("gro")["rx_packets"]
                wheel.wait_for("gro", lambda gro, so_far=before: gro["rx_packets"] > so_far + 100)
                wheel.command("stop", "Accumulated")
                self.assertEqual(wheel.stats("gro")["held"], 0)
                wheel.command("start")
                wheel.command(f"port reset {i % 2}", f"Port {i % 2}: reset")
                wheel.command(f"set gro flush {i + 1}")

        self.exchange(30_000_000, disturb)
        self.assert_ends_well(wheel)


if __name__ == "__main__":
    unittest.main()
