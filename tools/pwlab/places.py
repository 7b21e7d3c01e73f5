# SPDX-License-Identifier: BSD-3-Clause
"""Where the laboratory measures: on nicsim, on veth pairs, on bound NICs.

A place starts pagewheel on its ports, and lets something send it a stream of a known length.
"""

import argparse
import contextlib
import json
import os
import re
import subprocess
import time

import pwlab
from pwlab import nicsim

DISCARD_PORT = 9
IPERF3_PORT = 5201
MIB = 1 << 20
PCI_ADDRESS = r"(?:[0-9a-fA-F]{4}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]"
USER_DRIVERS = ("vfio-pci", "igb_uio", "uio_pci_generic")
RINGS = 2 * 1024  # descriptors of a port's RX and TX ring, each with a buffer at most


class Place:
    """What all places do alike."""

    posted = 0  # buffers that the ports' rings may hold
    senders = ("place", "iperf3")

    def __init__(self, args):
        self.args = args

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def follow(self, wheel, title, size, is_done, progress):
        """Show how far it is until the sender is done."""
        end = time.monotonic() + self.args.timeout
        shown = time.monotonic()
        while not is_done():
            if time.monotonic() > end:
                raise pwlab.LabError(f"{title}: not done within {self.args.timeout} s")
            if time.monotonic() > shown + 0.5:
                shown = time.monotonic()
                got = wheel.stats("tcp")["in_bytes"]
                progress(f"{title}: {got // MIB} of {size // MIB} MiB")
            time.sleep(0.01)


def run_sender(place, wheel, size, title, progress, command, **kwargs):
    """Run what sends a stream; returns its seconds, and what it prints."""
    begin = time.monotonic()
    sender = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **kwargs)
    try:
        place.follow(wheel, title, size, lambda: sender.poll() is not None, progress)
        seconds = time.monotonic() - begin
        out = sender.stdout.read()
    finally:
        sender.kill()
        sender.wait()
        sender.stdout.close()
    if sender.returncode != 0:
        raise pwlab.LabError(
            f"{title}: {os.path.basename(command[0])} ended with exit code {sender.returncode}: "
            f"{out.strip()[-300:]}")
    return seconds, out


def send_by_nc(place, lab, wheel, size, title, progress):
    """-N: the peer ends its stream with the input, and waits for us to end ours."""
    zeros = subprocess.Popen(["head", "-c", str(size), "/dev/zero"], stdout=subprocess.PIPE)
    try:
        seconds, _ = run_sender(place, wheel, size, title, progress,
                                lab.in_peer("nc", "-N", pwlab.DUT_IP, str(DISCARD_PORT)),
                                stdin=zeros.stdout)
    finally:
        zeros.stdout.close()
        zeros.kill()
        zeros.wait()
    return seconds, {}


def send_by_iperf3(place, lab, wheel, size, title, progress):
    _, out = run_sender(place, wheel, size, title, progress,
                        lab.in_peer("iperf3", "-c", pwlab.DUT_IP, "-p", str(IPERF3_PORT), "-J",
                                    "-n", str(size)))
    end = json.loads(out)["end"]
    sent, received = end["sum_sent"]["bytes"], end["sum_received"]["bytes"]
    # What is in flight when it has handed over the last byte, the test's end overtakes.
    if not 0 < received <= sent:
        raise pwlab.LabError(f"{title}: iperf3 sent {sent} bytes, pagewheel received {received}")
    return end["sum_received"]["seconds"], {"bytes": received}


class VethPlace(Place):
    """Linux's TCP sends, over a veth pair that pagewheel polls by net_af_packet."""

    title = "net_af_packet on veth, MTU 1500"
    sender = "nc"

    def __enter__(self):
        self.lab = pwlab.Lab().__enter__()
        return self

    def __exit__(self, *args):
        self.lab.__exit__(*args)

    def wheel(self, *options, rate=None):
        return pwlab.Pagewheel(self.lab, self.args.pagewheel, *options)

    def send(self, wheel, size, title, progress, sender):
        """Send the stream; returns its seconds, and what else is known."""
        by = send_by_iperf3 if sender == "iperf3" else send_by_nc
        return by(self, self.lab, wheel, size, title, progress)


class NicsimPlace(Place):
    """nicsim's closed-loop TCP senders, or Linux at a tap, through DPDK's own ixgbe driver."""

    title = "net_ixgbe on nicsim, MTU 1500"
    sender = "nicsim's TCP"
    posted = RINGS

    @contextlib.contextmanager
    def wheel(self, *options, rate):
        if self.args.sender == "iperf3":
            with nicsim.LinuxOnCard(self.args.nicsim, f"rate={rate}") as self.lab:
                with nicsim.PagewheelOnCard(self.lab.card, self.args.pagewheel, *options) as wheel:
                    yield wheel
            return
        flows = self.args.flows
        wire = f"--wire=tcp,flows={flows},bytes={self.args.bytes // flows},rate={rate}"
        with nicsim.Nicsim(self.args.nicsim, "--hold", wire, log=subprocess.DEVNULL) as self.card:
            with nicsim.PagewheelOnCard(self.card, self.args.pagewheel, *options) as wheel:
                yield wheel

    def send(self, wheel, size, title, progress, sender):
        if sender == "iperf3":
            seconds, more = send_by_iperf3(self, self.lab, wheel, size, title, progress)
            return seconds, more | {"nicsim": self.lab.card.stats()["ports"][0]}
        self.card.command("start")
        begin = time.monotonic()
        self.follow(wheel, title, size,
                    lambda: self.card.stats()["ports"][0]["wire"]["done"], progress)
        seconds = time.monotonic() - begin
        port = self.card.stats()["ports"][0]
        if port["wire"]["wrong"]:
            raise pwlab.LabError(f"{title}: {port['wire']['wrong']}")
        return seconds, {"nicsim": port}


class PciPlace(Place):
    """Bound NICs; the traffic comes from outside."""

    sender = "yours"
    senders = ("place",)
    posted = RINGS

    def __init__(self, args):
        super().__init__(args)
        self.addresses = [text if text.count(":") == 2 else f"0000:{text}"
                          for text in args.on.split(",")]
        self.title = f"{' and '.join(self.addresses)}"

    def __enter__(self):
        for address in self.addresses:
            self.check(address)
        return self

    def check(self, address):
        device = f"/sys/bus/pci/devices/{address}"
        if not os.path.isdir(device):
            raise pwlab.LabError(f"--on={self.args.on}: no such PCI device; dpdk-devbind.py -s "
                                 "lists them")
        driver = os.path.basename(os.path.realpath(f"{device}/driver"))
        if driver not in USER_DRIVERS:
            raise pwlab.LabError(
                f"--on={self.args.on}: bound to {driver}, not to a driver for DPDK: "
                f"dpdk-devbind.py -b vfio-pci {address} (its network interface goes away)")

    def wheel(self, *options, rate=None):
        return PagewheelOnNics(self.addresses, self.args.pagewheel, *options)

    def send(self, wheel, size, title, progress, sender):
        progress(f"{title}: send {size} bytes to {pwlab.DUT_IP} port {DISCARD_PORT}, as by "
                 f"head -c {size} /dev/zero | nc -N {pwlab.DUT_IP} {DISCARD_PORT}")
        before = wheel.stats("tcp")["in_bytes"]
        end = time.monotonic() + self.args.timeout
        while wheel.stats("tcp")["in_bytes"] == before:
            if time.monotonic() > end:
                raise pwlab.LabError(f"{title}: nothing came within {self.args.timeout} s")
            time.sleep(0.001)
        begin = time.monotonic()
        self.follow(wheel, title, size,
                    lambda: wheel.stats("tcp")["in_bytes"] - before >= size, progress)
        return time.monotonic() - begin, {}


class PagewheelOnNics(pwlab.Pagewheel):
    """A running pagewheel on bound NICs; a context manager."""

    def __init__(self, addresses, binary, *options, mode="tcp", stderr=None):
        self.prefix = f"pw-{os.getpid()}-nic"
        cpus = sorted(os.sched_getaffinity(0))
        self.args = self.command_line(
            binary, pwlab.lcores(cpus, options), "--in-memory",
            *(word for address in addresses for word in ("-a", address)),
            f"--file-prefix={self.prefix}", mode=mode, options=options)
        self._init(stderr)


PLACES = {"nicsim": NicsimPlace, "veth": VethPlace}


def make(args):
    """The place that --on names."""
    return PLACES.get(args.on, PciPlace)(args)


def parse_place(text):
    if text not in PLACES and not re.fullmatch(f"{PCI_ADDRESS}(?:,{PCI_ADDRESS})?", text):
        raise argparse.ArgumentTypeError(
            f"{text}: expected {', '.join(PLACES)}, or a PCI address as in 0000:01:00.0")
    return text
