import { describe, expect, it } from "vitest";
import { outputMarkers } from "./agent-container.ts";
import type { ReadAgentEvents } from "./agent-protocol.ts";
import { LiveLines } from "./work-in-sandbox.ts";

const readEvents: ReadAgentEvents = ({ say, tool }) => [
  ...(typeof say === "string" ? [{ kind: "says", text: say } as const] : []),
  ...(typeof tool === "string" ? [{ kind: "does", text: tool } as const] : []),
];

function tell(text: string, chunk = text.length): string {
  const lines = new LiveLines(readEvents);
  const bytes = Buffer.from(text);
  let told = "";
  for (let at = 0; at < bytes.length; at += chunk) told += lines.append(bytes.subarray(at, at + chunk));
  return told + lines.end();
}

describe("LiveLines", () => {
  const output = '{"say":"Grüße"}\nplain\n{"tool":"read a.txt"}\n{"other":1}\n{broken\n';

  it.each([1, 2, 3, 1_000])("tells what the agent says and does, in chunks of %i", (chunk) => {
    expect(tell(output, chunk)).toBe("Grüße\nplain\n> read a.txt\n{broken\n");
  });

  it("tells the last line without a newline, and carriage returns are none of it", () => {
    expect(tell('{"say":"a"}\r\n{"say":"b"}')).toBe("a\nb\n");
  });

  it("leaves the answer out", () => {
    const { start, end } = outputMarkers;
    expect(tell(`a\n${start}\n{"say":"x"}\n${end}\nb\n`)).toBe("a\nb\n");
  });

  it("holds no line without bound, and goes on after it", () => {
    const long = "x".repeat(3_000_000);
    expect(tell(`${long}\n{"say":"b"}\n`, 65_536)).toBe("[a line of 3000000 bytes]\nb\n");
  });
});
