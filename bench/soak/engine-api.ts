import { request } from "node:http";

/** What an engine with Docker's API answers on its socket; null for an empty answer. @throws Error for a status above 299 */
export function askEngine(socketPath: string, method: string, path: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, method, path, timeout: 30_000 }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => void (text += chunk));
      response.on("end", () => {
        const status = response.statusCode ?? 0;
        if (status > 299) reject(new Error(`${method} ${path}: ${status} ${text}`));
        else resolve(text === "" ? null : JSON.parse(text));
      });
      response.on("error", reject);
    });
    asked.on("timeout", () => asked.destroy(new Error(`${method} ${path}: no answer`)));
    asked.on("error", reject).end();
  });
}

interface ListedContainer {
  readonly Id: string;
  readonly Names: readonly string[];
  readonly State: string;
}

/** Containers of an engine that the soak started, by id; `all`: also those that are not running. */
export async function containersOn(socketPath: string, all: boolean): Promise<readonly ListedContainer[]> {
  const listed = (await askEngine(socketPath, "GET", `/containers/json?all=${all}`)) as readonly ListedContainer[];
  const isThere = await Promise.all(listed.map((container) => isOnEngine(socketPath, container)));
  return listed.filter((_, index) => isThere[index]);
}

/** Docker, killed while containers end, can go on listing without a name what it has removed. */
async function isOnEngine(socketPath: string, { Id: id, Names: names }: ListedContainer): Promise<boolean> {
  if (names.length > 0) return true;
  const shown = await askEngine(socketPath, "GET", `/containers/${id}/json`).catch((error: unknown) => error);
  return !(shown instanceof Error && shown.message.includes(": 404 "));
}

/** What a report calls a container. */
export function describeContainer({ Id: id, Names: [name], State: state }: ListedContainer): string {
  return `container ${name ?? id} (${state})`;
}

/** The volume with the sandboxes' first program, which stays as images do (SPEC CL1); one that was not filled has another name. */
const lastingVolume = /^glovebox-supervisor-(?:x64|arm64)-[0-9a-f]{32}$/;

/** Names of everything on it except images, that volume and its own networks. */
export async function leftOn(socketPath: string): Promise<readonly string[]> {
  const containers = await containersOn(socketPath, true);
  const { Volumes: volumes } = (await askEngine(socketPath, "GET", "/volumes")) as {
    readonly Volumes: readonly { readonly Name: string }[] | null;
  };
  return [
    ...containers.map((container) => describeContainer(container)),
    ...(volumes ?? []).filter(({ Name: name }) => !lastingVolume.test(name)).map(({ Name: name }) => `volume ${name}`),
  ];
}
