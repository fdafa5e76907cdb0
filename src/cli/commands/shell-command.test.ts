import { expect, it } from "vitest";
import { shellGreeting, type ShellPlace } from "./shell-command.ts";

const limits = { cpus: 2, memory_mb: 2048, pids: 512 };
const place: ShellPlace = {
  ...{ engine: "docker", image: "python:3.14", network: "none", limits, folder: "/workdir", project: null },
};

it("says what a shell runs in, and that nothing of it stays", () => {
  expect(shellGreeting(place).split("\n")).toEqual([
    "glovebox: image python:3.14 on docker, network none, at most 2 CPUs, 2048 MB of memory, 512 processes",
    "glovebox: All files, also those in /workdir, are removed when this shell ends (`glovebox cp` takes some out); exit or Ctrl-D ends it.",
    "",
  ]);
});

it.each([
  [{ image: null, engine: "local" }, "no image on local"],
  [{ network: ["a.example", "b.example"] }, "network a.example, b.example"],
  [{ limits: { ...limits, cpus: 1 } }, "at most 1 CPU,"],
  [
    { project: { path: ".", readOnly: false } },
    "/workdir is . of this machine, and keeps what you write there; everything",
  ],
  [{ project: { path: "a\u001b[2J", readOnly: true } }, "a\\x1b[2J of this machine, and cannot be changed"],
])("says of %j: %s", (change, words) => expect(shellGreeting({ ...place, ...change })).toContain(words));
