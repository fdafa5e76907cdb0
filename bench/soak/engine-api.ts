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
}

/** Containers of an engine that the soak started, by id; `all`: also those that are not running. */
export async function containersOn(socketPath: string, all: boolean): Promise<readonly ListedContainer[]> {
  return (await askEngine(socketPath, "GET", `/containers/json?all=${all}`)) as readonly ListedContainer[];
}

/** Names of everything on it except images and its own networks. */
export async function leftOn(socketPath: string): Promise<readonly string[]> {
  const containers = await containersOn(socketPath, true);
  const { Volumes: volumes } = (await askEngine(socketPath, "GET", "/volumes")) as {
    readonly Volumes: readonly { readonly Name: string }[] | null;
  };
  return [
    ...containers.map(({ Id: id, Names: names }) => `container ${names[0] ?? id}`),
    ...(volumes ?? []).map(({ Name: name }) => `volume ${name}`),
  ];
}
