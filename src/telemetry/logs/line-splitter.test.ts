import { expect, it } from "vitest";
import { LineSplitter } from "./line-splitter.ts";

function split(...chunks: readonly Uint8Array[]): readonly (readonly [string, boolean])[] {
  const lines: [string, boolean][] = [];
  const splitter = new LineSplitter((text, partial) => lines.push([text, partial]));
  for (const chunk of chunks) splitter.write(chunk);
  splitter.end();
  return lines;
}

it("gives the same lines however their bytes come", () => {
  const text = Buffer.from(`one\r\n\ntwö 🧤\n${"é".repeat(20_000)}\nend`);
  const whole = split(text);
  expect(whole.map(([line, partial]) => [line.length, partial])).toEqual([
    ...[
      [3, false],
      [0, false],
      [6, false],
    ],
    ...[
      [8_192, true],
      [8_192, true],
      [3_616, false],
    ],
    [3, false],
  ]);
  for (const size of [1, 2, 3, 7, 16_384, 16_385]) {
    const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
      text.subarray(index * size, (index + 1) * size),
    );
    expect(split(...pieces), `pieces of ${size}`).toEqual(whole);
  }
});

it("counts the lines that it skips, and begins anew behind the last of them", () => {
  const lines: string[] = [];
  const splitter = new LineSplitter((text) => lines.push(text));
  splitter.write(Buffer.from("begun "));
  expect(splitter.skip(Buffer.from("and ended\ntwo\nthr"))).toBe(2);
  splitter.write(Buffer.from("ee\n"));
  expect(lines).toEqual(["three"]);
});
