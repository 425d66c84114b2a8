"""The scenario with the client of openapi-python-client. Its int are exact."""

import os
import re
from http import HTTPStatus

from petstore.api.animals import create_pet, get_pet, list_pets
from petstore.client import AuthenticatedClient
from petstore.models import Error, NewPet, Pet, PetStatus
from petstore.types import UNSET, Response, Unset


def create_petstore(token: str) -> AuthenticatedClient:
    return AuthenticatedClient(base_url=os.environ["BASE_URL"], token=token)


def assert_error(answer: Response[Error | Pet] | Response[Error | list[Pet]], status: int, code: str) -> str:
    assert answer.status_code == HTTPStatus(status), answer
    assert isinstance(answer.parsed, Error), answer
    assert (answer.parsed.status, answer.parsed.code) == (status, code), answer
    return answer.parsed.message


petstore = create_petstore(os.environ["KEY"])
rex = NewPet(name="Rex", category_id=9223372036854775807, status=PetStatus.AVAILABLE)

created = create_pet.sync_detailed(client=petstore, body=rex)
assert created.status_code == HTTPStatus.CREATED
assert isinstance(created.parsed, Pet)
assert created.parsed.to_dict() == {"id": 251, **rex.to_dict()}

first = create_pet.sync_detailed(client=petstore, body=rex, idempotency_key="order-1")
second = create_pet.sync_detailed(client=petstore, body=rex, idempotency_key="order-1")
assert second.parsed == first.parsed
assert second.headers.get("Idempotency-Replayed") == "true"
mia = NewPet(name="Mia", category_id=7)
other = create_pet.sync_detailed(client=petstore, body=mia, idempotency_key="order-1")
assert_error(other, 422, "idempotency_key_reused")

assert get_pet.sync(251, client=petstore) == created.parsed
assert_error(get_pet.sync_detailed(999, client=petstore), 404, "not_found")

sold = list_pets.sync(client=petstore, limit=5, status=PetStatus.SOLD)
assert isinstance(sold, list)
assert [pet.status for pet in sold] == [PetStatus.SOLD] * 5

ids: list[int] = []
cursor: str | Unset | None = UNSET
while cursor is not None:
    page = list_pets.sync_detailed(client=petstore, limit=100, cursor=cursor)
    assert isinstance(page.parsed, list)
    ids += [pet.id for pet in page.parsed]
    found = re.search(r'[?&]cursor=([^&>]+)[^>]*>; rel="next"', page.headers.get("Link", ""))
    cursor = found[1] if found else None
assert ids == list(range(1, 253))

# As docs/clients.md says for httpx, whose base address ends in /v1.
client = petstore.get_httpx_client()
hundred = client.get("pets", params={"limit": 100})
following = client.get(hundred.url.join(hundred.links["next"]["url"]))
assert [pet["id"] for pet in following.json()] == ids[100:200]

blank = create_pet.sync_detailed(client=petstore, body=NewPet(name=" ", category_id=7))
assert assert_error(blank, 400, "bad_request").startswith("name ")

assert_error(list_pets.sync_detailed(client=create_petstore("wrong")), 401, "unauthorized")
