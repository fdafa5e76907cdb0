import { PassThrough } from "node:stream";
import { buildProgram } from "../../src/cli/process-io.ts";
import { commandNodes, type CommandNode } from "../../src/cli/completion-command.ts";
import { replaceMarked } from "../marked-section.ts";

const cell = (text: string): string => text.replaceAll("|", String.raw`\|`).replaceAll(/\s+/g, " ");

const row = (name: string, description: string): string => `| \`${cell(name)}\` | ${cell(description)} |`;

function section(node: CommandNode): string {
  const takes = node.arguments.map(({ text }) => ` ${text.toUpperCase()}`);
  const rows = [
    ...node.arguments.map(({ text, description }) => row(text.toUpperCase(), description)),
    ...node.options.map(({ flags, description }) => row(flags, description)),
  ];
  const table = rows.length === 0 ? [] : ["", "| takes | means |", "| --- | --- |", ...rows];
  const depth = node.words.length === 1 ? "###" : "####";
  return [`${depth} glovebox ${node.words.join(" ")}${takes.join("")}`, "", node.description, ...table].join("\n");
}

/** The page with every command, its arguments and its options, taken from the command line's own definitions. */
export async function withCliReference(page: string): Promise<string> {
  const silent = new PassThrough();
  const { signal } = new AbortController();
  const io = { stdin: silent, stdout: silent, stderr: silent, signal, term: "" };
  const program = await buildProgram(
    () => true,
    io,
    () => undefined,
  );
  const nodes = commandNodes(program).filter(({ words }) => words.length > 0);
  return replaceMarked(page, "commands", nodes.map(section).join("\n\n"));
}
