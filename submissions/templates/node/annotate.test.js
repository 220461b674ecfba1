// Run with: node --test
"use strict";

const assert = require("node:assert");
const test = require("node:test");
const { annotate } = require("./annotate.js");

const TEXT = "Seen on 10/26/2020 in Seattle by Dr. Rivera (ext. 555-0148), cough, MRN 10000-0, age 69.";

test("every annotation stands where it says, counted in characters", () => {
  const note = "\u{1F637} " + TEXT;
  const found = annotate(note);
  assert.ok(found.length > 0, "the sentence above has something to find");
  for (const one of found) {
    assert.strictEqual([...note].slice(one.start, one.start + one.length).join(""), one.text);
  }
});

test("an empty note", () => assert.deepStrictEqual(annotate(""), []));
