import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { readHost } from "../../src/config/host/host.ts";
import { fetchBun } from "../../src/base/bun-packages.ts";
import { failureOf } from "../helpers/failure-of.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { sessionImages, testImages } from "../helpers/test-images.ts";

/** The testbed's base instead of the default one, which no registry here has. */
const base = { ...testImages, session_base: testImages.python };
const bad = { ...testImages, session_base: process.env["GLOVEBOX_TEST_IMAGE_MINIMAL"] ?? "glovebox-test/minimal:1" };

describe.each(["docker", "podman"] as const)("bun-runner-base on %s", (engine) => {
  const glovebox = useGlovebox(engine, { settings: { images: base } });
  const broken = useGlovebox(engine, { settings: { images: bad } });

  const bunInImage = (): string =>
    execFileSync(engine, ["image", "inspect", "-f", '{{index .Config.Labels "glovebox.bun"}}', "bun-runner-base"], {
      encoding: "utf8",
    }).trim();

  it("is built once for all requests, used, and rebuilt on demand", async () => {
    execFileSync(engine, ["rmi", "-f", "bun-runner-base"], { stdio: "ignore" });
    const messages: string[] = [];
    const onEvent = (event: { readonly type: string; readonly message?: string }): void => {
      if (event.type === "progress") messages.push(event.message ?? "");
    };
    const build = (): Promise<unknown> => glovebox().pullImages({}, { onEvent });
    const [, , response] = await Promise.all([
      build(),
      build(),
      glovebox().runCode({ code: "console.log(Bun.version)", packages: [] }, { onEvent }),
    ]);
    expect(response).toMatchObject({ outcome: "completed", stdout: "1.4.5\n" });
    expect(messages.join("\n")).toContain("Building bun-runner-base");
    expect(bunInImage()).toBe("1.4.5");
    const python = await glovebox().runCode({
      language: "python",
      code: "import subprocess\nprint(subprocess.run(['python3', '-m', 'pip', '--version'], capture_output=True).returncode)",
      packages: [],
    });
    expect(python.stdout).toBe("0\n");
    expect(await glovebox().buildImages()).toMatchObject([{ image: "bun-runner-base", present: true }]);
  });

  it("with another Bun is used as it is, reported by doctor, and renewed on demand", async () => {
    const dockerfile = `FROM ${sessionImages.session}\nLABEL glovebox.bun=1.0.0\nRUN touch /older\n`;
    execFileSync(engine, ["build", "-q", "-t", "bun-runner-base", "-"], { input: dockerfile, stdio: "pipe" });
    const older = "console.log(require('node:fs').existsSync('/older'))";
    const findings = async (): Promise<readonly object[]> => {
      const { engines } = await glovebox().doctor();
      return (engines.find(({ name }) => name === engine)?.findings ?? []).filter(({ what }) => what.includes("Bun"));
    };
    // The one of an earlier image.
    await glovebox().endSession();
    expect(await glovebox().runCode({ code: older, packages: [] })).toMatchObject({ stdout: "true\n" });
    await glovebox().endSession();
    expect(bunInImage()).toBe("1.0.0");
    expect(await findings()).toEqual([
      expect.objectContaining({ fix: `Rebuild it: \`glovebox images build --engine ${engine}\`.` }),
    ]);
    await glovebox().buildImages();
    expect(bunInImage()).toBe("1.4.5");
    expect(await findings()).toEqual([]);
    expect(await glovebox().runCode({ code: older, packages: [] })).toMatchObject({ stdout: "false\n" });
  });

  it("a build that fails says which step and why", async () => {
    const error = await failureOf(broken().buildImages(), "IMAGE_UNAVAILABLE");
    expect(error.message).toContain("neither apk nor apt-get");
  });
});

describe("Bun's package", () => {
  it.each([
    ["linux-x64-musl", 62, "/lib/ld-musl-x86_64.so.1"],
    ["linux-aarch64-musl", 183, "/lib/ld-musl-aarch64.so.1"],
  ] as const)(
    "for Alpine (%s) is fetched with the pinned hash, and is for its processor and C library",
    async (target, machine, loader) => {
      const archive = await fetchBun(target, { ...readHost(), signal: undefined });
      const extract = ["-xzO", "-f", "-", "package/bin/bun"];
      const bun = execFileSync("tar", extract, { input: archive, maxBuffer: 1024 ** 3 });
      expect(bun.toString("latin1", 0, 4)).toBe("\u007fELF");
      expect(bun.readUInt16LE(18)).toBe(machine);
      expect(bun.subarray(0, 65_536).includes(`${loader}\0`)).toBe(true);
      const listing = execFileSync("tar", ["-tvzf", "-", "package/bin/bun"], { input: archive, encoding: "utf8" });
      expect(listing).toMatch(/^-rwxr-xr-x /);
    },
  );
});
