"""Credentials by shape, by name and by place; and what has to stay readable."""

import pytest

from matchers.redact import Redactor, lint_secrets

REDACTOR = Redactor.load()
KEY = "-----BEGIN RSA PRIVATE KEY-----"
END = "-----END RSA PRIVATE KEY-----"


def test_the_catalog_proves_itself() -> None:
    assert lint_secrets() == []


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        pytest.param(
            'Head "https://robot:Pa55w0rdPa55@registry.example.com/v2/": 401',
            'Head "https://robot:[REDACTED:url_password]@registry.example.com/v2/": 401',
            id="address",
        ),
        pytest.param(
            "postgresql://u:a#b/c9!@db.svc:5432/x",
            "postgresql://u:[REDACTED:url_password]@db.svc:5432/x",
            id="address-with-a-slash-in-the-password",
        ),
        pytest.param(
            "train.py --hub-token AbCd0123EfGh --bucket data",
            "train.py --hub-token [REDACTED:token] --bucket data",
            id="option",
        ),
        pytest.param(
            "WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567",
            "WANDB_API_KEY=[REDACTED:api_key]",
            id="environment",
        ),
        pytest.param(
            '{"env":[{"name":"DB_PASSWORD","value":"x y z"}]}',
            '{"env":[{"name":"DB_PASSWORD","value":"[REDACTED:password]"}]}',
            id="name-and-value-as-a-pair",
        ),
        pytest.param(
            r"msg=\"password\\\":\\\"ab\\\\cd\\\" \"",
            r"msg=\"password\\\":\\\"[REDACTED:password]\\\" \"",
            id="json-inside-json",
        ),
        pytest.param(
            "Authorization: Basic dXNlcjpwYXNz",
            "Authorization: Basic [REDACTED:authorization]",
            id="header",
        ),
        pytest.param(
            "Cookie: sid=abcdef012345; theme=dark",
            "Cookie: sid=[REDACTED:cookie]; theme=dark",
            id="cookie",
        ),
        pytest.param(
            f"{KEY}\nAAAA\nBBBB==\n{END}", f"{KEY}\n[REDACTED:private_key]\n{END}", id="key-block"
        ),
        pytest.param(
            f"tls.key: {KEY}\\nAAAA\\nBBBB\\n{END}",
            f"tls.key: {KEY}\\n[REDACTED:private_key]\\n{END}",
            id="key-block-in-one-line",
        ),
        pytest.param(f"{KEY}\nAAAABBBB", f"{KEY}\n[REDACTED:private_key]", id="key-block-cut-off"),
        pytest.param(
            "token eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.c2lnbmF0dXJl expired",
            "token [REDACTED:jwt] expired",
            id="web-token",
        ),
        pytest.param(
            "password=[REDACTED:x]andMore1", "password=[REDACTED:password]", id="half-replaced"
        ),
        pytest.param(
            "client.login('admin', 'Pa55w0rd!')",
            "client.login('admin', '[REDACTED:password]')",
            id="call",
        ),
        pytest.param(
            '{"kind":"Secret","data":{"tls.key":"QUJDREVGRw==","user":"eHl6"},"type":"Opaque"}',
            '{"kind":"Secret","data":{"tls.key":"[REDACTED:k8s_secret]",'
            '"user":"[REDACTED:k8s_secret]"},"type":"Opaque"}',
            id="kubernetes-secret",
        ),
        pytest.param(
            "kind: Secret\ndata:\n  key: QUJDREVGRw==\n",
            "kind: Secret\ndata:\n  key: [REDACTED:k8s_secret]\n",
            id="kubernetes-secret-in-yaml",
        ),
        pytest.param(
            "kubectl create secret generic x --from-literal=password=Ab1!cd",
            "kubectl create secret generic x --from-literal=password=[REDACTED:password]",
            id="literal-of-a-secret",
        ),
        pytest.param(
            "redis://:Ab1cd!@cache:6379/0",
            "redis://:[REDACTED:url_password]@cache:6379/0",
            id="address-without-a-user",
        ),
        pytest.param(
            "Sent token: 3b1f1c1e-0000-4000-8000-00000000000a. Total clients: 1",
            "Sent token: [REDACTED:token]. Total clients: 1",
            id="uuid-behind-its-name",
        ),
    ],
)
def test_redacts(text: str, redacted: str) -> None:
    assert REDACTOR.redact(text) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "pulled image nvcr.io/nvidia/pytorch@sha256:" + "ab" * 32,
        "commit e7288b872603da866fcd20464ddd12099f4c586e",
        "trace_id=650530d09cd6925a5c2e6b443bda279b span_id=86563a8a91751be9",
        "run 7c1e9a52-0b1f-4f0e-9a53-3f2b6de10026 aborted",
        "pod train-llm-7c9f8d6b5-x2k4q created",
        "-----BEGIN CERTIFICATE-----\nAAAABBBB\n-----END CERTIFICATE-----",
        "prompt_tokens=831 completion_tokens=765",
        'secret "api-key-v7" not found',
        "https://db.local:5432/metrics user=x@y",
        "git@github.com:team/repo.git",
        "password: ********",
        "api_key=${API_KEY} token={{ .Values.token }} secret=<your secret>",
        "PWD=/workspace/run-1 OLDPWD=/home/User1",
        "password:\nTraceback42 follows",
        "login('admin', password)",
        '{"kind":"SecretStore","data":{"a":"QUJDREVGRw=="}}',
        "password=os.environ['DB_PASSWORD']",
        "tokenizer.pad_token=<pad>",
        "torch.float16 loss=0.31 grad_norm=1.2e+03",
    ],
)
def test_stays_readable(text: str) -> None:
    assert REDACTOR.redact(text) == text


def test_counts_by_kind() -> None:
    counted = REDACTOR.counted("a=hf_AbCdEfGhIjKlMnOpQrStUv0 DB_PASSWORD=x1y2 B_PASSWORD=x3y4")
    assert dict(counted.counts) == {"hf_token": 1, "password": 2}


def test_a_token_of_small_letters_is_no_name() -> None:
    assert "qrstuv" not in REDACTOR.redact("login hf_abcdefghijklmnopqrstuv done")
    assert REDACTOR.redact("hf_hub_download_with_retries") == "hf_hub_download_with_retries"
