import { expect, it } from "vitest";
import { readLines } from "./http-caller.ts";

async function linesOf(chunks: readonly (string | Uint8Array)[], maxCharacters?: number): Promise<readonly string[]> {
  const lines: string[] = [];
  const response = new Response(ReadableStream.from(bytesOf(chunks)));
  for await (const line of readLines(response, maxCharacters)) lines.push(line);
  return lines;
}

function* bytesOf(chunks: readonly (string | Uint8Array)[]): Generator<Uint8Array> {
  for (const chunk of chunks) yield typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk;
}

it("lines are whole, however they come, and the last one needs no end", async () => {
  expect(await linesOf(["a", "b\nc\n\n", "d", "e"])).toEqual(["ab", "c", "", "de"]);
  const snowman = new TextEncoder().encode("☃\n");
  expect(await linesOf([...snowman].map((byte) => Uint8Array.of(byte)))).toEqual(["☃"]);
  expect(await linesOf([])).toEqual([]);
});

it("a line without an end is given up", async () => {
  const endless = Array.from({ length: 20 }, () => "x".repeat(100));
  expect(await linesOf(endless, 2000)).toEqual(["x".repeat(2000)]);
  await expect(linesOf(endless, 1999)).rejects.toMatchObject({ errorType: "NETWORK_ERROR" });
});
