import { describe, expect, it } from "vitest";
import { checkGuardEnvironment } from "./guard-environment.ts";

describe("checkGuardEnvironment", () => {
  it.each(["HOME", "PATH", "API_URL", "PYTHONPATH", "PYTHONUNBUFFERED", "NODE_ENV", "pythonpath"])(
    "takes %s",
    (name) => {
      expect(() => checkGuardEnvironment({ [name]: "x" })).not.toThrow();
    },
  );

  it.each([
    "LD_PRELOAD",
    "DYLD_INSERT_LIBRARIES",
    "PYTHONHOME",
    "PYTHONUSERBASE",
    "PYTHONPYCACHEPREFIX",
    "PYTHONSTARTUP",
    "NODE_OPTIONS",
    "NODE_REDIRECT_WARNINGS",
    "node_options",
    "OPENSSL_CONF",
    "SSLKEYLOGFILE",
    "GLOVEBOX_PRELOAD",
  ])("refuses %s by its name", (name) => {
    expect(() => checkGuardEnvironment({ [name]: "secret" })).toThrow(`environment.${name} is not accepted`);
    expect(() => checkGuardEnvironment({ [name]: "secret" })).not.toThrow("secret");
  });
});
