# SPDX-License-Identifier: BSD-3-Clause
"""No frame is lost between line, card and program without one of them having counted it."""

import rig

COUNT = 20000
UNPACED = f"--wire=gen,count={COUNT},{rig.UNPACED}"
# More than a program with few descriptors takes: the card misses some of them.
FLOOD = "--wire=gen,count=200000,size=64,rx-rate=10G"
TIGHT = ("--rxd=64", "--txd=64", "--total-num-mbufs=8192")


class Counts(rig.WithCard):
    def port_stats(self, card, program, number=0):
        """Of the program, read twice: what was counted is not counted again."""
        first = rig.table(program.command(f"show port stats {number}"))
        second = rig.table(program.command(f"show port stats {number}"))
        for name, value in first.items():
            if not name.endswith("ps"):  # rates
                self.assertEqual(second[name], value, name)
        return second

    def assert_program_agrees(self, card, program):
        stats = rig.settle(card)
        for number, port in enumerate(stats["ports"]):
            nic = port["nic"]
            seen = self.port_stats(card, program, number)
            for name, value in (
                    ("RX-packets", nic["rx_frames"]), ("RX-bytes", nic["rx_bytes"]),
                    ("RX-missed", nic["rx_missed"]), ("TX-packets", nic["tx_frames"]),
                    ("TX-bytes", nic["tx_bytes"]), ("TX-errors", 0), ("RX-nombuf", 0)):
                self.assertEqual(seen[name], value, f"port {number}: {name}")
        return stats

    def assert_forwarding_agrees(self, program, stats, received=None):
        """What the program itself did with packets."""
        total = rig.accumulated(program.command("stop"))
        frames = sum(port["nic"]["rx_frames"] for port in stats["ports"])
        sent = sum(port["nic"]["tx_frames"] for port in stats["ports"])
        missed = sum(port["nic"]["rx_missed"] for port in stats["ports"])
        self.assertEqual(total["RX-packets"], frames if received is None else received)
        self.assertEqual(total["RX-dropped"], missed)
        self.assertEqual(total["TX-packets"], sent)
        return total

    def test_all_come_back(self):
        for start in (self.pmd_on, self.wheel_on):
            with self.subTest(program=start.__name__):
                card = self.card(UNPACED)
                program = start(card)
                stats = self.start_and_finish(card)
                self.assert_adds_up(stats)
                self.assert_healthy(stats)
                self.assert_all_came_back(stats["ports"][0], COUNT)
                self.assert_program_agrees(card, program)
                total = self.assert_forwarding_agrees(program, stats)
                self.assertEqual(total["TX-dropped"], 0)
                self.assertEqual(program.quit(), 0, program.log)
                self.assertEqual(card.stop(), 0)

    def test_across_two_ports(self):
        for start in (self.pmd_on, self.wheel_on):
            with self.subTest(program=start.__name__):
                card = self.card(UNPACED, f"--wire=gen,count={COUNT},size=256,{rig.UNPACED}")
                program = start(card)
                stats = self.start_and_finish(card)
                self.assert_adds_up(stats)
                self.assert_healthy(stats)
                self.assert_program_agrees(card, program)
                # What one port received the other one sent, unless its ring was full.
                total = self.assert_forwarding_agrees(program, stats)
                self.assertEqual(total["RX-packets"], 2 * COUNT)
                self.assertEqual(total["TX-packets"] + total["TX-dropped"], 2 * COUNT)
                for port, other in ((0, 1), (1, 0)):
                    counters = stats["ports"][port]["wire"]["counters"]
                    self.assertEqual(counters["own"], stats["ports"][port]["nic"]["tx_frames"])
                    self.assertEqual(counters["reordered"] + counters["duplicated"], 0)
                    self.assertLessEqual(counters["own"],
                                         stats["ports"][other]["wire"]["counters"]["made_frames"])
                self.assertEqual(program.quit(), 0, program.log)
                self.assertEqual(card.stop(), 0)

    def test_missed_frames_have_a_name(self):
        for start in (self.pmd_on, self.wheel_on):
            with self.subTest(program=start.__name__):
                card = self.card(FLOOD)
                program = start(card, rings=TIGHT)
                # While the card takes no descriptor its packet buffer fills up.
                card.command("fault 0 rx-stall 300ms")
                stats = self.start_and_finish(card)
                nic = stats["ports"][0]["nic"]
                self.assert_adds_up(stats)
                self.assertGreater(nic["rx_missed"], 0)
                self.assertEqual(nic["rx_frames"] + nic["rx_missed"], 200000)
                self.assert_program_agrees(card, program)
                total = self.assert_forwarding_agrees(program, stats)
                self.assertEqual(total["TX-packets"] + total["TX-dropped"], total["RX-packets"])
                counters = stats["ports"][0]["wire"]["counters"]
                self.assertEqual(counters["own"], nic["tx_frames"])
                self.assertEqual(counters["bad_content"] + counters["reordered"], 0)
                self.assertEqual(program.quit(), 0, program.log)

    def test_received_and_dropped(self):
        for start in (self.pmd_on, self.wheel_on):
            with self.subTest(program=start.__name__):
                card = self.card(UNPACED)
                program = start(card, mode="rxonly")
                stats = self.start_and_finish(card)
                self.assert_adds_up(stats)
                self.assertEqual(stats["ports"][0]["nic"]["rx_frames"], COUNT)
                self.assertEqual(stats["ports"][0]["nic"]["tx_frames"], 0)
                self.assert_program_agrees(card, program)
                self.assertEqual(program.quit(), 0, program.log)

    def test_sent_only(self):
        """Nothing comes in; what testpmd makes up is what the wire gets."""
        card = self.card("--wire=sink,check=on,rate=max", hold=False)
        pmd = self.pmd_on(card, mode="txonly", start=False)
        pmd.command("set txpkts 100")
        pmd.command("start")
        self.assertIsNotNone(card.wait_for(
            lambda stats: stats["ports"][0]["nic"]["tx_frames"] > 1000))
        pmd.command("stop")
        stats = self.finish_sending(card)
        nic, wire = stats["ports"][0]["nic"], stats["ports"][0]["wire"]
        self.assertEqual(wire["counters"]["frames"], nic["tx_frames"])
        self.assertEqual(wire["counters"]["bytes"], 100 * nic["tx_frames"])
        self.assertIsNone(wire["wrong"])
        self.assert_program_agrees(card, pmd)
        self.assertEqual(pmd.quit(), 0, pmd.log)

    def finish_sending(self, card):
        before = None
        while (now := self.port(card)["nic"]["tx_frames"]) != before:
            before = now
            rig.settle(card)
        return card.stats()

    def test_sizes_are_counted(self):
        """The extended statistics of frames by size."""
        card = self.card(f"--wire=gen,count=6000,size=64:1/127:1/128:1/511:1/1024:1/1518:1,"
                         f"{rig.UNPACED}")
        pmd = self.pmd_on(card)
        stats = self.start_and_finish(card)
        self.assert_all_came_back(stats["ports"][0], 6000)
        seen = rig.table(pmd.command("show port xstats 0"))
        for name, count in (("64", 1000), ("65_to_127", 1000), ("128_to_255", 1000),
                            ("256_to_511", 1000), ("512_to_1023", 0), ("1024_to_max", 2000)):
            self.assertEqual(seen[f"rx_size_{name}_packets"], count, name)
            self.assertEqual(seen[f"tx_size_{name}_packets"], count, name)
        for name in ("rx_crc_errors", "rx_undersize_errors", "rx_oversize_errors"):
            self.assertEqual(seen[name], 0, name)
        self.assertEqual(seen["rx_total_packets"], 6000)
        self.assertEqual(pmd.quit(), 0, pmd.log)
