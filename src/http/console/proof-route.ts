import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { nonceForm, serverProof } from "../../base/http/server-proof.ts";
import { invalidField } from "../../errors/glovebox-error.ts";

/**
 * `/console/proof/{nonce}`: proves that this server knows the user's token, to `glovebox console`, which sends the
 * token to no other. The token has 256 random bits, so it cannot be derived from proofs. Null: the server requires
 * none.
 */
export function addProofRoute(app: FastifyInstance, token: string | null): void {
  app.get<{ Params: { nonce: string } }>("/console/proof/:nonce", { config: { isOpen: true } }, (request, reply) => {
    const { nonce } = request.params;
    if (!nonceForm.test(nonce)) throw invalidField("nonce", "64 hexadecimal digits", nonce);
    const { port } = app.server.address() as AddressInfo;
    return reply.send({ proof: token === null ? null : serverProof(token, { nonce, port }) });
  });
}
