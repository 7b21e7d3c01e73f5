# SPDX-License-Identifier: BSD-3-Clause
"""The card looks at checksums that arrive, and tells the program which are wrong."""

import re

import frames
import rig

COUNT = 4000
# The driver does not believe the card: an 82599 may say so of a frame without a checksum too
# (rx_udp_csum_zero_err in ixgbe_rxtx.c).
BAD_UDP = "UNKNOWN"
RX_CKSUM = "--enable-rx-cksum"


def flags(text):
    """Of each packet that testpmd prints: whether IP's and TCP's or UDP's checksum are good, bad or
    not known."""
    return re.findall(r"ol_flags:.*?RX_L4_CKSUM_(\w+).*?RX_IP_CKSUM_(\w+)", text)


class Flags(rig.WithCard):
    def play(self, packets):
        """What testpmd says of each packet, and how many were wrong to the card."""
        path = f"{self.files}/in.pcap"
        frames.write_pcap(path, packets)
        card = self.card(f"--wire=pcap={path},{rig.UNPACED}")
        pmd = self.pmd_on(card, RX_CKSUM, mode="rxonly", start=False)
        pmd.command("set verbose 1")
        pmd.command("start")
        stats = self.start_and_finish(card)
        self.assert_adds_up(stats)
        self.assertEqual(stats["ports"][0]["nic"]["rx_frames"], len(packets))
        pmd.command("stop")
        said = pmd.log
        errors = rig.table(pmd.command("show port xstats 0"))["rx_l3_l4_xsum_error"]
        self.assertEqual(pmd.quit(), 0, pmd.log)
        return said, errors

    def counted(self, proto, version, bad):
        """Wrong checksums as the engine csum counts them, of IP and of TCP or UDP."""
        card = self.card(f"--wire=gen,count={COUNT},proto={proto},ip={version},{rig.UNPACED},"
                         f"rx-bad-cksum={bad}")
        pmd = self.pmd_on(card, RX_CKSUM, mode="csum")
        stats = self.start_and_finish(card)
        self.assert_adds_up(stats)
        seen = rig.table(pmd.command("stop"))
        errors = rig.table(pmd.command("show port xstats 0"))["rx_l3_l4_xsum_error"]
        self.assertEqual(pmd.quit(), 0, pmd.log)
        made_bad = stats["ports"][0]["line"]["rx"]["bad_cksum"]
        self.assertEqual(stats["ports"][0]["nic"]["rx_frames"], COUNT)
        self.assertEqual(errors, made_bad)
        self.assertEqual((seen["Bad-ipcsum"], seen["Bad-l4csum"]),
                         (0, 0 if proto == "udp" else made_bad))
        return made_bad

    def test_all_wrong_and_all_right(self):
        for proto, version in (("udp", 4), ("tcp", 6)):
            with self.subTest(proto=proto, version=version):
                self.assertEqual(self.counted(proto, version, 100), COUNT)
        self.assertEqual(self.counted("tcp", 4, 0), 0)

    def test_some_wrong(self):
        bad = self.counted("tcp", 4, 30)
        self.assertGreater(bad, 0)
        self.assertLess(bad, COUNT)

    def test_each_packet(self):
        v6 = {"src": "2001:db8::1", "dst": "2001:db8::2"}
        cases = (
            (frames.udp_frame(), "GOOD", "GOOD"),
            (frames.udp_frame(right=False), BAD_UDP, "GOOD"),
            (frames.udp_frame(ip_right=False), "GOOD", "BAD"),
            (frames.udp_frame(right=False, ip_right=False), BAD_UDP, "BAD"),
            (frames.tcp_frame(data=b"x"), "GOOD", "GOOD"),
            (frames.tcp_frame(data=b"x", right=False), "BAD", "GOOD"),
            (frames.tcp_frame(data=b"y" * 1400, right=False), "BAD", "GOOD"),
            (frames.udp_frame(data=b"z" * 1401), "GOOD", "GOOD"),
            (frames.udp_frame(vlan=5, right=False), BAD_UDP, "GOOD"),
            (frames.udp_frame(vlan=5), "GOOD", "GOOD"),
            (frames.tcp_frame(**v6, right=False), "BAD", None),
            (frames.tcp_frame(**v6), "GOOD", None),
            (frames.udp_frame(**v6, right=False, data=b"12345"), BAD_UDP, None),
        )
        said, errors = self.play([case[0] for case in cases])
        seen = flags(said)
        self.assertEqual(len(seen), len(cases), said)
        for i, ((_, l4, ip), (seen_l4, seen_ip)) in enumerate(zip(cases, seen)):
            with self.subTest(packet=i):
                self.assertEqual(seen_l4, l4)
                if ip is not None:
                    self.assertEqual(seen_ip, ip)
        self.assertEqual(errors, sum({"BAD", BAD_UDP} & set(case[1:]) != set() for case in cases))

    def test_every_bit_of_a_packet(self):
        """A bit changed in what a checksum covers is seen, wherever it is."""
        good = frames.tcp_frame(data=b"0123456789abcdef", sport=0xa5a5)
        # Of the IPv4 header all but lengths, fragments and the protocol, which decide how a frame
        # is read; of TCP's all but its length.
        places = [*range(18, 20), 22, *range(24, 46), *range(47, len(good))]
        packets = []
        for at in places:
            changed = bytearray(good)
            changed[at] ^= 1 << at % 8
            packets.append(bytes(changed))
        said, errors = self.play(packets)
        self.assertEqual(errors, len(packets))
        for at, pair in zip(places, flags(said)):
            self.assertIn("BAD", pair, f"byte {at}")
