import { lookup, Resolver } from "node:dns/promises";

/** All addresses of a name, of both families; empty when it has none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

const answerMs = 5_000;
const nothing = new Set(["ENOTFOUND", "ENODATA", "EAI_NODATA", "EAI_NONAME"]);

/**
 * Resolves with the host's own means, or only at the given servers (`address` or `address:port`). The result rejects
 * when nobody answers.
 */
export function createResolver(servers: readonly string[]): Resolve {
  if (servers.length === 0) {
    return (name) => emptyWhenUnknown(lookup(name, { all: true }).then((found) => found.map(({ address }) => address)));
  }
  const resolver = new Resolver({ timeout: answerMs, tries: 2 });
  resolver.setServers(servers);
  return async (name) => {
    const answers = await Promise.allSettled([
      emptyWhenUnknown(resolver.resolve4(name)),
      emptyWhenUnknown(resolver.resolve6(name)),
    ]);
    const found = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    const failed = answers.find((answer) => answer.status === "rejected");
    if (found.length === 0 && failed !== undefined) throw failed.reason;
    return found;
  };
}

async function emptyWhenUnknown(asked: Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return await asked;
  } catch (error) {
    if (nothing.has((error as NodeJS.ErrnoException).code ?? "")) return [];
    throw error;
  }
}
