"""Projects, folders and files, with access lists that are inherited until an entity has its own."""

import re
from typing import Any

from submission_queue.standin.routing import Answer, Refusal, Request, route
from submission_queue.standin.world import World, etag, now

NAME = re.compile(r"[a-zA-Z0-9,_. \-+()']{1,256}")
SETTABLE = ("name", "description", "dataFileHandleId", "versionLabel", "versionComment", "columnIds")


def checked_name(entity: dict[str, Any]) -> str:
    name = str(entity.get("name", ""))
    if not NAME.fullmatch(name):
        raise Refusal(400, f"Invalid Name: '{name}'")
    return name


def create(world: World, request: Request, given: dict[str, Any]) -> dict[str, Any]:
    if request.user in world.uncertified:
        raise Refusal(403, "Only certified users may create content in Synapse.")
    if given.get("parentId"):
        world.demand(request.user, given["parentId"], "CREATE")
    more = {key: given[key] for key in SETTABLE if key in given and key != "name"}
    return world.entity(str(request.user), checked_name(given), given.get("parentId"), given["concreteType"], **more)


@route("POST", "/repo/v1/entity")
def post_entity(world: World, request: Request) -> Answer:
    return Answer(201, create(world, request, request.body))


@route("GET", "/repo/v1/entity/{}")
def get_entity(world: World, request: Request, entity_id: str) -> Answer:
    return Answer(200, world.demand(request.user, entity_id, "READ"))


@route("PUT", "/repo/v1/entity/{}")
def put_entity(world: World, request: Request, entity_id: str) -> Answer:
    entity, given = world.demand(request.user, entity_id, "UPDATE"), request.body
    if given.get("etag") != entity["etag"]:
        raise Refusal(412, f"Object: {entity_id} was updated since you last fetched it, retrieve it again")
    changed = {key: given[key] for key in SETTABLE if key in given}
    if changed.get("dataFileHandleId") not in (None, entity.get("dataFileHandleId")):
        changed["versionNumber"] = entity["versionNumber"] + 1
        changed["versionLabel"] = str(changed["versionNumber"])
    world.entities[entity_id] = entity | changed | {"etag": etag(), "modifiedOn": now()}
    return Answer(200, world.entities[entity_id])


@route("POST", "/repo/v1/entity/child")
def find_child(world: World, request: Request) -> Answer:
    for entity in world.entities.values():
        same = entity["parentId"] == request.body.get("parentId") and entity["name"] == request.body["entityName"]
        if same:
            return Answer(200, {"id": entity["id"]})
    raise Refusal(404, "no such child")


@route("POST", "/repo/v1/entity/{}/version/{}/bundle2")
def get_versioned_bundle(world: World, request: Request, entity_id: str, _version: str) -> Answer:
    return get_bundle(world, request, entity_id)


@route("POST", "/repo/v1/entity/{}/bundle2")
def get_bundle(world: World, request: Request, entity_id: str) -> Answer:
    entity, wanted = world.demand(request.user, entity_id, "READ"), request.body
    bundle: dict[str, Any] = {"entity": entity, "entityType": entity["concreteType"].rsplit(".", 1)[-1].lower()}
    if wanted.get("includeAnnotations"):
        bundle["annotations"] = {"id": entity_id, "etag": entity["etag"], "annotations": {}}
    if wanted.get("includeFileHandles"):
        handle = world.handles.get(entity.get("dataFileHandleId", ""))
        bundle["fileHandles"] = [handle] if handle else []
    if wanted.get("includeTableBundle"):
        columns = [world.columns[key] for key in world.tables.get(entity_id, {"columns": []})["columns"]]
        bundle["tableBundle"] = {"columnModels": columns, "maxRowsPerPage": 1000}
    return Answer(200, bundle | {"restrictionInformation": {"hasUnmetAccessRequirement": False}})


@route("POST", "/repo/v1/entity/bundle2/create")
def create_bundle(world: World, request: Request) -> Answer:
    return Answer(201, {"entity": create(world, request, request.body["entity"])})


@route("PUT", "/repo/v1/entity/{}/bundle2")
def put_bundle(world: World, request: Request, entity_id: str) -> Answer:
    inner = Request("PUT", request.path, {}, {}, b"", request.body["entity"], request.user, request.base)
    return Answer(200, {"entity": put_entity(world, inner, entity_id).body})


@route("GET", "/file/v1/entity/{}/uploadDestination")
def upload_destination(world: World, request: Request, entity_id: str) -> Answer:
    world.demand(request.user, entity_id, "READ")
    kind = "org.sagebionetworks.repo.model.file.S3UploadDestination"
    return Answer(200, {"concreteType": kind, "storageLocationId": 1, "uploadType": "S3", "banner": ""})


@route("GET", "/repo/v1/entity/{}/benefactor")
def get_benefactor(world: World, request: Request, entity_id: str) -> Answer:
    world.demand(request.user, entity_id, "READ")
    return Answer(200, {"id": world.benefactor(entity_id)})


MAY = {
    "canView": "READ",
    "canDownload": "DOWNLOAD",
    "canAddChild": "CREATE",
    "canEdit": "UPDATE",
    "canDelete": "DELETE",
    "canChangePermissions": "CHANGE_PERMISSIONS",
    "canChangeSettings": "CHANGE_SETTINGS",
    "canModerate": "MODERATE",
}
CERTIFIED = {"canAddChild": "canCertifiedUserAddChild", "canEdit": "canCertifiedUserEdit"}


@route("GET", "/repo/v1/entity/{}/permissions")
def get_permissions(world: World, request: Request, entity_id: str) -> Answer:
    """As org.sagebionetworks.repo.model.auth.UserEntityPermissions; without the quiz nothing can be made or changed."""
    certified = request.user not in world.uncertified
    held = {name: world.allowed(request.user, entity_id, right) for name, right in MAY.items()}
    found = {CERTIFIED[name]: may for name, may in held.items() if name in CERTIFIED}
    real = {name: may and (certified or name not in CERTIFIED) for name, may in held.items()}
    return Answer(200, found | real | {"isCertifiedUser": certified})


@route("GET", "/repo/v1/entity/{}/acl")
def get_acl(world: World, request: Request, entity_id: str) -> Answer:
    world.demand(request.user, entity_id, "READ")
    if entity_id not in world.acls:
        raise Refusal(404, f"The entity {entity_id} inherits its permissions from {world.benefactor(entity_id)}")
    return Answer(200, world.acls[entity_id])


@route("POST", "/repo/v1/entity/{}/acl")
def post_acl(world: World, request: Request, entity_id: str) -> Answer:
    world.demand(request.user, entity_id, "CHANGE_PERMISSIONS")
    if entity_id in world.acls:
        raise Refusal(403, "Resource already has an ACL.")
    return _store_acl(world, request, entity_id, 201)


@route("PUT", "/repo/v1/entity/{}/acl")
def put_acl(world: World, request: Request, entity_id: str) -> Answer:
    world.demand(request.user, entity_id, "CHANGE_PERMISSIONS")
    if request.body.get("etag") != world.acls[entity_id]["etag"]:
        raise Refusal(412, "the ACL was updated since you last fetched it")
    return _store_acl(world, request, entity_id, 200)


def _store_acl(world: World, request: Request, entity_id: str, status: int) -> Answer:
    rows = request.body["resourceAccess"]
    kept = [row for row in rows if request.user in world.members(str(row["principalId"]))]
    if not any("CHANGE_PERMISSIONS" in row["accessType"] for row in kept):
        raise Refusal(400, "Caller is trying to revoke their own ACL editing permission.")
    world.acls[entity_id] = {"id": entity_id, "etag": etag(), "resourceAccess": rows}
    return Answer(status, world.acls[entity_id])
