import path from "node:path";
import { existsSync, globSync, readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { buildProgram } from "../src/cli/process-io.ts";
import { commandNodes, type CommandNode } from "../src/cli/completion-command.ts";

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

/** Glovebox commands in a page's shell blocks, up to a pipe, a comment or the program's own arguments. */
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

/** What is wrong with a command line, in words; empty if the command and its options exist. */
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

const pages = ["README.md", ...globSync("docs/*.md", { cwd: root })];

describe("commands in README and docs", () => {
  it.each(pages)("of %s exist, with their options", (name) => {
    expect(commandLines(readFileSync(new URL(name, root), "utf8")).flatMap(problemsOf)).toEqual([]);
  });

  it("are found, and wrong ones reported", () => {
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

/** The anchors that GitHub gives to a page's headings. */
function anchorsOf(page: string): readonly string[] {
  const headings = page.replaceAll(/```[\s\S]*?```/g, "").matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, text = ""]) =>
    text
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** The links of a page, given by its path in the repository, that lead to no file or to no heading. */
function brokenLinks(name: string, page: string): readonly string[] {
  const links = [...page.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = ""]) => link);
  return links.filter((link) => {
    const [file = "", anchor] = link.split("#");
    const target = file === "" ? name : path.posix.join(path.posix.dirname(name), file);
    if (!existsSync(new URL(target, root))) return true;
    return anchor !== undefined && !anchorsOf(readFileSync(new URL(target, root), "utf8")).includes(anchor);
  });
}

describe("links in README and docs", () => {
  it.each(pages)("of %s lead to files and headings that exist", (name) => {
    expect(brokenLinks(name, readFileSync(new URL(name, root), "utf8"))).toEqual([]);
  });

  it("are found, and broken ones reported", () => {
    const page = "[a](cli.md#completion) [b](cli.md#nowhere) [c](nothing.md) [d](https://example.com/#x)";
    expect(brokenLinks("docs/errors.md", page)).toEqual(["cli.md#nowhere", "nothing.md"]);
  });
});
