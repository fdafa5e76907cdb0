import { spawn } from "node:child_process";
import { once } from "node:events";

/** What the kernel calls RENAME_EXCHANGE, which Node has no call for. */
const program = `
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
print("begun", flush=True)
while True: libc.renameat2(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2)
`;

/** Does work while a program exchanges two names as fast as it can, as one does that shares a folder (Linux). */
export async function whileSwapping(one: string, other: string, work: () => Promise<void>): Promise<void> {
  const swapper = spawn("/usr/bin/python3", ["-c", program, one, other], { stdio: ["ignore", "pipe", "inherit"] });
  await once(swapper.stdout, "data");
  try {
    await work();
  } finally {
    const closed = once(swapper, "close");
    swapper.kill("SIGKILL");
    await closed;
  }
}
