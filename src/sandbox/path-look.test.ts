import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { whileSwapping } from "../../test/helpers/swapping.ts";
import { openPlace } from "./mounts/open-place.ts";
import { PathLook } from "./path-look.ts";

it.runIf(process.platform === "linux")(
  "reads nothing outside while a program exchanges a folder with a link",
  async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "glovebox-look-"));
    const at = (name: string): string => path.join(folder, name);
    mkdirSync(at("outside/hooks"), { recursive: true });
    mkdirSync(at("project/tools/hooks"), { recursive: true });
    writeFileSync(at("outside/hooks/secret"), "of the host");
    writeFileSync(at("project/tools/hooks/secret"), "harmless");
    writeFileSync(at("outside/hooks/only-outside"), "");
    symlinkSync(at("outside"), at("project/evil"));
    const place = await openPlace(at("project"), process.platform);
    if (place === null) throw new Error("The project was not opened.");
    const seen = new Set<string>();
    try {
      await whileSwapping(at("project/tools"), at("project/evil"), async () => {
        for (let turn = 0; turn < 150; turn += 1) {
          const look = await PathLook.open(place, process.platform);
          await look.note("tools/hooks");
          seen.add(Buffer.from((await look.read("tools/hooks/secret", 100)) ?? []).toString());
          for (const name of [...look.snapshot.keys(), ...(await look.names("tools/hooks"))]) seen.add(name);
          await look.close();
        }
      });
    } finally {
      await place[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true });
    }
    expect(seen).toContain("harmless");
    expect(seen).not.toContain("of the host");
    expect([...seen].filter((each) => each.includes("only-outside"))).toEqual([]);
  },
);

it.runIf(process.platform === "linux")(
  "says of names that are no UTF-8 that the look is not whole, and looks at what stands beside them",
  async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "glovebox-look-"));
    mkdirSync(path.join(folder, "hooks/z"), { recursive: true });
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/hooks/`), Buffer.from([0xff])]), "");
    writeFileSync(path.join(folder, "hooks/z/in"), "");
    const look = await PathLook.open({ stablePath: folder }, process.platform);
    try {
      await look.note("hooks");
      expect([...look.snapshot.keys()].toSorted()).toEqual(["hooks", "hooks/z", "hooks/z/in", "hooks/\ufffd"]);
      expect(look.gaps).toEqual(["unreadable"]);
    } finally {
      await look.close();
      rmSync(folder, { recursive: true });
    }
  },
);

it.runIf(process.platform === "linux")("notes of a folder that is too deep only itself, and says so", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "glovebox-look-"));
  mkdirSync(path.join(folder, "hooks", ...Array.from({ length: 20 }, () => "d")), { recursive: true });
  const look = await PathLook.open({ stablePath: folder }, process.platform);
  try {
    await look.note("hooks");
    expect(look.snapshot.size).toBe(17);
    expect(look.snapshot.get(["hooks", ...Array.from({ length: 16 }, () => "d")].join("/"))).toMatch(/^\d+ \d+$/);
    expect(look.gaps).toEqual(["many"]);
  } finally {
    await look.close();
    rmSync(folder, { recursive: true });
  }
});
