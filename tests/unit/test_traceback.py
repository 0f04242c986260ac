"""Whose fault a traceback shows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matchers.traceback import attribute, owner_of

LIB = "/usr/lib/python3.11/site-packages"
FLARE = (
    f'  File "{LIB}/nvflare/app_common/executors/task_script_runner.py", line 95, in run\n    run()'
)
API = f'  File "{LIB}/nvflare/client/in_process/api.py", line 334, in __continue_job\n    raise R'
TORCH = f'  File "{LIB}/torch/nn/modules/module.py", line 1511, in _call_impl\n    return f()'
USER = '  File "/fl/site-1/j/app_site-1/custom/net.py", line 21, in forward\n    return self.l(x)'
DRIVER = '  File "/home/me/heart/job.py", line 9, in main\n    recipe.execute(env)'
RECIPE = f'  File "{LIB}/nvflare/recipe/sim_env.py", line 88, in __init__\n    v = V('
FROZEN = '  File "<frozen runpy>", line 88, in _run_code'
BEGIN = "Traceback (most recent call last):"
ABORT = "RuntimeError: request to abort the job for reason 'train' is aborted, {}".format(
    "abort_signal_triggered"
)
HANDLING = "\nDuring handling of the above exception, another exception occurred:\n"
DIRECT = "\nThe above exception was the direct cause of the following exception:\n"


def joined(*rows: str) -> str:
    return "\n".join(rows)


@pytest.mark.parametrize(
    ("text", "owner", "exception"),
    [
        pytest.param(joined(BEGIN, FLARE, USER, "KeyError: 'x'"), "user", "KeyError", id="user"),
        pytest.param(
            joined(BEGIN, FLARE, FROZEN, USER, TORCH, "torch.OutOfMemoryError: CUDA"),
            "user",
            "torch.OutOfMemoryError",
            id="user-through-a-library",
        ),
        pytest.param(
            joined(BEGIN, FLARE, "ValueError: no DXO"), "flare", "ValueError", id="flare-only"
        ),
        pytest.param(
            joined(BEGIN, FLARE, USER, API, "TypeError: bad"), "flare", "TypeError", id="flare-last"
        ),
        pytest.param(joined(BEGIN, TORCH, "OSError: x"), "library", "OSError", id="library"),
        pytest.param(
            joined(BEGIN, DRIVER, "TypeError: unexpected"), "driver", "TypeError", id="driver"
        ),
        pytest.param(
            joined(BEGIN, DRIVER, RECIPE, "pydantic_core._pydantic_core.ValidationError: 1 error"),
            "driver",
            "pydantic_core._pydantic_core.ValidationError",
            id="driver-in-recipe",
        ),
        pytest.param(
            joined(BEGIN, DRIVER.replace("job.py", "run.py"), RECIPE, "ValueError: n"),
            "driver",
            "ValueError",
            id="driver-of-another-name",
        ),
        pytest.param(
            joined(BEGIN, FLARE, USER, "KeyError: 'x'", HANDLING, BEGIN, FLARE, "E2Error: y"),
            "user",
            "KeyError",
            id="first-part-is-the-cause",
        ),
        pytest.param(
            joined(BEGIN, TORCH, "KeyError: 'x'", DIRECT, BEGIN, FLARE, USER, TORCH, "KeyError: 1"),
            "user",
            "KeyError",
            id="library-cause-surfaces-in-user-code",
        ),
        pytest.param(
            f'{BEGIN}\r\n  File "{LIB}/nvflare/private/x.py", line 1, in a\r\n  '
            'File "/fl/custom/t.py", line 2, in b\r\n'
            "Exception Type: <class 'ModuleNotFoundError'>",
            "user",
            "ModuleNotFoundError",
            id="secure-form",
        ),
        pytest.param(joined(BEGIN, FROZEN, "ImportError: no"), "", "ImportError", id="nobody"),
        pytest.param(
            joined(BEGIN, 'File "train.py", line 3, in f', "do()", "queue.Empty"),
            "user",
            "queue.Empty",
            id="blanks-stripped-and-no-message",
        ),
        pytest.param(
            joined(BEGIN, '  File "a.py", line 1', "    x = (", "        ^", "SyntaxError: eof"),
            "user",
            "SyntaxError",
            id="syntax-error",
        ),
    ],
)
def test_owner(text: str, owner: str, exception: str) -> None:
    found = attribute(text)
    assert found is not None
    assert (found.owner, found.exception, found.truncated) == (owner, exception, False)


def test_last_user_frame_is_named() -> None:
    found = attribute(joined("reason:", BEGIN, FLARE, USER, TORCH, "OSError: [Errno 2] x: 'y'"))
    assert found is not None
    assert found.user_file.endswith("custom/net.py")
    assert (found.user_function, found.user_line, found.frames) == ("forward", 21, 3)
    assert found.message == "[Errno 2] x: 'y'"


@pytest.mark.parametrize(
    ("text", "echo"),
    [
        pytest.param(joined(BEGIN, FLARE, USER, API, ABORT), True, id="raised-by-flare"),
        pytest.param(joined(BEGIN, FLARE, USER, ABORT), False, id="raised-by-the-user"),
        pytest.param(joined(BEGIN, FLARE, USER, API, "KeyError: 1"), False, id="another-error"),
        pytest.param(joined("    raise RuntimeError(...)", ABORT), True, id="only-the-end"),
    ],
)
def test_echo_of_an_abort(text: str, echo: bool) -> None:
    found = attribute(text)
    assert found is not None
    assert found.echo is echo
    assert not echo or found.owner == "flare"
    assert not echo or not found.user_file


def test_a_missing_beginning_is_noticed() -> None:
    found = attribute(joined("    return self.l(x)", USER, "ValueError: shape"))
    assert found is not None
    assert (found.truncated, found.owner, found.exception) == (True, "user", "ValueError")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "KeyError: 'x'",
        "saw Traceback (most recent call last): in the log\nError: no",
        "config:\n    a: 1\nNote: done",
    ],
)
def test_no_traceback(text: str) -> None:
    assert attribute(text) is None


@pytest.mark.parametrize(
    ("file", "owner"),
    [
        ("/opt/nvflare/site-1/train.py", "user"),
        ("/src/NVFlare/nvflare/private/fed/x.py", "flare"),
        ("nvflare/app_opt/pt/x.py", "flare"),
        ("C:\\Python311\\Lib\\threading.py", "library"),
        ("C:\\py\\Lib\\site-packages\\nvflare\\fuel\\x.py", "flare"),
        ("/opt/conda/lib/python3.10/runpy.py", "library"),
        ("/fl/client/custom/nvflare/client/x.py", "user"),
        ("<string>", ""),
    ],
)
def test_owner_of_a_file(file: str, owner: str) -> None:
    assert owner_of(file) == owner


@given(st.lists(st.sampled_from([BEGIN, FLARE, USER, API, TORCH, ABORT, "x", "  ", "A: b"])))
def test_any_order_of_lines_is_read(rows: list[str]) -> None:
    found = attribute("\n".join(rows))
    assert found is None or found.frames >= 0


def test_hostile_text_is_read_in_linear_time() -> None:
    for piece in ('File "', "a.", "_job", " ", "A" * 70 + ".", "nvflare/", "\n" + USER):
        attribute(BEGIN + "\n" + piece * 20_000)
