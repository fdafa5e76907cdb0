import { describe, expect, it } from "vitest";
import { operationTable } from "../operations/table.ts";
import { apiDocument } from "./document.ts";

interface Entry {
  readonly operationId: string;
}

describe("the ids of OpenAPI's operations", () => {
  const { paths } = apiDocument({ version: "1", operations: operationTable }) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Entry>>>>;
  };
  const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
  const idAt = (method: string, path: string): string | undefined => paths[path]?.[method]?.operationId;

  it("are the operations' names, each once", () => {
    expect(new Set(ids).size).toBe(ids.length);
    const offered = operationTable.filter(({ audience }) => audience === "everyone");
    const withOnePath = offered.filter(({ routes, bytes }) => routes.length + (bytes?.paths.length ?? 0) === 1);
    expect(ids).toEqual(expect.arrayContaining(withOnePath.map(({ name }) => name)));
    expect(ids).toEqual(expect.arrayContaining(["run_code", "execute_code", "run_command", "create_environment"]));
    const own = new Set(["healthz", "readyz", "list_own_sandboxes", "get_sandbox", "remove_sandbox"]);
    const isNamed = (id: string): boolean =>
      own.has(id) || offered.some(({ name }) => id === name || id.startsWith(`${name}_in_`));
    expect(ids.filter((id) => !isNamed(id))).toEqual([]);
  });

  it("say of what, where an operation has several paths", () => {
    const files = "files/{path}";
    expect(idAt("get", "/api/sessions/{session_id}/files")).toBe("list_files_in_session");
    expect(idAt("get", `/api/environments/{env_id}/${files}`)).toBe("read_file_in_environment");
    expect(idAt("put", `/api/sandbox/{sandbox_id}/${files}`)).toBe("upload_file_in_sandbox");
    expect(idAt("get", "/api/sessions/{session_id}/processes")).toBe("list_processes_in_session");
    expect(idAt("get", "/api/sessions/{session_id}/processes/{process_id}")).toBe(
      "list_processes_in_session_by_process_id",
    );
  });
});
