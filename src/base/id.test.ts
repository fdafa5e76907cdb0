import { expect, it, describe } from "vitest";
import { createId, createToken, tokenForm, findNamed, type Named } from "./id.ts";

it("makes names that engines accept, different each time", () => {
  const ids = new Set(Array.from({ length: 100 }, () => createId("sbx")));
  expect(ids.size).toBe(100);
  for (const id of ids) expect(id).toMatch(/^sbx-[0-9a-hjkmnp-tv-z]{20}$/);
});

it("makes tokens that are labels of hosts, different each time", () => {
  const tokens = new Set(Array.from({ length: 100 }, () => createToken()));
  expect(tokens.size).toBe(100);
  for (const token of tokens) expect(token).toMatch(tokenForm);
});

const web = { id: "sbx-4fz3k2m9q0r5t7w8x1y2", name: "web" };
const other = { id: "sbx-4fz3999999r5t7w8x1y2", name: "webhook" };
const plain = { id: "sbx-ab00k2m9q0r5t7w8x1y2" };
const things: readonly Named[] = [web, other, plain];
const find = (word: string, among = things): Named | undefined => findNamed(word, among, "sandbox_id");

describe("what a word means", () => {
  it.each([
    [web.id, web],
    ["web", web],
    ["webhook", other],
    ["4fz3k", web],
    ["sbx-4fz3k", web],
    ["ab00", plain],
    ["sbx-ab00", plain],
  ])("%j is one thing", (word, thing) => expect(find(word)).toBe(thing));

  it.each(["", "sbx", "sbx-", "sbx-ab0", "ab0", "webh", "WEB", "k2m9", `${web.id}0`])("%j is none", (word) =>
    expect(find(word)).toBeUndefined(),
  );

  it("is no part of an id that somebody chose", () => {
    expect(find("long", [{ id: "my-long-environment" }])).toBeUndefined();
    expect(find("my-long", [{ id: "my-long-environment" }])).toBeUndefined();
  });

  it("is the name before the beginning of an id, and the id before a name", () => {
    const named = { id: "sbx-zzzzk2m9q0r5t7w8x1y2", name: "ab00" };
    expect(find("ab00", [...things, named])).toBe(named);
    expect(find(web.id, [{ id: "sbx-1", name: web.id }, ...things])).toBe(web);
  });

  it("is an error that lists the candidates where it means several", () => {
    const twin = { id: "sbx-zzzzk2m9q0r5t7w8x1y2", name: "web" };
    expect(() => find("web", [...things, twin])).toThrow(`sandbox_id: "web" may be ${web.id} (web), ${twin.id} (web).`);
    expect(() => find("sbx-4fz3")).toThrow(`sandbox_id: "sbx-4fz3" may be ${web.id} (web), ${other.id} (webhook).`);
    expect(() => find("4fz3")).toThrow(expect.objectContaining({ errorType: "INVALID_REQUEST" }));
  });

  it("names at most twenty candidates", () => {
    const many = Array.from({ length: 1_000 }, (_, index) => ({ id: `sbx-${index}`, name: "job" }));
    expect(() => find("job", many)).toThrow(/ and 980 more\.$/);
  });
});
