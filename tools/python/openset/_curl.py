"""The part of curl that the program uses, for machines that have Python but no curl: downloads one address to a file.

Understands the options of data/fetch/download.cc and uses curl's exit codes. Certificates: SSL_CERT_FILE, otherwise
Python's.
"""
from __future__ import annotations

import socket
import ssl
import sys
import time
import urllib.error
import urllib.request
from typing import Any, Dict, List

_FLAGS = ("--fail", "--location", "--silent", "--globoff")
_CHUNK = 1 << 16


def options(words: List[str]) -> Dict[str, str]:
    """{"output": FILE, "url": ..., ...}.

    >>> options(["--fail", "--output", "a", "--url", "https://b"])
    {'output': 'a', 'url': 'https://b'}
    """
    found = {}
    rest = [word for word in words if word not in _FLAGS]
    for name, value in zip(rest[::2], rest[1::2]):
        found[name.lstrip("-")] = value
    return found


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects only to allowed protocols."""

    def __init__(self, protocols: List[str]) -> None:
        self.protocols = protocols

    def redirect_request(self, request: Any, stream: Any, code: int, message: str, headers: Any, url: str) -> Any:
        if url.split(":")[0].lower() not in self.protocols:
            raise urllib.error.URLError(f"redirected to {url}")
        return super().redirect_request(request, stream, code, message, headers, url)


def fetch(given: Dict[str, str]) -> int:
    """Continues the file at its end; returns curl's exit code."""
    protocols = [name.strip("=") for name in given["proto"].split(",")]
    if given["url"].split(":")[0].lower() not in protocols:
        return 1
    most = int(given["max-filesize"])
    with open(given["output"], "ab") as out:
        begin = out.tell()
        request = urllib.request.Request(given["url"], headers={"User-Agent": "openset"})
        if begin > 0:
            request.add_header("Range", f"bytes={begin}-")
        opener = urllib.request.build_opener(_Redirects([name.strip("=") for name in given["proto-redir"].split(",")]))
        try:
            answer = opener.open(request, timeout=float(given["speed-time"]))
        except urllib.error.HTTPError as error:
            _write_head(given, error.code, error.headers)
            return 22
        with answer:
            code = getattr(answer, "status", 200) or 200
            _write_head(given, code, answer.headers)
            if begin > 0 and code != 206:
                return 33
            length = answer.headers.get("Content-Length")
            if length is not None and begin + int(length) > most:
                return 63
            while True:
                chunk = answer.read(_CHUNK)
                if not chunk:
                    break
                if out.tell() + len(chunk) > most:
                    return 63
                out.write(chunk)
            out.flush()
            return 18 if length is not None and out.tell() - begin < int(length) else 0


def _write_head(given: Dict[str, str], code: int, headers: Any) -> None:
    with open(given["dump-header"], "w", encoding="latin-1", errors="replace") as file:
        file.write(f"HTTP/1.1 {code}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items()) + "\r\n")


def _code_of(error: BaseException) -> int:
    reason = getattr(error, "reason", error)
    for kind, code in ((socket.gaierror, 6), (ssl.SSLError, 60), (ConnectionRefusedError, 7), (socket.timeout, 28),
                       (TimeoutError, 28), (ConnectionError, 18)):
        if isinstance(reason, kind):
            return code
    return 7 if isinstance(error, urllib.error.URLError) else 23 if isinstance(error, OSError) else 18


def main(words: List[str]) -> int:
    given = options(words)
    for attempt in range(int(given.get("retry", "0")) + 1):
        try:
            return fetch(given)
        except Exception as error:  # as an exit code, which the program explains
            code = _code_of(error)
            if code not in (28,):
                break
            time.sleep(2 ** attempt)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
