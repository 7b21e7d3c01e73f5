# SPDX-License-Identifier: BSD-3-Clause
"""Frames for pagewheel that no TCP paces: from nicsim's generator, from dpdk-testpmd, from outside.

A source is made for one pagewheel, which begins inside of `with source.wheel(...)`. start() and
stop() may be called again and again.
"""

import contextlib
import subprocess
import time

import pwlab
from pwlab import nicsim, places, testpmd

SENDERS = ("gen", *(f"testpmd-{mode}" for mode in testpmd.MODES))
DRAIN_S = 5
# The second port sends into nothing, and makes nothing up.
NOWHERE = "net_null1,no-rx=1"


class Source:
    """What all sources do alike."""

    card = None
    title = ""

    def __init__(self, args):
        self.args = args

    def wheel(self, *options, mode, size, ports):
        raise NotImplementedError

    def start(self):
        raise NotImplementedError

    def stop(self):
        """Stop sending; returns how many frames were sent since start(), None: unknown."""
        raise NotImplementedError

    def set_rate(self, rate):
        raise pwlab.LabError(f"{self.args.on}: the rate can only be set on nicsim, of its own "
                             "generator")

    def lost(self):
        """Frames that have not come through to the program, since the beginning."""
        return 0

    def came_back(self):
        """Frames that pagewheel has sent, and that were right; None: nobody looks."""
        return None


class Generator(Source):
    """nicsim's own: its second port, if there is one, checks what is sent out there."""

    title = "nicsim's generator"

    @contextlib.contextmanager
    def wheel(self, *options, mode, size, ports=1, rate="max"):
        wires = [f"--wire=gen,size={size},flows={self.args.flows},rate={rate}"]
        wires += ["--wire=sink,rate=max"] * (ports - 1)
        with nicsim.Nicsim(self.args.nicsim, "--hold", *wires, log=subprocess.DEVNULL) as self.card:
            with nicsim.PagewheelOnCard(self.card, self.args.pagewheel, *options,
                                        mode=mode) as wheel:
                self.made = 0
                yield wheel

    def port(self, number=0):
        return self.card.stats()["ports"][number]

    def set_rate(self, rate):
        self.card.command(f"set 0 rx-rate={rate}")

    def start(self):
        self.card.command("start")

    def stop(self):
        self.card.command("hold")
        stats = self.card.wait_for(lambda s: s["ports"][0]["idle"], DRAIN_S)
        if stats is None:
            raise pwlab.LabError("nicsim's port did not come to rest")
        port = stats["ports"][0]
        if not port["adds_up"]:
            raise pwlab.LabError(f"nicsim lost count of {port['unaccounted']} frames")
        made, self.made = self.made, port["line"]["rx"]["frames"]
        return self.made - made

    def lost(self):
        nic = self.port()["nic"]
        return nic["rx_missed"] + nic["rx_no_descriptor"]

    def came_back(self):
        ports = self.card.stats()["ports"]
        if len(ports) < 2:
            return None
        if ports[1]["wire"]["wrong"]:
            raise pwlab.LabError(f"what was sent out is wrong: {ports[1]['wire']['wrong']}")
        return ports[1]["wire"]["counters"]["frames"]


class TestpmdSource(Source):
    """dpdk-testpmd at the other end of a veth pair, or of nicsim's wire."""

    def __init__(self, args, mode):
        super().__init__(args)
        self.mode = mode
        self.title = f"dpdk-testpmd, {mode}"

    @contextlib.contextmanager
    def wheel(self, *options, mode, size, ports=1):
        with self.lab(*options, mode=mode, ports=ports) as (lab, wheel):
            with testpmd.Testpmd(lab.in_peer, pwlab.PEER_DEV, self.mode, size) as self.testpmd:
                yield wheel

    @contextlib.contextmanager
    def lab(self, *options, mode, ports):
        if self.args.on == "nicsim":
            if ports > 1:
                raise pwlab.LabError("on nicsim dpdk-testpmd sends to one port: choose --on=veth")
            with nicsim.LinuxOnCard(self.args.nicsim, "rate=max") as lab:
                self.card = lab.card
                with nicsim.PagewheelOnCard(lab.card, self.args.pagewheel, *options,
                                            mode=mode) as wheel:
                    yield lab, wheel
            return
        with pwlab.Lab() as lab:
            vdevs = (pwlab.VETH, NOWHERE)[:ports]
            with pwlab.Pagewheel(lab, self.args.pagewheel, *options, mode=mode,
                                 vdev=vdevs) as wheel:
                yield lab, wheel

    def start(self):
        self.testpmd.start()

    def stop(self):
        """Whatever did not fit Linux's queues was dropped there, uncounted."""
        self.testpmd.stop()
        return None


class Outside(Source):
    """A bound NIC: whoever is there sends, all the time."""

    title = "yours"

    @contextlib.contextmanager
    def wheel(self, *options, mode, size, ports=1):
        addresses = self.args.place.addresses
        if len(addresses) != ports:
            raise pwlab.LabError(f"--on={self.args.on}: expected {ports} PCI addresses, with a "
                                 "comma in between")
        with places.PagewheelOnNics(addresses, self.args.pagewheel, *options, mode=mode) as wheel:
            self.wait_for_traffic(wheel, size)
            yield wheel

    def wait_for_traffic(self, wheel, size):
        before = wheel.stats("lcores")["rx_packets"]
        if wheel.wait_for("lcores", lambda now: now["rx_packets"] > before + 1000,
                          self.args.timeout) is None:
            raise pwlab.LabError(f"--on={self.args.on}: no traffic within {self.args.timeout} s: send "
                                 f"UDP in frames of {size} bytes to {pwlab.DUT_IP} port 9")

    def start(self):
        pass

    def stop(self):
        return None


def make(args):
    """The source that --on and --sender name."""
    if args.on not in places.PLACES:
        if args.sender is not None:
            raise pwlab.LabError(f"--sender={args.sender}: on a bound NIC the sender is yours: leave "
                                 "it out")
        return Outside(args)
    sender = args.sender or ("gen" if args.on == "nicsim" else "testpmd-txonly")
    if sender == "gen" and args.on != "nicsim":
        raise pwlab.LabError("--sender=gen: it is nicsim's own: choose --on=nicsim, or one of "
                             + ", ".join(SENDERS[1:]))
    return Generator(args) if sender == "gen" else TestpmdSource(args, sender.split("-")[1])


def wait_until_quiet(wheel):
    """Until no packet comes any more."""
    end = time.monotonic() + DRAIN_S
    last = -1
    while time.monotonic() < end:
        now = wheel.stats("lcores")["rx_packets"]
        if now == last:
            return
        last = now
        time.sleep(0.05)
