"""`make golden`: write the golden files anew. Review what changed as a diff."""

import sys

from tests.fleet.scenarios import SCENARIOS, build
from tests.golden.runs import golden_file, run


def main() -> None:
    for scenario in SCENARIOS:
        path = golden_file(scenario)
        path.parent.mkdir(exist_ok=True)
        before = path.read_bytes() if path.exists() else b""
        output = run(build(scenario)).output
        path.write_bytes(output)
        said = "unchanged" if output == before else "changed"
        sys.stdout.write(f"{scenario.name}: {len(output.splitlines())} diagnoses, {said}\n")


if __name__ == "__main__":
    main()
