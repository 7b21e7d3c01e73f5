# SPDX-License-Identifier: BSD-3-Clause
"""What a bad line does to frames is counted on the line, on the card, and in the program."""

import rig

COUNT = 10000


class Impairments(rig.WithCard):
    def through(self, settings, *commands, gen="", seed=1, options=(), start=None, count=COUNT):
        """Send frames over such a line through a program; all counters at the end."""
        card = self.card(f"--wire=gen,count={count},{gen or 'size=256,flows=4'},{rig.UNPACED}"
                         f"{settings}", f"--seed={seed}")
        program = (start or self.pmd_on)(card, *options)
        for command in commands:
            card.command(command)
        stats = self.start_and_finish(card)
        self.assert_adds_up(stats)
        self.seen = rig.table(program.command("show port stats 0"))
        self.extended = program.command("show port xstats 0") if start is None else ""
        self.assertEqual(program.quit(), 0, program.log)
        card.stop()
        port = stats["ports"][0]
        self.assertEqual(self.seen["RX-packets"], port["nic"]["rx_frames"])
        self.assertEqual(self.seen["TX-packets"], port["nic"]["tx_frames"])
        self.assertEqual(port["wire"]["counters"]["made_frames"], count)
        return port

    def test_loss(self):
        for start, settings, commands in ((self.pmd_on, ",rx-loss=10", ()),
                                          (self.wheel_on, "", ("set 0 rx-loss=10",))):
            with self.subTest(program=start.__name__, settings=settings):
                port = self.through(settings, *commands, start=start)
                line = port["line"]["rx"]
                self.assertGreater(line["lost"], 0)
                self.assertEqual(line["frames"] + line["lost"], COUNT)
                self.assertEqual(port["nic"]["rx_frames"], line["frames"])
                self.assertEqual(port["wire"]["counters"]["own"], line["frames"])

    def test_loss_on_the_way_back(self):
        port = self.through(",tx-loss=10")
        line = port["line"]["tx"]
        self.assertEqual(port["nic"]["tx_frames"], COUNT)
        self.assertEqual(line["frames"] + line["lost"], COUNT)
        self.assertEqual(port["wire"]["counters"]["own"], line["frames"])

    def test_duplicates(self):
        port = self.through(",rx-dup=10")
        line, counters = port["line"]["rx"], port["wire"]["counters"]
        self.assertGreater(line["duplicated"], 0)
        self.assertEqual(line["frames"], COUNT + line["duplicated"])
        self.assertEqual(port["nic"]["rx_frames"], line["frames"])
        self.assertEqual(counters["own"], line["frames"])
        self.assertEqual(counters["duplicated"], line["duplicated"])
        self.assertEqual(counters["reordered"] + counters["lost_or_still_under_way"], 0)

    def test_reordered(self):
        """All come, some late; across flows, so that not each of them is seen in its own."""
        port = self.through(",rx-reorder=10", gen="size=64")
        line, counters = port["line"]["rx"], port["wire"]["counters"]
        self.assertGreater(line["reordered"], 0)
        self.assertEqual(line["frames"], COUNT)
        self.assertEqual(counters["own"], COUNT)
        self.assertEqual(counters["lost_or_still_under_way"], 0)
        self.assertGreater(counters["reordered"], 0)
        self.assertLessEqual(counters["reordered"], line["reordered"])

    def test_delay_keeps_the_order(self):
        port = self.through(",delay=1ms,jitter=1ms", count=2000)
        self.assert_all_came_back(port, 2000)

    def test_bad_crc(self):
        """The card drops them, and the program is told how many."""
        port = self.through(",rx-bad-crc=10")
        bad = port["line"]["rx"]["bad_crc"]
        self.assertLess(0, bad)
        self.assertLess(bad, COUNT)
        self.assertEqual(port["nic"]["rx_crc_errors"], bad)
        self.assertEqual(port["nic"]["rx_frames"], COUNT - bad)
        self.assertEqual(port["wire"]["counters"]["bad_content"], 0)
        self.assertEqual(rig.table(self.extended)["rx_crc_errors"], bad)
        self.assertEqual(self.seen["RX-errors"], bad)

    def test_corrupted(self):
        """Under a right CRC: they pass the card, and the checker finds what headers and checksums
        tell."""
        port = self.through(",rx-corrupt=100", gen="size=1518")
        counters = port["wire"]["counters"]
        nic = port["nic"]
        self.assertEqual(port["line"]["rx"]["corrupted"], COUNT)
        self.assertEqual(nic["rx_frames"] + nic["rx_filtered"], COUNT)
        self.assertGreater(counters["bad_l4_cksum"], 0)

    def test_truncated(self):
        port = self.through(",rx-truncate=50", gen="size=128")
        line, nic = port["line"]["rx"], port["nic"]
        self.assertGreater(line["truncated"], 0)
        self.assertGreater(nic["rx_undersize"], 0)
        # Some that were cut are long enough still.
        self.assertLess(nic["rx_undersize"], line["truncated"])
        self.assertEqual(nic["rx_frames"] + nic["rx_undersize"], COUNT)
        self.assertEqual(rig.table(self.extended)["rx_undersize_errors"], nic["rx_undersize"])

    def test_oversized(self):
        port = self.through(",rx-oversize=50", gen="size=1518")
        line, nic = port["line"]["rx"], port["nic"]
        self.assertGreater(line["oversized"], 0)
        # Each of them is longer than the card takes, as frames were as long as that before.
        self.assertEqual(nic["rx_oversize"], line["oversized"])
        self.assertEqual(nic["rx_frames"] + nic["rx_oversize"], COUNT)
        self.assertEqual(rig.table(self.extended)["rx_oversize_errors"], nic["rx_oversize"])

    def test_oversized_into_scattered_buffers(self):
        port = self.through(",rx-oversize=20", gen="size=64", options=(
            "--max-pkt-len=9728", "--mbuf-size=2176", "--enable-scatter", "--tx-offloads=0x8000"))
        nic = port["nic"]
        self.assertEqual(nic["rx_frames"] + nic["rx_oversize"], COUNT)
        self.assertGreater(nic["rx_bytes"], 60 * COUNT)
        self.assertEqual(nic["tx_bytes"], nic["rx_bytes"])

    def test_all_at_once_is_accounted_for(self):
        everything = "loss=2,dup=2,reorder=2,corrupt=2,bad-crc=2,bad-cksum=2,truncate=2,oversize=2"
        for start in (self.pmd_on, self.wheel_on):
            with self.subTest(program=start.__name__):
                port = self.through(f",{everything}", start=start)
                line = port["line"]["rx"]
                self.assertEqual(line["frames"], COUNT + line["duplicated"] - line["lost"])

    def test_the_same_again(self):
        """A seed makes all that is random; another one makes something else."""
        settings = ",rx-loss=5,rx-dup=5,rx-reorder=5,rx-bad-crc=5,rx-truncate=5"
        first, second = (self.through(settings, seed=7)["line"]["rx"] for _ in range(2))
        self.assertEqual(first, second)
        self.assertNotEqual(self.through(f"{settings},seed=2", seed=7)["line"]["rx"], first)

    def test_changed_while_frames_come(self):
        card = self.card("--wire=gen,size=64,rx-rate=20Kpps", hold=False)
        pmd = self.pmd_on(card)
        for change in ("loss=50", "dup=50", "loss=0", "reorder=50", "gap=200", "delay=2ms",
                       "jitter=2ms", "rx-rate=50Kpps", "bad-crc=10", "dup=0", "delay=0", "jitter=0",
                       "reorder=0", "bad-crc=0"):
            card.command(f"set 0 {change}")
            before = self.port(card)["nic"]["rx_frames"]
            self.assertIsNotNone(card.wait_for(
                lambda stats: stats["ports"][0]["nic"]["rx_frames"] > before + 100), change)
        card.command("hold")
        self.assert_adds_up(rig.settle(card))
        self.assertEqual(pmd.quit(), 0, pmd.log)
