"""Time and memory of the symmetry of large networks: ``python benchmarks/symmetry.py``.

Every row is the median of five runs in fresh processes (import included), with the peak memory of the largest. The
floor is a process that only imports what the command imports.
"""

from __future__ import annotations

import importlib.util
import os
import statistics
import subprocess
import sys
import time

GPT2 = "transformer(vocab=50257,d=768,heads=12,dk=64,ff=3072,layers=12,seq=1024,bias=yes,pos=yes)"
SCALAR = (
    "from invman.architecture import read_architecture; from invman.symmetry.scalar import scalar_symmetry; "
    "print(scalar_symmetry(read_architecture('10-48tanh-16tanh-4+bias')).order)"
)
JOBS = {
    "floor: import of the symmetry room": [sys.executable, "-c", "import invman.symmetry.findings"],
    "axis level, GPT-2 small, 124M parameters": [sys.executable, "-m", "invman", "symmetry", GPT2, "--format", "json"],
    "scalar level, 1,380 parameters (extra fast)": [sys.executable, "-c", SCALAR],
}


def measure(command: list[str]) -> tuple[float, float]:
    """Run a command and return its wall time in seconds and its peak memory in MiB."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603 - our own commands
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command}: exit status {status}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def main() -> None:
    for name, command in JOBS.items():
        if "extra fast" in name and importlib.util.find_spec("igraph") is None:
            print(f"{name}: igraph is not installed")
            continue
        runs = [measure(command) for _ in range(5)]
        seconds, memory = statistics.median(run[0] for run in runs), max(run[1] for run in runs)
        print(f"{name}: {seconds:.2f} s, {memory:.0f} MiB")


if __name__ == "__main__":
    main()
