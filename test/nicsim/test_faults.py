# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong with a card: programs live on or are brought back, and counts add up."""

import rig
from pwlab import LabError

COUNT = 20000
UNPACED = f"--wire=gen,count={COUNT},flows=8,{rig.UNPACED}"
# Without an end, and slow enough for a machine that has other things to do.
ENDLESS = "--wire=gen,flows=8,rx-rate=20Kpps"
RINGS = ("--rxd=1024", "--txd=2048", "--total-num-mbufs=8192")


class Faults(rig.WithCard):
    def on_both(self, test, *options, hold=True):
        """Run a test with each of the two programs, on a card of its own."""
        for start in (self.pmd_on, self.wheel_on):
            with self.subTest(program=start.__name__):
                card = self.card(*options, hold=hold)
                program = start(card, rings=RINGS)
                test(card, program)
                self.end(card, program)

    def more(self, card, name="rx_frames", by=200, port=0, timeout=20.0):
        """Wait until the card has counted so many more."""
        before = self.port(card, port)["nic"][name]
        got = card.wait_for(
            lambda stats: stats["ports"][port]["nic"][name] >= before + by, timeout)
        self.assertIsNotNone(got, f"no more {name} than {before} after {timeout} s")
        return got

    def traffic_flows(self, card):
        self.more(card, "rx_frames")
        self.more(card, "tx_frames")

    def end(self, card, program):
        """Counts add up when all is over, and what came back was not damaged."""
        card.command("hold")
        stats = rig.settle(card)
        self.assert_adds_up(stats)
        for port in stats["ports"]:
            self.assertEqual(port["nic"]["rx_dma_errors"], 0)
            counters = port["wire"]["counters"]
            for name in ("bad_content", "malformed", "bad_ip_cksum", "bad_l4_cksum"):
                self.assertEqual(counters[name], 0, name)
        self.assertEqual(program.quit(), 0, program.log)
        card.stop()
        return stats


class Link(Faults):
    def test_down_and_up(self):
        """The driver waits some seconds before it tells, as links flap."""
        card = self.card(ENDLESS, hold=False)
        pmd = self.pmd_on(card, rings=RINGS)
        self.traffic_flows(card)
        card.command("fault 0 link-down")
        pmd.wait_for("link state change event")
        self.assertIn("Link status: down", pmd.command("show port info 0"))
        before = self.port(card)
        self.assertFalse(before["link_up"])
        # What is sent now goes nowhere, and nothing comes.
        self.assertEqual(rig.settle(card)["ports"][0]["line"]["rx"], before["line"]["rx"])
        card.command("fault 0 link-up")
        pmd.wait_for("link state change event")
        self.assertIn("Link status: up", pmd.command("show port info 0"))
        self.traffic_flows(card)
        self.assertGreater(self.port(card)["nic"]["interrupts"], 0)
        self.end(card, pmd)

    def test_one_port_of_two(self):
        card = self.card(ENDLESS, ENDLESS, hold=False)
        pmd = self.pmd_on(card, rings=RINGS)
        self.traffic_flows(card)
        card.command("fault 1 link-down")
        self.more(card, "tx_link_down", port=1)
        self.more(card, "rx_frames", port=0)
        self.assertTrue(rig.wait_until(
            lambda: "Link status: down" in pmd.command("show port info 1")))
        self.assertIn("Link status: up", pmd.command("show port info 0"))
        card.command("fault 1 link-up")
        self.more(card, "tx_frames", port=1)
        self.end(card, pmd)

    def test_flaps_under_traffic(self):
        def flap(card, _):
            self.traffic_flows(card)
            for _ in range(10):
                card.command("fault 0 link-flap 20ms")
                self.assertIsNotNone(card.wait_for(lambda stats: stats["ports"][0]["link_up"]))
            self.traffic_flows(card)

        self.on_both(flap, ENDLESS, hold=False)

    def test_flaps_of_the_command_line(self):
        """While the link is down the wire's frames wait: none of them is lost."""
        card = self.card(f"--wire=gen,count={COUNT},rx-rate=20Kpps",
                         "--fault=link-flap=10ms@50ms/50ms", hold=False)
        pmd = self.pmd_on(card, rings=RINGS)
        nic = self.finish(card)["ports"][0]["nic"]
        self.assertEqual(nic["rx_frames"] + nic["rx_missed"] + nic["rx_disabled"], COUNT)
        # The driver masks the next ones until it has looked, seconds later.
        self.assertGreaterEqual(nic["interrupts"], 1)
        self.end(card, pmd)


class Descriptors(Faults):
    def test_stall(self):
        """The packet buffer holds what it can, and the rest is missed and counted."""
        def stall(card, _):
            self.traffic_flows(card)
            card.command("fault 0 rx-stall 50ms")
            self.traffic_flows(card)

        self.on_both(stall, ENDLESS, hold=False)

    def test_hang(self):
        """Nothing is sent: the ring fills up, and packets are dropped by the program."""
        def hang(card, program):
            card.command("fault 0 tx-hang 300ms")
            card.command("start")
            self.more(card, "tx_frames", by=1)
            stats = self.finish(card)
            total = rig.accumulated(program.command("stop"))
            self.assertEqual(stats["ports"][0]["nic"]["rx_frames"], COUNT)
            self.assertGreater(total["TX-dropped"], 0)
            self.assertEqual(total["TX-packets"] + total["TX-dropped"], COUNT)
            self.assertEqual(stats["ports"][0]["wire"]["counters"]["own"], total["TX-packets"])

        self.on_both(hang, UNPACED)

    def test_late_and_scattered_write_back(self):
        """Descriptors come back later, in time or one by one; all frames do, in their order."""
        def delay(card, program):
            for fault in ("late 200us", "scatter 300us"):
                card.command(f"fault 0 {fault}")
            stats = self.start_and_finish(card)
            self.assert_all_came_back(stats["ports"][0], COUNT)
            self.assertEqual(rig.table(program.command("show port stats 0"))["RX-packets"], COUNT)

        self.on_both(delay, UNPACED)

    def test_scattered_write_back_of_scattered_frames(self):
        card = self.card(f"--wire=gen,count=3000,size=64:1/9728:1,{rig.UNPACED}")
        pmd = self.pmd_on(card, "--max-pkt-len=9728", "--mbuf-size=2176", "--enable-scatter",
                          "--tx-offloads=0x8000")
        card.command("fault 0 scatter 100us")
        stats = self.start_and_finish(card)
        self.assert_all_came_back(stats["ports"][0], 3000)
        self.end(card, pmd)

    def test_late_then_at_once(self):
        """What was held back is not overtaken."""
        card = self.card(ENDLESS, hold=False)
        pmd = self.pmd_on(card, rings=RINGS)
        for _ in range(5):
            for fault in ("late 5ms", "late 0", "scatter 2ms", "scatter 0"):
                card.command(f"fault 0 {fault}")
                self.more(card, by=50)
        stats = self.end(card, pmd)
        counters = stats["ports"][0]["wire"]["counters"]
        self.assertEqual(counters["reordered"] + counters["duplicated"], 0)

    def test_head_jump(self):
        """The driver waits at a descriptor for ever; a restart of the port brings it back."""
        card = self.card(ENDLESS, hold=False)
        pmd = self.pmd_on(card, rings=RINGS)
        self.traffic_flows(card)
        card.command("fault 0 head-jump 5")
        # The card goes on to the end of what the driver gave it, then there is no descriptor.
        self.more(card, "rx_buffered", by=1)
        sent = rig.settle(card)["ports"][0]["nic"]["tx_frames"]
        rig.settle(card)
        self.assertEqual(self.port(card)["nic"]["tx_frames"], sent)
        pmd.command("stop")
        pmd.ports("stop", "start")
        pmd.command("start")
        self.traffic_flows(card)
        self.end(card, pmd)


class Resets(Faults):
    def test_card_loses_all(self):
        """As after a parity error: nothing runs, until the port is reset."""
        for port_commands in (("stop", "reset", "start"), ("stop", "start")):
            with self.subTest(commands=port_commands):
                card = self.card(ENDLESS, hold=False)
                pmd = self.pmd_on(card, rings=RINGS)
                self.traffic_flows(card)
                card.command("fault 0 reset")
                self.more(card, "rx_disabled")
                pmd.command("stop")
                pmd.ports(*port_commands)
                pmd.command("start")
                self.traffic_flows(card)
                self.end(card, pmd)

    def test_pagewheel_restarts_after_it(self):
        card = self.card(ENDLESS, hold=False)
        wheel = self.wheel_on(card, rings=RINGS)
        self.traffic_flows(card)
        card.command("fault 0 reset")
        self.more(card, "rx_disabled")
        self.assertIn("pagewheel>", wheel.command("show port stats 0"))
        self.end(card, wheel)

    def test_20_port_resets_under_traffic(self):
        card = self.card(ENDLESS, hold=False)
        pmd = self.pmd_on(card, rings=RINGS)
        for _ in range(20):
            pmd.command("stop")
            pmd.ports("stop", "reset", "start")
            pmd.command("start")
            self.more(card, by=20)
        self.assertIn("Link status: up", pmd.command("show port info 0"))
        stats = self.end(card, pmd)
        self.assertGreaterEqual(stats["ports"][0]["nic"]["resets"], 20)
        # A reset clears what the program counts, not what the model does.
        port = stats["ports"][0]
        self.assertEqual(port["line"]["rx"]["frames"], port["wire"]["counters"]["made_frames"])


class Killed(Faults):
    def test_the_program(self):
        """Another one starts on the same card, which has gone on."""
        card = self.card(ENDLESS, ENDLESS, hold=False)
        for start in (self.pmd_on, self.wheel_on, self.pmd_on):
            program = start(card, rings=RINGS)
            self.traffic_flows(card)
            program.process.kill()
            program.process.wait()
            # The card lets the memory go, and what comes now has nowhere to go.
            self.assertTrue(rig.wait_until(lambda: not card.stats()["application"]))
            self.more(card, "rx_frames", by=0)
        program = self.wheel_on(card, rings=RINGS)
        self.traffic_flows(card)
        self.assertTrue(card.stats()["application"])
        self.end(card, program)

    def test_the_card(self):
        """A new one takes its place; the program lives, and a restart of its ports is enough."""
        for commands in (("stop", "reset", "start"), ("stop", "start")):
            with self.subTest(commands=commands):
                card = self.card(ENDLESS, hold=False)
                pmd = self.pmd_on(card, rings=RINGS)
                self.traffic_flows(card)
                pmd.command("stop")
                card.kill()
                with self.assertRaises(LabError):
                    card.stats()
                card.start()
                pmd.ports(*commands)
                pmd.command("start")
                self.traffic_flows(card)
                self.assertTrue(card.stats()["application"])
                self.assertIn("Link status: up", pmd.command("show port info 0"))
                # The new card's counters are as exact as the old one's.
                card.command("hold")
                pmd.command("clear port stats 0")
                self.end(card, pmd)

    def test_the_card_while_frames_are_forwarded(self):
        for start in (self.pmd_on, self.wheel_on):
            with self.subTest(program=start.__name__):
                card = self.card(ENDLESS, hold=False)
                program = start(card, rings=RINGS)
                self.traffic_flows(card)
                card.kill()
                card.start()
                self.assertIsNone(program.process.poll())
                program.command("show port stats 0")
                if start == self.pmd_on:
                    program.command("stop")
                    program.ports("stop", "start")
                    program.command("start")
                    self.traffic_flows(card)
                self.assertEqual(program.quit(), 0, program.log)
