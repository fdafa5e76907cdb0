import type { GuaranteeGroup } from "../../test/engine-contract/guarantees.ts";
import type { Subject } from "../../test/engine-contract/subject.ts";
import { cellOf, type Behaviours } from "./cell.ts";

export interface EngineTable {
  readonly groups: readonly GuaranteeGroup[];
  /** Each has one column. */
  readonly subjects: readonly Subject[];
  readonly behaviours: Behaviours;
}

/** What each engine guarantees, in Markdown: a table for each group, and footnotes. */
export function renderEngineTable({ groups, subjects, behaviours }: EngineTable): string {
  const notes: string[] = [];
  const numbered = (reason: string): number => {
    if (!notes.includes(reason)) notes.push(reason);
    return notes.indexOf(reason) + 1;
  };
  const tables = groups.map(({ title, rows }) => {
    const lines = rows.map((row) => {
      const cells = subjects.map((subject) => {
        const { word, reasons } = cellOf(row, subject, behaviours);
        const numbers = reasons.map(numbered).toSorted((a, b) => a - b);
        return numbers.length === 0 ? word : `${word} (${numbers.join(", ")})`;
      });
      return tableLine([row.title, ...cells]);
    });
    const head = [title, ...subjects.map(({ name }) => `\`${name}\``)];
    return [tableLine(head), tableLine(head.map(() => "---")), ...lines].join("\n");
  });
  return [...tables, notes.map((note, index) => `${index + 1}. ${note}`).join("\n")].join("\n\n");
}

function tableLine(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}
