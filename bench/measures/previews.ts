import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createGlovebox, type Glovebox } from "../../src/index.ts";
import { byHand, hostInterpreters, runFile } from "../parts/baselines.ts";
import { byHandColumns, projectOf, rowsByHand } from "../parts/by-hand.ts";
import { timeInTurn, type Subject } from "../parts/in-turn.ts";
import type { Measure } from "../parts/report.ts";
import { projectRows } from "./row-names.ts";

const server = 'require("node:http").createServer((q, s) => s.end("page")).listen(process.env.PORT ?? 3000);';
const waitSeconds = 60;

/** A project's page. */
export const previewsMeasure: Measure = {
  name: "previews",
  title: "The first byte of a preview",
  how: "From the request for a preview to the first byte of its page, compared with the same server started by hand on the same engine and the same project: in a container of the same image, or in bubblewrap with this machine's network. Ending it is not counted.",
  ...byHandColumns,
  take: async ({ isQuick, engines, images }) => {
    await using stack = new AsyncDisposableStack();
    const project = projectOf("server.js", server, stack);
    const glovebox = stack.use(await createGlovebox({ workingDirectory: project }));
    const image = images.javascript;
    const subjects = [
      ...engines.map((engine) =>
        started(projectRows.byHand(engine), () =>
          engine === "local" ? startInBubblewrap(project) : startContainer(engine, project, image),
        ),
      ),
      ...engines.map((engine) =>
        started(projectRows.glovebox(engine), () => startPreview(glovebox, project, engine, image)),
      ),
    ];
    const { timesMs, leftOut } = await timeInTurn(subjects, isQuick ? 2 : 15);
    return { rows: rowsByHand(timesMs, engines), leftOut };
  },
};

interface Page {
  readonly url: string;
  readonly end: () => Promise<unknown>;
}

/** Times the start until the page has answered. */
function started(name: string, start: () => Promise<Page>): Subject {
  let end: (() => Promise<unknown>) | undefined;
  return {
    name,
    run: async () => {
      const page = await start();
      end = page.end;
      await untilAnswer(page.url);
    },
    end: async () => end?.(),
  };
}

async function startContainer(engine: string, project: string, image: string): Promise<Page> {
  const mount = ["--volume", `${project}:/project:ro`, "--workdir", "/project"];
  const { stdout } = await runFile(engine, [
    ...["run", "--detach", "--publish", "127.0.0.1::3000", ...mount, image, "node", "server.js"],
  ]);
  const id = stdout.trim();
  const { stdout: address } = await runFile(engine, ["port", id, "3000"]);
  return { url: `http://${address.trim().split("\n")[0]}/`, end: () => runFile(engine, ["rm", "--force", id]) };
}

async function startInBubblewrap(project: string): Promise<Page> {
  const port = await freePort();
  const { node } = await hostInterpreters();
  const [file = "", ...argv] = byHand("local", "", [node, "server.js"], { project, hasNetwork: true });
  const child = spawn(file, argv, { env: { ...process.env, PORT: String(port) }, stdio: "ignore" });
  const closed = once(child, "close");
  return { url: `http://127.0.0.1:${port}/`, end: () => (child.kill("SIGKILL"), closed) };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}

async function startPreview(glovebox: Glovebox, project: string, engine: string, image: string): Promise<Page> {
  const preview = await glovebox.previews.start({
    ...{ projectPath: project, command: "node server.js", engine, waitSeconds },
    ...(engine === "local" ? {} : { image }),
  });
  return { url: preview.details?.directUrl ?? "", end: () => preview.close() };
}

async function untilAnswer(url: string): Promise<void> {
  for (const until = performance.now() + waitSeconds * 1_000; performance.now() < until; await sleep(5)) {
    const answer = await fetch(url).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.ok === true) return;
  }
  throw new Error("The page does not answer.");
}
