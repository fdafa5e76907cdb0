import { describe, expect, it } from "vitest";
import { hintsOf } from "./preview-problems.ts";

const logs = "<i> [webpack-dev-server] Project is running at:";

describe("hints of a preview", () => {
  it("tell of webpack-dev-server's own port, unless the command names another address", () => {
    expect(hintsOf("npx webpack serve", logs, null)).toEqual([expect.stringContaining("--client-web-socket-url")]);
    expect(hintsOf("npx webpack serve --client-web-socket-url auto://0.0.0.0:0/ws", logs, null)).toEqual([]);
    expect(hintsOf("npx vite", "VITE ready", null)).toEqual([]);
  });
});
