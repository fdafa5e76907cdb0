import { describe, expect, it } from "vitest";
import { z } from "zod";
import { operationTable } from "../../operations/table.ts";
import { defineOperation } from "../../operations/contract/operation-contract.ts";
import { offeredTools } from "./tool-profiles.ts";
import { toolList } from "../mcp-door.ts";

const row = (mayTakeLong: boolean) =>
  defineOperation({
    audience: "everyone",
    routes: [],
    name: "measure",
    description: "Measures.",
    request: z.strictObject({ what: z.string().describe("The thing."), how: z.string().optional() }),
    response: z.object({ length: z.number().nullable() }),
    tool: {
      title: "Measure",
      readOnly: true,
      destructive: false,
      idempotent: true,
      openWorld: false,
      mayTakeLong,
      text: ({ length }) => `${length}`,
    },
  });

describe("a tool", () => {
  it("has its operation's schemas", () => {
    const [tool] = toolList(offeredTools([row(false)], ["all"]));
    expect(tool).toMatchObject({
      name: "measure",
      description: "Measures.",
      inputSchema: { type: "object", required: ["what"], additionalProperties: false },
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    });
    expect(Object.keys(tool?.inputSchema.properties ?? {})).toEqual(["what", "how"]);
    expect(tool?.outputSchema).toEqual({
      type: "object",
      properties: { length: { type: "number" }, error: { type: "object" } },
    });
  });

  it("that may take long is asked again by run_id alone, and may answer that it goes on", () => {
    const [tool] = toolList(offeredTools([row(true)], ["all"]));
    expect(tool?.inputSchema).not.toHaveProperty("required");
    expect(tool?.inputSchema.properties).toMatchObject({
      what: { description: "Required. The thing." },
      run_id: { type: "string" },
      cancel: { type: "boolean" },
    });
    expect(tool?.outputSchema?.["properties"]).toHaveProperty("run_id");
  });

  it("names one type at a time, and has no alternatives at the root of its arguments", () => {
    const tools = toolList(offeredTools([...operationTable, row(false)], ["all"]));
    expect(tools.length).toBeGreaterThan(1);
    expect(JSON.stringify(tools).match(/"type":\[[^\]]*\]/g)).toBeNull();
    for (const { inputSchema } of tools) {
      expect(Object.keys(inputSchema)).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/^(any|all|one)Of$/)]),
      );
    }
  });
});
