import { describe, expect, it } from "vitest";
import { consistentStatus, refusalReason, statusError } from "./api-error.ts";

const product = { engine: "docker", title: "Docker" } as const;

describe("statusError", () => {
  it.each([
    [404, "No such container: abc", "SANDBOX_LOST"],
    [409, "Container abc is not running", "SANDBOX_LOST"],
    [409, "container is marked for removal and cannot be started", "SANDBOX_LOST"],
    [500, "cannot exec in a stopped container: unknown", "SANDBOX_LOST"],
    [409, 'Conflict. The container name "/box" is already in use by container "abc"', "ALREADY_EXISTS"],
    [500, "error setting rlimit type 7: operation not permitted", "UNSUPPORTED"],
    [500, "Decoding seccomp profile failed: invalid character", "UNSUPPORTED"],
    [400, 'invalid mount config for type "bind": bind source path does not exist: /home/me/x', "UNSUPPORTED"],
    [500, "statfs /home/me/x: no such file or directory", "UNSUPPORTED"],
    [400, "Range of CPUs is from 0.01 to 2.00, as there are only 2 CPUs available", "UNSUPPORTED"],
    [500, "mkdir /var/lib/docker/overlay2: no space left on device", "INTERNAL"],
  ])("makes of %d %j %s", (status, message, errorType) => {
    const error = statusError(product, "do it", { status, body: { message } });
    expect(error).toMatchObject({ errorType, context: { engine: "docker", http_status: status } });
    expect(error.message).toContain("do it");
    expect((error.cause as Error).message).toContain(message);
  });

  it("shows nothing of the engine's host", () => {
    const body = { message: "open /var/lib/docker/containers/abc: no such file" };
    expect(JSON.stringify(statusError(product, "do it", { status: 500, body }).toWire())).not.toContain("/var/lib");
    const mount = { message: "invalid mount config: bind source path does not exist: /home/me" };
    expect(JSON.stringify(statusError(product, "do it", { status: 400, body: mount }).toWire())).not.toContain("/home");
  });

  it("names the place of an image where nothing can be mounted", () => {
    const message = `error mounting "/run/own" to rootfs at "/etc/passwd": "/data/merged/proc/1/environ" cannot be mounted because it is inside /proc`;
    const error = statusError(product, "start the container", { status: 500, body: { message } });
    expect(error).toMatchObject({ errorType: "UNSUPPORTED", context: { path: "/etc/passwd" } });
    expect(JSON.stringify(error.toWire())).not.toMatch(/merged|run\/own/);
  });

  it("says what is wrong with what we asked for", () => {
    const body = { message: "Minimum memory limit allowed is 6MB" };
    expect(statusError(product, "create a container", { status: 400, body }).message).toContain("6MB");
  });
});

describe("refusalReason", () => {
  it.each([
    [{ message: " text \n" }, "text"],
    [{ cause: "reason", response: 500 }, "reason"],
    ["plain", "plain"],
    [null, ""],
    [{ message: 7 }, ""],
  ])("of %j is %j", (body, reason) => {
    expect(refusalReason({ status: 500, body })).toBe(reason);
  });
});

describe("consistentStatus", () => {
  it("is 404 for a container that went away during the call", () => {
    const message = "container 0f does not exist in database: no such container";
    expect(consistentStatus({ status: 500, body: { cause: "no such container", message } })).toBe(404);
    expect(consistentStatus({ status: 409, body: { message } })).toBe(409);
    expect(consistentStatus({ status: 500, body: { message: "disk full" } })).toBe(500);
    expect(consistentStatus({ status: 200, body: null })).toBe(200);
  });
});
