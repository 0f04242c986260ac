"""Where credentials stand in a text that no issuer's prefix gives away.

Addresses with a password in them, headers, private key blocks, JSON web tokens, assignments.
Every function is asked about one place and looks at a bounded piece of text behind it, so that the
work is linear in the text, whatever the text is.
"""

import re
from collections.abc import Collection

from matchers.secrets import Command, Key

Span = tuple[int, int]

VALUE_CAP = 8192  # characters of one value; more of it stays, and no real secret is longer
KEY_BLOCK_CAP = 16384  # a private key of 100 lines
WORD_CAP = 64

_QUOTE = r"""\\{0,3}["'`]"""
_NEXT_FIELD = r"(?:,\s{0,2}|(?:\r?\n|\\n)[ -]{0,32})"  # of a pair of name and value
_SEPARATOR = re.compile(
    rf"""(?:{_QUOTE})?(?:[ \t]{{0,4}}(?::=|=>|=|:)[ \t]{{0,4}}"""
    rf"""|{_NEXT_FIELD}(?:{_QUOTE})?[Vv]alue(?:{_QUOTE})?[ \t]{{0,2}}[:=][ \t]{{0,2}})"""
)
_BLANKS = re.compile(r"[ \t]{1,4}")
_IS = re.compile(r"[ \t]{1,2}(?:is|was)[ \t]{1,2}|[ \t]{1,2}")
_OPENING = re.compile(_QUOTE)
_BARE = re.compile(
    r"""(?:[^\s"'`<>,;&\\]|[,;&](?!["'`\s]|\Z|[A-Za-z_][\w.-]{0,40}=)|\\(?!["'nrt]))++"""
)
_CLOSERS = ")]}>.,;:"

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_KUBEADM = re.compile(r"[a-z0-9]{6}\.[a-z0-9]{16}")
_NAME = re.compile(r"[a-z0-9]+(?:[-.][a-z0-9]+)+")
_PATH = re.compile(r"(?:[a-z]:|~)?(?:[/\\][A-Za-z0-9._-]+){2,}/?|[~.]?/[\w.-]*")
_CODE = re.compile(r"[A-Za-z_][\w.]*[(\[].*", re.DOTALL)
_LOOKUP = re.compile(r"(?:os|self|args|cfg|config|settings|env|opts|options|kwargs|params)\.\w.*")
_MASK = re.compile(r"(.)\1*|x{3,}.*|[*•.]{3,}.*|\[REDACTED:[a-z0-9_]{1,32}\]?", re.IGNORECASE)
_STAND_IN = re.compile(r"[A-Z_]*(?:PASSWORD|TOKEN|SECRET|YOUR|KEY|CHANGE)[A-Z_]*")
_OPENS_LOOKUP = ("$", "{", "%(", "%s", "<", "#{", "@@", "...")


def is_secret(value: str, never: Collection[str]) -> bool:
    """Whether a value behind a name that promises a secret can be one."""
    bare = value.strip(_CLOSERS)
    if len(bare) < 3 or value.startswith(_OPENS_LOOKUP) or bare.lower() in never:
        return False
    return not any(form.fullmatch(bare) for form in (_MASK, _STAND_IN, _PATH, _CODE, _LOOKUP))


def looks_random(value: str) -> bool:
    """Whether a value looks drawn rather than written: what strict names ask for."""
    if len(value) < 8 or not any(map(str.isdigit, value)) or "(" in value or "[" in value:
        return False
    if _UUID.fullmatch(value) or _KUBEADM.fullmatch(value):
        return True
    if value.isdigit() or _NAME.fullmatch(value):
        return False
    mixed = value != value.lower() and value != value.upper()
    return mixed or any(c in "!#$%^&*+=~?" for c in value) or (len(value) >= 16 and value.isalnum())


def value_at(text: str, at: int) -> tuple[Span, bool]:
    """The value that starts at `at`, without its quotes, and whether it had any."""
    opening = _OPENING.match(text, at)
    if opening is None:
        found = _BARE.match(text, at, at + VALUE_CAP)
        end = found.end() if found else at
        while end > at and text[end - 1] in _CLOSERS and not text.startswith("[REDACTED:", at):
            end -= 1
        return (at, end), False
    start, quote = opening.end(), opening[0]
    limit = start + VALUE_CAP
    end = text.find(quote, start, limit)
    while quote[0] != "\\" and end > start and text[end - 1] == "\\":
        end = text.find(quote, end + 1, limit)
    if end < 0:
        found = _BARE.match(text, start, limit)
        return (start, found.end() if found else start), False
    return (start, end), True


def assigned(text: str, start: int, end: int, key: Key, never: Collection[str]) -> Span | None:
    """The secret that the name at `text[start:end]` is given."""
    if text[end : end + 1].isalnum() or text[end : end + 1] == "_":
        return None
    head = text[max(0, start - WORD_CAP) : start]
    if key.whole_word and head[-1:].isalnum():
        return None
    is_option = re.search(r"(?<!\S)--?[\w-]{0,64}$", head) is not None
    separator = _SEPARATOR.match(text, end) or (is_option and _BLANKS.match(text, end))
    strict = key.strict and not is_option
    if not separator:
        separator, strict = _IS.match(text, end), True
        if key.strict or key.quoted or separator is None:
            return None
    (first, last), in_quotes = value_at(text, separator.end())
    value = text[first:last]
    if key.quoted and not in_quotes:
        return None
    if not is_secret(value, never) or (strict and not looks_random(value)):
        return None
    return first, last


def argument(text: str, end: int, row: Command, never: Collection[str]) -> Span | None:
    """The secret that the program whose name ends at `end` is given on its command line."""
    line_end = text.find("\n", end, end + 400)
    stop = line_end if line_end >= 0 else min(len(text), end + 400)
    for option in row.options:
        at = end
        if option:
            found = _option(text, option, end, stop, glued=row.glued)
            if found < 0:
                continue
            at = found
        if not row.glued:
            blanks = _BLANKS.match(text, at) or (option and re.compile("=").match(text, at))
            if not blanks:
                continue
            at = blanks.end()
        (first, last), _ = value_at(text, at)
        if row.after_colon:
            colon = text.find(":", first, last)
            if colon < 0:
                continue
            first = colon + 1
        value = text[first:last]
        if is_secret(value, never) and not (row.strict and not looks_random(value)):
            return first, last
    return None


def _option(text: str, option: str, start: int, stop: int, *, glued: bool) -> int:
    at = text.find(" " + option, start, stop)
    while at >= 0:
        end = at + 1 + len(option)
        after = text[end : end + 1]
        if (glued and after.strip()) or (not glued and after in (" ", "=")):
            return end
        at = text.find(" " + option, end, stop)
    return -1


_AUTHORITY = re.compile(r"""[^\s"'`<>\\]{1,512}""")
_PORT = re.compile(r"\d{1,5}(?:[/?#].*)?")


def userinfo(text: str, end: int) -> Span | None:
    """The password, or the bare token, in the address whose `://` ends at `end`."""
    found = _AUTHORITY.match(text, end)
    if found is None:
        return None
    rest = found[0]
    slash = rest.find("/")
    at = rest.rfind("@", 0, slash if slash >= 0 else len(rest))
    colon = rest.find(":")
    if at < 0 and 0 <= colon < slash and not _PORT.fullmatch(rest[colon + 1 :]):
        at = rest.find("@", slash)  # a slash in the password
    if at <= 0:
        return None
    start = colon + 1 if 0 <= colon < at else 0
    value = rest[start:at]
    if _MASK.fullmatch(value) or value.startswith(("$", "{", "%(", "<")):
        return None
    if start == 0 and not (len(value) >= 16 and any(map(str.isdigit, value))):
        return None
    return (end + start, end + at) if value else None


_SCHEME = re.compile(
    r"(?i)(?:basic|bearer|token|digest|apikey|negotiate|ntlm|key|aws4-hmac-sha256)\s{1,2}"
)
_HEADER_TOKEN = re.compile(r"""[^\s"'`,;)\]}<>\\]{4,8192}""")


def authorization(text: str, end: int, never: Collection[str]) -> Span | None:
    """The credentials behind the header name that ends at `end`."""
    separator = _SEPARATOR.match(text, end)
    if separator is None:
        return None
    at = separator.end()
    opening = _OPENING.match(text, at)
    at = opening.end() if opening else at
    scheme = _SCHEME.match(text, at)
    found = _HEADER_TOKEN.match(text, scheme.end() if scheme else at)
    if found is None or not is_secret(found[0], never):
        return None
    plain = found[0].isalpha() and found[0].islower()
    return None if plain or (scheme is None and not looks_random(found[0])) else found.span()


def bearer(text: str, end: int) -> Span | None:
    """The token behind a bare `Bearer `: long, with a digit in it."""
    found = _HEADER_TOKEN.match(text, end)
    if found is None or len(found[0]) < 16 or not any(map(str.isdigit, found[0])):
        return None
    return None if _MASK.fullmatch(found[0]) else found.span()


_COOKIE = re.compile(r"""\s{0,2}([\w.!#$%&*+^|~-]{1,64})=([^\s;"'`,\\]{0,4096});?""")
_COOKIE_SETTINGS = frozenset({"path", "domain", "expires", "max-age", "samesite", "version"})


def cookies(text: str, end: int) -> list[Span]:
    """The values of the cookies behind the header name that ends at `end`."""
    separator = _SEPARATOR.match(text, end)
    found = _COOKIE.match(text, separator.end()) if separator else None
    spans: list[Span] = []
    while found is not None and len(spans) < 64:
        value = found[2]
        if (
            found[1].lower() not in _COOKIE_SETTINGS
            and len(value) >= 6
            and not _MASK.fullmatch(value)
        ):
            spans.append(found.span(2))
        found = _COOKIE.match(text, found.end()) if found[0].endswith(";") else None
    return spans


_KEY_BODY = re.compile(r"(?:[A-Za-z0-9+/=\s:,.-]|\\[nrt])*+")


def key_block(text: str, end: int) -> Span | None:
    """The body of the private key whose BEGIN line ends at `end`; cut-off blocks too."""
    closing = text.find("-----END", end, end + KEY_BLOCK_CAP)
    if closing < 0:
        found = _KEY_BODY.match(text, end, end + KEY_BLOCK_CAP)
        closing = found.end() if found else end
    body = text[end:closing]
    start = end + len(body) - len(body.lstrip(" \r\n\t\\nrt")) if body.strip() else end
    last = start + len(text[start:closing].rstrip(" \r\n\t\\"))
    if text[last - 2 : last] in ("\\n", "\\r"):
        last -= 2
    return (start, last) if last > start and not _MASK.fullmatch(text[start:last]) else None


_JWT = re.compile(r"eyJ[\w-]{8,}(?:\.[\w-]{4,})+")


def web_token(text: str, start: int) -> Span | None:
    """The JSON web token that starts at `start`, signed or cut off; not from within a word."""
    if start and (text[start - 1].isalnum() or text[start - 1] in "_-"):
        return None  # so each run of letters is tried once
    found = _JWT.match(text, start, start + VALUE_CAP)
    return found.span() if found else None


_CALL_ARGUMENTS = re.compile(
    r"""\(\s{0,2}["'][^"'\n]{0,64}["'],\s{0,2}(?:password=)?["']([^"'\n]{3,256})["']"""
)


def login_call(text: str, end: int, never: Collection[str]) -> Span | None:
    """The password in `login('user', 'password')`, as code and tracebacks show it."""
    found = _CALL_ARGUMENTS.match(text, end)
    return found.span(1) if found and is_secret(found[1], never) else None


_DATA = re.compile(r"""[Dd]ata(?:\\{0,3}")?:""")
_DATUM = re.compile(
    rf"""[\s,{{]{{0,64}}(?:{_QUOTE})?[\w.-]{{1,128}}(?:{_QUOTE})?:[ \t]{{0,4}}"""
    rf"""(?:{_QUOTE})?([\w+/=-]{{4,8192}})(?:{_QUOTE})?"""
)


def secret_object(text: str, start: int) -> list[Span]:
    """The values of a Kubernetes Secret whose kind is named at `start`."""
    at, stop = max(0, start - VALUE_CAP), start + VALUE_CAP
    spans: list[Span] = []
    for _ in range(4):  # data, stringData, and two that only sound so
        at = text.find("ata", at, stop) + 3
        if at < 3:
            break
        data = _DATA.match(text, at - 4)
        found = _DATUM.match(text, data.end()) if data else None
        while found is not None and len(spans) < 64:
            spans.append(found.span(1))
            found = _DATUM.match(text, found.end())
    return spans
