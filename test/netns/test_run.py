# SPDX-License-Identifier: BSD-3-Clause
"""tools/run: its JSON, and that it leaves nothing behind."""

import glob
import json
import os
import signal
import subprocess
import time
import unittest

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", ".."))
HUGEPAGES = "/sys/kernel/mm/hugepages/hugepages-2048kB"


def traces():
    """What a run could leave: namespaces, hugepages, EAL's runtime folders."""
    hugepages = []
    for name in ("nr_hugepages", "nr_overcommit_hugepages"):
        with open(os.path.join(HUGEPAGES, name), encoding="utf-8") as file:
            hugepages.append(file.read())
    names = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True,
                           check=True).stdout
    return hugepages, sorted(names.split("\n")), sorted(glob.glob("/var/run/dpdk/*"))


def run(*args, **kwargs):
    return subprocess.Popen([os.path.join(TOP, "tools", "run"), *args], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, **kwargs)


class Run(unittest.TestCase):
    def setUp(self):
        self.before = traces()

    def tearDown(self):
        self.assertEqual(traces(), self.before)

    def test_json(self):
        process = run("--bytes=32M", "--rounds=2", "--json", "--strategies=order0,reuse")
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        result = json.loads(out)
        self.assertEqual(set(result["summary"]), {"order0", "reuse"})
        for strategy, runs in result["runs"].items():
            self.assertEqual(len(runs), 2)
            for counters in runs:
                self.assertEqual(counters["bytes"], 32 << 20)
                self.assertGreater(counters["gro"]["merged"], 0)
                self.assertEqual(counters["pool"]["free"], counters["pool"]["objects"])
                self.assertLessEqual(counters["lcores"]["busy_cycles"],
                                     counters["lcores"]["cycles"])
            reuse = result["summary"][strategy]["reuse"]["median"]
            self.assertEqual(reuse > 0, strategy == "reuse")

    def test_wrong_arguments(self):
        for args, text in ((["--strategies=nosuch"], "order0, reuse"),
                           (["--rounds=0"], "from 1 to"), (["--bytes=x"], "such as 2G"),
                           (["--nosuch"], "--nosuch")):
            with self.subTest(args=args):
                process = run(*args)
                _, err = process.communicate(timeout=60)
                self.assertNotEqual(process.returncode, 0)
                self.assertIn(text, err)

    def test_interrupted(self):
        process = run("--bytes=2G", start_new_session=True)
        time.sleep(6)
        self.assertIsNone(process.poll())
        os.killpg(process.pid, signal.SIGINT)  # what Ctrl-C does
        out, err = process.communicate(timeout=20)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn("interrupted", err)
        self.assertNotIn("Traceback", out + err)


if __name__ == "__main__":
    unittest.main()
