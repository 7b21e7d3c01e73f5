# SPDX-License-Identifier: BSD-3-Clause
"""The mode gro: what is merged and cut again goes out as it came, flow by flow."""

import random
import struct
import subprocess
import tempfile
import unittest

import frames
import rig
from frames import ACK, FIN, PSH

SYN, RST, URG, CWR = 2, 4, 32, 128
DF = 0x4000
MSS = 1428  # with IPv6 and time stamps a frame of 1514 bytes, and its tag


class Flow:
    """TCP segments of one direction of a connection. Most of them can be merged."""

    def __init__(self, rng, number, version):
        self.rng = rng
        self.ends = ({"src": "198.18.0.1", "dst": "198.18.0.2"} if version == 4 else
                     {"src": "2001:db8::1", "dst": "2001:db8::2"})
        self.ports = {"sport": 1000 + number, "dport": 9}
        self.vlan = rng.choice((None, None, 7, 8))
        self.mss = rng.choice((MSS, MSS, MSS - 1, 536, 101, 1))
        self.seq = rng.choice((1, (1 << 32) - 3000))
        self.ident = rng.choice((7, 65530))
        self.fragment = rng.choice((0, DF))
        self.id_step = rng.choice((1, 1, 0)) if self.fragment == DF else 1
        self.ack, self.window, self.ttl, self.stamp = 1, 8192, 64, 1
        self.stamps = rng.choice((True, False))

    def segment(self, data, flags=ACK, right=True):
        options = struct.pack("!BBBBII", 1, 1, 8, 10, self.stamp, 2) if self.stamps else b""
        segment = frames.tcp(*self.ends.values(), *self.ports.values(), data, self.seq, flags,
                             right, self.ack, self.window, options)
        packet = frames.ip(*self.ends.values(), frames.TCP, segment, self.ident, ttl=self.ttl,
                           fragment=self.fragment)
        self.seq = (self.seq + len(data)) % (1 << 32)
        self.ident = (self.ident + self.id_step) % 65536
        return frames.ethernet(packet, vlan=self.vlan)

    def change(self):
        """One of the fields that have to be equal; each has so many bits, and wraps."""
        name, step, bits = self.rng.choice((("ack", 1, 32), ("window", 1, 16), ("ttl", -1, 8),
                                            ("stamp", 1, 32), ("seq", 1, 32), ("ident", 1, 16)))
        setattr(self, name, (getattr(self, name) + step) % (1 << bits))

    def next(self):
        """One segment; sometimes one that ends what is held, or that cannot be merged."""
        data = self.rng.randbytes(self.mss)
        chance = self.rng.randrange(40)
        if chance == 0:
            self.change()
        elif chance == 1:
            return self.segment(data, ACK | PSH)
        elif chance == 2:
            return self.segment(data[:self.rng.randrange(len(data) + 1)])
        elif chance == 3:
            return self.segment(b"", ACK | self.rng.choice((0, SYN, RST, FIN)))
        elif chance == 4:
            return self.segment(data, ACK | self.rng.choice((FIN, URG, CWR, PSH | FIN)))
        elif chance == 5:
            return self.segment(data, right=False)
        return self.segment(data)

    def burst(self):
        """A few of them; sometimes out of order, or one twice."""
        made = [self.next() for _ in range(self.rng.randrange(1, 12))]
        chance = self.rng.randrange(10)
        if chance == 0:
            made.reverse()
        elif chance == 1:
            made.append(made[0])
        return made


def other_frames(rng):
    """What is not merged: UDP, a fragment, ARP, noise."""
    data = rng.randbytes(rng.randrange(1400))
    fragment = frames.ip("198.18.0.1", "198.18.0.2", frames.TCP, data.ljust(20, b"\0"),
                         fragment=0x2000)
    return [frames.udp_frame(data=data), frames.ethernet(fragment),
            frames.PORT_MAC + frames.OUR_MAC + b"\x08\x06" + rng.randbytes(46),
            frames.PORT_MAC + frames.OUR_MAC + b"\x08\x00" + rng.randbytes(60)]


def traffic(seed, count):
    """Frames of many flows, mixed."""
    rng = random.Random(seed)
    flows = [Flow(rng, number, 6 if number % 4 == 3 else 4) for number in range(12)]
    made = []
    while len(made) < count:
        made += rng.choice(flows).burst()
        if rng.randrange(20) == 0:
            made.append(rng.choice(other_frames(rng)))
    return made


def by_flow(captured):
    """Frames, padded as a card pads them, of each flow; a flow is what is known without parsing."""
    flows = {}
    for frame in captured:
        frame = frame.ljust(60, b"\0")
        at = 18 if frame[12:14] == b"\x81\x00" else 14
        if frame[at - 2:at] == b"\x08\x00" and frame[at] == 0x45:
            key = frame[:at] + frame[at + 9:at + 10] + frame[at + 12:at + 24]
            # A fragment has no ports.
            key = key[:-4] if struct.unpack_from("!H", frame, at + 6)[0] & 0x3fff else key
        elif frame[at - 2:at] == b"\x86\xdd":
            key = frame[:at] + frame[at + 6:at + 7] + frame[at + 8:at + 44]
        else:
            key = frame[:at]
        flows.setdefault(key, []).append(frame)
    return flows


class Same:
    """Mixed into tests: comparing."""

    def assert_same(self, given, sent):
        self.assertEqual(len(given), len(sent))
        given, sent = by_flow(given), by_flow(sent)
        self.assertEqual(given.keys(), sent.keys())
        for key, frames_of_flow in given.items():
            for i, (one, other) in enumerate(zip(frames_of_flow, sent[key])):
                self.assertEqual(one.hex(), other.hex(), f"frame {i} of its flow")

    def assert_counts(self, said, count):
        """Of "show gro" and "show gso"; returns them."""
        counts = rig.table(said)
        self.assertEqual(counts["rx_packets"], count)
        self.assertEqual(counts["held"], 0)
        self.assertEqual(counts["merged"], count - counts["tx_packets"])
        self.assertGreater(counts["merged"], count // 20)
        self.assertEqual(counts["dropped"], 0)
        return counts


class OnPcap(Same, unittest.TestCase):
    """net_pcap has no offloads and takes no chains: all is done here."""

    EAL = ("--lcores=0@0,1@0", "--no-pci", "--in-memory", "--log-level=4", "--no-telemetry")

    def setUp(self):
        self.files = self.enterContext(tempfile.TemporaryDirectory())

    def received(self, wheel):
        wheel.stdin.write("show gro\n")
        wheel.stdin.flush()
        for line in wheel.stdout:
            if "rx_packets" in line:
                return rig.table(line)["rx_packets"]
        return self.fail("it has ended")

    def run_on(self, given, *options):
        """Both ports get the frames; returns what was said and what each port sent."""
        frames.write_pcap(f"{self.files}/in", given)
        ports = [f"--vdev=net_pcap{i},rx_pcap={self.files}/in,tx_pcap={self.files}/out{i}"
                 for i in range(2)]
        with subprocess.Popen([rig.PAGEWHEEL, *self.EAL, *ports, "--", "-i", "-a",
                               "--forward-mode=gro", *options], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True) as wheel:
            self.addCleanup(wheel.kill)
            came = rig.wait_until(lambda: self.received(wheel) >= 2 * len(given))
            self.assertTrue(came, "it does not receive all")
            said = wheel.communicate("stop\nshow gro\nshow gso\nshow pool\n", timeout=20)[0]
            self.assertEqual(wheel.returncode, 0, said)
        self.assertIn("buffers in use: 0\n", said)
        return said, [frames.read_pcap(f"{self.files}/out{i}") for i in range(2)]

    def test_what_goes_out_is_what_came_in(self):
        seed = random.randrange(1 << 32)
        given = traffic(seed, 5000)
        for options in ((), ("--burst=512",), ("--copy-break=128",), ("--gro-flows=2",),
                        ("--gro-flush=64", "--gro-timeout=1000000"),
                        ("--gro-flush=4", "--gro-timeout=0"), ("--strategy=flip",)):
            with self.subTest(seed=seed, options=options):
                said, sent = self.run_on(given, *options)
                for one in sent:
                    self.assert_same(given, one)
                counts = self.assert_counts(said, 2 * len(given))
                self.assertEqual(counts["tso_packets"], 0)
                self.assertEqual(counts["gso_pieces"] - counts["gso_packets"], counts["merged"])

    def test_merged_over_bursts(self):
        """With bursts of one packet there is no other way."""
        flow = Flow(random.Random(1), 0, 4)
        given = [flow.segment(bytes(1000)) for _ in range(64)]
        for flush, merged in ((1, 0), (4, 96), (64, 126)):
            with self.subTest(flush=flush):
                said, _ = self.run_on(given, "--burst=1", f"--gro-flush={flush}",
                                      "--gro-timeout=1000000")
                self.assertEqual(rig.table(said)["merged"], merged)

    def test_nothing_stays_held(self):
        """What waits for more goes when its time is over, or when forwarding stops."""
        flow = Flow(random.Random(1), 0, 4)
        given = [flow.segment(bytes(1000)) for _ in range(3)]
        for timeout, reason in ((1000, "flush_timeout"), (1_000_000, "flush_all")):
            with self.subTest(timeout=timeout):
                said, sent = self.run_on(given, "--gro-flush=64", f"--gro-timeout={timeout}")
                self.assert_same(given, sent[1])
                counts = rig.table(said)
                self.assertEqual((counts[reason], counts["held"]), (2, 0))


class OnCard(Same, rig.WithCard):
    """The card cuts; without it, or with less of it, the same goes out."""

    def send(self, given, *options):
        pcap, out = f"{self.files}/in.pcap", f"{self.files}/out.pcap"
        frames.write_pcap(pcap, given)
        card = self.card(f"--wire=pcap={pcap},out={out},{rig.UNPACED}")
        wheel = self.wheel_on(card, *options, mode="gro")
        stats = self.start_and_finish(card)
        self.assert_adds_up(stats)
        self.assert_healthy(stats)
        said = wheel.command("show gro") + wheel.command("show gso")
        self.assertEqual(wheel.quit(), 0, wheel.log)
        tso_packets = card.stats()["ports"][0]["nic"]["tx_tso_packets"]
        self.assertEqual(card.stop(), 0)
        return said, frames.read_pcap(out), tso_packets

    def test_what_goes_out_is_what_came_in(self):
        seed = random.randrange(1 << 32)
        given = traffic(seed, 3000)
        for options, cuts in (((), True), (("--enable-hw-vlan-strip",), True),
                              (("--no-tso",), False), (("--no-tx-cksum",), False),
                              (("--no-tso", "--enable-hw-vlan-strip"), False),
                              (("--no-tso", "--copy-break=128"), False),
                              (("--no-tso", "--mbuf-size=1200"), False),
                              (("--rxq=2", "--txq=2", "--mbuf-size=1200"), True),
                              (("--gro-types=tcp4",), True)):
            with self.subTest(seed=seed, options=options):
                said, sent, tso_packets = self.send(given, *options)
                self.assert_same(given, sent)
                counts = self.assert_counts(said, len(given))
                self.assertEqual(tso_packets, counts["tso_packets"])
                self.assertEqual((tso_packets > 0, counts["gso_packets"] > 0), (cuts, not cuts))

    def test_what_cannot_be_cut_is_refused(self):
        card = self.card("--wire=sink")
        for options, types, can in (((), "udp4", "tcp4,tcp6"), (("--no-tso",), "tcp4,tcp6", "tcp4")):
            with self.subTest(options=options):
                done = card.popen([rig.PAGEWHEEL, "--lcores=0@0,1@0", "--log-level=4", "--",
                                   "--forward-mode=gro", f"--gro-types={types}", *options],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
                _, said = done.communicate(timeout=20)
                self.assertNotEqual(done.returncode, 0)
                self.assertRegex(said, rf"--gro-types={types}: .* it can: {can}\n")


if __name__ == "__main__":
    unittest.main()
