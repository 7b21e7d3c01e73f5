# SPDX-License-Identifier: BSD-3-Clause
"""A card comes up under unmodified programs, tools/nicsim-run starts them, and nothing is left."""

import os
import signal
import subprocess
import time

import rig
from pwlab import LabError, nicsim

RUN = os.path.join(rig.TOP, "tools", "nicsim-run")
GEN = "--wire=gen"


def sentence(err):
    """nicsim-run's own lines on standard error."""
    return [line for line in err.split("\n") if line.startswith("nicsim-run: ")]


class BringUp(rig.WithCard):
    def test_testpmd_finds_the_card(self):
        card = self.card("--wire=gen,count=1", "--wire=sink")
        pmd = self.pmd_on(card, start=False)
        for port, mac in enumerate(rig.MACS):
            info = pmd.command(f"show port info {port}")
            for line in (f"MAC address: {mac}", f"Device name: {card.addresses()[port]}",
                         "Driver name: net_ixgbe", "Link status: up", "Link speed: 10 Gbps",
                         "Link duplex: full-duplex"):
                self.assertIn(line, info)
        self.assertEqual(pmd.quit(), 0, pmd.log)
        self.assertEqual(card.stop(), 0)

    def test_pagewheel_finds_the_card(self):
        card = self.card("--wire=gen,count=1", "--wire=sink")
        wheel = self.wheel_on(card)
        for port, mac in enumerate(rig.MACS):
            info = wheel.command(f"show port info {port}")
            for text in (mac, "net_ixgbe", "Link status: up", "10000 Mbit/s"):
                self.assertIn(text, info)
        self.assertEqual(wheel.quit(), 0, wheel.log)
        self.assertEqual(card.stop(), 0)

    def test_four_ports(self):
        card = self.card(*["--wire=sink"] * 4)
        pmd = self.pmd_on(card, start=False)
        self.assertEqual(pmd.command("show port summary all").count("net_ixgbe"), 4)
        self.assertEqual(pmd.quit(), 0, pmd.log)


class Run(rig.WithCard):
    """tools/nicsim-run."""

    count = 0

    def arguments(self, *args):
        Run.count += 1
        return [RUN, f"--name={os.getpid()}-run{Run.count}", *args]

    def popen(self, *args, **kwargs):
        process = subprocess.Popen(
            self.arguments(*args), stdin=kwargs.pop("stdin", subprocess.DEVNULL),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "NICSIM": rig.NICSIM, **kwargs.pop("env", {})}, **kwargs)

        def end():
            process.kill()
            process.wait(timeout=10)
            process.stdout.close()
            process.stderr.close()

        self.addCleanup(end)
        return process

    def run_to_end(self, *args, **kwargs):
        """Exit code, and what was said on standard output and on standard error."""
        process = self.popen(*args, **kwargs)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def assert_refused(self, args, text, **kwargs):
        with self.subTest(args=args):
            code, out, err = self.run_to_end(*args, **kwargs)
            self.assertEqual(code, 1, out + err)
            self.assertIn(text, err)
            self.assertNotIn("Traceback", err)
            self.assertEqual(len(sentence(err)), 1, err)

    def test_pagewheel_runs(self):
        code, out, err = self.run_to_end(
            f"{GEN},count=10000,{rig.UNPACED}", "--", rig.PAGEWHEEL, "--lcores=0@0,1@0", "--",
            "--interactive", "--auto-start", *rig.RINGS, stdin=None)
        self.assertEqual(code, 0, out + err)
        self.assertIn("Accumulated forward statistics", out)
        self.assertIn("nicsim port 0 (0000:af:00.0), wire gen:", err)

    def test_the_programs_own_exit_code(self):
        """As a shell tells it, with 128 and the number of the signal that it died of."""
        for line, code in (("exit 0", 0), ("exit 1", 1), ("exit 42", 42), ("kill -9 $$", 137),
                           ("kill -TERM $$", 143)):
            with self.subTest(line=line):
                script = os.path.join(self.files, "script")
                with open(script, "w", encoding="utf-8") as file:
                    file.write(f"#!/bin/sh\necho \"$@\"\n{line}\n")
                os.chmod(script, 0o755)
                got, out, err = self.run_to_end(GEN, "--", script, "more")
                self.assertEqual(got, code, err)
                self.assertRegex(out, "--iova-mode=pa .* -a 0000:af:00.0 more")

    def test_refused_in_one_sentence(self):
        for args, text in (
                ([GEN], "--"),
                ([GEN, "--"], "no program"),
                ([GEN, "--", "/nosuch/program"], "/nosuch/program"),
                ([GEN, "--", rig.PAGEWHEEL, "--in-memory"], "--in-memory"),
                ([GEN, "--", rig.PAGEWHEEL, "--no-huge"], "--no-huge"),
                ([GEN, "--", rig.PAGEWHEEL, "--huge-unlink=always"], "--huge-unlink"),
                ([GEN, "--", rig.PAGEWHEEL, "--no-pci"], "--no-pci"),
                ([GEN, "--", rig.PAGEWHEEL, "--file-prefix=x"], "--file-prefix"),
                ([GEN, "--", rig.PAGEWHEEL, "--huge-dir=/x"], "--huge-dir"),
                ([GEN, "--", rig.PAGEWHEEL, "--iova-mode=va"], "--iova-mode"),
                (["--name=a/b", GEN, "--", rig.PAGEWHEEL], "letters"),
                (["--name=" + "x" * 33, GEN, "--", rig.PAGEWHEEL], "letters"),
                (["--dir=/tmp", GEN, "--", rig.PAGEWHEEL], "leave it out"),
                ([GEN, rig.PAGEWHEEL, "--", "-i"], "is a -- missing"),
        ):
            self.assert_refused(args, text)

    def test_wrong_options_of_nicsim(self):
        for option, text in (
                ("--nosuch", "--nosuch"), ("--wire=nosuch", "nosuch"),
                ("--wire=gen,size=63", "size"),
                ("--wire=gen,size=9729", "size"), ("--wire=gen,flows=0", "flows"),
                ("--wire=gen,nosuch=1", "nosuch"), ("--wire=gen,rate=fast", "rate"),
                ("--wire=gen,rx-loss=101", "loss"), ("--fault=nosuch", "nosuch"),
                ("--fault=1:reset@1s", "port 1"), ("--seed=x", "seed"),
                ("--fault=rx-stall", "a time"), ("--fault=rx-stall=abc", "a time"),
                ("--fault=reset=1", "no value"), ("--fault=head-jump=0", "a number"),
                ("--wire=loop=2", "has no --wire=loop=1"),
                ("--wire=pcap=/nosuch/file", "/nosuch/file")):
            self.assert_refused([GEN, option, "--", rig.PAGEWHEEL], text)
        self.assert_refused(["--", rig.PAGEWHEEL], "--wire")
        self.assert_refused([GEN] * 5 + ["--", rig.PAGEWHEEL], "4 ports")

    def test_no_binary(self):
        self.assert_refused([GEN, "--", rig.PAGEWHEEL], "build it first",
                            env={"NICSIM": "/nosuch/nicsim"})

    def test_not_enough_hugepages(self):
        """Others' pages are left alone: all free ones are taken by a file of ours."""
        if not self.alone:
            self.skipTest("other cards run now: their hugepages are not to be taken away")
        mount = os.path.join(self.files, "huge")
        os.mkdir(mount)
        subprocess.run(["mount", "-t", "hugetlbfs", "-o", "pagesize=2M", "none", mount], check=True)
        self.addCleanup(subprocess.run, ["umount", mount], check=True)
        with open(os.path.join(mount, "all"), "wb") as file:
            os.posix_fallocate(file.fileno(), 0, rig.free_hugepages() << 21)
        self.assert_refused([GEN, "--", rig.PAGEWHEEL], "hugeadm")

    def test_help(self):
        for args in (["--help"], ["-h"], [GEN, "--help", "--", "true"]):
            done = subprocess.run([RUN, *args], capture_output=True, text=True, timeout=20,
                                  env={**os.environ, "NICSIM": rig.NICSIM}, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            for word in ("--wire=", "--fault=", "link-flap", "stats"):
                self.assertIn(word, done.stdout)

    def start(self, *args, **kwargs):
        """A pagewheel by nicsim-run that has begun to forward."""
        process = self.popen(*args, f"{GEN},rx-rate=10Kpps", "--", rig.PAGEWHEEL,
                             "--lcores=0@0,1@0", "--", "--stats-period=1", *rig.RINGS, **kwargs)
        for line in process.stdout:
            if "packet forwarding" in line:
                return process
        self.fail(f"it ended: {process.stderr.read()}")

    def test_interrupted(self):
        """Ctrl-C is for the whole group; other signals may come to the script alone."""
        for number, kill in ((signal.SIGINT, os.killpg), (signal.SIGINT, os.kill),
                             (signal.SIGTERM, os.killpg), (signal.SIGTERM, os.kill)):
            with self.subTest(signal=number.name, kill=kill.__name__):
                process = self.start(start_new_session=True)
                kill(process.pid, number)
                out, err = process.communicate(timeout=30)
                self.assertNotIn("Traceback", out + err)
                self.assertIn(process.returncode, (0, 130, 143), err)
                self.assertIn("Accumulated forward statistics", out)
                self.assertIn("nicsim port 0", err)
                self.assert_nothing_left()

    def test_interrupted_early(self):
        for seconds in (0.05, 0.2, 0.4):
            with self.subTest(seconds=seconds):
                process = self.popen(GEN, "--", rig.PAGEWHEEL, "--lcores=0@0,1@0", "--",
                                     "--stats-period=1", *rig.RINGS, start_new_session=True)
                time.sleep(seconds)
                os.killpg(process.pid, signal.SIGINT)
                process.communicate(timeout=30)
                self.assert_nothing_left()

    def test_killed(self):
        """What a killed one leaves is swept by the next."""
        process = self.start(start_new_session=True)
        process.kill()
        process.communicate(timeout=30)
        # Card and program are told by the kernel, and end by themselves.
        self.assertTrue(rig.gone(rig.our_processes), rig.our_processes())
        self.assertNotEqual(rig.folders()[0], [])
        nicsim.sweep()
        self.assert_nothing_left()

    def test_the_card_goes_first(self):
        """The driver would wait for it for minutes: the program ends, too, and is not to blame."""
        for end in ("quit", "kill"):
            with self.subTest(end=end):
                name = f"{os.getpid()}-{end}"
                process = self.start(f"--name={name}", start_new_session=True)
                folder = f"{nicsim.FOLDERS}/nicsim-{name}"
                if end == "quit":
                    subprocess.run([rig.NICSIM, "ctl", folder, "quit"], check=True, timeout=20,
                                   capture_output=True)
                else:
                    for pid, line in rig.our_processes().items():
                        if f"--dir={folder}" in line:
                            os.kill(pid, signal.SIGKILL)
                _, err = process.communicate(timeout=30)
                self.assertEqual(process.returncode, 1)
                self.assertIn("nicsim ended before the program", err)
                self.assert_nothing_left()

    def test_two_at_once(self):
        first, second = (self.start(start_new_session=True) for _ in range(2))
        for process in (first, second):
            os.killpg(process.pid, signal.SIGINT)
            out, err = process.communicate(timeout=30)
            self.assertIn("Accumulated forward statistics", out + err)

    def test_a_name_that_is_taken(self):
        card = self.card(GEN)
        code, _, err = self.run_to_end(f"--name={card.name}", GEN, "--", rig.PAGEWHEEL)
        self.assertEqual(code, 1)
        self.assertIn("another nicsim", err)
        self.assertTrue(os.path.isdir(card.folder))


class Control(rig.WithCard):
    def test_refused_commands(self):
        card = self.card(GEN)
        for line, text in (("nosuch", "nosuch"), ("", "no such command"), ("set 0", "expected set"),
                           ("set 1 loss=1", "below 1"), ("set 0 loss=x", "loss"),
                           ("set 0 size=64", "size"), ("fault 0 nosuch", "nosuch"),
                           ("fault 0 link-flap", "a time"), ("fault 0 reset 1", "no value"),
                           ("fault 0 rx-stall 1h", "a time"), ("attach x", "of a process"), ("attach 99999999999", "of a process"),
                           ("x" * 600, "512 bytes"), ("stats\0", "a line"), ("fault 0 \xff", "no such fault"),
                           ("a b c d e f", "")):
            with self.subTest(line=line), self.assertRaises(LabError) as caught:
                card.command(line)
            self.assertIn(text, str(caught.exception))
        self.assertTrue(card.stats()["ok"])

    def test_ctl(self):
        card = self.card(GEN)

        def ctl(*words):
            return subprocess.run([rig.NICSIM, "ctl", *words], capture_output=True, text=True,
                                  timeout=20, check=False)

        self.assertEqual(ctl(card.folder, "set", "0", "rx-loss=5").returncode, 0)
        self.assertEqual(ctl(card.folder, "nosuch").returncode, 1)
        self.assertEqual(ctl("/nosuch", "stats").returncode, 1)
        self.assertEqual(ctl("--help").returncode, 0)
        self.assertEqual(ctl(card.folder, "quit").returncode, 0)
        self.assertEqual(card.process.wait(timeout=20), 0)
