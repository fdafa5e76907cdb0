import { expect, it } from "vitest";
import type { LocalEngineOptions } from "../local-engine-options.ts";
import { openBubblewrapHost } from "./bubblewrap-host.ts";

it.each(["darwin", "win32"] as const)("is not there on %s, and names the engines that are", async (platform) => {
  await expect(openBubblewrapHost({ platform } as LocalEngineOptions)).rejects.toMatchObject({
    errorType: "ENGINE_UNAVAILABLE",
    message: `The embedded engine needs Linux namespaces; this is ${platform}.`,
    suggestion: expect.stringMatching(/Docker, Podman.*on macOS/),
  });
});

it("goes further on Linux, where it may be: until it is called off, or a tool is missing", async () => {
  const options = { platform: "linux", environment: {} } as LocalEngineOptions;
  await expect(openBubblewrapHost(options, AbortSignal.abort())).rejects.toMatchObject({
    errorType: expect.stringMatching(/^(?:CANCELLED|ENGINE_UNAVAILABLE)$/),
    message: expect.not.stringContaining("this is"),
  });
});
