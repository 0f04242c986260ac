"""`make bench`: MB/s of `causestream replay` beside its rivals, on the same file, in turns.

The contestants take turns, so that a busy machine slows all of them; the figure is the median of
the runs, and what is printed is how many times the rival's speed replay has. One JSON line per
case follows, with machine and commit. A ratio more than 15 % under `baseline.json` fails.

Settings: FORMAT=text|jsonl (both if unset), BENCH_MB=200, BENCH_RUNS=5.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from msgspec import Struct

from bench.corpus import json_lines, text_log
from matchers.automaton import fold
from matchers.rules import Rules

MEGABYTE = 1_000_000
SLACK = 0.85
BASELINE = Path(__file__).parent / "baseline.json"
ROOT = Path(__file__).parent.parent

CASES: dict[str, Callable[[Path, int], Path]] = {"text": text_log, "jsonl": json_lines}


class Result(Struct, frozen=True, kw_only=True):
    """MB/s of each contestant: the median over the runs."""

    case: str
    megabytes: int
    speeds: dict[str, float]

    @property
    def ratios(self) -> dict[str, float]:
        replay = self.speeds["replay"]
        rivals = {name: speed for name, speed in self.speeds.items() if name != "replay"}
        return {name: round(replay / speed, 2) for name, speed in rivals.items()}


def contestants(path: Path, phrases: Path) -> dict[str, list[str]]:
    """The commands that run against each other."""
    python = sys.executable
    causestream = str(Path(python).parent / "causestream")
    commands = {
        "replay": [causestream, "replay", str(path), "--format", "jsonl"],
        "perline": [python, "-m", "bench.perline", str(phrases), str(path)],
    }
    ripgrep = shutil.which("rg")
    if ripgrep:
        commands["ripgrep"] = [ripgrep, "-c", "-F", "-i", "-f", str(phrases), str(path)]
    return commands


def measure(case: str, megabytes: int, runs: int, folder: Path) -> Result:
    """Run the contestants in turn, `runs` times each."""
    path = CASES[case](folder, megabytes * MEGABYTE)
    phrases = folder / "phrases"
    listed = {fold(p) for signal in Rules.load().signals.values() for p in signal.phrases}
    phrases.write_text("\n".join(sorted(listed)) + "\n", encoding="utf-8")
    size = path.stat().st_size / MEGABYTE
    speeds: dict[str, list[float]] = {}
    for turn in range(runs):
        for name, command in contestants(path, phrases).items():
            speed = size / seconds(command)
            speeds.setdefault(name, []).append(speed)
            sys.stderr.write(f"{case} run {turn + 1}: {name} {speed:.1f} MB/s\n")
    medians = {name: round(median(values), 1) for name, values in speeds.items()}
    return Result(case=f"replay-{case}", megabytes=megabytes, speeds=medians)


def seconds(command: list[str]) -> float:
    """Wall time of one command, its output thrown away."""
    start = perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
    return perf_counter() - start


def report(result: Result, baseline: dict[str, dict[str, float]]) -> bool:
    """Print a result; False if a ratio fell more than 15 % under the baseline."""
    holds = True
    for rival, ratio in result.ratios.items():
        expected = baseline.get(result.case, {}).get(rival)
        slower = expected is not None and ratio < expected * SLACK
        note = f" (baseline {expected})" if expected is not None else ""
        speed = f"{result.speeds['replay']} against {result.speeds[rival]} MB/s"
        said = "SLOWER than before" if slower else "ok"
        sys.stdout.write(f"{result.case} / {rival}: {ratio} times, {speed}{note}: {said}\n")
        holds = holds and not slower
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    line = {
        "case": result.case,
        "megabytes": result.megabytes,
        "speeds_mb_s": result.speeds,
        "ratios": result.ratios,
        "machine": machine,
        "commit": commit(),
    }
    sys.stdout.write(json.dumps(line) + "\n")
    return holds


def commit() -> str:
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    found = subprocess.run(command, check=False, capture_output=True, text=True)
    return found.stdout.strip()


def main() -> int:
    chosen = os.environ.get("FORMAT")
    if chosen not in {None, *CASES}:
        sys.stderr.write(f"FORMAT is {chosen!r}; write text or jsonl, or leave it unset for both\n")
        return 2
    megabytes = int(os.environ.get("BENCH_MB", "200"))
    runs = int(os.environ.get("BENCH_RUNS", "5"))
    baseline = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    holds = True
    for case in [chosen] if chosen else CASES:
        with TemporaryDirectory(prefix="causestream-bench-") as folder:
            holds &= report(measure(case, megabytes, runs, Path(folder)), baseline)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
