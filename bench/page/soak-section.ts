import { maxGrowth, type AfterKill, type SoakReport } from "../soak/soak-report.ts";

/** What the soak found, as a section of a page. */
export function soakSection(report: SoakReport): string {
  const { minutes, date, machine, versions, ends, slow = [], faults, leftOut, resources, afterKill, problems } = report;
  const requests = Object.values(ends).flatMap((each) => Object.values(each));
  const named = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const hows = [...new Set(Object.values(ends).flatMap((each) => Object.keys(each)))].toSorted((a, b) =>
    a.localeCompare(b),
  );
  return [
    `${date}, ${minutes} minutes of work: ${requests.reduce((sum, count) => sum + count, 0)} requests.`,
    `${machine.system}; ${machine.processor}, ${machine.cores} cores, ${machine.memoryGb} GB; ${named.join(", ")}.`,
    "",
    problems.length === 0 ? "All of it held." : "What did not hold:",
    ...(problems.length === 0 ? [] : ["", ...problems.map((problem) => `- ${problem}`)]),
    "",
    table(
      ["server", "MB after the warm-up", "MB at the end", "descriptors after the warm-up", "descriptors at the end"],
      resources.map(({ server, before, after }) => [
        server,
        ...[before.residentMb, after.residentMb, before.descriptors, after.descriptors].map(String),
      ]),
    ),
    "",
    `They may grow by ${maxGrowth * 100} %.`,
    "",
    ...(afterKill === undefined ? [] : [afterKillText(afterKill), ""]),
    ...(slow.length === 0 ? [] : ["Answers that took over a minute:", "", ...slow.map((each) => `- ${each}`), ""]),
    table(
      ["fault", "times"],
      Object.entries(faults).map(([name, times]) => [name, String(times)]),
    ),
    ...Object.entries(leftOut).map(([name, reason]) => `\nLeft out: ${name}: ${reason}.`),
    "",
    table(
      ["requests", ...hows],
      Object.entries(ends).map(([kind, each]) => [kind, ...hows.map((how) => String(each[how] ?? ""))]),
    ),
  ].join("\n");
}

function afterKillText({ programsMs, objectsMs }: AfterKill): string {
  const [programs, objects] = [programsMs, objectsMs].map((each) =>
    each === null ? "not within the time they have" : `after ${(each / 1_000).toFixed(1)} s`,
  );
  return `All servers killed with -9 while they worked: their last program ended ${programs}, and nothing was left ${objects} from their next start.`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map((_, index) => (index === 0 ? "---" : "---:")), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}
