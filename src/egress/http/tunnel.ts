import type { Socket } from "node:net";
import { pipeline, type Duplex } from "node:stream";
import { readClientHello } from "../../policy/network/client-hello.ts";
import { denial, type Denial } from "../../policy/network/denial.ts";
import { canonicalName } from "../../policy/network/domain-name.ts";
import { formatHostAndPort, type HostAndPort } from "../../policy/network/host-and-port.ts";

export interface TunnelOptions {
  readonly stream: Duplex;
  /** A fresh connection to the target. */
  readonly socket: Socket;
  readonly target: HostAndPort;
  readonly onDenied: (denial: Denial) => void;
  /** Takes over the stream if the tunnel carries plain HTTP, as some clients send that through CONNECT too. */
  readonly onPlain: () => void;
}

const helloMs = 20_000;
/** Maximum pieces of a hello: each makes us parse it again from the start. */
const maxPieces = 256;
/** A fatal alert of TLS: unrecognized_name. */
const unrecognizedName = Buffer.from([21, 3, 3, 0, 2, 2, 112]);
const tlsHandshake = 22;

/** Confirms the tunnel, and opens it once the client's TLS hello names the target. */
export function openTunnel({ stream, socket, target, onDenied, onPlain }: TunnelOptions): void {
  if (stream.destroyed) return void socket.destroy();
  let hello: Buffer = Buffer.alloc(0);
  let pieces = 0;
  const giveUp = (): void => {
    stream.destroy();
    socket.destroy();
  };
  const timer = setTimeout(giveUp, helloMs);
  const settle = (): void => {
    clearTimeout(timer);
    stream.off("data", onData).off("end", giveUp).off("close", giveUp).pause();
    socket.off("close", giveUp);
  };
  const onData = (bytes: Buffer): void => {
    if (++pieces > maxPieces) return giveUp();
    hello = Buffer.concat([hello, bytes]);
    if (hello[0] !== tlsHandshake) {
      settle();
      socket.destroy();
      stream.unshift(hello);
      onPlain();
      return void stream.resume();
    }
    const read = readClientHello(hello);
    if (read.kind === "incomplete") return;
    settle();
    const serverName = read.kind === "hello" ? read.serverName : null;
    if (serverName === target.name) {
      socket.write(hello);
      pipeline(stream, socket, stop);
      pipeline(socket, stream, stop);
      return;
    }
    onDenied(
      denial(
        "server_name",
        formatHostAndPort(target),
        `The TLS connection to ${target.name} asks for ${shown(serverName)} in its hello.`,
        "Connect by the server's own name and send it (SNI).",
      ),
    );
    socket.destroy();
    stream.end(unrecognizedName);
  };
  stream.write("HTTP/1.1 200 Connection Established\r\n\r\n");
  stream.on("data", onData).once("end", giveUp).once("close", giveUp);
  socket.once("close", giveUp);
}

/** A hello may contain any bytes as a name. */
function shown(serverName: string | null): string {
  return serverName === null ? "no server" : (canonicalName(serverName) ?? "something that is no name");
}

function stop(): void {
  // Closing one end closes the other; any error is up to the two ends.
}
