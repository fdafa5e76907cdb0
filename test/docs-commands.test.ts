import { globSync, readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { buildProgram } from "../src/cli/build-program.ts";
import { commandNodes, type CommandNode } from "../src/cli/completion/command-tree.ts";

const root = new URL("../", import.meta.url);
const silent = new PassThrough();
const io = { stdin: silent, stdout: silent, stderr: silent, signal: new AbortController().signal, term: "" };
const nodes = commandNodes(
  await buildProgram(
    () => true,
    io,
    () => undefined,
  ),
);
const nodeOf = (words: readonly string[]): CommandNode | undefined =>
  nodes.find((node) => node.words.join(" ") === words.join(" "));

/** Commands of Glovebox in the shell's blocks of a page, as far as a pipe, a comment or the program's own arguments. */
function commandLines(page: string): readonly string[] {
  const blocks = [...page.matchAll(/```(?:sh|console)\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
  return blocks
    .flatMap((text) => text.replaceAll("\\\n", " ").split("\n"))
    .flatMap((line) => [
      ...line.matchAll(
        /(?:^ *|\$ |[|;&(] *|[A-Z_]+=\S+ |sudo |npx )(?:\.\/bin\/)?glovebox ((?:'[^']*'|"[^"]*"|[^|;>#)\n])*)/g,
      ),
    ])
    .map(([, words = ""]) =>
      words
        .replace(/ -- .*/, "")
        .replace(/^(exec .*?(?:sbx-\S+|ID)) .*/, "$1")
        .trim(),
    );
}

/** What is wrong with a command line, in words; empty when there are such a command and such options. */
function problemsOf(line: string): readonly string[] {
  const words = line.match(/(?:'[^']*'|"[^"]*"|\S)+/g) ?? [];
  let node = nodeOf([]);
  const named: string[] = [];
  for (const word of words) if (nodeOf([...named, word]) !== undefined) named.push(word);
  node = nodeOf(named);
  if (named.length === 0 && words.some((word) => !word.startsWith("-"))) return [`${line}: no such command`];
  const parents = named.map((_, index) => nodeOf(named.slice(0, index)));
  const known = [node, ...parents].flatMap((each) => each?.options.flatMap(({ flags }) => flags.split(/[ ,]+/)) ?? []);
  return words
    .filter((word) => /^--?[a-z]/i.test(word))
    .map((word) => word.replace(/=.*/, ""))
    .filter((word) => ![...known, "--help", "-h"].includes(word))
    .map((word) => `${line}: no option ${word}`);
}

describe("commands in README and docs", () => {
  const pages = ["README.md", ...globSync("docs/*.md", { cwd: root })];
  it.each(pages)("of %s exist, with their options", (name) => {
    expect(commandLines(readFileSync(new URL(name, root), "utf8")).flatMap(problemsOf)).toEqual([]);
  });

  it("are found, and wrong ones are told", () => {
    const page =
      "```sh\nGLOVEBOX_URL=x glovebox run --speed 9 a.py -- --own\necho hi | glovebox paint | cat --all\n```";
    expect(commandLines(page).flatMap(problemsOf)).toEqual([
      "run --speed 9 a.py: no option --speed",
      "paint: no such command",
    ]);
    const all = pages.flatMap((each) => commandLines(readFileSync(new URL(each, root), "utf8")));
    expect(all.length).toBeGreaterThan(30);
  });
});
