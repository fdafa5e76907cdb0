import type { Duplex } from "node:stream";
import { errorCode } from "../errors/error-code.ts";
import { refuseUpgrade } from "./own-answer.ts";
import { unclearRequest } from "./refusals.ts";

/** Ends a connection on which no HTTP came, or too slowly. */
export function answerBroken(error: Error, socket: Duplex): void {
  if (errorCode(error) === "ECONNRESET" || !socket.writable) socket.destroy();
  else refuseUpgrade(socket, unclearRequest);
}
