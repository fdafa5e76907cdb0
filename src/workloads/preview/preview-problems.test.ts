import { describe, expect, it } from "vitest";
import { hintsOf, otherPortNote, silenceOf } from "./preview-problems.ts";

const logs = "<i> [webpack-dev-server] Project is running at:";

describe("hints of a preview", () => {
  it("tell of webpack-dev-server's own port, unless the command names another address", () => {
    expect(hintsOf("npx webpack serve", logs, null)).toEqual([expect.stringContaining("--client-web-socket-url")]);
    expect(hintsOf("npx webpack serve --client-web-socket-url auto://0.0.0.0:0/ws", logs, null)).toEqual([]);
    expect(hintsOf("npx vite", "VITE ready", null)).toEqual([]);
  });
});

describe("the port of a preview", () => {
  it("is told of only where another one was named than the command serves at", () => {
    expect(otherPortNote({ port: 3000, isPortNamed: true }, 5173)).toContain("not listen on port 3000 but on 5173");
    expect(otherPortNote({ port: 3000, isPortNamed: true }, 3000)).toBe(null);
    expect(otherPortNote({ port: 3000, isPortNamed: false }, 5173)).toBe(null);
  });

  it("that stays closed is told of with those that are open and speak no HTTP", () => {
    const silent = { state: "closed", port: 3000, others: [5432, 9000], hasAnswered: false } as const;
    expect(silenceOf(silent).message).toContain("What listens on 5432, 9000 does not answer in HTTP.");
    expect(silenceOf({ ...silent, others: [] }).message).not.toContain("What listens");
    expect(silenceOf({ ...silent, port: 5173, hasAnswered: true }).message).toBe(
      "Port 5173 of the preview answers no more.",
    );
  });
});
