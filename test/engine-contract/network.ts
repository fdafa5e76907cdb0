import { createServer, createConnection, type Server } from "node:net";
import { networkInterfaces } from "node:os";
import { once } from "node:events";
import { expect } from "vitest";
import { createId } from "../../src/base/id.ts";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import type { Topic } from "./behaviour.ts";

async function listening(address: { port: number; host: string } | { path: string }): Promise<Server> {
  const server = createServer((socket) => socket.end());
  server.listen(address);
  await once(server, "listening");
  return server;
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return address.port;
}

function hostAddresses(): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.filter(({ family }) => family === "IPv4").map(({ address }) => address);
}

/** A container has no network. */
export const network: Topic = (behaviour) => {
  behaviour(
    "network.interfaces",
    "there is no interface but loopback, and no route",
    async (scene) => {
      const container = await scene.idle();
      const { stdout } = await scene.run(container, [
        "sh",
        "-c",
        "tail -n +3 /proc/net/dev | cut -d: -f1; echo; tail -n +2 /proc/net/route",
      ]);
      expect(stdout.toString().replaceAll(" ", "").trim()).toBe("lo");
    },
    { capability: "noNetwork" },
  );

  behaviour(
    "network.unreachable",
    "no address and no name can be reached, the host's own least of all",
    async (scene) => {
      const abstractName = createId("glovebox-contract");
      const tcp = await listening({ port: 0, host: "0.0.0.0" });
      const abstract = await listening({ path: `\0${abstractName}` });
      try {
        const port = portOf(tcp);
        await once(createConnection({ host: "127.0.0.1", port }), "connect");
        await once(createConnection({ path: `\0${abstractName}` }), "connect");
        const ways = [
          ...hostAddresses().map((address) => `tcp:${address}:${port}`),
          "tcp:192.0.2.1:80",
          "dns:example.com",
          `abstract:${abstractName}`,
        ];
        const container = await scene.idle({ image: scene.subject.images.python });
        const { stdout } = await scene.run(container, fixtureProgram("reaches-out.py", ...ways));
        const results = JSON.parse(stdout.toString()) as Readonly<Record<string, string>>;
        expect(Object.keys(results)).toEqual(ways);
        expect(ways.filter((way) => results[way] === "reached")).toEqual([]);
        expect(results["tcp:192.0.2.1:80"]).toContain(
          scene.subject.ownKernel === true ? "No route to host" : "unreachable",
        );
      } finally {
        tcp.close();
        abstract.close();
      }
    },
    { capability: "noNetwork" },
  );
};
