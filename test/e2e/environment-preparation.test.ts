import { execFileSync } from "node:child_process";
import { chownSync, mkdirSync, statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { owner, useEnvironments } from "../helpers/environment-scene.ts";
import { removeContainer } from "../helpers/remove-container.ts";

describe.each(["docker", "podman"] as const)("the preparation of environments on %s", (engine) => {
  const { at, open } = useEnvironments(engine);

  it("is prepared by root, which is gone when the environment is ready", async () => {
    const script =
      "id -u; echo made >/etc/made; chown 77 /etc/made; touch /workdir/made-by-root || echo refused >/etc/tried";
    await using env = await open({ project_root: "project", setup_commands: [["sh", "-c", script], ["true"]] });
    const result = await env.sh(
      "id -u; stat -c %u /etc/made; cat /etc/tried; grep CapBnd /proc/self/status; : >/etc/no",
    );
    expect(result.stdout_tail).toBe(`${owner.uid}\n77\nrefused\nCapBnd:\t0000000000000000\n`);
    expect(result).toMatchObject({
      outcome: "failed",
      stderr_tail: expect.stringContaining("Permission denied") as unknown,
    });
    await expect(open({ setup_commands: [["sh", "-c", "echo why >&2; exit 3"]] })).rejects.toMatchObject({
      errorType: "PACKAGE_INSTALL_FAILED",
      message: expect.stringMatching(/exit code 3[^]*why/) as unknown,
    });
    const ownImage = (): string =>
      execFileSync(engine, ["images", "-aq", "--filter", `label=glovebox.environment=${env.id}`])
        .toString()
        .trim();
    expect(ownImage()).not.toBe("");
    const whole = `sha256:${execFileSync(engine, ["image", "inspect", "--format", "{{.Id}}", ownImage()]).toString().trim().replace("sha256:", "")}`;
    await expect(open({ image: whole })).rejects.toMatchObject({ context: { rule: "prepared-images" } });
    await expect(open({ image: whole.slice(0, 20) })).rejects.toMatchObject({ errorType: "INVALID_REQUEST" });
    await env.environments.destroy({ env_id: env.id });
    expect(ownImage()).toBe("");
  });

  it("is prepared by the project's owner too, who may write to it and keeps what was set up", async () => {
    mkdirSync(at("installed"));
    mkdirSync(at("installed/.vscode"));
    for (const name of ["installed", "installed/.vscode"]) chownSync(at(name), owner.uid, owner.gid);
    const install = [
      "id -u >node_modules; cat /etc/setup >/tmp/kept; echo '{}' >.vscode/tasks.json",
      "chmod 4755 node_modules || echo refused >>node_modules; grep CapBnd /proc/self/status >>node_modules",
    ];
    await using env = await open({
      project_root: "installed",
      setup_commands: [["sh", "-c", "echo as-root >/etc/setup"]],
      install_commands: install.map((line) => ["sh", "-c", line]),
    });
    expect(env.warnings.join()).toContain('".vscode/tasks.json"');
    expect(statSync(at("installed/node_modules"))).toMatchObject({ ...owner, mode: 0o100_644 });
    const shown = async (): Promise<string> => (await env.sh("cat node_modules /tmp/kept")).stdout_tail;
    const expected = `${owner.uid}\nrefused\nCapBnd:\t0000000000000000\nas-root\n`;
    expect(await shown()).toBe(expected);
    // Its files are part of an image: every container has them.
    removeContainer(engine, env.container_id);
    expect(await shown()).toBe(expected);
    const images = (): string =>
      execFileSync(engine, ["images", "-aq", "--filter", `label=glovebox.environment=${env.id}`]).toString();
    expect(images()).not.toBe("");
    await env.environments.destroy({ env_id: env.id });
    expect(images()).toBe("");
    const failing = { project_root: "installed", install_commands: [["true"], ["sh", "-c", "echo why >&2; exit 3"]] };
    await expect(open({ ...failing, env_id: "failing" })).rejects.toMatchObject({
      errorType: "PACKAGE_INSTALL_FAILED",
      message: expect.stringMatching(/install_commands\[1\][^]*exit code 3[^]*why/) as unknown,
    });
    // With a read-only root they write only to the project.
    await using sealed = await open({
      project_root: "installed",
      read_only_root: true,
      install_commands: [["sh", "-c", "echo again >node_modules; echo x >/etc/x || echo sealed >>node_modules"]],
    });
    expect((await sealed.sh("cat node_modules")).stdout_tail).toBe("again\nsealed\n");
  });
});
