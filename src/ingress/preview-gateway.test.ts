import { expect, it } from "vitest";
import { PreviewGateway, type PreviewDomain } from "./preview-gateway.ts";

const target = { port: 3000, connect: () => Promise.reject(new Error("none")), isStarting: () => true };

async function addressesOf(
  domain: PreviewDomain | null,
  place: Parameters<PreviewGateway["servedAt"]>[0] | null,
): Promise<readonly (string | null)[]> {
  const gateway = new PreviewGateway({ domain, backend: null });
  if (place !== null) gateway.servedAt(place);
  const opened = await gateway.open(target);
  const token = /\/\/(.{32})\./.exec(opened.url)?.[1] ?? "";
  opened.close();
  return [opened.url, opened.directUrl].map(
    (url) => url?.replace(token, "TOKEN").replace(/:\d{5}\//, ":PORT/") ?? null,
  );
}

it("a preview is reached by its name at the server's port, below the operator's domain, or at a port of its own", async () => {
  const local = { port: 8420, isLoopback: true };
  const open = { port: 8420, isLoopback: false };
  const domain = { scheme: "https", name: "preview.example", port: null } as const;
  const direct = "http://127.0.0.1:PORT/";
  expect(await addressesOf(null, null)).toEqual(["http://TOKEN.localhost:PORT/", direct]);
  expect(await addressesOf(null, local)).toEqual(["http://TOKEN.localhost:8420/", direct]);
  expect(await addressesOf(null, open)).toEqual(["http://TOKEN.localhost:8420/", null]);
  expect(await addressesOf(domain, open)).toEqual(["https://TOKEN.preview.example/", null]);
  expect(await addressesOf({ ...domain, port: 8443 }, open)).toEqual(["https://TOKEN.preview.example:8443/", null]);
  expect(await addressesOf({ ...domain, scheme: "http" }, open)).toEqual(["http://TOKEN.preview.example:8420/", null]);
  // Without a server nobody leads the domain here.
  expect(await addressesOf(domain, null)).toEqual(["http://TOKEN.localhost:PORT/", direct]);
});
