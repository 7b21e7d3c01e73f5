# SPDX-License-Identifier: BSD-3-Clause
"""TCP through a line that loses, reorders and corrupts frames, both ways at once.

Linux on one side, pagewheel with DPDK's own ixgbe driver on the other; and two pagewheels. nicsim's
corruption is under a right CRC: the card lets it pass, and only checksums tell.
"""

import hashlib
import json
import re
import subprocess
import time

import pwlab
import rig
from pwlab import nicsim, peer

BAD_LINES = {
    "loss": "loss=5",
    "reordering": "reorder=25",
    "corruption": "corrupt=1",
    "all": "loss=5,reorder=25,corrupt=1",
}
ECHO, DISCARD = 7, 9
BYTES = 10_000_000
# Linux against Linux, through testpmd on two such wires, takes 6 seconds at the most, and 0.9 is its
# longest gap; a sender without SACK takes a minute, and is taken for stuck.
TIMEOUT = 40


def impair(card, settings):
    """Both ways."""
    for setting in settings.split(","):
        card.command(f"set 0 {setting}")


def find_all(tree, name):
    """The values that have a name, anywhere in what JSON told."""
    if isinstance(tree, dict):
        yield from (value for key, value in tree.items() if key == name)
        tree = list(tree.values())
    for part in tree if isinstance(tree, list) else ():
        yield from find_all(part, name)


class Progress:
    """Looks a few times a second whether a stream moves, and how long time-outs are."""

    EVERY_S = 0.2

    def __init__(self, wheel, in_peer):
        self.wheel = wheel
        self.in_peer = in_peer
        self.rto_s = 0.0
        self.gap_s = 0.0
        self._seen = None
        self._since = time.monotonic()

    def look(self):
        tcp = self.wheel.stats("tcp")
        now = time.monotonic()
        seen = tcp["in_bytes"], tcp["out_bytes"]
        self.gap_s = max(self.gap_s, now - self._since)
        if seen != self._seen:
            self._seen, self._since = seen, now
        self._look_at_rtos()

    def _look_at_rtos(self):
        said = self.in_peer("ss", "-tinH", capture_output=True, text=True).stdout
        rtos = [int(rto) / 1e3 for rto in re.findall(r"\brto:(\d+)", said)]
        try:
            rtos += [rto / 1e6 for rto in find_all(self.wheel.stats("tcp/connections"), "rto_us")]
        except (pwlab.LabError, KeyError):
            pass
        self.rto_s = max([self.rto_s, *rtos])

    def follow(self, process, timeout):
        """Look until it ends."""
        end = time.monotonic() + timeout
        while process.poll() is None and time.monotonic() < end:
            self.look()
            time.sleep(self.EVERY_S)
        self.look()

    def bound_s(self):
        """Time-outs double, so that all of a series together are shorter than twice the last one,
        which both sides tell. At least three seconds, as a sender that was not asked in time has
        0.2 + 0.4 + 0.8 + 1.6 s behind it when a segment was lost four times."""
        return max(3.0, 2 * self.rto_s) + 2 * self.EVERY_S


class BadLine(rig.WithPeer):
    def start(self):
        """A card and pagewheel on it, and that both sides know their neighbour: ARP has no
        checksum, and would believe in changed bits."""
        card = self.tap()
        wheel = self.running.enter_context(
            nicsim.PagewheelOnCard(card, rig.PAGEWHEEL, "--digest"))
        self.in_peer("ping", "-c", "1", "-W", "5", pwlab.DUT_IP, capture_output=True)
        return card, wheel

    def talk(self, wheel, port):
        """A client sends its stream and gets what is due, in time, and never stands still for
        longer than time-outs tell."""
        client = subprocess.Popen(
            ["ip", "netns", "exec", self.peer, "python3", "-m", "pwlab.peer", pwlab.DUT_IP,
             str(port), f"--bytes={BYTES}", f"--timeout={TIMEOUT}", "--congestion=cubic",
             *(["--take-only"] if port == DISCARD else [])],
            stdout=subprocess.PIPE, text=True)
        self.running.callback(client.communicate)
        self.running.callback(client.kill)
        progress = Progress(wheel, self.in_peer)
        progress.follow(client, TIMEOUT + 10)
        said = json.loads(client.communicate(timeout=5)[0])
        self.assertEqual((said["right"], said["wrong"]), (1, {}), f"{said} {wheel.stats('tcp')}")
        # Who receives knows whether it moves.
        gap_s = progress.gap_s if port == DISCARD else said["longest_gap_s"]
        self.assertLess(gap_s, progress.bound_s(), wheel.stats("tcp"))
        self.assert_at_rest(wheel)

    def assert_at_rest(self, wheel):
        """No connection, and nothing that one held."""
        self.assertIsNotNone(wheel.wait_for("tcp", lambda tcp: tcp["curr_estab"] == 0, 15))
        tcp = wheel.wait_for("tcp", lambda tcp: tcp["curr_conns"] == 0, 5)
        self.assertIsNotNone(tcp, wheel.stats("tcp"))
        self.assertEqual((tcp["held_mbufs"], tcp["estab_resets"]), (0, 0))

    def through(self, settings):
        card, wheel = self.start()
        impair(card, settings)
        self.talk(wheel, DISCARD)
        self.talk(wheel, ECHO)
        inet, tcp = wheel.stats("inet"), wheel.stats("tcp")
        line = self.port(card)["line"]
        # That all buffers are back is in the exit code.
        self.assertEqual(wheel.stop(), 0, wheel.log)
        digest = hashlib.sha256(peer.stream(0, BYTES)).hexdigest()
        self.assertIn(f"{BYTES} bytes, SHA-256 {digest}", wheel.log)
        return line, inet, tcp

    def test_loss(self):
        line, _, tcp = self.through(BAD_LINES["loss"])
        for way in ("rx", "tx"):
            self.assertGreater(line[way]["lost"], 0)
        self.assertGreater(tcp["retrans_segs"], 0)
        self.assertGreater(tcp["ofo_queue"], 0)

    def test_reordering(self):
        line, _, tcp = self.through(BAD_LINES["reordering"])
        for way in ("rx", "tx"):
            self.assertGreater(line[way]["reordered"], 0)
        self.assertGreater(tcp["ofo_queue"], 0)

    def test_corruption(self):
        line, inet, _ = self.through(BAD_LINES["corruption"])
        for way in ("rx", "tx"):
            self.assertGreater(line[way]["corrupted"], 0)
        self.assertGreater(inet["rx_bad_l4_cksum"], 0)
        self.assertGreater(self.snmp()["TcpInCsumErrors"], 0)

    def test_all_at_once(self):
        self.through(BAD_LINES["all"])


class TwoPagewheels(rig.WithPeer):
    """One on the card; the other one is the client, at the TAP interface, in Linux's place."""

    SECONDS = 5

    def setUp(self):
        if not pwlab.knows(rig.PAGEWHEEL, "--connect="):
            self.skipTest("this pagewheel opens no connections")
        super().setUp()

    def in_dut(self, *args):
        """As the laboratory of pwlab.Pagewheel: where the client runs."""
        return ["ip", "netns", "exec", self.peer, *args]

    def through(self, settings, dead_s):
        """Send to the port discard for some seconds; the counters of both at the end. The line may
        be dead for a while, just when the streams are to end."""
        card = self.tap(addresses=())
        server = self.running.enter_context(nicsim.PagewheelOnCard(card, rig.PAGEWHEEL))
        impair(card, settings)
        client = self.running.enter_context(pwlab.Pagewheel(
            self, rig.PAGEWHEEL, f"--connect={pwlab.DUT_IP}:9", "--connect-app=stream",
            "--connections=4", f"--duration={self.SECONDS}", ip=pwlab.PEER_IP,
            vdev="net_af_packet0,iface=t0,framecnt=4096"))
        progress = Progress(server, self.in_peer)
        end = time.monotonic() + self.SECONDS
        while time.monotonic() < end:
            progress.look()
            time.sleep(Progress.EVERY_S)
        if dead_s > 0:
            impair(card, "loss=100")
            time.sleep(dead_s)
            impair(card, settings)
        for wheel in (client, server):
            self.assertIsNotNone(wheel.wait_for("tcp", lambda tcp: tcp["curr_estab"] == 0, 30),
                                 wheel.stats("tcp"))
        self.assertLess(progress.gap_s, progress.bound_s())
        sent, got = client.stats("tcp"), server.stats("tcp")
        self.assertEqual(client.stats("tcp/client")["cut_off"], 0, sent)
        for wheel in (client, server):
            self.assertEqual(wheel.stop(), 0, wheel.log)
        return sent, got

    def transfer(self, settings, dead_s=0.0):
        sent, got = self.through(settings, dead_s)
        self.assertEqual((sent["active_opens"], got["passive_opens"]), (4, 4))
        self.assertGreater(got["in_bytes"], 100_000)
        self.assertEqual(got["in_bytes"], sent["out_bytes"])

    def test_good_line(self):
        self.transfer("loss=0")

    def test_loss(self):
        self.transfer(BAD_LINES["loss"])

    def test_reordering(self):
        self.transfer(BAD_LINES["reordering"])

    def test_corruption(self):
        self.transfer(BAD_LINES["corruption"])

    def test_all_at_once(self):
        self.transfer(BAD_LINES["all"])

    def test_dead_at_the_end(self):
        self.transfer("loss=0", dead_s=4.0)
