import { describe, expect, it } from "vitest";
import type { LoadedConfig } from "./config.ts";
import { effectiveSettings } from "./setting-layers.ts";
import { loadConfig } from "./load-config.ts";

function load({ environment }: { readonly environment: Readonly<Record<string, string>> }): Promise<LoadedConfig> {
  const missing = Object.assign(new Error("ENOENT"), { code: "ENOENT" });
  return loadConfig({ environment, homeDirectory: "/home/ann", readFile: () => Promise.reject(missing) });
}

describe("the upstream proxy", () => {
  const environment = { HTTPS_PROXY: "http://ann:hush@proxy.test:3128", NO_PROXY: "corp.test" };

  it("is the environment's, and no setting that is shown", async () => {
    const loaded = await load({ environment: { ...environment, GLOVEBOX_NETWORK_UPSTREAM_RESOLVES: "true" } });
    expect(loaded.values.upstreamProxy).toMatchObject({ host: "proxy.test", port: 3128, resolvesNames: true });
    expect(JSON.stringify(effectiveSettings(loaded))).not.toContain("hush");
  });

  it("is no reason not to start when it cannot be used", async () => {
    const { values } = await load({ environment: { HTTPS_PROXY: "socks5://ann:hush@proxy.test" } });
    expect(values.upstreamProxy).toMatchObject({ variable: "HTTPS_PROXY", fault: expect.any(String) });
    expect(JSON.stringify(values)).not.toContain("hush");
  });

  it("gives no sandbox its password by the list of variables", async () => {
    const listed = { GLOVEBOX_ENV_ALLOWLIST: "HTTPS_PROXY,NO_PROXY" };
    const refused = load({ environment: { ...environment, ...listed } });
    await expect(refused).rejects.toMatchObject({
      errorType: "INVALID_REQUEST",
      message: expect.stringMatching(/^(?!.*hush).*environment_allowlist: HTTPS_PROXY contains a proxy/),
    });
    await load({ environment: { ...listed, HTTPS_PROXY: "http://proxy.test:3128" } });
  });
});
