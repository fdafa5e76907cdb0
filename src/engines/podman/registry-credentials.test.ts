import { expect, it } from "vitest";
import { readRegistryCredentials } from "./registry-credentials.ts";

const files = {
  "/run/user/7/containers/auth.json": "runtime",
  "/home/me/.config/containers/auth.json": "config",
  "/home/me/.docker/config.json": "docker",
  "/chosen.json": "chosen",
};

function read(environment: Record<string, string>, present: readonly string[]): Promise<string | null> {
  return readRegistryCredentials(
    { HOME: "/home/me", ...environment },
    { read: (path) => Promise.resolve(present.includes(path) ? files[path as keyof typeof files] : null) },
  );
}

it("reads the file that Podman's own client would", async () => {
  const [runtime = "", config = "", docker = "", chosen = ""] = Object.keys(files);
  const login = { XDG_RUNTIME_DIR: "/run/user/7" };
  expect(await read(login, [runtime, config, docker])).toBe("runtime");
  expect(await read({}, [runtime, config, docker])).toBe("config");
  expect(await read(login, [docker])).toBe("docker");
  expect(await read({ ...login, REGISTRY_AUTH_FILE: chosen }, [runtime, chosen])).toBe("chosen");
  expect(await read({ REGISTRY_AUTH_FILE: "/absent" }, [runtime, config])).toBeNull();
});
