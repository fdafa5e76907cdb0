import { describe, expect, it } from "vitest";
import { likeliestFirst, parseListeningPorts } from "./watch-server.ts";

const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:1435 00000000:0000 0A 00000000:00000000 00:00000000 00000000 65527        0 1 1 0 100 0 0 10 0
   1: 0100007F:240D 00000000:0000 0A 00000000:00000000 00:00000000 00000000 65527        0 2 1 0 100 0 0 10 0
   2: 0100007F:1435 0100007F:C001 01 00000000:00000000 00:00000000 00000000 65527        0 3 1 0 20 4 30 10 -1
  sl  local_address                         remote_address                        st tx_queue rx_queue tr
   0: 00000000000000000000000001000000:0BB8 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000
   1: 00000000000000000000000000000000:1435 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000
`;

describe("ports at which a sandbox's programs listen", () => {
  it("are those of listening sockets of both kinds, each once, lowest first", () => {
    expect(parseListeningPorts(table)).toEqual([3000, 5173, 9229]);
  });

  it("are none in what is no such table", () => {
    for (const text of [
      "",
      "cat: /proc/net/tcp: No such file\n",
      "0: x:1435 y:0000 0A \n",
      table.replaceAll(" 0A ", " 01 "),
    ])
      expect(parseListeningPorts(text)).toEqual([]);
  });

  it("come in the order in which output names them, the others after them", () => {
    const output = "Debugger listening on ws://127.0.0.1:51730/x\n  Local:   http://localhost:5173/\nthen :3000";
    expect(likeliestFirst([1234, 3000, 5173, 9229], output)).toEqual([5173, 3000, 1234, 9229]);
  });
});
