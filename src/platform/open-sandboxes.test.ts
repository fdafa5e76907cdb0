import { expect, it } from "vitest";
import type { Config } from "../config/config.ts";
import { readHost } from "../config/host/host.ts";
import { HostInstaller } from "./open-sandboxes.ts";

it("npm and pip of this machine are told its way out and nothing else of its environment", async () => {
  const own = { HTTPS_PROXY: "http://proxy.test:3128", no_proxy: "corp.test", NODE_EXTRA_CA_CERTS: "/ca.pem" };
  // Neither tool is found there, so that none is asked for a registry.
  const host = { ...readHost(), environment: { ...own, PATH: "/nowhere", TOKEN: "hush" } };
  const installer = new HostInstaller({} as Config, host);
  expect((await installer.registries()).environment).toEqual(own);
});
