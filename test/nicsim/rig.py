# SPDX-License-Identifier: BSD-3-Clause
"""What the tests share: a card, programs with a prompt on it, and that nothing is left of them."""

import contextlib
import glob
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import pwlab
from pwlab import LabError, nicsim

NICSIM = os.environ["NICSIM"]
PAGEWHEEL = os.environ["PAGEWHEEL"]
TESTPMD = shutil.which("dpdk-testpmd") or "dpdk-testpmd"
TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", ".."))
OURS = f"nicsim-{os.getpid()}-"
MACS = ("02:70:77:00:00:00", "02:70:77:00:00:01")

# A wire without a rate sends no more than the port has descriptors for, and the card serves both
# ways in turn: with TX rings twice as long as RX rings a port that sends back what it receives
# loses nothing, however long anyone is held up.
UNPACED = "rate=max"
RINGS = ("--rxd=512", "--txd=2048", "--total-num-mbufs=8192")

# A frame's length without CRC, as programs count; the generator's size is with it.
CRC_BYTES = 4


def wait_until(condition, timeout=20.0):
    """Call until it is true; returns what it gave last."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(0.02)


def free_hugepages():
    with open(f"{nicsim.HUGE}/free_hugepages", encoding="utf-8") as file:
        return int(file.read())


def folders():
    """Of cards, by whom: ours and others'."""
    found = glob.glob(f"{nicsim.FOLDERS}/nicsim-*")
    ours = [folder for folder in found if os.path.basename(folder).startswith(OURS)]
    return ours, sorted(set(found) - set(ours))


def orphaned_fifos():
    """FIFOs that no card's folder tells of."""
    fifos = set(glob.glob("/dev/uio1[0-9][0-9]"))
    for link in glob.glob(f"{nicsim.FOLDERS}/nicsim-*/fifo*"):
        try:
            fifos.discard(os.readlink(link))
        except FileNotFoundError:
            pass
    return sorted(fifos)


def our_processes():
    """Those with the name of one of our cards in their command line, by their IDs."""
    found = {}
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                line = file.read().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if OURS in line:
            found[int(path.split("/")[2])] = line
    return found


def gone(find, timeout=15.0):
    """Wait until nothing is found."""
    return wait_until(lambda: not find(), timeout)


class Console:
    """A program with a prompt, on a terminal of its own. All waits are bounded."""

    # Commands that read the card's statistics, which clears them: a reading that comes before the
    # card had a CPU to see the last one counts the same twice.
    READERS = ("show port stats", "show port xstats", "clear port", "start", "stop")

    def __init__(self, card, args, prompt):
        self.card = card
        self.prompt = prompt
        self.log = ""
        self._seen = 0
        self._terminal, terminal = pty.openpty()
        try:
            self.process = card.popen(args, stdin=terminal, stdout=terminal, stderr=terminal)
        finally:
            os.close(terminal)

    def _read(self, timeout):
        """More output. False: it has ended, and there is none."""
        if not select.select([self._terminal], [], [], max(timeout, 0))[0]:
            return True
        try:
            data = os.read(self._terminal, 1 << 16)
        except OSError:  # nobody has the other end open
            return False
        self.log += data.decode(errors="replace").replace("\r", "")
        return data != b""

    def wait_for(self, text, timeout=30.0):
        """All output up to a text that has not been waited for yet."""
        end = time.monotonic() + timeout
        alive = True
        while (at := self.log.find(text, self._seen)) < 0:
            if not alive:
                raise AssertionError(f"it ended without {text!r}:\n{self.log}")
            if time.monotonic() > end:
                raise AssertionError(f"no {text!r} within {timeout} s:\n{self.log}")
            alive = self._read(min(0.5, end - time.monotonic()))
        before, self._seen = self._seen, at + len(text)
        return self.log[before:self._seen]

    def ready(self, timeout=30.0):
        """Wait for the first prompt."""
        self.wait_for(self.prompt, timeout)
        return self

    def send(self, line):
        os.write(self._terminal, line.encode() + b"\n")

    def command(self, line, timeout=30.0):
        """Its output, up to the next prompt."""
        self.send(line)
        said = self.wait_for(self.prompt, timeout)
        if line.startswith(self.READERS):
            settle(self.card)
        return said

    def drain(self):
        """Take what has come meanwhile; returns all of the output."""
        while select.select([self._terminal], [], [], 0)[0] and self._read(0):
            pass
        return self.log

    def end(self, timeout=20.0):
        """Read to the end; the exit code."""
        end = time.monotonic() + timeout
        while self._read(min(0.5, end - time.monotonic())):
            if time.monotonic() > end:
                raise AssertionError(f"it did not end within {timeout} s:\n{self.log}")
        return self.process.wait(timeout)

    def quit(self):
        self.send("quit")
        return self.end()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._terminal)


def settle(card):
    """Wait until the card has shown in its registers what it counted, and has seen what was read of
    them; its counters then. Nothing while there is no card."""
    try:
        for _ in range(2):
            card.stats()
            time.sleep(0.003)
        return card.stats()
    except LabError:
        return None


def table(text):
    """NAME: NUMBER of statistics as testpmd and pagewheel print them; the last one of a name."""
    return {name: int(value) for name, value in re.findall(r"([\w-]+): +(\d+)", text)}


def accumulated(text):
    """The totals of forwarding, behind the command stop."""
    return table(text[text.rindex("Accumulated forward statistics"):])


class Testpmd(Console):
    """dpdk-testpmd on a card, both lcores on the programs' first CPU."""

    def __init__(self, card, *options, mode="io", rings=RINGS, eal=()):
        cpu = card.program_cpus[0]
        super().__init__(card, [TESTPMD, f"--lcores=0@{cpu},1@{cpu}", "--no-telemetry", *eal, "--",
                                "-i", "--no-mlockall", f"--forward-mode={mode}", *rings, *options],
                         "testpmd> ")


    def ports(self, *commands):
        """Such as stop, reset, start for all ports. A reset that was not answered in the driver's
        short time, as the card had no CPU, is asked for again."""
        for command in commands:
            for _ in range(5):
                said = self.command(f"port {command} all")
                if "Fail" not in said:
                    break


class Wheel(Console):
    """pagewheel on a card, with its prompt; forwarding has begun."""

    def __init__(self, card, *options, mode="io", rings=RINGS):
        cpu = card.program_cpus[0]
        super().__init__(card, [PAGEWHEEL, f"--lcores=0@{cpu},1@{cpu}", "--log-level=4", "--", "-i",
                                "-a", f"--forward-mode={mode}", *rings, *options], "pagewheel> ")


class WithCard(unittest.TestCase):
    """Each test leaves the machine as it was."""

    def setUp(self):
        self.alone = not folders()[1]
        self.hugepages = free_hugepages()
        self.files = self.enterContext(tempfile.TemporaryDirectory())
        self.addCleanup(self.assert_nothing_left)
        self.running = contextlib.ExitStack()
        self.addCleanup(self.running.close)

    def assert_nothing_left(self):
        """The last of the clean-ups: all that the test started has been ended by then."""
        traces = {"folders": lambda: folders()[0], "processes": our_processes,
                  "FIFOs": orphaned_fifos}
        left = {name: find() for name, find in traces.items() if not gone(find)}
        for pid in our_processes():
            os.kill(pid, signal.SIGKILL)
        gone(our_processes)
        nicsim.sweep()
        self.assertEqual(left, {})
        # While others have cards, their hugepages come and go.
        if self.alone and not folders()[1]:
            wait_until(lambda: free_hugepages() >= self.hugepages)
            self.assertGreaterEqual(free_hugepages(), self.hugepages, "hugepages are missing")

    def card(self, *options, hold=True):
        """A card, whose wires wait for the command start unless hold is False. It takes the place
        of the one before, whose programs end."""
        self.running.close()
        log = self.running.enter_context(
            open(os.path.join(self.files, "nicsim.log"), "a", encoding="utf-8"))
        return self.running.enter_context(
            nicsim.Nicsim(NICSIM, *(["--hold"] if hold else []), *options, log=log))

    def run_on(self, program):
        self.running.callback(program.close)
        return program.ready()

    def pmd_on(self, card, *options, start=True, **kwargs):
        pmd = self.run_on(Testpmd(card, *options, **kwargs))
        if start:
            pmd.command("start")
        return pmd

    def wheel_on(self, card, *options, **kwargs):
        return self.run_on(Wheel(card, *options, **kwargs))

    def port(self, card, number=0):
        return card.stats()["ports"][number]

    def finish(self, card, timeout=30.0):
        """Wait until the wires have sent all, and frames that can come back are back."""
        done = card.wait_for(lambda stats: all(
            port["wire"]["done"] and port["idle"] for port in stats["ports"]), timeout)
        self.assertIsNotNone(done, f"the wires are not done within {timeout} s")
        # What the program still has: nothing, or it has sent nothing for a while.
        before = None
        end = time.monotonic() + 10
        while time.monotonic() < end:
            counters = [port["nic"] for port in card.stats()["ports"]]
            now = sum(nic["tx_frames"] + nic["tx_link_down"] for nic in counters)
            if now in (before, sum(nic["rx_frames"] for nic in counters)):
                break
            before = now
            time.sleep(0.15)
        return settle(card)

    def start_and_finish(self, card, timeout=30.0):
        card.command("start")
        return self.finish(card, timeout)

    def assert_adds_up(self, stats):
        """Every frame that the line brought has one name, and only one."""
        for port in stats["ports"]:
            nic = port["nic"]
            self.assertTrue(port["adds_up"], port)
            self.assertEqual(
                port["line"]["rx"]["frames"],
                sum(nic[name] for name in (
                    "rx_frames", "rx_missed", "rx_no_descriptor", "rx_filtered",
                    "rx_vlan_filtered", "rx_crc_errors", "rx_undersize", "rx_oversize",
                    "rx_disabled", "rx_lost_in_reset", "rx_buffered")))

    def assert_healthy(self, stats):
        """No address was wrong, no descriptor made nonsense, and no wire found damage."""
        for port in stats["ports"]:
            for name in ("rx_dma_errors", "tx_dma_errors", "tx_bad"):
                self.assertEqual(port["nic"][name], 0, name)
            self.assertIsNone(port["wire"]["wrong"])

    def assert_all_came_back(self, port, count):
        """Of the generator: each frame, once, in order, undamaged."""
        counters = port["wire"]["counters"]
        self.assertEqual(counters["made_frames"], count)
        self.assertEqual(counters["own"], count)
        self.assertEqual(counters["bytes"], counters["made_bytes"])
        for name in ("lost_or_still_under_way", "duplicated", "reordered", "bad_content", "bad_crc",
                     "malformed", "bad_ip_cksum", "bad_l4_cksum"):
            self.assertEqual(counters[name], 0, name)


class WithPeer(WithCard):
    """Linux's own TCP is at the other end of a card's wire, behind a TAP interface."""

    def netns(self):
        name = f"pw-peer-tap-{os.getpid()}"
        subprocess.run(["ip", "netns", "add", name], check=True)
        self.addCleanup(subprocess.run, ["ip", "netns", "del", name], check=True)
        self.in_peer("sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1", name=name)
        return name

    def in_peer(self, *args, name=None, **kwargs):
        self.peer = name or self.peer
        return subprocess.run(["ip", "netns", "exec", self.peer, *args], check=True, timeout=60,
                              **kwargs)

    def snmp(self):
        """Counters of the peer's IP and TCP."""
        text = self.in_peer("cat", "/proc/net/snmp", capture_output=True, text=True).stdout
        lines = [line.split() for line in text.splitlines()]
        return {names[0][:-1] + name: int(value) for names, values in zip(lines[::2], lines[1::2])
                for name, value in zip(names[1:], values[1:])}

    def tap(self, settings="", addresses=(f"{pwlab.PEER_IP}/24",)):
        """A card on the peer's interface t0."""
        name = self.netns()
        card = self.card(f"--wire=tap=t0,netns={name}{settings}", hold=False)
        for address in addresses:
            self.in_peer("ip", "addr", "add", address, "dev", "t0")
        self.in_peer("ip", "link", "set", "t0", "up")
        return card
