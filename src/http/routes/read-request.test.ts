import { describe, expect, it } from "vitest";
import { z } from "zod";
import { assembleRequest, fieldTypes } from "./read-request.ts";

const types = fieldTypes({
  request: z.strictObject({
    id: z.string(),
    limit: z.int().optional(),
    rate: z.number().nullable().optional(),
    all: z.boolean().optional(),
    label: z.array(z.string()).optional(),
  }),
});
const get = (query: Record<string, string | string[]>, path: Record<string, string> = {}, body?: unknown) =>
  assembleRequest({ path, query, body }, { takesBody: false, types });
const post = (body: unknown, path: Record<string, string> = {}, query: Record<string, string> = {}) =>
  assembleRequest({ path, query, body }, { takesBody: true, types });

describe("a request of the parts that HTTP has", () => {
  it("reads numbers, booleans and lists of the query, and leaves the rest as it is", () => {
    expect(get({ limit: "10", rate: "-0.5", all: "false", label: "a=b", other: "1" }, { id: "x" })).toEqual({
      ...{ id: "x", limit: 10, rate: -0.5, all: false, label: ["a=b"], other: "1" },
    });
    expect(get({ label: ["a", "b"] })).toEqual({ label: ["a", "b"] });
  });

  it("reads every whole number that a schema may allow", () => {
    const limit = Number.MAX_SAFE_INTEGER;
    expect(get({ limit: String(limit) })).toEqual({ limit });
  });

  it.each([{ limit: "1e3" }, { limit: "" }, { limit: " 1" }, { limit: "0x10" }, { limit: "Infinity" }, { all: "1" }])(
    "refuses %j, by its name",
    (query) => expect(() => get(query)).toThrow(`${Object.keys(query)[0]}: expected`),
  );

  it("refuses a field twice, an empty part of the path, and a body where none is expected", () => {
    expect(() => get({ limit: ["1", "2"] })).toThrow("limit: expected it once");
    expect(() => get({ id: "a" }, { id: "b" })).toThrow("id: expected it in the path only");
    expect(() => post({ id: "a" }, { id: "b" })).toThrow("id: expected it in the path only");
    expect(() => get({}, { id: "" })).toThrow("id: expected a value");
    expect(() => get({}, {}, {})).toThrow("body: expected none");
  });

  it("takes an object as the body, and nothing of the query beside it", () => {
    expect(post({ a: 1 }, { id: "x" })).toEqual({ a: 1, id: "x" });
    expect(post(undefined)).toEqual({});
    for (const body of [[], null, "text", 7]) expect(() => post(body)).toThrow("body: expected an object");
    expect(() => post({}, {}, { limit: "1" })).toThrow("limit: expected it in the body");
  });
});
