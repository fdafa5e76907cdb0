const blockBytes = 512;

/** A member of an archive as somebody hostile would write it: every field is as given. */
export interface Member {
  readonly name: string | Buffer;
  /** Type flag; default `0`, a file. */
  readonly type?: string;
  readonly content?: string | Buffer;
  readonly target?: string;
  readonly mode?: string;
  /** The field of the size, if it is not that of the content. */
  readonly size?: Buffer | string;
  /** Whether the checksum is wrong. */
  readonly isBroken?: boolean;
  readonly prefix?: string;
}

/** The blocks of one member. */
export function tarMember(member: Member): Buffer {
  const { name, type = "0", content = "", target = "", mode = "0000644", size, isBroken = false, prefix = "" } = member;
  const bytes = Buffer.from(content);
  const header = Buffer.alloc(blockBytes);
  const put = (text: string | Buffer, at: number, room: number): void => {
    Buffer.from(text).copy(header, at, 0, room);
  };
  put(name, 0, 100);
  put(mode, 100, 8);
  put("0000000", 108, 8);
  put("0000000", 116, 8);
  put(size ?? bytes.length.toString(8).padStart(11, "0"), 124, 12);
  put("00000000000", 136, 12);
  put(" ".repeat(8), 148, 8);
  put(type, 156, 1);
  put(target, 157, 100);
  put("ustar\u000000", 257, 8);
  put(prefix, 345, 155);
  const sum = header.reduce((total, byte) => total + byte, 0) + (isBroken ? 1 : 0);
  put(`${sum.toString(8).padStart(6, "0")}\0 `, 148, 8);
  const padding = Buffer.alloc((blockBytes - (bytes.length % blockBytes)) % blockBytes);
  return Buffer.concat([header, bytes, padding]);
}

/** One record of a pax header. */
export function paxRecord(name: string, value: string | Buffer): Buffer {
  const rest = Buffer.concat([Buffer.from(` ${name}=`), Buffer.from(value), Buffer.from("\n")]);
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}

/** The end of an archive. */
export const tarEnd: Buffer = Buffer.alloc(2 * blockBytes);

/** An archive with its end. */
export function tarOf(...members: readonly Member[]): Buffer {
  return Buffer.concat([...members.map(tarMember), tarEnd]);
}
