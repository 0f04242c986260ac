"""One run over many hostile records, in a process of its own so that its memory is its own.

    python -m tests.fuzz.run RECORDS SEED

Prints what it came to as JSON: the peak of memory after a quarter of the records and after all.
"""

import json
import resource
import sys
from pathlib import Path
from tempfile import NamedTemporaryFile

from matchers.rules import Rules
from streams.inputs import Reader
from streams.replay import Options, Replay
from tests.fuzz.hostile import hostile_lines

_UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss, in bytes


def main(records: int, seed: int) -> None:
    with NamedTemporaryFile(suffix=".jsonl") as file:
        for line in hostile_lines(seed, records):
            file.write(line + b"\n")
        file.flush()
        quarter = Path(file.name).stat().st_size // 4
        reader, replay = Reader([file.name]), Replay(Rules.load(), Options())
        early = 0
        for batch in reader.read():
            replay.feed(batch, reader.take_rejected())
            early = early or (_peak() if reader.bytes_read >= quarter else 0)
        replay.bury(reader.take_rejected())
        replay.finish()
        outcome = replay.outcome(reader)
    found = {
        "early_bytes": early,
        "peak_bytes": _peak(),
        "dead_counts": outcome.dead_counts,
        "letters": [[letter.found, len(letter.payload)] for letter in outcome.dead_letters],
        "diagnoses": len(outcome.diagnoses),
    }
    sys.stdout.write(json.dumps(found) + "\n")


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
