# SPDX-License-Identifier: BSD-3-Clause
"""nicsim, an 82599 in software, and DPDK programs on it.

A Nicsim is a folder, a mount namespace in which EAL finds the folder as sysfs, and the process
nicsim in it, pinned to the last CPU. Programs started on it share the namespace and run on the
other CPUs. Nothing outside is changed but for FIFOs /dev/uio100 and up, which go with it.
"""

import ctypes
import glob
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time

from . import PEER_DEV, Lab, LabError, Pagewheel, _is_alive, lcores

FOLDERS = "/dev/shm"
TIMER_SLACK_NS = 2_000_000
NICE = -20
PR_SET_TIMERSLACK = 29
PR_SET_PDEATHSIG = 1
HUGE = "/sys/kernel/mm/hugepages/hugepages-2048kB"
HUGEPAGES_MIN = 16
# In the new namespace: a copy of /sys for the links of the false /sys/class, then the card.
PREPARE = """
set -e
mkdir -p "$1/sys" "$1/class" "$1/devices" "$1/huge"
mount --rbind /sys "$1/sys"
for class in "$1"/sys/class/*; do
    [ "${class##*/}" = uio ] || ln -sfn "$class" "$1/class/${class##*/}"
done
mount -t hugetlbfs -o pagesize=2M none "$1/huge"
mount --bind "$1/class" /sys/class
mount --bind "$1/devices" /sys/bus/pci/devices
shift
exec "$@"
"""
# EAL options that would hide the program's memory from the card, and why.
FORBIDDEN = {
    "--in-memory": "the card finds the program's memory by its files in hugetlbfs",
    "--no-huge": "the card reaches memory in hugepages only",
    "--huge-unlink": "the card finds the program's memory by its files in hugetlbfs",
    "--no-pci": "the card is a PCI device",
    "--file-prefix": "nicsim chooses it",
    "--huge-dir": "nicsim chooses it",
    "--iova-mode": "nicsim chooses it",
}

# Before a card took the last one from us: a second card is to know of it too.
CPUS = os.sched_getaffinity(0)

_libc = ctypes.CDLL(None, use_errno=True)


def _prctl(option, value):
    if _libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def _be_first():
    """Hardware does not wait for a CPU. A session is a group of its own to the scheduler."""
    os.setpriority(os.PRIO_PROCESS, 0, NICE)
    try:
        with open("/proc/self/autogroup", "w", encoding="ascii") as file:
            file.write(str(NICE))
    except OSError:  # no such thing in this kernel
        pass


def _read(path, default=""):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return default


def check_machine():
    """What is needed of the machine; raises LabError with the cure."""
    if os.geteuid() != 0:
        raise LabError("nicsim needs root, for a mount namespace and physical addresses: use sudo")
    if os.uname().machine != "x86_64":
        raise LabError(f"nicsim runs on x86_64 only, this is {os.uname().machine}")
    for tool in ("unshare", "nsenter", "mount"):
        if shutil.which(tool) is None:
            raise LabError(f"no {tool}: install util-linux and mount")
    if not os.path.isdir(HUGE):
        raise LabError("this kernel has no hugepages of 2 MiB")
    free = int(_read(f"{HUGE}/free_hugepages", "0"))
    if free < HUGEPAGES_MIN:
        raise LabError(f"{free} hugepages of 2 MiB are free, {HUGEPAGES_MIN} at least are needed: "
                       "hugeadm --pool-pages-min 2MB:256")


def check_program(args):
    """EAL options that do not go with the card; raises LabError."""
    for arg in args:
        if arg == "--":
            break
        reason = FORBIDDEN.get(arg.split("=")[0])
        if reason is not None:
            raise LabError(f"{arg}: leave it out: {reason}")


def sweep():
    """Remove what killed ones left."""
    for folder in glob.glob(f"{FOLDERS}/nicsim-*"):
        owner = _read(f"{folder}/owner")
        if owner and not _is_alive(owner):
            _remove_folder(folder)


def _remove_folder(folder):
    for link in glob.glob(f"{folder}/fifo*"):
        target = os.readlink(link)
        if re.fullmatch(r"/dev/uio\d+", target):
            try:
                os.unlink(target)
            except FileNotFoundError:
                pass
    prefix = os.path.basename(folder)
    shutil.rmtree(f"/var/run/dpdk/{prefix}", ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)


class Nicsim:
    """A running card; a context manager."""

    _count = 0

    def __init__(self, binary, *options, name=None, log=None):
        Nicsim._count += 1
        self.binary = binary
        self.options = options
        self.name = name or f"{os.getpid()}-{Nicsim._count}"
        self.prefix = f"nicsim-{self.name}"
        self.folder = f"{FOLDERS}/{self.prefix}"
        self.log = log
        cpus = sorted(CPUS)
        self.cpu = cpus[-1]
        self.program_cpus = cpus[:-1] or cpus
        self.pinned = len(cpus) > 1
        self.process = None

    def __enter__(self):
        check_machine()
        sweep()
        try:
            os.mkdir(self.folder, 0o700)
        except FileExistsError:
            raise LabError(f"{self.folder} is there: another nicsim has the name") from None
        with open(f"{self.folder}/owner", "w", encoding="utf-8") as file:
            file.write(str(os.getpid()))
        try:
            self.start()
            # We are not to wake up where the card runs.
            os.sched_setaffinity(0, self.program_cpus)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        os.sched_setaffinity(0, CPUS)
        self.kill()
        _remove_folder(self.folder)

    def start(self):
        """Start the process nicsim, again if it was killed, and wait until the card is there."""
        ready = f"{self.folder}/ready"
        if os.path.exists(ready):
            os.unlink(ready)
        command = [self.binary, f"--dir={self.folder}", f"--huge-dir={self.folder}/huge",
                   f"--file-prefix={self.prefix}", *self.options]
        if self.pinned:
            command.append(f"--cpu={self.cpu}")
        if self.process is None:
            command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", PREPARE,
                       "nicsim-prepare", self.folder, *command]
        else:
            command = [*self._enter(self._anchor()), *command]

        def prepare():
            _prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
            os.sched_setaffinity(0, [self.cpu])
            _be_first()

        # A session of its own: Ctrl-C is for the program.
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            start_new_session=True, preexec_fn=prepare)
        self._wait_until_ready(ready)
        for pid in self.programs():
            self.command(f"attach {pid}")

    def _wait_until_ready(self, ready):
        end = time.monotonic() + 20
        while not os.path.exists(ready):
            if self.process.poll() is not None:
                raise LabError(f"nicsim does not start (exit code {self.process.returncode})")
            if time.monotonic() > end:
                raise LabError("nicsim was not ready within 20 s")
            time.sleep(0.005)

    def _anchor(self):
        """A process in the namespace when nicsim was killed: a program that runs on it."""
        if not self.programs():
            raise LabError("nicsim was killed with no program on it: make a new one")
        return self.programs()[0]

    def programs(self):
        return [pid for pid in getattr(self, "_programs", []) if _is_alive(pid)]

    @staticmethod
    def _enter(pid):
        return ["nsenter", f"--mount=/proc/{pid}/ns/mnt", f"--wdns={os.getcwd()}"]

    def addresses(self):
        """PCI addresses of the ports, in their order."""
        return sorted(os.listdir(f"{self.folder}/devices"))

    def eal_options(self, ports=None):
        """What a DPDK program must be given to find the card."""
        options = ["--iova-mode=pa", f"--file-prefix={self.prefix}",
                   f"--huge-dir={self.folder}/huge"]
        for address in self.addresses()[:ports]:
            options += ["-a", address]
        return options

    def popen(self, args, **kwargs):
        """Start a program on the card: PROGRAM and its arguments, EAL's are put behind it."""
        check_program(args[1:])
        if shutil.which(args[0]) is None:
            raise LabError(f"{args[0]}: no such program, or it is not executable")

        def prepare():
            # The driver gives a reset 10 short sleeps' time; with this slack they are long enough.
            _prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS)
            _prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
            # EAL's control threads run beside the lcores: not where nicsim runs.
            os.sched_setaffinity(0, self.program_cpus)

        process = subprocess.Popen(
            [*self._enter(self.process.pid), args[0], *self.eal_options(), *args[1:]],
            preexec_fn=prepare, **kwargs)
        self._programs = [*self.programs(), process.pid]
        self.command(f"attach {process.pid}")
        return process

    def command(self, line):
        """Send a command; returns the answer. A refused one is a LabError."""
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as sock:
                sock.settimeout(5)
                sock.connect(f"{self.folder}/control")
                sock.send(line.encode())
                answer = json.loads(sock.recv(1 << 17))
        except (OSError, ValueError) as error:
            raise LabError(f"nicsim does not answer, it may have died: {error}") from None
        if not answer["ok"]:
            raise LabError(answer["error"])
        return answer

    def stats(self):
        return self.command("stats")

    def wait_for(self, condition, timeout=10.0):
        """Read the counters until condition(answer) holds; returns them, or None."""
        end = time.monotonic() + timeout
        while True:
            stats = self.stats()
            if condition(stats):
                return stats
            if time.monotonic() > end:
                return None
            time.sleep(0.02)

    def stop(self, timeout=10):
        """Let it end, and print its report; returns its exit code."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
                raise LabError(f"nicsim did not end within {timeout} s") from None
        return self.process.returncode

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class PagewheelOnCard(Pagewheel):
    """A running pagewheel on a Nicsim; a context manager."""

    def __init__(self, card, binary, *options, mode="tcp", stderr=None):
        self.card = card
        self.prefix = card.prefix
        cpus = card.program_cpus
        self.args = self.command_line(binary, lcores(cpus, options), mode=mode, options=options)
        self._init(stderr)

    def _spawn(self, **kwargs):
        return self.card.popen(self.args, **kwargs)


class LinuxOnCard(Lab):
    """A namespace of Linux's at the other end of a card's wire, behind a TAP interface."""

    def __init__(self, binary, *settings, name="card"):
        super().__init__(name=name)
        wire = ",".join((f"--wire=tap={PEER_DEV},netns={self.peer}", *settings))
        self.card = Nicsim(binary, wire, log=subprocess.DEVNULL)

    def __enter__(self):
        self.make_peer()
        try:
            self.card.__enter__()
            self._add_addresses()
            self.peer_up()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.card.__exit__()
        super().__exit__()
