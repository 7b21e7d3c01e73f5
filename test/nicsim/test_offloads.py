# SPDX-License-Identifier: BSD-3-Clause
"""What the card does to frames that it sends: checksums, VLAN tags, segmentation."""

import os
import random
import struct
import subprocess
import time

import frames
import rig
from frames import ACK, FIN, PSH

CSUM_HW = ("csum set ip hw 0", "csum set udp hw 0", "csum set tcp hw 0")
JUMBO = ("--max-pkt-len=9728", "--mbuf-size=11264")
SCATTERED = ("--max-pkt-len=9728", "--mbuf-size=2176", "--enable-scatter", "--tx-offloads=0x8000")
V4 = {"src": "198.18.0.1", "dst": "198.18.0.2"}
V6 = {"src": "2001:db8::1", "dst": "2001:db8::2"}


class Sent(rig.WithCard):
    def send(self, packets, *commands, options=(), mode="csum"):
        """What the card sends when testpmd has been given these packets to send back, and commands
        while the port was stopped."""
        given, out = f"{self.files}/in.pcap", f"{self.files}/out.pcap"
        frames.write_pcap(given, packets)
        card = self.card(f"--wire=pcap={given},out={out},{rig.UNPACED}")
        pmd = self.pmd_on(card, *options, mode=mode, start=False)
        pmd.command("port stop 0")
        for command in commands:
            said = pmd.command(command)
            for text in ("Bad arguments", "not supported", "Error"):
                self.assertNotIn(text, said)
        pmd.ports("start")
        pmd.command("start")
        stats = self.start_and_finish(card)
        self.assert_adds_up(stats)
        self.assert_healthy(stats)
        self.assertEqual(stats["ports"][0]["nic"]["rx_frames"], len(packets))
        self.assertEqual(pmd.quit(), 0, pmd.log)
        self.stats = card.stats()["ports"][0]["nic"]
        self.assertEqual(card.stop(), 0)
        return [frames.Packet(frame) for frame in frames.read_pcap(out)]

    def assert_right(self, packet):
        self.assertTrue(packet.right_ip, vars(packet))
        self.assertTrue(packet.right_l4, vars(packet))


class Checksums(Sent):
    def packets(self):
        """Of any length, odd ones too; what they arrive with is wrong."""
        rng = random.Random(1)
        made = []
        for size in (0, 1, 2, 17, 18, 19, 20, 100, 101, 1400, 1401):
            data = rng.randbytes(size)
            made += [frames.udp_frame(**V4, data=data, right=False, ip_right=False),
                     frames.tcp_frame(**V4, data=data, right=False),
                     frames.udp_frame(**V6, data=data, right=False),
                     frames.tcp_frame(**V6, data=data, right=False),
                     frames.udp_frame(**V4, data=data, vlan=7, right=False),
                     frames.tcp_frame(**V6, data=data, vlan=7, right=False)]
        # One whose sum is 0, which is sent as 0xffff, as 0 would mean none (RFC 768).
        for number in range(65536):
            data = struct.pack("!H", number)
            if frames.udp(V4["src"], V4["dst"], 1000, 9, data)[6:8] == b"\xff\xff":
                made.append(frames.udp_frame(**V4, data=data, right=False))
        return made

    def test_inserted(self):
        packets = self.packets()
        for options in ((), SCATTERED):
            with self.subTest(options=options):
                sent = self.send(packets, *CSUM_HW, options=options)
                self.assertEqual(len(sent), len(packets))
                for packet, given in zip(sent, packets):
                    self.assert_right(packet)
                    self.assertEqual(packet.data, frames.Packet(given).data)
                    self.assertEqual(packet.vlan, frames.Packet(given).vlan)
                    self.assertEqual(packet.frame_bytes, len(given))

    def test_jumbo(self):
        data = random.Random(2).randbytes(9000)
        for options in (JUMBO, SCATTERED):
            with self.subTest(options=options):
                sent = self.send([frames.udp_frame(**V4, data=data, right=False),
                                  frames.tcp_frame(**V6, data=data[:-1], right=False)],
                                 *CSUM_HW, options=options)
                for packet in sent:
                    self.assert_right(packet)
                self.assertEqual(sent[0].data, data)
                self.assertEqual(sent[1].data, data[:-1])

    def test_nothing_asked_nothing_done(self):
        packets = self.packets()
        sent = self.send(packets, mode="io")
        self.assertFalse(any(packet.right_l4 for packet in sent))


class Tags(Sent):
    def test_inserted(self):
        for mode in ("mac", "macswap"):
            with self.subTest(mode=mode):
                packets = [frames.udp_frame(**V4, data=bytes(size)) for size in (0, 30, 1400, 1472)]
                sent = self.send(packets, "tx_vlan set 0 100", mode=mode)
                for packet, given in zip(sent, packets):
                    self.assertEqual(packet.vlan, 100)
                    self.assert_right(packet)
                    self.assertEqual(packet.frame_bytes, len(given) + 4)
                self.assertEqual(len(sent), len(packets))


class Segments(Sent):
    def assert_segments(self, sent, data, mss, seq, flags, ident):
        """Frames of one packet, in order, and all of it."""
        self.assertEqual(b"".join(packet.data for packet in sent), data)
        for i, packet in enumerate(sent):
            last = i == len(sent) - 1
            self.assert_right(packet)
            self.assertEqual(packet.seq, (seq + i * mss) % (1 << 32))
            self.assertEqual(packet.flags, flags if last else flags & ~(FIN | PSH))
            self.assertEqual(len(packet.data), len(data) - i * mss if last else mss)
            if packet.ident is not None:
                self.assertEqual(packet.ident, (ident + i) % 65536)
            self.assertEqual((packet.sport, packet.dport), (1000, 9))

    def segment(self, cases, options, mss=800):
        """Send packets of these ends, payload bytes, flags, sequence numbers, IDs and tags."""
        packets = [frames.tcp_frame(**ends, data=random.Random(size).randbytes(size), flags=flags,
                                    seq=seq, ident=ident, right=False, vlan=vlan)
                   for ends, size, flags, seq, ident, vlan in cases]
        sent = self.send(packets, *CSUM_HW, f"tso set {mss} 0", options=options)
        for _, size, flags, seq, ident, vlan in cases:
            count = -(-size // mss)
            self.assert_segments(sent[:count], random.Random(size).randbytes(size), mss, seq, flags,
                                 ident)
            self.assertEqual({packet.vlan for packet in sent[:count]}, {vlan})
            sent = sent[count:]
        self.assertEqual(sent, [])
        self.assertEqual(self.stats["tx_tso_packets"], sum(case[1] > mss for case in cases))

    def test_segments(self):
        """Of lengths around what fits one frame, two, and many; with each flag, with numbers that
        wrap, behind a tag."""
        cases = [(ends, size, ACK, 5, 7, None) for ends in (V4, V6)
                 for size in (1, 799, 800, 801, 1599, 1600, 1601, 8000, 9000)]
        cases += [(V4, 5000, ACK | flags, 5, 7, None) for flags in (PSH, FIN, PSH | FIN)]
        cases += [(V4, 9000, ACK | PSH, (1 << 32) - 1000, 65533, None)]
        cases += [(ends, 5000, ACK | PSH, 5, 7, 9) for ends in (V4, V6)]
        for options in (JUMBO, SCATTERED):
            with self.subTest(options=options):
                self.segment(cases, options)

    def test_other_segment_sizes(self):
        for mss in (64, 1460, 8959):
            with self.subTest(mss=mss):
                self.segment([(V4, 9000, ACK, 5, 7, None)], SCATTERED, mss)


class Kernel(rig.WithPeer):
    """Linux's own TCP behind a TAP interface."""

    def echo(self, size):
        """Send that much to the port echo, and compare what comes back."""
        data = random.Random(size).randbytes(size)
        path = f"{self.files}/data"
        with open(path, "wb") as file:
            file.write(data)
        with open(path, "rb") as file:
            back = self.in_peer("nc", "-N", "198.18.0.2", "7", stdin=file, capture_output=True)
        self.assertEqual(len(back.stdout), size)
        self.assertTrue(back.stdout == data)

    def end(self, card, wheel, errors=False):
        snmp = self.snmp()
        if not errors:
            self.assertEqual((snmp["TcpInCsumErrors"], snmp["TcpInErrs"], snmp["IpInHdrErrors"]),
                             (0, 0, 0))
        time.sleep(0.1)
        card.command("hold")
        self.assert_adds_up(rig.settle(card))
        self.assertEqual(wheel.quit(), 0, wheel.log)
        self.assertEqual(card.stop(), 0)
        return snmp

    def test_8_mib_come_back(self):
        card = self.tap()
        wheel = self.wheel_on(card, mode="tcp")
        self.echo(8 << 20)
        self.end(card, wheel)

    def test_ping(self):
        card = self.tap()
        wheel = self.wheel_on(card, mode="tcp")
        for size in (0, 56, 1472):
            self.in_peer("ping", "-c", "2", "-i", "0.05", "-W", "5", "-s", str(size), "198.18.0.2",
                         capture_output=True)
        self.end(card, wheel)

    def test_a_bad_line_damages_nothing(self):
        """Frames with wrong checksums, changed bits, lost, doubled and out of order: the stream is
        whole, both ways."""
        card = self.tap(",rx-bad-cksum=1,rx-corrupt=1,loss=0.2,dup=1,reorder=1")
        wheel = self.wheel_on(card, mode="tcp")
        self.echo(1 << 20)
        line = self.port(card)["line"]["rx"]
        for name in ("bad_cksum", "corrupted"):
            self.assertGreater(line[name], 0, name)
        self.end(card, wheel, errors=True)
