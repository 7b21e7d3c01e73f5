# SPDX-License-Identifier: BSD-3-Clause
"""Which frames the card lets through: by address and by VLAN; and tags taken out."""

import frames
import rig

OTHER = bytes.fromhex("0270770000aa")
GROUP = bytes.fromhex("01005e000005")
OTHER_GROUP = bytes.fromhex("333300000001")
BROADCAST = b"\xff" * 6
COPIES = 10


def text(mac):
    return ":".join(f"{byte:02x}" for byte in mac)


class Filters(rig.WithCard):
    def come_through(self, packets, *commands, options=(), stopped=(), dropped=("rx_filtered",)):
        """What testpmd gets of these packets, each COPIES times, after commands; the others are
        counted under the names of dropped."""
        given, out = f"{self.files}/in.pcap", f"{self.files}/out.pcap"
        frames.write_pcap(given, packets)
        card = self.card(f"--wire=pcap={given},out={out},loop={COPIES},{rig.UNPACED}")
        pmd = self.pmd_on(card, *options, start=False)
        if stopped:
            pmd.command("port stop 0")
            for command in stopped:
                pmd.command(command)
            pmd.ports("start")
        for command in commands:
            said = pmd.command(command)
            for problem in ("Bad arguments", "Invalid", "fail", "not supported"):
                self.assertNotIn(problem, said)
        pmd.command("start")
        stats = self.start_and_finish(card)
        self.assert_adds_up(stats)
        nic = stats["ports"][0]["nic"]
        self.assertEqual(nic["rx_frames"] + sum(nic[name] for name in dropped),
                         len(packets) * COPIES)
        self.assertEqual(rig.table(pmd.command("show port stats 0"))["RX-packets"],
                         nic["rx_frames"])
        self.assertEqual(pmd.quit(), 0, pmd.log)
        self.assertEqual(card.stop(), 0)
        sent = frames.read_pcap(out)
        self.assertEqual(len(sent), nic["rx_frames"])
        self.assertEqual(sent, sent[:len(sent) // COPIES] * COPIES)
        return sent[:len(sent) // COPIES]


class Addresses(Filters):
    def setUp(self):
        super().setUp()
        self.packets = {mac: frames.udp_frame(data=mac, mac=mac)
                        for mac in (frames.PORT_MAC, OTHER, GROUP, OTHER_GROUP, BROADCAST)}

    def assert_through(self, macs, *commands):
        sent = self.come_through(list(self.packets.values()), *commands)
        self.assertEqual(sent, [self.packets[mac] for mac in macs])

    def test_promiscuous(self):
        self.assert_through((frames.PORT_MAC, OTHER, GROUP, OTHER_GROUP, BROADCAST))

    def test_not_promiscuous(self):
        self.assert_through((frames.PORT_MAC, BROADCAST), "set promisc all off")

    def test_all_groups(self):
        self.assert_through((frames.PORT_MAC, GROUP, OTHER_GROUP, BROADCAST), "set promisc all off",
                            "set allmulti all on")

    def test_one_group(self):
        self.assert_through((frames.PORT_MAC, GROUP, BROADCAST), "set promisc all off",
                            f"mcast_addr add 0 {text(GROUP)}")

    def test_group_removed(self):
        self.assert_through((frames.PORT_MAC, OTHER_GROUP, BROADCAST), "set promisc all off",
                            f"mcast_addr add 0 {text(GROUP)}",
                            f"mcast_addr add 0 {text(OTHER_GROUP)}",
                            f"mcast_addr remove 0 {text(GROUP)}")

    def test_a_second_address(self):
        self.assert_through((frames.PORT_MAC, OTHER, BROADCAST), "set promisc all off",
                            f"mac_addr add 0 {text(OTHER)}")

    def test_address_changed(self):
        self.assert_through((OTHER, BROADCAST), "set promisc all off",
                            f"mac_addr set 0 {text(OTHER)}")


class Vlans(Filters):
    def setUp(self):
        super().setUp()
        self.packets = {vlan: frames.udp_frame(data=f"vlan {vlan}".encode() * 5, vlan=vlan)
                        for vlan in (None, 1, 100, 4095)}

    def test_untouched(self):
        self.assertEqual(self.come_through(list(self.packets.values())),
                         list(self.packets.values()))

    def test_stripped(self):
        """In each of the driver's ways to receive."""
        plain = [packet if vlan is None else (packet[:12] + packet[16:]).ljust(60, b"\0")
                 for vlan, packet in self.packets.items()]
        for options in ((), ("--max-pkt-len=9000", "--enable-scatter", "--tx-offloads=0x8000")):
            with self.subTest(options=options):
                self.assertEqual(
                    self.come_through(list(self.packets.values()), "vlan set strip on 0",
                                      options=options), plain)

    def test_filtered(self):
        sent = self.come_through(list(self.packets.values()), "vlan set filter on 0",
                                 "rx_vlan add 100 0", dropped=("rx_vlan_filtered",))
        self.assertEqual(sent, [self.packets[None], self.packets[100]])

    def test_filter_with_all_and_one_removed(self):
        sent = self.come_through(list(self.packets.values()), "vlan set filter on 0",
                                 "rx_vlan add all 0", "rx_vlan rm 1 0",
                                 dropped=("rx_vlan_filtered",))
        self.assertEqual(sent, [self.packets[None], self.packets[100], self.packets[4095]])

    def test_filtered_and_stripped(self):
        sent = self.come_through(list(self.packets.values()), "vlan set filter on 0",
                                 "vlan set strip on 0", "rx_vlan add 1 0",
                                 dropped=("rx_vlan_filtered",))
        packet = self.packets[1]
        self.assertEqual(sent, [self.packets[None], (packet[:12] + packet[16:]).ljust(60, b"\0")])

    def test_the_generators_tags(self):
        card = self.card(f"--wire=gen,count=5000,vlan=7,size=64:1/1518:1,{rig.UNPACED}")
        wheel = self.wheel_on(card)
        self.assert_all_came_back(self.start_and_finish(card)["ports"][0], 5000)
        self.assertEqual(wheel.quit(), 0, wheel.log)
