import { describe, expect, it } from "vitest";
import { programUser } from "../../../policy/profile.ts";
import { HostUids } from "../../container-users.ts";
import { UserNamespacePool } from "./user-namespace-pool.ts";

/** None can be made: there is no such tool. */
const tools = { setpriv: "/nowhere/setpriv", unshare: "/nowhere/unshare" };

/** Users of which those in use are known. */
class CountedUids extends HostUids {
  readonly used = new Set<number>();

  constructor() {
    super({ minimum: 1, maximum: 10 }, (minimum) => minimum);
  }

  override take(): number {
    const uid = super.take();
    this.used.add(uid);
    return uid;
  }

  override release(uid: number | null): void {
    super.release(uid);
    if (uid !== null) this.used.delete(uid);
  }
}

describe("the pool of user namespaces", () => {
  it("gives the users back when a namespace cannot be made", async () => {
    const hostUids = new CountedUids();
    const pool = new UserNamespacePool({ tools, hostUids });
    await expect(pool.take(programUser, undefined)).rejects.toThrow(/ENOENT/);
    expect([...hostUids.used]).toEqual([]);
  });

  it("takes no user that nobody can be", async () => {
    const hostUids = new CountedUids();
    const pool = new UserNamespacePool({ tools, hostUids });
    await expect(pool.take("0:0", undefined)).rejects.toMatchObject({ errorType: "UNSUPPORTED" });
    expect([...hostUids.used]).toEqual([]);
  });
});
