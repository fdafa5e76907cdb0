import { describe, expect, it } from "vitest";
import { sandboxVariables } from "./network-access.ts";

describe("sandboxVariables", () => {
  it("names the proxy in both cases, and no registry that there is not", () => {
    expect(sandboxVariables([])).toMatchObject({
      http_proxy: "http://127.0.0.1:3128",
      HTTPS_PROXY: "http://127.0.0.1:3128",
      no_proxy: "localhost,127.0.0.1,::1",
    });
    expect(Object.keys(sandboxVariables([])).filter((name) => /registry|index/i.test(name))).toEqual([]);
  });

  it("names the registries without their passwords, the first of a kind first", () => {
    const variables = sandboxVariables([
      { kind: "npm", url: "https://user:secret@npm.example/root/" },
      { kind: "npm", url: "https://scope.example/" },
      { kind: "python", url: "http://user:secret@index.example:8080/simple" },
      { kind: "python", url: "https://more.example/simple" },
    ]);
    expect(variables).toMatchObject({
      npm_config_registry: "https://npm.example/root/",
      BUN_CONFIG_REGISTRY: "https://npm.example/root/",
      PIP_INDEX_URL: "http://index.example:8080/simple",
      PIP_EXTRA_INDEX_URL: "https://more.example/simple",
      PIP_TRUSTED_HOST: "index.example",
    });
    expect(JSON.stringify(variables)).not.toContain("secret");
  });
});
