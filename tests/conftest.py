"""What all tests share: the built-in rules, loaded once, and how hard Hypothesis tries.

`make test` tries the same examples every time; `make fuzz` (FUZZ_EXAMPLES) draws new ones and
prints the seed of what it finds.
"""

import os

import pytest
from hypothesis import HealthCheck, settings

from matchers.rules import Rules

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]

settings.register_profile(
    "test", deadline=None, derandomize=True, database=None, suppress_health_check=_SLOW
)
settings.register_profile(
    "fuzz",
    deadline=None,
    max_examples=int(os.environ.get("FUZZ_EXAMPLES", "1000")),
    print_blob=True,
    suppress_health_check=_SLOW,
)
settings.load_profile("fuzz" if "FUZZ_EXAMPLES" in os.environ else "test")


@pytest.fixture(scope="session")
def rules() -> Rules:
    """The built-in catalog, compiled."""
    return Rules.load()
