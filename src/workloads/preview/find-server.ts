import { readdir } from "node:fs/promises";
import { invalidField } from "../../errors/glovebox-error.ts";
import { HostFolder } from "../../base/host-folder.ts";
import { onHost } from "../../sandbox/copy/on-host.ts";
import type { OpenPlace } from "../../sandbox/mounts/open-place.ts";
import { readManifest, readOwnText, scriptRunner, readProject } from "../project/read-project.ts";

/** What serves a project's page, and at which port as far as the project says. */
export interface FoundServer {
  readonly command: string;
  /** Why this command, as the end of a sentence; null: it was given. */
  readonly why: string | null;
  /** Null: nothing says it. */
  readonly port: number | null;
}

/** A command, and what in the project says so: "package.json has a script `dev`". */
type Choice = Pick<FoundServer, "command"> & { readonly why: string };

/** What the choice is made of. */
interface ProjectFacts {
  /** Names in the project's folder. */
  readonly names: readonly string[];
  /** `package.json`; empty where it is missing. */
  readonly manifest: string;
  /** Whether a folder of that name has an `index.html`. */
  readonly pages: readonly string[];
  /** The program that is most likely its server; null: there is none by such a name. */
  readonly program: { readonly name: string; readonly text: string } | null;
}

/** Scripts of `package.json` that serve a page, the one for development first. */
const scriptNames = ["dev", "start", "serve", "preview", "develop"];
const programNames = /^(?:app|main|server|wsgi|asgi|index|streamlit_app)\.(?:py|[cm]?[jt]s)$/;
const pageFolders = ["public", "site", "www"];

/**
 * The command that serves a project's page and its port: what was given, else what the project's own files say
 * (SPEC UI1). @throws INVALID_REQUEST that names what would be found
 */
export async function findServer(
  given: { readonly command: string | undefined },
  project: Pick<OpenPlace, "stablePath">,
  platform: NodeJS.Platform,
): Promise<FoundServer> {
  const { names, manifest } = await readProject(project, platform);
  const { scripts } = readManifest(manifest);
  const { command } = given;
  if (command !== undefined) return { command, why: null, port: serverPort(command, scripts) };
  await using folder = await HostFolder.of(project, platform);
  const facts = { names, manifest, pages: await pagesOf(folder, names), program: await programOf(folder, names) };
  const found = chooseServer(facts);
  if (found !== null) return { ...found, port: serverPort(found.command, scripts) };
  throw invalidField(
    "command",
    "a command, since nothing in the project says what serves its page (a script `dev`, `start`, `serve` or `preview` in package.json, a manage.py, an app.py or main.py of Flask, FastAPI or Streamlit, a server.js, or an index.html would)",
    undefined,
  );
}

/** Chooses by what the project says most clearly: its own script before a program by its name, and those before bare pages. */
function chooseServer(facts: ProjectFacts): Choice | null {
  return byManifest(facts) ?? byProgram(facts) ?? byPages(facts);
}

function byManifest({ manifest, names }: ProjectFacts): Choice | null {
  const { scripts } = readManifest(manifest);
  const name = scriptNames.find((each) => Object.hasOwn(scripts, each));
  if (name === undefined) return null;
  const script = scripts[name]?.slice(0, 200);
  return { command: `${scriptRunner(names)} ${name}`, why: `package.json has a script \`${name}\`: ${script}` };
}

/** Programs whose text says with what they serve; `{}` stands for the name without its ending. */
const programs: readonly { readonly words: RegExp; readonly command: string; readonly what: string }[] = [
  { words: /\bFlask\(/, command: "python3 -m flask --app {} run --debug", what: "is a program of Flask" },
  { words: /\bFastAPI\(/, command: "python3 -m uvicorn {}:app --reload", what: "is a program of FastAPI" },
  {
    words: /^(?:import|from) streamlit\b/m,
    command: "python3 -m streamlit run {}.py --server.headless true",
    what: "is a program of Streamlit",
  },
  {
    words: /\b(?:http\.server|socketserver|aiohttp|tornado|bottle|cherrypy|gradio|dash|nicegui|wsgiref)\b/,
    command: "python3 {}.py",
    what: "is a server",
  },
  { words: /\b(?:createServer|listen|serve)\s*\(/, command: "node {}", what: "is a server" },
];

function byProgram({ names, program }: ProjectFacts): Choice | null {
  if (names.includes("manage.py"))
    return { command: "python3 manage.py runserver", why: "there is a manage.py, which is Django's" };
  if (program === null) return null;
  const { name, text } = program;
  const isPython = name.endsWith(".py");
  const found = programs.find(({ words, command }) => isPython === command.startsWith("python3") && words.test(text));
  if (found === undefined) return null;
  const word = isPython ? name.slice(0, -".py".length) : name;
  return { command: found.command.replace("{}", word), why: `${name} ${found.what}` };
}

function byPages({ names, pages }: ProjectFacts): Choice | null {
  if (names.includes("index.html")) return { command: "python3 -m http.server", why: "there is an index.html" };
  const [folder] = pages;
  return folder === undefined
    ? null
    : { command: `python3 -m http.server --directory ${folder}`, why: `there is a ${folder}/index.html` };
}

async function programOf(folder: HostFolder, names: readonly string[]): Promise<ProjectFacts["program"]> {
  for (const name of names.filter((each) => programNames.test(each)).toSorted()) {
    const text = await readOwnText(folder, name);
    if (programs.some(({ words }) => words.test(text))) return { name, text };
  }
  return null;
}

async function pagesOf(folder: HostFolder, names: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const name of pageFolders.filter((each) => names.includes(each))) {
    const below = await folder.enter(name).catch(() => null);
    if (below === null) continue;
    await using opened = below;
    if ((await onHost(name, readdir(opened.self))).includes("index.html")) found.push(name);
  }
  return found;
}

/** How commands name their port, in the order in which they count. */
const named: readonly RegExp[] = [
  /(?:^|\s)--(?:[\w-]+[.-])?port[ =](\d{1,5})\b/,
  /(?:^|\s)-p[ =]?(\d{1,5})\b/,
  /(?:^|\s)PORT=(\d{1,5})\b/,
  /\b(?:http\.server|runserver)\s+(?:[\w.[\]:]+:)?(\d{1,5})\b/,
  /(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):(\d{1,5})\b/,
];

/** Where tools listen unless told otherwise; the first that is named counts. */
const tools: readonly (readonly [words: RegExp, port: number])[] = [
  [/\bvite\s+preview\b/, 4173],
  [/\b(?:vite|vinxi|react-router\s+dev|svelte-kit)\b/, 5173],
  [/\bastro\b/, 4321],
  [/\bng\s+serve\b/, 4200],
  [/\bparcel\b/, 1234],
  [/\bstorybook\b/, 6006],
  [/\bwrangler\b/, 8787],
  [/\bstreamlit\b/, 8501],
  [/\bflask\b/, 5000],
  [/\bhugo\b/, 1313],
  [/\b(?:jekyll|bridgetown)\b/, 4000],
  [/\b(?:webpack|webpack-dev-server|rspack|rsbuild|vue-cli-service|eleventy|http-server|live-server)\b/, 8080],
  [/\b(?:http\.server|runserver|uvicorn|fastapi|gunicorn|hypercorn|mkdocs|gatsby|sphinx-autobuild)\b/, 8000],
];

/** A package manager that runs a script, with its name. */
const scriptCall = /\b(?:npm|pnpm|yarn|bun)\s+(?:run(?:-script)?\s+)?([\w:.-]{1,100})/;

/**
 * The TCP port at which a command listens, as far as its own words or those of the script that it runs say; null: nothing
 * says it. A guess: the command may listen elsewhere all the same.
 *
 * @param scripts of `package.json`
 */
export function serverPort(command: string, scripts: Readonly<Record<string, string>>): number | null {
  const name = scriptCall.exec(command)?.[1];
  const script = name !== undefined && Object.hasOwn(scripts, name) ? (scripts[name] ?? "") : "";
  const lines = [command, script];
  const told = lines.flatMap((line) => named.map((words) => Number(words.exec(line)?.[1])));
  const port = told.find((each) => each >= 1 && each <= 65_535);
  if (port !== undefined) return port;
  for (const line of lines) {
    const tool = tools.find(([words]) => words.test(line));
    if (tool !== undefined) return tool[1];
  }
  return null;
}
