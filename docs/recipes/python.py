"""A client of the petstore in Python 3.8 or newer: KEY=… python3 python.py http://127.0.0.1:8080/v1

It needs the standard library alone. An int of Python, and of its json, is exact over int64.
"""

import json
import os
import random
import re
import sys
import time
import uuid
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.parse import urlencode, urljoin, urlsplit
from urllib.request import Request, urlopen

TRIES_MAX = 10


class Refused(Exception):
    """The service has refused a request, and would refuse it again."""


def send(url, pet=None, idempotency_key=None):
    """Sends a request until it is answered, and returns the JSON and the headers of the answer.

    Again when the answer is lost, and after 429, 502, 503 and 504 when Retry-After says. So a create
    needs its Idempotency-Key.
    """
    request = Request(url)
    # Of a redirect, which may lead elsewhere, urllib would send every other header too.
    request.add_unredirected_header("Authorization", f"Bearer {KEY}")
    if pet is not None:
        request.add_header("Content-Type", "application/json")
        request.add_header("Idempotency-Key", idempotency_key)
        request.data = json.dumps(pet).encode()
    for tries in range(1, TRIES_MAX + 1):
        seconds = 0
        try:
            with urlopen(request, timeout=10) as answer:
                return json.load(answer), answer.headers
        except HTTPError as error:
            if error.code not in (429, 502, 503, 504) or tries == TRIES_MAX:
                text = error.read().decode(errors="replace")
                raise Refused(f"{error.code}: {text[:200]}") from error
            after = error.headers.get("Retry-After", "")
            seconds = int(after) if after.isdigit() else 0
        except (OSError, HTTPException):
            if tries == TRIES_MAX:
                raise
        # The random part keeps clients that were refused together from coming back together.
        time.sleep(seconds + min(0.2 * 2**tries, 5) * random.random())


def create(pet, idempotency_key):
    """Adds a pet once, however often it is sent with the same key."""
    added, headers = send(f"{BASE}/pets", pet, idempotency_key)
    return added, headers.get("Idempotency-Replayed") == "true"


def list_pets(**query):
    """Every pet of a query, page by page: list_pets(limit=100, status="sold")."""
    url = f"{BASE}/pets?{urlencode(query)}"
    while url:
        pets, headers = send(url)
        yield from pets
        following = re.search('<([^>]*)>; rel="next"', headers.get("Link", ""))
        # Its address is relative to this one's; the key is sent to this service alone.
        url = following and urljoin(url, following[1])
        if url and urlsplit(url)[:2] != urlsplit(BASE)[:2]:
            raise ValueError(f"the next page is at another origin: {url}")


if __name__ == "__main__":
    if len(sys.argv) != 2 or not os.environ.get("KEY"):
        sys.exit("usage: KEY=… python3 python.py http://127.0.0.1:8080/v1")
    BASE, KEY = sys.argv[1], os.environ["KEY"]
    rex = {"name": "Rex", "categoryId": 9223372036854775807}
    name_of_create = str(uuid.uuid4())
    first, _ = create(rex, name_of_create)
    print(f"added {first['id']}, category {first['categoryId']}")
    again, replayed = create(rex, name_of_create)
    print(f"sent again: {again['id']}{', replayed' if replayed else ''}")
    for one in list_pets(limit=100):
        print(one["id"], one["name"])
    try:
        next(list_pets(limit=0))
    except Refused as refusal:
        print(refusal)
