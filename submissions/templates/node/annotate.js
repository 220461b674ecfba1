// Your annotator: a note's text in, annotations out. Everything else in this folder can stay as it is.
"use strict";

const PATTERN = String.raw`\b[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}\b`;
const LABELS = {"dateFormat": "MM/DD/YYYY"};

// JavaScript counts UTF-16 units; offsets here count characters (Unicode code points), and text is what stands there.
function annotate(text) {
  let units = 0;
  let characters = 0;
  return [...text.matchAll(new RegExp(PATTERN, "g"))].map((found) => {
    characters += [...text.slice(units, found.index)].length;
    units = found.index;
    return { start: characters, length: [...found[0]].length, text: found[0], confidence: 50, ...LABELS };
  });
}

module.exports = { annotate };
