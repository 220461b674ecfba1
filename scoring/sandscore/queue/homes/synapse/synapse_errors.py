"""Whatever the client raises, as one of our own errors, without tokens and without a traceback."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from sandscore.base.errors import InfrastructureFault

_BEARER = re.compile(r"(?i)(bearer\s+)\S+|eyJ[\w-]+\.[\w.-]+|(authtoken\W+)\S+|([?&]X-Amz-\w+=)[^&\s]+")
_LONGEST = 300


class Refused(InfrastructureFault):
    """Synapse answered with an error; ``status`` is its HTTP code."""

    def __init__(self, sentence: str, status: int) -> None:
        super().__init__(sentence)
        self.status = status


@contextmanager
def told(what: str, seconds: float) -> Iterator[None]:
    """Errors of the block, each as a sentence that says what was being done."""
    import httpx
    import requests
    from synapseclient.core.exceptions import SynapseAuthenticationError, SynapseError, SynapseNoCredentialsError

    try:
        yield
    except TimeoutError:
        raise InfrastructureFault(f"Synapse: {what}: no answer within {seconds:g} seconds") from None
    except (SynapseAuthenticationError, SynapseNoCredentialsError):
        raise Refused(f"Synapse: {what}: no valid token", 401) from None
    except (SynapseError, LookupError) as fault:
        raise _of_answer(what, fault) from None
    except (httpx.HTTPError, requests.RequestException, OSError) as fault:
        said = getattr(fault, "strerror", None) or type(fault).__name__
        raise InfrastructureFault(f"Synapse: {what}: {said}") from None
    except (AttributeError, TypeError, ValueError):
        raise InfrastructureFault(f"Synapse: {what}: an answer that cannot be understood") from None


def _of_answer(what: str, fault: BaseException) -> InfrastructureFault:
    """The client wraps some HTTP errors in others of its own: look along the chain."""
    link: BaseException | None = fault
    while link is not None:
        response = getattr(link, "response", None)
        if response is not None and hasattr(response, "status_code"):
            code = int(response.status_code)
            return Refused(f"Synapse: {what}: {code} {clean(_reason(response))}".rstrip(), code)
        link = link.__cause__ or link.__context__
    return InfrastructureFault(f"Synapse: {what}: {clean(str(fault)) or type(fault).__name__}")


def _reason(response: object) -> str:
    try:
        body = response.json()  # type: ignore[attr-defined]
    except Exception:
        return ""
    return str(body.get("reason", "")) if isinstance(body, dict) else ""


def clean(text: str) -> str:
    """One short line without anything that could be a token or a signed address."""
    line = " ".join(_BEARER.sub(lambda m: (m[1] or m[2] or m[3] or "") + "[hidden]", text).split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
