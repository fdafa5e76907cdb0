import { describe, expect, it } from "vitest";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { OpeningProxy } from "../helpers/opening-proxy.ts";
import { useOwnSandboxes } from "../helpers/own-sandboxes.ts";
import { runCommand, type CommandResult } from "../helpers/run-command.ts";

const sandboxes = useOwnSandboxes();

interface Proof {
  readonly held: boolean;
  readonly date: string;
  readonly kernel: string;
  readonly engines: readonly {
    readonly name: string;
    readonly verdict: string;
    readonly version?: string;
    readonly counts: Readonly<Record<string, number>>;
    readonly attacks: readonly { readonly id: string; readonly verdict: string; readonly declared_by: string }[];
  }[];
}

const doctor = (argv: readonly string[], environment: Record<string, string> = {}): Promise<CommandResult> =>
  runCommand(["doctor", "--prove", ...argv], { environment: { ...sandboxes.environment(), ...environment } });

describe("doctor --prove", () => {
  useGlovebox("docker");

  it("shows that each engine holds, with what can be kept", { timeout: 240_000 }, async () => {
    const { exitCode, stdout } = await doctor(["--engine", "docker", "--bombs", "--json"]);
    const proof = JSON.parse(stdout) as Proof;
    expect([exitCode, proof.held]).toEqual([0, true]);
    expect(new Date(proof.date).getFullYear()).toBeGreaterThan(2025);
    expect(proof.engines).toMatchObject([{ name: "docker", verdict: "held", version: expect.any(String) as string }]);
    const [{ counts, attacks }] = proof.engines as [Proof["engines"][number]];
    expect(counts["denied"]).toBeGreaterThan(110);
    expect(Object.keys(counts).filter((verdict) => ["got_through", "unclear"].includes(verdict))).toEqual([]);
    expect(attacks.map(({ id }) => id)).toEqual(expect.arrayContaining(["reads-file-of-the-host", "takes-memory"]));
    const text = await doctor(["--engine", "local"]);
    expect(text.exitCode).toBe(0);
    expect(text.stdout).toMatch(/^ {2}denied +read a file of the host: /m);
    expect(text.stdout).toMatch(/^local held: \d+ denied/m);
  });

  it(
    "finds an engine that was opened, twice, and serve --prove then serves nothing",
    { timeout: 240_000 },
    async () => {
      await using opened = await OpeningProxy.start();
      const environment = { DOCKER_HOST: opened.address };
      const { exitCode, stdout } = await doctor(["--engine", "docker", "--json"], environment);
      const proof = JSON.parse(stdout) as Proof;
      expect([exitCode, proof.held]).toEqual([1, false]);
      const [{ verdict, attacks }] = proof.engines as [Proof["engines"][number]];
      const through = attacks.filter((each) => each.verdict === "got_through");
      expect(verdict).toBe("broken");
      const ids = through.map(({ id }) => id);
      expect(ids).toEqual(expect.arrayContaining(["reads-keys-of-all", "lists-firmware"]));
      expect(through).toContainEqual(expect.objectContaining({ declared_by: "isolation" }));
      // The engine's own filter is only the second one: each program's refuses these.
      expect(ids.filter((id) => ["unshares-user-namespace", "adds-key", "opens-io-uring"].includes(id))).toEqual([]);
      const served = await runCommand(["serve", "--port", "0", "--prove"], {
        environment: { ...sandboxes.environment(), ...environment, CONTAINER_HOST: "unix:///nowhere.sock" },
      });
      expect(served).toMatchObject({ exitCode: 125, stdout: "" });
      expect(served.stderr).toMatch(/POLICY_DENIED: Nothing is served: attacks got through on docker\./);
      expect(served.stderr).not.toContain("serving at");
    },
  );

  it("says which option needs it, and what an engine is that cannot be tried", async () => {
    expect(await runCommand(["doctor", "--bombs"])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("--bombs: expected --prove beside it") as string,
    });
    const environment = { DOCKER_HOST: "unix:///nowhere.sock" };
    const { exitCode, stdout } = await doctor(["--engine", "docker"], environment);
    expect([exitCode, stdout]).toEqual([125, expect.stringContaining("docker was not tried. ")]);
  });
});
