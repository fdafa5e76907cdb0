import { expect, it } from "vitest";
import type { PackageSetRow } from "../../operations/packages-contract.ts";
import { packageTable } from "./machine-commands.ts";

const set: PackageSetRow = {
  id: "1",
  requested: ["requests", "idna==3.10"],
  packages: ["idna==3.10", "requests==2.32.0", "requests-oauthlib==2.0.0"],
  ecosystem: "python",
  installed_by: "pip",
  platform: "cpython-312",
  engine: "docker",
  image: `sha256:${"a1".repeat(32)}`,
  principal: null,
  size_mb: 1.5,
  created_at: "2026-11-27T08:00:00.000Z",
  last_used_at: "2026-11-27T09:30:00.000Z",
  in_use: false,
};

it("tells sets of the same packages apart", () => {
  const sets = [
    set,
    { ...set, image: `sha256:${"b2".repeat(32)}` },
    { ...set, engine: "local", image: `host:${"c3".repeat(32)}` },
    { ...set, principal: "local" },
    { ...set, principal: "key:ann1" },
    { ...set, installed_by: "project/npm", requested: ["package-lock.json", `sha256:${"d4".repeat(32)}`] },
  ];
  const lines = packageTable(sets).trimEnd().split("\n");
  expect(lines.map((line) => line.replaceAll(/ {2,}/g, " | "))).toEqual([
    "PACKAGES | BY | FOR | INSTALLED ON | OWNER | SIZE | LAST USED | IN USE",
    "requests==2.32.0 idna==3.10 | pip | cpython-312 | docker a1a1a1a1a1a1 | all | 1.5 MB | 2026-11-27 09:30 | no",
    "requests==2.32.0 idna==3.10 | pip | cpython-312 | docker b2b2b2b2b2b2 | all | 1.5 MB | 2026-11-27 09:30 | no",
    "requests==2.32.0 idna==3.10 | pip | cpython-312 | local host c3c3c3c3c3c3 | all | 1.5 MB | 2026-11-27 09:30 | no",
    "requests==2.32.0 idna==3.10 | pip | cpython-312 | docker a1a1a1a1a1a1 | you | 1.5 MB | 2026-11-27 09:30 | no",
    "requests==2.32.0 idna==3.10 | pip | cpython-312 | docker a1a1a1a1a1a1 | key ann1 | 1.5 MB | 2026-11-27 09:30 | no",
    "package-lock.json sha256:d4d4d4d4d4d4 | project/npm | cpython-312 | docker a1a1a1a1a1a1 | all | 1.5 MB | 2026-11-27 09:30 | no",
  ]);
});
