# SPDX-License-Identifier: BSD-3-Clause
"""RSS: each flow goes where a hash that is computed here says, and the hash comes along."""

import collections
import re

import frames
import rig

QUEUES = 4
QUEUE_OPTIONS = (f"--rxq={QUEUES}", f"--txq={QUEUES}")
RINGS = ("--rxd=256", "--txd=2048", "--total-num-mbufs=16384")
# The key of Microsoft's "Verifying the RSS Hash Calculation", which ixgbe uses unless told another.
KEY = bytes.fromhex("6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c"
                    "6a42b73bbeac01fa")
OTHER_KEY = bytes((7 * i + 13) % 256 for i in range(40))
# Source, destination, ports, hash of addresses, hash with ports; from the same page.
VECTORS = (
    ("66.9.149.187", "161.142.100.80", 2794, 1766, 0x323e8fc2, 0x51ccc178),
    ("199.92.111.2", "65.69.140.83", 14230, 4739, 0xd718262a, 0xc626b0ea),
    ("24.19.198.95", "12.22.207.184", 12898, 38024, 0xd2d0a5de, 0x5c2b394a),
    ("38.27.205.30", "209.142.163.6", 48228, 2217, 0x82989176, 0xafc7327f),
    ("153.39.163.191", "202.188.127.2", 44251, 1303, 0x5d1809c5, 0x10e828a2),
    ("3ffe:2501:200:1fff::7", "3ffe:2501:200:3::1", 2794, 1766, 0x2cc18cd5, 0x40207d3d),
    ("3ffe:501:8::260:97ff:fe40:efab", "ff02::1", 14230, 4739, 0x0f0c461c, 0xdde51bbf),
    ("3ffe:1900:4545:3:200:f8ff:fe21:67cf", "fe80::200:f8ff:fe21:67cf", 44251, 38024, 0x4b61e985,
     0x02d1feef),
)


class OurHash(rig.WithCard):
    def test_published_vectors(self):
        for src, dst, sport, dport, addresses, ports in VECTORS:
            with self.subTest(src=src):
                self.assertEqual(frames.rss_hash(KEY, src, dst), addresses)
                self.assertEqual(frames.rss_hash(KEY, src, dst, sport, dport), ports)


class Rss(rig.WithCard):
    def key_of(self, pmd):
        said = pmd.command("show port 0 rss-hash key")
        return bytes.fromhex(re.search(r"RSS key:\s*([0-9A-F]{80})", said).group(1))

    def reta_of(self, pmd):
        said = pmd.command("show port 0 rss reta 128 (0xffffffffffffffff,0xffffffffffffffff)")
        entries = dict(re.findall(r"hash index=(\d+), queue=(\d+)", said))
        return [int(entries[str(i)]) for i in range(128)]

    def expected(self, key, reta, flows, count, version, with_ports):
        """Frames for each queue, as flows take turns."""
        queues = collections.Counter()
        for flow in range(flows):
            src, dst, sport, dport = frames.generator_flow(flow, version)
            ports = (sport, dport) if with_ports else ()
            queue = reta[frames.rss_hash(key, src, dst, *ports) % 128]
            queues[queue] += count // flows + (flow < count % flows)
        return dict(queues)

    def got(self, stats):
        return {int(queue): n for queue, n in stats["ports"][0]["queues"]["rx"].items()}

    def assert_spread(self, card, key, reta, flows, count, version, with_ports):
        stats = self.start_and_finish(card)
        self.assert_adds_up(stats)
        self.assert_healthy(stats)
        self.assertEqual(stats["ports"][0]["nic"]["rx_frames"], count)
        self.assertEqual(self.got(stats),
                         self.expected(key, reta, flows, count, version, with_ports))
        return stats

    def test_each_kind_of_flow(self):
        count, flows = 10000, 300
        for version in (4, 6):
            for proto in ("udp", "tcp"):
                with self.subTest(version=version, proto=proto):
                    card = self.card(f"--wire=gen,count={count},flows={flows},ip={version},"
                                     f"proto={proto},{rig.UNPACED}")
                    pmd = self.pmd_on(card, *QUEUE_OPTIONS, rings=RINGS)
                    pmd.command(f"port config all rss {proto}")
                    key, reta = self.key_of(pmd), self.reta_of(pmd)
                    self.assertEqual(reta, [i % QUEUES for i in range(128)])
                    stats = self.assert_spread(card, key, reta, flows, count, version, True)
                    self.assertEqual(len(self.got(stats)), QUEUES)
                    # Each queue sends back by its own: flows keep their order.
                    counters = stats["ports"][0]["wire"]["counters"]
                    self.assertEqual(counters["reordered"] + counters["duplicated"], 0)
                    self.assertEqual(stats["ports"][0]["queues"]["tx"],
                                     stats["ports"][0]["queues"]["rx"])
                    self.assertEqual(pmd.quit(), 0, pmd.log)

    def test_addresses_alone(self):
        """Flows of 16 source addresses; ports do not count."""
        count, flows = 65536, 65536
        for version in (4, 6):
            with self.subTest(version=version):
                card = self.card(
                    f"--wire=gen,count={count},flows={flows},ip={version},{rig.UNPACED}")
                pmd = self.pmd_on(card, *QUEUE_OPTIONS, "--rss-ip", rings=RINGS)
                queues = collections.Counter()
                reta = self.reta_of(pmd)
                for high in range(16):
                    src, dst, _, _ = frames.generator_flow(high << 12, version)
                    queues[reta[frames.rss_hash(KEY, src, dst) % 128]] += 4096
                stats = self.start_and_finish(card)
                self.assertEqual(self.got(stats), dict(queues))
                self.assertEqual(pmd.quit(), 0, pmd.log)

    def test_another_key_and_another_table(self):
        count, flows = 5000, 100
        card = self.card(f"--wire=gen,count={count},flows={flows},{rig.UNPACED}")
        pmd = self.pmd_on(card, *QUEUE_OPTIONS, "--rss-udp", rings=RINGS)
        pmd.command(f"port config 0 rss-hash-key ipv4-udp {OTHER_KEY.hex()}")
        self.assertEqual(self.key_of(pmd), OTHER_KEY)
        for i in range(0, 128, 8):
            pmd.command("port config 0 rss reta " +
                        ",".join(f"({k},{(k // 3) % QUEUES})" for k in range(i, i + 8)))
        reta = self.reta_of(pmd)
        self.assertEqual(reta, [(k // 3) % QUEUES for k in range(128)])
        self.assert_spread(card, OTHER_KEY, reta, flows, count, 4, True)
        self.assertEqual(pmd.quit(), 0, pmd.log)

    def test_pagewheel(self):
        """It asks for all that the card hashes, with the driver's key."""
        count, flows = 10000, 300
        for version, proto in ((4, "udp"), (6, "tcp")):
            with self.subTest(version=version, proto=proto):
                card = self.card(f"--wire=gen,count={count},flows={flows},ip={version},"
                                 f"proto={proto},{rig.UNPACED}")
                wheel = self.wheel_on(card, *QUEUE_OPTIONS, rings=RINGS)
                self.assert_spread(card, KEY, [i % QUEUES for i in range(128)], flows, count,
                                   version, True)
                self.assertEqual(wheel.quit(), 0, wheel.log)

    def test_the_hash_comes_along(self):
        """Of the published vectors, as testpmd prints it for each packet."""
        path = f"{self.files}/vectors.pcap"
        frames.write_pcap(path, [frames.tcp_frame(src, dst, sport, dport)
                                 for src, dst, sport, dport, _, _ in VECTORS])
        card = self.card(f"--wire=pcap={path},{rig.UNPACED}")
        pmd = self.pmd_on(card, *QUEUE_OPTIONS, "--rx-offloads=0x80000", mode="rxonly", start=False)
        pmd.command("port config all rss all")
        pmd.command("set verbose 1")
        pmd.command("start")
        self.start_and_finish(card)
        pmd.command("stop")
        seen = re.findall(r"RSS hash=0x([0-9a-f]+) - RSS queue=0x([0-9a-f]+)", pmd.log)
        self.assertEqual(sorted((int(value, 16), int(queue, 16)) for value, queue in seen),
                         sorted((value, value % 128 % QUEUES) for *_, value in VECTORS))
        self.assertEqual(pmd.quit(), 0, pmd.log)
