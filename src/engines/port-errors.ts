import { GloveboxError } from "../errors/glovebox-error.ts";

const highestPort = 65_535;

/** @throws INVALID_REQUEST for what is no port to connect to */
export function assertPort(port: number): void {
  if (Number.isInteger(port) && port >= 1 && port <= highestPort) return;
  throw new GloveboxError("INVALID_REQUEST", `Expected a port from 1 to ${highestPort}, got ${port}.`, {
    suggestion: "Give the port that the server in the sandbox listens on.",
    context: { field: "port" },
  });
}

/** Nobody in the sandbox listens on the port. */
export function nothingListens(port: number): GloveboxError {
  return new GloveboxError("NETWORK_ERROR", `Nothing in the sandbox listens on port ${port}.`, {
    suggestion:
      "Start the server first, check its port, and let it listen on localhost or on all addresses; then retry.",
    context: { port, reason: "refused" },
  });
}

/** A program listens where Glovebox is to. */
export function portTaken(port: number): GloveboxError {
  return new GloveboxError(
    "NETWORK_ERROR",
    `Port ${port} of the sandbox, by which its programs reach the network, is taken.`,
    {
      suggestion: "End the program in the sandbox that listens there, or let it take another port; then retry.",
      context: { port, reason: "port_taken" },
    },
  );
}

/** The way into the sandbox ended before the connection was made. */
export function connectionLost(port: number): GloveboxError {
  return new GloveboxError("NETWORK_ERROR", `The connection to port ${port} of the sandbox was lost.`, {
    suggestion: "Retry; if it happens again, give the sandbox more memory or a higher limit of processes.",
    context: { port, reason: "lost" },
  });
}
