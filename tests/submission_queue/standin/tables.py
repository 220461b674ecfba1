"""Tables: columns, asynchronous transactions and queries whose answer is a CSV file."""

import csv
import io
import re
from typing import Any

from submission_queue.standin.routing import Answer, Refusal, Request, route
from submission_queue.standin.world import World, etag

TYPES = "org.sagebionetworks.repo.model.table."


@route("POST", "/repo/v1/column/batch")
def post_columns(world: World, request: Request) -> Answer:
    made = []
    for given in request.body["list"]:
        size = {"maximumSize": given.get("maximumSize") or 50} if given["columnType"] == "STRING" else {}
        column = {**given, **size}
        known = next((c for c in world.columns.values() if {k: v for k, v in c.items() if k != "id"} == column), None)
        if known is None:
            known = column | {"id": world.number()}
            world.columns[known["id"]] = known
        made.append(known)
    return Answer(201, {"list": made})


@route("GET", "/repo/v1/entity/{}/column")
def get_columns(world: World, request: Request, table_id: str) -> Answer:
    world.demand(request.user, table_id, "READ")
    return Answer(200, {"results": [world.columns[key] for key in _table(world, table_id)["columns"]]})


def _table(world: World, table_id: str) -> dict[str, Any]:
    """``rows``: ROW_ID to [ROW_VERSION, {column id: value}]."""
    return world.tables.setdefault(table_id, {"columns": [], "rows": {}, "next": 1})


@route("POST", "/repo/v1/entity/{}/table/transaction/async/start")
def start_transaction(world: World, request: Request, table_id: str) -> Answer:
    world.demand(request.user, table_id, "UPDATE")
    return _job(world, lambda: {"results": [_change(world, table_id, change) for change in request.body["changes"]]})


@route("POST", "/repo/v1/entity/{}/table/download/csv/async/start")
def start_query(world: World, request: Request, table_id: str) -> Answer:
    world.demand(request.user, table_id, "READ")
    return _job(world, lambda: _query(world, table_id, str(request.user), request.body))


def _job(world: World, work: Any) -> Answer:
    """The change is made at once; ``looks`` of the world is how often a transaction is being worked on."""
    token = world.number()
    try:
        world.jobs[token] = {"status": 201, "body": work(), "looks": 0}
    except Refusal as refusal:
        world.jobs[token] = {"status": refusal.status, "body": {"reason": refusal.reason}, "looks": 0}
    return Answer(201, {"token": token})


@route("GET", "/repo/v1/entity/{}/table/download/csv/async/get/{}")
def get_answer(world: World, request: Request, table_id: str, token: str) -> Answer:
    return Answer(world.jobs[token]["status"], world.jobs[token]["body"])


@route("GET", "/repo/v1/entity/{}/table/transaction/async/get/{}")
def get_job(world: World, request: Request, table_id: str, token: str) -> Answer:
    job = world.jobs[token]
    job["looks"] += 1
    if job["looks"] <= world.looks:
        return Answer(202, {"jobState": "PROCESSING", "progressCurrent": 0, "progressTotal": 1})
    return get_answer(world, request, table_id, token)


def _change(world: World, table_id: str, change: dict[str, Any]) -> dict[str, Any]:
    table, kind = _table(world, table_id), change["concreteType"].removeprefix(TYPES)
    if kind == "TableSchemaChangeRequest":
        table["columns"] = change["orderedColumnIds"]
        return {"concreteType": TYPES + "TableSchemaChangeResponse", "schema": []}
    if kind == "AppendableRowSetRequest":
        return _append(world, table, change["toAppend"]["rows"])
    return _upload(world, table, change["uploadFileHandleId"])


def _append(world: World, table: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
    for row in rows:
        values = {str(value["key"]): value["value"] for value in row["values"]}
        _check(world, values)
        row_id = str(row.get("rowId") or _fresh(table))
        version, known = table["rows"].get(row_id, [0, {}])
        table["rows"][row_id] = [version + 1, known | values]
    return {"concreteType": TYPES + "RowReferenceSetResults", "rowReferenceSet": {"rows": []}}


def _upload(world: World, table: dict[str, Any], handle: str) -> dict[str, Any]:
    rows = list(csv.DictReader(io.StringIO(world.contents[handle].decode())))
    by_name = {world.columns[key]["name"]: key for key in table["columns"]}
    for row in rows:
        row_id, version = row.pop("ROW_ID", None), row.pop("ROW_VERSION", None)
        values = {by_name[name]: value or None for name, value in row.items()}
        _check(world, values)
        if row_id and table["rows"].get(row_id, [None])[0] != int(version or 0):
            raise Refusal(412, f"Row id: {row_id} has been changed since last read.")
        if row_id and not values:
            del table["rows"][row_id]
        else:
            row_id = row_id or _fresh(table)
            table["rows"][row_id] = [table["rows"].get(row_id, [0])[0] + 1, values]
    return {"concreteType": TYPES + "UploadToTableResult", "rowsProcessed": len(rows), "etag": etag()}


def _fresh(table: dict[str, Any]) -> str:
    table["next"] += 1
    return str(table["next"] - 1)


def _check(world: World, values: dict[str, Any]) -> None:
    for key, value in values.items():
        column = world.columns[key]
        if column["columnType"] == "STRING" and value is not None and len(str(value)) > column["maximumSize"]:
            raise Refusal(400, f"Value exceeds the maximum of {column['maximumSize']} characters in {column['name']}")


def _query(world: World, table_id: str, user: str, asked: dict[str, Any]) -> dict[str, Any]:
    """``SELECT * | columns FROM syn1 [WHERE "column" IN ('a','b')]``."""
    table, sql = _table(world, table_id), asked["sql"]
    match = re.fullmatch(
        r"SELECT (.+?) FROM \w+(?: WHERE \(?\"?(\w+)\"? IN \((.*?)\)\)?)?\s*", sql.strip(), re.DOTALL | re.IGNORECASE
    )
    if match is None:
        raise Refusal(400, f"the stand-in does not know this SQL: {sql}")
    names = [world.columns[key]["name"] for key in table["columns"]]
    wanted = names if match[1].strip() == "*" else [name.strip().strip('"') for name in match[1].split(",")]
    keys = set(re.findall(r"'((?:[^']|'')*)'", match[3])) if match[3] else None
    out = io.StringIO()
    shown = [name for name in wanted if name not in ("ROW_ID", "ROW_VERSION")]
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["ROW_ID", "ROW_VERSION", *shown])
    for row_id, (version, values) in table["rows"].items():
        named = {world.columns[key]["name"]: value for key, value in values.items()}
        if keys is None or str(named.get(match[2])) in keys:
            writer.writerow([row_id, version, *(named.get(name) for name in shown)])
    handle = world.handle(user, "query.csv", out.getvalue().encode(), contentType="text/csv")
    headers = [{"name": name, "columnType": "STRING", "id": "0"} for name in shown]
    return {"resultsFileHandleId": handle, "tableId": table_id, "etag": etag(), "headers": headers}
