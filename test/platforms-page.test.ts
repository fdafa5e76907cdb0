import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { autoOrder, engineTable } from "../src/engines/engine-table.ts";
import { projectFolder } from "./helpers/project-folder.ts";

const page = readFileSync(join(projectFolder, "docs/platforms.md"), "utf8");
const systems = { Linux: "linux", macOS: "darwin", Windows: "win32" } as const;

describe("docs/platforms.md", () => {
  it.each(Object.entries(systems))("tells the order in which auto asks the engines on %s", (name, platform) => {
    const order = autoOrder(engineTable, { platform, allowEmbedded: true }).map((row) => `\`${row.name}\``);
    expect(page).toContain(`\n| ${name} | ${order.join(", ")} |\n`);
  });

  it("names commands that package.json has", () => {
    const { scripts } = JSON.parse(readFileSync(join(projectFolder, "package.json"), "utf8")) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    const named = [...page.matchAll(/npm run ([\w:]+)/g)].map(([, name = ""]) => name);
    expect(named).toContain("smoke");
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });
});
