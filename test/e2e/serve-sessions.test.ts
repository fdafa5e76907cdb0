import { describe, expect, it } from "vitest";
import { startHttpServer } from "../helpers/http-server.ts";
import { sessionImages } from "../helpers/test-images.ts";

/** Where a server runs a session that names no engine, and what it wrote about that at its start. */
async function sessionOn(environment: Readonly<Record<string, string>>) {
  const images = { GLOVEBOX_IMAGE_SESSION: sessionImages.session };
  // An empty variable is an unset one.
  await using server = await startHttpServer([], { EXECUTION_MODE: "", ...images, ...environment });
  const opened = await server.ask("POST /api/sessions", {});
  const { engine, session_id: id } = (await opened.json()) as { readonly engine: string; readonly session_id: string };
  const ran = await server.ask(`POST /api/sessions/${id}/runs`, { language: "python", code: "print(6 * 7)" });
  const { stdout, isolation } = (await ran.json()) as { readonly stdout: string; readonly isolation: string };
  return { engine, stdout, isolation, notice: server.notice() };
}

describe.each(["docker", "podman"] as const)("a server's sessions with %s", (engine) => {
  it("run in containers if EXECUTION_MODE is unset, and the server says so", async () => {
    const found = await sessionOn({ CONTAINER_RUNTIME: engine });
    expect(found).toMatchObject({ engine, stdout: "42\n", isolation: "container" });
    expect(found.notice).toContain(`sessions run in containers of ${engine} (EXECUTION_MODE=preload`);
  });

  it("run in the embedded sandbox with EXECUTION_MODE=preload", async () => {
    const found = await sessionOn({ CONTAINER_RUNTIME: engine, EXECUTION_MODE: "preload" });
    expect(found).toMatchObject({ engine: "local", stdout: "42\n" });
    expect(found.notice).not.toContain("sessions run");
  });
});

it("a server's sessions run in the embedded sandbox if no container engine answers, and the server says so", async () => {
  const found = await sessionOn({
    DOCKER_HOST: "unix:///nonexistent/docker.sock",
    CONTAINER_HOST: "unix:///nonexistent/podman.sock",
  });
  expect(found).toMatchObject({ engine: "local", stdout: "42\n" });
  expect(found.notice).toContain("no container engine answers, so sessions run in the embedded sandbox");
});
