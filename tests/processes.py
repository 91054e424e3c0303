"""Processes of tests: started, watched for events and not for seconds, and their CPU time.

There are no time-outs: on a machine that is busy, or was stopped for a while, any would be too
short. How soon a process ends is measured in CPU time, which other processes take nothing of.
"""

import contextlib
import os
import pty
import subprocess
import sys
from pathlib import Path


def fastes_command(*words):
    return [sys.executable, "-m", "fastes", *words]


def cpu_seconds(pid):
    """Return the CPU time of a process and its threads so far; None where nobody says."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return None


def wait(process):
    """Wait for a process. Return its exit code and its CPU time: 0 if its end was seen before."""
    if process.returncode is not None:  # by `send_signal`
        return process.returncode, 0.0
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime


def in_a_terminal(command, keys=None, after=b"", **environment):
    """Run a command with stdout and stderr on a terminal of 80 columns.

    Send the signal `keys` when `after` was printed. Return the exit code, what was printed, and
    the seconds of CPU time from the signal to the end, or None.
    """
    parent, child = pty.openpty()
    environment = {**os.environ, "COLUMNS": "80", "TERM": "xterm", **environment}
    process = subprocess.Popen(command, stdout=child, stderr=child, env=environment)
    os.close(child)
    seen, sent, before = b"", False, None
    # To read from a terminal that nobody holds any more is an error, or the end.
    with contextlib.suppress(OSError):
        while chunk := os.read(parent, 65536):
            seen += chunk
            if keys is not None and not sent and after in seen:
                sent, before = True, cpu_seconds(process.pid)
                process.send_signal(keys)
    code, in_all = wait(process)
    os.close(parent)
    return code, seen.decode(), None if before is None else in_all - before
