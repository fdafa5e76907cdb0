import { describe, expect, it } from "vitest";
import { listProcessesContract } from "../operations/processes-contract.ts";
import { listMountsContract } from "../operations/mounts-contract.ts";
import { readFileContract, writeFileContract } from "../operations/files-contract.ts";
import { runCodeContract } from "../operations/session-contract.ts";
import { requestOfRoute } from "./wire-call.ts";

describe("where a request goes", () => {
  it("is the route with the most fields that the request has", () => {
    expect(requestOfRoute(listProcessesContract, { session_id: "s" })).toEqual({
      method: "GET",
      path: "/api/sessions/s/processes",
    });
    expect(requestOfRoute(listProcessesContract, { env_id: "e", process_id: "p", stdout_offset: 3 })).toEqual({
      method: "GET",
      path: "/api/environments/e/processes/p?stdout_offset=3",
    });
  });

  it("has the rest in the query or the body, without what is undefined", () => {
    expect(
      requestOfRoute(writeFileContract, { session_id: "s", path: "a/b", content: "x", encoding: undefined }),
    ).toEqual({ method: "PUT", path: "/api/sessions/s/files", body: '{"path":"a/b","content":"x"}' });
    expect(requestOfRoute(readFileContract, { session_id: "s", path: "/a b/ö?#%2e", limit: 5 })).toEqual({
      method: "GET",
      path: "/api/sessions/s/files/%2Fa%20b%2F%C3%B6%3F%23%252e?limit=5",
    });
  });

  it.each(["", ".", ".."])("is nowhere else for the id %j", (id) => {
    expect(() => requestOfRoute(runCodeContract, { session_id: id, code: "1" })).toThrow(/session_id: expected a name/);
  });

  it("is refused where no route fits", () => {
    expect(() => requestOfRoute(listMountsContract, {})).toThrow(/list_mounts is not available/);
    expect(() => requestOfRoute(runCodeContract, { code: "1" })).toThrow(/run_code is not available/);
  });
});
