"""Single values out of foreign JSON: every form that producers write; all else is absent."""

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.sources.fields import (
    LARGEST,
    LATEST_MS,
    digest,
    first_name,
    found_in,
    name,
    quantity,
    quantity_text,
    readable,
    text,
    time_ms,
    whole,
)

NOON = 1_767_355_200_000  # 2026-01-02T12:00:00Z


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("2026-01-02T12:00:00Z", NOON, id="rfc3339-seconds"),
        pytest.param("2026-01-02T12:00:00.250Z", NOON + 250, id="milliseconds"),
        pytest.param("2026-01-02T12:00:00.250999Z", NOON + 250, id="microseconds-cut"),
        pytest.param("2026-01-02T12:00:00.250999888Z", NOON + 250, id="nanoseconds-cut"),
        pytest.param("2026-01-02T12:00:00.5Z", NOON + 500, id="one-digit-fraction"),
        pytest.param("2026-01-02t12:00:00z", NOON, id="lower-case"),
        pytest.param("2026-01-02T13:30:00+01:30", NOON, id="zone-ahead"),
        pytest.param("2026-01-02T07:00:00-0500", NOON, id="zone-behind-without-colon"),
        pytest.param("2026-01-02 12:00:00.250", NOON + 250, id="blank-and-no-zone"),
        pytest.param("2026-01-02T12:00:00", NOON, id="no-zone"),
        pytest.param("2026-01-02 12:00:00 +0000 UTC", NOON, id="go"),
        pytest.param("2026-01-02 13:00:00.25 +0100 CET", NOON + 250, id="go-other-zone"),
        pytest.param("2026-01-02 12:00:00 +0000 UTC m=+17.25", NOON, id="go-monotonic"),
        pytest.param("  2026-01-02T12:00:00Z\n", NOON, id="blanks-around"),
        pytest.param("2026-01-02T12:00:60Z", NOON + 59_000, id="leap-second"),
        pytest.param(NOON // 1000, NOON, id="epoch-seconds"),
        pytest.param(NOON / 1000 + 0.25, NOON + 250, id="epoch-float"),
        pytest.param(NOON, NOON, id="epoch-milliseconds"),
        pytest.param(NOON * 1000, NOON, id="epoch-microseconds"),
        pytest.param(str(NOON * 1_000_000), NOON, id="epoch-nanoseconds-as-text"),
        pytest.param("1767355200.25", NOON + 250, id="epoch-float-as-text"),
        pytest.param(None, None, id="null"),
        pytest.param("", None, id="empty"),
        pytest.param("0001-01-01T00:00:00Z", None, id="go-zero-time"),
        pytest.param("1969-12-31T23:59:59Z", None, id="before-1970"),
        pytest.param("2026-13-02T12:00:00Z", None, id="thirteenth-month"),
        pytest.param("2026-02-30T12:00:00Z", None, id="thirtieth-of-february"),
        pytest.param("2026-01-02T24:00:01Z", None, id="hour-24"),
        pytest.param("٢٠٢٦-01-02T12:00:00Z", None, id="other-digits"),
        pytest.param("yesterday", None, id="word"),
        pytest.param(True, None, id="bool"),
        pytest.param(-1, None, id="negative"),
        pytest.param(10**40, None, id="huge"),
        pytest.param(math.nan, None, id="nan"),
        pytest.param(math.inf, None, id="infinite"),
        pytest.param({"seconds": 1}, None, id="object"),
    ],
)
def test_time(value: object, expected: int | None) -> None:
    assert time_ms(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("32Gi", 32 * 2**30, id="binary"),
        pytest.param("32G", 32 * 10**9, id="decimal"),
        pytest.param("1.5Gi", 3 * 2**29, id="fraction"),
        pytest.param(".5Ki", 512, id="no-leading-zero"),
        pytest.param("34359738368", 2**35, id="plain-text"),
        pytest.param(34359738368, 2**35, id="number"),
        pytest.param(1.5, 2, id="float-rounds-up"),
        pytest.param("20M", 20_000_000, id="mega"),
        pytest.param("512k", 512_000, id="kilo"),
        pytest.param("0B", 0, id="zero-bytes"),
        pytest.param("16GiB", 16 * 2**30, id="with-B"),
        pytest.param("32 GiB", 32 * 2**30, id="with-blank"),
        pytest.param("1e3", 1000, id="exponent"),
        pytest.param("1E3", 1000, id="upper-exponent"),
        pytest.param("4.7781511168e10", 47_781_511_168, id="prometheus"),
        pytest.param("1E", 10**18, id="exa"),
        pytest.param("1500m", 2, id="milli-rounds-up"),
        pytest.param("+5Mi", 5 * 2**20, id="plus"),
        pytest.param("-5Mi", None, id="negative"),
        pytest.param(-1, None, id="negative-number"),
        pytest.param("NaN", None, id="nan-text"),
        pytest.param(math.nan, None, id="nan"),
        pytest.param("+Inf", None, id="infinite"),
        pytest.param("99999E", None, id="beyond-64-bits"),
        pytest.param("1e99", None, id="beyond-64-bits-by-exponent"),
        pytest.param("", None, id="empty"),
        pytest.param(None, None, id="null"),
        pytest.param(True, None, id="bool"),
        pytest.param("lots", None, id="word"),
        pytest.param("5Xi", None, id="unknown-unit"),
    ],
)
def test_quantity(value: object, expected: int | None) -> None:
    assert quantity(value) == expected


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (0, "0"),
        (17, "17"),
        (1024, "1Ki"),
        (512 * 2**20, "512Mi"),
        (32 * 2**30, "32Gi"),
        (51_110_110_822, "47.6Gi"),
        (2**40 + 2**39, "1.5Ti"),
    ],
)
def test_readable(size: int, shown: str) -> None:
    assert readable(size) == shown


@given(st.integers(0, 2**62))
def test_readable_is_a_quantity_within_a_twentieth(size: int) -> None:
    again = quantity(readable(size))
    assert again is not None
    assert abs(again - size) * 20 <= size


def test_quantity_text_repeats_only_quantities() -> None:
    assert quantity_text("32Gi") == "32Gi"
    assert quantity_text(17) == "17"
    assert quantity_text("password") == ""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("web-0", "web-0", id="plain"),
        pytest.param(" web-0 ", "web-0", id="blanks-around"),
        pytest.param(12, "12", id="number"),
        pytest.param("a\nb", "", id="line-break"),
        pytest.param("a\x00b", "", id="nul"),
        pytest.param("a\u202eb", "", id="bidirectional-override"),
        pytest.param("a\ud800b", "a\ufffdb", id="half-a-character"),
        pytest.param(None, "", id="null"),
        pytest.param(True, "", id="bool"),
        pytest.param(["a"], "", id="list"),
        pytest.param("x" * 300, "x" * 253, id="too-long"),
        pytest.param(10**30, "", id="huge"),
    ],
)
def test_name(value: object, expected: str) -> None:
    assert name(value) == expected


def test_first_name_skips_what_is_none() -> None:
    assert first_name(None, "", 5.5, "b", "c") == "b"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, 3),
        (3.0, 3),
        (3.5, None),
        ("16", 16),
        (" -2 ", -2),
        ("1e3", None),
        ("", None),
        (True, None),
        (math.inf, None),
        (10**30, None),
        (None, None),
    ],
)
def test_whole(value: object, expected: int | None) -> None:
    assert whole(value) == expected


def test_found_in_names_keys_but_no_content() -> None:
    found = found_in({"kind": "secret-kind", "token = hunter2": 1, "a": 2})
    assert found == "an object with 3 keys (a, kind)"
    assert found_in([1]) == "a list"


def test_digest_keeps_parts_apart() -> None:
    assert digest("a", "b") != digest("ab")
    assert digest("a", 1) == digest("a", "1")


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(anything)
def test_nothing_raises_and_everything_can_be_encoded(value: object) -> None:
    read = (
        time_ms(value),
        quantity(value),
        whole(value),
        name(value),
        text(value),
        found_in(value),
    )
    msgspec.json.encode(read)
    assert read[0] is None or 0 < read[0] <= LATEST_MS
    assert read[1] is None or 0 <= read[1] <= LARGEST
