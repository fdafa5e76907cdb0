import { execFileSync } from "node:child_process";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DnsServer } from "../helpers/dns-server.ts";
import { ModelServer } from "../helpers/model-server/model-server.ts";
import type { ModelRequest, ModelTurn } from "../helpers/model-server/model-turn.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { testImages } from "../helpers/test-images.ts";
import { until } from "../helpers/until.ts";

/** A user that the image does not know. */
const owner = { uid: process.getuid?.() === 0 ? 4321 : (process.getuid?.() ?? 0), gid: process.getgid?.() ?? 0 };
const key = "sk-glovebox-test-6f1c2d9a";
const firstRunMs = 600_000;

/** A shell that ignores SIGTERM, has a child, and reports when it runs. */
const stubborn = "trap '' TERM; setsid sh -c \"trap '' TERM; touch started; sleep 600\" & sleep 600";

/** What the model in these tests answers to each prompt: it uses tools as long as it has turns left. */
const turns: Readonly<Record<string, readonly ModelTurn[]>> = {
  "Rename the dog": [
    { text: "I look first.", tools: [{ name: "grep", arguments: { pattern: "Rex", path: "." } }] },
    { tools: [{ name: "edit", arguments: { path: "note.txt", edits: [{ oldText: "Rex", newText: "Bello" }] } }] },
    { tools: [{ name: "bash", arguments: { command: 'echo "key: $PI_API_KEY"; env; id -u' } }] },
    { text: "The dog is Bello now." },
  ],
  "Never end": [{ tools: [{ name: "bash", arguments: { command: stubborn } }] }, { text: "It ended." }],
};

function answerTo({ body, toolResults }: ModelRequest): ModelTurn {
  // A conversation contains all its prompts: the last one counts.
  const prompts = Object.keys(turns).toSorted((one, other) => body.lastIndexOf(other) - body.lastIndexOf(one));
  const [prompt = ""] = prompts;
  return body.includes("Say what you did") ? { text: "I renamed the dog." } : (turns[prompt]?.[toolResults] ?? {});
}

describe.each(["docker", "podman"] as const)("pi on %s", (engine) => {
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-coding-agents-")));
  const at = (...names: string[]): string => path.join(folder, ...names);
  const former = { ...process.env };
  const network: Record<string, string[]> = {};
  const agents = { directory: folder, main_workspace: at("nano"), image_base: testImages.javascript };
  let model: ModelServer;
  let dns: DnsServer;

  beforeAll(async () => {
    for (const names of [[], ["groups"], ["groups", "family"], ["data"], ["nano"]]) {
      mkdirSync(at(...names), { recursive: true });
      chownSync(at(...names), owner.uid, owner.gid);
    }
    for (const [name, text] of Object.entries({ "note.txt": "The dog is Rex.\n", "SOUL.md": "Be kind to Rex.\n" })) {
      writeFileSync(at("groups", "family", name), text);
      chownSync(at("groups", "family", name), owner.uid, owner.gid);
    }
    model = await ModelServer.start(answerTo);
    dns = await DnsServer.start((name) => (name === "model.test" ? [{ a: "127.0.0.1" }] : undefined));
    Object.assign(network, { dns_servers: [dns.address], private_hosts: [`model.test:${model.port}`] });
    const address = `http://model.test:${model.port}/v1`;
    Object.assign(process.env, { PI_BASE_URL: address, PI_MODEL: "test-model", PI_API_KEY: key });
  });
  const glovebox = useGlovebox(engine, { settings: { images: testImages, network, agents }, workingDirectory: folder });
  afterAll(() => {
    for (const name of ["PI_BASE_URL", "PI_MODEL", "PI_API_KEY"]) {
      if (former[name] === undefined) delete process.env[name];
      else process.env[name] = former[name];
    }
    model[Symbol.dispose]();
    dns.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it(
    "is installed into its image, edits a file in its group's workspace and answers",
    async () => {
      execFileSync(engine, ["rmi", "-f", "glovebox-agent"], { stdio: "ignore" });
      const told: string[] = [];
      const result = await glovebox().runAgent(
        { group: "family", prompt: "Rename the dog" },
        {
          onEvent: (event) =>
            void told.push(event.type === "output" ? Buffer.from(event.bytes).toString() : JSON.stringify(event)),
        },
      );
      expect(result).toMatchObject({ status: "success", result: "The dog is Bello now.", outcome: "completed" });
      expect(readFileSync(at("groups", "family", "note.txt"), "utf8")).toBe("The dog is Bello.\n");
      expect(result.output).toContain("I look first.\n> grep: Rex\n> edit: note.txt\n> bash: echo");
      expect(model.requests[0]?.body).toContain("Be kind to Rex.");
      // The model's server got the key, and it is nowhere else, although the agent has printed it.
      expect([...model.keys]).toEqual([key]);
      const log = readFileSync(at(result.log), "utf8");
      expect(log).toContain("tool_execution_end");
      expect([log, JSON.stringify(result), ...told].join("\n")).not.toContain(key);
      expect(told.join("\n")).toContain("Building glovebox-agent");
      expect(execFileSync("find", [folder, "-name", "env"], { encoding: "utf8" })).toBe("");

      // It is up to date, and listed.
      const { engines } = await glovebox().doctor();
      const findings = engines.find(({ name }) => name === engine)?.findings ?? [];
      expect(findings.filter(({ what }) => what.includes("glovebox-agent "))).toEqual([]);
      const own = { image: "glovebox-agent", used_for: ["agent"], engine, present: true };
      expect(await glovebox().images({ engine })).toContainEqual(own);

      const session = result.new_session_id ?? "none";
      const again = await glovebox().runAgent({
        group: "family",
        prompt: "Say what you did",
        agent_session_id: session,
      });
      expect(again).toMatchObject({ status: "success", result: "I renamed the dog.", new_session_id: session });
      expect(model.requests.at(-1)?.body).toContain("Rename the dog");
    },
    firstRunMs,
  );

  it(
    "is gone with all that it has started when it is cancelled, whatever that ignores",
    async () => {
      const controller = new AbortController();
      let sandboxId = "";
      const run = glovebox().runAgent(
        { group: "family", prompt: "Never end" },
        {
          signal: controller.signal,
          onEvent: (event) => void (event.type === "sandbox" && (sandboxId = event.sandboxId)),
        },
      );
      const started = at("groups", "family", "started");
      await Promise.race([run, until(() => existsSync(started))]);
      expect(existsSync(started)).toBe(true);
      controller.abort();
      expect(await run).toMatchObject({ outcome: "cancelled", status: "error" });
      const label = `label=glovebox.sandbox=${sandboxId}`;
      expect(sandboxId).not.toBe("");
      expect(execFileSync(engine, ["ps", "-aq", "--filter", label], { encoding: "utf8" })).toBe("");
    },
    firstRunMs,
  );

  it(
    "is not asked in a dry run, and takes an environment file with the line ends of Windows",
    () => {
      const file = at("env");
      writeFileSync(file, "FFT_NANO_DRY_RUN='yes'\r\nPI_MODEL='two words'\r\n");
      const asked = model.requests.length;
      const locked = [
        "--read-only",
        "--tmpfs",
        "/tmp",
        "--user",
        "12345:12345",
        "--cap-drop",
        "ALL",
        "--network",
        "none",
      ];
      const output = execFileSync(
        engine,
        ["run", "--rm", "-i", ...locked, "-v", `${file}:/workspace/env-dir/env:ro`, "glovebox-agent"],
        { input: '{"prompt":"Hello","groupFolder":"family"}', encoding: "utf8" },
      );
      expect(output).toMatch(/^---FFT_NANO_OUTPUT_START---\n\{"status":"success","result":"DRY_RUN: .*\n---FFT_NANO/);
      expect(model.requests).toHaveLength(asked);
    },
    firstRunMs,
  );
});
