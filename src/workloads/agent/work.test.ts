import { expect, it } from "vitest";
import { JsonLines } from "./work.ts";

function linesOf(...chunks: readonly (string | Buffer)[]): { objects: unknown[]; others: string[] } {
  const told = { objects: [] as unknown[], others: [] as string[] };
  const lines = new JsonLines({
    onObject: (object) => told.objects.push(object),
    onOther: (text) => told.others.push(text),
  });
  for (const chunk of chunks) lines.append(Buffer.from(chunk));
  lines.end();
  return told;
}

it("puts lines together from pieces, characters cut in two as well", () => {
  const line = Buffer.from('{"text":"π\u2028π"}\n{"a":1}');
  for (let cut = 0; cut <= line.length; cut += 1) {
    expect(linesOf(line.subarray(0, cut), line.subarray(cut))).toEqual({
      objects: [{ text: "π\u2028π" }, { a: 1 }],
      others: [],
    });
  }
});

it("hands on what is no object as text, and knows lines that end in CRLF", () => {
  expect(linesOf('{"a":1}\r\n[1]\n{"half":\n\nnull\nhello\n')).toEqual({
    objects: [{ a: 1 }],
    others: ["[1]", '{"half":', "null", "hello"],
  });
});

it("holds a line without an end in bounds", () => {
  const megabyte = Buffer.alloc(1_048_576, "x");
  const { others } = linesOf(...Array.from({ length: 40 }, () => megabyte), "\nshort\n");
  expect(others).toEqual([`[a line of ${40 * 1_048_576} bytes]`, "short"]);
});
