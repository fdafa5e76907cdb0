import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cellOf, type Behaviours } from "../scripts/engine-table/cell.ts";
import { withEngineTable } from "../scripts/engine-table/document.ts";
import { appleSubject } from "./engine-contract/apple-subject.ts";
import { collectBehaviours } from "./engine-contract/collect-behaviours.ts";
import { behavioursOf, guaranteeGroups } from "./engine-contract/guarantees.ts";
import { preloadSubject } from "./engine-contract/preload-subject.ts";
import type { Subject } from "./engine-contract/subject.ts";
import { subjects } from "./engine-contract/subjects.ts";
import { projectFolder } from "./helpers/project-folder.ts";

const behaviours = collectBehaviours();
const rows = guaranteeGroups.flatMap((group) => group.rows);

describe("the tables of docs/engines.md", () => {
  it("are as the contract suite has them", () => {
    const text = readFileSync(join(projectFolder, "docs", "engines.md"), "utf8");
    expect(text, "stale: run node scripts/write-engine-table.ts").toBe(withEngineTable(text));
  });

  it("have each behaviour of the suite in exactly one row", () => {
    expect(behaviours.size).toBeGreaterThan(100);
    const inRows = rows.flatMap((row) => ("capability" in row ? [] : behavioursOf(row, behaviours.keys())));
    expect(inRows.toSorted()).toEqual([...behaviours.keys()].toSorted());
  });

  it("name tests that exist for what is only declared", () => {
    const tests = rows.flatMap((row) => ("capability" in row ? [row.test] : []));
    expect(tests.length).toBeGreaterThan(0);
    expect(tests.filter((path) => !existsSync(join(projectFolder, path)))).toEqual([]);
  });

  it.each([...Object.values(subjects), appleSubject, preloadSubject])(
    "has no unneeded exception for $name",
    (subject) => {
      const unasked = Object.keys(subject.exceptions).filter((id) => {
        const cell = cellOf({ title: "", behaviours: [id] }, { ...(subject as Subject), exceptions: {} }, behaviours);
        return cell.word !== "yes";
      });
      expect(unasked).toEqual([]);
    },
  );
});

describe("cellOf", () => {
  const able = subjects.docker as Subject;
  const small: Behaviours = new Map([
    ["a.plain", {}],
    ["a.limit", { capability: "pidsLimit" }],
    ["a.user", { capability: "execUser" }],
    ["a.socket", { subject: "makeAt" }],
  ]);
  const word = (ids: readonly string[], change: Partial<Subject>, declared: Partial<Subject["mustDeclare"]> = {}) =>
    cellOf(
      { title: "", behaviours: ids },
      { ...able, ...change, mustDeclare: { ...able.mustDeclare, ...declared } },
      small,
    );
  const excepted = (...ids: readonly string[]): Partial<Subject> => ({
    exceptions: Object.fromEntries(ids.map((id) => [id, "some reason"])),
  });
  const why = "Some reason.";
  const noSocket = "It is part of Glovebox itself and has no socket.";

  it.each([
    ["all hold", ["a.*"], {}, {}, "yes", []],
    ["some are not asked", ["a.plain", "a.user"], {}, { execUser: false }, "yes", []],
    ["none is asked", ["a.user"], {}, { execUser: false }, "–", ["All its programs run as the same user."]],
    ["there is no socket", ["a.socket"], { makeAt: undefined }, {}, "–", [noSocket]],
    ["one does not hold", ["a.plain", "a.user"], excepted("a.plain"), {}, "in part", [why]],
    ["none holds", ["a.plain"], excepted("a.plain"), {}, "no", [why]],
    ["none holds of what it claims", ["a.limit"], excepted("a.limit"), {}, "in part", [why]],
    ["a substitute holds", ["a.limit"], {}, { pidsLimit: { substitute: "x" } }, "yes", ["Instead: x."]],
    [
      "a substitute does not",
      ["a.limit"],
      excepted("a.limit"),
      { pidsLimit: { substitute: "x" } },
      "substitute",
      ["Instead: x.", why],
    ],
  ] as const)("when %s", (_, ids, change, declared, expected, reasons) => {
    expect(word(ids, change as Partial<Subject>, declared)).toEqual({ word: expected, reasons });
  });

  it("notes exceptions that are not run, and what cannot be enforced", () => {
    const untried = { ...excepted("a.plain"), untried: { "a.plain": "it harms" } };
    expect(word(["a.plain"], untried).reasons).toEqual(["Some reason.", "Not run by the suite: it harms."]);
    const seccomp: Behaviours = new Map([["s", { capability: "seccomp" }]]);
    const without = { ...able, mustDeclare: { ...able.mustDeclare, seccomp: "no" } } as const;
    expect(cellOf({ title: "", behaviours: ["s"] }, without, seccomp).word).toBe("no");
  });

  it("refuses rows of unknown behaviours, and missing abilities without an explanation", () => {
    expect(() => word(["b.*"], {})).toThrow(/b\.\*/);
    expect(() => word(["a.limit"], {}, { pidsLimit: "no" })).toThrow(/pidsLimit/);
  });
});
