"""Wikis of entities: pages by etag, the text of a page in a gzipped file."""

from typing import Any

from submission_queue.standin.routing import Answer, Refusal, Request, route
from submission_queue.standin.world import World, etag, now


def _pages(world: World, request: Request, owner: str, access: str) -> dict[str, dict[str, Any]]:
    world.demand(request.user, owner, access)
    return world.wikis.setdefault(owner, {})


@route("GET", "/repo/v1/entity/{}/wikiheadertree2")
def header_tree(world: World, request: Request, owner: str) -> Answer:
    pages = _pages(world, request, owner, "READ")
    if not pages:
        raise Refusal(404, f"No wiki page found for {owner}")
    found = [
        {"id": key, "title": page.get("title", ""), "parentId": page.get("parentWikiId")} for key, page in pages.items()
    ]
    offset, limit = int(request.query.get("offset", 0)), int(request.query.get("limit", 10))
    return Answer(200, {"totalNumberOfResults": len(found), "results": found[offset : offset + limit]})


@route("POST", "/repo/v1/entity/{}/wiki2")
def post_page(world: World, request: Request, owner: str) -> Answer:
    pages = _pages(world, request, owner, "CREATE")
    if pages and not request.body.get("parentWikiId"):
        raise Refusal(400, f"A root wiki already exists for ownerId: {owner} and ownerType: ENTITY")
    _check_markdown(world, request)
    page = request.body | {"id": world.number(), "etag": etag(), "createdOn": now(), "modifiedOn": now()}
    pages[page["id"]] = page
    return Answer(201, page)


@route("GET", "/repo/v1/entity/{}/wiki2/{}")
def get_page(world: World, request: Request, owner: str, page_id: str) -> Answer:
    pages = _pages(world, request, owner, "READ")
    if page_id not in pages:
        raise Refusal(404, f"no wiki page {page_id}")
    return Answer(200, pages[page_id])


@route("PUT", "/repo/v1/entity/{}/wiki2/{}")
def put_page(world: World, request: Request, owner: str, page_id: str) -> Answer:
    pages = _pages(world, request, owner, "UPDATE")
    if request.body["etag"] != pages[page_id]["etag"]:
        raise Refusal(412, f"the wiki page {page_id} was updated since you last fetched it")
    _check_markdown(world, request)
    pages[page_id] = pages[page_id] | request.body | {"etag": etag(), "modifiedOn": now()}
    return Answer(200, pages[page_id])


@route("DELETE", "/repo/v1/entity/{}/wiki2/{}")
def delete_page(world: World, request: Request, owner: str, page_id: str) -> Answer:
    del _pages(world, request, owner, "DELETE")[page_id]
    return Answer(204)


def _check_markdown(world: World, request: Request) -> None:
    if request.body.get("markdownFileHandleId") not in world.handles:
        raise Refusal(400, "a wiki page needs the file handle of its markdown")
