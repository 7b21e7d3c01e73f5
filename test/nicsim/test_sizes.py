# SPDX-License-Identifier: BSD-3-Clause
"""Frames of all sizes arrive whole and come back whole: in one buffer, and in many."""

import rig

JUMBO = "1518:1/1519:1/1522:1/2048:1/2049:1/4096:1/9727:1/9728:1"
MULTI_SEGS = "--tx-offloads=0x8000"
KEEP_CRC = "--rx-offloads=0x10000"
SCATTER = ("--enable-scatter", MULTI_SEGS)


class Sizes(rig.WithCard):
    def come_back(self, start, sizes, *options, count=8000, flows=3, rings=rig.RINGS):
        """Let frames of these sizes through a program, and check what comes back."""
        card = self.card(f"--wire=gen,count={count},flows={flows},size={sizes},{rig.UNPACED}")
        program = start(card, *options, rings=rings)
        stats = self.start_and_finish(card)
        self.assert_adds_up(stats)
        self.assert_healthy(stats)
        self.assert_all_came_back(stats["ports"][0], count)
        seen = rig.table(program.command("show port stats 0"))
        made = stats["ports"][0]["wire"]["counters"]["made_bytes"]
        self.assertEqual((seen["RX-packets"], seen["RX-bytes"]), (count, made))
        self.assertEqual((seen["TX-packets"], seen["TX-bytes"]), (count, made))
        self.assertEqual(program.quit(), 0, program.log)
        self.assertEqual(card.stop(), 0)

    def test_usual_sizes(self):
        for start in (self.pmd_on, self.wheel_on):
            for sizes in ("64:1/65:1/127:1/128:1/129:1/1024:1/1517:1/1518:1", "imix"):
                with self.subTest(program=start.__name__, sizes=sizes):
                    self.come_back(start, sizes)

    def test_a_size_more_is_dropped(self):
        for start in (self.pmd_on, self.wheel_on):
            with self.subTest(program=start.__name__):
                card = self.card(f"--wire=gen,count=2000,size=1518:1/1519:1,{rig.UNPACED}")
                program = start(card)
                stats = self.start_and_finish(card)
                self.assert_adds_up(stats)
                nic = stats["ports"][0]["nic"]
                self.assertEqual((nic["rx_frames"], nic["rx_oversize"]), (1000, 1000))
                self.assertEqual(stats["ports"][0]["wire"]["counters"]["own"], 1000)
                seen = rig.table(program.command("show port stats 0"))
                self.assertEqual(seen["RX-packets"], 1000)
                self.assertEqual(program.quit(), 0, program.log)

    def test_jumbo_in_one_buffer(self):
        self.come_back(self.pmd_on, JUMBO, "--max-pkt-len=9728", "--mbuf-size=11264", MULTI_SEGS)
        self.come_back(self.wheel_on, JUMBO, "--max-pkt-len=9728", "--mbuf-size=11264")

    def test_jumbo_in_many_buffers(self):
        """Of 2 KiB and of 1 KiB: up to 5 and 10 descriptors a frame, each way."""
        for start, buffer, sizes in (
                (self.pmd_on, 2176, JUMBO), (self.pmd_on, 2176, "64:5/9728:1"),
                (self.pmd_on, 1152, JUMBO), (self.wheel_on, 2176, JUMBO)):
            with self.subTest(program=start.__name__, buffer=buffer, sizes=sizes):
                options = SCATTER if start == self.pmd_on else ()
                self.come_back(start, sizes, "--max-pkt-len=9728", f"--mbuf-size={buffer}",
                               *options, count=4000)

    def test_frames_that_fill_buffers_exactly(self):
        """Of 2 KiB: with its CRC cut off a frame is as long as one, two or four of them, or a
        byte more or less."""
        self.come_back(self.pmd_on, "2051:1/2052:1/2053:1/4099:1/4100:1/4101:1/8196:1/8197:1",
                       "--max-pkt-len=9728", "--mbuf-size=2176", *SCATTER, count=4000)

    def test_small_frames_by_the_scattered_path(self):
        self.come_back(self.pmd_on, "64:1/1518:1", *SCATTER)

    def test_crc_kept(self):
        """The card puts it into memory, and the driver takes it off again."""
        for sizes, options in (("64:1/65:1/1518:1", ()),
                               ("64:1/2048:1/2052:1/9000:1", ("--max-pkt-len=9728", *SCATTER))):
            with self.subTest(sizes=sizes):
                self.come_back(self.pmd_on, sizes, KEEP_CRC, *options, count=4000)

    def test_ring_sizes(self):
        for rxd, txd in ((64, 256), (4096, 4096)):
            with self.subTest(rxd=rxd):
                self.come_back(self.pmd_on, "imix", rings=(
                    f"--rxd={rxd}", f"--txd={txd}", "--total-num-mbufs=16384"))
