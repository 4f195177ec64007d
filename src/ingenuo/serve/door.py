"""The door of the page: the token stands in the fragment of an address, and is exchanged for a cookie.

So it is in no request line, no log and no history, and no script sees the cookie.
"""

from __future__ import annotations

import base64
import hashlib

from ingenuo.serve.http import HTML, Answer, Bodies, Guard, Request, read_object

_ENTER = """
const token = location.hash.slice(1), said = document.getElementById("said");
history.replaceState(null, "", "/enter");
fetch("/v1/enter", {method: "POST", headers: {"content-type": "application/json"}, body: JSON.stringify({token})})
  .then((answer) => answer.ok ? location.replace("/") : answer.json().then(({error}) => { said.textContent = error; }))
  .catch(() => { said.textContent = "The server has ended: start it again."; });
"""
_DOOR = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>ingenuo</title>
<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; script-src 'sha256-{digest}';
connect-src 'self'; base-uri 'none'; form-action 'none'"><link rel="icon" href="data:,"></head>
<body><p id="said">The model is being opened …</p><noscript>The page needs JavaScript.</noscript>
<script>{script}</script></body></html>
"""


async def door(request: Request) -> Answer:
    """The page that exchanges the token."""
    digest = base64.b64encode(hashlib.sha256(_ENTER.encode()).digest()).decode()
    return Answer(_DOOR.format(digest=digest, script=_ENTER).encode(), HTML)


async def enter(guard: Guard, bodies: Bodies, request: Request) -> Answer:
    """The exchange."""
    return guard.enter(request, read_object(await bodies.read(request)).get("token"))
