/** A TLS client's first message with the server name. */
export function clientHello(serverName: string): Buffer {
  const sized = (bytes: Buffer, width: number): Buffer => {
    const size = Buffer.alloc(width);
    size.writeUIntBE(bytes.length, 0, width);
    return Buffer.concat([size, bytes]);
  };
  const name = Buffer.concat([Buffer.from([0]), sized(Buffer.from(serverName, "latin1"), 2)]);
  const extension = Buffer.concat([Buffer.from([0, 0]), sized(sized(name, 2), 2)]);
  const body = Buffer.concat([
    ...[Buffer.from([3, 3]), Buffer.alloc(32), sized(Buffer.alloc(0), 1)],
    ...[sized(Buffer.from([0x13, 0x01]), 2), sized(Buffer.from([0]), 1), sized(extension, 2)],
  ]);
  return Buffer.concat([Buffer.from([22, 3, 1]), sized(Buffer.concat([Buffer.from([1]), sized(body, 3)]), 2)]);
}
