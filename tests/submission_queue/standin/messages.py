"""People, teams and messages."""

from submission_queue.standin.routing import Answer, Refusal, Request, route
from submission_queue.standin.world import World


@route("GET", "/repo/v1/userProfile")
def get_me(world: World, request: Request) -> Answer:
    return Answer(200, {"ownerId": request.user, "userName": f"user-{request.user}"})


@route("GET", "/repo/v1/userProfile/{}")
def get_user(world: World, request: Request, user_id: str) -> Answer:
    if user_id not in world.tokens.values():
        raise Refusal(404, f"cannot find a profile for {user_id}")
    return Answer(200, {"ownerId": user_id, "userName": f"user-{user_id}"})


@route("GET", "/repo/v1/user/{}/certifiedUserPassingRecord")
def get_certificate(world: World, request: Request, user_id: str) -> Answer:
    if user_id in world.uncertified:
        raise Refusal(404, "Not found")
    return Answer(200, {"passed": True, "userId": user_id})


@route("GET", "/repo/v1/team/{}")
def get_team(world: World, request: Request, team_id: str) -> Answer:
    if team_id not in world.teams:
        raise Refusal(404, f"Team id: '{team_id}' does not exist")
    return Answer(200, {"id": team_id, "name": world.teams[team_id]["name"]})


@route("POST", "/repo/v1/message")
def post_message(world: World, request: Request) -> Answer:
    recipients = request.body["recipients"]
    known = set(world.tokens.values()) | set(world.teams)
    if not 1 <= len(recipients) <= 50 or not set(recipients) <= known:
        raise Refusal(400, "no such recipient")
    if world.owners.get(request.body["fileHandleId"]) != request.user:
        raise Refusal(403, "not the owner of the file handle")
    message = request.body | {"id": world.number(), "createdBy": request.user}
    world.messages.append(message)
    return Answer(201, message)
