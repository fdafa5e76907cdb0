import { replaceMarked } from "../../scripts/marked-section.ts";
import { measures } from "../measures/table.ts";
import { figure } from "../parts/print.ts";
import type { BenchReport, Circumstances, Measured } from "../parts/report.ts";
import type { SoakReport } from "../soak/soak-report.ts";
import { plotOf } from "./plot.ts";
import { soakSection } from "./soak-section.ts";
import { isMet, targets, type Target } from "./targets.ts";

/** Sections about soaks, which are also the names of their results. */
type SoakSection = "soak" | "soak-kubernetes";

/** The page with the parts between its markers regenerated from the reports. */
export function withReports(
  text: string,
  report: BenchReport,
  soaks: Readonly<Record<SoakSection, SoakReport>>,
): string {
  const sections = {
    machine: machineText(report),
    targets: targetTable(report),
    measures: measureTexts(report),
    soak: soakSection(soaks.soak),
    "soak-kubernetes": soakSection(soaks["soak-kubernetes"]),
  };
  return Object.entries(sections).reduce((page, [name, body]) => replaceMarked(page, name, body), text);
}

/** Plots by the names of their files in docs/performance. */
export function plotsOf(report: BenchReport): ReadonlyMap<string, string> {
  return new Map(
    report.measures.flatMap((measured) => {
      const plot = plotOf(measured);
      return plot === null ? [] : [[`${measured.name}.svg`, plot] as const];
    }),
  );
}

/** Whether these figures were taken when the measure was taken in another way than it is now. */
export function isOutdated({ name, how }: Pick<Measured, "name" | "how">): boolean {
  return measures.find((measure) => measure.name === name)?.how !== how;
}

const outdatedNote =
  "**Taken before the way of measuring was corrected**: these figures are not those that the targets are about, and will be replaced by the next run.";

function machineText({ form, date, machine, versions }: BenchReport): string {
  const { system, processor, cores, memoryGb } = machine;
  const named = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [
    `Measured on ${date} in the ${form} form: ${system}; ${processor}, ${cores} cores, ${memoryGb} GB; ${named.join(", ")}.`,
    ...(form === "quick" ? ["The quick form takes only a few rounds: its figures are rough."] : []),
  ].join("\n");
}

function targetTable(report: BenchReport): string {
  const rows = targets.map((target) => {
    const met = isMet(target, report);
    const measured = target.measured(report);
    const cells = [
      target.what,
      wantedText(target),
      measured === null ? "–" : `${figure(measured, { digits: measured < 10 ? 2 : 0 })} ${target.unit}`,
      met === null ? "not measured" : met ? "met" : "missed",
    ];
    return `| ${cells.join(" | ")} |`;
  });
  return ["| target | wanted | measured | |", "| --- | --- | --- | --- |", ...rows].join("\n");
}

function wantedText({ wanted, unit }: Target): string {
  return "max" in wanted ? `at most ${wanted.max} ${unit}` : `at least ${wanted.min} ${unit}`;
}

function measureTexts({ measures }: BenchReport): string {
  return measures.map(measureText).join("\n\n");
}

function apartText({ date, machine: { processor, cores }, load }: Circumstances): string {
  const busy = load > cores ? `, beside other work: ${load} processes wanted its processors when it began` : "";
  return `Taken by itself, on ${date}: ${processor}, ${cores} cores${busy}.`;
}

function measureText(measured: Measured): string {
  const { name, title, how, columns, rows, leftOut, apart } = measured;
  const lines = [`### ${title}`, "", how, ""];
  if (isOutdated(measured)) lines.push(outdatedNote, "");
  if (apart !== undefined) lines.push(apartText(apart), "");
  if (plotOf(measured) !== null) lines.push(`![${title}](performance/${name}.svg)`, "");
  if (rows.length > 0) {
    lines.push(
      `| | ${columns.map((column) => column.title).join(" | ")} |`,
      `| --- |${" ---: |".repeat(columns.length)}`,
      ...rows.map(
        (row) => `| ${row.name} | ${columns.map((column) => figure(row.values[column.key], column)).join(" | ")} |`,
      ),
      "",
    );
  }
  lines.push(...leftOut.map((each) => `Left out: ${each.name}: ${each.reason}`));
  return lines.join("\n").trimEnd();
}
