import { expect, it } from "vitest";
import { answerForm, acceptsBytes } from "./answer-form.ts";

it.each([
  [undefined, "whole"],
  ["*/*", "whole"],
  ["text/html", "whole"],
  ["text/event-stream", "event-stream"],
  ["application/x-ndjson", "ndjson"],
  ["application/json, text/event-stream", "whole"],
  ["text/event-stream, application/json", "event-stream"],
  ["application/json;q=0.5, Text/Event-Stream", "event-stream"],
  ["text/event-stream;q=0", "whole"],
  ["text/event-stream;q=x, application/x-ndjson;q=0.1", "ndjson"],
])("Accept: %s is answered in the form %s", (accept, form) => {
  expect(answerForm({ ...(accept === undefined ? {} : { accept }) })).toBe(form);
});

it("answers with a place to ask when that is preferred, whatever else is accepted", () => {
  expect(answerForm({ prefer: "respond-async", accept: "text/event-stream" })).toBe("async");
  expect(answerForm({ prefer: 'handling=lenient, Respond-Async; foo="bar"' })).toBe("async");
  expect(answerForm({ prefer: "wait=10" })).toBe("whole");
});

it.each([
  [undefined, false],
  ["*/*", false],
  ["application/json", false],
  ["application/octet-stream", true],
  ["application/octet-stream, */*;q=0.5", true],
  ["Application/Octet-Stream;q=0.2, application/json", false],
  ["application/json, application/octet-stream", false],
  ["application/octet-stream;q=0", false],
])("Accept: %s asks for bytes: %s", (accept, expected) => {
  expect(acceptsBytes({ ...(accept === undefined ? {} : { accept }) })).toBe(expected);
});
