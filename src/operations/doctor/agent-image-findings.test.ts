import { describe, expect, it } from "vitest";
import { agentLabels, readAgentFiles } from "../../workloads/agent/image/agent-files.ts";
import { agentImageFindings } from "./agent-image-findings.ts";

const files = await readAgentFiles();
const now = agentLabels("pi", files);

describe("agentImageFindings", () => {
  it("has nothing to say of an image that would be built the same now", async () => {
    expect(agentLabels("pi", await readAgentFiles())).toEqual(now);
    expect(agentImageFindings("docker", { agent: "pi", labels: now }, now)).toEqual([]);
  });

  it.each([
    [{ ...now, "glovebox.agent": "pi@0.1.0" }, /it has pi@0\.1\.0, not pi@\d+\.\d+\.\d+\.$/],
    [{ ...now, "glovebox.agent": "\u001b[2J" }, /it has an agent that it does not name, not pi@/],
    [{ ...now, "glovebox.agent-files": "0" }, /: it has another version of the program that runs the agent\.$/],
    [{}, /does not name, not pi@.*, and it has another version of the program/],
  ])("tells of %j and of the command that renews it", (labels, what) => {
    const [finding, ...others] = agentImageFindings("podman", { agent: "pi", labels }, now);
    expect(others).toEqual([]);
    expect(finding).toMatchObject({
      severity: "note",
      fix: "Rebuild it: `glovebox images build --engine podman glovebox-agent`.",
    });
    expect(finding?.what).toMatch(what);
  });

  it("a changed file of ours makes another digest", () => {
    const changed = files.map((file, index) => (index === 0 ? { ...file, content: Buffer.from("FROM x") } : file));
    expect(agentLabels("pi", changed)["glovebox.agent-files"]).not.toBe(now["glovebox.agent-files"]);
  });
});
