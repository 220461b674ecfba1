// Serves annotate.js as the NLP Sandbox API on port 8080, with nothing but Node itself.
"use strict";

const http = require("node:http");
const { annotate } = require("./annotate.js");

const BASE = "/api/v1/";
const ANSWERS = {
  [BASE + "healthCheck"]: { status: "pass" },
  [BASE + "tool"]: require("./tool.json"),
  [BASE + "tool/dependencies"]: { tools: [] },
};

function answer(response, status, value, kind = "application/json") {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { "Content-Type": kind, "Content-Length": body.length });
  response.end(body);
}

function problem(response, status, detail) {
  const value = { detail, status, title: http.STATUS_CODES[status], type: "about:blank" };
  answer(response, status, value, "application/problem+json");
}

// Says what went wrong, but not what was being read: notes are private.
function annotated(response, kind, body) {
  let text;
  try {
    text = JSON.parse(body).note.text;
  } catch {
    text = undefined;
  }
  if (typeof text !== "string") {
    problem(response, 400, "'text' is a required property - 'note'");
    return;
  }
  let found;
  try {
    found = annotate(text);
  } catch (fault) {
    problem(response, 500, `annotate raised ${fault.name}`);
    return;
  }
  answer(response, 200, { [kind]: found });
}

const server = http.createServer((request, response) => {
  const kind = request.url.startsWith(BASE) ? request.url.slice(BASE.length) : "";
  if (request.method === "GET" && request.url in ANSWERS) {
    answer(response, 200, ANSWERS[request.url]);
  } else if (request.method === "POST" && /^text\w*Annotations$/.test(kind)) {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => annotated(response, kind, Buffer.concat(parts).toString("utf-8")));
  } else {
    problem(response, 404, "there is nothing here");
  }
});

server.listen(Number(process.env.PORT || 8080));
